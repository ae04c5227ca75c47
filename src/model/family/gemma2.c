/* Gemma 2 (Gemma Team 2024): a gemma with norms on both sides, soft caps, and windows on every other layer. */
#include <math.h>

#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 256000, .hidden = 2304, .intermediate = 9216, .layers = 26, .heads = 8,
    .kv_heads = 4, .head_dim = 256, .positions = 8192, .padding = HONE_PADDING_0,
    .act_key = "hidden_activation", .act = "gelu_pytorch_tanh", .tied = true };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_attention_config *a = &d->attention;
    int32_t                window = hone_config_window(c, 4096);

    hone_config_decoder(c, d, &defaults);
    hone_config_gemma_blocks(c, d);
    hone_config_windows(c, d, window, 2);
    if (hone_config_int(c, "sliding_window_size", window, 0, INT32_MAX) != window)
        hone_config_refuse(c, "\"sliding_window_size\" must be sliding_window %d", (int)window);
    a->scale = 1 / sqrt(hone_config_scale(c, "query_pre_attn_scalar", 256));
    a->softcap = hone_config_limit(c, "attn_logit_softcapping", 50);
    d->logit_softcap = hone_config_limit(c, "final_logit_softcapping", 30);
}

const hone_family hone_family_gemma2 = { "gemma2", read, NULL };
