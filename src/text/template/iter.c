/* Iteration, sorting, and the lazy results of filters such as map and select. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/ast.h"
#include "text/template/seq.h"

bool tpl_iterable(tpl_value v)
{
    switch ((tpl_kind)v.kind) {
    case TPL_UNDEF: case TPL_STR: case TPL_LIST: case TPL_TUPLE: case TPL_DICT: case TPL_VIEW: case TPL_RANGE: case TPL_ITER:
    case TPL_LOOP:
        return true;
    default:
        return false;
    }
}

static hone_status next_of_value(tpl_rt *rt, tpl_iter *it, tpl_value *out, bool *done)
{
    const tpl_value src = it->src;
    int64_t         i = it->i++;

    *done = false;
    switch ((tpl_kind)src.kind) {
    case TPL_LIST: case TPL_TUPLE:
        if ((*done = i >= src.u.l->len) == false)
            *out = src.u.l->items[i];
        return HONE_OK;
    case TPL_DICT: case TPL_VIEW:
        *done = i >= src.u.d->len;
        if (*done)
            return HONE_OK;
        if (src.kind == TPL_VIEW && src.sub == TPL_VIEW_ITEMS)
            return tpl_pair(rt, out, src.u.d->keys[i], src.u.d->values[i]);
        *out = src.kind == TPL_VIEW && src.sub == TPL_VIEW_VALUES ? src.u.d->values[i] : src.u.d->keys[i];
        return HONE_OK;
    case TPL_RANGE:
        *done = i >= src.u.r->len;
        *out = tpl_int(src.u.r->start + (*done ? 0 : i * src.u.r->step));
        return HONE_OK;
    case TPL_LOOP:
        *done = i >= src.u.loop->items->len;
        return *done ? HONE_OK : tpl_pair(rt, out, src.u.loop->items->items[i], src);
    case TPL_STR: {
        size_t n;

        *done = i >= src.u.s->len;
        if (*done)
            return HONE_OK;
        n = hone_utf8_len((unsigned char)src.u.s->data[i]);
        it->i = i + (int64_t)n;
        return tpl_sub_str(rt, out, src.u.s, (size_t)i, (size_t)it->i);
    }
    default:
        *done = true;
        return HONE_OK;
    }
}

hone_status tpl_iterate(tpl_rt *rt, tpl_iter **it, tpl_value v)
{
    TPL_CHECK(tpl_iterable(v), rt, "'%s' object is not iterable", tpl_type_name(v));
    if (v.kind == TPL_ITER) {
        *it = v.u.it;
        return HONE_OK;
    }
    TPL_ALLOC(*it, rt, 1);
    **it = (tpl_iter){ .next = next_of_value, .type = "iterator", .src = v };
    return HONE_OK;
}

hone_status tpl_next(tpl_rt *rt, tpl_iter *it, tpl_value *out, bool *done)
{
    HONE_TRY(tpl_step(rt, 1));
    *done = false;
    return it->next(rt, it, out, done);
}

hone_status tpl_to_list(tpl_rt *rt, tpl_list **out, tpl_value v)
{
    tpl_iter *it;
    tpl_value item;
    bool      done;

    HONE_TRY(tpl_iterate(rt, &it, v));
    HONE_TRY(tpl_new_list(rt, out, v.kind == TPL_LIST || v.kind == TPL_TUPLE ? v.u.l->len : 0));
    for (;;) {
        HONE_TRY(tpl_next(rt, it, &item, &done));
        if (done)
            return HONE_OK;
        HONE_TRY(tpl_push(rt, *out, item));
    }
}

/* Merge sort of the index range [0, n): stable, as Python's. */
static hone_status merge(tpl_rt *rt, tpl_value *items, tpl_value *keys, size_t n, bool reverse, tpl_value *tmp)
{
    size_t half = n / 2, i = 0, j = half, k = 0;

    if (n < 2)
        return HONE_OK;
    HONE_TRY(merge(rt, items, keys, half, reverse, tmp));
    HONE_TRY(merge(rt, items + half, keys + half, n - half, reverse, tmp));
    HONE_TRY(tpl_step(rt, n));
    for (; k < n; k++) {
        bool take_right = i >= half;

        if (i < half && j < n)
            HONE_TRY(tpl_compare(rt, &take_right, TPL_OP_LT, reverse ? keys[i] : keys[j], reverse ? keys[j] : keys[i]));
        tmp[2 * k] = items[take_right ? j : i];
        tmp[2 * k + 1] = keys[take_right ? j : i];
        if (take_right)
            j++;
        else
            i++;
    }
    for (k = 0; k < n; k++) {
        items[k] = tmp[2 * k];
        keys[k] = tmp[2 * k + 1];
    }
    return HONE_OK;
}

