/* StableLM 2 (Bellagente et al. 2024): layer norms, quarter-rotated heads; the 12B in parallel, with a norm for each head. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 50304, .hidden = 2560, .intermediate = 6912, .layers = 32, .heads = 32,
    .kv_heads = 32, .positions = 4096, .norm_eps_key = "layer_norm_eps", .norm_eps = 1e-5, .rope = { .partial = 0.25 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_attention_config *a = &d->attention;

    hone_config_decoder(c, d, &defaults);
    d->norm.kind = a->norm.kind = HONE_NORM_LAYER;
    d->norm.bias = true;
    d->parallel = hone_config_bool(c, "use_parallel_residual", false);
    if (d->parallel)
        d->names.mlp_in = NULL;
    a->qkv_bias = hone_config_bool(c, "use_qkv_bias", false);
    a->qk_norm = hone_config_bool(c, "qk_layernorm", false) ? HONE_QK_NORM_EACH_HEAD : HONE_QK_NORM_NONE;
    a->q_norm = "q_layernorm.norms.*";
    a->k_norm = "k_layernorm.norms.*";
    d->mlp_out_dropout = hone_config_probability(c, "hidden_dropout", 0);
    hone_config_even_rope(c, d);
    hone_config_whole_heads(c, d);
}

const hone_family hone_family_stablelm = { "stablelm", read, NULL };
