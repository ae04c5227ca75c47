/* The for loop and what `loop` tells of it. */
#include <string.h>

#include "text/template/ast.h"

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
            HONE_TRY(tpl_push_scope(rt, NULL));
            HONE_TRY(tpl_assign(rt, n->a, v));
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
    int32_t   work = rt->work, msg = tpl_value_message(rt, item);
    size_t    from = rt->out->len, first_seg = rt->out->nseg;

    rt->scope = loop->scope;
    HONE_TRY(tpl_push_scope(rt, &n->missing));
    if (rt->t->loop_name >= 0)
        HONE_TRY(tpl_set_var(rt, rt->t->loop_name, (tpl_value){ .kind = TPL_LOOP, .u.loop = loop }));
    HONE_TRY(tpl_assign(rt, n->a, item));
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
    return completed ? HONE_OK : tpl_exec_scoped(rt, &n->orelse, &n->missing_else);
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
    *out = tpl_bool(!loop->has_changed || !tpl_equal(rt, loop->changed, tpl_tuple_value(l)));
    loop->changed = tpl_tuple_value(l);
    loop->has_changed = true;
    return HONE_OK;
}

hone_status tpl_loop_attr(tpl_rt *rt, tpl_value *out, tpl_value v, const tpl_str *name)
{
    static const tpl_builtin methods[] = { { "cycle", "*", 0, loop_cycle, 0 }, { "changed", "*", 0, loop_changed, 0 } };
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
