/* Evaluation of expressions. */
#include <string.h>

#include "text/template/ast.h"

/* ---- variables ---- */
hone_status tpl_set_missing(tpl_rt *rt, const tpl_names *missing)
{
    for (uint32_t i = 0; missing && i < missing->n; i++)
        HONE_TRY(tpl_set_var(rt, missing->ids[i], (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_NAME,
                                                              .u.s = rt->t->name_texts[missing->ids[i]] }));
    return HONE_OK;
}

hone_status tpl_push_scope(tpl_rt *rt, const tpl_names *missing)
{
    tpl_scope *s;

    TPL_ALLOC(s, rt, 1);
    *s = (tpl_scope){ .parent = rt->scope };
    rt->scope = s;
    return tpl_set_missing(rt, missing);
}

hone_status tpl_set_var(tpl_rt *rt, int32_t name, tpl_value v)
{
    tpl_scope *s = rt->scope;

    for (uint32_t i = 0; i < s->len; i++) {
        if (s->vars[i].name == name) {
            s->vars[i].value = v;
            return HONE_OK;
        }
    }
    if (s->len == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 4;
        tpl_var *vars = tpl_arena_grow(&rt->arena, s->vars, s->cap * sizeof *vars, cap * sizeof *vars);

        if (!vars)
            return tpl_out_of_memory(rt);
        s->vars = vars;
        s->cap = cap;
    }
    s->vars[s->len++] = (tpl_var){ name, v };
    return HONE_OK;
}

bool tpl_get_var(const tpl_rt *rt, int32_t name, tpl_value *out)
{
    for (const tpl_scope *s = rt->scope; s; s = s->parent) {
        for (uint32_t i = 0; i < s->len; i++) {
            if (s->vars[i].name == name) {
                *out = s->vars[i].value;
                return true;
            }
        }
    }
    return false;
}

static hone_status eval_name(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    const tpl_builtin *fn;

    if (tpl_get_var(rt, n->name, out))
        return HONE_OK;
    fn = tpl_find_function(n->text);
    if (tpl_str_is(n->text, "self"))
        *out = (tpl_value){ .kind = TPL_SELF };
    else if (fn)
        *out = (tpl_value){ .kind = TPL_FUNC, .u.fn = fn };
    else
        *out = (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_NAME, .u.s = n->text };
    return HONE_OK;
}

/* ---- literals ---- */
static hone_status eval_list(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_list *l;

    HONE_TRY(tpl_new_list(rt, &l, n->list.len));
    for (uint32_t i = 0; i < n->list.len; i++)
        HONE_TRY(tpl_eval(rt, &l->items[l->len++], n->list.items[i]));
    *out = n->type == TPL_N_LIST ? tpl_list_value(l) : tpl_tuple_value(l);
    return HONE_OK;
}

static hone_status eval_dict(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_dict *d;

    HONE_TRY(tpl_new_dict(rt, &d, n->list.len));
    for (uint32_t i = 0; i < n->list.len; i++) {
        tpl_value key, v;

        HONE_TRY(tpl_eval(rt, &key, n->list.items[i]));
        HONE_TRY(tpl_eval(rt, &v, n->values.items[i]));
        rt->at = n->pos;
        HONE_TRY(tpl_dict_put(rt, d, key, v));
    }
    *out = tpl_dict_value(d);
    return HONE_OK;
}

/* ---- calls ---- */
static hone_status splat(tpl_rt *rt, tpl_list *args, const tpl_node *star)
{
    tpl_value v;
    tpl_list *more;

    if (!star)
        return HONE_OK;
    HONE_TRY(tpl_eval(rt, &v, star));
    HONE_TRY(tpl_to_list(rt, &more, v));
    for (uint32_t i = 0; i < more->len; i++)
        HONE_TRY(tpl_push(rt, args, more->items[i]));
    return HONE_OK;
}

hone_status tpl_eval_call(tpl_rt *rt, tpl_call *out, const tpl_node *n)
{
    uint32_t        nkw = n->values.len, extra = 0;
    tpl_value       more = { .kind = TPL_MISSING }, *kwargs;
    const tpl_str **names;
    tpl_list       *args;

    *out = (tpl_call){ 0 };
    HONE_TRY(tpl_new_list(rt, &args, n->list.len));
    for (uint32_t i = 0; i < n->list.len; i++)
        HONE_TRY(tpl_eval(rt, &args->items[args->len++], n->list.items[i]));
    HONE_TRY(splat(rt, args, n->star));
    if (n->star2) {
        HONE_TRY(tpl_eval(rt, &more, n->star2));
        TPL_CHECK(more.kind == TPL_DICT, rt, "argument after ** must be a mapping, not %s", tpl_type_name(more));
        extra = more.u.d->len;
    }
    TPL_ALLOC(kwargs, rt, nkw + extra);
    TPL_ALLOC(names, rt, nkw + extra);
    for (uint32_t i = 0; i < nkw; i++) {
        names[i] = n->names[i];
        HONE_TRY(tpl_eval(rt, &kwargs[i], n->values.items[i]));
    }
    for (uint32_t i = 0; i < extra; i++) {
        TPL_CHECK(more.u.d->keys[i].kind == TPL_STR, rt, "keywords must be strings");
        names[nkw + i] = more.u.d->keys[i].u.s;
        kwargs[nkw + i] = more.u.d->values[i];
        for (uint32_t k = 0; k < nkw; k++)
            TPL_CHECK(!tpl_str_equal(names[k], names[nkw + i]), rt, "got multiple values for keyword argument '%.*s'",
                      (int)HONE_MIN(names[k]->len, 80u), names[k]->data);
    }
    *out = (tpl_call){ .args = args->items, .nargs = args->len, .names = names, .kwargs = kwargs, .nkw = nkw + extra };
    return HONE_OK;
}

