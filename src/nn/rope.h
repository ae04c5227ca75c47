/*
 * nn/rope.h -- rotary position frequencies: every scaling rule of llama and qwen configs.
 *
 * Frequencies may depend on a sample's own length (dynamic), so tables are made per token of a micro-batch, never from the
 * company a sample is in. Angles are products in f32, as the reference computes them in every dtype.
 */
#ifndef HONE_NN_ROPE_H
#define HONE_NN_ROPE_H

#include "nn/batch.h"

typedef enum hone_rope_type {
    HONE_ROPE_DEFAULT,  /* Su et al. 2021 */
    HONE_ROPE_LINEAR,   /* positions divided by `factor` */
    HONE_ROPE_DYNAMIC,  /* NTK: the base grows with a sample's length past max_positions */
    HONE_ROPE_YARN,     /* Peng et al. 2023 */
    HONE_ROPE_LLAMA3    /* Llama 3.1: long wavelengths divided by `factor`, medium ones blended */
} hone_rope_type;

typedef struct hone_rope_spec {
    hone_rope_type type;
    int64_t dim;                        /* rotated elements of a head, even */
    double  base;                       /* rope_theta */
    double  factor;
    double  max_positions;              /* max_position_embeddings (dynamic) */
    double  original_max_positions;     /* yarn, llama3 */
    double  attention_factor;           /* yarn; < 0: from factor and the mscales */
    double  beta_fast, beta_slow;       /* yarn */
    double  mscale, mscale_all_dim;     /* yarn; 0 = not given */
    bool    truncate;                   /* yarn */
    double  low_freq_factor, high_freq_factor;  /* llama3 */
} hone_rope_spec;

/* inv_freq[dim / 2] for a sample of `length` tokens; returns the factor on cos and sin. */
double hone_rope_frequencies(float *inv_freq, const hone_rope_spec *spec, int64_t length);

/* cos and sin [tokens, dim / 2] f32 of the batch for `spec` (which must outlive it); made once, owned by the batch. NULL with
 * the context failed when memory is out. */
const hone_rope_table *hone_rope_tables(hone_ctx *ctx, hone_batch *batch, const hone_rope_spec *spec);

#endif /* HONE_NN_ROPE_H */
