#include "model/decoder.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static const hone_decoder_names llama_names = { .root = "model", .embedding = "embed_tokens", .layers = "layers",
    .attention = "self_attn", .mlp = "mlp", .attention_in = "input_layernorm", .mlp_in = "post_attention_layernorm",
    .norm = "norm", .head = "lm_head" };

static void read_sizes(hone_config *c, hone_decoder_config *d, const hone_decoder_defaults *def)
{
    hone_attention_config *a = &d->attention;
    bool                   null_kv = json_is_null(json_object_get(c->root, "num_key_value_heads"));
    bool                   null_dim = json_is_null(json_object_get(c->root, "head_dim"));

    d->vocab = hone_config_int(c, "vocab_size", def->vocab, 1, INT32_MAX);
    d->hidden = hone_config_int(c, "hidden_size", def->hidden, 1, 1 << 24);
    d->layers = hone_config_int(c, "num_hidden_layers", def->layers, 1, 1 << 14);
    d->positions = hone_config_int(c, "max_position_embeddings", def->positions, 1, INT32_MAX);
    d->mlp.hidden = a->hidden = d->hidden;
    d->mlp.intermediate = hone_config_int(c, "intermediate_size", def->intermediate, 1, 1 << 24);
    a->heads = hone_config_int(c, "num_attention_heads", def->heads, 1, 1 << 16);
    a->kv_heads = hone_config_int(c, "num_key_value_heads", null_kv || !def->kv_heads ? a->heads : def->kv_heads, 1, 1 << 16);
    a->head_dim = hone_config_int(c, "head_dim", !null_dim && def->head_dim ? def->head_dim : HONE_MAX(d->hidden / a->heads, (int64_t)1),
                                  1, 1 << 16);
    if (c->status == HONE_OK && a->heads % a->kv_heads != 0)
        hone_config_refuse(c, "num_attention_heads %lld is no multiple of num_key_value_heads %lld", (long long)a->heads,
                           (long long)a->kv_heads);
}

/* The reference gives the padding token's embedding no gradient, though the token may well occur: it often is the end of text too.
 * A negative one counts from the end. */
static void read_padding(hone_config *c, hone_decoder_config *d, const hone_decoder_defaults *def)
{
    bool    null = json_is_null(json_object_get(c->root, "pad_token_id"));
    int64_t absent = def->padding == HONE_PADDING_0 ? 0 : def->padding > 0 && def->padding < d->vocab ? def->padding : -1;
    int64_t padding = hone_config_int(c, "pad_token_id", INT64_MAX, -d->vocab, INT64_MAX);

    d->padding = null ? -1 : padding == INT64_MAX ? absent : padding < 0 ? padding + d->vocab : padding;
}

static void read_act(hone_config *c, hone_decoder_config *d, const hone_decoder_defaults *def)
{
    const char *key = def->act_key ? def->act_key : "hidden_act", *absent = def->act ? def->act : "silu";
    const char *name = hone_config_string(c, key, absent);

    d->mlp.xielu = strcmp(absent, "xielu") == 0 && strcmp(name, "xielu") == 0;
    if (!d->mlp.xielu)
        d->mlp.act = hone_config_act(c, key, absent);
}

void hone_config_decoder(hone_config *c, hone_decoder_config *d, const hone_decoder_defaults *def)
{
    *d = (hone_decoder_config){ .names = llama_names, .embed_dropout = -1, .attention_out_dropout = -1, .mlp_out_dropout = -1 };
    read_sizes(c, d, def);
    read_padding(c, d, def);
    read_act(c, d, def);
    d->norm.eps = def->norm_eps > 0 ? def->norm_eps : 1e-6;
    if (!def->norm_eps_key || *def->norm_eps_key)
        d->norm.eps = hone_config_epsilon(c, def->norm_eps_key ? def->norm_eps_key : "rms_norm_eps", d->norm.eps);
    d->attention.norm = d->norm;
    d->tied = hone_config_bool(c, "tie_word_embeddings", def->tied);
    d->attention.dropout = hone_config_probability(c, "attention_dropout", def->dropout);
    if (!def->own_rope)
        hone_config_rope(c, &d->rope[0], d->attention.head_dim, d->positions, &def->rope);
    d->layer = hone_calloc((size_t)d->layers, sizeof *d->layer);
    if (!d->layer && c->status == HONE_OK)
        c->status = HONE_E_NOMEM;
}

