/* Execution of statements. */
#include <string.h>

#include "text/template/ast.h"

static hone_status emit_value(tpl_rt *rt, tpl_value v)
{
    const tpl_str *s;

    HONE_TRY(tpl_to_str(rt, &s, v));
    return tpl_emit(rt, s);
}

hone_status tpl_capture(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_buf    own = { 0 }, *outer = rt->out;
    tpl_scope *scope = rt->scope;

    rt->out = &own;
    HONE_TRY(tpl_push_scope(rt, &n->missing));
    HONE_TRY(tpl_exec(rt, &n->body));
    rt->scope = scope;
    rt->out = outer;
    return tpl_buf_take(rt, &own, out);
}

/* Run a body in its own scope, its output where the output goes. */
hone_status tpl_exec_scoped(tpl_rt *rt, const tpl_nodes *body, const tpl_names *missing)
{
    tpl_scope *scope = rt->scope;

    HONE_TRY(tpl_push_scope(rt, missing));
    HONE_TRY(tpl_exec(rt, body));
    rt->scope = scope;
    return HONE_OK;
}

/* ---- assignment ---- */
hone_status tpl_assign(tpl_rt *rt, const tpl_node *target, tpl_value v)
{
    tpl_list *l;
    tpl_value ns;

    rt->at = target->pos;
    if (target->type == TPL_N_NAME)
        return tpl_set_var(rt, target->name, v);
    if (target->type == TPL_N_NSREF) {
        TPL_CHECK(tpl_get_var(rt, target->name, &ns) && ns.kind == TPL_NAMESPACE, rt,
                  "cannot assign attribute on non-namespace object");
        TPL_CHECK(target->text->data[0] != '_', rt, "a namespace has no attributes that begin with '_'");
        return tpl_dict_put(rt, ns.u.d, tpl_string(target->text), v);
    }
    HONE_TRY(tpl_to_list(rt, &l, v));
    TPL_CHECK(l->len == target->list.len, rt, "%s values to unpack (expected %u, got %u)",
              l->len < target->list.len ? "not enough" : "too many", target->list.len, l->len);
    for (uint32_t i = 0; i < l->len; i++)
        HONE_TRY(tpl_assign(rt, target->list.items[i], l->items[i]));
    return HONE_OK;
}

/* The chain of filters around a captured text, innermost first. */
static hone_status apply_filters(tpl_rt *rt, tpl_value *v, const tpl_node *n)
{
    tpl_call call;

    if (!n)
        return HONE_OK;
    HONE_TRY(apply_filters(rt, v, n->a));
    HONE_TRY(tpl_eval_call(rt, &call, n));
    rt->at = n->pos;
    return n->builtin ? tpl_run(rt, v, n->builtin, *v, &call) : tpl_unknown_builtin(rt->t, n);
}

/* Names with attributes in a target are namespaces, before anything is evaluated. */
static hone_status check_namespaces(tpl_rt *rt, const tpl_node *target)
{
    tpl_value ns;

    rt->at = target->pos;
    TPL_CHECK(target->type != TPL_N_NSREF || (tpl_get_var(rt, target->name, &ns) && ns.kind == TPL_NAMESPACE), rt,
              "cannot assign attribute on non-namespace object");
    for (uint32_t i = 0; i < target->list.len; i++)
        HONE_TRY(check_namespaces(rt, target->list.items[i]));
    return HONE_OK;
}

static hone_status exec_set(tpl_rt *rt, const tpl_node *n)
{
    tpl_value v;

    HONE_TRY(check_namespaces(rt, n->a));
    if (n->type == TPL_N_SET) {
        HONE_TRY(tpl_eval(rt, &v, n->b));
        return tpl_assign(rt, n->a, v);
    }
    HONE_TRY(tpl_capture(rt, &v, n));
    if (rt->ctl != TPL_GO_ON)
        return HONE_OK;
    HONE_TRY(apply_filters(rt, &v, n->b));
    return tpl_assign(rt, n->a, v);
}

static hone_status exec_with(tpl_rt *rt, const tpl_node *n)
{
    tpl_scope *scope = rt->scope, *inner;

    TPL_ALLOC(inner, rt, 1);
    *inner = (tpl_scope){ .parent = scope };
    rt->scope = inner;
    HONE_TRY(tpl_set_missing(rt, &n->missing));
    rt->scope = scope;
    for (uint32_t i = 0; i < n->list.len; i++) {        /* the values are those outside */
        tpl_value v;

        HONE_TRY(tpl_eval(rt, &v, n->values.items[i]));
        rt->scope = inner;
        HONE_TRY(tpl_set_var(rt, n->list.items[i]->name, v));
        rt->scope = scope;
    }
    rt->scope = inner;
    HONE_TRY(tpl_exec(rt, &n->body));
    rt->scope = scope;
    return HONE_OK;
}

