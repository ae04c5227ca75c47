/*
 * nn/decoder.h -- the pre-norm decoder with rotary positions and gated MLPs that llama and its descendants are; a family file
 * says which of its features a config has.
 */
#ifndef HONE_NN_DECODER_H
#define HONE_NN_DECODER_H

#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/model.h"

typedef struct hone_decoder_config {
    int64_t        vocab, hidden, intermediate, layers, heads, kv_heads, head_dim;
    hone_act       act;
    bool           qkv_bias, out_bias, mlp_bias;
    bool           qk_norm;         /* rms_norm on each head of q and k */
    double         norm_eps;
    bool           tied;            /* the head is the embedding */
    float          attention_dropout;
    int32_t       *windows;         /* [layers] sliding window of each, 0 = none; owned by the caller */
    hone_rope_spec rope;
    int64_t        positions;       /* max_position_embeddings: what the model is made for, no limit */
} hone_decoder_config;

/* Declare the modules model.embed_tokens, model.layers.<i>, model.norm and lm_head, and make `m` compute them. */
hone_status hone_decoder_build(hone_model *m, hone_builder *b, const hone_decoder_config *c) HONE_MUST_CHECK;

#endif /* HONE_NN_DECODER_H */
