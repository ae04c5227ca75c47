/* A small decoder with random weights, and batches for it. */
#ifndef TINY_MODEL_H
#define TINY_MODEL_H

#include "nn/decoder.h"
#include "runtime/ctx.h"

typedef struct t_tiny_spec {
    int        threads;
    hone_dtype dtype;
    float      dropout;
    int32_t    window;          /* of the second layer */
    hone_rope_type rope;
    bool       untied;
} t_tiny_spec;

/* Two layers, hidden 20, 4 heads over 2, head size 6, vocabulary 37; weights are a function of their names. */
hone_ctx   *t_ctx(int threads);
hone_model *t_tiny_model(hone_ctx *ctx, const t_tiny_spec *spec);
/* n samples of these lengths with ids and labels from a fixed rule; sample s has global id first_id + s. */
hone_batch *t_tiny_batch(hone_ctx *ctx, const hone_model *m, const int64_t *lengths, int64_t n, uint32_t first_id);
/* Loss and gradients of one micro-batch into the parameters (cleared before unless `accumulate`); weight per token. */
double      t_run(hone_ctx *ctx, const hone_model *m, hone_batch *b, bool recompute, double weight, bool accumulate);
/* All gradients as one fresh array of n floats (F32 and BF16 models); the caller frees with hone_free. */
float      *t_gradients(const hone_model *m, size_t *n);

#endif /* TINY_MODEL_H */
