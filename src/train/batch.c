#include "train/batch.h"

#include "base/mem.h"

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

double hone_nll_sum(const hone_tensor *nll)
{
    int64_t n = hone_tensor_numel(nll);
    double  sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += nll->dtype == HONE_DTYPE_F64 ? ((const double *)hone_tensor_data(nll))[i]
                                            : (double)((const float *)hone_tensor_data(nll))[i];
    return sum;
}
