/*
 * nn/attention.h -- self-attention over packed samples, with rotary positions, head norms and a key/value cache.
 */
#ifndef HONE_NN_ATTENTION_H
#define HONE_NN_ATTENTION_H

#include "nn/batch.h"
#include "nn/module.h"
#include "nn/rope.h"
#include "op/op.h"

/* Where q, k and v come from. */
typedef enum hone_qkv {
    HONE_QKV_SPLIT,             /* three matrices */
    HONE_QKV_FUSED,             /* one: all heads of q, then of k, then of v */
    HONE_QKV_FUSED_BY_HEAD      /* one: for each head its q, k and v (as many kv heads as heads) */
} hone_qkv;

/* What is normed in q and k. */
typedef enum hone_qk_norm {
    HONE_QK_NORM_NONE,
    HONE_QK_NORM_HEAD,          /* each head, all with one weight */
    HONE_QK_NORM_EACH_HEAD,     /* each head with a weight of its own */
    HONE_QK_NORM_WHOLE          /* all heads at once */
} hone_qk_norm;

/* What a layer's attention is, beside its weights. Names that are NULL are llama's. */
typedef struct hone_attention_config {
    int64_t  hidden, heads, kv_heads, head_dim;
    hone_qkv qkv;
    bool     qkv_bias, out_bias, conv1d;
    hone_qk_norm   qk_norm;
    hone_norm_spec norm;        /* of q and k */
    bool     norm_after_rope;
    double   clip_qkv;          /* 0 = none: q, k and v are clamped to [-clip, clip] */
    double   scale;             /* of the scores; 0 = 1 / sqrt(head_dim) */
    double   softcap;           /* of the scores; 0 = none */
    int32_t  window;            /* 0 = none */
    float    dropout;
    int      layer;
    const hone_rope_spec *rope; /* outlives the module; NULL = no rotation */
    const hone_rope_spec *query_rope;   /* of q, where it is not that of k; or NULL */
    const char *q, *k, *v;      /* q_proj, k_proj, v_proj; of a fused matrix, `q` is the name (qkv_proj) */
    const char *o;              /* o_proj */
    const char *q_norm, *k_norm;/* q_norm, k_norm */
} hone_attention_config;

typedef struct hone_self_attention {
    hone_linear           q, k, v, o;   /* fused: q is all three */
    hone_norm             q_norm, k_norm;
    hone_attention_config config;
} hone_self_attention;

void hone_build_self_attention(hone_builder *b, hone_self_attention *out, const char *name, const hone_attention_config *c);
/* x [T, hidden] -> residual + attention(x); `residual` may be NULL. */
hone_tensor *hone_self_attention_forward(hone_ctx *ctx, const hone_self_attention *a, hone_tensor *x, hone_tensor *residual,
                                         hone_batch *batch);

/* Names of dropouts: unique within a model. */
enum { HONE_SITE_EMBED = 0, HONE_SITE_ATTENTION = 1, HONE_SITE_ATTENTION_OUT = 2, HONE_SITE_MLP_OUT = 3, HONE_SITES_PER_LAYER = 4 };
static inline uint32_t hone_dropout_site(int layer, int kind) { return (uint32_t)(layer * HONE_SITES_PER_LAYER + kind); }

#endif /* HONE_NN_ATTENTION_H */
