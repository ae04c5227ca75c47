/* GLM-4 9B (GLM Team 2024): a llama with partly rotated heads in interleaved pairs, fused gate and up, biases on q, k and v. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 151552, .hidden = 4096, .intermediate = 13696, .layers = 40, .heads = 32,
    .kv_heads = 2, .head_dim = 128, .positions = 131072, .padding = 151329, .norm_eps = 1.5625e-7, .rope = { .partial = 0.5 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    d->rope[0].interleaved = true;
    d->attention.qkv_bias = hone_config_bool(c, "attention_bias", true);
    d->mlp.kind = HONE_MLP_GATED_FUSED;
}

const hone_family hone_family_glm = { "glm", read, NULL };
