/* AFM, Arcee's foundation models (2025): a llama with a plain mlp of squared rectifiers. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 32000, .hidden = 2560, .intermediate = 18432, .layers = 32, .heads = 32,
                                                .positions = 4096, .act = "relu2", .norm_eps = 1e-5 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.kind = HONE_MLP_PLAIN;
    d->mlp.bias = hone_config_bool(c, "mlp_bias", false);
}

const hone_family hone_family_arcee = { "arcee", read, NULL };
