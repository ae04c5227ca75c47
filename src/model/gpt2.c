/* GPT-2 (Radford et al. 2019): learned positions, layer norms, fused qkv stored as [in, out], dropouts of its own. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/family.h"
#include "nn/attention.h"

typedef struct gpt2_block {
    hone_norm             ln_1, ln_2;
    hone_linear           c_attn, attn_proj, c_fc, mlp_proj;
    hone_attention_config attention;
} gpt2_block;

typedef struct gpt2 {
    hone_param *wte, *wpe;
    hone_norm   ln_f;
    hone_act    act;
    float       embd_pdrop, resid_pdrop;
    gpt2_block  blocks[];
} gpt2;

static hone_tensor *embed(hone_ctx *ctx, const hone_model *m, hone_batch *batch)
{
    const gpt2  *g = m->state;
    hone_tensor *tokens = hone_op_embedding(ctx, g->wte->value, batch->ids, batch->tokens);
    hone_tensor *places = hone_op_embedding(ctx, g->wpe->value, batch->positions, batch->tokens);

    return hone_op_dropout(ctx, hone_op_add(ctx, tokens, places, 1), batch->token_samples, batch->positions, g->embd_pdrop,
                           hone_dropout_site(m->blocks, HONE_SITE_EMBED));
}

/* h + dropout(linear(x)): one op where there is no dropout. */
static hone_tensor *project_add(hone_ctx *ctx, const gpt2 *g, const hone_linear *l, hone_tensor *x, hone_tensor *h,
                                const hone_batch *batch, uint32_t site)
{
    if (!ctx->training || g->resid_pdrop <= 0)
        return hone_linear_forward_add(ctx, l, x, h);
    x = hone_op_dropout(ctx, hone_linear_forward(ctx, l, x), batch->token_samples, batch->positions, g->resid_pdrop, site);
    return hone_op_add(ctx, h, x, 1);
}

static hone_tensor *block(hone_ctx *ctx, const hone_model *m, int i, hone_tensor *h, hone_batch *batch)
{
    const gpt2       *g = m->state;
    const gpt2_block *b = &g->blocks[i];
    int64_t           hidden = b->attention.hidden;
    hone_tensor      *qkv[3], *x;

    hone_op_split(ctx, hone_linear_forward(ctx, &b->c_attn, hone_norm_forward(ctx, &b->ln_1, h)), 1,
                  (int64_t[]){ hidden, hidden, hidden }, 3, qkv);
    x = hone_attend(ctx, &b->attention, qkv[0], qkv[1], qkv[2], batch);
    h = project_add(ctx, g, &b->attn_proj, x, h, batch, hone_dropout_site(i, HONE_SITE_ATTENTION_OUT));
    x = hone_op_activation(ctx, hone_linear_forward(ctx, &b->c_fc, hone_norm_forward(ctx, &b->ln_2, h)), g->act);
    return project_add(ctx, g, &b->mlp_proj, x, h, batch, hone_dropout_site(i, HONE_SITE_MLP_OUT));
}

static hone_tensor *final(hone_ctx *ctx, const hone_model *m, hone_tensor *h)
{
    return hone_norm_forward(ctx, &((const gpt2 *)m->state)->ln_f, h);
}

static const hone_model_ops gpt2_ops = { embed, block, final };

static void build_block(hone_builder *b, gpt2_block *block, int i, int64_t hidden, int64_t inner, double eps)
{
    char name[32];

    snprintf(name, sizeof name, "transformer.h.%d", i);
    hone_build_unit(b, name);
    snprintf(name, sizeof name, "h.%d", i);
    hone_build_enter(b, name, "block");
    hone_build_layer_norm(b, &block->ln_1, "ln_1", hidden, eps);
    hone_build_enter(b, "attn", "attention");
    hone_build_conv1d(b, &block->c_attn, "c_attn", hidden, 3 * hidden);
    hone_build_conv1d(b, &block->attn_proj, "c_proj", hidden, hidden);
    hone_build_leave(b);
    hone_build_layer_norm(b, &block->ln_2, "ln_2", hidden, eps);
    hone_build_enter(b, "mlp", "mlp");
    hone_build_conv1d(b, &block->c_fc, "c_fc", hidden, inner);
    hone_build_conv1d(b, &block->mlp_proj, "c_proj", inner, hidden);
    hone_build_leave(b);
    hone_build_leave(b);
}

