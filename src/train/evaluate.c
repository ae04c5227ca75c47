#include "base/vec.h"
#include "op/scope.h"
#include "train/batch.h"
#include "train/run.h"

/* Samples are grouped only to fill the products; each token's loss is the same in any company, and the sum runs in order. */
hone_status hone_run_evaluate(hone_run *run, const hone_dataset *data, double *loss, int64_t *tokens)
{
    const hone_trunk_options trunk = { 0 };
    int64_t                  n = hone_dataset_len(data), group = run->options->per_device_eval_batch_size;
    double                   sum = 0;

    *loss = 0;
    *tokens = 0;
    run->ctx->training = false;
    for (int64_t first = 0; first < n; first += group) {
        hone_vec_i64 index = { NULL, 0, 0 };
        hone_batch  *batch = NULL;
        hone_status  st = HONE_OK;

        for (int64_t i = first; i < HONE_MIN(first + group, n) && st == HONE_OK; i++)
            st = HONE_VEC_PUSH(&index, i);
        if (st == HONE_OK)
            st = hone_batch_of_samples(&batch, run, data, index.data, (int64_t)index.len, 1);
        HONE_VEC_DEINIT(&index);
        if (st != HONE_OK)
            return HONE_TRACE(st);
        hone_scope_open(run->ctx);
        {
            hone_tensor *nll = hone_trunk_nll(run->ctx, run->loaded->model, batch, &trunk);

            if (run->ctx->status == HONE_OK)
                sum += hone_nll_sum(nll);
        }
        *tokens += batch->predicted;
        hone_scope_close(run->ctx, NULL, 0);
        hone_batch_destroy(&batch);
        if (run->ctx->status != HONE_OK)
            return run->ctx->status;
    }
    HONE_CHECK(*tokens > 0, HONE_E_DATA, "no token of the evaluation data has a label: the loss has no value");
    *loss = sum / (double)*tokens;
    return HONE_OK;
}
