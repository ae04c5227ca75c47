#include "text/slots/pyjson.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/json.h"
#include "base/utf8.h"
#include "text/template/value.h"        /* tpl_float_repr */

enum { MAX_DEPTH = 400, MAX_DIGITS = 4300 };    /* of nesting; of a whole number, which is Python's own bound */

/* ---- reading ---- */

typedef struct reader { const char *s; size_t n, at; int depth; } reader;

static hone_status broken(const reader *r, const char *wanted)
{
    return HONE_FAIL(HONE_E_DATA, "not JSON: wanted %s at byte %zu", wanted, r->at);
}

static void skip_space(reader *r)
{
    while (r->at < r->n && r->s[r->at] && strchr(" \t\n\r", r->s[r->at]))
        r->at++;
}

static bool take(reader *r, const char *word)
{
    size_t n = strlen(word);

    if (r->n - r->at < n || memcmp(r->s + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static hone_status read_hex(reader *r, uint32_t *out)
{
    uint32_t v = 0;

    for (int i = 0; i < 4; i++, r->at++) {
        char c = r->at < r->n ? r->s[r->at] : '\0';
        int  digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

        if (digit < 0)
            return broken(r, "four hexadecimal digits");
        v = v * 16 + (uint32_t)digit;
    }
    *out = v;
    return HONE_OK;
}

/* What follows "\u". Half of a surrogate pair is a character for Python, but no text that can be encoded. */
static hone_status read_code(reader *r, hone_str *out)
{
    uint32_t cp, low;
    char     utf8[4];

    HONE_TRY(read_hex(r, &cp));
    if (cp >= 0xD800 && cp < 0xDC00 && take(r, "\\u")) {
        HONE_TRY(read_hex(r, &low));
        if (low >= 0xDC00 && low < 0xE000)
            cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
    }
    HONE_CHECK(cp < 0xD800 || cp >= 0xE000, HONE_E_DATA, "\\u%04x at byte %zu is half of a surrogate pair", cp, r->at);
    hone_str_append(out, utf8, hone_utf8_encode(cp, utf8));
    return HONE_OK;
}

static hone_status read_escape(reader *r, hone_str *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char       *p = r->at < r->n && r->s[r->at] ? strchr(from, r->s[r->at]) : NULL;

    if (take(r, "u"))
        return read_code(r, out);
    if (!p)
        return broken(r, "an escape");
    r->at++;
    hone_str_putc(out, to[p - from]);
    return HONE_OK;
}

static hone_status read_string(reader *r, char **text, size_t *n)
{
    hone_str    s = HONE_STR_INIT;
    hone_status st = HONE_OK;

    *text = NULL;
    if (!take(r, "\""))
        return broken(r, "a string");
    while (!take(r, "\"")) {
        size_t begin = r->at;

        while (r->at < r->n && (unsigned char)r->s[r->at] >= 0x20 && r->s[r->at] != '"' && r->s[r->at] != '\\')
            r->at++;
        hone_str_append(&s, r->s + begin, r->at - begin);
        if (take(r, "\\"))
            HONE_GO(read_escape(r, &s));
        else if (r->at >= r->n || r->s[r->at] != '"')
            HONE_GO(broken(r, "the end of a string"));
    }
    HONE_GO(hone_str_ok(&s));
    *n = s.len;
    *text = s.len ? hone_str_take(&s) : hone_strdup("");
    st = *text ? HONE_OK : HONE_E_NOMEM;
out:
    hone_str_deinit(&s);
    return st;
}

static size_t digits_at(const reader *r, size_t at)
{
    size_t n = 0;

    while (at + n < r->n && r->s[at + n] >= '0' && r->s[at + n] <= '9')
        n++;
    return n;
}

static hone_status read_number(reader *r, pyj_value *out)
{
    size_t begin = r->at, at = begin + (r->s[begin] == '-'), n = digits_at(r, at), more;
    bool   real = false;

    if (n == 0)
        return broken(r, "a value");
    at += r->s[at] == '0' ? 1 : n;      /* "01" is 0, and what follows is one too many */
    if (at < r->n && r->s[at] == '.' && (more = digits_at(r, at + 1)) > 0) {
        at += 1 + more;
        real = true;
    }
    if (at < r->n && (r->s[at] == 'e' || r->s[at] == 'E')) {
        size_t sign = at + 1 < r->n && (r->s[at + 1] == '+' || r->s[at + 1] == '-');

        if ((more = digits_at(r, at + 1 + sign)) > 0) {
            at += 1 + sign + more;
            real = true;
        }
    }
    r->at = at;
    HONE_CHECK(real || at - begin <= MAX_DIGITS, HONE_E_DATA, "a whole number of more than %d digits", MAX_DIGITS);
    out->kind = real ? PYJ_FLOAT : PYJ_INT;
    out->text = hone_strndup(r->s + begin, at - begin);
    if (!out->text)
        return HONE_E_NOMEM;
    if (real)
        out->real = strtod(out->text, NULL);
    if (strcmp(out->text, "-0") == 0)
        memcpy(out->text, "0", 2);
    out->n_text = strlen(out->text);
    return HONE_OK;
}

static hone_status read_value(reader *r, pyj_value *out);

/* The place of a key: a new one, or that of an equal one, emptied. */
static hone_status place_of(pyj_value **out, pyj_value *dict, char *key, size_t n)
{
    for (size_t i = 0; i < dict->items.len; i++) {
        pyj_value *old = &dict->items.data[i];

        if (old->n_key == n && memcmp(old->key, key, n) == 0) {
            pyj_deinit(old);
            *old = (pyj_value){ .key = key, .n_key = n };
            *out = old;
            return HONE_OK;
        }
    }
    if (HONE_VEC_PUSH(&dict->items, (pyj_value){ .key = key, .n_key = n }) != HONE_OK) {
        hone_free(key);
        return HONE_E_NOMEM;
    }
    *out = &dict->items.data[dict->items.len - 1];
    return HONE_OK;
}

static hone_status read_item(reader *r, pyj_value *out)
{
    pyj_value *item;
    char      *key;
    size_t     n;

    if (out->kind == PYJ_LIST) {
        HONE_TRY(HONE_VEC_PUSH(&out->items, (pyj_value){ .kind = PYJ_NULL }));
        return read_value(r, &out->items.data[out->items.len - 1]);
    }
    HONE_TRY(read_string(r, &key, &n));
    HONE_TRY(place_of(&item, out, key, n));
    skip_space(r);
    if (!take(r, ":"))
        return broken(r, "':'");
    skip_space(r);
    return read_value(r, item);
}

static hone_status read_items(reader *r, pyj_value *out, const char *end)
{
    HONE_CHECK(++r->depth <= MAX_DEPTH, HONE_E_DATA, "JSON nested deeper than %d levels", MAX_DEPTH);
    skip_space(r);
    if (!take(r, end)) {
        do {
            skip_space(r);
            HONE_TRY(read_item(r, out));
            skip_space(r);
        } while (take(r, ","));
        if (!take(r, end))
            return broken(r, out->kind == PYJ_LIST ? "',' or ']'" : "',' or '}'");
    }
    r->depth--;
    return HONE_OK;
}

/* `out` has nothing yet but its key. */
static hone_status read_value(reader *r, pyj_value *out)
{
    static const struct { const char *word; pyj_kind kind; double real; } words[] = {
        { "null", PYJ_NULL, 0 }, { "true", PYJ_TRUE, 0 }, { "false", PYJ_FALSE, 0 }, { "NaN", PYJ_FLOAT, NAN },
        { "Infinity", PYJ_FLOAT, INFINITY }, { "-Infinity", PYJ_FLOAT, -INFINITY },
    };
    char c = r->at < r->n ? r->s[r->at] : '\0';

    for (size_t i = 0; i < HONE_COUNTOF(words); i++)
        if (take(r, words[i].word)) {
            out->kind = words[i].kind;
            out->real = words[i].real;
            return HONE_OK;
        }
    if (c == '"') {
        out->kind = PYJ_STR;
        return read_string(r, &out->text, &out->n_text);
    }
    if (take(r, "[") || take(r, "{")) {
        out->kind = c == '[' ? PYJ_LIST : PYJ_DICT;
        return read_items(r, out, c == '[' ? "]" : "}");
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return read_number(r, out);
    return broken(r, "a value");
}

hone_status pyj_parse(pyj_value *out, const char *text, size_t n)
{
    reader      r = { text, n, 0, 0 };
    hone_status st;

    *out = (pyj_value){ .kind = PYJ_NULL };
    skip_space(&r);
    HONE_GO(read_value(&r, out));
    skip_space(&r);
    if (r.at < n)
        HONE_GO(broken(&r, "nothing more"));
out:
    if (st != HONE_OK)
        pyj_deinit(out);
    return st;
}

void pyj_deinit(pyj_value *v)
{
    for (size_t i = 0; i < v->items.len; i++)
        pyj_deinit(&v->items.data[i]);
    HONE_VEC_DEINIT(&v->items);
    hone_free(v->key);
    hone_free(v->text);
    *v = (pyj_value){ .kind = PYJ_NULL };
}

/* ---- asking ---- */

const pyj_value *pyj_get(const pyj_value *v, const char *key)
{
    for (size_t i = 0; v && v->kind == PYJ_DICT && i < v->items.len; i++)
        if (v->items.data[i].n_key == strlen(key) && memcmp(v->items.data[i].key, key, strlen(key)) == 0)
            return &v->items.data[i];
    return NULL;
}

bool pyj_is(const pyj_value *v, const char *text)
{
    return v && v->kind == PYJ_STR && v->n_text == strlen(text) && memcmp(v->text, text, v->n_text) == 0;
}

bool pyj_true(const pyj_value *v)
{
    if (!v)
        return false;
    switch (v->kind) {
    case PYJ_TRUE:  return true;
    case PYJ_INT:   return strcmp(v->text, "0") != 0;
    case PYJ_FLOAT: return v->real != 0;
    case PYJ_STR:   return v->n_text > 0;
    case PYJ_LIST: case PYJ_DICT: return v->items.len > 0;
    default:        return false;
    }
}

/* ---- json.dumps ---- */

void pyj_quote(hone_str *out, const char *text, size_t n) { hone_json_quote(out, text, n); }

static void new_line(hone_str *out, int indent, int level)
{
    if (!indent)
        return;
    hone_str_putc(out, '\n');
    for (int i = 0; i < indent * level; i++)
        hone_str_putc(out, ' ');
}

static void put_float(hone_str *out, double v, bool json)
{
    char buf[32];

    if (isfinite(v) || !json)
        hone_str_puts(out, tpl_float_repr(buf, v));
    else
        hone_str_puts(out, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
}

static void dump(hone_str *out, const pyj_value *v, int indent, int level)
{
    bool dict = v->kind == PYJ_DICT;

    switch (v->kind) {
    case PYJ_NULL:  hone_str_puts(out, "null"); return;
    case PYJ_TRUE:  hone_str_puts(out, "true"); return;
    case PYJ_FALSE: hone_str_puts(out, "false"); return;
    case PYJ_INT:   hone_str_append(out, v->text, v->n_text); return;
    case PYJ_FLOAT: put_float(out, v->real, true); return;
    case PYJ_STR:   pyj_quote(out, v->text, v->n_text); return;
    case PYJ_LIST: case PYJ_DICT: break;
    }
    hone_str_putc(out, dict ? '{' : '[');
    for (size_t i = 0; i < v->items.len; i++) {
        if (i)
            hone_str_puts(out, indent ? "," : ", ");
        new_line(out, indent, level + 1);
        if (dict) {
            pyj_quote(out, v->items.data[i].key, v->items.data[i].n_key);
            hone_str_puts(out, ": ");
        }
        dump(out, &v->items.data[i], indent, level + 1);
    }
    if (v->items.len)
        new_line(out, indent, level);
    hone_str_putc(out, dict ? '}' : ']');
}

void pyj_dump(hone_str *out, const pyj_value *v, int indent) { dump(out, v, indent, 0); }

/* ---- repr ---- */

static bool printable(uint32_t cp)
{
    if (cp < 0x7F)
        return cp >= 0x20;
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_CC: case UTF8PROC_CATEGORY_CF: case UTF8PROC_CATEGORY_CS: case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN: case UTF8PROC_CATEGORY_ZL: case UTF8PROC_CATEGORY_ZP: case UTF8PROC_CATEGORY_ZS:
        return false;
    default:
        return true;
    }
}

static void repr_text(hone_str *out, const char *s, size_t len)
{
    char   quote = memchr(s, '\'', len) && !memchr(s, '"', len) ? '"' : '\'';
    size_t n;

    hone_str_putc(out, quote);
    for (size_t i = 0; i < len; i += n) {
        uint32_t cp = hone_utf8_decode(s + i, &n);

        if (cp == (uint32_t)quote || cp == '\\')
            hone_str_printf(out, "\\%c", (char)cp);
        else if (cp == '\n' || cp == '\r' || cp == '\t')
            hone_str_printf(out, "\\%c", cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't');
        else if (printable(cp))
            hone_str_append(out, s + i, n);
        else
            hone_str_printf(out, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
    }
    hone_str_putc(out, quote);
}

static void repr(hone_str *out, const pyj_value *v)
{
    bool dict = v->kind == PYJ_DICT;

    switch (v->kind) {
    case PYJ_NULL:  hone_str_puts(out, "None"); return;
    case PYJ_TRUE:  hone_str_puts(out, "True"); return;
    case PYJ_FALSE: hone_str_puts(out, "False"); return;
    case PYJ_INT:   hone_str_append(out, v->text, v->n_text); return;
    case PYJ_FLOAT: put_float(out, v->real, false); return;
    case PYJ_STR:   repr_text(out, v->text, v->n_text); return;
    case PYJ_LIST: case PYJ_DICT: break;
    }
    hone_str_putc(out, dict ? '{' : '[');
    for (size_t i = 0; i < v->items.len; i++) {
        if (i)
            hone_str_puts(out, ", ");
        if (dict) {
            repr_text(out, v->items.data[i].key, v->items.data[i].n_key);
            hone_str_puts(out, ": ");
        }
        repr(out, &v->items.data[i]);
    }
    hone_str_putc(out, dict ? '}' : ']');
}

void pyj_str(hone_str *out, const pyj_value *v)
{
    if (v->kind == PYJ_STR)
        hone_str_append(out, v->text, v->n_text);
    else
        repr(out, v);
}
