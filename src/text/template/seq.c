/* Filters over sequences. */
#include "text/template/seq.h"

#include <string.h>

#define FILTER(name) \
    hone_status tpl_filter_##name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
#define UNUSED(x) ((void)(x))

static hone_status hint(tpl_value *out, const tpl_str *text)
{
    *out = (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_HINT, .u.s = text };
    return HONE_OK;
}

/* A keyword argument of a call, or TPL_MISSING. */
static tpl_value keyword(const tpl_call *call, const char *name)
{
    for (uint32_t i = 0; i < call->nkw; i++)
        if (tpl_str_is(call->names[i], name))
            return call->kwargs[i];
    return (tpl_value){ .kind = TPL_MISSING };
}

static hone_status find_builtin(tpl_rt *rt, const tpl_builtin **out, tpl_value name, bool test)
{
    TPL_CHECK(name.kind == TPL_STR, rt, "the name of a %s must be a string", test ? "test" : "filter");
    *out = test ? tpl_find_test(name.u.s) : tpl_find_filter(name.u.s);
    return HONE_OK;
}

FILTER(map)
{
    tpl_select sel = { .call = *call };
    tpl_value  attribute = keyword(call, "attribute");

    UNUSED(a);
    if (!call->nargs && attribute.kind != TPL_MISSING) {
        HONE_TRY(tpl_parse_path(rt, &sel.path, attribute));
        sel.path.fallback = keyword(call, "default");
        return tpl_lazy_map(rt, out, self, &sel);
    }
    TPL_CHECK(call->nargs, rt, "map requires a filter argument");
    if (!tpl_truthy(self))      /* jinja2 looks the filter up when there is something to map */
        return tpl_lazy_map(rt, out, self, &sel);
    HONE_TRY(find_builtin(rt, &sel.fn, call->args[0], false));
    if (!sel.fn)
        return tpl_lazy_unknown(rt, out, call->args[0].u.s, false);
    sel.call.args++;
    sel.call.nargs--;
    return tpl_lazy_map(rt, out, self, &sel);
}

static hone_status select_items(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_call *call, bool attribute, bool negate)
{
    tpl_select sel = { .call = *call, .negate = negate };

    if (attribute) {
        TPL_CHECK(call->nargs, rt, "Missing parameter for attribute name");
        HONE_TRY(tpl_parse_path(rt, &sel.path, call->args[0]));
        sel.call.args++;
        sel.call.nargs--;
    }
    if (sel.call.nargs && tpl_truthy(self)) {
        HONE_TRY(find_builtin(rt, &sel.fn, sel.call.args[0], true));
        if (!sel.fn)
            return tpl_lazy_unknown(rt, out, sel.call.args[0].u.s, true);
        sel.call.args++;
        sel.call.nargs--;
    }
    return tpl_lazy_select(rt, out, self, &sel);
}

FILTER(select)     { UNUSED(a); return select_items(rt, out, self, call, false, false); }
FILTER(reject)     { UNUSED(a); return select_items(rt, out, self, call, false, true); }
FILTER(selectattr) { UNUSED(a); return select_items(rt, out, self, call, true, false); }
FILTER(rejectattr) { UNUSED(a); return select_items(rt, out, self, call, true, true); }

FILTER(list)
{
    tpl_list *l;

    UNUSED(a), UNUSED(call);
    HONE_TRY(tpl_to_list(rt, &l, self));
    *out = tpl_list_value(l);
    return HONE_OK;
}

FILTER(first)
{
    static const tpl_str none = { .data = "No first item, sequence was empty.", .len = 34 };
    tpl_iter *it;
    bool      done;

    UNUSED(a), UNUSED(call);
    HONE_TRY(tpl_iterate(rt, &it, self));
    HONE_TRY(tpl_next(rt, it, out, &done));
    return done ? hint(out, &none) : HONE_OK;
}

FILTER(last)
{
    static const tpl_str none = { .data = "No last item, sequence was empty.", .len = 33 };
    tpl_list *l;

    UNUSED(a), UNUSED(call);
    TPL_CHECK(self.kind != TPL_ITER, rt, "'%s' object is not reversible", tpl_type_name(self));
    HONE_TRY(tpl_to_list(rt, &l, self));
    if (!l->len)
        return hint(out, &none);
    *out = l->items[l->len - 1];
    return HONE_OK;
}

/* A choice by chance would make the prompt differ from render to render. */
FILTER(random)
{
    static const tpl_str none = { .data = "No random item, sequence was empty.", .len = 35 };
    int64_t n;

    UNUSED(a), UNUSED(call);
    HONE_TRY(tpl_length(rt, &n, self));
    if (!n)
        return hint(out, &none);
    return tpl_fail(rt, HONE_E_UNSUPPORTED, "the filter 'random' is not supported: a prompt must not depend on chance");
}

