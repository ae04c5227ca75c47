#include "op/node.h"
#include "op/op.h"

typedef struct attrs { int parts; } attrs;

/* Copy between column block `i` of the wide matrix and a narrow one. */
static hone_status copy_block(hone_ctx *ctx, hone_tensor *wide, hone_tensor *narrow, int i, bool to_wide)
{
    int64_t cols = hone_tensor_cols(narrow), ld = hone_tensor_cols(wide);
    char   *block = (char *)hone_tensor_data(wide) + (size_t)(i * cols) * hone_dtype_bytes(wide->dtype);
    hone_copy_columns_args args = { .x = to_wide ? hone_tensor_data(narrow) : block,
                                    .y = to_wide ? block : hone_tensor_data(narrow), .rows = hone_tensor_rows(wide),
                                    .cols = cols, .x_ld = to_wide ? cols : ld, .y_ld = to_wide ? ld : cols };

    return hone_kernel_run(ctx, HONE_OP_copy_columns, HONE_PASS_FWD, wide->dtype, &args, 0);
}

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor *x = n->in[0];
    int          parts = HONE_ATTRS(attrs, n)->parts;

    HONE_CHECK(hone_tensor_cols(x) % parts == 0, HONE_E_SHAPE, "%lld columns do not split into %d equal parts",
               (long long)hone_tensor_cols(x), parts);
    for (int i = 0; i < parts; i++) {
        hone_tensor *y = hone_node_output(ctx, n, i, x->dtype, 2, (int64_t[]){ x->dims[0], hone_tensor_cols(x) / parts });

        if (!y)
            return HONE_E_NOMEM;
        HONE_TRY(copy_block(ctx, x, y, i, false));
    }
    return HONE_OK;
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor *x = n->in[0], *g = hone_tensor_create(ctx->device, x->dtype, x->ndim, x->dims);
    hone_status  st = g ? HONE_OK : HONE_E_NOMEM;

    for (int i = 0; i < n->n_out && st == HONE_OK; i++) {
        if (n->out[i]->grad)
            st = copy_block(ctx, g, n->out[i]->grad, i, true);
        else
            st = HONE_FAIL(HONE_E_INTERNAL, "part %d of a split got no gradient", i);
    }
    if (st == HONE_OK)
        st = hone_grad_add(ctx, x, g);
    hone_tensor_release(&g);
    return st;
}

static const hone_op_rule rule = { .name = "split", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward };

void hone_op_split(hone_ctx *ctx, hone_tensor *x, int n, hone_tensor **parts)
{
    hone_node_apply(ctx, &rule, &x, 1, &(attrs){ n }, n, parts);
}
