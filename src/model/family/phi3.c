/* Phi-3, Phi-3.5 and Phi-4 (Abdin et al. 2024): a llama with fused projections, windows on all layers, and LongRoPE. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 32064, .hidden = 3072, .intermediate = 8192, .layers = 32, .heads = 32,
    .positions = 4096, .padding = 32000, .norm_eps = 1e-5, .rope = { .partial = 1, .original = 4096, .types = "default, longrope" } };

static void read(hone_config *c, hone_decoder_config *d)
{
    static const char *const    unused[] = { "embd_pdrop" };   /* the reference reads it and drops nothing */
    static const hone_fixed_key fixed[] = { { "full_attn_mod", "1" }, { "interpolate_factor", "1" } };

    hone_config_decoder(c, d, &defaults);
    hone_config_all_slide(d, hone_config_window(c, 0));
    d->attention.qkv = HONE_QKV_FUSED;
    d->mlp.kind = HONE_MLP_GATED_FUSED;
    d->attention_out_dropout = d->mlp_out_dropout = hone_config_probability(c, "resid_pdrop", 0);
    hone_config_ignore(c, unused, HONE_COUNTOF(unused));
    hone_config_fixed(c, fixed, HONE_COUNTOF(fixed));
}

const hone_family hone_family_phi3 = { "phi3", read, NULL };
