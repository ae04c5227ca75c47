/*
 * op/op.h -- the differentiable ops, as model code writes them.
 *
 * Each takes and returns borrowed tensors of the current scope and uses the context's sticky status: on a failed context it
 * does nothing and returns the poison. Tensors are token-major: a micro-batch is a flat list of T tokens. `x` may have any
 * leading shape; "rows" is the product of all dimensions but the last.
 */
#ifndef HONE_OP_OP_H
#define HONE_OP_OP_H

#include "base/ctx.h"
#include "op/kernel.h"
#include "tensor/tensor.h"

/* table [V, D], ids [T] (int32 on the device, alive as long as the tape) -> [T, D] in the table's dtype. An id out of
 * range fails the context with E_DATA. The row of id `padding` (-1: none) gets no gradient from here. */
hone_tensor *hone_op_embedding(hone_ctx *ctx, hone_tensor *table, const int32_t *ids, int64_t n, int64_t padding);

/* x [.., K], w [N, K] (or [K, N] with w_is_kn), bias [N] or NULL -> [.., N]; `residual` [.., N], or NULL, is added before
 * rounding. */
hone_tensor *hone_op_linear(hone_ctx *ctx, hone_tensor *x, hone_tensor *w, hone_tensor *bias, bool w_is_kn,
                             hone_tensor *residual);

/* A language-model head: logits y = softcap · tanh(z / softcap), z = scale · (x wᵀ + bias). A zeroed struct with only `weight` is
 * the plain head. */
typedef struct hone_head {
    hone_tensor *weight;        /* [V, K] */
    hone_tensor *bias;          /* [V], or NULL */
    double       scale;         /* 0 means 1 */
    double       softcap;       /* 0 = none (Bello et al. 2016) */
} hone_head;

/* x [.., K] -> logits [rows, V] in the accumulation type. Has no backward: for generation and comparison. */
hone_tensor *hone_op_logits(hone_ctx *ctx, hone_tensor *x, const hone_head *head);

/* x [.., n·dim]: each run of `dim` elements x / sqrt(mean(x²) + eps) · (w + w_offset)  (Zhang & Sennrich 2019). w [dim] for all
 * runs, or [G, dim] (G divides n): run r of a row uses w[r % G]; NULL = no weight, a factor of 1. n > 1 norms each head. */
hone_tensor *hone_op_rms_norm(hone_ctx *ctx, hone_tensor *x, hone_tensor *w, int64_t dim, double eps, float w_offset);
/* The same with (x - mean) / sqrt(variance + eps) · (w + w_offset) + bias  (Ba et al. 2016); bias has the shape of w, or is NULL
 * (as it must be without w). */
hone_tensor *hone_op_layer_norm(hone_ctx *ctx, hone_tensor *x, hone_tensor *w, hone_tensor *bias, int64_t dim, double eps,
                                float w_offset);

/* x [T, heads·D]; cos and sin [T, rot_dim/2] f32 on the device, alive as long as the tape (Su et al. 2021). */
hone_tensor *hone_op_rope(hone_ctx *ctx, hone_tensor *x, int64_t heads, const hone_tensor *cos, const hone_tensor *sin,
                       bool interleaved);

/* What attention needs to know of the packing; arrays are on the device and outlive the tape. */
typedef struct hone_attention_pack {
    const int32_t *cu_q, *cu_k;     /* [samples + 1] */
    const int32_t *sample_ids;      /* [samples] */
    int64_t        samples;
} hone_attention_pack;

typedef struct hone_attention_spec {
    int64_t   heads, kv_heads;
    double    scale;
    double    softcap;              /* scores become softcap · tanh(scale · q·k / softcap) before the mask; 0 = none */
    hone_mask mask;
    float     dropout;              /* on probabilities, while the context trains */
    uint32_t  site;                 /* names this dropout */
} hone_attention_spec;

/* q [Tq, heads·D], k [Tk, kv_heads·D], v [Tk, kv_heads·Dv] -> [Tq, heads·Dv]. */
hone_tensor *hone_op_attention(hone_ctx *ctx, hone_tensor *q, hone_tensor *k, hone_tensor *v, const hone_attention_pack *pack,
                            const hone_attention_spec *spec);

hone_tensor *hone_op_activation(hone_ctx *ctx, hone_tensor *x, hone_act act);
/* act(gate) · up, both [.., F]. */
hone_tensor *hone_op_glu(hone_ctx *ctx, hone_tensor *gate, hone_tensor *up, hone_act act);
/* The same where gate and up are one matrix: x [T, 2F] = [gate | up] -> [T, F]. */
hone_tensor *hone_op_glu_fused(hone_ctx *ctx, hone_tensor *x, hone_act act);
/* xIELU with the parameters alpha_p and alpha_n [1]; formula in op/kernel.h. */
hone_tensor *hone_op_xielu(hone_ctx *ctx, hone_tensor *x, hone_tensor *alpha_p, hone_tensor *alpha_n);
/* a + factor · b, in the accumulation type and rounded once. */
hone_tensor *hone_op_add(hone_ctx *ctx, hone_tensor *a, hone_tensor *b, double factor);
/* factor · x. */
hone_tensor *hone_op_scale(hone_ctx *ctx, hone_tensor *x, double factor);
/* x cut to [-limit, limit]; the gradient passes strictly within. */
hone_tensor *hone_op_clamp(hone_ctx *ctx, hone_tensor *x, double limit);
/* x [T, D]; sample_ids and positions [T]. Off (returns x) unless the context trains and p > 0. */
hone_tensor *hone_op_dropout(hone_ctx *ctx, hone_tensor *x, const int32_t *sample_ids, const int32_t *positions, float p,
                             uint32_t site);

/* x [T, groups·Σ widths], each group [part 0 | part 1 | ..] -> n tensors parts[i] [T, groups·widths[i]], copies. At most
 * HONE_NODE_MAX_OUT (op/node.h) parts. */
void         hone_op_split(hone_ctx *ctx, hone_tensor *x, int64_t groups, const int64_t *widths, int n, hone_tensor **parts);

/*
 * Head and loss in one, in chunks of tokens: no buffer of T × V. x [T, K]; labels [T] on the host, −100 = none,
 * already shifted (labels[t] is what token t predicts). Returns nll [T] in the accumulation type, 0 where unlabelled.
 * `weights` (T doubles, or NULL): gradient of the total loss by each nll, where it is known beforehand: then a recording
 * context makes the gradients in the same pass (those of the head's weight and bias go to them at once).
 */
hone_tensor *hone_op_linear_cross_entropy(hone_ctx *ctx, hone_tensor *x, const hone_head *head, const int32_t *labels,
                                       const double *weights);

#endif /* HONE_OP_OP_H */
