/* Attributes, items and slices of values. */
#include <string.h>

#include "base/utf8.h"
#include "text/template/ast.h"

static tpl_value undefined(uint8_t how, tpl_value of, const tpl_str *name)
{
    return (tpl_value){ .kind = TPL_UNDEF, .sub = how, .of = of.kind, .u.s = name };
}

static hone_status bind_method(tpl_rt *rt, tpl_value *out, tpl_value obj, const tpl_builtin *fn)
{
    tpl_method *m;

    TPL_ALLOC(m, rt, 1);
    *m = (tpl_method){ .self = obj, .fn = fn };
    *out = (tpl_value){ .kind = TPL_METHOD, .u.me = m };
    return HONE_OK;
}

/* Attributes that are no methods. */
static bool plain_attr(tpl_value *out, tpl_value obj, const tpl_str *name)
{
    if (tpl_is_number(obj)) {
        bool real = tpl_str_is(name, "real"), imag = tpl_str_is(name, "imag");

        *out = obj.kind == TPL_FLOAT ? tpl_float(real ? obj.u.f : 0) : tpl_int(real || tpl_str_is(name, "numerator")
               ? tpl_as_int(obj) : tpl_str_is(name, "denominator"));
        return real || imag || (obj.kind != TPL_FLOAT && (tpl_str_is(name, "numerator") || tpl_str_is(name, "denominator")));
    }
    if (obj.kind == TPL_TUPLE && obj.u.l->group && (tpl_str_is(name, "grouper") || tpl_str_is(name, "list"))) {
        *out = obj.u.l->items[tpl_str_is(name, "list")];
        return true;
    }
    if (obj.kind == TPL_RANGE) {
        *out = tpl_int(tpl_str_is(name, "start") ? obj.u.r->start : tpl_str_is(name, "stop") ? obj.u.r->stop : obj.u.r->step);
        return tpl_str_is(name, "start") || tpl_str_is(name, "stop") || tpl_str_is(name, "step");
    }
    if (obj.kind == TPL_CYCLER) {
        const tpl_cycler *c = obj.u.cycler;

        *out = tpl_str_is(name, "pos") ? tpl_int(c->pos) : tpl_str_is(name, "items") ? tpl_tuple_value(c->items)
               : c->items->items[c->pos];
        return tpl_str_is(name, "pos") || tpl_str_is(name, "items") || tpl_str_is(name, "current");
    }
    if (obj.kind == TPL_JOINER) {
        *out = tpl_str_is(name, "sep") ? obj.u.cycler->items->items[0] : tpl_bool(obj.u.cycler->pos > 0);
        return tpl_str_is(name, "sep") || tpl_str_is(name, "used");
    }
    return false;
}

/* The attribute that Python's type has by this name; `found` says whether. */
static hone_status own_attr(tpl_rt *rt, tpl_value *out, bool *found, tpl_value obj, const tpl_str *name)
{
    static const tpl_str hint = { .data = "the method changes its object, which templates may not do", .len = 57 };
    const tpl_builtin *fn = tpl_find_method(obj, name);
    const tpl_value   *v;

    *found = true;
    if (fn)
        return bind_method(rt, out, obj, fn);
    if (obj.kind == TPL_LOOP)
        return tpl_loop_attr(rt, out, obj, name);
    if (obj.kind == TPL_MACRO)
        return tpl_macro_attr(rt, out, obj, name);
    if (obj.kind == TPL_NAMESPACE && (v = tpl_dict_get(rt, obj.u.d, tpl_string(name))) != NULL) {
        *out = *v;
        return HONE_OK;
    }
    for (uint32_t i = 0; obj.kind == TPL_SELF && !obj.u.block && i < rt->t->blocks.len; i++) {
        if (tpl_str_equal(rt->t->blocks.items[i]->text, name)) {
            *out = (tpl_value){ .kind = TPL_SELF, .u.block = rt->t->blocks.items[i] };
            return HONE_OK;
        }
    }
    if (plain_attr(out, obj, name))
        return HONE_OK;
    *found = tpl_method_forbidden((tpl_kind)obj.kind, name);
    if (*found)
        *out = undefined(TPL_UNDEF_HINT, obj, &hint);
    return HONE_OK;
}

