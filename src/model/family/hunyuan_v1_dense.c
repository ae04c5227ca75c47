/* Hunyuan dense V1 (Tencent 2025): a llama with norms on each head of q and k behind the rotation, and a rotary base stretched by
 * "alpha". */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 290943, .hidden = 4096, .intermediate = 11008, .layers = 32, .heads = 32,
                                                .positions = 2048, .padding = HONE_PADDING_0, .norm_eps = 1e-5, .rope = { .alpha = true } };

static void read(hone_config *c, hone_decoder_config *d)
{
    static const char *const    unused[] = { "anyres_pooling_size", "anyres_vit_max_image_size", "anyres_vit_two_views", "cla_share_factor",
        "class_num", "dense_list", "enable_lm_head_fp32", "eod_token_id", "im_end_id", "im_newline_id",
        "im_start_id", "image_token_id", "mask_init_id", "num_media_embeds", "org_vocab_size", "pad_id", "pool_type", "skip_cls_token",
        "text_end_id", "text_start_id", "video_end_id", "video_start_id" };
    static const hone_fixed_key fixed[] = { { "add_classification_head", "false" }, { "norm_type", "rms" }, { "num_experts", "1" },
        { "position_embedding_xdrope", "false" }, { "use_qk_norm", "true" }, { "use_rotary_pos_emb", "true" } };
    hone_attention_config      *a = &d->attention;

    hone_config_decoder(c, d, &defaults);
    hone_config_ignore(c, unused, HONE_COUNTOF(unused));
    hone_config_fixed(c, fixed, HONE_COUNTOF(fixed));
    if (hone_config_int(c, "attention_head_dim", a->head_dim, 1, INT32_MAX) != a->head_dim)
        hone_config_refuse(c, "\"attention_head_dim\" must be head_dim %lld", (long long)a->head_dim);
    a->qk_norm = HONE_QK_NORM_HEAD;
    a->norm_after_rope = true;
    a->q_norm = "query_layernorm";
    a->k_norm = "key_layernorm";
    a->qkv_bias = a->out_bias = hone_config_bool(c, "attention_bias", false);
}

const hone_family hone_family_hunyuan_v1_dense = { "hunyuan_v1_dense", read, NULL };
