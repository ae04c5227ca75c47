/* Ministral 8B (Mistral AI 2024): a mistral whose layers may be of either type. */
#include "model/decoder.h"

static void read(hone_config *c, hone_decoder_config *d)
{
    int32_t window = hone_config_window(c, 4096);

    hone_family_mistral.read(c, d);
    hone_config_windows(c, d, window, window > 0 ? HONE_ALL_SLIDE : HONE_ALL_FULL);
}

const hone_family hone_family_ministral = { "ministral", read, NULL };
