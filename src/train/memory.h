/* train/memory.h -- what training a model would take, measured: steps of the real code on the meta device. */
#ifndef HONE_TRAIN_MEMORY_H
#define HONE_TRAIN_MEMORY_H

#include "model/load.h"

typedef struct hone_memory_case {
    hone_dtype compute;             /* F32 or BF16 */
    bool       recompute;           /* of layers */
    int64_t    samples, tokens;     /* of one micro-batch: this many samples of this many tokens, all of them labelled */
    int        threads;             /* 0 = all processors; kernels work in memory of their own, for each thread */
} hone_memory_case;

typedef struct hone_memory {
    size_t fixed;                   /* bytes of weights, masters, gradients and moments */
    size_t peak;                    /* most bytes at once, as metrics.jsonl has it in "memory" */
} hone_memory;

/*
 * Memory of training all weights of the model in `path` with AdamW. No weight is read, so that models fit that this machine
 * cannot hold. Errors: those of hone_model_load; E_USAGE for samples longer than learned positions.
 */
hone_status hone_memory_measure(hone_memory *out, const char *path, const hone_memory_case *c) HONE_MUST_CHECK;

#endif /* HONE_TRAIN_MEMORY_H */
