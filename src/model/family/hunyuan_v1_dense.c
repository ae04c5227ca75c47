/* Hunyuan dense V1 (Tencent 2025): a llama with norms on each head of q and k behind the rotation, and a rotary base stretched by
 * "alpha". */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 290943, .hidden = 4096, .intermediate = 11008, .layers = 32, .heads = 32,
                                                .positions = 2048, .norm_eps = 1e-5, .rope = { .alpha = true } };

static void read(hone_config *c, hone_decoder_config *d)
{
    static const char *const unused[] = { "eod_token_id" };
    hone_attention_config   *a = &d->attention;

    hone_config_decoder(c, d, &defaults);
    hone_config_ignore(c, unused, HONE_COUNTOF(unused));
    a->qk_norm = HONE_QK_NORM_HEAD;
    a->norm_after_rope = true;
    a->q_norm = "query_layernorm";
    a->k_norm = "key_layernorm";
    a->qkv_bias = a->out_bias = hone_config_bool(c, "attention_bias", false);
}

const hone_family hone_family_hunyuan_v1_dense = { "hunyuan_v1_dense", read, NULL };
