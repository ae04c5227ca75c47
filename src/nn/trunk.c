#include "autograd/tape.h"
#include "nn/model.h"
#include "op/op.h"
#include "op/scope.h"

void hone_model_destroy(hone_model **model)
{
    hone_model *m = *model;

    if (!m)
        return;
    hone_params_destroy(&m->params);
    hone_module_destroy(&m->root);
    hone_plan_deinit(&m->plan);
    hone_free(m->state);
    hone_free(m);
    *model = NULL;
}

/* Close a region: what only it needed goes, `h` stays. */
static hone_tensor *close_region(hone_ctx *ctx, hone_tensor *h)
{
    hone_scope_close(ctx, &h, 1);
    if (ctx->tape)
        hone_tape_settle(ctx->tape);
    return h;
}

hone_tensor *hone_trunk_blocks(hone_ctx *ctx, const hone_model *m, int first, int last, hone_tensor *h, hone_batch *batch,
                               const hone_trunk_options *o)
{
    for (int i = first; i < last; i++) {
        hone_scope_open(ctx);
        if (ctx->tape)
            hone_tape_recompute(ctx->tape, o->recompute);
        h = m->ops->block(ctx, m, i, h, batch);
        if (ctx->tape)
            hone_tape_recompute(ctx->tape, false);
        h = close_region(ctx, h);
    }
    return h;
}

/* A model with learned positions has no row for a place past the last. */
static void check_lengths(hone_ctx *ctx, const hone_model *m, const hone_batch *batch)
{
    for (int64_t s = 0; m->max_positions > 0 && s < batch->samples && ctx->status == HONE_OK; s++)
        if (hone_batch_sample_length(batch, s) > m->max_positions)
            hone_ctx_fail(ctx, HONE_FAIL(HONE_E_DATA, "sample %d has %lld tokens, but the model has %lld positions; shorten it",
                                         batch->sample_ids[s], (long long)hone_batch_sample_length(batch, s),
                                         (long long)m->max_positions));
}

hone_tensor *hone_trunk_hidden(hone_ctx *ctx, const hone_model *m, hone_batch *batch, const hone_trunk_options *o)
{
    hone_tensor *h;

    check_lengths(ctx, m, batch);
    hone_scope_open(ctx);
    hone_scope_open(ctx);
    h = close_region(ctx, m->ops->embed(ctx, m, batch));
    h = hone_trunk_blocks(ctx, m, 0, m->blocks, h, batch, o);
    h = m->ops->final(ctx, m, h);
    hone_scope_close(ctx, &h, 1);
    return h;
}

static hone_head head_of(const hone_model *m)
{
    return (hone_head){ .weight = m->head->value, .bias = m->head_bias ? m->head_bias->value : NULL, .scale = m->logit_scale,
                        .softcap = m->logit_softcap };
}

hone_tensor *hone_trunk_nll(hone_ctx *ctx, const hone_model *m, hone_batch *batch, const hone_trunk_options *o)
{
    hone_head    head = head_of(m);
    hone_tensor *nll;

    hone_scope_open(ctx);
    nll = hone_op_linear_cross_entropy(ctx, hone_trunk_hidden(ctx, m, batch, o), &head, batch->labels, batch->weights);
    return close_region(ctx, nll);
}

hone_tensor *hone_trunk_logits(hone_ctx *ctx, const hone_model *m, hone_tensor *hidden)
{
    hone_head    head = head_of(m);
    hone_tape   *tape = ctx->tape;
    hone_tensor *logits;

    ctx->tape = NULL;
    logits = hone_op_logits(ctx, hidden, &head);
    ctx->tape = tape;
    return logits;
}
