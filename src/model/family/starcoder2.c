/* StarCoder 2 (Lozhkov et al. 2024): layer norms, plain gelu mlps, biases, windows on all layers. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 49152, .hidden = 3072, .intermediate = 12288, .layers = 30, .heads = 24,
    .kv_heads = 2, .positions = 4096, .act = "gelu_pytorch_tanh", .norm_eps_key = "norm_epsilon", .norm_eps = 1e-5, .tied = true };

static void read(hone_config *c, hone_decoder_config *d)
{
    static const hone_fixed_key fixed[] = { { "mlp_type", "default" }, { "norm_type", "layer_norm" } };

    hone_config_decoder(c, d, &defaults);
    hone_config_fixed(c, fixed, HONE_COUNTOF(fixed));
    hone_config_all_slide(d, hone_config_window(c, 0));
    d->norm.kind = HONE_NORM_LAYER;
    d->norm.bias = true;
    d->attention.qkv_bias = d->attention.out_bias = d->mlp.bias = hone_config_bool(c, "use_bias", true);
    d->mlp.kind = HONE_MLP_PLAIN;
    d->mlp.up = "c_fc";
    d->mlp.down = "c_proj";
    d->embed_dropout = hone_config_probability(c, "embedding_dropout", 0);
    d->attention_out_dropout = d->mlp_out_dropout = hone_config_probability(c, "residual_dropout", 0);
}

const hone_family hone_family_starcoder2 = { "starcoder2", read, NULL };
