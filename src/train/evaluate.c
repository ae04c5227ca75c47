#include <math.h>

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

/* The data set of `eval_dataset` that a sample is of; 0 where they are not told apart. */
static int32_t part_of(const hone_run *run, const hone_dataset *data, const hone_sample *sample)
{
    return run->n_eval_parts ? hone_dataset_source_set(data, sample->source) : 0;
}

static double mean(double sum, int64_t tokens) { return tokens > 0 ? sum / (double)tokens : NAN; }

static void keep_part(hone_run *run, int32_t part, double sum, int64_t tokens)
{
    if (!run->n_eval_parts)
        return;
    run->eval_parts[part].loss = mean(sum, tokens);
    run->eval_parts[part].tokens = tokens;
}

/* Samples are grouped only to fill the products: each token's loss is the same in any company. */
hone_status hone_run_evaluate(hone_run *run, const hone_dataset *data, double *loss, int64_t *tokens)
{
    int64_t      n = hone_dataset_len(data), group = run->options->per_device_eval_batch_size, part_tokens = 0;
    double       sum = 0, part_sum = 0;
    hone_status  st = HONE_OK;
    HONE_VEC(hone_sample) samples = { NULL, 0, 0 };

    *loss = 0;
    *tokens = 0;
    run->ctx->training = false;
    for (int64_t i = 0; i < n; i++) {
        hone_sample s = hone_dataset_at(data, i);
        int32_t     part = part_of(run, data, &s);
        bool        ends = i + 1 == n;      /* the part does */

        if (!ends) {
            hone_sample next = hone_dataset_at(data, i + 1);

            ends = part_of(run, data, &next) != part;
        }
        HONE_GO(HONE_VEC_PUSH(&samples, s));
        if ((int64_t)samples.len < group && !ends)
            continue;
        HONE_GO(add_losses(run, samples.data, (int64_t)samples.len, &part_sum, &part_tokens));
        samples.len = 0;
        if (!ends)
            continue;
        keep_part(run, part, part_sum, part_tokens);
        sum += part_sum;
        *tokens += part_tokens;
        part_sum = 0;
        part_tokens = 0;
    }
    HONE_GO_CHECK(*tokens > 0, HONE_E_DATA, "no token of the evaluation data has a label: the loss has no value");
    *loss = sum / (double)*tokens;
out:
    HONE_VEC_DEINIT(&samples);
    return st;
}