/* "layer_types", NULL where it is absent or a fault was noted. */
static const json_t *layer_types(hone_config *c, int64_t layers)
{
    const json_t *types = hone_config_raw(c, "layer_types");

    if (!types || c->status != HONE_OK)
        return NULL;
    if (json_is_array(types) && (int64_t)json_array_size(types) == layers)
        return types;
    c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"layer_types\" must be an array of %lld entries, one a layer",
                          (long long)layers);
    return NULL;
}

static bool type_slides(hone_config *c, const json_t *types, int64_t i)
{
    const char *type = json_string_value(json_array_get(types, (size_t)i));

    if (type && strcmp(type, "sliding_attention") == 0)
        return true;
    if (!type || strcmp(type, "full_attention") != 0)
        hone_config_refuse(c, "\"layer_types\": layer type \"%s\" is not implemented for %s", type ? type : "(not a string)", c->family);
    return false;
}

void hone_config_windows(hone_config *c, hone_decoder_config *d, int32_t window, int64_t full_every)
{
    const json_t *types = layer_types(c, d->layers);

    for (int64_t i = 0; i < d->layers && c->status == HONE_OK; i++) {
        d->layer[i].slides = types ? type_slides(c, types, i) : (i + 1) % full_every != 0;
        d->layer[i].window = d->layer[i].slides ? window : 0;
        if (d->layer[i].slides && window == 0)
            hone_config_refuse(c, "layer %lld slides, but \"sliding_window\" gives no window", (long long)i);
    }
}

void hone_config_all_slide(hone_decoder_config *d, int32_t window)
{
    for (int64_t i = 0; d->layer && i < d->layers; i++) {
        d->layer[i].slides = window > 0;
        d->layer[i].window = window;
    }
}

void hone_config_rope_of_type(hone_decoder_config *d)
{
    for (int64_t i = 0; d->layer && i < d->layers; i++)
        d->layer[i].rope = d->layer[i].slides ? 1 : 0;
}

void hone_config_whole_heads(hone_config *c, const hone_decoder_config *d)
{
    const hone_attention_config *a = &d->attention;

    if (a->heads * a->head_dim != d->hidden)
        hone_config_refuse(c, "num_attention_heads %lld times head_dim %lld is not hidden_size %lld, as %s has it",
                           (long long)a->heads, (long long)a->head_dim, (long long)d->hidden, c->family);
}

void hone_config_even_rope(hone_config *c, const hone_decoder_config *d)
{
    if (d->rope[0].dim % 2 != 0)
        hone_config_refuse(c, "\"partial_rotary_factor\" rotates %lld elements of a head; %s needs an even number of them",
                           (long long)d->rope[0].dim, c->family);
}

void hone_config_norms_behind(hone_decoder_config *d)
{
    d->names.attention_in = d->names.mlp_in = NULL;
    d->names.attention_out = "post_attention_layernorm";
    d->names.mlp_out = "post_feedforward_layernorm";
}

void hone_config_gemma_blocks(hone_config *c, hone_decoder_config *d)
{
    static const char *const unused[] = { "hidden_act" };   /* hidden_activation is what counts */

    hone_config_ignore(c, unused, HONE_COUNTOF(unused));
    hone_config_only_bool(c, "use_bidirectional_attention", false);
    d->names.attention_out = "post_attention_layernorm";
    d->names.mlp_in = "pre_feedforward_layernorm";
    d->names.mlp_out = "post_feedforward_layernorm";
    d->norm.offset = d->attention.norm.offset = 1;
    d->embed_scale = sqrt((double)d->hidden);
    d->embed_scale_in_dtype = true;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
}

int32_t hone_config_window(hone_config *c, int32_t absent)
{
    bool null = json_is_null(json_object_get(c->root, "sliding_window"));

    return (int32_t)hone_config_int(c, "sliding_window", null ? 0 : absent, 0, INT32_MAX);
}

void hone_config_qwen_windows(hone_config *c, hone_decoder_config *d)
{
    bool          on = hone_config_bool(c, "use_sliding_window", false);
    int32_t       window = hone_config_window(c, 4096);
    int64_t       from = hone_config_int(c, "max_window_layers", 28, 0, INT32_MAX);
    const json_t *types = layer_types(c, d->layers);

    for (int64_t i = 0; i < d->layers && c->status == HONE_OK; i++) {
        bool slides = types ? type_slides(c, types, i) : on && i >= from;

        if (slides && types && (!on || window == 0))
            hone_config_refuse(c, "\"layer_types\" has sliding layers, but \"use_sliding_window\" gives no window");
        d->layer[i].slides = slides;
        d->layer[i].window = slides && on ? window : 0;
    }
}
