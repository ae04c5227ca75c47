#include "nn/decoder.h"

#include <stdio.h>

#include "base/mem.h"

typedef struct decoder_block {
    hone_norm           input_norm, post_attention_norm;
    hone_self_attention attention;
    hone_gated_mlp      mlp;
} decoder_block;

typedef struct decoder {
    hone_param    *embedding;
    hone_norm      norm;
    hone_rope_spec rope;
    decoder_block  blocks[];
} decoder;

static hone_tensor *embed(hone_ctx *ctx, const hone_model *m, hone_batch *batch)
{
    const decoder *d = m->state;

    return hone_op_embedding(ctx, d->embedding->value, batch->ids, batch->tokens);
}

static hone_tensor *block(hone_ctx *ctx, const hone_model *m, int i, hone_tensor *h, hone_batch *batch)
{
    const decoder_block *b = &((const decoder *)m->state)->blocks[i];

    h = hone_self_attention_forward(ctx, &b->attention, hone_norm_forward(ctx, &b->input_norm, h), h, batch);
    return hone_gated_mlp_forward(ctx, &b->mlp, hone_norm_forward(ctx, &b->post_attention_norm, h), h);
}

static hone_tensor *final(hone_ctx *ctx, const hone_model *m, hone_tensor *h)
{
    return hone_norm_forward(ctx, &((const decoder *)m->state)->norm, h);
}

static const hone_model_ops decoder_ops = { embed, block, final };

static void build_block(hone_builder *b, decoder *d, const hone_decoder_config *c, int i)
{
    decoder_block        *block = &d->blocks[i];
    hone_attention_config attention = {
        .hidden = c->hidden, .heads = c->heads, .kv_heads = c->kv_heads, .head_dim = c->head_dim, .qkv_bias = c->qkv_bias,
        .out_bias = c->out_bias, .qk_norm = c->qk_norm, .norm_eps = c->norm_eps, .window = c->windows[i],
        .dropout = c->attention_dropout, .layer = i, .rope = &d->rope,
    };
    char name[48];

    snprintf(name, sizeof name, "model.layers.%d", i);
    hone_build_unit(b, name);
    snprintf(name, sizeof name, "layers.%d", i);
    hone_build_enter(b, name, "block");
    hone_build_self_attention(b, &block->attention, "self_attn", &attention);
    hone_build_gated_mlp(b, &block->mlp, "mlp", c->hidden, c->intermediate, c->act, c->mlp_bias);
    hone_build_rms_norm(b, &block->input_norm, "input_layernorm", c->hidden, c->norm_eps);
    hone_build_rms_norm(b, &block->post_attention_norm, "post_attention_layernorm", c->hidden, c->norm_eps);
    hone_build_leave(b);
}

hone_status hone_decoder_build(hone_model *m, hone_builder *b, const hone_decoder_config *c)
{
    decoder    *d = hone_calloc(1, sizeof *d + (size_t)c->layers * sizeof d->blocks[0]);
    hone_linear head;

    if (!d)
        return HONE_E_NOMEM;
    m->state = d;
    m->ops = &decoder_ops;
    m->blocks = (int)c->layers;
    m->vocab = c->vocab;
    m->hidden = c->hidden;
    m->tied = c->tied;
    d->rope = c->rope;
    m->rated_positions = c->positions;
    hone_build_unit(b, "embedding");
    hone_build_enter(b, "model", "decoder");
    d->embedding = hone_build_embedding(b, "embed_tokens", c->vocab, c->hidden);
    for (int i = 0; i < m->blocks; i++)
        build_block(b, d, c, i);
    hone_build_unit(b, "final");
    hone_build_rms_norm(b, &d->norm, "norm", c->hidden, c->norm_eps);
    hone_build_leave(b);
    m->head = d->embedding;
    if (!c->tied) {
        hone_build_linear(b, &head, "lm_head", c->hidden, c->vocab, false);
        m->head = head.weight;
    }
    return b->status;
}
