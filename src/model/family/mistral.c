/* Mistral 7B and its relatives (Jiang et al. 2023): a llama whose layers all see a sliding window, where the file gives one. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 32000, .hidden = 4096, .intermediate = 14336, .layers = 32, .heads = 32,
                                                .kv_heads = 8, .positions = 131072 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    hone_config_all_slide(d, hone_config_window(c, 4096));
}

const hone_family hone_family_mistral = { "mistral", read, NULL };
