#include "nn/decoder.h"

#include <stdio.h>

#include "base/mem.h"
#include "nn/describe.h"

typedef struct decoder_block {
    hone_norm           attention_in, attention_out, mlp_in, mlp_out;
    hone_self_attention attention;
    hone_mlp            mlp;
} decoder_block;

typedef struct decoder {
    hone_param    *embedding, *positions;
    int64_t        padding;
    hone_norm      embed_norm, norm;
    hone_rope_spec rope[HONE_DECODER_ROPES];
    double         embed_scale, residual_scale;
    float          embed_dropout, attention_out_dropout, mlp_out_dropout;
    bool           parallel;
    decoder_block  blocks[];
} decoder;

static hone_tensor *embed(hone_ctx *ctx, const hone_model *m, hone_batch *batch)
{
    const decoder *d = m->state;
    hone_tensor   *h = hone_op_embedding(ctx, d->embedding->value, batch->ids, batch->tokens, d->padding);

    if (d->positions)
        h = hone_op_add(ctx, h, hone_op_embedding(ctx, d->positions->value, batch->positions, batch->tokens, -1), 1);
    if (d->embed_scale != 1)
        h = hone_op_scale(ctx, h, d->embed_scale);
    h = hone_op_dropout(ctx, h, batch->token_samples, batch->positions, d->embed_dropout,
                        hone_dropout_site(m->blocks, HONE_SITE_EMBED));
    return hone_norm_forward(ctx, &d->embed_norm, h);
}

/* What stands between a layer's last product and the residual stream. Where nothing does, the product adds the stream before
 * rounding. */
typedef struct junction { const hone_norm *norm; float dropout; uint32_t site; bool direct; } junction;

static junction junction_of(const hone_ctx *ctx, const decoder *d, const hone_norm *norm, float dropout, uint32_t site)
{
    bool drops = ctx->training && dropout > 0;

    return (junction){ norm, dropout, site, norm->dim == 0 && d->residual_scale == 1 && !drops };
}

/* h + s · dropout(norm(y)); where the junction is direct, y has h in it. */
static hone_tensor *join(hone_ctx *ctx, const decoder *d, const junction *j, hone_tensor *h, hone_tensor *y,
                         const hone_batch *batch)
{
    if (j->direct)
        return y;
    y = hone_norm_forward(ctx, j->norm, y);
    y = hone_op_dropout(ctx, y, batch->token_samples, batch->positions, j->dropout, j->site);
    return hone_op_add(ctx, h, y, d->residual_scale);
}

static hone_tensor *block(hone_ctx *ctx, const hone_model *m, int i, hone_tensor *h, hone_batch *batch)
{
    const decoder       *d = m->state;
    const decoder_block *b = &d->blocks[i];
    junction attention = junction_of(ctx, d, &b->attention_out, d->attention_out_dropout, hone_dropout_site(i, HONE_SITE_ATTENTION_OUT));
    junction mlp = junction_of(ctx, d, &b->mlp_out, d->mlp_out_dropout, hone_dropout_site(i, HONE_SITE_MLP_OUT));
    hone_tensor *in = hone_norm_forward(ctx, &b->attention_in, h), *mlp_in = NULL, *y;

    if (d->parallel)
        mlp_in = b->mlp_in.dim > 0 ? hone_norm_forward(ctx, &b->mlp_in, h) : in;
    y = hone_self_attention_forward(ctx, &b->attention, in, attention.direct ? h : NULL, batch);
    h = join(ctx, d, &attention, h, y, batch);
    if (!d->parallel)
        mlp_in = hone_norm_forward(ctx, &b->mlp_in, h);
    y = hone_mlp_forward(ctx, &b->mlp, mlp_in, mlp.direct ? h : NULL);
    return join(ctx, d, &mlp, h, y, batch);
}

static hone_tensor *final(hone_ctx *ctx, const hone_model *m, hone_tensor *h)
{
    return hone_norm_forward(ctx, &((const decoder *)m->state)->norm, h);
}

static void describe_norms(hone_str *out, const decoder_block *b)
{
    const hone_norm         *norms[] = { &b->attention_in, &b->attention_out, &b->mlp_in, &b->mlp_out };
    static const char *const places[] = { "before attention", "behind attention", "before mlp", "behind mlp" };
    bool                     any = false;

    for (size_t i = 0; i < HONE_COUNTOF(norms); i++) {
        if (norms[i]->dim == 0)
            continue;
        if (!any)
            hone_describe_norm(out, &norms[i]->spec);
        hone_str_printf(out, "%s%s", any ? ", " : " ", places[i]);
        any = true;
    }
}

