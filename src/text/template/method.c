/* The binding of arguments to built-in functions; methods of list, tuple, range, dict and numbers (str: str_method.c). */
#include <math.h>
#include <string.h>

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
                  (int)len - (*p == '-'), p + (*p == '-'));
        p += len + (p[len] == ' ');
    }
    TPL_CHECK(call->nargs <= n, rt, "%s() takes at most %u argument%s (%u given)", fn->name, n, n == 1 ? "" : "s",
              call->nargs);
    TPL_CHECK(used == call->nkw, rt, "%s() got an unexpected keyword argument", fn->name);
    return HONE_OK;
}

/* What a method of Markup does besides: its text arguments are escaped, what it returns is Markup. */
static hone_status escape_arguments(tpl_rt *rt, tpl_value *a, const tpl_builtin *fn)
{
    for (int i = 0; i < TPL_MAX_PARAMS; i++)
        if ((fn->markup >> i & 1) && a[i].kind == TPL_STR)
            HONE_TRY(tpl_escape(rt, &a[i], a[i].u.s));
    return HONE_OK;
}

static hone_status make_markup(tpl_rt *rt, tpl_value *v)
{
    if (v->kind == TPL_STR)
        return tpl_as_markup(rt, v, v->u.s, true);
    for (uint32_t i = 0; (v->kind == TPL_LIST || v->kind == TPL_TUPLE) && i < v->u.l->len; i++)
        if (v->u.l->items[i].kind == TPL_STR)
            HONE_TRY(tpl_as_markup(rt, &v->u.l->items[i], v->u.l->items[i].u.s, true));
    return HONE_OK;
}

hone_status tpl_run(tpl_rt *rt, tpl_value *out, const tpl_builtin *fn, tpl_value self, const tpl_call *call)
{
    tpl_value   a[TPL_MAX_PARAMS];
    bool        markup = fn->markup && self.kind == TPL_STR && self.u.s->markup;
    hone_status st;

    HONE_TRY(tpl_step(rt, 1));
    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "evaluation is nested too deep");
    if (!fn->fn)
        return tpl_fail(rt, HONE_E_UNSUPPORTED, "the method '%s' of %s is not supported", fn->name, tpl_type_name(self));
    if (strcmp(fn->params, "*") != 0)
        HONE_TRY(bind(rt, a, fn, call));
    else
        a[0] = (tpl_value){ .kind = TPL_MISSING };
    if (markup)
        HONE_TRY(escape_arguments(rt, a, fn));
    rt->depth++;
    st = fn->fn(rt, out, self, a, call);
    rt->depth--;
    if (st == HONE_OK && markup && (fn->markup & TPL_MARKUP))
        return make_markup(rt, out);
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

/* ---- list, tuple, dict ---- */
/* index(value, start, stop) of list, tuple and range */
METHOD(list_index)
{
    int64_t n, from, to;

    UNUSED(call);
    HONE_TRY(tpl_length(rt, &n, self));
    HONE_TRY(tpl_arg_int(rt, &from, a[1], 0, "start"));
    HONE_TRY(tpl_arg_int(rt, &to, a[2], n, "stop"));
    from = HONE_MAX(from < 0 ? from + n : from, (int64_t)0);
    to = HONE_MIN(to < 0 ? to + n : to, n);
    for (int64_t i = from; i < to; i++) {
        tpl_value item;

        HONE_TRY(tpl_step(rt, 1));
        HONE_TRY(tpl_get_item(rt, &item, self, tpl_int(i)));
        if (tpl_equal(rt, item, a[0])) {
            *out = tpl_int(i);
            return HONE_OK;
        }
    }
    return TPL_FAIL(rt, "the value is not in the %s", tpl_type_name(self));
}

