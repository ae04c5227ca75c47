/* ERNIE 4.5, dense (Baidu 2025): a llama with interleaved rotary pairs and one switch for all biases. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 103424, .hidden = 1024, .intermediate = 3072, .layers = 18, .heads = 16,
    .kv_heads = 2, .head_dim = 128, .positions = 131072, .padding = HONE_PADDING_0, .norm_eps = 1e-5,
    .tied = true, .rope = { .theta = 500000 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    d->rope[0].interleaved = true;
    d->attention.dropout = -1;      /* the reference has none, whatever the file says */
    d->attention.qkv_bias = d->attention.out_bias = d->mlp.bias = hone_config_bool(c, "use_bias", false);
}

const hone_family hone_family_ernie4_5 = { "ernie4_5", read, NULL };