static void describe_dropout(hone_str *out, const char *what, float p)
{
    if (p > 0)
        hone_str_printf(out, "; %s dropout %g", what, (double)p);
}

static void describe_block(hone_str *out, const hone_model *m, int i)
{
    const decoder       *d = m->state;
    const decoder_block *b = &d->blocks[i];

    hone_describe_attention(out, &b->attention.config);
    hone_str_puts(out, d->parallel ? "; beside it " : "; then ");
    hone_describe_mlp(out, &b->mlp.config);
    hone_str_puts(out, "; ");
    describe_norms(out, b);
    if (d->residual_scale != 1)
        hone_str_printf(out, "; added x %g", d->residual_scale);
    describe_dropout(out, "attention output", d->attention_out_dropout);
    describe_dropout(out, "mlp output", d->mlp_out_dropout);
}

static void describe(hone_str *out, const hone_model *m)
{
    const decoder *d = m->state;

    hone_str_printf(out, "%lld tokens in, hidden size %lld", (long long)m->vocab, (long long)m->hidden);
    if (d->positions)
        hone_str_printf(out, ", %lld learned positions", (long long)m->max_positions);
    if (d->embed_scale != 1)
        hone_str_printf(out, ", embeddings x %.6g", d->embed_scale);
    if (d->embed_norm.dim > 0)
        hone_str_puts(out, ", embeddings normed");
    describe_dropout(out, "embedding", d->embed_dropout);
    hone_str_puts(out, "; ");
    hone_describe_norm(out, &d->norm.spec);
    hone_str_printf(out, " at the end, eps %g everywhere; head %s", d->norm.spec.eps, m->tied ? "tied to the embedding" : "of its own");
    if (m->head_bias)
        hone_str_puts(out, ", with a bias");
    if (m->logit_scale != 0 && m->logit_scale != 1)
        hone_str_printf(out, ", logits x %.6g", m->logit_scale);
    if (m->logit_softcap > 0)
        hone_str_printf(out, ", logits capped at %g", m->logit_softcap);
}

static const hone_model_ops decoder_ops = { embed, block, final, describe_block, describe };

/* A norm on the residual stream. */
static void build_norm(hone_builder *b, hone_norm *out, const char *name, const hone_decoder_config *c)
{
    hone_build_norm(b, out, name, 0, c->hidden, &c->norm);
    if (name && !c->norm.plain)
        hone_build_treat(b, name, &(hone_plan_row){ .treatment = HONE_TREAT_REPLICATE, .replica = HONE_REPLICA_STREAM });
}

static void treat_unit(hone_builder *b, const char *name, const char *unit)
{
    hone_build_treat(b, name, &(hone_plan_row){ .treatment = HONE_TREAT_UNIT, .unit = unit });
}

static void treat_vocabulary(hone_builder *b, const char *name, int64_t rows)
{
    hone_build_treat(b, name, &(hone_plan_row){ .treatment = HONE_TREAT_VOCAB, .parts = 1, .part = { { rows, 1, false } } });
}

static void build_block(hone_builder *b, decoder *d, const hone_decoder_config *c, int i)
{
    decoder_block            *block = &d->blocks[i];
    const hone_decoder_names *names = &c->names;
    const hone_decoder_layer *layer = &c->layer[i];
    hone_attention_config     attention = c->attention;
    char                      name[96];

    attention.layer = i;
    attention.window = layer->window;
    attention.rope = layer->rope >= 0 ? &d->rope[layer->rope] : NULL;
    if (c->own_query_rope)
        attention.query_rope = &d->rope[1];
    if (layer->scale > 0)
        attention.scale = layer->scale;
    snprintf(name, sizeof name, "%s.%s.%d", names->root, names->layers, i);
    hone_build_unit(b, name);
    snprintf(name, sizeof name, "%s.%d", names->layers, i);
    hone_build_enter(b, name, "block");
    treat_unit(b, NULL, NULL);
    hone_build_treat(b, NULL, &(hone_plan_row){ .treatment = HONE_TREAT_RECOMPUTE });
    build_norm(b, &block->attention_in, names->attention_in, c);
    hone_build_self_attention(b, &block->attention, names->attention, &attention);
    build_norm(b, &block->attention_out, names->attention_out, c);
    build_norm(b, &block->mlp_in, names->mlp_in, c);
    hone_build_mlp(b, &block->mlp, names->mlp, &c->mlp);
    build_norm(b, &block->mlp_out, names->mlp_out, c);
    hone_build_leave(b);
}

