/* Gemma 3, the text model (Gemma Team 2025): a gemma 2 without caps, with head norms, five of six layers sliding under a rotary base
 * of their own. */
#include <math.h>

#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 262208, .hidden = 2304, .intermediate = 9216, .layers = 26, .heads = 8,
    .kv_heads = 4, .head_dim = 256, .positions = 131072, .padding = HONE_PADDING_0,
    .act_key = "hidden_activation", .act = "gelu_pytorch_tanh", .tied = true, .own_rope = true };
static const hone_rope_defaults full = { .theta = 1000000 }, sliding = { .theta = 10000 };

static void read(hone_config *c, hone_decoder_config *d)
{
    static const char *const unused[] = { "attn_logit_softcapping" };     /* the reference caps no scores */

    hone_config_decoder(c, d, &defaults);
    hone_config_gemma_blocks(c, d);
    hone_config_windows(c, d, hone_config_window(c, 4096), hone_config_int(c, "sliding_window_pattern", 6, 1, INT32_MAX));
    hone_config_rope_by_type(c, d->rope, d->attention.head_dim, d->positions, &full, &sliding, "rope_local_base_freq");
    hone_config_rope_of_type(d);
    hone_config_ignore(c, unused, HONE_COUNTOF(unused));
    d->attention.qk_norm = HONE_QK_NORM_HEAD;
    d->attention.scale = 1 / sqrt(hone_config_scale(c, "query_pre_attn_scalar", 256));
    d->logit_softcap = hone_config_limit(c, "final_logit_softcapping", 0);
}

const hone_family hone_family_gemma3_text = { "gemma3_text", read, NULL };