hone_status tpl_sort(tpl_rt *rt, tpl_value *items, tpl_value *keys, size_t n, bool reverse)
{
    tpl_value *tmp;

    if (n < 2)
        return HONE_OK;
    TPL_ALLOC(tmp, rt, 2 * n);
    return merge(rt, items, keys, n, reverse, tmp);
}

/* ---- attribute paths: "a.b.0" ---- */
static bool all_digits(const tpl_str *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (s->data[i] < '0' || s->data[i] > '9')
            return false;
    return to > from;
}

hone_status tpl_parse_path(tpl_rt *rt, tpl_path *out, tpl_value attr)
{
    *out = (tpl_path){ 0 };
    if (attr.kind == TPL_MISSING || attr.kind == TPL_NONE)
        return HONE_OK;
    if (attr.kind != TPL_STR) {
        out->parts[out->n++] = attr;
        return HONE_OK;
    }
    for (size_t from = 0; from <= attr.u.s->len; ) {
        const char *dot = memchr(attr.u.s->data + from, '.', attr.u.s->len - from);
        size_t      to = dot ? (size_t)(dot - attr.u.s->data) : attr.u.s->len;

        TPL_CHECK(out->n < TPL_MAX_PATH, rt, "an attribute path of more than %d parts", TPL_MAX_PATH);
        HONE_TRY(tpl_sub_str(rt, &out->parts[out->n], attr.u.s, from, to));
        if (all_digits(attr.u.s, from, to) && to - from < 10) {
            int64_t v = 0;

            for (size_t i = from; i < to; i++)
                v = v * 10 + (attr.u.s->data[i] - '0');
            out->parts[out->n] = tpl_int(v);
        }
        out->n++;
        from = to + 1;
    }
    return HONE_OK;
}

hone_status tpl_follow(tpl_rt *rt, tpl_value *out, const tpl_path *path, tpl_value v)
{
    for (int i = 0; i < path->n; i++) {
        HONE_TRY(tpl_get_item(rt, &v, v, path->parts[i]));
        if (v.kind == TPL_UNDEF && path->fallback.kind != TPL_MISSING && path->fallback.kind != TPL_NONE)
            v = path->fallback;
    }
    if (path->fold && v.kind == TPL_STR)
        return tpl_recase(rt, out, v.u.s, 'l');
    *out = v;
    return HONE_OK;
}

/* ---- lazy filters ---- */
static hone_status selected(tpl_rt *rt, bool *keep, const tpl_select *sel, tpl_value item)
{
    tpl_value v;

    HONE_TRY(tpl_follow(rt, &v, &sel->path, item));
    if (sel->fn)
        HONE_TRY(tpl_run(rt, &v, sel->fn, v, &sel->call));
    *keep = tpl_truthy(v) != sel->negate;
    return HONE_OK;
}

static hone_status next_selected(tpl_rt *rt, tpl_iter *it, tpl_value *out, bool *done)
{
    bool keep = false;

    while (!keep) {
        HONE_TRY(tpl_next(rt, it->inner, out, done));
        if (*done)
            return HONE_OK;
        HONE_TRY(selected(rt, &keep, it->sel, *out));
    }
    return HONE_OK;
}

