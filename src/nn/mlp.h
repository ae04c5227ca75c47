/* nn/mlp.h -- the feed-forward layer: gated, down(act(gate(x)) · up(x)) (Shazeer 2020), or plain, down(act(up(x))). */
#ifndef HONE_NN_MLP_H
#define HONE_NN_MLP_H

#include "nn/module.h"
#include "op/op.h"

typedef enum hone_mlp_kind {
    HONE_MLP_GATED,             /* gate and up are two matrices */
    HONE_MLP_GATED_FUSED,       /* one matrix, [gate; up], under the name of `up` */
    HONE_MLP_PLAIN
} hone_mlp_kind;

typedef struct hone_mlp_config {
    hone_mlp_kind kind;
    int64_t       hidden, intermediate;
    hone_act      act;
    bool          xielu;        /* instead of `act`: xIELU with parameters act_fn.alpha_p, act_fn.alpha_n (Huang 2024); plain only */
    bool          bias, conv1d;
    const char   *gate, *up, *down;     /* names; NULL: gate_proj, up_proj (fused: gate_up_proj), down_proj */
} hone_mlp_config;

typedef struct hone_mlp { hone_linear gate, up, down; hone_param *alpha_p, *alpha_n; hone_mlp_config config; } hone_mlp;

void hone_build_mlp(hone_builder *b, hone_mlp *out, const char *name, const hone_mlp_config *c);
/* x [T, hidden] -> residual + mlp(x); `residual` may be NULL. */
hone_tensor *hone_mlp_forward(hone_ctx *ctx, const hone_mlp *m, hone_tensor *x, hone_tensor *residual);

#endif /* HONE_NN_MLP_H */
