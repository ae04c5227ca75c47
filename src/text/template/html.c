/* HTML and URLs: escaping, Markup's methods, and the filters for them. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/seq.h"

#define FILTER(name) \
    hone_status tpl_filter_##name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
#define UNUSED(x) ((void)(x))

hone_status tpl_as_markup(tpl_rt *rt, tpl_value *out, const tpl_str *s, bool markup)
{
    tpl_str *m;

    *out = tpl_string(s);
    if (s->markup == markup)
        return HONE_OK;
    TPL_ALLOC(m, rt, 1);
    *m = *s;
    m->markup = markup;
    *out = tpl_string(m);
    return HONE_OK;
}

hone_status tpl_escape(tpl_rt *rt, tpl_value *out, const tpl_str *s)
{
    static const char special[] = "&<>\"'";
    static const char *const entity[] = { "&amp;", "&lt;", "&gt;", "&#34;", "&#39;" };
    tpl_buf b = { 0 };
    size_t  from = 0;

    if (s->markup) {
        *out = tpl_string(s);
        return HONE_OK;
    }
    HONE_TRY(tpl_step(rt, s->len / 64));
    for (size_t i = 0; i < s->len; i++) {
        const char *p = s->data[i] ? strchr(special, s->data[i]) : NULL;

        if (!p)
            continue;
        HONE_TRY(tpl_buf_sub(rt, &b, s, from, i));
        HONE_TRY(tpl_buf_as(rt, &b, entity[p - special], strlen(entity[p - special]), s, i));
        from = i + 1;
    }
    HONE_TRY(tpl_buf_sub(rt, &b, s, from, s->len));
    HONE_TRY(tpl_buf_take(rt, &b, out));
    return tpl_as_markup(rt, out, out->u.s, true);
}

/* ---- character references ---- */
/* The names that need no semicolon; these from U+00A0 on, and five more below. */
static const char latin[] =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para "
    "middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave "
    "Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc "
    "Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc "
    "iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

static uint32_t named(const char *s, size_t n)
{
    static const struct { const char *name; uint32_t cp; } others[] = {
        { "amp", '&' }, { "AMP", '&' }, { "lt", '<' }, { "LT", '<' }, { "gt", '>' }, { "GT", '>' }, { "quot", '"' },
        { "QUOT", '"' }, { "COPY", 0xA9 }, { "REG", 0xAE }
    };
    uint32_t cp = 0xA0;

    for (size_t i = 0; i < HONE_COUNTOF(others); i++)
        if (strlen(others[i].name) == n && memcmp(others[i].name, s, n) == 0)
            return others[i].cp;
    for (const char *p = latin; *p; cp++) {
        size_t len = strcspn(p, " ");

        if (len == n && memcmp(p, s, n) == 0)
            return cp;
        p += len + (p[len] == ' ');
    }
    return 0;
}

/* What a number stands for, as HTML reads it: Windows-1252 for the C1 controls; UINT32_MAX = nothing. */
static uint32_t numbered(uint64_t n)
{
    static const uint16_t c1[32] = {
        0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D, 0x8F,
        0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D, 0x17E, 0x178
    };

    if (n >= 0x80 && n < 0xA0)
        return c1[n - 0x80];
    if (n == 0 || n > 0x10FFFF || (n >= 0xD800 && n < 0xE000))
        return 0xFFFD;
    if (n < 9 || n == 0xB || (n >= 0xE && n < 0x20) || n == 0x7F || (n >= 0xFDD0 && n <= 0xFDEF) || (n & 0xFFFE) == 0xFFFE)
        return UINT32_MAX;
    return (uint32_t)n;
}

