/* Ministral 3 (Mistral AI 2025): a mistral with YaRN, whose queries grow with their position. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 131072, .hidden = 4096, .intermediate = 14336, .layers = 34, .heads = 32,
    .kv_heads = 8, .head_dim = 128, .positions = 262144, .padding = 11, .norm_eps = 1e-5, .own_rope = true };
static const hone_rope_defaults rope = { .growth = true };

/* What the config class takes where the file has no rotary settings. */
static void default_rope(hone_rope_spec *s, const hone_decoder_config *d)
{
    *s = (hone_rope_spec){ .type = HONE_ROPE_YARN, .dim = d->attention.head_dim, .base = 1000000, .factor = 16,
                           .max_positions = (double)d->positions, .original_max_positions = 16384, .attention_factor = -1,
                           .beta_fast = 32, .beta_slow = 1, .mscale = 1, .mscale_all_dim = 1, .truncate = true, .growth = 0.1 };
}

static void read(hone_config *c, hone_decoder_config *d)
{
    bool given = hone_config_raw(c, "rope_parameters") || hone_config_raw(c, "rope_scaling");

    hone_config_decoder(c, d, &defaults);
    hone_config_all_slide(d, hone_config_window(c, 0));
    if (given)
        hone_config_rope(c, &d->rope[1], d->attention.head_dim, d->positions, &rope);
    else
        default_rope(&d->rope[1], d);
    d->rope[0] = d->rope[1];
    d->rope[0].growth = 0;
    d->own_query_rope = true;
}

const hone_family hone_family_ministral3 = { "ministral3", read, NULL };
