/*
 * nn/batch.h -- a micro-batch: a flat list of tokens in which samples are isolated. There is no padding.
 */
#ifndef HONE_NN_BATCH_H
#define HONE_NN_BATCH_H

#include "base/ctx.h"
#include "base/vec.h"
#include "tensor/tensor.h"

/* One sample as the caller has it; arrays are read during creation only. */
typedef struct hone_sample_view {
    const int32_t *ids;         /* [n] */
    const int32_t *labels;      /* [n]: labels[t] belongs to ids[t] (−100 = none), so token t-1 predicts it; NULL = none */
    int64_t        n;
    uint32_t       id;          /* global number of the sample: names its dropout masks */
} hone_sample_view;

typedef struct hone_rope_table { const void *spec; hone_tensor *cos, *sin; } hone_rope_table;

typedef struct hone_batch {
    hone_ctx *ctx;              /* borrowed */
    int64_t   tokens, samples;
    int64_t   predicted;        /* labels[t] >= 0 */
    int32_t  *ids;              /* [tokens] */
    int32_t  *positions;        /* [tokens], from 0 within each sample (from `past` with a cache) */
    int32_t  *token_samples;    /* [tokens] global sample id */
    int32_t  *labels;           /* [tokens] shifted: what token t predicts, −100 = nothing */
    double   *weights;          /* [tokens] gradient of the loss by each token's nll; all 1 until set */
    int32_t  *cu;               /* [samples + 1] offsets of the samples */
    int32_t  *cu_keys;          /* the same for keys: differs from cu only with a cache */
    int32_t  *sample_ids;       /* [samples] */
    struct hone_kv_cache *cache;/* borrowed, or NULL; then there is one sample */
    HONE_VEC(hone_rope_table) ropes;
} hone_batch;

/* Errors: E_DATA for an id outside [0, vocab), by sample and place; E_NOMEM. With `cache`, the one sample's tokens follow
 * those already in it. */
hone_status hone_batch_create(hone_batch **out, hone_ctx *ctx, const hone_sample_view *samples, int64_t n, int64_t vocab,
                              struct hone_kv_cache *cache) HONE_MUST_CHECK;
void        hone_batch_destroy(hone_batch **batch);
/* Length of sample s, past included. */
int64_t     hone_batch_sample_length(const hone_batch *batch, int64_t s);

/* Keys and values of the tokens seen so far, per layer, for generation. */
typedef struct hone_kv_cache {
    hone_ctx     *ctx;
    int           layers;
    int64_t       length;           /* tokens */
    hone_tensor **k, **v;           /* [at least length, kv_heads · dim], grown as layers write */
} hone_kv_cache;

hone_status hone_kv_cache_create(hone_kv_cache **out, hone_ctx *ctx, int layers) HONE_MUST_CHECK;
void        hone_kv_cache_destroy(hone_kv_cache **cache);
/* Append a layer's new keys and values; *k and *v become views of all so far, owned by the current scope. */
void        hone_kv_cache_append(hone_ctx *ctx, const hone_batch *batch, int layer, hone_tensor **k, hone_tensor **v);

#endif /* HONE_NN_BATCH_H */