/* "#123;" or "#x7b;" at s->data + i (after '&'): its length, or 0. */
static size_t read_number(const tpl_str *s, size_t i, uint32_t *cp)
{
    bool     hex = i + 1 < s->len && (s->data[i + 1] == 'x' || s->data[i + 1] == 'X');
    size_t   from = i + 1 + hex, p = from;
    uint64_t n = 0;

    for (; p < s->len; p++) {
        char c = s->data[p];
        int  d = c >= '0' && c <= '9' ? c - '0' : hex && (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;

        if (d < 0)
            break;
        n = HONE_MIN(n * (hex ? 16 : 10) + (uint64_t)d, (uint64_t)1 << 32);
    }
    *cp = numbered(n);
    if (p == from)
        return 0;
    return p - i + (p < s->len && s->data[p] == ';');
}

/* A name at s->data + i: the length of what it replaces, 0 = it stays as it is. A name with ';' that is not known might be
 * one of the two thousand others: an error. */
static hone_status read_name(tpl_rt *rt, const tpl_str *s, size_t i, uint32_t *cp, size_t *n)
{
    size_t end = i, chars = 0;

    while (end < s->len && chars < 32 && !strchr("\t\n\f <&#;", s->data[end] ? s->data[end] : 'x')) {
        end += hone_utf8_len((unsigned char)s->data[end]);
        chars++;
    }
    for (*n = end - i; *n > 1; --*n) {
        *cp = named(s->data + i, *n);
        if (*cp) {
            *n += *n == end - i && end < s->len && s->data[end] == ';';
            return HONE_OK;
        }
    }
    *n = 0;
    if (end < s->len && s->data[end] == ';' && end > i)
        return tpl_fail(rt, HONE_E_UNSUPPORTED, "the character reference '&%.*s;' is not supported; write the character itself",
                        (int)(end - i), s->data + i);
    return HONE_OK;
}

hone_status tpl_unescape(tpl_rt *rt, tpl_value *out, const tpl_str *s)
{
    tpl_buf b = { 0 };
    size_t  from = 0;

    HONE_TRY(tpl_step(rt, s->len / 16));
    for (size_t i = 0; i < s->len; ) {
        uint32_t cp = 0;
        size_t   n = 0;
        char     utf8[4];

        if (s->data[i] != '&') {
            i++;
            continue;
        }
        if (i + 1 < s->len && s->data[i + 1] == '#')
            n = read_number(s, i + 1, &cp);
        else
            HONE_TRY(read_name(rt, s, i + 1, &cp, &n));
        if (n) {
            HONE_TRY(tpl_buf_sub(rt, &b, s, from, i));
            if (cp != UINT32_MAX)
                HONE_TRY(tpl_buf_as(rt, &b, utf8, hone_utf8_encode(cp, utf8), s, i));
            from = i + 1 + n;
        }
        i += 1 + n;
    }
    HONE_TRY(tpl_buf_sub(rt, &b, s, from, s->len));
    return tpl_buf_take(rt, &b, out);
}

static int64_t find(tpl_rt *rt, const tpl_str *s, const char *what, size_t from)
{
    const tpl_str needle = { .data = what, .len = (uint32_t)strlen(what) };

    return tpl_str_find(rt, s, &needle, from, s->len, false);
}

/* Without tags and comments; white space collapsed; character references replaced. */
hone_status tpl_strip_tags(tpl_rt *rt, tpl_value *out, const tpl_str *s)
{
    static const tpl_str space = { .data = " ", .len = 1, .chars = 1 };
    tpl_buf b = { 0 };
    size_t  from = 0;
    int64_t at, end;

    HONE_TRY(tpl_step(rt, s->len / 16));
    while ((at = find(rt, s, "<", from)) >= 0) {
        bool note = s->len - (size_t)at >= 4 && memcmp(s->data + at, "<!--", 4) == 0;

        end = note ? find(rt, s, "-->", (size_t)at + 4) : find(rt, s, ">", (size_t)at);
        HONE_TRY(tpl_step(rt, 1));
        if (end < 0)
            break;
        HONE_TRY(tpl_buf_sub(rt, &b, s, from, (size_t)at));
        from = (size_t)end + (note ? 3 : 1);
    }
    HONE_TRY(tpl_buf_sub(rt, &b, s, from, s->len));
    HONE_TRY(tpl_buf_take(rt, &b, out));
    HONE_TRY(tpl_split(rt, out, out->u.s, tpl_none(), -1, false));
    HONE_TRY(tpl_join(rt, out, &space, *out, false));
    return tpl_unescape(rt, out, out->u.s);
}

/* ---- filters ---- */
FILTER(escape)
{
    const tpl_str *s;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    return tpl_escape(rt, out, s);
}

FILTER(forceescape)
{
    const tpl_str *s;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    HONE_TRY(tpl_as_markup(rt, out, s, false));
    return tpl_escape(rt, out, out->u.s);
}

FILTER(striptags)
{
    const tpl_str *s;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    return tpl_strip_tags(rt, out, s);
}

/* xmlattr(dict, autospace): key="value" …, without those that are none or undefined */
FILTER(xmlattr)
{
    tpl_buf b = { 0 };
    bool    space = a[0].kind == TPL_MISSING || tpl_truthy(a[0]);

    UNUSED(call);
    TPL_CHECK(self.kind == TPL_DICT, rt, "'%s' object has no attribute 'items'", tpl_type_name(self));
    for (uint32_t i = 0; i < self.u.d->len; i++) {
        tpl_value      key = self.u.d->keys[i], v = self.u.d->values[i];
        const tpl_str *s;

        if (v.kind == TPL_NONE || v.kind == TPL_UNDEF)
            continue;
        TPL_CHECK(key.kind == TPL_STR, rt, "expected string or bytes-like object, got '%s'", tpl_type_name(key));
        for (uint32_t k = 0; k < key.u.s->len; k++)
            TPL_CHECK(!strchr(" \t\n\r\f\v/>=", key.u.s->data[k] ? key.u.s->data[k] : 'x'), rt,
                      "Invalid character in attribute name: '%.*s'", (int)HONE_MIN(key.u.s->len, 80u), key.u.s->data);
        HONE_TRY(tpl_buf_puts(rt, &b, b.len || space ? " " : ""));
        HONE_TRY(tpl_escape(rt, &key, key.u.s));
        HONE_TRY(tpl_buf_str(rt, &b, key.u.s));
        HONE_TRY(tpl_buf_puts(rt, &b, "=\""));
        HONE_TRY(tpl_to_str(rt, &s, v));
        HONE_TRY(tpl_escape(rt, &v, s));
        HONE_TRY(tpl_buf_str(rt, &b, v.u.s));
        HONE_TRY(tpl_buf_puts(rt, &b, "\""));
    }
    return tpl_buf_take(rt, &b, out);
}

/* The text of a value with all but letters, digits and "_.-~" (and "/" outside a query) as %XX. */
static hone_status quote(tpl_rt *rt, tpl_buf *b, tpl_value v, bool query)
{
    const tpl_str *s;
    char           hex[4];

    HONE_TRY(tpl_to_str(rt, &s, v));
    HONE_TRY(tpl_step(rt, s->len / 16));
    for (size_t i = 0; i < s->len; i++) {
        unsigned char c = (unsigned char)s->data[i];

        if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c && strchr("_.-~", c)) || (c == '/' && !query)) {
            HONE_TRY(tpl_buf_sub(rt, b, s, i, i + 1));
        } else if (c == ' ' && query) {
            HONE_TRY(tpl_buf_as(rt, b, "+", 1, s, i));
        } else {
            snprintf(hex, sizeof hex, "%%%02X", c);
            HONE_TRY(tpl_buf_as(rt, b, hex, 3, s, i));
        }
    }
    return HONE_OK;
}

FILTER(urlencode)
{
    tpl_buf   b = { 0 };
    tpl_list *items, *pair;

    UNUSED(a); UNUSED(call);
    if (self.kind == TPL_STR || !tpl_iterable(self)) {
        HONE_TRY(quote(rt, &b, self, false));
        return tpl_buf_take(rt, &b, out);
    }
    if (self.kind == TPL_DICT) {
        self.kind = TPL_VIEW;
        self.sub = TPL_VIEW_ITEMS;
    }
    HONE_TRY(tpl_to_list(rt, &items, self));
    for (uint32_t i = 0; i < items->len; i++) {
        HONE_TRY(tpl_to_list(rt, &pair, items->items[i]));
        TPL_CHECK(pair->len == 2, rt, "%s values to unpack (expected 2%s)", pair->len < 2 ? "not enough" : "too many",
                  pair->len < 2 ? ", got fewer" : "");
        HONE_TRY(tpl_buf_puts(rt, &b, i ? "&" : ""));
        HONE_TRY(quote(rt, &b, pair->items[0], true));
        HONE_TRY(tpl_buf_puts(rt, &b, "="));
        HONE_TRY(quote(rt, &b, pair->items[1], true));
    }
    return tpl_buf_take(rt, &b, out);
}
