/* Qwen3, dense (Yang et al. 2025): a llama with a norm on each head of q and k, and a head size of its own. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 151936, .hidden = 4096, .intermediate = 22016, .layers = 32, .heads = 32,
                                                .kv_heads = 32, .head_dim = 128, .positions = 32768 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    hone_config_qwen_windows(c, d);
    d->attention.qk_norm = HONE_QK_NORM_HEAD;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
}

const hone_family hone_family_qwen3 = { "qwen3", read, NULL };
