/* Macros: their arguments, their calls. */
#include "text/template/ast.h"

static int find_kwarg(const tpl_call *call, const tpl_str *name)
{
    for (uint32_t k = 0; k < call->nkw; k++)
        if (tpl_str_equal(call->names[k], name))
            return (int)k;
    return -1;
}

/* Values of the parameters, in the macro's scope, where defaults see the parameters before them. */
static hone_status bind_params(tpl_rt *rt, const tpl_node *n, const tpl_call *call, uint32_t *used)
{
    uint32_t params = n->list.len;

    for (uint32_t i = 0; i < params; i++) {
        const tpl_node *p = n->list.items[i];
        int             k = i < call->nargs ? -1 : find_kwarg(call, p->text);
        tpl_value       v = { .kind = TPL_UNDEF, .sub = TPL_UNDEF_NAME, .u.s = p->text };

        *used += k >= 0;
        if (i < call->nargs)
            v = call->args[i];
        else if (k >= 0)
            v = call->kwargs[k];
        else if (i >= params - n->values.len)
            HONE_TRY(tpl_eval(rt, &v, n->values.items[i - (params - n->values.len)]));
        HONE_TRY(tpl_set_var(rt, p->name, v));
    }
    return HONE_OK;
}

/* `varargs`, `kwargs` and `caller`, for a macro that uses them. */
hone_status tpl_bind_rest(tpl_rt *rt, const tpl_node *n, const tpl_call *call, uint32_t used)
{
    static const tpl_str caller_name = { .data = "caller", .len = 6 };
    uint32_t  params = n->list.len;
    int       caller = find_kwarg(call, &caller_name);
    tpl_list *rest;
    tpl_dict *d;

    if (n->caller) {
        tpl_value v = { .kind = TPL_UNDEF, .sub = TPL_UNDEF_NAME, .u.s = &caller_name };

        used += caller >= 0;
        HONE_TRY(tpl_set_var(rt, rt->t->caller_name, caller >= 0 ? call->kwargs[caller] : v));
    }
    TPL_CHECK(call->nargs <= params || n->varargs, rt,
              "macro '%.*s' takes not more than %u argument(s)", n->text ? (int)n->text->len : 0,
              n->text ? n->text->data : "", params);
    TPL_CHECK(used == call->nkw || n->kwvars, rt, "macro '%.*s' takes no such keyword argument",
              n->text ? (int)n->text->len : 0, n->text ? n->text->data : "");
    if (n->varargs) {
        HONE_TRY(tpl_new_list(rt, &rest, 0));
        for (uint32_t i = params; i < call->nargs; i++)
            HONE_TRY(tpl_push(rt, rest, call->args[i]));
        HONE_TRY(tpl_set_var(rt, rt->t->varargs_name, tpl_tuple_value(rest)));
    }
    if (!n->kwvars)
        return HONE_OK;
    HONE_TRY(tpl_new_dict(rt, &d, 0));
    for (uint32_t k = 0; k < call->nkw; k++) {
        bool taken = (int)k == caller && n->caller;

        for (uint32_t i = call->nargs; i < params; i++)
            taken |= tpl_str_equal(n->list.items[i]->text, call->names[k]);
        if (!taken)
            HONE_TRY(tpl_dict_put(rt, d, tpl_string(call->names[k]), call->kwargs[k]));
    }
    return tpl_set_var(rt, rt->t->kwargs_name, tpl_dict_value(d));
}

hone_status tpl_call_macro(tpl_rt *rt, tpl_value *out, const tpl_macro *m, const tpl_call *call)
{
    tpl_scope *scope = rt->scope;
    tpl_buf    own = { 0 }, *outer = rt->out;
    uint32_t   used = 0, at = rt->at;

    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "macros are nested too deep");
    rt->scope = m->scope;
    HONE_TRY(tpl_push_scope(rt, &m->node->missing));
    HONE_TRY(bind_params(rt, m->node, call, &used));
    rt->at = at;
    HONE_TRY(tpl_bind_rest(rt, m->node, call, used));
    rt->out = &own;
    HONE_TRY(tpl_exec(rt, &m->node->body));
    rt->out = outer;
    rt->scope = scope;
    return tpl_buf_take(rt, &own, out);
}

hone_status tpl_new_macro(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_macro *m;

    TPL_ALLOC(m, rt, 1);
    *m = (tpl_macro){ .node = n, .scope = rt->scope };
    *out = (tpl_value){ .kind = TPL_MACRO, .u.m = m };
    return HONE_OK;
}

hone_status tpl_macro_attr(tpl_rt *rt, tpl_value *out, tpl_value macro, const tpl_str *name)
{
    const tpl_node *n = macro.u.m->node;
    tpl_list       *l;

    if (tpl_str_is(name, "name")) {
        *out = n->text ? tpl_string(n->text) : tpl_none();
    } else if (tpl_str_is(name, "arguments")) {
        HONE_TRY(tpl_new_list(rt, &l, n->list.len));
        for (uint32_t i = 0; i < n->list.len; i++)
            l->items[l->len++] = tpl_string(n->list.items[i]->text);
        *out = tpl_tuple_value(l);
    } else if (tpl_str_is(name, "catch_kwargs")) {
        *out = tpl_bool(n->kwvars);
    } else if (tpl_str_is(name, "catch_varargs")) {
        *out = tpl_bool(n->varargs);
    } else if (tpl_str_is(name, "caller")) {
        *out = tpl_bool(n->caller);
    } else {
        *out = (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_ATTR, .of = TPL_MACRO, .u.s = name };
    }
    return HONE_OK;
}
