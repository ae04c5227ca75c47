/* Methods of str, list, tuple, dict and loop, and the binding of arguments to built-in functions. */
#include <string.h>

#include "base/utf8.h"
#include "text/template/ast.h"

/* ---- arguments ---- */
static hone_status bind(tpl_rt *rt, tpl_value a[TPL_MAX_PARAMS], const tpl_builtin *fn, const tpl_call *call)
{
    const char *p = fn->params;
    uint32_t    n = 0, used = 0;

    for (int i = 0; i < TPL_MAX_PARAMS; i++)
        a[i] = (tpl_value){ .kind = TPL_MISSING };
    for (; *p; n++) {
        size_t len = strcspn(p, " ");

        if (n < call->nargs)
            a[n] = call->args[n];
        for (uint32_t k = 0; k < call->nkw; k++) {
            if (call->names[k]->len != len || memcmp(call->names[k]->data, p, len) != 0)
                continue;
            TPL_CHECK(n >= call->nargs, rt, "%s() got multiple values for argument '%.*s'", fn->name, (int)len, p);
            a[n] = call->kwargs[k];
            used++;
        }
        TPL_CHECK((int)n >= fn->required || a[n].kind != TPL_MISSING, rt, "%s() misses the argument '%.*s'", fn->name,
                  (int)len, p);
        p += len + (p[len] == ' ');
    }
    TPL_CHECK(call->nargs <= n, rt, "%s() takes at most %u argument%s (%u given)", fn->name, n, n == 1 ? "" : "s",
              call->nargs);
    TPL_CHECK(used == call->nkw, rt, "%s() got an unexpected keyword argument", fn->name);
    return HONE_OK;
}

hone_status tpl_run(tpl_rt *rt, tpl_value *out, const tpl_builtin *fn, tpl_value self, const tpl_call *call)
{
    tpl_value   a[TPL_MAX_PARAMS];
    hone_status st;

    HONE_TRY(tpl_step(rt, 1));
    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "evaluation is nested too deep");
    if (!fn->fn)
        return tpl_fail(rt, HONE_E_UNSUPPORTED, "the method '%s' of str is not supported", fn->name);
    if (strcmp(fn->params, "*") != 0)
        HONE_TRY(bind(rt, a, fn, call));
    else
        a[0] = (tpl_value){ .kind = TPL_MISSING };
    rt->depth++;
    st = fn->fn(rt, out, self, a, call);
    rt->depth--;
    return st;
}

hone_status tpl_arg_int(tpl_rt *rt, int64_t *out, tpl_value v, int64_t absent, const char *what)
{
    *out = absent;
    if (v.kind == TPL_MISSING)
        return HONE_OK;
    TPL_CHECK(tpl_is_int(v), rt, "'%s' must be an integer, not %s", what, tpl_type_name(v));
    *out = tpl_as_int(v);
    return HONE_OK;
}

hone_status tpl_arg_str(tpl_rt *rt, const tpl_str **out, tpl_value v, const tpl_str *absent, const char *what)
{
    *out = absent;
    if (v.kind == TPL_MISSING && absent)
        return HONE_OK;
    TPL_CHECK(v.kind == TPL_STR, rt, "'%s' must be a string, not %s", what, tpl_type_name(v));
    *out = v.u.s;
    return HONE_OK;
}

#define METHOD(name) \
    static hone_status name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
#define UNUSED(x) ((void)(x))

