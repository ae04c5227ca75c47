/* Readers: kinds of files, filling the buffer, lines, and blocks of rows. */
#include "data/reader.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "data/reader/reader_int.h"

enum { BUFFER_SIZE = 1 << 18, ROW_MAX = 1 << 28 };

/* ---- kinds ---- */

static const struct { const char *ending; reader_kind kind; } kinds[] = {
    { ".json", READER_JSON }, { ".jsonl", READER_JSON_LINES }, { ".csv", READER_CSV }, { ".tsv", READER_TSV },
    { ".txt", READER_TEXT },
};

static const struct { const char *ending, *way_out; } refused[] = {
    { ".parquet", "write it as .jsonl; in Python: pandas.read_parquet(\"x.parquet\").to_json(\"x.jsonl\", "
                  "orient=\"records\", lines=True)" },
    { ".arrow", "write it as .jsonl; in Python: datasets.Dataset.from_file(\"x.arrow\").to_json(\"x.jsonl\")" },
    { ".feather", "write it as .jsonl; in Python: pandas.read_feather(\"x.feather\").to_json(\"x.jsonl\", "
                  "orient=\"records\", lines=True)" },
    { ".xlsx", "save the sheet as .csv (UTF-8)" },
    { ".xls", "save the sheet as .csv (UTF-8)" },
    { ".tar", "unpack it and name the folder or its files" },
    { ".tgz", "unpack it and name the folder or its files" },
    { ".zip", "unpack it and name the folder or its files" },
    { ".7z", "unpack it and name the folder or its files" },
    { ".bz2", "unpack it, or pack it with gzip or zstd" },
    { ".xz", "unpack it, or pack it with gzip or zstd" },
    { ".lz4", "unpack it, or pack it with gzip or zstd" },
};

/* What a file is that begins like this, whatever its ending says. */
static const struct { const char *bytes, *what, *way_out; } magics[] = {
    { "\x1F\x8B", "gzip data", "give it the ending .gz behind the present one" },
    { "\x28\xB5\x2F\xFD", "zstd data", "give it the ending .zst behind the present one" },
    { "PK\x03\x04", "a zip archive (or a spreadsheet)", "unpack it (or save the sheet as .csv)" },
    { "BZh91AY&SY", "bzip2 data", "unpack it, or pack it with gzip or zstd" },
    { "\xFD" "7zXZ", "xz data", "unpack it, or pack it with gzip or zstd" },
    { "PAR1\x15", "a parquet file", "write it as .jsonl" },
    { "ARROW1", "an arrow file", "write it as .jsonl" },
    { "\xFF\xFE", "UTF-16 text", "save it as UTF-8" },
    { "\xFE\xFF", "UTF-16 text", "save it as UTF-8" },
};

const char *hone_reader_endings(void) { return ".json, .jsonl, .csv, .tsv, .txt, each also as .gz or .zst"; }

static input_packing packing_of(const char *path)
{
    return hone_ends_with(path, ".gz") ? INPUT_GZIP : hone_ends_with(path, ".zst") ? INPUT_ZSTD : INPUT_PLAIN;
}

/* The path without the ending of its packing ends in this. */
static bool has_ending(const char *path, const char *ending)
{
    static const size_t packed[] = { [INPUT_PLAIN] = 0, [INPUT_GZIP] = 3, [INPUT_ZSTD] = 4 };
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t      n = strlen(base) - packed[packing_of(base)], m = strlen(ending);

    return n >= m && memcmp(base + n - m, ending, m) == 0;
}

static bool find_kind(const char *path, reader_kind *kind)
{
    for (size_t i = 0; i < HONE_COUNTOF(kinds); i++)
        if (has_ending(path, kinds[i].ending)) {
            *kind = kinds[i].kind;
            return true;
        }
    return false;
}

bool hone_reader_knows(const char *path)
{
    reader_kind kind;

    return find_kind(path, &kind);
}

