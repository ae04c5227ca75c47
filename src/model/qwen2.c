/* Qwen2 and Qwen2.5 (Yang et al. 2024): a llama with biases on q, k and v, and sliding windows on upper layers if asked. */
#include "model/decoder.h"

/* The config class has no head_dim, but the reference attention reads one where the file gives it. */
static const hone_decoder_defaults defaults = { .vocab = 151936, .hidden = 4096, .intermediate = 22016, .layers = 32, .heads = 32,
                                                .kv_heads = 32, .positions = 32768 };

static hone_status build(hone_model *m, hone_builder *b, hone_config *c, double dropout)
{
    hone_decoder_config d = { .qkv_bias = true };

    hone_config_decoder(c, &d, &defaults);
    return hone_config_decoder_build(m, b, c, &d, true, dropout);
}

static const char *const buffers[] = { ".rotary_emb.inv_freq", NULL };

const hone_family hone_family_qwen2 = { "qwen2", "model.", buffers, build };
