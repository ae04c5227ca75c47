/* Phi-1 to Phi-2 (Li et al. 2023): parallel blocks under one layer norm, plain mlps, partly rotated heads, biases everywhere. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 51200, .hidden = 2048, .intermediate = 8192, .layers = 24, .heads = 32,
    .positions = 2048, .act = "gelu_new", .norm_eps_key = "layer_norm_eps", .norm_eps = 1e-5, .rope = { .partial = 0.5 } };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_attention_config *a = &d->attention;

    hone_config_decoder(c, d, &defaults);
    d->parallel = true;
    d->names.mlp_in = NULL;
    d->names.norm = "final_layernorm";
    d->norm.kind = HONE_NORM_LAYER;
    d->norm.bias = true;
    a->norm = d->norm;
    a->qk_norm = hone_config_bool(c, "qk_layernorm", false) ? HONE_QK_NORM_HEAD : HONE_QK_NORM_NONE;
    a->q_norm = "q_layernorm";
    a->k_norm = "k_layernorm";
    a->o = "dense";
    a->qkv_bias = a->out_bias = d->mlp.bias = d->head_bias = true;
    d->mlp.kind = HONE_MLP_PLAIN;
    d->mlp.up = "fc1";
    d->mlp.down = "fc2";
    d->embed_dropout = hone_config_probability(c, "embd_pdrop", 0);
    d->attention_out_dropout = d->mlp_out_dropout = hone_config_probability(c, "resid_pdrop", 0);
    hone_config_even_rope(c, d);
}

const hone_family hone_family_phi = { "phi", read, NULL };