/* ---- str ---- */
METHOD(str_strip)  { UNUSED(call); return tpl_strip(rt, out, self.u.s, a[0], true, true); }
METHOD(str_lstrip) { UNUSED(call); return tpl_strip(rt, out, self.u.s, a[0], true, false); }
METHOD(str_rstrip) { UNUSED(call); return tpl_strip(rt, out, self.u.s, a[0], false, true); }
METHOD(str_upper)  { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 'u'); }
METHOD(str_lower)  { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 'l'); }
METHOD(str_title)  { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 't'); }
METHOD(str_capitalize) { UNUSED(call); UNUSED(a); return tpl_recase(rt, out, self.u.s, 'c'); }
METHOD(str_format) { UNUSED(a); return tpl_str_format(rt, out, self.u.s, call); }
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
        at = tpl_str_find(self.u.s, x, from, to, last);
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
    while (x->len && !empty && (at = tpl_str_find(self.u.s, x, from, to, false)) >= 0) {
        from = (size_t)at + x->len;
        n++;
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
    at = tpl_str_find(s, x, 0, s->len, last);
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
    METHOD(name) { UNUSED(rt); UNUSED(call); UNUSED(a); *out = tpl_bool(tpl_str_all(self.u.s, which)); return HONE_OK; }
STR_IS(str_islower, 'l')
STR_IS(str_isupper, 'u')
STR_IS(str_isdigit, 'd')
STR_IS(str_isalpha, 'a')
STR_IS(str_isalnum, 'n')
STR_IS(str_isspace, 's')

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

static const tpl_builtin str_methods[] = {
    { "strip", "chars", 0, str_strip }, { "lstrip", "chars", 0, str_lstrip }, { "rstrip", "chars", 0, str_rstrip },
    { "upper", "", 0, str_upper }, { "lower", "", 0, str_lower }, { "title", "", 0, str_title },
    { "capitalize", "", 0, str_capitalize }, { "format", "*", 0, str_format }, { "join", "iterable", 1, str_join },
    { "split", "sep maxsplit", 0, str_split }, { "rsplit", "sep maxsplit", 0, str_rsplit },
    { "splitlines", "keepends", 0, str_splitlines }, { "replace", "old new count", 2, str_replace },
    { "startswith", "prefix start end", 1, str_startswith }, { "endswith", "suffix start end", 1, str_endswith },
    { "find", "sub start end", 1, str_find }, { "rfind", "sub start end", 1, str_rfind },
    { "index", "sub start end", 1, str_index }, { "rindex", "sub start end", 1, str_rindex },
    { "count", "sub start end", 1, str_count }, { "partition", "sep", 1, str_partition },
    { "rpartition", "sep", 1, str_rpartition }, { "removeprefix", "prefix", 1, str_removeprefix },
    { "removesuffix", "suffix", 1, str_removesuffix }, { "islower", "", 0, str_islower },
    { "isupper", "", 0, str_isupper }, { "isdigit", "", 0, str_isdigit }, { "isdecimal", "", 0, str_isdigit },
    { "isalpha", "", 0, str_isalpha }, { "isalnum", "", 0, str_isalnum }, { "isspace", "", 0, str_isspace },
    { "center", "width fillchar", 1, str_center }, { "ljust", "width fillchar", 1, str_ljust },
    { "rjust", "width fillchar", 1, str_rjust },
    /* Python's others, refused by name when called */
    { "casefold", "*", 0, NULL }, { "encode", "*", 0, NULL }, { "expandtabs", "*", 0, NULL },
    { "format_map", "*", 0, NULL }, { "isascii", "*", 0, NULL }, { "isidentifier", "*", 0, NULL },
    { "isnumeric", "*", 0, NULL }, { "isprintable", "*", 0, NULL }, { "istitle", "*", 0, NULL },
    { "maketrans", "*", 0, NULL }, { "swapcase", "*", 0, NULL }, { "translate", "*", 0, NULL },
    { "zfill", "*", 0, NULL },
};

/* ---- list, tuple, dict ---- */
METHOD(list_index)
{
    UNUSED(call);
    for (uint32_t i = 0; i < self.u.l->len; i++) {
        if (tpl_equal(self.u.l->items[i], a[0])) {
            *out = tpl_int(i);
            return HONE_OK;
        }
    }
    return TPL_FAIL(rt, "the value is not in the list");
}

METHOD(list_count)
{
    int64_t n = 0;

    UNUSED(rt); UNUSED(call);
    for (uint32_t i = 0; i < self.u.l->len; i++)
        n += tpl_equal(self.u.l->items[i], a[0]);
    *out = tpl_int(n);
    return HONE_OK;
}

METHOD(list_copy)
{
    UNUSED(call); UNUSED(a);
    return tpl_slice(rt, out, self, tpl_none(), tpl_none(), tpl_none());
}

METHOD(dict_get)
{
    const tpl_value *v = tpl_dict_get(self.u.d, a[0]);

    UNUSED(call);
    TPL_CHECK(tpl_hashable(a[0]), rt, "unhashable type: '%s'", tpl_type_name(a[0]));
    *out = v ? *v : a[1].kind == TPL_MISSING ? tpl_none() : a[1];
    return HONE_OK;
}

static tpl_value view(tpl_value self, tpl_view which)
{
    return (tpl_value){ .kind = TPL_VIEW, .sub = which, .u.d = self.u.d };
}

METHOD(dict_keys)   { UNUSED(rt); UNUSED(a); UNUSED(call); *out = view(self, TPL_VIEW_KEYS); return HONE_OK; }
METHOD(dict_values) { UNUSED(rt); UNUSED(a); UNUSED(call); *out = view(self, TPL_VIEW_VALUES); return HONE_OK; }
METHOD(dict_items)  { UNUSED(rt); UNUSED(a); UNUSED(call); *out = view(self, TPL_VIEW_ITEMS); return HONE_OK; }

METHOD(dict_copy)
{
    tpl_dict *d;

    UNUSED(a); UNUSED(call);
    HONE_TRY(tpl_new_dict(rt, &d, 0));
    for (uint32_t i = 0; i < self.u.d->len; i++)
        HONE_TRY(tpl_dict_put(rt, d, self.u.d->keys[i], self.u.d->values[i]));
    d->msg = self.u.d->msg;
    *out = tpl_dict_value(d);
    return HONE_OK;
}

static const tpl_builtin list_methods[] = {
    { "index", "value", 1, list_index }, { "count", "value", 1, list_count }, { "copy", "", 0, list_copy },
};

static const tpl_builtin dict_methods[] = {
    { "get", "key default", 1, dict_get }, { "keys", "", 0, dict_keys }, { "values", "", 0, dict_values },
    { "items", "", 0, dict_items }, { "copy", "", 0, dict_copy },
};

const tpl_builtin *tpl_find_in(const tpl_builtin *table, size_t n, const tpl_str *name)
{
    for (size_t i = 0; i < n; i++)
        if (tpl_str_is(name, table[i].name))
            return &table[i];
    return NULL;
}

const tpl_builtin *tpl_find_method(tpl_kind kind, const tpl_str *name)
{
    if (kind == TPL_STR)
        return tpl_find_in(str_methods, HONE_COUNTOF(str_methods), name);
    if (kind == TPL_LIST)
        return tpl_find_in(list_methods, HONE_COUNTOF(list_methods), name);
    if (kind == TPL_TUPLE)
        return tpl_find_in(list_methods, 2, name);
    return kind == TPL_DICT ? tpl_find_in(dict_methods, HONE_COUNTOF(dict_methods), name) : NULL;
}

bool tpl_method_forbidden(tpl_kind kind, const tpl_str *name)
{
    static const char *const lists[] = { "append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove" };
    static const char *const dicts[] = { "clear", "pop", "popitem", "setdefault", "update", "fromkeys" };

    for (size_t i = 0; kind == TPL_LIST && i < HONE_COUNTOF(lists); i++)
        if (tpl_str_is(name, lists[i]))
            return true;
    for (size_t i = 0; kind == TPL_DICT && i < HONE_COUNTOF(dicts); i++)
        if (tpl_str_is(name, dicts[i]))
            return true;
    return false;
}
