/* Execution of statements: output, assignment, loops, macros. */
#include <string.h>

#include "text/template/ast.h"

static hone_status emit_value(tpl_rt *rt, tpl_value v)
{
    const tpl_str *s;

    HONE_TRY(tpl_to_str(rt, &s, v));
    return tpl_emit(rt, s);
}

hone_status tpl_capture(tpl_rt *rt, tpl_value *out, const tpl_nodes *body)
{
    tpl_buf    own = { 0 }, *outer = rt->out;
    tpl_scope *scope = rt->scope;

    rt->out = &own;
    HONE_TRY(tpl_push_scope(rt));
    HONE_TRY(tpl_exec(rt, body));
    rt->scope = scope;
    rt->out = outer;
    return tpl_buf_take(rt, &own, out);
}

/* Run a body in its own scope, its output where the output goes. */
static hone_status exec_scoped(tpl_rt *rt, const tpl_nodes *body)
{
    tpl_scope *scope = rt->scope;

    HONE_TRY(tpl_push_scope(rt));
    HONE_TRY(tpl_exec(rt, body));
    rt->scope = scope;
    return HONE_OK;
}

/* ---- assignment ---- */
static hone_status assign(tpl_rt *rt, const tpl_node *target, tpl_value v)
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
        HONE_TRY(assign(rt, target->list.items[i], l->items[i]));
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
    return tpl_run(rt, v, n->builtin, *v, &call);
}

static hone_status exec_set(tpl_rt *rt, const tpl_node *n)
{
    tpl_value v;

    if (n->type == TPL_N_SET) {
        HONE_TRY(tpl_eval(rt, &v, n->b));
        return assign(rt, n->a, v);
    }
    HONE_TRY(tpl_capture(rt, &v, &n->body));
    if (rt->ctl != TPL_GO_ON)
        return HONE_OK;
    HONE_TRY(apply_filters(rt, &v, n->b));
    return assign(rt, n->a, v);
}

static hone_status exec_with(tpl_rt *rt, const tpl_node *n)
{
    tpl_scope *scope = rt->scope, *inner;

    TPL_ALLOC(inner, rt, 1);
    *inner = (tpl_scope){ .parent = scope };
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

/* ---- loops ---- */
/* Items that pass the loop's own filter. */
static hone_status loop_items(tpl_rt *rt, tpl_list **out, const tpl_node *n, tpl_value iterable)
{
    tpl_scope *scope = rt->scope;
    tpl_iter  *it;
    tpl_value  v, keep = tpl_bool(true);
    bool       done;

    HONE_TRY(tpl_iterate(rt, &it, iterable));
    HONE_TRY(tpl_new_list(rt, out, 0));
    for (;;) {
        HONE_TRY(tpl_next(rt, it, &v, &done));
        if (done)
            return HONE_OK;
        if (n->c) {
            HONE_TRY(tpl_push_scope(rt));
            HONE_TRY(assign(rt, n->a, v));
            HONE_TRY(tpl_eval(rt, &keep, n->c));
            rt->scope = scope;
        }
        if (tpl_truthy(keep))
            HONE_TRY(tpl_push(rt, *out, v));
    }
}

/* A round of a loop over no messages (over indices, say) that wrote content of one message only, besides that of the message
 * `work` around it, worked on that message: mark the bytes from `from` on. */
static void attribute_round(tpl_buf *b, size_t from, size_t first_seg, int32_t work)
{
    int32_t msg = -1;

    for (size_t i = first_seg; i < b->nseg; i++) {
        const tpl_seg *s = &b->segs[i];

        if (s->end <= from || s->source < 0 || s->source == work || (work >= 0 && s->role))
            continue;
        if (s->work != work || (msg >= 0 && s->source != msg))
            return;
        msg = s->source;
    }
    for (size_t i = first_seg; msg >= 0 && i < b->nseg; i++)
        if (b->segs[i].end > from && b->segs[i].work == work)
            b->segs[i].work = msg;
}

static hone_status loop_round(tpl_rt *rt, const tpl_node *n, tpl_loop *loop)
{
    tpl_value item = loop->items->items[loop->index0];
    int32_t   work = rt->work, msg = tpl_value_message(item);
    size_t    from = rt->out->len, first_seg = rt->out->nseg;

    rt->scope = loop->scope;
    HONE_TRY(tpl_push_scope(rt));
    if (rt->t->loop_name >= 0)
        HONE_TRY(tpl_set_var(rt, rt->t->loop_name, (tpl_value){ .kind = TPL_LOOP, .u.loop = loop }));
    HONE_TRY(assign(rt, n->a, item));
    if (msg >= 0)
        rt->work = msg;
    else
        rt->out->barrier = from;
    HONE_TRY(tpl_exec(rt, &n->body));
    rt->work = work;
    if (msg < 0)
        attribute_round(rt->out, from, first_seg, work);
    return HONE_OK;
}

hone_status tpl_run_loop(tpl_rt *rt, const tpl_node *n, tpl_value iterable, int depth0)
{
    tpl_scope *scope = rt->scope;
    tpl_loop  *loop;
    bool       completed = false;       /* jinja2 runs `else` unless some round reaches its end */

    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "evaluation is nested too deep");
    rt->at = n->b->pos;
    TPL_ALLOC(loop, rt, 1);
    *loop = (tpl_loop){ .node = n, .scope = scope, .depth0 = depth0 };
    HONE_TRY(loop_items(rt, &loop->items, n, iterable));
    for (; loop->index0 < loop->items->len; loop->index0++) {
        HONE_TRY(loop_round(rt, n, loop));
        completed |= rt->ctl == TPL_GO_ON;
        if (rt->ctl == TPL_BREAK)
            break;
        rt->ctl = TPL_GO_ON;
    }
    rt->ctl = TPL_GO_ON;
    rt->scope = scope;
    return completed ? HONE_OK : exec_scoped(rt, &n->orelse);
}