static void build_modules(hone_model *m, hone_builder *b, gpt2 *g, int64_t inner, double eps)
{
    hone_linear head;

    hone_build_unit(b, "embedding");
    hone_build_enter(b, "transformer", "decoder");
    g->wte = hone_build_embedding(b, "wte", m->vocab, m->hidden);
    g->wpe = hone_build_embedding(b, "wpe", m->max_positions, m->hidden);
    for (int i = 0; i < m->blocks; i++)
        build_block(b, &g->blocks[i], i, m->hidden, inner, eps);
    hone_build_unit(b, "final");
    hone_build_layer_norm(b, &g->ln_f, "ln_f", m->hidden, eps);
    hone_build_leave(b);
    m->head = g->wte;
    if (!m->tied) {
        hone_build_linear(b, &head, "lm_head", m->hidden, m->vocab, false);
        m->head = head.weight;
    }
}

static hone_status build(hone_model *m, hone_builder *b, hone_config *c, double dropout)
{
    static const char *const neutral[] = { "n_ctx", "summary_type", "summary_use_proj", "summary_activation",
        "summary_proj_to_labels", "summary_first_dropout", "reorder_and_upcast_attn" };
    int64_t layers = hone_config_int(c, "n_layer", 12, 1, 1 << 14), heads = hone_config_int(c, "n_head", 12, 1, 1 << 16);
    bool    scaled = hone_config_bool(c, "scale_attn_weights", true);
    bool    by_layer = hone_config_bool(c, "scale_attn_by_inverse_layer_idx", false);
    float   attn_pdrop = hone_config_probability(c, "attn_pdrop", 0.1);
    double  eps = hone_config_epsilon(c, "layer_norm_epsilon", 1e-5);
    gpt2   *g = hone_calloc(1, sizeof *g + (size_t)layers * sizeof g->blocks[0]);
    int64_t inner;

    if (!g)
        return HONE_E_NOMEM;
    m->state = g;
    m->ops = &gpt2_ops;
    m->blocks = (int)layers;
    m->vocab = hone_config_int(c, "vocab_size", 50257, 1, INT32_MAX);
    m->hidden = hone_config_int(c, "n_embd", 768, 1, 1 << 24);
    m->max_positions = hone_config_int(c, "n_positions", 1024, 1, INT32_MAX);
    m->tied = hone_config_bool(c, "tie_word_embeddings", true);
    inner = hone_config_int(c, "n_inner", 4 * m->hidden, 1, 1 << 24);
    g->act = hone_config_act(c, "activation_function", "gelu_new");
    g->embd_pdrop = hone_config_probability(c, "embd_pdrop", 0.1);
    g->resid_pdrop = hone_config_probability(c, "resid_pdrop", 0.1);
    hone_config_ignore(c, neutral, HONE_COUNTOF(neutral));
    if (c->status == HONE_OK && m->hidden % heads != 0)
        hone_config_refuse(c, "n_embd %lld is no multiple of n_head %lld", (long long)m->hidden, (long long)heads);
    if (c->status != HONE_OK)
        return c->status;
    if (dropout >= 0)
        g->embd_pdrop = g->resid_pdrop = attn_pdrop = (float)dropout;
    for (int i = 0; i < layers; i++)
        g->blocks[i].attention = (hone_attention_config){ .hidden = m->hidden, .heads = heads, .kv_heads = heads,
            .head_dim = m->hidden / heads, .dropout = attn_pdrop, .layer = i,
            .scale = (scaled ? 1 / sqrt((double)(m->hidden / heads)) : 1) / (by_layer ? i + 1 : 1) };
    build_modules(m, b, g, inner, eps);
    return b->status;
}

static const char *const buffers[] = { ".attn.bias", ".attn.masked_bias", NULL };

const hone_family hone_family_gpt2 = { "gpt2", "transformer.", buffers, build };
