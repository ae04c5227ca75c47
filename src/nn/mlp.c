#include "nn/mlp.h"

static void build_xielu(hone_builder *b, hone_mlp *out)
{
    const int64_t one = 1;

    hone_build_enter(b, "act_fn", "xielu");
    out->alpha_p = hone_build_param(b, "alpha_p", 1, &one, true);
    out->alpha_n = hone_build_param(b, "alpha_n", 1, &one, true);
    hone_build_treat(b, NULL, &(hone_plan_row){ .treatment = HONE_TREAT_REPLICATE, .replica = HONE_REPLICA_PART });
    hone_build_leave(b);
}

static void treat(hone_builder *b, const char *name, hone_treatment treatment, const hone_mlp_config *c, int parts)
{
    hone_plan_row row = { .treatment = treatment, .parts = parts, .transposed = c->conv1d };

    for (int i = 0; i < parts; i++)
        row.part[i] = (hone_plan_part){ c->intermediate, 1, false };
    hone_build_treat(b, name, &row);
}

void hone_build_mlp(hone_builder *b, hone_mlp *out, const char *name, const hone_mlp_config *c)
{
    bool        fused = c->kind == HONE_MLP_GATED_FUSED;
    const char *gate = c->gate ? c->gate : "gate_proj", *up = c->up ? c->up : fused ? "gate_up_proj" : "up_proj";
    const char *down = c->down ? c->down : "down_proj";

    out->config = *c;
    hone_build_enter(b, name, c->kind == HONE_MLP_PLAIN ? "mlp" : "gated_mlp");
    if (c->kind == HONE_MLP_GATED) {
        hone_build_linear(b, &out->gate, gate, c->hidden, c->intermediate, c->bias, c->conv1d);
        treat(b, gate, HONE_TREAT_COLWISE, c, 1);
    }
    hone_build_linear(b, &out->up, up, c->hidden, fused ? 2 * c->intermediate : c->intermediate, c->bias, c->conv1d);
    treat(b, up, HONE_TREAT_COLWISE, c, fused ? 2 : 1);
    hone_build_linear(b, &out->down, down, c->intermediate, c->hidden, c->bias, c->conv1d);
    treat(b, down, HONE_TREAT_ROWWISE, c, 1);
    if (c->xielu)
        build_xielu(b, out);
    hone_build_leave(b);
}

static hone_tensor *inner(hone_ctx *ctx, const hone_mlp *m, hone_tensor *x)
{
    hone_tensor *gate = m->config.kind == HONE_MLP_GATED ? hone_linear_forward(ctx, &m->gate, x) : NULL;
    hone_tensor *up = hone_linear_forward(ctx, &m->up, x);

    if (m->config.kind == HONE_MLP_GATED)
        return hone_op_glu(ctx, gate, up, m->config.act);
    if (m->config.kind == HONE_MLP_GATED_FUSED)
        return hone_op_glu_fused(ctx, up, m->config.act);
    if (m->config.xielu)
        return hone_op_xielu(ctx, up, m->alpha_p->value, m->alpha_n->value);
    return hone_op_activation(ctx, up, m->config.act);
}

hone_tensor *hone_mlp_forward(hone_ctx *ctx, const hone_mlp *m, hone_tensor *x, hone_tensor *residual)
{
    return hone_linear_forward_add(ctx, &m->down, inner(ctx, m, x), residual);
}