static void build_head(hone_model *m, hone_builder *b, const decoder *d, const hone_decoder_config *c)
{
    hone_linear head = { .weight = d->embedding };

    if (!c->tied) {
        hone_build_linear(b, &head, c->names.head, c->hidden, c->vocab, c->head_bias, false);
    } else if (c->head_bias) {
        hone_build_enter(b, c->names.head, "linear");
        head.bias = hone_build_param(b, "bias", 1, &c->vocab, false);
        hone_build_leave(b);
    }
    if (!c->tied || c->head_bias) {
        treat_unit(b, c->names.head, "final");
        treat_vocabulary(b, c->names.head, c->vocab);
    }
    m->head_name = c->names.head;
    m->head = head.weight;
    m->head_bias = head.bias;
    m->logit_scale = c->logit_scale;
    m->logit_softcap = c->logit_softcap;
}

/* Frequencies that depend on a sample's length. */
static void find_rope_length(hone_model *m, const hone_decoder_config *c)
{
    for (int i = 0; i < HONE_DECODER_ROPES; i++) {
        const hone_rope_spec *s = &c->rope[i];
        bool                  steps = s->type == HONE_ROPE_LONGROPE;
        int64_t               length = (int64_t)(steps ? s->original_max_positions : s->max_positions);

        if (!steps && s->type != HONE_ROPE_DYNAMIC)
            continue;
        m->rope_steps = steps && (m->rope_length == 0 || (m->rope_steps && m->rope_length == length));
        m->rope_length = m->rope_length > 0 ? HONE_MIN(m->rope_length, length) : length;
    }
}

static double one_if_unset(double scale) { return scale != 0 ? scale : 1; }

/* A factor as a number of this dtype; in f64 it is still that of f32, in which the reference holds it. */
static double rounded(double x, hone_dtype dtype)
{
    float    f = (float)x;
    uint16_t half;

    if (dtype != HONE_DTYPE_BF16)
        return f;
    hone_dtype_convert(&half, HONE_DTYPE_BF16, &f, HONE_DTYPE_F32, 1);
    hone_dtype_convert(&f, HONE_DTYPE_F32, &half, HONE_DTYPE_BF16, 1);
    return f;
}

static decoder *create(const hone_decoder_config *c, hone_dtype compute)
{
    decoder *d = hone_calloc(1, sizeof *d + (size_t)c->layers * sizeof d->blocks[0]);

    if (!d)
        return NULL;
    for (int i = 0; i < HONE_DECODER_ROPES; i++)
        d->rope[i] = c->rope[i];
    d->padding = c->padding;
    d->embed_scale = one_if_unset(c->embed_scale);
    if (c->embed_scale_in_dtype)
        d->embed_scale = rounded(d->embed_scale, compute);
    d->residual_scale = one_if_unset(c->residual_scale);
    d->embed_dropout = c->embed_dropout;
    d->attention_out_dropout = c->attention_out_dropout;
    d->mlp_out_dropout = c->mlp_out_dropout;
    d->parallel = c->parallel;
    d->embed_norm.spec = c->norm;
    if (c->norm_embedding)
        d->embed_norm.dim = c->hidden;
    return d;
}

hone_status hone_decoder_build(hone_model *m, hone_builder *b, const hone_decoder_config *c)
{
    const hone_decoder_names *names = &c->names;
    decoder                  *d = create(c, b->params->compute);

    if (!d)
        return HONE_E_NOMEM;
    m->state = d;
    m->ops = &decoder_ops;
    m->base_prefix = names->root;
    m->blocks = (int)c->layers;
    m->vocab = c->vocab;
    m->hidden = c->hidden;
    m->tied = c->tied;
    b->plan = &m->plan;
    m->rated_positions = names->positions ? 0 : c->positions;
    m->max_positions = names->positions ? c->positions : 0;
    find_rope_length(m, c);
    hone_build_unit(b, "embedding");
    hone_build_enter(b, names->root, "decoder");
    d->embedding = hone_build_embedding(b, names->embedding, c->vocab, c->hidden);
    treat_unit(b, names->embedding, "embedding");
    treat_vocabulary(b, names->embedding, c->vocab);
    if (names->positions) {
        d->positions = hone_build_embedding(b, names->positions, c->positions, c->hidden);
        treat_unit(b, names->positions, "embedding");
        hone_build_treat(b, names->positions, &(hone_plan_row){ .treatment = HONE_TREAT_REPLICATE, .replica = HONE_REPLICA_STREAM });
    }
    for (int i = 0; i < m->blocks; i++)
        build_block(b, d, c, i);
    hone_build_unit(b, "final");
    build_norm(b, &d->norm, names->norm, c);
    treat_unit(b, names->norm, "final");
    hone_build_leave(b);
    build_head(m, b, d, c);
    return b->status;
}