/* "__name__": the sandbox gives undefined for these. */
static bool hidden(const tpl_str *name)
{
    return name->len > 4 && memcmp(name->data, "__", 2) == 0 && memcmp(name->data + name->len - 2, "__", 2) == 0;
}

hone_status tpl_get_attr(tpl_rt *rt, tpl_value *out, tpl_value obj, const tpl_str *name)
{
    const tpl_value *v;
    bool             found;

    if (obj.kind == TPL_UNDEF && hidden(name)) {
        *out = undefined(TPL_UNDEF_ATTR, obj, name);
        return HONE_OK;
    }
    if (obj.kind == TPL_UNDEF)
        return tpl_fail_undefined(rt, obj);
    HONE_TRY(own_attr(rt, out, &found, obj, name));
    if (found)
        return HONE_OK;
    v = obj.kind == TPL_DICT ? tpl_dict_get(rt, obj.u.d, tpl_string(name)) : NULL;
    *out = v ? *v : undefined(TPL_UNDEF_ATTR, obj, name);
    return HONE_OK;
}

static hone_status item_at(tpl_rt *rt, tpl_value *out, bool *found, tpl_value obj, int64_t i)
{
    int64_t n = 0;

    *found = false;
    if (obj.kind != TPL_LIST && obj.kind != TPL_TUPLE && obj.kind != TPL_STR && obj.kind != TPL_RANGE)
        return HONE_OK;
    HONE_TRY(tpl_length(rt, &n, obj));
    if (i < 0)
        i += n;
    if (i < 0 || i >= n)
        return HONE_OK;
    *found = true;
    if (obj.kind == TPL_STR) {
        size_t at = tpl_str_offset(obj.u.s, (size_t)i);

        HONE_TRY(tpl_step(rt, obj.u.s->chars == obj.u.s->len ? 0 : at / 64));
        HONE_TRY(tpl_sub_str(rt, out, obj.u.s, at, at + hone_utf8_len((unsigned char)obj.u.s->data[at])));
        return obj.u.s->markup ? tpl_as_markup(rt, out, out->u.s, true) : HONE_OK;
    }
    *out = obj.kind == TPL_RANGE ? tpl_int(obj.u.r->start + i * obj.u.r->step) : obj.u.l->items[i];
    return HONE_OK;
}

hone_status tpl_get_item(tpl_rt *rt, tpl_value *out, tpl_value obj, tpl_value key)
{
    const tpl_value *v = NULL;
    const tpl_str   *text;
    tpl_buf          b = { 0 };
    tpl_value        shown;
    bool             found = false;

    if (obj.kind == TPL_UNDEF)
        return tpl_fail_undefined(rt, obj);
    if (obj.kind == TPL_DICT && (v = tpl_dict_get(rt, obj.u.d, key)) != NULL) {
        *out = *v;
        return HONE_OK;
    }
    if (tpl_is_int(key))
        HONE_TRY(item_at(rt, out, &found, obj, tpl_as_int(key)));
    if (!found && key.kind == TPL_STR)
        HONE_TRY(own_attr(rt, out, &found, obj, key.u.s));
    if (found)
        return HONE_OK;
    text = key.kind == TPL_STR ? key.u.s : NULL;
    if (!text) {
        HONE_TRY(tpl_repr(rt, &b, key));
        HONE_TRY(tpl_buf_take(rt, &b, &shown));
        text = shown.u.s;
    }
    *out = undefined(key.kind == TPL_STR ? TPL_UNDEF_ATTR : TPL_UNDEF_ITEM, obj, text);
    return HONE_OK;
}

