/* Llama 1 to 3.x (Touvron et al. 2023; Dubey et al. 2024) and what declares itself "llama". */
#include "base/mem.h"
#include "model/family.h"
#include "nn/decoder.h"

static hone_status build(hone_model *m, hone_builder *b, hone_config *c, double dropout)
{
    hone_decoder_config d = {
        .vocab = hone_config_int(c, "vocab_size", 32000, 1, INT32_MAX),
        .hidden = hone_config_int(c, "hidden_size", 4096, 1, 1 << 24),
        .intermediate = hone_config_int(c, "intermediate_size", 11008, 1, 1 << 24),
        .layers = hone_config_int(c, "num_hidden_layers", 32, 1, 1 << 14),
        .heads = hone_config_int(c, "num_attention_heads", 32, 1, 1 << 16),
        .act = hone_config_act(c, "hidden_act", "silu"),
        .norm_eps = hone_config_number(c, "rms_norm_eps", 1e-6),
        .tied = hone_config_bool(c, "tie_word_embeddings", false),
        .mlp_bias = hone_config_bool(c, "mlp_bias", false),
        .attention_dropout = hone_config_probability(c, "attention_dropout", 0),
    };
    int64_t     positions = hone_config_int(c, "max_position_embeddings", 2048, 1, INT32_MAX);
    hone_status st;

    d.qkv_bias = d.out_bias = hone_config_bool(c, "attention_bias", false);
    d.kv_heads = hone_config_int(c, "num_key_value_heads", d.heads, 1, 1 << 16);
    d.head_dim = hone_config_int(c, "head_dim", d.hidden / d.heads, 1, 1 << 16);
    hone_config_rope(c, &d.rope, d.head_dim, positions, 10000);
    if (d.heads % d.kv_heads != 0)
        hone_config_refuse(c, "num_attention_heads %lld is no multiple of num_key_value_heads %lld", (long long)d.heads,
                           (long long)d.kv_heads);
    if (c->status != HONE_OK)
        return c->status;
    if (dropout >= 0)
        d.attention_dropout = (float)dropout;
    d.windows = hone_calloc((size_t)d.layers, sizeof *d.windows);
    st = d.windows ? hone_decoder_build(m, b, &d) : HONE_E_NOMEM;
    hone_free(d.windows);
    return st;
}

static const char *const buffers[] = { ".rotary_emb.inv_freq", NULL };

const hone_family hone_family_llama = { "llama", "model.", buffers, build };