/* ---- loop.… ---- */
static hone_status loop_cycle(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
{
    (void)a;
    TPL_CHECK(call->nargs && !call->nkw, rt, "no items for cycling given");
    *out = call->args[self.u.loop->index0 % call->nargs];
    return HONE_OK;
}

static hone_status loop_changed(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
{
    tpl_loop *loop = self.u.loop;
    tpl_list *l;

    (void)a;
    HONE_TRY(tpl_new_list(rt, &l, call->nargs));
    for (uint32_t i = 0; i < call->nargs; i++)
        l->items[l->len++] = call->args[i];
    *out = tpl_bool(!loop->has_changed || !tpl_equal(loop->changed, tpl_tuple_value(l)));
    loop->changed = tpl_tuple_value(l);
    loop->has_changed = true;
    return HONE_OK;
}

hone_status tpl_loop_attr(tpl_rt *rt, tpl_value *out, tpl_value v, const tpl_str *name)
{
    static const tpl_builtin methods[] = { { "cycle", "*", 0, loop_cycle }, { "changed", "*", 0, loop_changed } };
    static const tpl_str no_previous = { .data = "there is no previous item", .len = 25 };
    static const tpl_str no_next = { .data = "there is no next item", .len = 21 };
    const tpl_loop *loop = v.u.loop;
    int64_t         i = loop->index0, n = loop->items->len;
    const struct { const char *name; tpl_value value; } attrs[] = {
        { "index", tpl_int(i + 1) }, { "index0", tpl_int(i) }, { "first", tpl_bool(i == 0) }, { "last", tpl_bool(i + 1 == n) },
        { "length", tpl_int(n) }, { "revindex", tpl_int(n - i) }, { "revindex0", tpl_int(n - i - 1) },
        { "depth", tpl_int(loop->depth0 + 1) }, { "depth0", tpl_int(loop->depth0) },
    };
    const tpl_builtin *fn = tpl_find_in(methods, HONE_COUNTOF(methods), name);

    for (size_t k = 0; k < HONE_COUNTOF(attrs); k++) {
        if (tpl_str_is(name, attrs[k].name)) {
            *out = attrs[k].value;
            return HONE_OK;
        }
    }
    *out = (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_ATTR, .of = TPL_LOOP, .u.s = name };
    if (tpl_str_is(name, "previtem") || tpl_str_is(name, "nextitem")) {
        bool previous = tpl_str_is(name, "previtem");

        if (previous ? i > 0 : i + 1 < n)
            *out = loop->items->items[previous ? i - 1 : i + 1];
        else
            *out = (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_HINT, .u.s = previous ? &no_previous : &no_next };
    } else if (fn) {
        tpl_method *m;

        TPL_ALLOC(m, rt, 1);
        *m = (tpl_method){ .self = v, .fn = fn };
        *out = (tpl_value){ .kind = TPL_METHOD, .u.me = m };
    }
    return HONE_OK;
}

/* ---- macros ---- */
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
static hone_status bind_rest(tpl_rt *rt, const tpl_node *n, const tpl_call *call, uint32_t used)
{
    static const tpl_str caller_name = { .data = "caller", .len = 6 };
    uint32_t  params = n->list.len;
    int       caller = find_kwarg(call, &caller_name);
    tpl_list *rest;
    tpl_dict *d;

    if (n->type == TPL_N_MACRO && n->caller) {
        tpl_value v = { .kind = TPL_UNDEF, .sub = TPL_UNDEF_NAME, .u.s = &caller_name };

        used += caller >= 0;
        HONE_TRY(tpl_set_var(rt, rt->t->caller_name, caller >= 0 ? call->kwargs[caller] : v));
    }
    TPL_CHECK(call->nargs <= params || (n->type == TPL_N_MACRO && n->varargs), rt,
              "macro '%.*s' takes not more than %u argument(s)", n->text ? (int)n->text->len : 0,
              n->text ? n->text->data : "", params);
    TPL_CHECK(used == call->nkw || (n->type == TPL_N_MACRO && n->kwvars), rt, "macro '%.*s' takes no such keyword argument",
              n->text ? (int)n->text->len : 0, n->text ? n->text->data : "");
    if (n->varargs && n->type == TPL_N_MACRO) {
        HONE_TRY(tpl_new_list(rt, &rest, 0));
        for (uint32_t i = params; i < call->nargs; i++)
            HONE_TRY(tpl_push(rt, rest, call->args[i]));
        HONE_TRY(tpl_set_var(rt, rt->t->varargs_name, tpl_tuple_value(rest)));
    }
    if (!n->kwvars || n->type != TPL_N_MACRO)
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
    uint32_t   used = 0;

    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "macros are nested too deep");
    rt->scope = m->scope;
    HONE_TRY(tpl_push_scope(rt));
    HONE_TRY(bind_params(rt, m->node, call, &used));
    HONE_TRY(bind_rest(rt, m->node, call, used));
    rt->out = &own;
    HONE_TRY(tpl_exec(rt, &m->node->body));
    rt->out = outer;
    rt->scope = scope;
    return tpl_buf_take(rt, &own, out);
}

static hone_status new_macro(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_macro *m;

    TPL_ALLOC(m, rt, 1);
    *m = (tpl_macro){ .node = n, .scope = rt->scope };
    *out = (tpl_value){ .kind = TPL_MACRO, .u.m = m };
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
    HONE_TRY(new_macro(rt, &kwargs[call.nkw], n));
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
    bool outer = rt->generation;

    rt->generation = true;
    HONE_TRY(exec_scoped(rt, &n->body));
    rt->generation = outer;
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
        HONE_TRY(new_macro(rt, &v, n));
        return tpl_set_var(rt, n->name, v);
    case TPL_N_CALL_BLOCK: return exec_call_block(rt, n);
    case TPL_N_FILTER_BLOCK:
        HONE_TRY(tpl_capture(rt, &v, &n->body));
        if (rt->ctl != TPL_GO_ON)
            return HONE_OK;
        HONE_TRY(apply_filters(rt, &v, n->b));
        return emit_value(rt, v);
    case TPL_N_GENERATION: return exec_generation(rt, n);
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
