/* Llama 1 to 3.x (Touvron et al. 2023; Dubey et al. 2024) and what declares itself "llama". */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 32000, .hidden = 4096, .intermediate = 11008, .layers = 32, .heads = 32,
                                                .positions = 2048 };

static hone_status build(hone_model *m, hone_builder *b, hone_config *c, double dropout)
{
    hone_decoder_config d = { .mlp_bias = hone_config_bool(c, "mlp_bias", false) };

    d.qkv_bias = d.out_bias = hone_config_bool(c, "attention_bias", false);
    hone_config_decoder(c, &d, &defaults);
    return hone_config_decoder_build(m, b, c, &d, false, dropout);
}

static const char *const buffers[] = { ".rotary_emb.inv_freq", NULL };

const hone_family hone_family_llama = { "llama", "model.", buffers, build };
