/* Filters over single values, and the table of all filters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/template/seq.h"

#define FILTER(name) \
    static hone_status name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
#define UNUSED(x) ((void)(x))

static const tpl_str EMPTY = { .data = "" };

static hone_status recased(tpl_rt *rt, tpl_value *out, tpl_value v, char how)
{
    const tpl_str *s;

    HONE_TRY(tpl_to_str(rt, &s, v));
    return tpl_recase(rt, out, s, how);
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
    tpl_str       *m;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    TPL_ALLOC(m, rt, 1);
    *m = *s;
    m->markup = true;
    *out = tpl_string(m);
    return HONE_OK;
}

FILTER(escape)
{
    const tpl_str *s;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_to_str(rt, &s, self));
    return tpl_escape(rt, out, s);
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
        *out = tpl_float(v / scale);
    } else if (tpl_is_int(self)) {
        TPL_CHECK(digits >= 0, rt, "rounding an integer to negative digits is not supported");
        *out = tpl_int(tpl_as_int(self));
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
    static const tpl_str newline = { .data = "\n", .len = 1, .chars = 1 };
    const tpl_str *by;
    tpl_value      lines, spaces;
    tpl_buf        b = { 0 };
    bool           blank = tpl_truthy(a[2]), first = tpl_truthy(a[1]);

    UNUSED(call);
    spaces = a[0].kind == TPL_MISSING ? tpl_int(4) : a[0];
    if (spaces.kind != TPL_STR) {
        static const tpl_str one = { .data = " ", .len = 1, .chars = 1 };

        HONE_TRY(tpl_binary(rt, &spaces, '*', tpl_string(&one), spaces));
    }
    by = spaces.u.s;
    TPL_CHECK(self.kind == TPL_STR, rt, "can only concatenate str to %s", tpl_type_name(self));
    HONE_TRY(tpl_binary(rt, &lines, '+', tpl_string(&EMPTY), self));
    HONE_TRY(tpl_split_lines(rt, &lines, lines.u.s, false));
    /* "text\n" has an empty last line here, since jinja2 appends a newline before it splits */
    if (!self.u.s->len || self.u.s->data[self.u.s->len - 1] == '\n' || !lines.u.l->len)
        HONE_TRY(tpl_push(rt, lines.u.l, tpl_string(&EMPTY)));
    for (uint32_t i = 0; i < lines.u.l->len; i++) {
        const tpl_str *line = lines.u.l->items[i].u.s;

        if (i)
            HONE_TRY(tpl_buf_str(rt, &b, &newline));
        if (i ? blank || line->len : first)
            HONE_TRY(tpl_buf_str(rt, &b, by));
        HONE_TRY(tpl_buf_str(rt, &b, line));
    }
    return tpl_buf_take(rt, &b, out);
}

FILTER(truncate)
{
    static const tpl_str dots = { .data = "...", .len = 3, .chars = 3 }, space = { .data = " ", .len = 1, .chars = 1 };
    const tpl_str *end, *s;
    int64_t        length, leeway = 5, at;
    tpl_value      cut;
    tpl_buf        b = { 0 };

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &length, a[0], 255, "length"));
    HONE_TRY(tpl_arg_str(rt, &end, a[2], &dots, "end"));
    if (a[3].kind != TPL_NONE)
        HONE_TRY(tpl_arg_int(rt, &leeway, a[3], 5, "leeway"));
    TPL_CHECK(self.kind == TPL_STR, rt, "truncate needs a string, not %s", tpl_type_name(self));
    TPL_CHECK(length >= (int64_t)end->chars && leeway >= 0, rt, "expected length >= %u, got %lld", end->chars,
              (long long)length);
    s = self.u.s;
    *out = self;
    if ((int64_t)s->chars <= length + leeway)
        return HONE_OK;
    HONE_TRY(tpl_sub_str(rt, &cut, s, 0, tpl_str_offset(s, (size_t)(length - (int64_t)end->chars))));
    at = tpl_truthy(a[1]) ? -1 : tpl_str_find(cut.u.s, &space, 0, cut.u.s->len, true);
    HONE_TRY(tpl_buf_sub(rt, &b, cut.u.s, 0, at < 0 ? cut.u.s->len : (size_t)at));
    HONE_TRY(tpl_buf_str(rt, &b, end));
    return tpl_buf_take(rt, &b, out);
}

