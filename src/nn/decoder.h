/*
 * nn/decoder.h -- the decoder that every dense family is: embedding, blocks of attention and feed-forward around a residual
 * stream, a last norm, a head. A family is a configuration of it.
 *
 * A block computes, with any of the four norms absent,
 *     h += s · attention_out(attention(attention_in(h)));  h += s · mlp_out(mlp(mlp_in(h)))
 * or, in parallel (Wang & Komatsuzaki 2021),
 *     h += s · attention(attention_in(h)) + s · mlp(mlp_in(h)),    where mlp reads attention_in(h) if it has no norm of its own.
 */
#ifndef HONE_NN_DECODER_H
#define HONE_NN_DECODER_H

#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/model.h"

/* Module names as the checkpoint has them; those that may be NULL say so. */
typedef struct hone_decoder_names {
    const char *root;               /* "model": what all but the head is under */
    const char *embedding, *positions;              /* positions: a table of learned ones, or NULL */
    const char *layers, *attention, *mlp;
    const char *attention_in, *attention_out, *mlp_in, *mlp_out;    /* norms; NULL = there is none */
    const char *norm, *head;
} hone_decoder_names;

enum { HONE_DECODER_ROPES = 2 };

/* What differs from layer to layer. */
typedef struct hone_decoder_layer {
    bool    slides;                 /* a "sliding_attention" layer, whether or not there is a window */
    int32_t window;                 /* 0 = none */
    int     rope;                   /* which of the config's ropes; -1 = no rotation */
    double  scale;                  /* of the scores; 0 = as in the config's attention */
} hone_decoder_layer;

typedef struct hone_decoder_config {
    int64_t               vocab, hidden, layers;
    int64_t               padding;          /* the token whose embedding does not learn from where it stands in a sample; -1 = none */
    int64_t               positions;        /* what the model is made for; a limit only with learned positions */
    hone_decoder_names    names;
    hone_norm_spec        norm;             /* of the blocks and the last one */
    hone_attention_config attention;        /* of every layer, but for what hone_decoder_layer has */
    hone_mlp_config       mlp;
    hone_decoder_layer   *layer;            /* [layers], owned by the caller */
    hone_rope_spec        rope[HONE_DECODER_ROPES];
    bool                  own_query_rope;   /* queries rotate by rope[1], keys by the layer's */
    bool                  parallel;
    bool                  norm_embedding;   /* a norm like the last one, without parameters, on the embeddings (nanochat) */
    double                embed_scale, residual_scale;      /* 0 = 1 */
    bool                  embed_scale_in_dtype;             /* rounded to the compute dtype first (Gemma) */
    float                 embed_dropout, attention_out_dropout, mlp_out_dropout;    /* below 0: the family has no such dropout */
    bool                  tied;             /* the head is the embedding */
    bool                  head_bias;
    double                logit_scale, logit_softcap;       /* 0 = 1, none */
} hone_decoder_config;

/* Declare the modules and make `m` compute them. */
hone_status hone_decoder_build(hone_model *m, hone_builder *b, const hone_decoder_config *c) HONE_MUST_CHECK;

#endif /* HONE_NN_DECODER_H */
