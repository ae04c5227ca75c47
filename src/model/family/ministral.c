/* Ministral 8B (Mistral AI 2024): a mistral whose layers may be of either type. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 32000, .hidden = 4096, .intermediate = 14336, .layers = 32, .heads = 32,
                                                .kv_heads = 8, .positions = 131072 };

static void read(hone_config *c, hone_decoder_config *d)
{
    int32_t window;

    hone_config_decoder(c, d, &defaults);
    window = hone_config_window(c, 4096);
    hone_config_windows(c, d, window, window > 0 ? HONE_ALL_SLIDE : HONE_ALL_FULL);
}

const hone_family hone_family_ministral = { "ministral", read, NULL };
