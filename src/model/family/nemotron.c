/* Nemotron-4 and Minitron (NVIDIA 2024): layer norms whose weight is stored less one, plain mlps of squared rectifiers, partly
 * rotated heads. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 256000, .hidden = 6144, .intermediate = 24576, .layers = 32, .heads = 48,
    .positions = 4096, .act = "relu2", .norm_eps_key = "norm_eps", .norm_eps = 1e-5, .rope = { .partial = 0.5 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    if (hone_config_int(c, "kv_channels", d->attention.head_dim, 1, INT32_MAX) != d->attention.head_dim)   /* what NeMo calls it */
        hone_config_refuse(c, "\"kv_channels\" must be head_dim %lld", (long long)d->attention.head_dim);
    d->norm.kind = HONE_NORM_LAYER;
    d->norm.bias = true;
    d->norm.offset = 1;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.kind = HONE_MLP_PLAIN;
    d->mlp.bias = hone_config_bool(c, "mlp_bias", false);
}

const hone_family hone_family_nemotron = { "nemotron", read, NULL };
