/* Methods of str. */
#include <string.h>

#include "base/utf8.h"
#include "text/template/ast.h"

#define METHOD(name) \
    static hone_status name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
#define UNUSED(x) ((void)(x))

METHOD(str_strip)  { UNUSED(call); return tpl_strip(rt, out, self.u.s, a[0], true, true); }
METHOD(str_lstrip) { UNUSED(call); return tpl_strip(rt, out, self.u.s, a[0], true, false); }
METHOD(str_rstrip) { UNUSED(call); return tpl_strip(rt, out, self.u.s, a[0], false, true); }
METHOD(str_upper)  { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 'u'); }
METHOD(str_lower)  { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 'l'); }
METHOD(str_title)  { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 't'); }
METHOD(str_capitalize) { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 'c'); }
METHOD(str_swapcase) { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 's'); }
METHOD(str_casefold) { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 'f'); }
METHOD(str_format) { UNUSED(a); return tpl_str_format(rt, out, self.u.s, call, NULL); }
METHOD(str_join)   { UNUSED(call); return tpl_join(rt, out, self.u.s, a[0], false); }
METHOD(str_splitlines) { UNUSED(call); return tpl_split_lines(rt, out, self.u.s, tpl_truthy(a[0])); }

METHOD(str_split)
{
    int64_t max;

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &max, a[1], -1, "maxsplit"));
    return tpl_split(rt, out, self.u.s, a[0], max, false);
}

METHOD(str_rsplit)
{
    int64_t max;

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &max, a[1], -1, "maxsplit"));
    return tpl_split(rt, out, self.u.s, a[0], max, true);
}

METHOD(str_replace)
{
    const tpl_str *old, *by;
    int64_t        count;

    UNUSED(call);
    HONE_TRY(tpl_arg_str(rt, &old, a[0], NULL, "old"));
    HONE_TRY(tpl_arg_str(rt, &by, a[1], NULL, "new"));
    HONE_TRY(tpl_arg_int(rt, &count, a[2], -1, "count"));
    return tpl_replace(rt, out, self.u.s, old, by, count);
}

/* The bytes that the optional arguments start and end leave. */
static hone_status window(tpl_rt *rt, const tpl_str *s, const tpl_value *a, size_t *from, size_t *to, bool *empty)
{
    int64_t bounds[2] = { 0, s->chars };

    for (int i = 0; i < 2; i++) {
        if (a[i].kind == TPL_MISSING || a[i].kind == TPL_NONE)
            continue;
        TPL_CHECK(tpl_is_int(a[i]), rt, "slice indices must be integers or None");
        bounds[i] = tpl_as_int(a[i]);
        if (bounds[i] < 0)
            bounds[i] = HONE_MAX(bounds[i] + s->chars, (int64_t)0);
    }
    HONE_TRY(tpl_step(rt, s->chars == s->len ? 0 : s->len / 64));
    *empty = bounds[0] > HONE_MIN(bounds[1], (int64_t)s->chars);
    *from = tpl_str_offset(s, (size_t)HONE_MIN(bounds[0], (int64_t)s->chars));
    *to = tpl_str_offset(s, (size_t)HONE_MIN(bounds[1], (int64_t)s->chars));
    return HONE_OK;
}

/* Whether s[from..to) begins (ends) with the string, or one of the tuple's, in `what`. */
static hone_status has_affix(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, bool at_end)
{
    const tpl_value *items = &a[0];
    uint32_t         n = 1;
    size_t           from, to;
    bool             empty;

    *out = tpl_bool(false);
    if (a[0].kind == TPL_TUPLE) {
        items = a[0].u.l->items;
        n = a[0].u.l->len;
    }
    HONE_TRY(window(rt, self.u.s, a + 1, &from, &to, &empty));
    for (uint32_t i = 0; i < n; i++) {
        const tpl_str *x = items[i].u.s;

        TPL_CHECK(items[i].kind == TPL_STR, rt, "%s first arg must be str or a tuple of str, not %s",
                  at_end ? "endswith" : "startswith", tpl_type_name(items[i]));
        if (!empty && x->len <= to - from &&
            (!x->len || memcmp(self.u.s->data + (at_end ? to - x->len : from), x->data, x->len) == 0))
            *out = tpl_bool(true);
    }
    return HONE_OK;
}

