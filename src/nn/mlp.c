#include "nn/mlp.h"

void hone_build_gated_mlp(hone_builder *b, hone_gated_mlp *out, const char *name, int64_t hidden, int64_t intermediate,
                          hone_act act, bool bias)
{
    out->act = act;
    hone_build_enter(b, name, "gated_mlp");
    hone_build_linear(b, &out->gate, "gate_proj", hidden, intermediate, bias);
    hone_build_linear(b, &out->up, "up_proj", hidden, intermediate, bias);
    hone_build_linear(b, &out->down, "down_proj", intermediate, hidden, bias);
    hone_build_leave(b);
}

hone_tensor *hone_gated_mlp_forward(hone_ctx *ctx, const hone_gated_mlp *m, hone_tensor *x, hone_tensor *residual)
{
    hone_tensor *gate = hone_linear_forward(ctx, &m->gate, x);
    hone_tensor *up = hone_linear_forward(ctx, &m->up, x);

    return hone_linear_forward_add(ctx, &m->down, hone_op_glu(ctx, gate, up, m->act), residual);
}
