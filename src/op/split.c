#include "op/node.h"
#include "op/op.h"

#include <string.h>

/* Seen as [rows · groups, width], the wide matrix holds the parts as blocks of columns. */
typedef struct attrs { int64_t groups, width, widths[HONE_NODE_MAX_OUT]; } attrs;

/* Copy between column block `i` of the wide matrix and part `i`. */
static hone_status copy_part(hone_ctx *ctx, const attrs *a, hone_tensor *wide, hone_tensor *part, int i, bool to_wide)
{
    int64_t cols = a->widths[i], before = 0;
    char   *block;

    for (int k = 0; k < i; k++)
        before += a->widths[k];
    block = (char *)hone_tensor_data(wide) + (size_t)before * hone_dtype_bytes(wide->dtype);
    return hone_kernel_run(ctx, HONE_OP_copy_columns, HONE_PASS_FWD, wide->dtype,
        &(hone_copy_columns_args){ .x = to_wide ? hone_tensor_data(part) : block, .y = to_wide ? block : hone_tensor_data(part),
            .rows = hone_tensor_rows(wide) * a->groups, .cols = cols, .x_ld = to_wide ? cols : a->width,
            .y_ld = to_wide ? a->width : cols }, 0);
}

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor *x = n->in[0];
    const attrs *a = HONE_ATTRS(attrs, n);

    HONE_CHECK(hone_tensor_cols(x) == a->groups * a->width, HONE_E_SHAPE, "%lld columns do not split into %lld groups of %lld",
               (long long)hone_tensor_cols(x), (long long)a->groups, (long long)a->width);
    for (int i = 0; i < n->n_out; i++) {
        hone_tensor *y = hone_node_output(ctx, n, i, x->dtype, 2, (int64_t[]){ hone_tensor_rows(x), a->groups * a->widths[i] });

        if (!y)
            return HONE_E_NOMEM;
        HONE_TRY(copy_part(ctx, a, x, y, i, false));
    }
    return HONE_OK;
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_tensor *x = n->in[0], *g = hone_tensor_create(ctx->device, x->dtype, x->ndim, x->dims);
    hone_status  st = g ? HONE_OK : HONE_E_NOMEM;

    for (int i = 0; i < n->n_out && st == HONE_OK; i++) {
        if (n->out[i]->grad)
            st = copy_part(ctx, HONE_ATTRS(attrs, n), g, n->out[i]->grad, i, true);
        else
            st = HONE_FAIL(HONE_E_INTERNAL, "part %d of a split got no gradient", i);
    }
    if (st == HONE_OK)
        st = hone_grad_add(ctx, x, g);
    hone_tensor_release(&g);
    return st;
}

static const hone_op_rule rule = { .name = "split", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward };

void hone_op_split(hone_ctx *ctx, hone_tensor *x, int64_t groups, const int64_t *widths, int n, hone_tensor **parts)
{
    attrs a = { .groups = groups };

    HONE_ASSERT(n <= HONE_NODE_MAX_OUT);
    memcpy(a.widths, widths, (size_t)n * sizeof *widths);
    for (int i = 0; i < n; i++)
        a.width += widths[i];
    hone_node_apply(ctx, &rule, &x, 1, &a, n, parts);
}
