#include "decoder_json.h"

#include <math.h>
#include <stdlib.h>

#include "op/kernel.h"

static void set_number(json_t *o, const char *key, double v) { json_object_set_new(o, key, json_real(v)); }
static void set_word(json_t *o, const char *key, const char *v) { json_object_set_new(o, key, json_string(v)); }
static double one_if_unset(double v) { return v != 0 ? v : 1; }
static double none_below_zero(double v) { return v > 0 ? v : 0; }

static void add_run(json_t *runs, double v)
{
    size_t n = json_array_size(runs);

    if (n > 0 && json_number_value(json_array_get(runs, n - 2)) == v) {
        json_array_set_new(runs, n - 1, json_real(json_number_value(json_array_get(runs, n - 1)) + 1));
        return;
    }
    json_array_append_new(runs, json_real(v));
    json_array_append_new(runs, json_real(1));
}

static json_t *rope_json(const hone_rope_spec *s)
{
    const int64_t lengths[] = { 8, (int64_t)(2 * s->max_positions) };
    int64_t       n = hone_rope_pairs(s), at[] = { 0, n / 3, n / 2, n - 1 };
    float        *freq = calloc((size_t)n, sizeof *freq);
    json_t       *out = json_array();

    for (int i = 0; i < 2; i++) {
        json_t *one = json_array();
        double  factor = hone_rope_frequencies(freq, s, lengths[i]);

        json_array_append_new(one, json_real(2.0 * (double)n));
        json_array_append_new(one, json_real(factor));
        for (int k = 0; k < 4; k++)
            json_array_append_new(one, json_real(freq[at[k]]));
        json_array_append_new(out, one);
    }
    free(freq);
    return out;
}

static void describe_layers(json_t *o, const hone_decoder_config *d)
{
    json_t *windows = json_array(), *ropes = json_array(), *scales = json_array();
    bool    used[HONE_DECODER_ROPES] = { false };
    double  scale = d->attention.scale > 0 ? d->attention.scale : 1 / sqrt((double)d->attention.head_dim);

    for (int64_t i = 0; i < d->layers; i++) {
        const hone_decoder_layer *layer = &d->layer[i];

        add_run(windows, layer->window);
        add_run(ropes, layer->rope);
        add_run(scales, layer->scale > 0 ? layer->scale : scale);
        if (layer->rope >= 0)
            used[layer->rope] = true;
    }
    json_object_set_new(o, "windows", windows);
    json_object_set_new(o, "ropes", ropes);
    json_object_set_new(o, "scales", scales);
    for (int i = 0; i < HONE_DECODER_ROPES; i++)
        json_object_set_new(o, i == 0 ? "rope 0" : "rope 1", used[i] ? rope_json(&d->rope[i]) : json_null());
    set_word(o, "rope pairs", !used[0] ? "" : d->rope[0].interleaved ? "interleaved" : d->rope[0].reversed ? "reversed" : "half");
}

static void describe_attention(json_t *o, const hone_decoder_config *d)
{
    static const char *const      qkv[] = { "split", "fused", "fused by head" }, *const norms[] = { "", "head", "each head", "whole" };
    const hone_attention_config *a = &d->attention;

    set_number(o, "heads", (double)a->heads);
    set_number(o, "kv heads", (double)a->kv_heads);
    set_number(o, "head dim", (double)a->head_dim);
    set_word(o, "qkv", qkv[a->qkv]);
    set_number(o, "qkv bias", a->qkv_bias);
    set_number(o, "out bias", a->out_bias);
    set_word(o, "qk norm", norms[a->qk_norm]);
    if (a->qk_norm != HONE_QK_NORM_NONE) {
        set_word(o, "qk norm kind", a->norm.kind == HONE_NORM_LAYER ? "layer" : "rms");
        set_number(o, "qk norm eps", a->norm.eps);
        set_number(o, "qk norm bias", a->norm.bias);
        set_number(o, "qk norm weight", !a->norm.plain);
        set_number(o, "qk norm offset", a->norm.offset);
        set_number(o, "qk norm after rope", a->norm_after_rope);
    }
    set_number(o, "clip", a->clip_qkv);
    set_number(o, "scores cap", a->softcap);
    set_number(o, "attention dropout", none_below_zero(a->dropout));
}

static void describe_rest(json_t *o, const hone_decoder_config *d)
{
    static const char *const mlps[] = { "gated", "gated fused", "plain" };
    static const struct { hone_act act; const char *name; } acts[] = { { HONE_ACT_SILU, "silu" }, { HONE_ACT_GELU_ERF, "gelu" },
        { HONE_ACT_GELU_TANH, "gelu tanh" }, { HONE_ACT_RELU, "relu" }, { HONE_ACT_RELU2, "relu2" } };
    const char *const norms[] = { d->names.attention_in, d->names.attention_out, d->names.mlp_in, d->names.mlp_out };
    json_t           *list = json_array();

    for (int i = 0; i < 4; i++)
        json_array_append_new(list, json_string(norms[i] ? norms[i] : ""));
    json_object_set_new(o, "norms", list);
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        if (acts[i].act == d->mlp.act)
            set_word(o, "act", d->mlp.xielu ? "xielu" : acts[i].name);
    set_word(o, "mlp", mlps[d->mlp.kind]);
    set_number(o, "intermediate", (double)d->mlp.intermediate);
    set_number(o, "mlp bias", d->mlp.bias);
    set_word(o, "norm kind", d->norm.kind == HONE_NORM_LAYER ? "layer" : "rms");
    set_number(o, "norm eps", d->norm.eps);
    set_number(o, "norm bias", d->norm.bias);
    set_number(o, "norm weight", !d->norm.plain);
    set_number(o, "norm offset", d->norm.offset);
    set_number(o, "parallel", d->parallel);
    set_number(o, "norm on embeddings", d->norm_embedding);
    set_number(o, "embedding scale", one_if_unset(d->embed_scale));
    set_number(o, "residual scale", one_if_unset(d->residual_scale));
    set_number(o, "logit scale", one_if_unset(d->logit_scale));
    set_number(o, "logit cap", d->logit_softcap);
    set_number(o, "tied", d->tied);
    set_number(o, "head bias", d->head_bias);
    set_number(o, "embedding dropout", none_below_zero(d->embed_dropout));
    set_number(o, "attention out dropout", none_below_zero(d->attention_out_dropout));
    set_number(o, "mlp out dropout", none_below_zero(d->mlp_out_dropout));
}

json_t *t_decoder_json(const hone_decoder_config *d)
{
    json_t *o = json_object();

    set_number(o, "vocab", (double)d->vocab);
    set_number(o, "hidden", (double)d->hidden);
    set_number(o, "layers", (double)d->layers);
    set_number(o, "positions", (double)d->positions);
    describe_attention(o, d);
    describe_layers(o, d);
    describe_rest(o, d);
    return o;
}
