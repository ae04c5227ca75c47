/* Root-mean-square and layer normalisation: one shape rule and one backward rule, two kernels. */
#include "op/node.h"
#include "op/op.h"
#include "op/param.h"

typedef struct attrs { int64_t dim; double eps; float w_offset; } attrs;

enum { X, W, BIAS };        /* inputs */
enum { Y, RSTD, MEAN };     /* outputs; MEAN for layer_norm only */

static hone_norm_args arguments(const hone_node *n)
{
    const attrs   *a = HONE_ATTRS(attrs, n);
    hone_norm_args args = { .eps = a->eps, .w_offset = a->w_offset, .dim = a->dim, .groups = 1 };

    args.rows = hone_tensor_numel(n->in[X]) / args.dim;
    args.x = hone_tensor_data(n->in[X]);
    if (n->in[W]) {
        args.w = hone_tensor_data(n->in[W]);
        args.groups = hone_tensor_numel(n->in[W]) / args.dim;
    }
    return args;
}

static hone_status check_shapes(const hone_node *n)
{
    const hone_tensor *w = n->in[W], *bias = n->in[BIAS];
    int64_t            dim = HONE_ATTRS(attrs, n)->dim, cols = hone_tensor_cols(n->in[X]);
    const char        *name = w && w->param ? w->param->name : "a norm";

    HONE_CHECK(dim > 0 && cols % dim == 0, HONE_E_SHAPE, "%s norms %lld features, its input has %lld", name, (long long)dim,
               (long long)cols);
    HONE_CHECK(!w || (hone_tensor_numel(w) % dim == 0 && cols % hone_tensor_numel(w) == 0), HONE_E_SHAPE,
               "%s has %lld weights for an input of %lld features, %lld at a time", name, (long long)hone_tensor_numel(w),
               (long long)cols, (long long)dim);
    HONE_CHECK(!bias || (w && hone_tensor_numel(bias) == hone_tensor_numel(w)), HONE_E_SHAPE,
               "%s has a bias that differs from its weight in size", name);
    return HONE_OK;
}

static hone_status norm_forward(hone_ctx *ctx, hone_node *n, hone_op op)
{
    hone_tensor   *x = n->in[X], *y, *rstd, *mean = NULL;
    hone_norm_args args;

    HONE_TRY(check_shapes(n));
    args = arguments(n);
    y = hone_node_output_like(ctx, n, Y, x);
    rstd = hone_node_output(ctx, n, RSTD, hone_acc_dtype(x->dtype), 1, &args.rows);
    if (op == HONE_OP_layer_norm)
        mean = hone_node_output(ctx, n, MEAN, hone_acc_dtype(x->dtype), 1, &args.rows);
    if (!y || !rstd || (op == HONE_OP_layer_norm && !mean))
        return HONE_E_NOMEM;
    args.bias = n->in[BIAS] ? hone_tensor_data(n->in[BIAS]) : NULL;
    args.y = hone_tensor_data(y);
    args.rstd = hone_tensor_data(rstd);
    args.mean = mean ? hone_tensor_data(mean) : NULL;
    return hone_kernel_run(ctx, op, HONE_PASS_FWD, x->dtype, &args, 0);
}

static hone_status norm_backward(hone_ctx *ctx, hone_node *n, hone_op op)
{
    hone_norm_args args = arguments(n);
    hone_tensor   *dx = hone_grad_target(ctx, n->in[X], &args.accumulate_dx);

    if (!dx)
        return HONE_E_NOMEM;
    args.rstd = hone_tensor_data(n->out[RSTD]);
    args.mean = op == HONE_OP_layer_norm ? hone_tensor_data(n->out[MEAN]) : NULL;
    args.dy = hone_tensor_data(n->out[Y]->grad);
    args.dx = hone_tensor_data(dx);
    args.dw = hone_param_grad_target(n->in[W], &args.accumulate_dw);
    args.dbias = hone_param_grad_target(n->in[BIAS], &args.accumulate_dw);      /* trained as often as the weight, or it alone */
    return hone_kernel_run(ctx, op, HONE_PASS_BWD, n->in[X]->dtype, &args, 0);
}

static hone_status rms_forward(hone_ctx *ctx, hone_node *n) { return norm_forward(ctx, n, HONE_OP_rms_norm); }
static hone_status rms_backward(hone_ctx *ctx, hone_node *n) { return norm_backward(ctx, n, HONE_OP_rms_norm); }
static hone_status layer_forward(hone_ctx *ctx, hone_node *n) { return norm_forward(ctx, n, HONE_OP_layer_norm); }
static hone_status layer_backward(hone_ctx *ctx, hone_node *n) { return norm_backward(ctx, n, HONE_OP_layer_norm); }

static const hone_op_rule rms_rule = { .name = "rms_norm", .attrs_size = sizeof(attrs), .forward = rms_forward,
    .backward = rms_backward, .needs_in = 1u << X, .needs_out = 1u << RSTD, .cheap = true };
static const hone_op_rule layer_rule = { .name = "layer_norm", .attrs_size = sizeof(attrs), .forward = layer_forward,
    .backward = layer_backward, .needs_in = 1u << X, .needs_out = 1u << RSTD | 1u << MEAN, .cheap = true };

hone_tensor *hone_op_rms_norm(hone_ctx *ctx, hone_tensor *x, hone_tensor *w, int64_t dim, double eps, float w_offset)
{
    return hone_node_apply(ctx, &rms_rule, (hone_tensor *[]){ x, w, NULL }, 3, &(attrs){ dim, eps, w_offset }, 2, NULL);
}

hone_tensor *hone_op_layer_norm(hone_ctx *ctx, hone_tensor *x, hone_tensor *w, hone_tensor *bias, int64_t dim, double eps,
                                float w_offset)
{
    return hone_node_apply(ctx, &layer_rule, (hone_tensor *[]){ x, w, bias }, 3, &(attrs){ dim, eps, w_offset }, 3, NULL);
}