METHOD(str_startswith) { UNUSED(call); return has_affix(rt, out, self, a, false); }
METHOD(str_endswith)   { UNUSED(call); return has_affix(rt, out, self, a, true); }

static hone_status find(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, bool last, bool must)
{
    const tpl_str *x;
    size_t         from, to;
    int64_t        at = -1;
    bool           empty;

    HONE_TRY(tpl_arg_str(rt, &x, a[0], NULL, "sub"));
    HONE_TRY(window(rt, self.u.s, a + 1, &from, &to, &empty));
    if (!empty)
        at = tpl_str_find(rt, self.u.s, x, from, to, last);
    TPL_CHECK(at >= 0 || !must, rt, "substring not found");
    *out = tpl_int(at < 0 ? -1 : (int64_t)tpl_count_chars(self.u.s->data, (size_t)at));
    return HONE_OK;
}

METHOD(str_find)   { UNUSED(call); return find(rt, out, self, a, false, false); }
METHOD(str_rfind)  { UNUSED(call); return find(rt, out, self, a, true, false); }
METHOD(str_index)  { UNUSED(call); return find(rt, out, self, a, false, true); }
METHOD(str_rindex) { UNUSED(call); return find(rt, out, self, a, true, true); }

METHOD(str_count)
{
    const tpl_str *x;
    size_t         from, to;
    int64_t        n = 0, at;
    bool           empty;

    UNUSED(call);
    HONE_TRY(tpl_arg_str(rt, &x, a[0], NULL, "sub"));
    HONE_TRY(window(rt, self.u.s, a + 1, &from, &to, &empty));
    if (!x->len)
        n = empty ? 0 : (int64_t)tpl_count_chars(self.u.s->data + from, to - from) + 1;
    while (x->len && !empty && (at = tpl_str_find(rt, self.u.s, x, from, to, false)) >= 0) {
        from = (size_t)at + x->len;
        n++;
        HONE_TRY(tpl_step(rt, 1));
    }
    *out = tpl_int(n);
    return HONE_OK;
}

static hone_status partition(tpl_rt *rt, tpl_value *out, tpl_value self, tpl_value sep, bool last)
{
    const tpl_str *x, *s = self.u.s;
    tpl_list      *l;
    int64_t        at;

    HONE_TRY(tpl_arg_str(rt, &x, sep, NULL, "sep"));
    TPL_CHECK(x->len, rt, "empty separator");
    HONE_TRY(tpl_new_list(rt, &l, 3));
    l->len = 3;
    at = tpl_str_find(rt, s, x, 0, s->len, last);
    *out = tpl_tuple_value(l);
    if (at < 0) {
        HONE_TRY(tpl_new_str(rt, &l->items[last ? 0 : 1], "", 0));
        HONE_TRY(tpl_new_str(rt, &l->items[last ? 1 : 2], "", 0));
        l->items[last ? 2 : 0] = self;
        return HONE_OK;
    }
    HONE_TRY(tpl_sub_str(rt, &l->items[0], s, 0, (size_t)at));
    l->items[1] = sep;
    return tpl_sub_str(rt, &l->items[2], s, (size_t)at + x->len, s->len);
}

METHOD(str_partition)  { UNUSED(call); return partition(rt, out, self, a[0], false); }
METHOD(str_rpartition) { UNUSED(call); return partition(rt, out, self, a[0], true); }

