/* GPT-2 (Radford et al. 2019): learned positions, layer norms, fused qkv stored as [in, out], dropouts of its own. */
#include <math.h>

#include "base/mem.h"
#include "model/decoder.h"

static const hone_decoder_names names = { .root = "transformer", .embedding = "wte", .positions = "wpe", .layers = "h",
    .attention = "attn", .mlp = "mlp", .attention_in = "ln_1", .mlp_in = "ln_2", .norm = "ln_f", .head = "lm_head" };

static void read_layers(hone_config *c, hone_decoder_config *d)
{
    bool scaled = hone_config_bool(c, "scale_attn_weights", true);
    bool by_layer = hone_config_bool(c, "scale_attn_by_inverse_layer_idx", false);

    d->layer = hone_calloc((size_t)d->layers, sizeof *d->layer);
    if (!d->layer && c->status == HONE_OK)
        c->status = HONE_E_NOMEM;
    for (int64_t i = 0; d->layer && i < d->layers; i++)
        d->layer[i] = (hone_decoder_layer){ .rope = -1,
            .scale = (scaled ? 1 / sqrt((double)d->attention.head_dim) : 1) / (by_layer ? (double)i + 1 : 1) };
}

static void read(hone_config *c, hone_decoder_config *d)
{
    static const char *const neutral[] = { "n_ctx", "summary_type", "summary_use_proj", "summary_activation",
        "summary_proj_to_labels", "summary_first_dropout", "reorder_and_upcast_attn", "n_special", "predict_special_tokens" };
    int64_t heads = hone_config_int(c, "n_head", 12, 1, 1 << 16);

    *d = (hone_decoder_config){ .names = names, .padding = -1 };
    d->layers = hone_config_int(c, "n_layer", 12, 1, 1 << 14);
    d->vocab = hone_config_int(c, "vocab_size", 50257, 1, INT32_MAX);
    d->hidden = hone_config_int(c, "n_embd", 768, 1, 1 << 24);
    d->positions = hone_config_int(c, "n_positions", 1024, 1, INT32_MAX);
    d->tied = hone_config_bool(c, "tie_word_embeddings", true);
    d->norm = (hone_norm_spec){ .kind = HONE_NORM_LAYER, .bias = true, .eps = hone_config_epsilon(c, "layer_norm_epsilon", 1e-5) };
    d->attention = (hone_attention_config){ .hidden = d->hidden, .heads = heads, .kv_heads = heads, .head_dim = d->hidden / heads,
        .qkv = HONE_QKV_FUSED, .q = "c_attn", .o = "c_proj", .qkv_bias = true, .out_bias = true, .conv1d = true };
    d->mlp = (hone_mlp_config){ .kind = HONE_MLP_PLAIN, .up = "c_fc", .down = "c_proj", .bias = true, .conv1d = true, .hidden = d->hidden };
    d->mlp.intermediate = hone_config_int(c, "n_inner", 4 * d->hidden, 1, 1 << 24);
    d->mlp.act = hone_config_act(c, "activation_function", "gelu_new");
    d->attention.dropout = hone_config_probability(c, "attn_pdrop", 0.1);
    d->embed_dropout = hone_config_probability(c, "embd_pdrop", 0.1);
    d->attention_out_dropout = d->mlp_out_dropout = hone_config_probability(c, "resid_pdrop", 0.1);
    hone_config_ignore(c, neutral, HONE_COUNTOF(neutral));
    read_layers(c, d);
    if (c->status == HONE_OK && d->hidden % heads != 0)
        hone_config_refuse(c, "n_embd %lld is no multiple of n_head %lld", (long long)d->hidden, (long long)heads);
}

static const hone_buffer masks[] = { { ".attn.bias", false, 0 }, { ".attn.masked_bias", false, 0 }, { NULL, false, 0 } };

const hone_family hone_family_gpt2 = { "gpt2", read, masks };
