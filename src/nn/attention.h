/*
 * nn/attention.h -- self-attention over packed samples, with rotary positions, head norms and a key/value cache.
 */
#ifndef HONE_NN_ATTENTION_H
#define HONE_NN_ATTENTION_H

#include "nn/batch.h"
#include "nn/module.h"
#include "nn/rope.h"
#include "op/op.h"

/* What a layer's attention is, beside its weights. */
typedef struct hone_attention_config {
    int64_t hidden, heads, kv_heads, head_dim;
    bool    qkv_bias, out_bias;
    bool    qk_norm;                /* rms_norm on each head of q and k before the rotation */
    double  norm_eps;
    double  scale;                  /* 0 = 1 / sqrt(head_dim) */
    int32_t window;                 /* 0 = none */
    float   dropout;
    int     layer;
    const hone_rope_spec *rope;     /* outlives the module; NULL = no rotation */
} hone_attention_config;

typedef struct hone_self_attention {
    hone_linear           q, k, v, o;
    hone_norm             q_norm, k_norm;
    hone_attention_config config;
} hone_self_attention;

/* Declares NAME.q_proj, k_proj, v_proj, o_proj (and q_norm, k_norm). */
void hone_build_self_attention(hone_builder *b, hone_self_attention *out, const char *name, const hone_attention_config *c);
/* x [T, hidden] -> residual + attention(x). */
hone_tensor *hone_self_attention_forward(hone_ctx *ctx, const hone_self_attention *a, hone_tensor *x, hone_tensor *residual,
                                         hone_batch *batch);

/* From projected q [T, heads·D], k, v [T, kv_heads·D] to the heads' outputs: rotation, cache, attention. */
hone_tensor *hone_attend(hone_ctx *ctx, const hone_attention_config *c, hone_tensor *q, hone_tensor *k, hone_tensor *v,
                         hone_batch *batch);

/* Names of dropouts: unique within a model. */
enum { HONE_SITE_EMBED = 0, HONE_SITE_ATTENTION = 1, HONE_SITE_ATTENTION_OUT = 2, HONE_SITE_MLP_OUT = 3, HONE_SITES_PER_LAYER = 4 };
static inline uint32_t hone_dropout_site(int layer, int kind) { return (uint32_t)(layer * HONE_SITES_PER_LAYER + kind); }

#endif /* HONE_NN_ATTENTION_H */
