/* OLMo 3 (OLMo Team 2025): an OLMo 2 in which three layers of four slide, with rotary settings for each type. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 50304, .hidden = 4096, .intermediate = 11008, .layers = 32, .heads = 32,
                                                .positions = 2048, .padding = 1, .norm_eps = 1e-5, .own_rope = true };
static const hone_rope_defaults rope = { .theta = 500000 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    hone_config_norms_behind(d);
    hone_config_windows(c, d, hone_config_window(c, 4096), 4);
    hone_config_rope_by_type(c, d->rope, d->attention.head_dim, d->positions, &rope, &rope, NULL);
    hone_config_rope_of_type(d);
    d->attention.qk_norm = HONE_QK_NORM_WHOLE;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
}

const hone_family hone_family_olmo3 = { "olmo3", read, NULL };
