/*
 * data/reader.h -- the rows of one file, read forward in bounded memory: .jsonl, .json (an array of objects, one object,
 * or objects one after another), .csv, .tsv, .txt, each also as .gz or .zst. Rows are found without parsing them, so that
 * many threads can parse them.
 */
#ifndef HONE_DATA_READER_H
#define HONE_DATA_READER_H

#include "base/json.h"
#include "base/str.h"
#include "base/vec.h"

typedef struct hone_reader hone_reader;

/* A row's bytes in the text of its block, its number in the file (from 0), the line that it starts on (from 1), and how
 * many bytes of that line are before it. */
typedef struct hone_row_span { size_t begin, end; int64_t row, line, column; } hone_row_span;

/* Where a row is, for messages: "line 7", or "line 1, row 5" where rows share lines. Rows are counted from 0, lines from 1. */
typedef struct hone_row_place { char text[64]; } hone_row_place;
hone_row_place hone_row_place_of(int64_t row, int64_t line);

/* Some rows, one after another. Zeros are an empty block; reusable. */
typedef struct hone_row_block {
    hone_str                text;
    HONE_VEC(hone_row_span) rows;
} hone_row_block;

void hone_row_block_deinit(hone_row_block *block);

/* Whether a path's ending names a kind of file that is read here. */
bool        hone_reader_knows(const char *path);
/* E_UNSUPPORTED, with the way out, unless it does. */
hone_status hone_reader_check_ending(const char *path) HONE_MUST_CHECK;
/* Whether it says that rows are lines of text. */
bool        hone_reader_knows_as_text(const char *path);
/* The endings that are read here, for messages. */
const char *hone_reader_endings(void);

/*
 * Open a file and look at its first bytes.
 * Owns: hone_reader_close. Errors: E_IO; E_UNSUPPORTED (an ending that is not read); E_FORMAT (first bytes that are not
 * what the ending says: another kind of file, a broken archive, UTF-16).
 */
hone_status hone_reader_open(hone_reader **out, const char *path) HONE_MUST_CHECK;
void        hone_reader_close(hone_reader **r);

/*
 * Clear `out` and fill it with the next rows: at most `max_rows` (>= 1), and none more once their bytes reach
 * `max_bytes`. None at the end of the file. A byte order mark, CRLF, blank lines and a missing final newline are fine.
 * Rows before a fault come first, the failure with the call after them.
 * Errors: E_IO; E_FORMAT with file and line (an array that is broken between its rows, a quoted field that is not closed,
 * a header with a name twice, a row beyond 256 MiB), or with file and offset (a broken archive).
 */
hone_status hone_reader_next(hone_reader *r, hone_row_block *out, size_t max_rows, size_t max_bytes) HONE_MUST_CHECK;
/* Give the file and the buffer back: rows that were read can still be parsed, and hone_reader_rewind opens it again. */
void        hone_reader_rest(hone_reader *r);
/* Go back to the first row. Blocks that were read stay good. */
hone_status hone_reader_rewind(hone_reader *r) HONE_MUST_CHECK;
/* Rows of the whole file (`limit` if it has more; -1 = no limit), without parsing them; the reader is then at its start.
 * Errors: as hone_reader_next. */
hone_status hone_reader_count(hone_reader *r, int64_t limit, int64_t *rows) HONE_MUST_CHECK;

/*
 * The value of row i of a block that this reader filled: whatever JSON it is; of .txt a string; of .csv and .tsv an
 * object by the header's names, of strings and (empty fields) nulls. Thread-safe, also beside hone_reader_next.
 * Owns: json_decref(*out). Errors: E_FORMAT with the file, and the line and column in it (ill-formed UTF-8, broken JSON,
 * more or fewer fields than the header has names).
 */
hone_status hone_reader_parse(json_t **out, const hone_reader *r, const hone_row_block *block, size_t i) HONE_MUST_CHECK;

/* Borrowed from the reader. */
const char *hone_reader_path(const hone_reader *r);
/* Whether a row is a line of text. */
bool        hone_reader_is_text(const hone_reader *r);

#endif /* HONE_DATA_READER_H */