static bool word_char(uint32_t cp)
{
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);

    return cp == '_' || (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) ||
           (c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO);
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
        bool is = word_char(hone_utf8_decode(s->data + i, &n));

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
    return tpl_run(rt, out, tpl_find_method(TPL_STR, &name), tpl_string(s), &one);
}

FILTER(format)
{
    tpl_list *l;
    tpl_dict *d;

    UNUSED(a);
    TPL_CHECK(self.kind == TPL_STR, rt, "format needs a string, not %s", tpl_type_name(self));
    TPL_CHECK(!call->nargs || !call->nkw, rt, "can't handle positional and keyword arguments at the same time");
    if (call->nkw) {
        HONE_TRY(tpl_new_dict(rt, &d, call->nkw));
        for (uint32_t i = 0; i < call->nkw; i++)
            HONE_TRY(tpl_dict_put(rt, d, tpl_string(call->names[i]), call->kwargs[i]));
        return tpl_str_percent(rt, out, self.u.s, tpl_dict_value(d));
    }
    HONE_TRY(tpl_new_list(rt, &l, call->nargs));
    for (uint32_t i = 0; i < call->nargs; i++)
        HONE_TRY(tpl_push(rt, l, call->args[i]));
    return tpl_str_percent(rt, out, self.u.s, tpl_tuple_value(l));
}

FILTER(attr)
{
    UNUSED(call);
    TPL_CHECK(a[0].kind == TPL_STR, rt, "attribute name must be string, not '%s'", tpl_type_name(a[0]));
    if (self.kind == TPL_DICT && !tpl_find_method(TPL_DICT, a[0].u.s)) {    /* the attribute, never the item */
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
    { "trim", "chars", 0, trim }, { "length", "", 0, tpl_filter_length }, { "count", "", 0, tpl_filter_length },
    { "tojson", "ensure_ascii indent separators sort_keys", 0, tojson }, { "default", "default_value boolean", 0, default_ },
    { "d", "default_value boolean", 0, default_ }, { "string", "", 0, string }, { "upper", "", 0, upper },
    { "lower", "", 0, lower }, { "title", "", 0, title }, { "capitalize", "", 0, capitalize },
    { "replace", "old new count", 2, replace }, { "join", "d attribute", 0, join }, { "map", "*", 0, tpl_filter_map },
    { "select", "*", 0, tpl_filter_select }, { "reject", "*", 0, tpl_filter_reject },
    { "selectattr", "*", 0, tpl_filter_selectattr }, { "rejectattr", "*", 0, tpl_filter_rejectattr },
    { "list", "", 0, tpl_filter_list }, { "first", "", 0, tpl_filter_first }, { "last", "", 0, tpl_filter_last },
    { "items", "", 0, tpl_filter_items }, { "dictsort", "case_sensitive by reverse", 0, tpl_filter_dictsort },
    { "sort", "reverse case_sensitive attribute", 0, tpl_filter_sort },
    { "unique", "case_sensitive attribute", 0, tpl_filter_unique }, { "reverse", "", 0, tpl_filter_reverse },
    { "sum", "attribute start", 0, tpl_filter_sum }, { "min", "case_sensitive attribute", 0, tpl_filter_min },
    { "max", "case_sensitive attribute", 0, tpl_filter_max }, { "batch", "linecount fill_with", 1, tpl_filter_batch },
    { "slice", "slices fill_with", 1, tpl_filter_slice },
    { "groupby", "attribute default case_sensitive", 1, tpl_filter_groupby }, { "safe", "", 0, safe },
    { "escape", "", 0, escape }, { "e", "", 0, escape }, { "int", "default base", 0, int_ },
    { "float", "default", 0, float_ }, { "abs", "", 0, abs_ }, { "round", "precision method", 0, round_ },
    { "indent", "width first blank", 0, indent }, { "truncate", "length killwords end leeway", 0, truncate },
    { "wordcount", "", 0, wordcount }, { "center", "width", 0, center }, { "format", "*", 0, format },
    { "attr", "name", 1, attr },
};

const tpl_builtin *tpl_find_filter(const tpl_str *name) { return tpl_find_in(filters, HONE_COUNTOF(filters), name); }
