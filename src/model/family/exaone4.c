/* EXAONE 4.0 (LG AI Research 2025): norms behind attention and mlp, head norms on q and k, rotation only in sliding layers. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 102400, .hidden = 4096, .intermediate = 16384, .layers = 32, .heads = 32,
                                                .kv_heads = 32, .positions = 2048, .norm_eps = 1e-5 };

/* A number, or a word such as "LLLG" that only describes layer_types. */
static int64_t pattern(hone_config *c)
{
    if (json_is_string(hone_config_raw(c, "sliding_window_pattern")) && hone_config_raw(c, "layer_types"))
        return HONE_ALL_FULL;
    return hone_config_int(c, "sliding_window_pattern", 4, 0, INT32_MAX);
}

static void read(hone_config *c, hone_decoder_config *d)
{
    int32_t window = hone_config_window(c, 4096);
    int64_t every = pattern(c);

    hone_config_decoder(c, d, &defaults);
    hone_config_norms_behind(d);
    hone_config_windows(c, d, window, window == 0 || every == 0 ? HONE_ALL_FULL : every);
    for (int64_t i = 0; i < d->layers && c->status == HONE_OK && window > 0; i++)
        d->layer[i].rope = d->layer[i].slides ? 0 : -1;
    d->attention.qk_norm = HONE_QK_NORM_HEAD;
}

const hone_family hone_family_exaone4 = { "exaone4", read, NULL };
