#include "op/node.h"
#include "op/op.h"
#include "op/param.h"

typedef struct attrs { const int32_t *ids; int64_t n, padding; } attrs;

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    const attrs        *a = HONE_ATTRS(attrs, n);
    hone_tensor        *table = n->in[0], *y;
    hone_embedding_args args = { .ids = a->ids, .table = hone_tensor_data(table), .rows = a->n, .vocab = table->dims[0],
                                 .dim = table->dims[1] };

    for (int64_t i = 0; i < a->n; i++)
        HONE_CHECK(a->ids[i] >= 0 && a->ids[i] < args.vocab, HONE_E_DATA, "entry %lld asks for row %d of %s, which has %lld",
                   (long long)i, a->ids[i], table->param ? table->param->name : "an embedding", (long long)args.vocab);
    y = hone_node_output(ctx, n, 0, table->dtype, 2, (int64_t[]){ a->n, table->dims[1] });
    if (!y)
        return HONE_E_NOMEM;
    args.y = hone_tensor_data(y);
    return hone_kernel_run(ctx, HONE_OP_embedding, HONE_PASS_FWD, table->dtype, &args, 0);
}

static hone_status backward_weight(hone_ctx *ctx, hone_node *n)
{
    const attrs        *a = HONE_ATTRS(attrs, n);
    hone_tensor        *table = n->in[0];
    hone_embedding_args args = { .ids = a->ids, .dy = hone_tensor_data(n->out[0]->grad), .rows = a->n,
                                 .vocab = table->dims[0], .dim = table->dims[1], .padding = a->padding };

    args.dtable = hone_param_grad_target(table, &args.accumulate);
    if (!args.dtable)
        return HONE_OK;
    return hone_kernel_run(ctx, HONE_OP_embedding, HONE_PASS_BWD_WEIGHT, table->dtype, &args, 0);
}

static const hone_op_rule rule = { .name = "embedding", .attrs_size = sizeof(attrs), .forward = forward,
                                   .backward_weight = backward_weight };

hone_tensor *hone_op_embedding(hone_ctx *ctx, hone_tensor *table, const int32_t *ids, int64_t n, int64_t padding)
{
    return hone_node_apply(ctx, &rule, &table, 1, &(attrs){ ids, n, padding }, 1, NULL);
}
