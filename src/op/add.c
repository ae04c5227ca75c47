#include "op/node.h"
#include "op/op.h"

typedef struct attrs { double factor; } attrs;

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor  *a = n->in[0], *b = n->in[1], *y;
    hone_add_args args = { .a = hone_tensor_data(a), .b = hone_tensor_data(b), .n = hone_tensor_numel(a),
                           .factor = HONE_ATTRS(attrs, n)->factor };

    HONE_CHECK(hone_tensor_numel(b) == args.n && a->dtype == b->dtype, HONE_E_SHAPE, "the terms of a sum differ in size or type");
    y = hone_node_output_like(ctx, n, 0, a);
    if (!y)
        return HONE_E_NOMEM;
    args.y = hone_tensor_data(y);
    return hone_kernel_run(ctx, HONE_OP_add, HONE_PASS_FWD, a->dtype, &args, 0);
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    double factor = HONE_ATTRS(attrs, n)->factor;

    HONE_TRY(hone_grad_add(ctx, n->in[0], n->out[0]->grad));
    if (factor == 1)                                    /* the first gradient is shared rather than copied */
        return hone_grad_add(ctx, n->in[1], n->out[0]->grad);
    return hone_grad_add_scaled(ctx, n->in[1], n->out[0]->grad, factor);
}

static const hone_op_rule rule = { .name = "add", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward };

hone_tensor *hone_op_add(hone_ctx *ctx, hone_tensor *a, hone_tensor *b, double factor)
{
    return hone_node_apply(ctx, &rule, (hone_tensor *[]){ a, b }, 2, &(attrs){ factor }, 1, NULL);
}
