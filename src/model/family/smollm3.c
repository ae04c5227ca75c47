/* SmolLM3 (Hugging Face 2025): a llama in which every fourth layer has no rotary positions. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 128256, .hidden = 2048, .intermediate = 11008, .layers = 36, .heads = 16,
    .kv_heads = 4, .positions = 32768, .padding = 128004, .tied = true, .rope = { .theta = 2000000 } };

/* "no_rope_layers" has a 1 for each layer that rotates. */
static void read_rotation(hone_config *c, hone_decoder_config *d)
{
    int64_t       every = hone_config_int(c, "no_rope_layer_interval", 4, 1, INT32_MAX);
    const json_t *given = hone_config_raw(c, "no_rope_layers");

    if (given && json_array_size(given) != (size_t)d->layers && c->status == HONE_OK)
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"no_rope_layers\" must be an array of %lld entries, one a layer",
                              (long long)d->layers);
    for (int64_t i = 0; i < d->layers && c->status == HONE_OK; i++) {
        const json_t *entry = json_array_get(given, (size_t)i);

        if (given && !(json_is_integer(entry) && (json_integer_value(entry) == 0 || json_integer_value(entry) == 1)))
            c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: entry %lld of \"no_rope_layers\" must be 0 or 1", (long long)i);
        d->layer[i].rope = (given ? json_integer_value(entry) != 0 : (i + 1) % every != 0) ? 0 : -1;
    }
}

static void read(hone_config *c, hone_decoder_config *d)
{
    bool    on = hone_config_bool(c, "use_sliding_window", false);
    int32_t window = hone_config_window(c, 0);

    hone_config_decoder(c, d, &defaults);
    read_rotation(c, d);
    hone_config_windows(c, d, window, HONE_ALL_FULL);
    for (int64_t i = 0; i < d->layers && c->status == HONE_OK && on && !hone_config_raw(c, "layer_types"); i++)
        d->layer[i].window = d->layer[i].rope < 0 ? window : 0;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.bias = hone_config_bool(c, "mlp_bias", false);
}

const hone_family hone_family_smollm3 = { "smollm3", read, NULL };
