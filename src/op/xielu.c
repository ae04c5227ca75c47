#include "op/node.h"
#include "op/op.h"

enum { X, ALPHA_P, ALPHA_N };

static hone_xielu_args arguments(const hone_node *n)
{
    return (hone_xielu_args){ .x = hone_tensor_data(n->in[X]), .alpha_p = hone_tensor_data(n->in[ALPHA_P]),
                              .alpha_n = hone_tensor_data(n->in[ALPHA_N]), .n = hone_tensor_numel(n->in[X]) };
}

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_xielu_args args = arguments(n);
    hone_tensor    *y;

    HONE_CHECK(hone_tensor_numel(n->in[ALPHA_P]) == 1 && hone_tensor_numel(n->in[ALPHA_N]) == 1, HONE_E_SHAPE,
               "the parameters of xielu are one number each");
    y = hone_node_output_like(ctx, n, 0, n->in[X]);
    if (!y)
        return HONE_E_NOMEM;
    args.y = hone_tensor_data(y);
    return hone_kernel_run(ctx, HONE_OP_xielu, HONE_PASS_FWD, y->dtype, &args, 0);
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor    *x = n->in[X], *g = hone_tensor_create(ctx->device, x->dtype, x->ndim, x->dims);
    hone_xielu_args args = arguments(n);
    hone_status     st = HONE_E_NOMEM;

    if (g) {
        args.dy = hone_tensor_data(n->out[0]->grad);
        args.dx = hone_tensor_data(g);
        args.dalpha_p = hone_param_grad_target(n->in[ALPHA_P], &args.accumulate);
        args.dalpha_n = hone_param_grad_target(n->in[ALPHA_N], &args.accumulate);   /* both are trained, or one of them */
        st = hone_kernel_run(ctx, HONE_OP_xielu, HONE_PASS_BWD, x->dtype, &args, 0);
    }
    if (st == HONE_OK)
        st = hone_grad_add(ctx, x, g);
    hone_tensor_release(&g);
    return st;
}

static const hone_op_rule rule = { .name = "xielu", .forward = forward, .backward = backward, .needs_in = 1u << X,
                                   .cheap = true };

hone_tensor *hone_op_xielu(hone_ctx *ctx, hone_tensor *x, hone_tensor *alpha_p, hone_tensor *alpha_n)
{
    return hone_node_apply(ctx, &rule, (hone_tensor *[]){ x, alpha_p, alpha_n }, 3, NULL, 1, NULL);
}
