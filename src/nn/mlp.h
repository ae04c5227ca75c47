/* nn/mlp.h -- the gated feed-forward layer (Shazeer 2020): down(act(gate(x)) · up(x)). */
#ifndef HONE_NN_MLP_H
#define HONE_NN_MLP_H

#include "nn/module.h"
#include "op/op.h"

typedef struct hone_gated_mlp { hone_linear gate, up, down; hone_act act; } hone_gated_mlp;

/* Declares NAME.gate_proj, up_proj, down_proj. */
void hone_build_gated_mlp(hone_builder *b, hone_gated_mlp *out, const char *name, int64_t hidden, int64_t intermediate,
                          hone_act act, bool bias);
/* x [T, hidden] -> residual + mlp(x). */
hone_tensor *hone_gated_mlp_forward(hone_ctx *ctx, const hone_gated_mlp *m, hone_tensor *x, hone_tensor *residual);

#endif /* HONE_NN_MLP_H */
