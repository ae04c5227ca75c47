#include "op/node.h"
#include "op/op.h"

typedef struct attrs { const float *cos, *sin; int64_t heads, rot_dim; bool interleaved; } attrs;

static hone_status run(hone_ctx *ctx, const hone_node *n, const hone_tensor *x, hone_tensor *y, bool inverse)
{
    const attrs   *a = HONE_ATTRS(attrs, n);
    hone_rope_args args = { .x = hone_tensor_data(x), .y = hone_tensor_data(y), .cos = a->cos, .sin = a->sin,
                            .tokens = x->dims[0], .heads = a->heads, .dim = hone_tensor_cols(x) / a->heads,
                            .rot_dim = a->rot_dim, .interleaved = a->interleaved, .inverse = inverse };

    return hone_kernel_run(ctx, HONE_OP_rope, HONE_PASS_FWD, x->dtype, &args, 0);
}

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor *y = hone_node_output_like(ctx, n, 0, n->in[0]);

    return y ? run(ctx, n, n->in[0], y, false) : HONE_E_NOMEM;
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor *g = hone_tensor_create(ctx->device, n->out[0]->dtype, n->out[0]->ndim, n->out[0]->dims);
    hone_status  st = g ? run(ctx, n, n->out[0]->grad, g, true) : HONE_E_NOMEM;

    if (st == HONE_OK)
        st = hone_grad_add(ctx, n->in[0], g);
    hone_tensor_release(&g);
    return st;
}

static const hone_op_rule rule = { .name = "rope", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward };

hone_tensor *hone_op_rope(hone_ctx *ctx, hone_tensor *x, int64_t heads, const hone_tensor *cos, const hone_tensor *sin,
                       bool interleaved)
{
    attrs a = { hone_tensor_data(cos), hone_tensor_data(sin), heads, 2 * hone_tensor_cols(cos), interleaved };

    return hone_node_apply(ctx, &rule, &x, 1, &a, 1, NULL);
}
