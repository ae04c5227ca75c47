/* Readers: the records of .csv and .tsv, quoted as RFC 4180 says. */
#include <string.h>

#include "data/reader/reader_int.h"

static char delimiter(const hone_reader *r) { return r->kind == READER_TSV ? '\t' : ','; }

typedef enum field_state { FIELD_BEGIN, FIELD_PLAIN, FIELD_QUOTED, FIELD_QUOTE } field_state;

/* Bytes of the record in s[0..n): up to its newline (then *ended), or all. */
static size_t scan_record(field_state *state, bool *ended, const char *s, size_t n, char comma)
{
    for (size_t i = 0; i < n; i++) {
        if (*state == FIELD_QUOTED) {
            const char *quote = memchr(s + i, '"', n - i);

            if (!quote)
                return n;
            i = (size_t)(quote - s);
            *state = FIELD_QUOTE;
        } else if (s[i] == '\n') {
            *ended = true;
            return i;
        } else if (s[i] == '"' && *state != FIELD_PLAIN) {      /* begins a quoted field, or is the second of a pair */
            *state = FIELD_QUOTED;
        } else {
            *state = s[i] == comma ? FIELD_BEGIN : FIELD_PLAIN;
        }
    }
    return n;
}

static bool is_blank(const char *s, size_t n, char comma)
{
    size_t i = 0;

    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r') && s[i] != comma)
        i++;
    return i == n;
}

/* Take the next record that is not a blank line. */
static hone_status take_record(hone_reader *r, hone_row_block *out, bool *got)
{
    for (*got = false; !*got; ) {
        field_state state = FIELD_BEGIN;
        bool        ended = false;
        char        last = '\0';

        HONE_TRY(reader_fill(r));
        if (reader_at_end(r))
            return HONE_OK;
        reader_begin_row(r, out);
        while (!ended && !reader_at_end(r)) {
            const char *s = r->buf + r->at;
            size_t      n = scan_record(&state, &ended, s, r->n - r->at, delimiter(r));

            *got = *got || !is_blank(s, n, delimiter(r));
            last = n ? s[n - 1] : last;
            HONE_TRY(reader_take(r, out, n));
            if (ended)
                reader_skip(r, 1);
            else
                HONE_TRY(reader_fill(r));
        }
        HONE_CHECK(state != FIELD_QUOTED, HONE_E_FORMAT, "%s: line %lld: a quoted field is not closed; the file is cut "
                   "short, or a quote inside it is not doubled", r->path, (long long)r->row_line);
        if (!*got)
            reader_drop_row(r, out);
        else if (last == '\r')
            r->row_len--;
    }
    return HONE_OK;
}

/*
 * The field at s[*at] (at most n), and past what ends it: *at > n after the last field. Its text is in *field, unless it
 * has quotes to take away: then it is put together in `unquoted`.
 */
static hone_status next_field(const hone_reader *r, int64_t line, const char *s, size_t n, size_t *at, hone_str *unquoted,
                              const char **field, size_t *len)
{
    char comma = delimiter(r);

    if (*at == n || s[*at] != '"') {
        const char *end = memchr(s + *at, comma, n - *at);

        *field = s + *at;
        *len = end ? (size_t)(end - *field) : n - *at;
        *at += *len + 1;
        return HONE_OK;
    }
    hone_str_clear(unquoted);
    for (size_t i = *at + 1; ; i++) {
        const char *quote = memchr(s + i, '"', n - i);

        HONE_CHECK(quote, HONE_E_FORMAT, "%s: line %lld: a quoted field is not closed", r->path, (long long)line);
        hone_str_append(unquoted, s + i, (size_t)(quote - s) - i);
        i = (size_t)(quote - s) + 1;
        if (i < n && s[i] == '"') {
            hone_str_putc(unquoted, '"');
            continue;
        }
        HONE_CHECK(i == n || s[i] == comma, HONE_E_FORMAT, "%s: line %lld: text behind the closing quote of a field; "
                   "quotes inside a quoted field must be doubled", r->path, (long long)line);
        *at = i + 1;
        break;
    }
    HONE_TRY(hone_str_ok(unquoted));
    *field = hone_str_c(unquoted);
    *len = unquoted->len;
    return HONE_OK;
}