bool hone_reader_knows_as_text(const char *path)
{
    reader_kind kind;

    return find_kind(path, &kind) && kind == READER_TEXT;
}

hone_status hone_reader_check_ending(const char *path)
{
    if (hone_reader_knows(path))
        return HONE_OK;
    for (size_t i = 0; i < HONE_COUNTOF(refused); i++)
        HONE_CHECK(!has_ending(path, refused[i].ending), HONE_E_UNSUPPORTED, "%s: hone does not read %s files; %s", path,
                   refused[i].ending, refused[i].way_out);
    HONE_CHECK(!has_ending(path, ".gz") && !has_ending(path, ".zst"), HONE_E_UNSUPPORTED,
               "%s: an archive of an archive; unpack it once", path);
    HONE_CHECK(packing_of(path) == INPUT_PLAIN, HONE_E_UNSUPPORTED,
               "%s: the name does not say what is packed in it; it must end as in data.jsonl%s", path,
               packing_of(path) == INPUT_GZIP ? ".gz" : ".zst");
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: hone reads %s, and goes by the ending", path, hone_reader_endings());
}

/* ---- the buffer ---- */

hone_status reader_fill(hone_reader *r)
{
    if (r->at < r->n || r->end)
        return HONE_OK;
    r->at = r->n = 0;
    HONE_TRY(input_read(r->in, r->buf, r->cap, &r->n));
    r->end = r->n < r->cap;
    return HONE_OK;
}