static hone_status remove_affix(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, bool at_end)
{
    const tpl_str *s = self.u.s, *x;
    tpl_value      has;

    HONE_TRY(tpl_arg_str(rt, &x, a[0], NULL, "affix"));
    HONE_TRY(has_affix(rt, &has, self, (const tpl_value[]){ a[0], { 0 }, { 0 } }, at_end));
    *out = self;
    if (!has.u.b || !x->len)
        return HONE_OK;
    return at_end ? tpl_sub_str(rt, out, s, 0, s->len - x->len) : tpl_sub_str(rt, out, s, x->len, s->len);
}

METHOD(str_removeprefix) { UNUSED(call); return remove_affix(rt, out, self, a, false); }
METHOD(str_removesuffix) { UNUSED(call); return remove_affix(rt, out, self, a, true); }

#define STR_IS(name, which) \
    METHOD(name) \
    { \
        UNUSED(call); UNUSED(a); \
        *out = tpl_bool(tpl_str_all(self.u.s, which)); \
        return tpl_step(rt, self.u.s->len / 16); \
    }
STR_IS(str_islower, 'l')
STR_IS(str_isupper, 'u')
STR_IS(str_isdigit, 'd')
STR_IS(str_isalpha, 'a')
STR_IS(str_isalnum, 'n')
STR_IS(str_isspace, 's')
STR_IS(str_isdecimal, 'D')
STR_IS(str_isnumeric, 'N')
STR_IS(str_isprintable, 'p')
STR_IS(str_isascii, 'A')
STR_IS(str_isidentifier, 'i')

METHOD(str_istitle)
{
    UNUSED(call); UNUSED(a);
    *out = tpl_bool(tpl_str_is_title(self.u.s));
    return tpl_step(rt, self.u.s->len / 16);
}

static hone_status pad(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, int64_t left_of, int64_t halves)
{
    const tpl_str *s = self.u.s, *fill, space = { .data = " ", .len = 1, .chars = 1 };
    tpl_buf        b = { 0 };
    int64_t        width, gap, left;

    HONE_TRY(tpl_arg_int(rt, &width, a[0], 0, "width"));
    HONE_TRY(tpl_arg_str(rt, &fill, a[1], &space, "fillchar"));
    TPL_CHECK(fill->chars == 1, rt, "The fill character must be exactly one character long");
    gap = HONE_MAX(width - (int64_t)s->chars, (int64_t)0);
    HONE_TRY(tpl_step(rt, (uint64_t)gap));
    /* str.center puts the odd blank to the left when the width is odd */
    left = halves ? gap / 2 + (gap & width & 1) : left_of ? gap : 0;
    for (int64_t i = 0; i < left; i++)
        HONE_TRY(tpl_buf_str(rt, &b, fill));
    HONE_TRY(tpl_buf_str(rt, &b, s));
    for (int64_t i = left; i < gap; i++)
        HONE_TRY(tpl_buf_str(rt, &b, fill));
    return tpl_buf_take(rt, &b, out);
}

METHOD(str_center) { UNUSED(call); return pad(rt, out, self, a, 0, 1); }
METHOD(str_ljust)  { UNUSED(call); return pad(rt, out, self, a, 0, 0); }
METHOD(str_rjust)  { UNUSED(call); return pad(rt, out, self, a, 1, 0); }

/* Zeros in front, but behind a sign. */
METHOD(str_zfill)
{
    static const tpl_str zero = { .data = "0", .len = 1, .chars = 1 };
    const tpl_str *s = self.u.s;
    size_t         sign = s->len && (s->data[0] == '+' || s->data[0] == '-');
    tpl_buf        b = { 0 };
    int64_t        width;

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &width, a[0], 0, "width"));
    HONE_TRY(tpl_step(rt, (uint64_t)HONE_MAX(width - (int64_t)s->chars, (int64_t)0)));
    HONE_TRY(tpl_buf_sub(rt, &b, s, 0, sign));
    for (int64_t i = s->chars; i < width; i++)
        HONE_TRY(tpl_buf_str(rt, &b, &zero));
    HONE_TRY(tpl_buf_sub(rt, &b, s, sign, s->len));
    return tpl_buf_take(rt, &b, out);
}

