/* Filters over single values, and the table of all filters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/seq.h"
#include "text/template/unicode.h"

#define FILTER(name) \
    static hone_status name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
#define UNUSED(x) ((void)(x))

static const tpl_str EMPTY = { .data = "" };

static hone_status recased(tpl_rt *rt, tpl_value *out, tpl_value v, char how)
{
    const tpl_str *s;

    HONE_TRY(tpl_to_str(rt, &s, v));
    HONE_TRY(tpl_recase(rt, out, s, how));
    return tpl_as_markup(rt, out, out->u.s, s->markup && how != 'T');
}

FILTER(upper)      { UNUSED(a); UNUSED(call); return recased(rt, out, self, 'u'); }
FILTER(lower)      { UNUSED(a); UNUSED(call); return recased(rt, out, self, 'l'); }
FILTER(title)      { UNUSED(a); UNUSED(call); return recased(rt, out, self, 'T'); }
FILTER(capitalize) { UNUSED(a); UNUSED(call); return recased(rt, out, self, 'c'); }

FILTER(string)
{
    const tpl_str *s;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    *out = tpl_string(s);
    return HONE_OK;
}

FILTER(safe)
{
    const tpl_str *s;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    return tpl_as_markup(rt, out, s, true);
}

FILTER(trim)
{
    const tpl_str *s;

    UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    return tpl_strip(rt, out, s, a[0], true, true);
}

FILTER(replace)
{
    const tpl_str *s, *old, *by;
    int64_t        count = -1;

    UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    HONE_TRY(tpl_to_str(rt, &old, a[0]));
    HONE_TRY(tpl_to_str(rt, &by, a[1]));
    if (a[2].kind != TPL_NONE)
        HONE_TRY(tpl_arg_int(rt, &count, a[2], -1, "count"));
    return tpl_replace(rt, out, s, old, by, count);
}

FILTER(default_)
{
    UNUSED(rt); UNUSED(call);
    *out = self;
    if (self.kind == TPL_UNDEF || (tpl_truthy(a[1]) && !tpl_truthy(self)))
        *out = a[0].kind == TPL_MISSING ? tpl_string(&EMPTY) : a[0];
    return HONE_OK;
}

FILTER(join)
{
    const tpl_str *sep;
    tpl_select     sel = { 0 };

    UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &sep, a[0].kind == TPL_MISSING ? tpl_string(&EMPTY) : a[0]));
    if (a[1].kind != TPL_MISSING && a[1].kind != TPL_NONE) {
        TPL_CHECK(tpl_iterable(self), rt, "'%s' object is not iterable", tpl_type_name(self));
        HONE_TRY(tpl_parse_path(rt, &sel.path, a[1]));
        HONE_TRY(tpl_lazy_map(rt, &self, self, &sel));
    }
    return tpl_join(rt, out, sep, self, true);
}

FILTER(abs_)
{
    UNUSED(a); UNUSED(call);
    TPL_CHECK(tpl_is_number(self), rt, "bad operand type for abs(): '%s'", tpl_type_name(self));
    if (self.kind == TPL_FLOAT)
        *out = tpl_float(fabs(self.u.f));
    else
        return tpl_as_int(self) < 0 ? tpl_binary(rt, out, '-', tpl_int(0), self) : tpl_binary(rt, out, '+', tpl_int(0), self);
    return HONE_OK;
}

/* A number as float() reads it; false if it is none. */
static bool read_float(double *out, const tpl_str *s)
{
    char   text[400], *end;
    size_t n = 0, from = 0, to = s->len;

    while (from < to && strchr(" \t\n\r\f\v", s->data[from]) && s->data[from])
        from++;
    while (to > from && strchr(" \t\n\r\f\v", s->data[to - 1]) && s->data[to - 1])
        to--;
    for (size_t i = from; i < to; i++) {
        bool digit_before = i > from && s->data[i - 1] >= '0' && s->data[i - 1] <= '9';
        bool digit_after = i + 1 < to && s->data[i + 1] >= '0' && s->data[i + 1] <= '9';

        if (s->data[i] == '_' && digit_before && digit_after)
            continue;
        if (n + 1 >= sizeof text || !s->data[i] || strchr("xXpP() \t\n", s->data[i]))
            return false;
        text[n++] = s->data[i];
    }
    text[n] = '\0';
    *out = strtod(text, &end);
    return n > 0 && *end == '\0';
}

