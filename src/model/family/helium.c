/* Helium (Kyutai 2025): a llama with interleaved rotary pairs. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 48000, .hidden = 2560, .intermediate = 7040, .layers = 24, .heads = 20,
    .kv_heads = 20, .head_dim = 128, .positions = 4096, .norm_eps = 1e-8, .rope = { .theta = 100000 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_attention_config *a = &d->attention;

    hone_config_decoder(c, d, &defaults);
    d->rope[0].interleaved = true;
    a->qkv_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.bias = hone_config_bool(c, "mlp_bias", false);
    if (a->heads * a->head_dim != d->hidden)
        hone_config_refuse(c, "num_attention_heads %lld times head_dim %lld is not hidden_size %lld, as helium has it",
                           (long long)a->heads, (long long)a->head_dim, (long long)d->hidden);
}

const hone_family hone_family_helium = { "helium", read, NULL };
