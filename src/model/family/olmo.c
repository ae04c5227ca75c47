/* OLMo (Groeneveld et al. 2024): a llama with layer norms that have no parameters, and clipped q, k and v. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 50304, .hidden = 4096, .intermediate = 11008, .layers = 32, .heads = 32,
                                                .positions = 2048, .padding = 1, .norm_eps = 1e-5, .norm_eps_key = HONE_NO_KEY };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    d->norm.kind = HONE_NORM_LAYER;
    d->norm.plain = true;
    d->attention.clip_qkv = hone_config_limit(c, "clip_qkv", 0);
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
}

const hone_family hone_family_olmo = { "olmo", read, NULL };
