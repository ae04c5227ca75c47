/* GPT-NeoX and Pythia (Black et al. 2022): parallel blocks with a layer norm for each branch, qkv fused head by head. */
#include "model/decoder.h"

static const hone_decoder_names names = { .root = "gpt_neox", .embedding = "embed_in", .layers = "layers", .attention = "attention",
    .mlp = "mlp", .attention_in = "input_layernorm", .mlp_in = "post_attention_layernorm", .norm = "final_layer_norm",
    .head = "embed_out" };
static const hone_decoder_defaults defaults = { .vocab = 50432, .hidden = 6144, .intermediate = 24576, .layers = 44, .heads = 64,
    .positions = 2048, .act = "gelu", .norm_eps_key = "layer_norm_eps", .norm_eps = 1e-5, .own_rope = true };

static void read(hone_config *c, hone_decoder_config *d)
{
    static const char *const unused[] = { "classifier_dropout" };
    hone_rope_defaults       rope = { .theta = hone_config_number(c, "rotary_emb_base", 10000),
                                      .partial = hone_config_number(c, "rotary_pct", 0.25) };
    hone_attention_config   *a = &d->attention;

    hone_config_decoder(c, d, &defaults);
    if (hone_config_number(c, "rope_theta", rope.theta) != rope.theta
        || hone_config_number(c, "partial_rotary_factor", rope.partial) != rope.partial)
        hone_config_refuse(c, "\"rope_theta\" and \"partial_rotary_factor\" must agree with \"rotary_emb_base\" and "
                           "\"rotary_pct\", which are what gpt_neox reads");
    hone_config_rope(c, &d->rope[0], a->head_dim, d->positions, &rope);
    hone_config_ignore(c, unused, HONE_COUNTOF(unused));
    d->names = names;
    d->padding = -1;
    d->norm.kind = HONE_NORM_LAYER;
    d->norm.bias = true;
    d->parallel = hone_config_bool(c, "use_parallel_residual", true);
    a->qkv = HONE_QKV_FUSED_BY_HEAD;
    a->q = "query_key_value";
    a->o = "dense";
    a->qkv_bias = a->out_bias = hone_config_bool(c, "attention_bias", true);
    d->mlp.kind = HONE_MLP_PLAIN;
    d->mlp.up = "dense_h_to_4h";
    d->mlp.down = "dense_4h_to_h";
    d->mlp.bias = true;
    d->embed_dropout = d->attention_out_dropout = d->mlp_out_dropout = hone_config_probability(c, "hidden_dropout", 0);
    hone_config_whole_heads(c, d);
    if (a->kv_heads != a->heads)
        hone_config_refuse(c, "\"num_key_value_heads\" is not implemented for gpt_neox");
}

static const hone_buffer masks[] = { { ".attention.bias", false, 0 }, { ".attention.masked_bias", false, 0 }, { NULL, false, 0 } };

const hone_family hone_family_gpt_neox = { "gpt_neox", read, masks };