METHOD(str_expandtabs)
{
    const tpl_str *s = self.u.s;
    tpl_buf        b = { 0 };
    int64_t        size, column = 0;
    size_t         n;

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &size, a[0], 8, "tabsize"));
    for (size_t i = 0; i < s->len; i += n) {
        int64_t blanks = size > 0 ? size - column % size : 0;

        n = hone_utf8_len((unsigned char)s->data[i]);
        if (s->data[i] != '\t') {
            HONE_TRY(tpl_buf_sub(rt, &b, s, i, i + n));
            column = s->data[i] == '\n' || s->data[i] == '\r' ? 0 : column + 1;
            continue;
        }
        HONE_TRY(tpl_step(rt, (uint64_t)blanks));
        for (column += blanks; blanks > 0; blanks--)
            HONE_TRY(tpl_buf_as(rt, &b, " ", 1, s, i));
    }
    return tpl_buf_take(rt, &b, out);
}

/* translate(table): code points by number; a table may be anything that has items. */
METHOD(str_translate)
{
    const tpl_str *s = self.u.s;
    tpl_buf        b = { 0 };
    size_t         n;

    UNUSED(call);
    for (size_t i = 0; i < s->len; i += n) {
        uint32_t  cp = hone_utf8_decode(s->data + i, &n);
        tpl_value v = { .kind = TPL_UNDEF };
        char      utf8[4];

        HONE_TRY(tpl_step(rt, 1));
        if (a[0].kind == TPL_DICT || a[0].kind == TPL_LIST || a[0].kind == TPL_TUPLE || a[0].kind == TPL_STR || a[0].kind == TPL_RANGE)
            HONE_TRY(tpl_get_item(rt, &v, a[0], tpl_int(cp)));
        else
            return TPL_FAIL(rt, "'%s' object is not subscriptable", tpl_type_name(a[0]));
        if (v.kind == TPL_UNDEF) {
            HONE_TRY(tpl_buf_sub(rt, &b, s, i, i + n));
        } else if (v.kind == TPL_STR) {
            HONE_TRY(tpl_buf_str(rt, &b, v.u.s));
        } else if (v.kind != TPL_NONE) {
            TPL_CHECK(tpl_is_int(v), rt, "character mapping must return integer, None or str");
            TPL_CHECK(tpl_as_int(v) >= 0 && tpl_as_int(v) < 0x110000 && !(tpl_as_int(v) >= 0xD800 && tpl_as_int(v) < 0xE000), rt,
                      "character mapping must be in range(0x110000)");
            HONE_TRY(tpl_buf_as(rt, &b, utf8, hone_utf8_encode((uint32_t)tpl_as_int(v), utf8), s, i));
        }
    }
    return tpl_buf_take(rt, &b, out);
}

METHOD(str_format_map)
{
    tpl_call fields = { 0 };

    UNUSED(call);
    TPL_CHECK(a[0].kind == TPL_DICT || a[0].kind == TPL_UNDEF, rt, "'%s' object is not subscriptable by name", tpl_type_name(a[0]));
    return tpl_str_format(rt, out, self.u.s, &fields, a[0].kind == TPL_DICT ? a[0].u.d : NULL);
}

/* Markup only. */
METHOD(markup_striptags) { UNUSED(call); UNUSED(a); return tpl_strip_tags(rt, out, self.u.s); }
METHOD(markup_unescape)  { UNUSED(call); UNUSED(a); return tpl_unescape(rt, out, self.u.s); }

