/*
 * data/reader.h -- rows of a file as byte ranges, found without parsing them: rows are then parsed by many threads.
 */
#ifndef HONE_DATA_READER_H
#define HONE_DATA_READER_H

#include "base/file.h"
#include "base/json.h"
#include "base/vec.h"

typedef struct hone_row_span { size_t begin, end; int64_t line; } hone_row_span;

typedef struct hone_reader {
    char       *path;
    hone_mapped map;
    bool        is_text;                /* .txt: a row is a line of text, not JSON */
    HONE_VEC(hone_row_span) rows;
} hone_reader;

/*
 * Map a .jsonl, .json (one array of objects, one object, or an object per line) or .txt file and find its rows; at most
 * `max_rows` (-1 = all). A byte order mark, CRLF, blank lines and a missing final newline are fine.
 * Errors: E_IO; E_FORMAT with file and line for ill-formed UTF-8 and for an array that is broken between its rows.
 */
hone_status hone_reader_open(hone_reader *r, const char *path, int64_t max_rows) HONE_MUST_CHECK;
/*
 * The JSON value of a row; of a .txt file, its line as a JSON string. Thread-safe. Owns: json_decref(*out).
 * Errors: E_FORMAT with the file, and the line and column in it.
 */
hone_status hone_reader_parse(json_t **out, const hone_reader *r, size_t row) HONE_MUST_CHECK;
void        hone_reader_close(hone_reader *r);

#endif /* HONE_DATA_READER_H */
