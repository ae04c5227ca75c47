/* Qwen2 and Qwen2.5 (Yang et al. 2024): a llama with biases on q, k and v, and sliding windows on upper layers if asked. */
#include "model/decoder.h"

/* The config class has no head_dim, but the reference attention reads one where the file gives it. */
static const hone_decoder_defaults defaults = { .vocab = 151936, .hidden = 4096, .intermediate = 22016, .layers = 32, .heads = 32,
                                                .kv_heads = 32, .positions = 32768 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    hone_config_qwen_windows(c, d);
    d->attention.qkv_bias = true;
}

const hone_family hone_family_qwen2 = { "qwen2", read, NULL };
