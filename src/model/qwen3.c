/* Qwen3, dense (Yang et al. 2025): a llama with a norm on each head of q and k, and a head size of its own. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 151936, .hidden = 4096, .intermediate = 22016, .layers = 32, .heads = 32,
                                                .kv_heads = 32, .head_dim = 128, .positions = 32768 };

static hone_status build(hone_model *m, hone_builder *b, hone_config *c, double dropout)
{
    hone_decoder_config d = { .qk_norm = true };

    d.qkv_bias = d.out_bias = hone_config_bool(c, "attention_bias", false);
    hone_config_decoder(c, &d, &defaults);
    return hone_config_decoder_build(m, b, c, &d, true, dropout);
}

static const char *const buffers[] = { ".rotary_emb.inv_freq", NULL };

const hone_family hone_family_qwen3 = { "qwen3", "model.", buffers, build };
