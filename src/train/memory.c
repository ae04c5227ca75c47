#include "train/memory.h"

#include "base/mem.h"
#include "optim/adamw.h"
#include "runtime/ctx.h"
#include "train/batch.h"

/* Samples of token 0, which every model has. */
static hone_status make_batch(hone_batch **out, hone_ctx *ctx, const hone_model *m, const hone_memory_case *c)
{
    int32_t          *ids = hone_calloc((size_t)c->tokens, sizeof *ids);
    hone_sample_view *views = hone_calloc((size_t)c->samples, sizeof *views);
    hone_status       st = HONE_OK;

    *out = NULL;
    HONE_GO(ids && views ? HONE_OK : HONE_E_NOMEM);
    for (int64_t i = 0; i < c->samples; i++)
        views[i] = (hone_sample_view){ ids, ids, c->tokens, (uint32_t)i };
    HONE_GO(hone_batch_create(out, ctx, views, c->samples, m->vocab, NULL));
out:
    hone_free(ids);
    hone_free(views);
    return st;
}

/* A step as train/loop.c makes it. */
static hone_status step(hone_ctx *ctx, const hone_model *m, const hone_memory_case *c)
{
    const hone_trunk_options trunk = { .recompute = c->recompute };
    const hone_adamw_spec    adamw = { .update = 1 };
    hone_batch *batch;
    hone_status st;
    double      sum = 0, norm;

    ctx->training = true;
    hone_params_clear_grads(m->params);
    HONE_TRY(make_batch(&batch, ctx, m, c));
    st = hone_batch_learn(ctx, m, batch, &trunk, &sum);
    hone_batch_destroy(&batch);
    HONE_TRY(st);
    hone_params_finish_grads(m->params);
    HONE_TRY(hone_grad_norm(&norm, m->params));
    return hone_adamw_step(m->params, &adamw);
}

/* A later step begins with what the one before left: cached blocks, and work space of kernels grown to the largest. */
static hone_status run_steps(size_t *peak, hone_ctx *ctx, const hone_model *m, const hone_memory_case *c)
{
    enum { STEPS_MAX = 8 };

    *peak = 0;
    for (int i = 0; i < STEPS_MAX; i++) {
        size_t before = *peak;

        HONE_TRY(step(ctx, m, c));
        *peak = hone_device_get_stats(ctx->device).reserved_peak;
        if (*peak == before)
            break;
    }
    return HONE_OK;
}

hone_status hone_memory_measure(hone_memory *out, const char *path, const hone_memory_case *c)
{
    const hone_ctx_options  options = { .threads = c->threads, .meta = true };
    const hone_load_options load = { c->compute, HONE_PARAMS_TRAINED, -1 };
    hone_status             st = HONE_OK;
    hone_ctx               *ctx = NULL;
    hone_loaded            *l = NULL;
    int64_t                 most;

    HONE_GO(hone_ctx_create(&ctx, &options));
    HONE_GO(hone_model_load(&l, ctx, path, &load));
    most = l->model->max_positions;
    HONE_GO_CHECK(most == 0 || c->tokens <= most, HONE_E_USAGE, "the model has %lld positions; give cutoff_len %lld or less",
                  (long long)most, (long long)most);
    out->fixed = hone_device_get_stats(ctx->device).live;
    HONE_GO(run_steps(&out->peak, ctx, l->model, c));
out:
    hone_loaded_destroy(&l);
    hone_ctx_destroy(&ctx);
    return st;
}
