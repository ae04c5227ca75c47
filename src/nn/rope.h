/*
 * nn/rope.h -- rotary position frequencies: every scaling rule of the families' configs.
 *
 * Frequencies may depend on a sample's own length (dynamic, longrope), so tables are made per token of a micro-batch, never from the
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
    HONE_ROPE_LLAMA3,   /* Llama 3.1: long wavelengths divided by `factor`, medium ones blended */
    HONE_ROPE_LONGROPE  /* Ding et al. 2024: a factor for each frequency, another set past the original context */
} hone_rope_type;

enum { HONE_ROPE_PAIRS_MAX = 256 };     /* longrope */

typedef struct hone_rope_spec {
    hone_rope_type type;
    int64_t dim;                        /* rotated elements of a head; an odd number rotates one more, as in the reference */
    bool    interleaved;                /* pairs (2i, 2i+1) instead of (i, i + pairs) */
    bool    reversed;                   /* by the negative angle */
    double  base;                       /* rope_theta */
    double  factor;
    double  max_positions;              /* max_position_embeddings (dynamic) */
    double  original_max_positions;     /* yarn, llama3, longrope */
    double  attention_factor;           /* yarn, longrope; < 0: from factor (and the mscales) */
    double  beta_fast, beta_slow;       /* yarn */
    double  mscale, mscale_all_dim;     /* yarn; 0 = not given */
    bool    truncate;                   /* yarn */
    double  low_freq_factor, high_freq_factor;  /* llama3 */
    double  growth;                     /* cos and sin of position p times 1 + growth · ln(1 + ⌊p / original_max_positions⌋): queries
                                         * that grow with the distance (Llama 4); 0 = they do not */
    float   short_factor[HONE_ROPE_PAIRS_MAX], long_factor[HONE_ROPE_PAIRS_MAX];    /* longrope, [pairs] */
} hone_rope_spec;

/* Pairs that are rotated: the length of a row of cosines. */
static inline int64_t hone_rope_pairs(const hone_rope_spec *s) { return (s->dim + 1) / 2; }

/* inv_freq[pairs] for a sample of `length` tokens; returns the factor on cos and sin. */
double hone_rope_frequencies(float *inv_freq, const hone_rope_spec *spec, int64_t length);

/* cos and sin [tokens, pairs] f32 of the batch for `spec` (which must outlive it); made once, owned by the batch. NULL with
 * the context failed when memory is out. */
const hone_rope_table *hone_rope_tables(hone_ctx *ctx, hone_batch *batch, const hone_rope_spec *spec);

#endif /* HONE_NN_ROPE_H */