/* Last: which arguments Markup escapes, + TPL_MARKUP where what it returns is Markup too. */
static const tpl_builtin methods[] = {
    { "strip", "-chars", 0, str_strip, TPL_MARKUP }, { "lstrip", "-chars", 0, str_lstrip, TPL_MARKUP },
    { "rstrip", "-chars", 0, str_rstrip, TPL_MARKUP }, { "upper", "", 0, str_upper, TPL_MARKUP },
    { "lower", "", 0, str_lower, TPL_MARKUP }, { "title", "", 0, str_title, TPL_MARKUP },
    { "capitalize", "", 0, str_capitalize, TPL_MARKUP }, { "swapcase", "", 0, str_swapcase, TPL_MARKUP },
    { "casefold", "", 0, str_casefold, TPL_MARKUP }, { "format", "*", 0, str_format, TPL_MARKUP },
    { "format_map", "-mapping", 1, str_format_map, TPL_MARKUP }, { "join", "-iterable", 1, str_join, TPL_MARKUP },
    { "split", "sep maxsplit", 0, str_split, TPL_MARKUP }, { "rsplit", "sep maxsplit", 0, str_rsplit, TPL_MARKUP },
    { "splitlines", "keepends", 0, str_splitlines, TPL_MARKUP }, { "replace", "-old -new -count", 2, str_replace, TPL_MARKUP | 2 },
    { "startswith", "-prefix -start -end", 1, str_startswith, 0 }, { "endswith", "-suffix -start -end", 1, str_endswith, 0 },
    { "find", "-sub -start -end", 1, str_find, 0 }, { "rfind", "-sub -start -end", 1, str_rfind, 0 },
    { "index", "-sub -start -end", 1, str_index, 0 }, { "rindex", "-sub -start -end", 1, str_rindex, 0 },
    { "count", "-sub -start -end", 1, str_count, 0 }, { "partition", "-sep", 1, str_partition, TPL_MARKUP },
    { "rpartition", "-sep", 1, str_rpartition, TPL_MARKUP }, { "removeprefix", "-prefix", 1, str_removeprefix, TPL_MARKUP },
    { "removesuffix", "-suffix", 1, str_removesuffix, TPL_MARKUP }, { "islower", "", 0, str_islower, 0 },
    { "isupper", "", 0, str_isupper, 0 }, { "istitle", "", 0, str_istitle, 0 }, { "isdigit", "", 0, str_isdigit, 0 },
    { "isdecimal", "", 0, str_isdecimal, 0 }, { "isnumeric", "", 0, str_isnumeric, 0 }, { "isalpha", "", 0, str_isalpha, 0 },
    { "isalnum", "", 0, str_isalnum, 0 }, { "isspace", "", 0, str_isspace, 0 }, { "isascii", "", 0, str_isascii, 0 },
    { "isidentifier", "", 0, str_isidentifier, 0 }, { "isprintable", "", 0, str_isprintable, 0 },
    { "center", "-width -fillchar", 1, str_center, TPL_MARKUP | 2 }, { "ljust", "-width -fillchar", 1, str_ljust, TPL_MARKUP | 2 },
    { "rjust", "-width -fillchar", 1, str_rjust, TPL_MARKUP | 2 }, { "zfill", "-width", 1, str_zfill, TPL_MARKUP },
    { "expandtabs", "tabsize", 0, str_expandtabs, TPL_MARKUP }, { "translate", "-table", 1, str_translate, TPL_MARKUP },
    /* refused by name when called */
    { "encode", "*", 0, NULL, 0 }, { "maketrans", "*", 0, NULL, 0 },
};

static const tpl_builtin markup_methods[] = {
    { "striptags", "", 0, markup_striptags, 0 }, { "unescape", "", 0, markup_unescape, 0 }, { "escape", "*", 0, NULL, 0 },
};

const tpl_builtin *tpl_str_method(const tpl_str *self, const tpl_str *name)
{
    const tpl_builtin *fn = tpl_find_in(methods, HONE_COUNTOF(methods), name);

    return fn || !self->markup ? fn : tpl_find_in(markup_methods, HONE_COUNTOF(markup_methods), name);
}