FILTER(length)
{
    int64_t n;

    UNUSED(a), UNUSED(call);
    HONE_TRY(tpl_length(rt, &n, self));
    *out = tpl_int(n);
    return HONE_OK;
}

FILTER(sum)
{
    tpl_path  path;
    tpl_iter *it;
    tpl_value v;
    bool      done;

    UNUSED(call);
    HONE_TRY(tpl_parse_path(rt, &path, a[0]));
    *out = a[1].kind == TPL_MISSING ? tpl_int(0) : a[1];
    TPL_CHECK(out->kind != TPL_STR, rt, "sum() can't sum strings");
    HONE_TRY(tpl_iterate(rt, &it, self));
    for (;;) {
        HONE_TRY(tpl_next(rt, it, &v, &done));
        if (done)
            return HONE_OK;
        HONE_TRY(tpl_follow(rt, &v, &path, v));
        HONE_TRY(tpl_binary(rt, out, '+', *out, v));
    }
}

/* The items and what each is ordered by. */
static hone_status with_keys(tpl_rt *rt, tpl_list **items, tpl_list **keys, tpl_value self, const tpl_path *path)
{
    HONE_TRY(tpl_to_list(rt, items, self));
    HONE_TRY(tpl_new_list(rt, keys, (*items)->len));
    for (uint32_t i = 0; i < (*items)->len; i++)
        HONE_TRY(tpl_follow(rt, &(*keys)->items[(*keys)->len++], path, (*items)->items[i]));
    return HONE_OK;
}

static hone_status extreme(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, int op)
{
    static const tpl_str none = { .data = "No aggregated item, sequence was empty.", .len = 39 };
    tpl_path  path;
    tpl_list *items, *keys;
    uint32_t  best = 0;

    HONE_TRY(tpl_parse_path(rt, &path, a[1]));
    path.fold = !tpl_truthy(a[0]);
    HONE_TRY(with_keys(rt, &items, &keys, self, &path));
    if (!items->len)
        return hint(out, &none);
    for (uint32_t i = 1; i < items->len; i++) {
        bool better;

        HONE_TRY(tpl_compare(rt, &better, op, keys->items[i], keys->items[best]));
        if (better)
            best = i;
    }
    *out = items->items[best];
    return HONE_OK;
}

FILTER(min) { UNUSED(call); return extreme(rt, out, self, a, '<'); }
FILTER(max) { UNUSED(call); return extreme(rt, out, self, a, '>'); }

/* sort(reverse, case_sensitive, attribute): the attribute may be several, "a,b". */
FILTER(sort)
{
    tpl_list *items, *keys = NULL, *paths;
    tpl_value names;

    UNUSED(call);
    HONE_TRY(tpl_new_list(rt, &paths, 1));
    if (a[2].kind == TPL_STR) {
        static const tpl_str comma = { .data = ",", .len = 1, .chars = 1 };

        HONE_TRY(tpl_split(rt, &names, a[2].u.s, tpl_string(&comma), -1, false));
        paths = names.u.l;
    } else {
        HONE_TRY(tpl_push(rt, paths, a[2]));
    }
    HONE_TRY(tpl_to_list(rt, &items, self));
    HONE_TRY(tpl_new_list(rt, &keys, items->len));
    for (uint32_t i = 0; i < items->len; i++) {
        tpl_list *key;

        HONE_TRY(tpl_new_list(rt, &key, paths->len));
        for (uint32_t k = 0; k < paths->len; k++) {
            tpl_path path;

            HONE_TRY(tpl_parse_path(rt, &path, paths->items[k]));
            path.fold = !tpl_truthy(a[1]);
            HONE_TRY(tpl_follow(rt, &key->items[key->len++], &path, items->items[i]));
        }
        HONE_TRY(tpl_push(rt, keys, tpl_list_value(key)));
    }
    HONE_TRY(tpl_sort(rt, items->items, keys->items, items->len, tpl_truthy(a[0])));
    *out = tpl_list_value(items);
    return HONE_OK;
}

FILTER(unique)
{
    tpl_select sel = { 0 };

    UNUSED(call);
    HONE_TRY(tpl_parse_path(rt, &sel.path, a[1]));
    sel.path.fold = !tpl_truthy(a[0]);
    return tpl_lazy_unique(rt, out, self, &sel);
}

FILTER(reverse)
{
    tpl_list *l, *r;

    UNUSED(a), UNUSED(call);
    if (self.kind == TPL_STR)
        return tpl_slice(rt, out, self, tpl_none(), tpl_none(), tpl_int(-1));
    HONE_TRY(tpl_to_list(rt, &l, self));
    HONE_TRY(tpl_new_list(rt, &r, l->len));
    while (l->len)
        r->items[r->len++] = l->items[--l->len];
    if (self.kind != TPL_ITER)
        return tpl_iter_of(rt, out, r, "list_reverseiterator");
    *out = tpl_list_value(r);
    return HONE_OK;
}

