/* data/reader/reader_int.h -- inside of a reader, for this folder only. */
#ifndef HONE_DATA_READER_INT_H
#define HONE_DATA_READER_INT_H

#include "data/reader.h"
#include "data/reader/input.h"

typedef enum reader_kind { READER_JSON, READER_JSON_LINES, READER_CSV, READER_TSV, READER_TEXT } reader_kind;

typedef enum reader_phase {
    READER_START,
    READER_LINES,           /* a row is a line */
    READER_VALUES,          /* JSON values, one after another */
    READER_ARRAY,           /* the rows of an array */
    READER_RECORDS,         /* the header has been read */
    READER_END
} reader_phase;

struct hone_reader {
    char         *path;
    reader_kind   kind;
    reader_input *in;
    char         *buf;
    size_t        cap, at, n;       /* of buf: its size; the next byte, and the end of what was read */
    bool          end;              /* nothing is left to read into buf */
    reader_phase  phase;
    int64_t       line, column;     /* of the next byte; the line from 1, the bytes before it in the line */
    int64_t       row;              /* number of the next row */
    hone_error    failed;           /* what the next call of hone_reader_next is to return */
    /* the row being read */
    size_t        row_begin, row_len;
    int64_t       row_line, row_column;
    /* .csv and .tsv: the header's names, from the first time that it is read; "" = a column without a name */
    HONE_VEC(char *) names;
};

/* hone_reader_open with a buffer of this size, at least 16 bytes: what is read does not depend on it. */
hone_status reader_open(hone_reader **out, const char *path, size_t buffer) HONE_MUST_CHECK;

/* Have at least one byte in buf, unless the file is at its end: then reader_at_end. */
hone_status reader_fill(hone_reader *r) HONE_MUST_CHECK;
static inline bool reader_at_end(const hone_reader *r) { return r->at == r->n; }
/* Past the next n bytes, which are in buf. */
void        reader_skip(hone_reader *r, size_t n);
hone_status reader_skip_space(hone_reader *r) HONE_MUST_CHECK;

/* A row is made of bytes: begin, take those that are next (in buf), end. `out` may be NULL: nothing is kept then. */
void        reader_begin_row(hone_reader *r, const hone_row_block *out);
hone_status reader_take(hone_reader *r, hone_row_block *out, size_t n) HONE_MUST_CHECK;
hone_status reader_end_row(hone_reader *r, hone_row_block *out) HONE_MUST_CHECK;
void        reader_drop_row(hone_reader *r, hone_row_block *out);

/* The next row of each kind; *got is false at the end of the file. */
hone_status reader_next_line(hone_reader *r, hone_row_block *out, bool *got) HONE_MUST_CHECK;
hone_status reader_next_json(hone_reader *r, hone_row_block *out, bool *got) HONE_MUST_CHECK;
hone_status reader_next_record(hone_reader *r, hone_row_block *out, bool *got) HONE_MUST_CHECK;

void        reader_clear_names(hone_reader *r);

/* E_FORMAT with the line, unless the row is well-formed UTF-8. */
hone_status reader_check_utf8(const hone_reader *r, const char *text, const hone_row_span *row) HONE_MUST_CHECK;
hone_status reader_parse_record(json_t **out, const hone_reader *r, const char *text,
                                const hone_row_span *row) HONE_MUST_CHECK;

#endif /* HONE_DATA_READER_INT_H */
