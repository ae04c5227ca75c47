#include "nn/attention.h"

#include <math.h>

static const char *name_or(const char *name, const char *usual) { return name ? name : usual; }

static hone_plan_part query_heads(const hone_attention_config *c) { return (hone_plan_part){ c->heads, c->head_dim, false }; }

static hone_plan_part kv_heads(const hone_attention_config *c)
{
    return (hone_plan_part){ c->kv_heads, c->head_dim, c->kv_heads < c->heads };
}

/* A projection is cut between heads. A norm over all heads at once reads whole rows, so they are gathered for it, and every rank
 * computes all of the attention. */
static void treat(hone_builder *b, const char *name, hone_treatment treatment, const hone_attention_config *c, int parts,
                  const hone_plan_part *part)
{
    hone_plan_row row = { .treatment = treatment, .parts = parts, .transposed = c->conv1d, .whole = c->qk_norm == HONE_QK_NORM_WHOLE };

    for (int i = 0; i < parts; i++)
        row.part[i] = part[i];
    hone_build_treat(b, name, &row);
}

static void treat_projections(hone_builder *b, const hone_attention_config *c)
{
    const hone_plan_part q = query_heads(c), kv = kv_heads(c), all[3] = { q, kv, kv }, each = { c->heads, 3 * c->head_dim, false };

    if (c->qkv == HONE_QKV_SPLIT) {
        treat(b, name_or(c->q, "q_proj"), HONE_TREAT_COLWISE, c, 1, &q);
        treat(b, name_or(c->k, "k_proj"), HONE_TREAT_COLWISE, c, 1, &kv);
        treat(b, name_or(c->v, "v_proj"), HONE_TREAT_COLWISE, c, 1, &kv);
    } else if (c->qkv == HONE_QKV_FUSED) {
        treat(b, name_or(c->q, "qkv_proj"), HONE_TREAT_COLWISE, c, 3, all);
    } else {
        treat(b, name_or(c->q, "qkv_proj"), HONE_TREAT_COLWISE, c, 1, &each);
    }
    treat(b, name_or(c->o, "o_proj"), HONE_TREAT_ROWWISE, c, 1, &q);
}

/* A norm of single heads goes with them; one weight for all heads is whole on every rank. */
static void treat_qk_norm(hone_builder *b, const char *name, const hone_attention_config *c, hone_plan_part heads)
{
    hone_plan_row row = { .treatment = HONE_TREAT_REPLICATE, .replica = HONE_REPLICA_PART };

    if (c->qk_norm == HONE_QK_NORM_WHOLE)
        row.replica = HONE_REPLICA_SAME;
    if (c->qk_norm == HONE_QK_NORM_EACH_HEAD)
        row = (hone_plan_row){ .treatment = HONE_TREAT_COLWISE, .parts = 1, .part = { { heads.pieces, 1, heads.shared } } };
    if (c->qk_norm != HONE_QK_NORM_NONE && !c->norm.plain)
        hone_build_treat(b, name, &row);
}

static void build_qk_norm(hone_builder *b, hone_norm *out, const char *name, const hone_attention_config *c, hone_plan_part part)
{
    bool    whole = c->qk_norm == HONE_QK_NORM_WHOLE;
    int64_t heads = part.pieces;

    treat_qk_norm(b, name, c, part);
    hone_build_norm(b, out, c->qk_norm == HONE_QK_NORM_NONE ? NULL : name, c->qk_norm == HONE_QK_NORM_EACH_HEAD ? heads : 0,
                    whole ? heads * c->head_dim : c->head_dim, &c->norm);
}

void hone_build_self_attention(hone_builder *b, hone_self_attention *out, const char *name, const hone_attention_config *c)
{
    int64_t q = c->heads * c->head_dim, kv = c->kv_heads * c->head_dim;

    out->config = *c;
    hone_build_enter(b, name, "attention");
    if (c->qkv == HONE_QKV_SPLIT) {
        hone_build_linear(b, &out->q, name_or(c->q, "q_proj"), c->hidden, q, c->qkv_bias, c->conv1d);
        hone_build_linear(b, &out->k, name_or(c->k, "k_proj"), c->hidden, kv, c->qkv_bias, c->conv1d);
        hone_build_linear(b, &out->v, name_or(c->v, "v_proj"), c->hidden, kv, c->qkv_bias, c->conv1d);
    } else {
        hone_build_linear(b, &out->q, name_or(c->q, "qkv_proj"), c->hidden, q + 2 * kv, c->qkv_bias, c->conv1d);
    }
    hone_build_linear(b, &out->o, name_or(c->o, "o_proj"), q, c->hidden, c->out_bias, c->conv1d);
    treat_projections(b, c);
    build_qk_norm(b, &out->q_norm, name_or(c->q_norm, "q_norm"), c, query_heads(c));
    build_qk_norm(b, &out->k_norm, name_or(c->k_norm, "k_norm"), c, kv_heads(c));
    hone_build_leave(b);
}

