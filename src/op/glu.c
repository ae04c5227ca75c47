#include "op/node.h"
#include "op/op.h"

typedef struct attrs { hone_act act; } attrs;

enum { GATE, UP };

static hone_glu_args arguments(const hone_node *n)
{
    return (hone_glu_args){ .act = HONE_ATTRS(attrs, n)->act, .gate = hone_tensor_data(n->in[GATE]),
                            .up = hone_tensor_data(n->in[UP]), .ld = hone_tensor_cols(n->in[GATE]),
                            .rows = hone_tensor_rows(n->in[GATE]), .dim = hone_tensor_cols(n->in[GATE]) };
}

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_glu_args args = arguments(n);
    hone_tensor  *y;

    HONE_CHECK(hone_tensor_numel(n->in[GATE]) == hone_tensor_numel(n->in[UP]), HONE_E_SHAPE,
               "the two halves of a gated unit differ in size");
    y = hone_node_output_like(ctx, n, 0, n->in[GATE]);
    if (!y)
        return HONE_E_NOMEM;
    args.y = hone_tensor_data(y);
    return hone_kernel_run(ctx, HONE_OP_glu, HONE_PASS_FWD, y->dtype, &args, 0);
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor  *gate = n->in[GATE], *up = n->in[UP];
    hone_tensor  *dgate = hone_tensor_create(ctx->device, gate->dtype, gate->ndim, gate->dims);
    hone_tensor  *dup = hone_tensor_create(ctx->device, up->dtype, up->ndim, up->dims);
    hone_glu_args args = arguments(n);
    hone_status   st = HONE_E_NOMEM;

    if (!dgate || !dup)
        goto out;
    args.dy = hone_tensor_data(n->out[0]->grad);
    args.dgate = hone_tensor_data(dgate);
    args.dup = hone_tensor_data(dup);
    HONE_GO(hone_kernel_run(ctx, HONE_OP_glu, HONE_PASS_BWD, gate->dtype, &args, 0));
    HONE_GO(hone_grad_add(ctx, gate, dgate));
    HONE_GO(hone_grad_add(ctx, up, dup));
out:
    hone_tensor_release(&dgate);
    hone_tensor_release(&dup);
    return st;
}

static const hone_op_rule rule = { .name = "glu", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward,
                                   .needs_in = 1u << GATE | 1u << UP, .cheap = true };

hone_tensor *hone_op_glu(hone_ctx *ctx, hone_tensor *gate, hone_tensor *up, hone_act act)
{
    return hone_node_apply(ctx, &rule, (hone_tensor *[]){ gate, up }, 2, &(attrs){ act }, 1, NULL);
}

/* ---- both halves in one matrix: the kernels take a row stride */
static void *right_half(const hone_tensor *x)
{
    return (char *)hone_tensor_data(x) + (size_t)(hone_tensor_cols(x) / 2) * hone_dtype_bytes(x->dtype);
}

static hone_glu_args fused_arguments(const hone_node *n)
{
    const hone_tensor *x = n->in[0];

    return (hone_glu_args){ .act = HONE_ATTRS(attrs, n)->act, .gate = hone_tensor_data(x), .up = right_half(x),
                            .ld = hone_tensor_cols(x), .rows = hone_tensor_rows(x), .dim = hone_tensor_cols(x) / 2 };
}

static hone_status fused_forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor  *x = n->in[0], *y;
    hone_glu_args args = fused_arguments(n);

    HONE_CHECK(hone_tensor_cols(x) % 2 == 0, HONE_E_SHAPE, "the two halves of a gated unit have %lld columns together",
               (long long)hone_tensor_cols(x));
    y = hone_node_output(ctx, n, 0, x->dtype, 2, (int64_t[]){ args.rows, args.dim });
    if (!y)
        return HONE_E_NOMEM;
    args.y = hone_tensor_data(y);
    return hone_kernel_run(ctx, HONE_OP_glu, HONE_PASS_FWD, x->dtype, &args, 0);
}

static hone_status fused_backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor  *x = n->in[0], *g = hone_tensor_create(ctx->device, x->dtype, x->ndim, x->dims);
    hone_glu_args args = fused_arguments(n);
    hone_status   st = HONE_E_NOMEM;

    if (g) {
        args.dy = hone_tensor_data(n->out[0]->grad);
        args.dgate = hone_tensor_data(g);
        args.dup = right_half(g);
        st = hone_kernel_run(ctx, HONE_OP_glu, HONE_PASS_BWD, x->dtype, &args, 0);
    }
    if (st == HONE_OK)
        st = hone_grad_add(ctx, x, g);
    hone_tensor_release(&g);
    return st;
}

static const hone_op_rule fused_rule = { .name = "glu_fused", .attrs_size = sizeof(attrs), .forward = fused_forward,
                                         .backward = fused_backward, .needs_in = 1, .cheap = true };

hone_tensor *hone_op_glu_fused(hone_ctx *ctx, hone_tensor *x, hone_act act)
{
    return hone_node_apply(ctx, &fused_rule, &x, 1, &(attrs){ act }, 1, NULL);
}