/* An integer as int(text, base) reads it. */
static bool read_int(int64_t *out, const tpl_str *s, int64_t base)
{
    size_t from = 0, to = s->len;
    bool   negative = false, digit = false;

    while (from < to && s->data[from] && strchr(" \t\n\r\f\v", s->data[from]))
        from++;
    while (to > from && s->data[to - 1] && strchr(" \t\n\r\f\v", s->data[to - 1]))
        to--;
    if (from < to && (s->data[from] == '-' || s->data[from] == '+'))
        negative = s->data[from++] == '-';
    if (to - from > 2 && s->data[from] == '0') {
        char c = s->data[from + 1] | 0x20;
        int  prefix = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;

        if (prefix && (base == prefix || base == 0)) {
            base = prefix;
            from += 2;
        }
    }
    base = base ? base : 10;
    *out = 0;
    for (size_t i = from; i < to; i++) {
        char c = s->data[i] | 0x20;
        int  d = s->data[i] >= '0' && s->data[i] <= '9' ? s->data[i] - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;

        if (s->data[i] == '_' && digit && i + 1 < to) {
            digit = false;
            continue;
        }
        if (d >= base || __builtin_mul_overflow(*out, base, out) || __builtin_add_overflow(*out, d, out))
            return false;
        digit = true;
    }
    *out = negative ? -*out : *out;
    return digit;
}

FILTER(int_)
{
    int64_t base, v;
    double  f = 0;
    bool    ok = false;

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &base, a[1], 10, "base"));
    if (self.kind == TPL_UNDEF) {
        char buf[256];

        return TPL_FAIL(rt, "%s", tpl_undef_text(buf, self));
    }
    *out = a[0].kind == TPL_MISSING ? tpl_int(0) : a[0];
    if (tpl_is_int(self)) {
        *out = tpl_int(tpl_as_int(self));
    } else if (self.kind == TPL_STR && read_int(&v, self.u.s, base)) {
        *out = tpl_int(v);
    } else if (self.kind == TPL_FLOAT) {
        f = self.u.f;
        ok = true;
    } else if (self.kind == TPL_STR) {
        ok = read_float(&f, self.u.s);
    }
    if (ok && isfinite(f)) {
        TPL_CHECK(fabs(f) < 9.2e18, rt, "the result is beyond 64-bit integers");
        *out = tpl_int((int64_t)f);
    }
    return HONE_OK;
}

FILTER(float_)
{
    double f;

    UNUSED(call);
    if (self.kind == TPL_UNDEF) {
        char buf[256];

        return TPL_FAIL(rt, "%s", tpl_undef_text(buf, self));
    }
    *out = a[0].kind == TPL_MISSING ? tpl_float(0) : a[0];
    if (tpl_is_number(self))
        *out = tpl_float(tpl_as_float(self));
    else if (self.kind == TPL_STR && read_float(&f, self.u.s))
        *out = tpl_float(f);
    return HONE_OK;
}

/* To 10**-digits, halves to even. */
static hone_status round_int(tpl_rt *rt, tpl_value *out, int64_t v, int64_t digits)
{
    int64_t unit = 1, rest;

    for (; digits < 0 && unit > 0; digits++)
        if (__builtin_mul_overflow(unit, 10, &unit))
            unit = 0;
    *out = tpl_int(unit ? v : 0);
    if (unit <= 1)
        return HONE_OK;
    rest = v % unit;
    if (2 * (rest < 0 ? -rest : rest) > unit || (2 * (rest < 0 ? -rest : rest) == unit && v / unit % 2))
        return tpl_binary(rt, out, '+', tpl_int(v - rest), tpl_int(v < 0 ? -unit : unit));
    *out = tpl_int(v - rest);
    return HONE_OK;
}