/* q [T, heads·D], k and v [T, kv_heads·D]. */
static void project(hone_ctx *ctx, const hone_self_attention *a, hone_tensor *x, hone_tensor *qkv[3])
{
    const hone_attention_config *c = &a->config;
    bool    by_head = c->qkv == HONE_QKV_FUSED_BY_HEAD;
    int64_t groups = by_head ? c->heads : 1, q = by_head ? 1 : c->heads, kv = by_head ? 1 : c->kv_heads;

    qkv[0] = hone_linear_forward(ctx, &a->q, x);
    if (c->qkv == HONE_QKV_SPLIT) {
        qkv[1] = hone_linear_forward(ctx, &a->k, x);
        qkv[2] = hone_linear_forward(ctx, &a->v, x);
    } else {
        hone_op_split(ctx, qkv[0], groups, (int64_t[]){ q * c->head_dim, kv * c->head_dim, kv * c->head_dim }, 3, qkv);
    }
    for (int i = 0; i < 3 && c->clip_qkv > 0; i++)
        qkv[i] = hone_op_clamp(ctx, qkv[i], c->clip_qkv);
}

/* On a failed context there is no table, and the ops that follow do nothing. */
static hone_tensor *rotated(hone_ctx *ctx, const hone_rope_spec *rope, hone_batch *batch, hone_tensor *x, int64_t heads)
{
    const hone_rope_table *table = rope ? hone_rope_tables(ctx, batch, rope) : NULL;

    return table ? hone_op_rope(ctx, x, heads, table->cos, table->sin, rope->interleaved) : x;
}

static void rotate(hone_ctx *ctx, const hone_attention_config *c, hone_batch *batch, hone_tensor *qkv[3])
{
    qkv[0] = rotated(ctx, c->query_rope ? c->query_rope : c->rope, batch, qkv[0], c->heads);
    qkv[1] = rotated(ctx, c->rope, batch, qkv[1], c->kv_heads);
}

static void norm_qk(hone_ctx *ctx, const hone_self_attention *a, hone_tensor *qkv[3])
{
    qkv[0] = hone_norm_forward(ctx, &a->q_norm, qkv[0]);
    qkv[1] = hone_norm_forward(ctx, &a->k_norm, qkv[1]);
}

hone_tensor *hone_self_attention_forward(hone_ctx *ctx, const hone_self_attention *a, hone_tensor *x, hone_tensor *residual,
                                         hone_batch *batch)
{
    const hone_attention_config *c = &a->config;
    hone_attention_pack pack = { batch->cu, batch->cu_keys, batch->sample_ids, batch->samples };
    hone_attention_spec spec = { .heads = c->heads, .kv_heads = c->kv_heads, .softcap = c->softcap,
                                 .scale = c->scale > 0 ? c->scale : 1 / sqrt((double)c->head_dim),
                                 .mask = { .causal = true, .window = c->window }, .dropout = c->dropout,
                                 .site = hone_dropout_site(c->layer, HONE_SITE_ATTENTION) };
    hone_tensor *qkv[3];

    project(ctx, a, x, qkv);
    if (!c->norm_after_rope)
        norm_qk(ctx, a, qkv);
    rotate(ctx, c, batch, qkv);
    if (c->norm_after_rope)
        norm_qk(ctx, a, qkv);
    if (batch->cache)
        hone_kv_cache_append(ctx, batch, c->layer, &qkv[1], &qkv[2]);
    return hone_linear_forward_add(ctx, &a->o, hone_op_attention(ctx, qkv[0], qkv[1], qkv[2], &pack, &spec), residual);
}
