/* Seed-OSS (ByteDance 2025): a llama with biases on q, k and v, and dropout on the residual stream. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 155136, .hidden = 4096, .intermediate = 27648, .layers = 64, .heads = 80,
    .kv_heads = 8, .head_dim = 128, .positions = 524288, .padding = 1, .dropout = 0.1 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    d->attention.qkv_bias = hone_config_bool(c, "attention_bias", true);
    d->attention.out_bias = hone_config_bool(c, "attention_out_bias", false);
    d->mlp.bias = hone_config_bool(c, "mlp_bias", false);
    d->attention_out_dropout = d->mlp_out_dropout = hone_config_probability(c, "residual_dropout", 0.1);
}

const hone_family hone_family_seed_oss = { "seed_oss", read, NULL };