/* round(value, precision, method); common rounds half to even, as Python, on the decimal text of the number */
FILTER(round_)
{
    const tpl_str common = { .data = "common", .len = 6 }, *method;
    int64_t       digits;
    double        v, scale;
    char          text[400];

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &digits, a[0], 0, "precision"));
    HONE_TRY(tpl_arg_str(rt, &method, a[1], &common, "method"));
    TPL_CHECK(tpl_is_number(self), rt, "type %s doesn't define __round__ method", tpl_type_name(self));
    TPL_CHECK(tpl_str_is(method, "common") || tpl_str_is(method, "ceil") || tpl_str_is(method, "floor"), rt,
              "method must be common, ceil or floor");
    v = tpl_as_float(self);
    scale = pow(10, (double)digits);
    if (!tpl_str_is(method, "common")) {
        v = tpl_str_is(method, "ceil") ? ceil(v * scale) : floor(v * scale);
        TPL_CHECK(isfinite(v), rt, "cannot convert float %s to integer", isnan(v) ? "NaN" : "infinity");
        *out = tpl_float((v + 0.0) / scale);
    } else if (tpl_is_int(self)) {
        return round_int(rt, out, tpl_as_int(self), digits);
    } else if (!isfinite(v) || digits > 300) {
        *out = self;
    } else if (digits >= 0) {
        snprintf(text, sizeof text, "%.*f", (int)digits, v);
        *out = tpl_float(strtod(text, NULL));
    } else {
        *out = tpl_float(digits < -308 ? copysign(0, v) : rint(v / pow(10, (double)-digits)) * pow(10, (double)-digits));
    }
    return HONE_OK;
}

FILTER(indent)
{
    static const tpl_str newline = { .data = "\n", .len = 1, .chars = 1 }, one = { .data = " ", .len = 1, .chars = 1 };
    tpl_value lines, by = a[0].kind == TPL_MISSING ? tpl_int(4) : a[0];
    tpl_buf   b = { 0 };
    bool      blank = tpl_truthy(a[2]), first = tpl_truthy(a[1]);

    UNUSED(call);
    if (by.kind != TPL_STR)
        HONE_TRY(tpl_binary(rt, &by, '*', tpl_string(&one), by));
    TPL_CHECK(self.kind == TPL_STR, rt, "can only concatenate str to %s", tpl_type_name(self));
    HONE_TRY(tpl_split_lines(rt, &lines, self.u.s, false));
    /* "text\n" has an empty last line here, since jinja2 appends a newline before it splits */
    if (tpl_ends_line(self.u.s) || !lines.u.l->len)
        HONE_TRY(tpl_push(rt, lines.u.l, tpl_string(&EMPTY)));
    for (uint32_t i = 0; i < lines.u.l->len; i++) {
        const tpl_str *line = lines.u.l->items[i].u.s;

        if (i)
            HONE_TRY(tpl_buf_str(rt, &b, &newline));
        if (i ? blank || line->len : first)
            HONE_TRY(tpl_buf_str(rt, &b, by.u.s));
        HONE_TRY(tpl_buf_str(rt, &b, line));
    }
    HONE_TRY(tpl_buf_take(rt, &b, out));
    return tpl_as_markup(rt, out, out->u.s, self.u.s->markup);
}

FILTER(truncate)
{
    static const tpl_str dots = { .data = "...", .len = 3, .chars = 3 }, space = { .data = " ", .len = 1, .chars = 1 };
    const tpl_str *end, *s;
    int64_t        length, leeway = 5, at, chars;
    tpl_value      cut;

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &length, a[0], 255, "length"));
    HONE_TRY(tpl_arg_str(rt, &end, a[2], &dots, "end"));
    if (a[3].kind != TPL_NONE)
        HONE_TRY(tpl_arg_int(rt, &leeway, a[3], 5, "leeway"));
    TPL_CHECK(length >= (int64_t)end->chars && leeway >= 0, rt, "expected length >= %u, got %lld", end->chars,
              (long long)length);
    HONE_TRY(tpl_length(rt, &chars, self));
    *out = self;
    if (chars <= length || chars - length <= leeway)
        return HONE_OK;
    TPL_CHECK(self.kind == TPL_STR, rt, "truncate needs a string, not %s", tpl_type_name(self));
    s = self.u.s;
    HONE_TRY(tpl_sub_str(rt, &cut, s, 0, tpl_str_offset(s, (size_t)(length - (int64_t)end->chars))));
    at = tpl_truthy(a[1]) ? -1 : tpl_str_find(rt, cut.u.s, &space, 0, cut.u.s->len, true);
    HONE_TRY(tpl_sub_str(rt, &cut, cut.u.s, 0, at < 0 ? cut.u.s->len : (size_t)at));
    HONE_TRY(tpl_as_markup(rt, &cut, cut.u.s, s->markup));
    return tpl_binary(rt, out, '+', cut, tpl_string(end));
}