static hone_status next_mapped(tpl_rt *rt, tpl_iter *it, tpl_value *out, bool *done)
{
    HONE_TRY(tpl_next(rt, it->inner, out, done));
    if (*done)
        return HONE_OK;
    if (it->sel->fn)
        return tpl_run(rt, out, it->sel->fn, *out, &it->sel->call);
    return tpl_follow(rt, out, &it->sel->path, *out);
}

static hone_status next_unique(tpl_rt *rt, tpl_iter *it, tpl_value *out, bool *done)
{
    tpl_value key;

    for (;;) {
        HONE_TRY(tpl_next(rt, it->inner, out, done));
        if (*done)
            return HONE_OK;
        HONE_TRY(tpl_follow(rt, &key, &it->sel->path, *out));
        TPL_CHECK(tpl_hashable(rt, key), rt, "unhashable type: '%s'", tpl_type_name(key));
        if (tpl_dict_get(rt, it->src.u.d, key))
            continue;
        return tpl_dict_put(rt, it->src.u.d, key, tpl_none());
    }
}

/* An iterator over what `next` makes of `src`'s items. */
static hone_status lazy(tpl_rt *rt, tpl_value *out, tpl_value src, const tpl_select *sel,
                        hone_status (*next)(tpl_rt *, tpl_iter *, tpl_value *, bool *))
{
    tpl_select *kept;
    tpl_iter   *it;

    TPL_ALLOC(kept, rt, 1);
    *kept = *sel;
    TPL_ALLOC(it, rt, 1);
    *it = (tpl_iter){ .next = next, .type = "generator", .sel = kept };
    HONE_TRY(tpl_iterate(rt, &it->inner, src));
    *out = (tpl_value){ .kind = TPL_ITER, .u.it = it };
    return HONE_OK;
}

static hone_status next_unknown(tpl_rt *rt, tpl_iter *it, tpl_value *out, bool *done)
{
    (void)out;
    (void)done;
    return tpl_fail(rt, HONE_E_UNSUPPORTED, "there is no %s '%.*s' in the template language", it->i ? "test" : "filter",
                    (int)HONE_MIN(it->src.u.s->len, 80u), it->src.u.s->data);
}

hone_status tpl_lazy_unknown(tpl_rt *rt, tpl_value *out, const tpl_str *name, bool test)
{
    tpl_iter *it;

    TPL_ALLOC(it, rt, 1);
    *it = (tpl_iter){ .next = next_unknown, .type = "generator", .src = tpl_string(name), .i = test };
    *out = (tpl_value){ .kind = TPL_ITER, .u.it = it };
    return HONE_OK;
}

/* map and select take a value that is false for an empty list. */
static tpl_value items_of(tpl_value v)
{
    static const tpl_str empty = { .data = "" };

    return tpl_truthy(v) ? v : tpl_string(&empty);
}

hone_status tpl_lazy_map(tpl_rt *rt, tpl_value *out, tpl_value src, const tpl_select *sel)
{
    return lazy(rt, out, items_of(src), sel, next_mapped);
}

hone_status tpl_lazy_select(tpl_rt *rt, tpl_value *out, tpl_value src, const tpl_select *sel)
{
    return lazy(rt, out, items_of(src), sel, next_selected);
}

hone_status tpl_lazy_unique(tpl_rt *rt, tpl_value *out, tpl_value src, const tpl_select *sel)
{
    tpl_dict *seen;

    HONE_TRY(lazy(rt, out, src, sel, next_unique));
    HONE_TRY(tpl_new_dict(rt, &seen, 0));
    out->u.it->src = tpl_dict_value(seen);
    return HONE_OK;
}

hone_status tpl_iter_of(tpl_rt *rt, tpl_value *out, tpl_list *l, const char *type)
{
    tpl_iter *it;

    TPL_ALLOC(it, rt, 1);
    *it = (tpl_iter){ .next = next_of_value, .type = type, .src = tpl_list_value(l) };
    *out = (tpl_value){ .kind = TPL_ITER, .u.it = it };
    return HONE_OK;
}
