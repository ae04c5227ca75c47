#include "op/node.h"
#include "op/op.h"

typedef struct attrs { double limit; } attrs;

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor    *x = n->in[0], *y = hone_node_output_like(ctx, n, 0, x);
    hone_clamp_args args = { .x = hone_tensor_data(x), .n = hone_tensor_numel(x), .limit = HONE_ATTRS(attrs, n)->limit };

    if (!y)
        return HONE_E_NOMEM;
    args.y = hone_tensor_data(y);
    return hone_kernel_run(ctx, HONE_OP_clamp, HONE_PASS_FWD, x->dtype, &args, 0);
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor    *y = n->out[0], *g = hone_tensor_create(ctx->device, y->dtype, y->ndim, y->dims);
    hone_clamp_args args = { .x = hone_tensor_data(y), .dy = hone_tensor_data(y->grad), .n = hone_tensor_numel(y),
                             .limit = HONE_ATTRS(attrs, n)->limit };
    hone_status     st = HONE_E_NOMEM;

    if (g) {
        args.dx = hone_tensor_data(g);
        st = hone_kernel_run(ctx, HONE_OP_clamp, HONE_PASS_BWD, y->dtype, &args, 0);
    }
    if (st == HONE_OK)
        st = hone_grad_add(ctx, n->in[0], g);
    hone_tensor_release(&g);
    return st;
}

static const hone_op_rule rule = { .name = "clamp", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward,
                                   .needs_out = 1 };       /* what reads y keeps it, too */

hone_tensor *hone_op_clamp(hone_ctx *ctx, hone_tensor *x, double limit)
{
    return hone_node_apply(ctx, &rule, &x, 1, &(attrs){ limit }, 1, NULL);
}