METHOD(list_count)
{
    int64_t n, count = 0;

    UNUSED(call);
    HONE_TRY(tpl_length(rt, &n, self));
    for (int64_t i = 0; i < n; i++) {
        tpl_value item;

        HONE_TRY(tpl_step(rt, 1));
        HONE_TRY(tpl_get_item(rt, &item, self, tpl_int(i)));
        count += tpl_equal(rt, item, a[0]);
    }
    *out = tpl_int(count);
    return HONE_OK;
}

METHOD(list_copy)
{
    UNUSED(call); UNUSED(a);
    return tpl_slice(rt, out, self, tpl_none(), tpl_none(), tpl_none());
}

METHOD(dict_get)
{
    const tpl_value *v = tpl_dict_get(rt, self.u.d, a[0]);

    UNUSED(call);
    TPL_CHECK(tpl_hashable(rt, a[0]), rt, "unhashable type: '%s'", tpl_type_name(a[0]));
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

/* fromkeys(iterable, value), of a dict and of the function dict */
METHOD(dict_fromkeys)
{
    tpl_iter *it;
    tpl_dict *d;
    tpl_value key;
    bool      done;

    UNUSED(self); UNUSED(call);
    HONE_TRY(tpl_new_dict(rt, &d, 0));
    HONE_TRY(tpl_iterate(rt, &it, a[0]));
    *out = tpl_dict_value(d);
    for (;;) {
        HONE_TRY(tpl_next(rt, it, &key, &done));
        if (done)
            return HONE_OK;
        HONE_TRY(tpl_dict_put(rt, d, key, a[1].kind == TPL_MISSING ? tpl_none() : a[1]));
    }
}

/* Whether no item of the other is in the view. */
METHOD(view_isdisjoint)
{
    tpl_iter *it;
    tpl_value v;
    bool      done, in;

    UNUSED(call);
    HONE_TRY(tpl_iterate(rt, &it, a[0]));
    for (;;) {
        HONE_TRY(tpl_next(rt, it, &v, &done));
        *out = tpl_bool(done);
        if (done)
            return HONE_OK;
        HONE_TRY(tpl_contains(rt, &in, v, self));
        if (in)
            return HONE_OK;
    }
}

/* ---- int, float ---- */
METHOD(int_bit_length)
{
    int64_t v = tpl_as_int(self);
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

    UNUSED(rt); UNUSED(a); UNUSED(call);
    *out = tpl_int(u ? 64 - __builtin_clzll(u) : 0);
    return HONE_OK;
}

METHOD(int_bit_count)
{
    int64_t v = tpl_as_int(self);

    UNUSED(rt); UNUSED(a); UNUSED(call);
    *out = tpl_int(__builtin_popcountll(v < 0 ? 0 - (uint64_t)v : (uint64_t)v));
    return HONE_OK;
}

METHOD(number_conjugate)
{
    UNUSED(rt); UNUSED(a); UNUSED(call);
    *out = self.kind == TPL_BOOL ? tpl_int(self.u.b) : self;
    return HONE_OK;
}

METHOD(number_is_integer)
{
    UNUSED(rt); UNUSED(a); UNUSED(call);
    *out = tpl_bool(self.kind != TPL_FLOAT || self.u.f == floor(self.u.f));
    if (self.kind == TPL_FLOAT && !isfinite(self.u.f))
        *out = tpl_bool(false);
    return HONE_OK;
}

/* ---- cycler ---- */
METHOD(cycler_next)
{
    tpl_cycler *c = self.u.cycler;

    UNUSED(rt); UNUSED(a); UNUSED(call);
    *out = c->items->items[c->pos];
    c->pos = (c->pos + 1) % c->items->len;
    return HONE_OK;
}

METHOD(cycler_reset)
{
    UNUSED(rt); UNUSED(a); UNUSED(call);
    self.u.cycler->pos = 0;
    *out = tpl_none();
    return HONE_OK;
}

static const tpl_builtin cycler_methods[] = { { "next", "", 0, cycler_next, 0 }, { "reset", "", 0, cycler_reset, 0 } };

static const tpl_builtin list_methods[] = {
    { "index", "-value -start -stop", 1, list_index, 0 }, { "count", "-value", 1, list_count, 0 }, { "copy", "", 0, list_copy, 0 },
};

static const tpl_builtin range_methods[] = {
    { "index", "-value", 1, list_index, 0 }, { "count", "-value", 1, list_count, 0 },
};

static const tpl_builtin dict_methods[] = {
    { "get", "-key -default", 1, dict_get, 0 }, { "keys", "", 0, dict_keys, 0 }, { "values", "", 0, dict_values, 0 },
    { "items", "", 0, dict_items, 0 }, { "copy", "", 0, dict_copy, 0 }, { "fromkeys", "-iterable -value", 1, dict_fromkeys, 0 },
};

static const tpl_builtin view_methods[] = { { "isdisjoint", "-other", 1, view_isdisjoint, 0 } };

static const tpl_builtin float_methods[] = {
    { "is_integer", "", 0, number_is_integer, 0 }, { "conjugate", "", 0, number_conjugate, 0 },
    { "hex", "*", 0, NULL, 0 }, { "fromhex", "*", 0, NULL, 0 }, { "as_integer_ratio", "*", 0, NULL, 0 },
    { "from_number", "*", 0, NULL, 0 },
};

static const tpl_builtin int_methods[] = {
    { "is_integer", "", 0, number_is_integer, 0 }, { "conjugate", "", 0, number_conjugate, 0 },
    { "bit_length", "", 0, int_bit_length, 0 }, { "bit_count", "", 0, int_bit_count, 0 },
    { "to_bytes", "*", 0, NULL, 0 }, { "from_bytes", "*", 0, NULL, 0 }, { "as_integer_ratio", "*", 0, NULL, 0 },
};

const tpl_builtin *tpl_find_in(const tpl_builtin *table, size_t n, const tpl_str *name)
{
    for (size_t i = 0; i < n; i++)
        if (tpl_str_is(name, table[i].name))
            return &table[i];
    return NULL;
}

const tpl_builtin *tpl_find_method(tpl_value obj, const tpl_str *name)
{
    switch ((tpl_kind)obj.kind) {
    case TPL_STR:   return tpl_str_method(obj.u.s, name);
    case TPL_LIST:  return tpl_find_in(list_methods, HONE_COUNTOF(list_methods), name);
    case TPL_TUPLE: return tpl_find_in(list_methods, 2, name);
    case TPL_RANGE: return tpl_find_in(range_methods, HONE_COUNTOF(range_methods), name);
    case TPL_DICT:  return tpl_find_in(dict_methods, HONE_COUNTOF(dict_methods), name);
    case TPL_VIEW:  return obj.sub == TPL_VIEW_VALUES ? NULL : tpl_find_in(view_methods, HONE_COUNTOF(view_methods), name);
    case TPL_FLOAT: return tpl_find_in(float_methods, HONE_COUNTOF(float_methods), name);
    case TPL_INT: case TPL_BOOL: return tpl_find_in(int_methods, HONE_COUNTOF(int_methods), name);
    case TPL_CYCLER: return tpl_find_in(cycler_methods, HONE_COUNTOF(cycler_methods), name);
    case TPL_FUNC:  return obj.u.fn == tpl_dict_function() && tpl_str_is(name, "fromkeys") ? &dict_methods[5] : NULL;
    default:
        return NULL;
    }
}

bool tpl_method_forbidden(tpl_kind kind, const tpl_str *name)
{
    static const char *const lists[] = { "append", "-clear", "pop", "reverse", "insert", "sort", "extend", "remove" };
    static const char *const dicts[] = { "clear", "-pop", "popitem", "setdefault", "update" };

    for (size_t i = 0; kind == TPL_LIST && i < HONE_COUNTOF(lists); i++)
        if (tpl_str_is(name, lists[i]))
            return true;
    for (size_t i = 0; kind == TPL_DICT && i < HONE_COUNTOF(dicts); i++)
        if (tpl_str_is(name, dicts[i]))
            return true;
    return false;
}
