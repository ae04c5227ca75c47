#include "data/reader.h"

#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

typedef struct scan { hone_reader *r; const char *text; size_t n, at; int64_t line, max; } scan;

static void skip_space(scan *s)
{
    for (; s->at < s->n && is_space(s->text[s->at]); s->at++)
        s->line += s->text[s->at] == '\n';
}

static bool full(const scan *s) { return s->max >= 0 && (int64_t)s->r->rows.len >= s->max; }

static hone_status scan_lines(scan *s)
{
    while (s->at < s->n && !full(s)) {
        const char *newline = memchr(s->text + s->at, '\n', s->n - s->at);
        size_t      end = newline ? (size_t)(newline - s->text) : s->n, begin = s->at, last = end;

        if (last > begin && s->text[last - 1] == '\r')
            last--;
        while (!s->r->is_text && begin < last && is_space(s->text[begin]))
            begin++;
        if (begin < last)
            HONE_TRY(HONE_VEC_PUSH(&s->r->rows, (hone_row_span){ begin, last, s->line }));
        s->line++;
        s->at = end + 1;
    }
    return HONE_OK;
}

/* Past one JSON value: brackets outside strings are counted; what is inside is checked when the row is parsed. */
static void skip_value(scan *s)
{
    int  depth = 0;
    bool in_string = false;

    for (; s->at < s->n; s->at++) {
        char c = s->text[s->at];

        s->line += c == '\n';
        if (in_string) {
            if (c == '\\' && s->at + 1 < s->n)
                s->at++;
            else if (c == '"')
                in_string = false;
            continue;
        }
        if (c == '"')
            in_string = true;
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--;
        else if ((c == ',' || c == ']') && depth == 0)
            return;
        if (depth == 0 && c == '}') {
            s->at++;
            return;
        }
    }
}

static hone_status scan_array(scan *s)
{
    const char *path = s->r->path;

    s->at++;
    skip_space(s);
    if (s->at < s->n && s->text[s->at] == ']') {
        s->at++;
        goto tail;
    }
    while (!full(s)) {
        hone_row_span row = { s->at, 0, s->line };

        HONE_CHECK(s->at < s->n, HONE_E_FORMAT, "%s: line %lld: the array of rows is not closed; the file is cut short",
                   path, (long long)s->line);
        skip_value(s);
        row.end = s->at;
        HONE_CHECK(row.end > row.begin, HONE_E_FORMAT, "%s: line %lld: a row is missing before \"%c\"", path,
                   (long long)s->line, s->text[s->at]);
        HONE_TRY(HONE_VEC_PUSH(&s->r->rows, row));
        skip_space(s);
        HONE_CHECK(s->at < s->n, HONE_E_FORMAT, "%s: line %lld: the array of rows is not closed; the file is cut short",
                   path, (long long)s->line);
        HONE_CHECK(s->text[s->at] == ',' || s->text[s->at] == ']', HONE_E_FORMAT,
                   "%s: line %lld: broken JSON: expected \",\" or \"]\" "
                   "after a row",
                   path, (long long)s->line);
        if (s->text[s->at++] == ']')
            goto tail;
        skip_space(s);
    }
    return HONE_OK;
tail:
    skip_space(s);
    HONE_CHECK(s->at == s->n, HONE_E_FORMAT, "%s: line %lld: more text after the array of rows", path,
               (long long)s->line);
    return HONE_OK;
}

/* A .json file whose first value spans the file is one row; otherwise each line is one. */
static hone_status scan_json(scan *s)
{
    scan whole;

    skip_space(s);
    if (s->at == s->n)
        return HONE_OK;
    if (s->text[s->at] == '[')
        return scan_array(s);
    whole = *s;
    skip_value(&whole);
    skip_space(&whole);
    if (whole.at == s->n)
        return HONE_VEC_PUSH(&s->r->rows, (hone_row_span){ s->at, s->n, s->line });
    return scan_lines(s);
}

static hone_status check_utf8(const hone_reader *r, const char *text, size_t n)
{
    size_t  good = hone_utf8_valid_prefix(text, n);
    int64_t line = 1;

    if (good == n)
        return HONE_OK;
    for (size_t i = 0; i < good; i++)
        line += text[i] == '\n';
    return HONE_FAIL(HONE_E_FORMAT, "%s: line %lld: invalid UTF-8: byte 0x%02x at offset %zu; save the file as UTF-8",
                     r->path, (long long)line, (unsigned char)text[good], good);
}

hone_status hone_reader_open(hone_reader *r, const char *path, int64_t max_rows)
{
    hone_status st = HONE_OK;
    scan        s = { .r = r, .line = 1, .max = max_rows };

    memset(r, 0, sizeof *r);
    r->path = hone_strdup(path);
    HONE_GO(r->path ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(hone_file_map(&r->map, path));
    s.text = (const char *)r->map.data;
    s.n = r->map.size;
    HONE_GO(check_utf8(r, s.text, s.n));
    if (s.n >= 3 && memcmp(s.text, "\xEF\xBB\xBF", 3) == 0)
        s.at = 3;
    r->is_text = hone_ends_with(path, ".txt");
    HONE_GO(hone_ends_with(path, ".json") ? scan_json(&s) : scan_lines(&s));
out:
    if (st != HONE_OK)
        hone_reader_close(r);
    return st;
}

/* Bytes between the start of its line and a place. */
static int column_of(const hone_reader *r, size_t at)
{
    size_t start = at;

    while (start > 0 && r->map.data[start - 1] != '\n')
        start--;
    return (int)HONE_MIN(at - start, (size_t)INT_MAX / 2);
}

hone_status hone_reader_parse(json_t **out, const hone_reader *r, size_t row)
{
    const hone_row_span *span = &r->rows.data[row];
    const char          *text = (const char *)r->map.data + span->begin;
    size_t               n = span->end - span->begin;
    json_error_t         error;

    if (r->is_text) {
        *out = json_stringn(text, n);
        return *out ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
    }
    if (hone_json_parse(out, text, n, r->path) == HONE_OK)
        return HONE_OK;
    if (memchr(text, '\0', n))
        return HONE_FAIL(HONE_E_FORMAT, "%s: line %lld: broken JSON: a NUL byte", r->path, (long long)span->line);
    /* Once more, for the place in the file rather than in the row. */
    json_decref(json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error));
    return HONE_FAIL(HONE_E_FORMAT, "%s: line %lld: broken JSON at column %d: %s", r->path,
                     (long long)(span->line + error.line - 1),
                     error.line > 1 ? error.column : error.column + column_of(r, span->begin), error.text);
}

void hone_reader_close(hone_reader *r)
{
    hone_file_unmap(&r->map);
    HONE_VEC_DEINIT(&r->rows);
    hone_free(r->path);
    r->path = NULL;
}
