#include "nn/attention.h"

#include <math.h>

void hone_build_self_attention(hone_builder *b, hone_self_attention *out, const char *name, const hone_attention_config *c)
{
    out->config = *c;
    hone_build_enter(b, name, "attention");
    hone_build_linear(b, &out->q, "q_proj", c->hidden, c->heads * c->head_dim, c->qkv_bias);
    hone_build_linear(b, &out->k, "k_proj", c->hidden, c->kv_heads * c->head_dim, c->qkv_bias);
    hone_build_linear(b, &out->v, "v_proj", c->hidden, c->kv_heads * c->head_dim, c->qkv_bias);
    hone_build_linear(b, &out->o, "o_proj", c->heads * c->head_dim, c->hidden, c->out_bias);
    if (c->qk_norm) {
        hone_build_rms_norm(b, &out->q_norm, "q_norm", c->head_dim, c->norm_eps);
        hone_build_rms_norm(b, &out->k_norm, "k_norm", c->head_dim, c->norm_eps);
    }
    hone_build_leave(b);
}

hone_tensor *hone_attend(hone_ctx *ctx, const hone_attention_config *c, hone_tensor *q, hone_tensor *k, hone_tensor *v,
                         hone_batch *batch)
{
    hone_attention_pack pack = { batch->cu, batch->cu_keys, batch->sample_ids, batch->samples };
    hone_attention_spec spec = { .heads = c->heads, .kv_heads = c->kv_heads,
                                 .scale = c->scale > 0 ? c->scale : 1 / sqrt((double)c->head_dim),
                                 .mask = { .causal = true, .window = c->window }, .dropout = c->dropout,
                                 .site = hone_dropout_site(c->layer, HONE_SITE_ATTENTION) };

    if (c->rope) {
        const hone_rope_table *table = hone_rope_tables(ctx, batch, c->rope);

        if (!table)
            return ctx->poison;
        q = hone_op_rope(ctx, q, c->heads, table->cos, table->sin, false);
        k = hone_op_rope(ctx, k, c->kv_heads, table->cos, table->sin, false);
    }
    if (batch->cache)
        hone_kv_cache_append(ctx, batch, c->layer, &k, &v);
    return hone_op_attention(ctx, q, k, v, &pack, &spec);
}

hone_tensor *hone_self_attention_forward(hone_ctx *ctx, const hone_self_attention *a, hone_tensor *x, hone_tensor *residual,
                                         hone_batch *batch)
{
    hone_tensor *q = hone_linear_forward(ctx, &a->q, x);
    hone_tensor *k = hone_linear_forward(ctx, &a->k, x);
    hone_tensor *v = hone_linear_forward(ctx, &a->v, x);

    if (a->config.qk_norm) {
        q = hone_norm_forward(ctx, &a->q_norm, q);
        k = hone_norm_forward(ctx, &a->k_norm, k);
    }
    return hone_linear_forward_add(ctx, &a->o, hone_attend(ctx, &a->config, q, k, v, batch), residual);
}
