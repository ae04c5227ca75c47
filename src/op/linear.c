#include "op/node.h"
#include "op/op.h"
#include "op/param.h"

typedef struct attrs { bool w_is_kn; } attrs;

enum { X, W, BIAS, RESIDUAL };

static hone_linear_args shape(const hone_node *n)
{
    const hone_tensor *x = n->in[X], *w = n->in[W];
    bool               kn = HONE_ATTRS(attrs, n)->w_is_kn;

    return (hone_linear_args){ .m = hone_tensor_rows(x), .k = hone_tensor_cols(x), .n = w->dims[kn ? 1 : 0], .w_is_kn = kn };
}

static double flops(const hone_linear_args *a) { return 2.0 * (double)a->m * (double)a->n * (double)a->k; }

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor     *x = n->in[X], *w = n->in[W], *y;
    hone_linear_args args = shape(n);
    int64_t          dims[HONE_MAX_DIMS];

    HONE_CHECK(w->dims[args.w_is_kn ? 0 : 1] == args.k, HONE_E_SHAPE, "%s takes %lld features, its input has %lld",
               w->param ? w->param->name : "a linear layer", (long long)w->dims[args.w_is_kn ? 0 : 1], (long long)args.k);
    for (int i = 0; i < x->ndim; i++)
        dims[i] = x->dims[i];
    dims[x->ndim - 1] = args.n;
    y = hone_node_output(ctx, n, 0, x->dtype, x->ndim, dims);
    if (!y)
        return HONE_E_NOMEM;
    args.x = hone_tensor_data(x);
    args.w = hone_tensor_data(w);
    args.bias = n->in[BIAS] ? hone_tensor_data(n->in[BIAS]) : NULL;
    args.residual = n->in[RESIDUAL] ? hone_tensor_data(n->in[RESIDUAL]) : NULL;
    args.y = hone_tensor_data(y);
    return hone_kernel_run(ctx, HONE_OP_linear, HONE_PASS_FWD, x->dtype, &args, flops(&args));
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor     *x = n->in[X], *dx;
    hone_linear_args args = shape(n);

    if (n->in[RESIDUAL])
        HONE_TRY(hone_grad_add(ctx, n->in[RESIDUAL], n->out[0]->grad));
    if (!x->requires_grad)
        return HONE_OK;
    dx = hone_grad_target(ctx, x, &args.accumulate);
    if (!dx)
        return HONE_E_NOMEM;
    args.w = hone_tensor_data(n->in[W]);
    args.dy = hone_tensor_data(n->out[0]->grad);
    args.dx = hone_tensor_data(dx);
    return hone_kernel_run(ctx, HONE_OP_linear, HONE_PASS_BWD, x->dtype, &args, flops(&args));
}

static hone_status backward_weight(hone_ctx *ctx, hone_node *n)
{
    hone_linear_args args = shape(n);
    bool             bias_accumulate = false;

    args.x = hone_tensor_data(n->in[X]);
    args.dy = hone_tensor_data(n->out[0]->grad);
    args.dw = hone_param_grad_target(n->in[W], &args.accumulate);
    args.dbias = hone_param_grad_target(n->in[BIAS], &bias_accumulate);
    if (!args.dw && !args.dbias)
        return HONE_OK;
    HONE_CHECK(args.dw && (!args.dbias || bias_accumulate == args.accumulate), HONE_E_INTERNAL,
               "a linear layer's weight and bias must be trained together");
    return hone_kernel_run(ctx, HONE_OP_linear, HONE_PASS_BWD_WEIGHT, n->in[X]->dtype, &args, flops(&args));
}

static const hone_op_rule rule = { .name = "linear", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward,
                                   .backward_weight = backward_weight, .needs_in = 1u << X };

hone_tensor *hone_op_linear(hone_ctx *ctx, hone_tensor *x, hone_tensor *w, hone_tensor *bias, bool w_is_kn,
                             hone_tensor *residual)
{
    return hone_node_apply(ctx, &rule, (hone_tensor *[]){ x, w, bias, residual }, 4, &(attrs){ w_is_kn }, 1, NULL);
}