static hone_status add_name(hone_reader *r, const char *text, size_t n)
{
    char *name = hone_strndup(text, n);

    if (!name || HONE_VEC_PUSH(&r->names, name) != HONE_OK) {
        hone_free(name);
        return HONE_E_NOMEM;
    }
    HONE_CHECK(strlen(name) == n, HONE_E_FORMAT, "%s: line %lld: a NUL byte in the header; is this a text file?",
               r->path, (long long)r->row_line);
    for (size_t i = 0; n && i + 1 < r->names.len; i++)
        HONE_CHECK(strcmp(r->names.data[i], name) != 0, HONE_E_FORMAT,
                   "%s: line %lld: the header names the column \"%s\" twice", r->path, (long long)r->row_line, name);
    return HONE_OK;
}

void reader_clear_names(hone_reader *r)
{
    for (size_t i = 0; i < r->names.len; i++)
        hone_free(r->names.data[i]);
    HONE_VEC_DEINIT(&r->names);
}

/* The first record names the columns. */
static hone_status read_header(hone_reader *r)
{
    hone_status    st = HONE_OK;
    hone_row_block block = { 0 };
    hone_str       unquoted = HONE_STR_INIT;
    hone_row_span  row;
    size_t         at = 0;
    bool           got, known = r->names.len > 0;

    HONE_GO(take_record(r, &block, &got));
    r->phase = READER_RECORDS;
    if (!got || known)
        goto out;
    row = (hone_row_span){ 0, r->row_len, 0, r->row_line, r->row_column };
    HONE_GO(reader_check_utf8(r, hone_str_c(&block.text), &row));
    while (at <= row.end) {
        const char *field = NULL;
        size_t      n = 0;

        HONE_GO(next_field(r, row.line, hone_str_c(&block.text), row.end, &at, &unquoted, &field, &n));
        HONE_GO(add_name(r, field, n));
    }
out:
    if (st != HONE_OK)
        reader_clear_names(r);
    hone_str_deinit(&unquoted);
    hone_row_block_deinit(&block);
    return st;
}

hone_status reader_next_record(hone_reader *r, hone_row_block *out, bool *got)
{
    if (r->phase == READER_START)
        HONE_TRY(read_header(r));
    HONE_TRY(take_record(r, out, got));
    return *got ? reader_end_row(r, out) : HONE_OK;
}

static hone_status ragged(const hone_reader *r, int64_t line, size_t found, bool more)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s: line %lld: %s%zu fields, but the header names %zu columns; a field with a %s, a "
                     "quote or a line break in it must be in double quotes", r->path, (long long)line,
                     more ? "more than " : "", found, r->names.len, r->kind == READER_TSV ? "tab" : "comma");
}

hone_status reader_parse_record(json_t **out, const hone_reader *r, const char *text, const hone_row_span *row)
{
    const char *s = text + row->begin;
    size_t      n = row->end - row->begin, at = 0, found = 0;
    json_t     *object = json_object();
    hone_str    unquoted = HONE_STR_INIT;
    hone_status st = HONE_OK;

    HONE_GO_CHECK(object, HONE_E_NOMEM, "out of memory");
    for (; at <= n; found++) {
        const char *field = NULL;
        size_t      len = 0;
        int         failed = 0;

        if (found == r->names.len) {
            st = ragged(r, row->line, found, true);
            goto out;
        }
        HONE_GO(next_field(r, row->line, s, n, &at, &unquoted, &field, &len));
        if (*r->names.data[found])
            failed = json_object_set_new_nocheck(object, r->names.data[found],
                                                 len ? json_stringn_nocheck(field, len) : json_null());
        HONE_GO_CHECK(!failed, HONE_E_NOMEM, "out of memory");
    }
    if (found < r->names.len) {
        st = ragged(r, row->line, found, false);
        goto out;
    }
    *out = object;
    object = NULL;
out:
    hone_str_deinit(&unquoted);
    json_decref(object);
    return st;
}