void reader_skip(hone_reader *r, size_t n)
{
    const char *from = r->buf + r->at, *end = from + n, *newline;

    r->column += (int64_t)n;
    while (from < end && (newline = memchr(from, '\n', (size_t)(end - from)))) {
        r->line++;
        r->column = end - newline - 1;
        from = newline + 1;
    }
    r->at += n;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

hone_status reader_skip_space(hone_reader *r)
{
    do {
        size_t n = 0;

        HONE_TRY(reader_fill(r));
        while (r->at + n < r->n && is_space(r->buf[r->at + n]))
            n++;
        reader_skip(r, n);
    } while (r->at == r->n && !r->end);
    return HONE_OK;
}

/* Back to the first byte: what it is must be what the ending says. A byte order mark is skipped. */
static hone_status start(hone_reader *r)
{
    r->at = r->n = 0;
    r->end = false;
    r->phase = READER_START;
    r->failed.st = HONE_OK;
    r->line = 1;
    r->column = r->row = 0;
    HONE_TRY(reader_fill(r));
    for (size_t i = 0; i < HONE_COUNTOF(magics); i++) {
        size_t m = strlen(magics[i].bytes);

        if (r->n < m || memcmp(r->buf, magics[i].bytes, m) != 0)
            continue;
        HONE_CHECK(packing_of(r->path) == INPUT_PLAIN, HONE_E_FORMAT, "%s: what is packed in it is %s; unpack it once",
                   r->path, magics[i].what);
        return HONE_FAIL(HONE_E_FORMAT, "%s: it is %s, which its name does not say; %s", r->path, magics[i].what,
                         magics[i].way_out);
    }
    if (r->n >= 3 && memcmp(r->buf, "\xEF\xBB\xBF", 3) == 0)
        r->at = 3;
    return HONE_OK;
}

hone_status hone_reader_rewind(hone_reader *r)
{
    if (!r->buf)
        r->buf = hone_calloc(r->cap, 1);
    if (!r->buf)
        return HONE_E_NOMEM;
    HONE_TRY(r->in ? input_rewind(r->in) : input_open(&r->in, r->path, packing_of(r->path)));
    return start(r);
}

void hone_reader_rest(hone_reader *r)
{
    input_close(&r->in);
    hone_free(r->buf);
    r->buf = NULL;
}

hone_status hone_reader_open(hone_reader **out, const char *path) { return reader_open(out, path, BUFFER_SIZE); }

hone_status reader_open(hone_reader **out, const char *path, size_t buffer)
{
    hone_reader *r = hone_calloc(1, sizeof *r);
    hone_status  st = HONE_OK;

    *out = NULL;
    if (!r)
        return HONE_E_NOMEM;
    HONE_GO(hone_reader_check_ending(path));
    find_kind(path, &r->kind);
    r->path = hone_strdup(path);
    r->cap = buffer;
    HONE_GO(r->path ? hone_reader_rewind(r) : HONE_E_NOMEM);
    *out = r;
    r = NULL;
out:
    hone_reader_close(&r);
    return st;
}


void hone_reader_close(hone_reader **reader)
{
    hone_reader *r = *reader;

    if (!r)
        return;
    input_close(&r->in);
    reader_clear_names(r);
    hone_free(r->buf);
    hone_free(r->path);
    hone_free(r);
    *reader = NULL;
}

/* ---- rows ---- */

void reader_begin_row(hone_reader *r, const hone_row_block *out)
{
    r->row_begin = out ? out->text.len : 0;
    r->row_len = 0;
    r->row_line = r->line;
    r->row_column = r->column;
}

hone_status reader_take(hone_reader *r, hone_row_block *out, size_t n)
{
    HONE_CHECK(n <= ROW_MAX - r->row_len, HONE_E_FORMAT,
               "%s: line %lld: a row of more than %d MiB; is a quote or a bracket not closed?", r->path,
               (long long)r->row_line, ROW_MAX >> 20);
    if (out) {
        hone_str_append(&out->text, r->buf + r->at, n);
        HONE_TRY(hone_str_ok(&out->text));
    }
    r->row_len += n;
    reader_skip(r, n);
    return HONE_OK;
}

hone_status reader_end_row(hone_reader *r, hone_row_block *out)
{
    hone_row_span row = { r->row_begin, r->row_begin + r->row_len, r->row, r->row_line, r->row_column };

    r->row++;
    return out ? HONE_VEC_PUSH(&out->rows, row) : HONE_OK;
}

void reader_drop_row(hone_reader *r, hone_row_block *out)
{
    if (out)
        out->text.len = r->row_begin;
}

/* Nothing that makes a row: white space, or in a text only the line's end. */
static bool is_blank(const hone_reader *r, const char *s, size_t n)
{
    size_t i = 0;

    if (r->kind == READER_TEXT)
        return n == 0 || (n == 1 && s[0] == '\r' && r->row_len == 0);
    while (i < n && is_space(s[i]))
        i++;
    return i == n;
}

hone_status reader_next_line(hone_reader *r, hone_row_block *out, bool *got)
{
    for (*got = false; !*got; ) {
        const char *newline = NULL;
        bool        blank = true;
        char        last = '\0';

        HONE_TRY(reader_fill(r));
        if (reader_at_end(r))
            return HONE_OK;
        reader_begin_row(r, out);
        while (!newline && !reader_at_end(r)) {
            const char *s = r->buf + r->at;
            size_t      n = r->n - r->at;

            newline = memchr(s, '\n', n);
            n = newline ? (size_t)(newline - s) : n;
            blank = blank && is_blank(r, s, n);
            last = n ? s[n - 1] : last;
            HONE_TRY(reader_take(r, out, n));
            if (newline)
                reader_skip(r, 1);
            else
                HONE_TRY(reader_fill(r));
        }
        *got = !blank;
        if (blank)
            reader_drop_row(r, out);
        else if (last == '\r')
            r->row_len--;
    }
    return reader_end_row(r, out);
}

static hone_status next_row(hone_reader *r, hone_row_block *out, bool *got)
{
    switch (r->kind) {
    case READER_TEXT: return reader_next_line(r, out, got);
    case READER_CSV:
    case READER_TSV:  return reader_next_record(r, out, got);
    default:          return reader_next_json(r, out, got);
    }
}

hone_status hone_reader_next(hone_reader *r, hone_row_block *out, size_t max_rows, size_t max_bytes)
{
    hone_status st = r->failed.st;
    bool        got = true;

    hone_str_clear(&out->text);
    out->rows.len = 0;
    if (st != HONE_OK)
        hone_error_restore(&r->failed);
    while (st == HONE_OK && got && out->rows.len < max_rows && (out->rows.len == 0 || out->text.len < max_bytes))
        st = next_row(r, out, &got);
    if (st == HONE_OK || out->rows.len == 0)
        return st;
    hone_error_save(&r->failed);    /* after the rows before it, in which there may be an earlier one */
    hone_status_clear();
    return HONE_OK;
}

hone_status hone_reader_count(hone_reader *r, int64_t limit, int64_t *rows)
{
    bool got = true;

    *rows = 0;
    HONE_TRY(hone_reader_rewind(r));
    while (got && *rows != limit) {
        HONE_TRY(next_row(r, NULL, &got));
        *rows += got;
    }
    return hone_reader_rewind(r);
}

void hone_row_block_deinit(hone_row_block *block)
{
    hone_str_deinit(&block->text);
    HONE_VEC_DEINIT(&block->rows);
}

/* ---- values ---- */

hone_status reader_check_utf8(const hone_reader *r, const char *text, const hone_row_span *row)
{
    const char *s = text + row->begin, *start = s;
    size_t      n = row->end - row->begin, good = hone_utf8_valid_prefix(s, n);
    int64_t     line = row->line, column = row->column;

    if (good == n)
        return HONE_OK;
    for (size_t i = 0; i < good; i++)
        if (s[i] == '\n') {
            line++;
            column = 0;
            start = s + i + 1;
        }
    return HONE_FAIL(HONE_E_FORMAT,
                     "%s: line %lld: invalid UTF-8: byte 0x%02x at byte %lld of the line; save the file as UTF-8", r->path,
                     (long long)line, (unsigned char)s[good], (long long)(column + (s + good - start) + 1));
}

static hone_status parse_json(json_t **out, const hone_reader *r, const char *text, const hone_row_span *row)
{
    const char  *s = text + row->begin;
    size_t       n = row->end - row->begin;
    json_error_t error;

    if (hone_json_parse(out, s, n, r->path) == HONE_OK)
        return HONE_OK;
    HONE_TRY(reader_check_utf8(r, text, row));
    HONE_CHECK(!memchr(s, '\0', n), HONE_E_FORMAT, "%s: line %lld: broken JSON: a NUL byte", r->path,
               (long long)row->line);
    /* Once more, for the place in the file rather than in the row. */
    json_decref(json_loadb(s, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error));
    return HONE_FAIL(HONE_E_FORMAT, "%s: line %lld: broken JSON at column %lld: %s", r->path,
                     (long long)(row->line + error.line - 1),
                     (long long)(error.line > 1 ? error.column : error.column + row->column), error.text);
}

hone_status hone_reader_parse(json_t **out, const hone_reader *r, const hone_row_block *block, size_t i)
{
    const hone_row_span *row = &block->rows.data[i];
    const char          *text = hone_str_c(&block->text);

    *out = NULL;
    if (r->kind == READER_JSON || r->kind == READER_JSON_LINES)
        return parse_json(out, r, text, row);
    HONE_TRY(reader_check_utf8(r, text, row));
    if (r->kind != READER_TEXT)
        return reader_parse_record(out, r, text, row);
    *out = json_stringn_nocheck(text + row->begin, row->end - row->begin);
    return *out ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
}

const char *hone_reader_path(const hone_reader *r) { return r->path; }
bool        hone_reader_is_text(const hone_reader *r) { return r->kind == READER_TEXT; }

hone_row_place hone_row_place_of(int64_t row, int64_t line)
{
    hone_row_place p;

    /* A file of one row a line has line = row + 1, or more with a header and blank lines. */
    if (row < line)
        snprintf(p.text, sizeof p.text, "line %lld", (long long)line);
    else
        snprintf(p.text, sizeof p.text, "line %lld, row %lld", (long long)line, (long long)row);
    return p;
}
