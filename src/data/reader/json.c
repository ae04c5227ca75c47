/* Readers: the rows of JSON. Strings and brackets are followed; what is inside a row is checked when it is parsed. */
#include <string.h>

#include "data/reader/reader_int.h"

enum { DEPTH_MAX = 2048 };      /* as deep as the parser goes */

typedef struct value_scan {
    bool    array;              /* in an array of rows, where "," and "]" end a value */
    bool    in_string, escaped;
    int     depth;
    uint8_t square[DEPTH_MAX / 8];      /* which of the open brackets are [ */
} value_scan;

typedef enum step { STEP_ON, STEP_END_BEFORE, STEP_END_AFTER, STEP_DEEP, STEP_WRONG, STEP_BREAK } step;

static step open_bracket(value_scan *v, bool square)
{
    uint8_t bit = (uint8_t)(1 << v->depth % 8), *byte = &v->square[v->depth / 8];

    if (v->depth == DEPTH_MAX)
        return STEP_DEEP;
    *byte = (uint8_t)(square ? *byte | bit : *byte & ~bit);
    v->depth++;
    return STEP_ON;
}

static step close_bracket(value_scan *v, bool square)
{
    v->depth--;
    if ((v->square[v->depth / 8] >> v->depth % 8 & 1) != square)
        return STEP_WRONG;
    return v->depth == 0 ? STEP_END_AFTER : STEP_ON;
}

static step step_in_string(value_scan *v, char c)
{
    if (c == '\n')
        return STEP_BREAK;
    if (v->escaped)
        v->escaped = false;
    else if (c == '\\')
        v->escaped = true;
    else if (c == '"') {
        v->in_string = false;
        return v->depth == 0 ? STEP_END_AFTER : STEP_ON;
    }
    return STEP_ON;
}

static step step_over(value_scan *v, char c)
{
    if (v->in_string)
        return step_in_string(v, c);
    switch (c) {
    case '"': v->in_string = true; return STEP_ON;
    case '{': return open_bracket(v, false);
    case '[': return open_bracket(v, true);
    case '}': return v->depth ? close_bracket(v, false) : STEP_ON;
    case ']': return v->depth ? close_bracket(v, true) : v->array ? STEP_END_BEFORE : STEP_ON;
    case ',': return v->depth == 0 && v->array ? STEP_END_BEFORE : STEP_ON;
    case ' ': case '\t': case '\r': case '\n': return v->depth == 0 ? STEP_END_BEFORE : STEP_ON;
    default:  return STEP_ON;
    }
}

/* Bytes from s on that change nothing. */
static size_t plain(const value_scan *v, const char *s, size_t n)
{
    size_t i = 0;

    if (v->escaped || (v->depth == 0 && !v->in_string))
        return 0;
    if (v->in_string)
        while (i < n && s[i] != '"' && s[i] != '\\' && s[i] != '\n')
            i++;
    else
        while (i < n && s[i] != '"' && (s[i] | 0x20) != '{' && (s[i] | 0x20) != '}')
            i++;
    return i;
}

static hone_status refuse(const hone_reader *r, step s)
{
    const char *why = s == STEP_DEEP ? "brackets inside brackets, more than 2048 deep"
                      : s == STEP_WRONG ? "a bracket is closed by one of the other kind" : "a line ends inside a string";

    return HONE_FAIL(HONE_E_FORMAT, "%s: line %lld: broken JSON at column %lld: %s", r->path, (long long)r->line,
                     (long long)r->column + 1, why);
}

/* Take one value. At the end of the file what is left of it is taken. */
static hone_status take_value(hone_reader *r, hone_row_block *out, bool array)
{
    value_scan v = { .array = array };
    step       s = STEP_ON;

    while (s == STEP_ON && !reader_at_end(r)) {
        const char *p = r->buf + r->at;
        size_t      n = r->n - r->at, i = 0;

        while (i < n && s == STEP_ON) {
            i += plain(&v, p + i, n - i);
            if (i < n)
                s = step_over(&v, p[i]);
            i += i < n && (s == STEP_ON || s == STEP_END_AFTER);
        }
        HONE_TRY(reader_take(r, out, i));
        if (s >= STEP_DEEP)
            return refuse(r, s);
        HONE_TRY(reader_fill(r));
    }
    return HONE_OK;
}

static hone_status cut_short(const hone_reader *r)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s: line %lld: the array of rows is not closed; the file is cut short", r->path,
                     (long long)r->line);
}

static hone_status end_array(hone_reader *r)
{
    reader_skip(r, 1);
    HONE_TRY(reader_skip_space(r));
    HONE_CHECK(reader_at_end(r), HONE_E_FORMAT, "%s: line %lld: more text after the array of rows", r->path,
               (long long)r->line);
    r->phase = READER_END;
    return HONE_OK;
}

/* The next byte begins a row of the array. */
static hone_status next_in_array(hone_reader *r, hone_row_block *out)
{
    char c;

    if (reader_at_end(r))
        return cut_short(r);
    reader_begin_row(r, out);
    HONE_TRY(take_value(r, out, true));
    HONE_TRY(reader_skip_space(r));
    if (reader_at_end(r))
        return cut_short(r);
    c = r->buf[r->at];
    HONE_CHECK(r->row_len > 0, HONE_E_FORMAT, "%s: line %lld: a row is missing before \"%c\"", r->path,
               (long long)r->line, c);
    HONE_CHECK(c == ',' || c == ']', HONE_E_FORMAT, "%s: line %lld: broken JSON: expected \",\" or \"]\" after a row",
               r->path, (long long)r->line);
    HONE_TRY(reader_end_row(r, out));
    if (c == ']')
        return end_array(r);
    reader_skip(r, 1);
    return reader_skip_space(r);
}

static hone_status begin(hone_reader *r)
{
    HONE_TRY(reader_skip_space(r));
    if (reader_at_end(r)) {
        r->phase = READER_END;
        return HONE_OK;
    }
    if (r->buf[r->at] != '[') {
        r->phase = r->kind == READER_JSON ? READER_VALUES : READER_LINES;
        return HONE_OK;
    }
    r->phase = READER_ARRAY;
    reader_skip(r, 1);
    HONE_TRY(reader_skip_space(r));
    return !reader_at_end(r) && r->buf[r->at] == ']' ? end_array(r) : HONE_OK;
}

hone_status reader_next_json(hone_reader *r, hone_row_block *out, bool *got)
{
    *got = false;
    if (r->phase == READER_START)
        HONE_TRY(begin(r));
    if (r->phase == READER_LINES)
        return reader_next_line(r, out, got);
    if (r->phase == READER_VALUES)
        HONE_TRY(reader_skip_space(r));
    if (r->phase == READER_END || (r->phase == READER_VALUES && reader_at_end(r)))
        return HONE_OK;
    *got = true;
    if (r->phase == READER_ARRAY)
        return next_in_array(r, out);
    reader_begin_row(r, out);
    HONE_TRY(take_value(r, out, false));
    return reader_end_row(r, out);
}
