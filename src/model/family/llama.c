/* Llama 1 to 3.x (Touvron et al. 2023; Dubey et al. 2024) and what declares itself "llama". */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 32000, .hidden = 4096, .intermediate = 11008, .layers = 32, .heads = 32,
                                                .positions = 2048 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.bias = hone_config_bool(c, "mlp_bias", false);
}

const hone_family hone_family_llama = { "llama", read, NULL };
