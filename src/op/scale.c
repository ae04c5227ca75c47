#include "op/node.h"
#include "op/op.h"

typedef struct attrs { double factor; } attrs;

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor    *x = n->in[0], *y = hone_node_output_like(ctx, n, 0, x);
    hone_scale_args args = { .x = hone_tensor_data(x), .n = hone_tensor_numel(x), .factor = HONE_ATTRS(attrs, n)->factor };

    if (!y)
        return HONE_E_NOMEM;
    args.y = hone_tensor_data(y);
    return hone_kernel_run(ctx, HONE_OP_scale, HONE_PASS_FWD, x->dtype, &args, 0);
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    return hone_grad_add_scaled(ctx, n->in[0], n->out[0]->grad, HONE_ATTRS(attrs, n)->factor);
}

static const hone_op_rule rule = { .name = "scale", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward };

hone_tensor *hone_op_scale(hone_ctx *ctx, hone_tensor *x, double factor)
{
    return hone_node_apply(ctx, &rule, &x, 1, &(attrs){ factor }, 1, NULL);
}
