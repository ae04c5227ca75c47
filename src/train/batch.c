#include "train/batch.h"

#include "autograd/tape.h"
#include "base/mem.h"
#include "op/scope.h"

hone_status hone_batch_of_samples(hone_batch **out, hone_run *run, const hone_sample *samples, int64_t n, double weight)
{
    hone_sample_view *views = hone_calloc((size_t)n, sizeof *views);
    hone_status       st;

    *out = NULL;
    if (!views)
        return HONE_E_NOMEM;
    for (int64_t i = 0; i < n; i++)
        views[i] = (hone_sample_view){ samples[i].ids, samples[i].labels, samples[i].n, (uint32_t)samples[i].id };
    st = hone_batch_create(out, run->ctx, views, n, run->loaded->model->vocab, NULL);
    hone_free(views);
    for (int64_t t = 0; st == HONE_OK && t < (*out)->tokens; t++)
        (*out)->weights[t] = weight;
    return st;
}

hone_status hone_batch_learn(hone_ctx *ctx, const hone_model *model, hone_batch *batch, const hone_trunk_options *trunk,
                             double *sum)
{
    hone_status  st = HONE_OK;
    hone_tape   *tape = NULL;
    hone_tensor *nll;

    HONE_GO(hone_tape_create(&tape));
    hone_tape_attach(ctx, tape);
    hone_scope_open(ctx);
    nll = hone_trunk_nll(ctx, model, batch, trunk);
    if (ctx->status == HONE_OK && hone_device_has_data(ctx->device))
        *sum += hone_nll_sum(nll);
    hone_scope_close(ctx, NULL, 0);
    st = hone_tape_backward(ctx, tape, NULL, NULL);
out:
    hone_tape_attach(ctx, NULL);
    hone_tape_destroy(&tape);
    return st;
}

double hone_nll_sum(const hone_tensor *nll)
{
    int64_t n = hone_tensor_numel(nll);
    double  sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += nll->dtype == HONE_DTYPE_F64 ? ((const double *)hone_tensor_data(nll))[i]
                                            : (double)((const float *)hone_tensor_data(nll))[i];
    return sum;
}
