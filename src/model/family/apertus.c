/* Apertus (Swiss AI Initiative 2025): a llama with head norms and plain mlps of xIELU, whose two parameters are learned. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 131072, .hidden = 4096, .intermediate = 14336, .layers = 32, .heads = 32,
    .positions = 65536, .padding = 3, .act = "xielu", .norm_eps = 1e-5, .rope = { .theta = 12000000 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    static const hone_fixed_key fixed[] = { { "post_norm", "false" }, { "qk_norm", "true" } };

    hone_config_decoder(c, d, &defaults);
    hone_config_fixed(c, fixed, HONE_COUNTOF(fixed));
    if (!hone_config_raw(c, "rope_parameters") && !hone_config_raw(c, "rope_scaling")) {
        d->rope[0].type = HONE_ROPE_LLAMA3;     /* what the config class takes */
        d->rope[0].base = 12000000;
        d->rope[0].factor = 8;
        d->rope[0].original_max_positions = (double)hone_config_int(c, "original_max_position_embeddings", 8192, 1, INT32_MAX);
        d->rope[0].low_freq_factor = 1;
        d->rope[0].high_freq_factor = 4;
    }
    d->names.attention_in = "attention_layernorm";
    d->names.mlp_in = "feedforward_layernorm";
    d->attention.qk_norm = HONE_QK_NORM_HEAD;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.kind = HONE_MLP_PLAIN;
}

static const hone_buffer constants[] = { { ".act_fn.beta", true, 0.5 }, { ".act_fn.eps", true, -1e-6 }, { NULL, false, 0 } };

const hone_family hone_family_apertus = { "apertus", read, constants };