FILTER(wordcount)
{
    const tpl_str *s;
    int64_t        words = 0;
    bool           inside = false;
    size_t         n;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    for (size_t i = 0; i < s->len; i += n) {
        bool is = tpl_uc_has(hone_utf8_decode(s->data + i, &n), TPL_UC_WORD);

        words += is && !inside;
        inside = is;
    }
    *out = tpl_int(words);
    return HONE_OK;
}

FILTER(center)
{
    const tpl_str     *s;
    tpl_value          width = a[0].kind == TPL_MISSING ? tpl_int(80) : a[0];
    const tpl_str      name = { .data = "center", .len = 6 };
    const tpl_call     one = { .args = &width, .nargs = 1 };

    UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    return tpl_run(rt, out, tpl_str_method(s, &name), tpl_string(s), &one);
}

FILTER(filesizeformat)
{
    static const char *const units[2][8] = {
        { "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB" }, { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB" }
    };
    bool   binary = tpl_truthy(a[0]);
    double base = binary ? 1024 : 1000, unit = base, v;
    char   text[400];
    int    i = 0;

    UNUSED(call);
    if (self.kind == TPL_UNDEF)
        return tpl_fail_undefined(rt, self);
    TPL_CHECK(self.kind != TPL_STR || read_float(&v, self.u.s), rt, "could not convert string to float");
    TPL_CHECK(self.kind == TPL_STR || tpl_is_number(self), rt, "float() argument must be a string or a real number, not '%s'",
              tpl_type_name(self));
    if (self.kind != TPL_STR)
        v = tpl_as_float(self);
    if (v == 1) {
        snprintf(text, sizeof text, "1 Byte");
    } else if (v < base) {
        TPL_CHECK(isfinite(v), rt, "cannot convert float infinity to integer");
        snprintf(text, sizeof text, "%.0f Bytes", trunc(v) + 0.0);
    } else {
        for (unit *= base; i < 7 && !(v < unit); i++)
            unit *= base;
        snprintf(text, sizeof text, "%.1f %s", base * v / unit, units[binary][i]);
    }
    return tpl_new_str(rt, out, text, strlen(text));
}

FILTER(format)
{
    const tpl_str *s;
    tpl_list      *l;
    tpl_dict      *d;

    UNUSED(a);
    HONE_TRY(tpl_to_str(rt, &s, self));
    TPL_CHECK(!call->nargs || !call->nkw, rt, "can't handle positional and keyword arguments at the same time");
    if (call->nkw) {
        HONE_TRY(tpl_new_dict(rt, &d, call->nkw));
        for (uint32_t i = 0; i < call->nkw; i++)
            HONE_TRY(tpl_dict_put(rt, d, tpl_string(call->names[i]), call->kwargs[i]));
        return tpl_str_percent(rt, out, s, tpl_dict_value(d));
    }
    HONE_TRY(tpl_new_list(rt, &l, call->nargs));
    for (uint32_t i = 0; i < call->nargs; i++)
        HONE_TRY(tpl_push(rt, l, call->args[i]));
    return tpl_str_percent(rt, out, s, tpl_tuple_value(l));
}

FILTER(attr)
{
    UNUSED(call);
    TPL_CHECK(a[0].kind == TPL_STR, rt, "attribute name must be string, not '%s'", tpl_type_name(a[0]));
    if (self.kind == TPL_DICT && !tpl_find_method(self, a[0].u.s)) {    /* the attribute, never the item */
        *out = (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_ATTR, .of = TPL_DICT, .u.s = a[0].u.s };
        return HONE_OK;
    }
    return tpl_get_attr(rt, out, self, a[0].u.s);
}

/* tojson(ensure_ascii, indent, separators, sort_keys), as transformers defines it */
FILTER(tojson)
{
    tpl_json_style style = { .ascii = tpl_truthy(a[0]), .sort = tpl_truthy(a[3]) };
    tpl_buf        b = { 0 };
    tpl_value      spaces;

    UNUSED(call);
    if (a[1].kind != TPL_MISSING && a[1].kind != TPL_NONE) {
        static const tpl_str one = { .data = " ", .len = 1, .chars = 1 };

        spaces = a[1];
        if (a[1].kind != TPL_STR)
            HONE_TRY(tpl_binary(rt, &spaces, '*', tpl_string(&one), a[1]));
        style.indent = spaces.u.s->data;
        style.indent_len = spaces.u.s->len;
    }
    if (a[2].kind != TPL_MISSING && a[2].kind != TPL_NONE) {
        tpl_list *l;

        HONE_TRY(tpl_to_list(rt, &l, a[2]));
        TPL_CHECK(l->len == 2 && l->items[0].kind == TPL_STR && l->items[1].kind == TPL_STR, rt,
                  "separators must be two strings");
        style.item = l->items[0].u.s;
        style.key = l->items[1].u.s;
    }
    HONE_TRY(tpl_to_json(rt, &b, self, &style));
    return tpl_buf_take(rt, &b, out);
}

static const tpl_builtin filters[] = {
    { "trim", "chars", 0, trim, 0 }, { "length", "", 0, tpl_filter_length, 0 }, { "count", "", 0, tpl_filter_length, 0 },
    { "tojson", "ensure_ascii indent separators sort_keys", 0, tojson, 0 }, { "default", "default_value boolean", 0, default_, 0 },
    { "d", "default_value boolean", 0, default_, 0 }, { "string", "", 0, string, 0 }, { "upper", "", 0, upper, 0 },
    { "lower", "", 0, lower, 0 }, { "title", "", 0, title, 0 }, { "capitalize", "", 0, capitalize, 0 },
    { "replace", "old new count", 2, replace, 0 }, { "join", "d attribute", 0, join, 0 }, { "map", "*", 0, tpl_filter_map, 0 },
    { "select", "*", 0, tpl_filter_select, 0 }, { "reject", "*", 0, tpl_filter_reject, 0 },
    { "selectattr", "*", 0, tpl_filter_selectattr, 0 }, { "rejectattr", "*", 0, tpl_filter_rejectattr, 0 },
    { "list", "", 0, tpl_filter_list, 0 }, { "first", "", 0, tpl_filter_first, 0 }, { "last", "", 0, tpl_filter_last, 0 },
    { "items", "", 0, tpl_filter_items, 0 }, { "dictsort", "case_sensitive by reverse", 0, tpl_filter_dictsort, 0 },
    { "sort", "reverse case_sensitive attribute", 0, tpl_filter_sort, 0 },
    { "unique", "case_sensitive attribute", 0, tpl_filter_unique, 0 }, { "reverse", "", 0, tpl_filter_reverse, 0 },
    { "sum", "attribute start", 0, tpl_filter_sum, 0 }, { "min", "case_sensitive attribute", 0, tpl_filter_min, 0 },
    { "max", "case_sensitive attribute", 0, tpl_filter_max, 0 }, { "batch", "linecount fill_with", 1, tpl_filter_batch, 0 },
    { "slice", "slices fill_with", 1, tpl_filter_slice, 0 },
    { "groupby", "attribute default case_sensitive", 1, tpl_filter_groupby, 0 }, { "safe", "", 0, safe, 0 },
    { "escape", "", 0, tpl_filter_escape, 0 }, { "e", "", 0, tpl_filter_escape, 0 }, { "int", "default base", 0, int_, 0 },
    { "float", "default", 0, float_, 0 }, { "abs", "", 0, abs_, 0 }, { "round", "precision method", 0, round_, 0 },
    { "indent", "width first blank", 0, indent, 0 }, { "truncate", "length killwords end leeway", 0, truncate, 0 },
    { "wordcount", "", 0, wordcount, 0 }, { "center", "width", 0, center, 0 }, { "format", "*", 0, format, 0 },
    { "attr", "name", 1, attr, 0 }, { "forceescape", "", 0, tpl_filter_forceescape, 0 },
    { "striptags", "", 0, tpl_filter_striptags, 0 }, { "xmlattr", "autospace", 0, tpl_filter_xmlattr, 0 },
    { "urlencode", "", 0, tpl_filter_urlencode, 0 }, { "filesizeformat", "binary", 0, filesizeformat, 0 },
    { "wordwrap", "width break_long_words wrapstring break_on_hyphens", 0, tpl_filter_wordwrap, 0 },
    { "random", "", 0, tpl_filter_random, 0 }, { "pprint", "", 0, tpl_filter_pprint, 0 },
    { "urlize", "trim_url_limit nofollow target rel extra_schemes", 0, tpl_filter_urlize, 0 },
};

const tpl_builtin *tpl_find_filter(const tpl_str *name) { return tpl_find_in(filters, HONE_COUNTOF(filters), name); }
