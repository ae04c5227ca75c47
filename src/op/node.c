#include "op/node.h"

#include <string.h>

#include "base/mem.h"
#include "op/param.h"

void hone_node_free(hone_node *n)
{
    if (!n)
        return;
    if (n->rule->release)
        n->rule->release(n);
    for (int i = 0; i < n->n_in; i++)
        hone_tensor_release(&n->in[i]);
    for (int i = 0; i < n->n_out; i++)
        hone_tensor_release(&n->out[i]);
    hone_free(n->attrs);
    hone_free(n);
}

static hone_node *node_create(const hone_op_rule *rule, hone_tensor *const *in, int n_in, const void *attrs, int n_out)
{
    hone_node *n = hone_calloc(1, sizeof *n);

    if (!n)
        return NULL;
    HONE_ASSERT(n_in <= HONE_NODE_MAX_IN && n_out <= HONE_NODE_MAX_OUT);
    n->rule = rule;
    n->attrs = hone_calloc(1, rule->attrs_size);
    if (!n->attrs) {
        hone_free(n);
        return NULL;
    }
    if (rule->attrs_size)
        memcpy(n->attrs, attrs, rule->attrs_size);
    n->n_in = n_in;
    n->n_out = n_out;
    for (int i = 0; i < n_in; i++)
        n->in[i] = in[i] ? hone_tensor_retain(in[i]) : NULL;
    return n;
}

static bool any_requires_grad(const hone_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->requires_grad)
            return true;
    return false;
}

hone_tensor *hone_node_apply(hone_ctx *ctx, const hone_op_rule *rule, hone_tensor *const *in, int n_in, const void *attrs,
                             int n_out, hone_tensor **out_list)
{
    hone_tensor *outs[HONE_NODE_MAX_OUT];
    hone_node   *n;
    hone_status  st;

    for (int i = 0; i < n_out && out_list; i++)
        out_list[i] = ctx->poison;
    for (int i = 0; i < n_in; i++)
        if (in[i] == ctx->poison)
            return ctx->poison;
    if (ctx->status != HONE_OK)
        return ctx->poison;
    n = node_create(rule, in, n_in, attrs, n_out);
    st = n ? rule->forward(ctx, n) : HONE_E_NOMEM;
    if (st != HONE_OK) {
        (void)hone_status_context(st, "in the forward pass of %s", rule->name);
        hone_ctx_fail(ctx, st);
        hone_node_free(n);
        return ctx->poison;
    }
    for (int i = 0; i < n_out; i++) {
        outs[i] = hone_scope_adopt(ctx, hone_tensor_retain(n->out[i]));
        if (out_list)
            out_list[i] = outs[i];
    }
    if (ctx->tape && any_requires_grad(n)) {
        for (int i = 0; i < n_out; i++) {
            n->out[i]->requires_grad = true;
            n->out[i]->node = n;
        }
        ctx->record(ctx, n);
    } else {
        hone_node_free(n);
    }
    return outs[0];
}

hone_tensor *hone_node_output(hone_ctx *ctx, hone_node *n, int i, hone_dtype dtype, int ndim, const int64_t *dims)
{
    hone_tensor *t = n->out[i];

    if (!t) {
        n->out[i] = hone_tensor_create(ctx->device, dtype, ndim, dims);
        return n->out[i];
    }
    if (!t->storage) {
        t->storage = hone_storage_create(ctx->device, hone_tensor_bytes(t));
        t->offset = 0;
        if (!t->storage)
            return NULL;
    }
    return t;
}

hone_tensor *hone_node_output_like(hone_ctx *ctx, hone_node *n, int i, const hone_tensor *like)
{
    return hone_node_output(ctx, n, i, like->dtype, like->ndim, like->dims);
}

/* Give `t` a gradient of its own when the one it has is shared with another tensor. */
static hone_status unshare(hone_ctx *ctx, hone_tensor *t)
{
    hone_tensor *old = t->grad, *fresh;

    if (old->refs == 1 && old->storage->refs == 1)
        return HONE_OK;
    fresh = hone_tensor_create(ctx->device, old->dtype, old->ndim, old->dims);
    if (!fresh)
        return HONE_E_NOMEM;
    if (hone_device_has_data(ctx->device))
        memcpy(hone_tensor_data(fresh), hone_tensor_data(old), hone_tensor_bytes(old));
    hone_tensor_release(&t->grad);
    t->grad = fresh;
    return HONE_OK;
}

hone_tensor *hone_grad_target(hone_ctx *ctx, hone_tensor *t, bool *accumulate)
{
    *accumulate = t->grad != NULL;
    if (!t->grad)
        t->grad = hone_tensor_create(ctx->device, t->dtype, t->ndim, t->dims);
    else if (unshare(ctx, t) != HONE_OK)
        return NULL;
    return t->grad;
}

hone_status hone_grad_add(hone_ctx *ctx, hone_tensor *t, hone_tensor *g)
{
    if (!t->requires_grad)
        return HONE_OK;
    if (t->grad)
        return hone_grad_add_scaled(ctx, t, g, 1);
    t->grad = hone_tensor_retain(g);
    return HONE_OK;
}

hone_status hone_grad_add_scaled(hone_ctx *ctx, hone_tensor *t, hone_tensor *g, double factor)
{
    hone_scale_args scale = { .x = hone_tensor_data(g), .n = hone_tensor_numel(g), .factor = factor };
    hone_add_args   add = { .b = hone_tensor_data(g), .n = hone_tensor_numel(g), .factor = factor };

    if (!t->requires_grad)
        return HONE_OK;
    if (!t->grad) {
        t->grad = hone_tensor_create(ctx->device, t->dtype, t->ndim, t->dims);
        if (!t->grad)
            return HONE_E_NOMEM;
        scale.y = hone_tensor_data(t->grad);
        return hone_kernel_run(ctx, HONE_OP_scale, HONE_PASS_FWD, t->dtype, &scale, 0);
    }
    HONE_TRY(unshare(ctx, t));
    add.a = add.y = hone_tensor_data(t->grad);
    return hone_kernel_run(ctx, HONE_OP_add, HONE_PASS_FWD, t->dtype, &add, 0);
}

void *hone_param_grad_target(hone_tensor *leaf, bool *accumulate)
{
    hone_param *p = leaf ? leaf->param : NULL;

    if (!p || !p->grad)
        return NULL;
    *accumulate = p->grad_ready;
    p->grad_ready = true;
    return hone_tensor_data(p->grad);
}