static hone_status slice_bound(tpl_rt *rt, int64_t *out, tpl_value v, int64_t absent, int64_t lo, int64_t hi, int64_t n)
{
    *out = absent;
    if (v.kind == TPL_NONE || v.kind == TPL_MISSING)
        return HONE_OK;
    TPL_CHECK(tpl_is_int(v), rt, "slice indices must be integers or None");
    *out = tpl_as_int(v);
    if (*out < 0)
        *out += n;
    *out = HONE_MAX(lo, HONE_MIN(*out, hi));
    return HONE_OK;
}

static hone_status slice_str(tpl_rt *rt, tpl_value *out, const tpl_str *s, int64_t from, int64_t step, int64_t count)
{
    tpl_buf b = { 0 };

    HONE_TRY(tpl_step(rt, s->chars == s->len ? 0 : s->len / 64));
    if (step == 1) {
        size_t at = tpl_str_offset(s, (size_t)from);
        size_t end = s->chars == s->len ? at + (size_t)count : at;

        for (int64_t i = 0; i < count && s->chars != s->len; i++)
            end += hone_utf8_len((unsigned char)s->data[end]);
        return tpl_sub_str(rt, out, s, at, end);
    }
    HONE_TRY(tpl_step(rt, s->chars == s->len ? (uint64_t)count : (uint64_t)count * (1 + s->len / 256)));
    for (int64_t i = 0; i < count; i++) {
        size_t at = tpl_str_offset(s, (size_t)(from + i * step));

        HONE_TRY(tpl_buf_sub(rt, &b, s, at, at + hone_utf8_len((unsigned char)s->data[at])));
    }
    return tpl_buf_take(rt, &b, out);
}

hone_status tpl_slice(tpl_rt *rt, tpl_value *out, tpl_value obj, tpl_value from, tpl_value to, tpl_value step)
{
    int64_t   n, a, z, by = 1, count;
    tpl_list *l;

    if (obj.kind == TPL_UNDEF)
        return tpl_fail_undefined(rt, obj);
    TPL_CHECK(tpl_is_sequence(obj) || obj.kind == TPL_RANGE, rt, "'%s' object is not subscriptable", tpl_type_name(obj));
    TPL_CHECK(step.kind == TPL_MISSING || step.kind == TPL_NONE || tpl_is_int(step), rt,
              "slice indices must be integers or None");
    if (tpl_is_int(step))
        by = tpl_as_int(step);
    TPL_CHECK(by != 0, rt, "slice step cannot be zero");
    by = HONE_MAX(-INT32_MAX, HONE_MIN(by, INT32_MAX));
    HONE_TRY(tpl_length(rt, &n, obj));
    HONE_TRY(slice_bound(rt, &a, from, by > 0 ? 0 : n - 1, by > 0 ? 0 : -1, by > 0 ? n : n - 1, n));
    HONE_TRY(slice_bound(rt, &z, to, by > 0 ? n : -1, by > 0 ? 0 : -1, by > 0 ? n : n - 1, n));
    count = by > 0 ? (z - a + by - 1) / by : (a - z - by - 1) / -by;
    count = HONE_MAX(count, (int64_t)0);
    if ((by > 0 && z <= a) || (by < 0 && z >= a))
        count = 0;
    if (obj.kind == TPL_STR) {
        HONE_TRY(slice_str(rt, out, obj.u.s, count ? a : 0, by, count));
        return obj.u.s->markup ? tpl_as_markup(rt, out, out->u.s, true) : HONE_OK;
    }
    if (obj.kind == TPL_RANGE) {
        tpl_range *r;

        TPL_ALLOC(r, rt, 1);
        *r = (tpl_range){ obj.u.r->start + a * obj.u.r->step, obj.u.r->start + z * obj.u.r->step, by * obj.u.r->step, count };
        *out = (tpl_value){ .kind = TPL_RANGE, .u.r = r };
        return HONE_OK;
    }
    HONE_TRY(tpl_step(rt, (uint64_t)count / 16));
    HONE_TRY(tpl_new_list(rt, &l, (size_t)count));
    for (int64_t i = 0; i < count; i++)
        l->items[l->len++] = obj.u.l->items[a + i * by];
    *out = (tpl_value){ .kind = obj.kind, .u.l = l };
    return HONE_OK;
}
