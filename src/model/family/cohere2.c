/* Command R7B and Command A (Cohere 2024): a cohere in which three layers of four slide, and only those rotate. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 256000, .hidden = 8192, .intermediate = 22528, .layers = 40, .heads = 64,
    .positions = 8192, .padding = HONE_PADDING_0, .norm_eps_key = "layer_norm_eps", .norm_eps = 1e-5, .tied = true };

static void read(hone_config *c, hone_decoder_config *d)
{
    /* how Cohere's own code spells what the reference always does */
    static const hone_fixed_key fixed[] = { { "order_of_interleaved_layers", "local_attn_first" }, { "position_embedding_type", "rope_gptj" },
        { "rotary_pct", "1" }, { "use_gated_activation", "true" }, { "use_parallel_block", "true" } };
    static const char *const    unused[] = { "layer_switch", "use_parallel_embedding" };

    hone_config_decoder(c, d, &defaults);
    hone_config_fixed(c, fixed, HONE_COUNTOF(fixed));
    hone_config_ignore(c, unused, HONE_COUNTOF(unused));
    hone_config_only_bool(c, "use_embedding_sharing", d->tied);
    hone_config_windows(c, d, hone_config_window(c, 4096), hone_config_int(c, "sliding_window_pattern", 4, 1, INT32_MAX));
    for (int64_t i = 0; i < d->layers && c->status == HONE_OK; i++)
        d->layer[i].rope = d->layer[i].window > 0 ? 0 : -1;
    d->parallel = true;
    d->names.mlp_in = NULL;
    d->norm.kind = HONE_NORM_LAYER;
    d->rope[0].interleaved = true;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
    d->logit_scale = hone_config_scale(c, "logit_scale", 0.0625);
}

const hone_family hone_family_cohere2 = { "cohere2", read, NULL };
