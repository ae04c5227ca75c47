#include "op/node.h"
#include "op/op.h"

typedef struct attrs { const int32_t *sample_ids, *positions; hone_dropout dropout; } attrs;

static hone_status run(hone_ctx *ctx, const hone_node *n, const hone_tensor *x, hone_tensor *y)
{
    const attrs      *a = HONE_ATTRS(attrs, n);
    hone_dropout_args args = { .x = hone_tensor_data(x), .y = hone_tensor_data(y), .sample_ids = a->sample_ids,
                               .positions = a->positions, .rows = hone_tensor_rows(x), .dim = hone_tensor_cols(x),
                               .dropout = a->dropout };

    return hone_kernel_run(ctx, HONE_OP_dropout, HONE_PASS_FWD, x->dtype, &args, 0);
}

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor *y = hone_node_output_like(ctx, n, 0, n->in[0]);

    return y ? run(ctx, n, n->in[0], y) : HONE_E_NOMEM;
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor *dy = n->out[0]->grad, *g = hone_tensor_create(ctx->device, dy->dtype, dy->ndim, dy->dims);
    hone_status  st = g ? run(ctx, n, dy, g) : HONE_E_NOMEM;     /* the same mask: it is a function of names */

    if (st == HONE_OK)
        st = hone_grad_add(ctx, n->in[0], g);
    hone_tensor_release(&g);
    return st;
}

static const hone_op_rule rule = { .name = "dropout", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward };

hone_tensor *hone_op_dropout(hone_ctx *ctx, hone_tensor *x, const int32_t *sample_ids, const int32_t *positions, float p,
                             uint32_t site)
{
    if (!ctx->training || p <= 0)
        return x;
    return hone_node_apply(ctx, &rule, &x, 1, &(attrs){ sample_ids, positions, { p, ctx->dropout_key, site } }, 1, NULL);
}
