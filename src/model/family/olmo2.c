/* OLMo 2 (OLMo Team 2024): norms behind attention and mlp instead of before them, and on all of q and k. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 50304, .hidden = 4096, .intermediate = 11008, .layers = 32, .heads = 32,
                                                .positions = 2048, .padding = 1, .norm_eps = 1e-5 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    hone_config_norms_behind(d);
    d->attention.qk_norm = HONE_QK_NORM_WHOLE;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
}

const hone_family hone_family_olmo2 = { "olmo2", read, NULL };
