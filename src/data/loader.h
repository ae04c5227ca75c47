/*
 * data/loader.h -- which samples each optimizer step trains on: packing, shuffling, epochs. A function of the data set
 * and the options alone, so a run seeks to any step at once and resumes exactly.
 */
#ifndef HONE_DATA_LOADER_H
#define HONE_DATA_LOADER_H

#include "data/dataset.h"
#include "data/pack.h"

typedef struct hone_loader hone_loader;

/* One optimizer step: micro-batch k has samples sample[begin[k] … begin[k+1]). Borrowed until the next call. */
typedef struct hone_step_plan {
    int64_t            epoch;           /* from 0 */
    double             epoch_end;       /* epochs done after this step, fractional */
    bool               ends_epoch;
    int64_t            micro_batches;
    const int64_t     *begin;           /* [micro_batches + 1] */
    const hone_sample *sample;
    int64_t            tokens, supervised;
} hone_step_plan;

/*
 * Micro-batches are `per_device_train_batch_size` units each, a unit being a sample or, with `packing`, a row of isolated
 * samples (data/pack.h). A step is `gradient_accumulation_steps` of them, or as many as `global_batch_size` (units) or
 * `global_batch_tokens` asks for. Each epoch is a permutation of its own (of data_seed or seed, and the epoch) unless
 * `disable_shuffling`. The last step of an epoch may be short.
 * Owns: the data set is borrowed. Errors: E_DATA (no samples), E_USAGE (options that do not go together).
 */
hone_status hone_loader_create(hone_loader **out, const hone_dataset *dataset,
                               const hone_options *options) HONE_MUST_CHECK;
void        hone_loader_destroy(hone_loader **loader);

/* Steps of the whole run: max_steps, else what num_train_epochs (fractional allowed) makes. */
int64_t     hone_loader_total_steps(const hone_loader *loader);
/* Steps of the first epoch. */
int64_t     hone_loader_epoch_steps(const hone_loader *loader);
/* The rows that an epoch goes through. */
const hone_packing *hone_loader_packing(const hone_loader *loader);
/*
 * The plan of step `step` (from 0). Any step is found at once, but with global_batch_tokens, where the steps in between
 * are counted: then going on from the last one is cheap.
 */
hone_status hone_loader_step(hone_loader *loader, int64_t step, hone_step_plan *out) HONE_MUST_CHECK;

#endif /* HONE_DATA_LOADER_H */