static hone_status exec_call_block(tpl_rt *rt, const tpl_node *n)
{
    static const tpl_str name = { .data = "caller", .len = 6 };
    tpl_value       f, out, *kwargs;
    const tpl_str **names;
    tpl_call        call;

    HONE_TRY(tpl_eval(rt, &f, n->a->a));
    HONE_TRY(tpl_eval_call(rt, &call, n->a));
    TPL_ALLOC(kwargs, rt, call.nkw + 1);
    TPL_ALLOC(names, rt, call.nkw + 1);
    for (uint32_t i = 0; i < call.nkw; i++) {
        names[i] = call.names[i];
        kwargs[i] = call.kwargs[i];
    }
    names[call.nkw] = &name;
    HONE_TRY(tpl_new_macro(rt, &kwargs[call.nkw], n));
    call.names = names;
    call.kwargs = kwargs;
    call.nkw++;
    rt->at = n->a->pos;
    HONE_TRY(tpl_call_value(rt, &out, f, &call));
    return emit_value(rt, out);
}

/* ---- statements ---- */
static hone_status exec_if(tpl_rt *rt, const tpl_node *n)
{
    for (uint32_t i = 0; i < n->list.len; i++) {
        tpl_value v;

        HONE_TRY(tpl_eval(rt, &v, n->list.items[i]->a));
        if (tpl_truthy(v))
            return tpl_exec(rt, &n->list.items[i]->body);
    }
    return tpl_exec(rt, &n->orelse);
}

static hone_status exec_generation(tpl_rt *rt, const tpl_node *n)
{
    static const tpl_call none = { 0 };
    tpl_scope *scope = rt->scope;
    bool       outer = rt->generation;

    rt->generation = true;
    HONE_TRY(tpl_push_scope(rt, &n->missing));
    HONE_TRY(tpl_bind_rest(rt, n, &none, 0));
    HONE_TRY(tpl_exec(rt, &n->body));
    rt->scope = scope;
    rt->generation = outer;
    return HONE_OK;
}

/* A block sees the variables of the template's top level; one that is `scoped`, those around it too. */
hone_status tpl_exec_block(tpl_rt *rt, const tpl_node *n)
{
    tpl_scope *scope = rt->scope;

    if (!n->flag)
        while (rt->scope->parent && rt->scope->parent->parent)      /* the outermost holds the render's variables */
            rt->scope = rt->scope->parent;
    HONE_TRY(tpl_exec_scoped(rt, &n->body, &n->missing));
    rt->scope = scope;
    return HONE_OK;
}

static hone_status exec_one(tpl_rt *rt, const tpl_node *n)
{
    tpl_value v;

    switch (n->type) {
    case TPL_N_DATA: return tpl_emit(rt, n->text);
    case TPL_N_PRINT:
        for (uint32_t i = 0; i < n->list.len; i++) {
            HONE_TRY(tpl_eval(rt, &v, n->list.items[i]));
            HONE_TRY(emit_value(rt, v));
        }
        return HONE_OK;
    case TPL_N_IF:   return exec_if(rt, n);
    case TPL_N_FOR:
        HONE_TRY(tpl_eval(rt, &v, n->b));
        return tpl_run_loop(rt, n, v, 0);
    case TPL_N_SET: case TPL_N_SET_BLOCK: return exec_set(rt, n);
    case TPL_N_WITH: return exec_with(rt, n);
    case TPL_N_MACRO:
        HONE_TRY(tpl_new_macro(rt, &v, n));
        return tpl_set_var(rt, n->name, v);
    case TPL_N_CALL_BLOCK: return exec_call_block(rt, n);
    case TPL_N_FILTER_BLOCK:
        HONE_TRY(tpl_capture(rt, &v, n));
        if (rt->ctl != TPL_GO_ON)
            return HONE_OK;
        HONE_TRY(apply_filters(rt, &v, n->b));
        rt->at = n->pos;
        TPL_CHECK(v.kind == TPL_STR, rt, "the filters of a filter block must give a text, not %s", tpl_type_name(v));
        return emit_value(rt, v);
    case TPL_N_GENERATION: return exec_generation(rt, n);
    case TPL_N_BLOCK:    return tpl_exec_block(rt, n);
    case TPL_N_BREAK:    rt->ctl = TPL_BREAK; return HONE_OK;
    case TPL_N_CONTINUE: rt->ctl = TPL_CONTINUE; return HONE_OK;
    default:
        return tpl_fail(rt, HONE_E_INTERNAL, "not a statement");
    }
}

hone_status tpl_exec(tpl_rt *rt, const tpl_nodes *body)
{
    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "evaluation is nested too deep");
    rt->depth++;
    for (uint32_t i = 0; i < body->len && rt->ctl == TPL_GO_ON; i++) {
        rt->at = body->items[i]->pos;
        HONE_TRY(tpl_step(rt, 1));
        HONE_TRY(exec_one(rt, body->items[i]));
    }
    rt->depth--;
    return HONE_OK;
}
