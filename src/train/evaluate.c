#include "base/vec.h"
#include "op/scope.h"
#include "train/batch.h"
#include "train/run.h"

/* Adds the losses of n samples to *sum, in their order. */
static hone_status add_losses(hone_run *run, const hone_sample *samples, int64_t n, double *sum, int64_t *tokens)
{
    const hone_trunk_options trunk = { 0 };
    hone_batch              *batch;
    hone_tensor             *nll;

    HONE_TRY(hone_batch_of_samples(&batch, run, samples, n, 1));
    hone_scope_open(run->ctx);
    nll = hone_trunk_nll(run->ctx, run->loaded->model, batch, &trunk);
    if (run->ctx->status == HONE_OK)
        *sum += hone_nll_sum(nll);
    hone_scope_close(run->ctx, NULL, 0);
    *tokens += batch->predicted;
    hone_batch_destroy(&batch);
    return run->ctx->status;
}

/* Samples are grouped only to fill the products: each token's loss is the same in any company. */
hone_status hone_run_evaluate(hone_run *run, const hone_dataset *data, double *loss, int64_t *tokens)
{
    int64_t      n = hone_dataset_len(data), group = run->options->per_device_eval_batch_size;
    double       sum = 0;
    hone_status  st = HONE_OK;
    HONE_VEC(hone_sample) samples = { NULL, 0, 0 };

    *loss = 0;
    *tokens = 0;
    run->ctx->training = false;
    for (int64_t i = 0; i < n; i++) {
        HONE_GO(HONE_VEC_PUSH(&samples, hone_dataset_at(data, i)));
        if ((int64_t)samples.len < group && i + 1 < n)
            continue;
        HONE_GO(add_losses(run, samples.data, (int64_t)samples.len, &sum, tokens));
        samples.len = 0;
    }
    HONE_GO_CHECK(*tokens > 0, HONE_E_DATA, "no token of the evaluation data has a label: the loss has no value");
    *loss = sum / (double)*tokens;
out:
    HONE_VEC_DEINIT(&samples);
    return st;
}
