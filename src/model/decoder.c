#include "model/decoder.h"

#include "base/mem.h"

void hone_config_decoder(hone_config *c, hone_decoder_config *d, const hone_decoder_defaults *def)
{
    int64_t positions = hone_config_int(c, "max_position_embeddings", def->positions, 1, INT32_MAX);
    bool    null_kv = json_is_null(json_object_get(c->root, "num_key_value_heads"));

    d->vocab = hone_config_int(c, "vocab_size", def->vocab, 1, INT32_MAX);
    d->hidden = hone_config_int(c, "hidden_size", def->hidden, 1, 1 << 24);
    d->intermediate = hone_config_int(c, "intermediate_size", def->intermediate, 1, 1 << 24);
    d->layers = hone_config_int(c, "num_hidden_layers", def->layers, 1, 1 << 14);
    d->heads = hone_config_int(c, "num_attention_heads", def->heads, 1, 1 << 16);
    d->kv_heads = hone_config_int(c, "num_key_value_heads", null_kv || !def->kv_heads ? d->heads : def->kv_heads, 1, 1 << 16);
    d->head_dim = hone_config_int(c, "head_dim", def->head_dim ? def->head_dim : d->hidden / HONE_MAX(d->heads, (int64_t)1), 1, 1 << 16);
    d->act = hone_config_act(c, "hidden_act", "silu");
    d->norm_eps = hone_config_epsilon(c, "rms_norm_eps", 1e-6);
    d->tied = hone_config_bool(c, "tie_word_embeddings", false);
    d->attention_dropout = hone_config_probability(c, "attention_dropout", 0);
    d->positions = positions;
    hone_config_rope(c, &d->rope, d->head_dim, positions, 10000);
    if (c->status == HONE_OK && d->heads % d->kv_heads != 0)
        hone_config_refuse(c, "num_attention_heads %lld is no multiple of num_key_value_heads %lld", (long long)d->heads,
                           (long long)d->kv_heads);
}

hone_status hone_config_decoder_build(hone_model *m, hone_builder *b, hone_config *c, hone_decoder_config *d, bool windows,
                                      double dropout)
{
    hone_status st;

    if (c->status != HONE_OK)
        return c->status;
    if (dropout >= 0)
        d->attention_dropout = (float)dropout;
    d->windows = hone_calloc((size_t)d->layers, sizeof *d->windows);
    if (!d->windows)
        return HONE_E_NOMEM;
    if (windows)
        hone_config_qwen_windows(c, d->windows, d->layers);
    st = c->status == HONE_OK ? hone_decoder_build(m, b, d) : c->status;
    hone_free(d->windows);
    return st;
}