/* loop(items): the loop again, over other items, its text as a value. */
static hone_status call_loop(tpl_rt *rt, tpl_value *out, const tpl_loop *loop, const tpl_call *call)
{
    tpl_buf    own = { 0 }, *outer = rt->out;
    tpl_scope *scope = rt->scope;

    TPL_CHECK(loop->node->flag, rt, "The loop must have the 'recursive' marker to be called recursively.");
    TPL_CHECK(call->nargs == 1 && !call->nkw, rt, "loop() takes one argument");
    rt->out = &own;
    rt->scope = loop->scope;
    HONE_TRY(tpl_run_loop(rt, loop->node, call->args[0], loop->depth0 + 1));
    rt->scope = scope;
    rt->out = outer;
    return tpl_buf_take(rt, &own, out);
}

/* self.NAME(): the text of a block. */
static hone_status call_block(tpl_rt *rt, tpl_value *out, const tpl_node *block)
{
    tpl_buf own = { 0 }, *outer = rt->out;

    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "blocks are nested too deep");
    rt->out = &own;
    HONE_TRY(tpl_exec_block(rt, block));
    rt->out = outer;
    return tpl_buf_take(rt, &own, out);
}

hone_status tpl_call_value(tpl_rt *rt, tpl_value *out, tpl_value f, const tpl_call *call)
{
    static const tpl_str empty = { .data = "" };
    char buf[256];

    switch ((tpl_kind)f.kind) {
    case TPL_MACRO:  return tpl_call_macro(rt, out, f.u.m, call);
    case TPL_METHOD: return tpl_run(rt, out, f.u.me->fn, f.u.me->self, call);
    case TPL_FUNC:   return tpl_run(rt, out, f.u.fn, tpl_none(), call);
    case TPL_LOOP:   return call_loop(rt, out, f.u.loop, call);
    case TPL_SELF:
        TPL_CHECK(f.u.block && !call->nargs && !call->nkw, rt, "a block takes no arguments");
        return call_block(rt, out, f.u.block);
    case TPL_JOINER:
        TPL_CHECK(!call->nargs && !call->nkw, rt, "a joiner takes no arguments");
        *out = f.u.cycler->pos++ ? f.u.cycler->items->items[0] : tpl_string(&empty);
        return HONE_OK;
    case TPL_UNDEF:  return TPL_FAIL(rt, "%s", tpl_undef_text(buf, f));
    default:
        return TPL_FAIL(rt, "'%s' object is not callable", tpl_type_name(f));
    }
}

static hone_status eval_call(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_value f;
    tpl_call  call;

    HONE_TRY(tpl_eval(rt, &f, n->a));
    HONE_TRY(tpl_eval_call(rt, &call, n));
    rt->at = n->a->pos;
    return tpl_call_value(rt, out, f, &call);
}

/* Filters and tests: their table entry, applied to the operand. */
static hone_status eval_builtin(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_value v;
    tpl_call  call = { 0 };

    HONE_TRY(tpl_eval(rt, &v, n->a));
    if (n->list.len || n->values.len || n->star || n->star2)
        HONE_TRY(tpl_eval_call(rt, &call, n));
    rt->at = n->pos;
    return n->builtin ? tpl_run(rt, out, n->builtin, v, &call) : tpl_unknown_builtin(rt->t, n);
}

/* ---- operators ---- */
static hone_status eval_item(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_value obj, key, bounds[3];

    HONE_TRY(tpl_eval(rt, &obj, n->a));
    if (n->b->type != TPL_N_SLICE) {
        HONE_TRY(tpl_eval(rt, &key, n->b));
        rt->at = n->pos;
        return tpl_get_item(rt, out, obj, key);
    }
    for (int i = 0; i < 3; i++) {
        const tpl_node *bound = i == 0 ? n->b->a : i == 1 ? n->b->b : n->b->c;

        bounds[i] = (tpl_value){ .kind = TPL_MISSING };
        if (bound)
            HONE_TRY(tpl_eval(rt, &bounds[i], bound));
    }
    rt->at = n->pos;
    return tpl_slice(rt, out, obj, bounds[0], bounds[1], bounds[2]);
}

