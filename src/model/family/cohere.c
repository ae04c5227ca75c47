/* Command R (Cohere 2024): parallel blocks under one layer norm without bias, interleaved rotary pairs, scaled logits. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 256000, .hidden = 8192, .intermediate = 22528, .layers = 40, .heads = 64,
    .positions = 8192, .padding = HONE_PADDING_0, .norm_eps_key = "layer_norm_eps", .norm_eps = 1e-5,
    .tied = true, .rope = { .theta = 500000 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_attention_config *a = &d->attention;

    hone_config_decoder(c, d, &defaults);
    d->parallel = true;
    d->names.mlp_in = NULL;
    d->norm.kind = a->norm.kind = HONE_NORM_LAYER;
    d->rope[0].interleaved = true;
    a->qk_norm = hone_config_bool(c, "use_qk_norm", false) ? HONE_QK_NORM_EACH_HEAD : HONE_QK_NORM_NONE;
    a->qkv_bias = a->out_bias = hone_config_bool(c, "attention_bias", false);
    d->logit_scale = hone_config_scale(c, "logit_scale", 0.0625);
}

const hone_family hone_family_cohere = { "cohere", read, NULL };
