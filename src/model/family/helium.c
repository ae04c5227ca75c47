/* Helium (Kyutai 2025): a llama with interleaved rotary pairs. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 48000, .hidden = 2560, .intermediate = 7040, .layers = 24, .heads = 20,
    .kv_heads = 20, .head_dim = 128, .positions = 4096, .padding = 3, .norm_eps = 1e-8, .rope = { .theta = 100000 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    d->rope[0].interleaved = true;
    d->attention.qkv_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.bias = hone_config_bool(c, "mlp_bias", false);
    hone_config_whole_heads(c, d);
}

const hone_family hone_family_helium = { "helium", read, NULL };
