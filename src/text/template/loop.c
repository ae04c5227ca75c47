/* The for loop and what `loop` tells of it. */
#include <string.h>

#include "text/template/ast.h"

/* Fetch items that pass the loop's own filter until there are more than `index` or no others. They are fetched as late as
 * they are needed, since the filter may look at what the rounds before have set. */
static hone_status fetch(tpl_rt *rt, tpl_loop *loop, int64_t index)
{
    const tpl_node *n = loop->node;
    tpl_scope      *scope = rt->scope;
    uint32_t        at = rt->at;

    while (!loop->exhausted && loop->items->len <= index) {
        tpl_value v, keep = tpl_bool(true);

        HONE_TRY(tpl_next(rt, loop->it, &v, &loop->exhausted));
        if (loop->exhausted)
            break;
        if (n->c) {
            rt->scope = loop->scope;
            HONE_TRY(tpl_push_scope(rt, NULL));
            HONE_TRY(tpl_assign(rt, n->a, v));
            HONE_TRY(tpl_eval(rt, &keep, n->c));
            rt->scope = scope;
            rt->at = at;
        }
        if (tpl_truthy(keep))
            HONE_TRY(tpl_push(rt, loop->items, v));
    }
    return HONE_OK;
}

hone_status tpl_loop_length(tpl_rt *rt, int64_t *out, tpl_loop *loop)
{
    HONE_TRY(fetch(rt, loop, UINT32_MAX));
    *out = loop->items->len;
    return HONE_OK;
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
    HONE_TRY(tpl_iterate(rt, &loop->it, iterable));
    HONE_TRY(tpl_new_list(rt, &loop->items, 0));
    for (;; loop->index0++) {
        HONE_TRY(fetch(rt, loop, loop->index0));
        if (loop->index0 >= loop->items->len)
            break;
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

static bool numbered_attr(tpl_value *out, const tpl_loop *loop, const tpl_str *name)
{
    const struct { const char *name; tpl_value value; } attrs[] = {
        { "index", tpl_int(loop->index0 + 1) }, { "index0", tpl_int(loop->index0) }, { "first", tpl_bool(loop->index0 == 0) },
        { "depth", tpl_int(loop->depth0 + 1) }, { "depth0", tpl_int(loop->depth0) },
    };

    for (size_t k = 0; k < HONE_COUNTOF(attrs); k++) {
        if (tpl_str_is(name, attrs[k].name)) {
            *out = attrs[k].value;
            return true;
        }
    }
    return false;
}

/* The attributes for which later items must be known; `found` says whether it was one. */
static hone_status looking_ahead(tpl_rt *rt, tpl_value *out, bool *found, tpl_loop *loop, const tpl_str *name)
{
    static const tpl_str no_next = { .data = "there is no next item", .len = 21 };
    int64_t i = loop->index0, n = 0;

    *found = true;
    if (tpl_str_is(name, "last") || tpl_str_is(name, "nextitem")) {
        HONE_TRY(fetch(rt, loop, i + 1));
        n = loop->items->len;
        if (tpl_str_is(name, "last"))
            *out = tpl_bool(i + 1 >= n);
        else
            *out = i + 1 < n ? loop->items->items[i + 1] : (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_HINT, .u.s = &no_next };
        return HONE_OK;
    }
    *found = tpl_str_is(name, "length") || tpl_str_is(name, "revindex") || tpl_str_is(name, "revindex0");
    if (!*found)
        return HONE_OK;
    HONE_TRY(tpl_loop_length(rt, &n, loop));
    *out = tpl_int(tpl_str_is(name, "length") ? n : n - i - tpl_str_is(name, "revindex0"));
    return HONE_OK;
}

hone_status tpl_loop_attr(tpl_rt *rt, tpl_value *out, tpl_value v, const tpl_str *name)
{
    static const tpl_builtin methods[] = { { "cycle", "*", 0, loop_cycle, 0 }, { "changed", "*", 0, loop_changed, 0 } };
    static const tpl_str no_previous = { .data = "there is no previous item", .len = 25 };
    const tpl_builtin *fn = tpl_find_in(methods, HONE_COUNTOF(methods), name);
    tpl_loop          *loop = v.u.loop;
    tpl_method        *m;
    bool               found;

    if (numbered_attr(out, loop, name))
        return HONE_OK;
    HONE_TRY(looking_ahead(rt, out, &found, loop, name));
    if (found)
        return HONE_OK;
    if (fn) {
        TPL_ALLOC(m, rt, 1);
        *m = (tpl_method){ .self = v, .fn = fn };
        *out = (tpl_value){ .kind = TPL_METHOD, .u.me = m };
    } else if (tpl_str_is(name, "previtem")) {
        *out = loop->index0 > 0 ? loop->items->items[loop->index0 - 1]
               : (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_HINT, .u.s = &no_previous };
    } else {
        *out = (tpl_value){ .kind = TPL_UNDEF, .sub = TPL_UNDEF_ATTR, .of = TPL_LOOP, .u.s = name };
    }
    return HONE_OK;
}