FILTER(batch)
{
    tpl_list *items, *rows, *row = NULL;
    int64_t   n;

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &n, a[0], 0, "linecount"));
    HONE_TRY(tpl_to_list(rt, &items, self));
    HONE_TRY(tpl_new_list(rt, &rows, 0));
    for (uint32_t i = 0; i < items->len; i++) {
        if (!row || row->len == n) {
            HONE_TRY(tpl_new_list(rt, &row, 0));
            HONE_TRY(tpl_push(rt, rows, tpl_list_value(row)));
        }
        HONE_TRY(tpl_push(rt, row, items->items[i]));
    }
    while (row && a[1].kind != TPL_MISSING && a[1].kind != TPL_NONE && row->len < n) {
        HONE_TRY(tpl_step(rt, 1));
        HONE_TRY(tpl_push(rt, row, a[1]));
    }
    return tpl_iter_of(rt, out, rows, "generator");
}

FILTER(slice)
{
    tpl_list *items, *rows, *row;
    int64_t   n, per, extra, at = 0;

    UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &n, a[0], 0, "slices"));
    TPL_CHECK(n != 0, rt, "integer division or modulo by zero");
    HONE_TRY(tpl_to_list(rt, &items, self));
    HONE_TRY(tpl_new_list(rt, &rows, 0));
    per = items->len / HONE_MAX(n, (int64_t)1);
    extra = items->len % HONE_MAX(n, (int64_t)1);
    for (int64_t i = 0; i < n; i++) {
        int64_t count = per + (i < extra);

        HONE_TRY(tpl_step(rt, 1));
        HONE_TRY(tpl_new_list(rt, &row, (size_t)count + 1));
        while (count--)
            row->items[row->len++] = items->items[at++];
        if (a[1].kind != TPL_MISSING && a[1].kind != TPL_NONE && i >= extra)
            HONE_TRY(tpl_push(rt, row, a[1]));
        HONE_TRY(tpl_push(rt, rows, tpl_list_value(row)));
    }
    return tpl_iter_of(rt, out, rows, "generator");
}

/* groupby(attribute, default, case_sensitive) */
FILTER(groupby)
{
    tpl_list *items, *keys, *groups, *group = NULL;
    tpl_path  path, exact;

    UNUSED(call);
    HONE_TRY(tpl_parse_path(rt, &path, a[0]));
    path.fallback = a[1];
    exact = path;
    path.fold = !tpl_truthy(a[2]);
    HONE_TRY(with_keys(rt, &items, &keys, self, &path));
    HONE_TRY(tpl_sort(rt, items->items, keys->items, items->len, false));
    HONE_TRY(tpl_new_list(rt, &groups, 0));
    for (uint32_t i = 0; i < items->len; i++) {
        if (!i || !tpl_equal(rt, keys->items[i], keys->items[i - 1])) {
            tpl_value pair, key;

            HONE_TRY(tpl_new_list(rt, &group, 0));
            HONE_TRY(tpl_follow(rt, &key, &exact, items->items[i]));
            HONE_TRY(tpl_pair(rt, &pair, key, tpl_list_value(group)));
            pair.u.l->group = true;
            HONE_TRY(tpl_push(rt, groups, pair));
        }
        HONE_TRY(tpl_push(rt, group, items->items[i]));
    }
    *out = tpl_list_value(groups);
    return HONE_OK;
}

/* dictsort(case_sensitive, by, reverse) */
FILTER(dictsort)
{
    bool      by_value = a[1].kind == TPL_STR && tpl_str_is(a[1].u.s, "value");
    tpl_path  path = { .fold = !tpl_truthy(a[0]) };
    tpl_list *items, *keys;
    tpl_value view = self;

    UNUSED(call);
    TPL_CHECK(by_value || a[1].kind == TPL_MISSING || (a[1].kind == TPL_STR && tpl_str_is(a[1].u.s, "key")), rt,
              "You can only sort by either \"key\" or \"value\"");
    TPL_CHECK(self.kind == TPL_DICT, rt, "'%s' object has no attribute 'items'", tpl_type_name(self));
    view.kind = TPL_VIEW;
    view.sub = TPL_VIEW_ITEMS;
    path.parts[path.n++] = tpl_int(by_value);
    HONE_TRY(with_keys(rt, &items, &keys, view, &path));
    HONE_TRY(tpl_sort(rt, items->items, keys->items, items->len, tpl_truthy(a[2])));
    *out = tpl_list_value(items);
    return HONE_OK;
}

FILTER(items)
{
    tpl_list *l;

    UNUSED(a), UNUSED(call);
    TPL_CHECK(self.kind == TPL_DICT || self.kind == TPL_UNDEF, rt, "Can only get item pairs from a mapping.");
    self.sub = TPL_VIEW_ITEMS;
    self.kind = self.kind == TPL_DICT ? TPL_VIEW : TPL_UNDEF;
    HONE_TRY(tpl_to_list(rt, &l, self));
    return tpl_iter_of(rt, out, l, "generator");
}