static hone_status eval_unary(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_value v;
    char      buf[256];

    HONE_TRY(tpl_eval(rt, &v, n->a));
    rt->at = n->pos;
    if (n->type == TPL_N_NOT) {
        *out = tpl_bool(!tpl_truthy(v));
        return HONE_OK;
    }
    TPL_CHECK(v.kind != TPL_UNDEF, rt, "%s", tpl_undef_text(buf, v));
    TPL_CHECK(tpl_is_number(v), rt, "bad operand type for unary %c: '%s'", n->type == TPL_N_NEG ? '-' : '+',
              tpl_type_name(v));
    if (v.kind == TPL_FLOAT)
        *out = tpl_float(n->type == TPL_N_NEG ? -v.u.f : v.u.f);
    else
        return tpl_binary(rt, out, n->type == TPL_N_NEG ? '-' : '+', tpl_int(0), v);
    return HONE_OK;
}

static hone_status eval_binary(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_value a, b;

    HONE_TRY(tpl_eval(rt, &a, n->a));
    HONE_TRY(tpl_eval(rt, &b, n->b));
    rt->at = n->pos;
    return tpl_binary(rt, out, n->op, a, b);
}

static hone_status eval_concat(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_buf b = { 0 };

    for (uint32_t i = 0; i < n->list.len; i++) {
        tpl_value      v;
        const tpl_str *s;

        HONE_TRY(tpl_eval(rt, &v, n->list.items[i]));
        rt->at = n->pos;
        HONE_TRY(tpl_to_str(rt, &s, v));
        HONE_TRY(tpl_buf_str(rt, &b, s));
    }
    return tpl_buf_take(rt, &b, out);
}

static hone_status eval_compare(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_value left, right;
    bool      yes = true;

    HONE_TRY(tpl_eval(rt, &left, n->list.items[0]));
    for (uint32_t i = 1; yes && i < n->list.len; i++) {
        HONE_TRY(tpl_eval(rt, &right, n->list.items[i]));
        rt->at = n->pos;
        HONE_TRY(tpl_compare(rt, &yes, n->ops[i - 1], left, right));
        left = right;
    }
    *out = tpl_bool(yes);
    return HONE_OK;
}

static hone_status eval_logic(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    HONE_TRY(tpl_eval(rt, out, n->a));
    if (tpl_truthy(*out) == (n->type == TPL_N_OR))
        return HONE_OK;
    return tpl_eval(rt, out, n->b);
}

static hone_status eval_cond(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    static const tpl_str hint = { .data = "the inline if-expression evaluated to false and no else section was defined.",
                                  .len = 76 };
    tpl_value test;

    HONE_TRY(tpl_eval(rt, &test, n->a));
    if (tpl_truthy(test))
        return tpl_eval(rt, out, n->b);
    if (n->c)
        return tpl_eval(rt, out, n->c);
    *out = (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_HINT, .u.s = &hint };
    return HONE_OK;
}

static hone_status eval(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    tpl_value v;

    switch (n->type) {
    case TPL_N_CONST:   *out = n->value; return HONE_OK;
    case TPL_N_NAME:    return eval_name(rt, out, n);
    case TPL_N_LIST: case TPL_N_TUPLE: return eval_list(rt, out, n);
    case TPL_N_DICT:    return eval_dict(rt, out, n);
    case TPL_N_ATTR:
        HONE_TRY(tpl_eval(rt, &v, n->a));
        rt->at = n->pos;
        return tpl_get_attr(rt, out, v, n->text);
    case TPL_N_ITEM:    return eval_item(rt, out, n);
    case TPL_N_CALL:    return eval_call(rt, out, n);
    case TPL_N_FILTER: case TPL_N_TEST: return eval_builtin(rt, out, n);
    case TPL_N_NOT: case TPL_N_NEG: case TPL_N_POS: return eval_unary(rt, out, n);
    case TPL_N_BINARY:  return eval_binary(rt, out, n);
    case TPL_N_CONCAT:  return eval_concat(rt, out, n);
    case TPL_N_COMPARE: return eval_compare(rt, out, n);
    case TPL_N_AND: case TPL_N_OR: return eval_logic(rt, out, n);
    case TPL_N_COND:    return eval_cond(rt, out, n);
    default:
        return tpl_fail(rt, HONE_E_INTERNAL, "not an expression");
    }
}

hone_status tpl_eval(tpl_rt *rt, tpl_value *out, const tpl_node *n)
{
    hone_status st;

    rt->at = n->pos;
    HONE_TRY(tpl_step(rt, 1));
    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "evaluation is nested too deep");
    rt->depth++;
    st = eval(rt, out, n);
    rt->depth--;
    return st;
}
