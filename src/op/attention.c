#include "op/node.h"
#include "op/op.h"

typedef struct attrs {
    hone_attention_pack pack;
    hone_attention_spec spec;
    uint64_t            dropout_key;
    double              flops;      /* of one forward pass */
} attrs;

enum { Q, K, V };
enum { OUT, LSE };

static hone_attention_args arguments(const hone_node *n)
{
    const attrs *a = HONE_ATTRS(attrs, n);

    return (hone_attention_args){
        .q = hone_tensor_data(n->in[Q]), .k = hone_tensor_data(n->in[K]), .v = hone_tensor_data(n->in[V]),
        .cu_q = a->pack.cu_q, .cu_k = a->pack.cu_k, .sample_ids = a->pack.sample_ids, .samples = a->pack.samples,
        .heads = a->spec.heads, .kv_heads = a->spec.kv_heads, .dim = hone_tensor_cols(n->in[Q]) / a->spec.heads,
        .v_dim = hone_tensor_cols(n->in[V]) / a->spec.kv_heads, .scale = a->spec.scale, .softcap = a->spec.softcap,
        .mask = a->spec.mask,
        .dropout = { a->spec.dropout, a->dropout_key, a->spec.site },
    };
}

/* Two products per visible pair of query and key. */
static double count_flops(const hone_ctx *ctx, const attrs *a, int64_t dim, int64_t v_dim)
{
    double pairs = 0;

    if (!hone_device_has_data(ctx->device) && !a->pack.cu_q)
        return 0;
    for (int64_t s = 0; s < a->pack.samples; s++) {
        double nq = a->pack.cu_q[s + 1] - a->pack.cu_q[s], nk = a->pack.cu_k[s + 1] - a->pack.cu_k[s];
        double all = a->spec.mask.causal ? nq * nk - nq * (nq - 1) / 2 : nq * nk;
        double w = a->spec.mask.window;

        pairs += w > 0 && w < nk ? HONE_MIN(all, nq * w) : all;
    }
    return 2 * pairs * (double)(a->spec.heads * (dim + v_dim));
}

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    attrs              *a = HONE_ATTRS(attrs, n);
    hone_attention_args args = arguments(n);
    int64_t             tq = n->in[Q]->dims[0];
    hone_dtype          dtype = n->in[Q]->dtype;
    hone_tensor        *out = hone_node_output(ctx, n, OUT, dtype, 2, (int64_t[]){ tq, args.heads * args.v_dim });
    hone_tensor        *lse = hone_node_output(ctx, n, LSE, hone_acc_dtype(dtype), 2, (int64_t[]){ tq, args.heads });

    if (!out || !lse)
        return HONE_E_NOMEM;
    a->flops = count_flops(ctx, a, args.dim, args.v_dim);
    args.out = hone_tensor_data(out);
    args.lse = hone_tensor_data(lse);
    return hone_kernel_run(ctx, HONE_OP_attention, HONE_PASS_FWD, dtype, &args, a->flops);
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    hone_attention_args args = arguments(n);
    hone_tensor        *grads[3] = { NULL, NULL, NULL };
    hone_status         st = HONE_OK;

    for (int i = 0; i < 3; i++) {
        grads[i] = hone_tensor_create(ctx->device, n->in[i]->dtype, n->in[i]->ndim, n->in[i]->dims);
        HONE_GO(grads[i] ? HONE_OK : HONE_E_NOMEM);
    }
    args.lse = hone_tensor_data(n->out[LSE]);
    args.dout = hone_tensor_data(n->out[OUT]->grad);
    args.dq = hone_tensor_data(grads[Q]);
    args.dk = hone_tensor_data(grads[K]);
    args.dv = hone_tensor_data(grads[V]);
    /* dV, dP, dQ, dK, and the scores; scores and dP once before that, for what ds subtracts */
    HONE_GO(hone_kernel_run(ctx, HONE_OP_attention, HONE_PASS_BWD, n->in[Q]->dtype, &args,
                            3.5 * HONE_ATTRS(attrs, n)->flops));
    for (int i = 0; i < 3; i++)
        HONE_GO(hone_grad_add(ctx, n->in[i], grads[i]));
out:
    for (int i = 0; i < 3; i++)
        hone_tensor_release(&grads[i]);
    return st;
}

static const hone_op_rule rule = { .name = "attention", .attrs_size = sizeof(attrs), .forward = forward, .backward = backward,
    .needs_in = 1u << Q | 1u << K | 1u << V, .needs_out = 1u << LSE, .keep = true };

hone_tensor *hone_op_attention(hone_ctx *ctx, hone_tensor *q, hone_tensor *k, hone_tensor *v, const hone_attention_pack *pack,
                            const hone_attention_spec *spec)
{
    attrs a = { .pack = *pack, .spec = *spec, .dropout_key = ctx->dropout_key };

    if (!ctx->training)
        a.spec.dropout = 0;
    return hone_node_apply(ctx, &rule, (hone_tensor *[]){ q, k, v }, 3, &a, 2, NULL);
}
