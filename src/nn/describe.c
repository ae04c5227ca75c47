#include "nn/describe.h"

static void describe_scaling(hone_str *out, const hone_rope_spec *s)
{
    static const char *const names[] = { "default", "linear", "dynamic", "yarn", "llama3", "longrope" };

    if (s->type == HONE_ROPE_DEFAULT)
        return;
    hone_str_printf(out, " %s", names[s->type]);
    if (s->type == HONE_ROPE_LONGROPE)
        hone_str_printf(out, " past %g", s->original_max_positions);
    else
        hone_str_printf(out, " x %g", s->factor);
}

static void describe_rope(hone_str *out, const hone_attention_config *c)
{
    const hone_rope_spec *s = c->rope;

    if (!s) {
        hone_str_puts(out, ", no rotation");
        return;
    }
    hone_str_printf(out, ", rope base %.10g", s->base);
    describe_scaling(out, s);
    if (2 * hone_rope_pairs(s) < c->head_dim)
        hone_str_printf(out, " on %lld of %lld", (long long)(2 * hone_rope_pairs(s)), (long long)c->head_dim);
    if (s->interleaved)
        hone_str_puts(out, " interleaved");
    if (s->reversed)
        hone_str_puts(out, " reversed");
    if (c->query_rope && c->query_rope->growth != 0)
        hone_str_printf(out, ", queries growing past %g by %g", c->query_rope->original_max_positions, c->query_rope->growth);
}

void hone_describe_attention(hone_str *out, const hone_attention_config *c)
{
    static const char *const norms[] = { "", "by head", "by head with weights of its own", "over all heads" };

    if (c->window > 0)
        hone_str_printf(out, "window %d", c->window);
    else
        hone_str_puts(out, "full attention");
    hone_str_printf(out, ", %lld head%s of %lld", (long long)c->heads, c->heads == 1 ? "" : "s", (long long)c->head_dim);
    if (c->kv_heads < c->heads)
        hone_str_printf(out, " over %lld", (long long)c->kv_heads);
    describe_rope(out, c);
    if (c->qk_norm != HONE_QK_NORM_NONE)
        hone_str_printf(out, ", q and k normed %s%s", norms[c->qk_norm], c->norm_after_rope && c->rope ? " after rotation" : "");
    if (c->clip_qkv > 0)
        hone_str_printf(out, ", q, k and v clipped to %g", c->clip_qkv);
    if (c->scale > 0)
        hone_str_printf(out, ", scores x %.6g", c->scale);
    if (c->softcap > 0)
        hone_str_printf(out, ", scores capped at %g", c->softcap);
    if (c->dropout > 0)
        hone_str_printf(out, ", dropout %g", (double)c->dropout);
}

void hone_describe_mlp(hone_str *out, const hone_mlp_config *c)
{
    static const char *const kinds[] = { "gated", "gated (fused)", "plain" };
    static const char *const acts[] = { "silu", "gelu", "gelu_tanh", "relu", "relu2" };

    hone_str_printf(out, "%s %s of %lld", kinds[c->kind], c->xielu ? "xielu" : acts[c->act], (long long)c->intermediate);
}

void hone_describe_norm(hone_str *out, const hone_norm_spec *s)
{
    hone_str_printf(out, "%s norm", s->kind == HONE_NORM_RMS ? "rms" : "layer");
    if (s->plain)
        hone_str_puts(out, " without parameters");
    else if (s->offset != 0)
        hone_str_puts(out, " (1 + weight)");
}
