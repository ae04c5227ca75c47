/*
 * nn/model.h -- what every model is to the trunk: an embedding, blocks, a final norm, a head.
 */
#ifndef HONE_NN_MODEL_H
#define HONE_NN_MODEL_H

#include "base/str.h"
#include "nn/batch.h"
#include "nn/module.h"

typedef struct hone_model hone_model;

/* What a family computes, on whole tensors of tokens; it knows nothing of recompute or parallelism. */
typedef struct hone_model_ops {
    hone_tensor *(*embed)(hone_ctx *ctx, const hone_model *m, hone_batch *batch);                           /* -> [T, hidden] */
    hone_tensor *(*block)(hone_ctx *ctx, const hone_model *m, int i, hone_tensor *h, hone_batch *batch);    /* -> [T, hidden] */
    hone_tensor *(*final)(hone_ctx *ctx, const hone_model *m, hone_tensor *h);                              /* -> [T, hidden] */
    /* In words, appended to `out`: what block i computes, and what the model does around its blocks. */
    void (*describe_block)(hone_str *out, const hone_model *m, int i);
    void (*describe)(hone_str *out, const hone_model *m);
} hone_model_ops;

struct hone_model {
    const char           *family;       /* model_type */
    const char           *base_prefix;  /* module that all but the head is under: files of the base model alone leave it out */
    const hone_model_ops *ops;
    hone_params          *params;       /* owned */
    hone_module          *root;         /* owned */
    hone_plan             plan;         /* the default one */
    void                 *state;        /* the family's own modules, owned (plain memory) */
    int                   blocks;
    int64_t               vocab, hidden;
    int64_t               max_positions;/* longest sample the embedding can place; 0 = no limit */
    int64_t               rated_positions;  /* max_position_embeddings of rotary positions, which go on past it; 0 = none */
    int64_t               rope_length;  /* longer samples rotate by frequencies that depend on their length; 0 = none do */
    bool                  rope_steps;   /* ... by one other set (longrope), not by one for each length (dynamic) */
    const char           *head_name;    /* of the head's module, which a tied model's file may have too */
    hone_param           *head;         /* [vocab, hidden]; the embedding's own when tied */
    hone_param           *head_bias;    /* [vocab], or NULL */
    double                logit_scale;  /* logits are multiplied by it; 0 = by 1 */
    double                logit_softcap;/* and softly capped (op/op.h, hone_head); 0 = not */
    bool                  tied;
};

void hone_model_destroy(hone_model **model);

/* ---- the trunk: the loop over blocks, where recompute (and later pipeline stages) attach ------------------------------- */
typedef struct hone_trunk_options {
    bool recompute;                     /* blocks keep their input and attention outputs only */
} hone_trunk_options;

/* Embedding, all blocks, final norm: [T, hidden]. Owned by the current scope. */
hone_tensor *hone_trunk_hidden(hone_ctx *ctx, const hone_model *m, hone_batch *batch, const hone_trunk_options *o);
/* Blocks [first, last) from a given hidden state. */
hone_tensor *hone_trunk_blocks(hone_ctx *ctx, const hone_model *m, int first, int last, hone_tensor *h, hone_batch *batch,
                               const hone_trunk_options *o);
/* Per-token negative log-likelihoods [T] of the batch's labels; in a recording context the gradients for the batch's weights
 * are made on the way. */
hone_tensor *hone_trunk_nll(hone_ctx *ctx, const hone_model *m, hone_batch *batch, const hone_trunk_options *o);
/* Logits [rows, vocab] in the accumulation type of hidden states [rows, hidden]; never recorded. */
hone_tensor *hone_trunk_logits(hone_ctx *ctx, const hone_model *m, hone_tensor *hidden);

#endif /* HONE_NN_MODEL_H */
