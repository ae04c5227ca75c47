/*
 * data/loader.h -- which samples each optimizer step trains on: packing, shuffling, epochs. A function of the data and the
 * options alone, so a run resumes exactly; where the data set is held, any step is found at once.
 */
#ifndef HONE_DATA_LOADER_H
#define HONE_DATA_LOADER_H

#include "data/dataset.h"
#include "data/pack.h"
#include "data/stream.h"

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

/* What is to hold for the samples of a data set (that the model has their ids, say). */
typedef hone_status (*hone_data_check)(void *arg, const hone_dataset *dataset);

/*
 * Micro-batches are `per_device_train_batch_size` units each, a unit being a sample or, with `packing`, a row of isolated
 * samples (data/pack.h). A step is `gradient_accumulation_steps` of them, or as many as `global_batch_size` (units) or
 * `global_batch_tokens` asks for. Each epoch is a permutation of its own (of data_seed or seed, and the epoch) unless
 * `disable_shuffling`. The last step of an epoch may be short.
 * Owns: the data set is borrowed. Errors: E_DATA (no samples), E_USAGE (options that do not go together).
 */
hone_status hone_loader_create(hone_loader **out, const hone_dataset *dataset,
                               const hone_options *options) HONE_MUST_CHECK;
/*
 * The same of a stream (borrowed): packing looks at a window of it, epochs are those of the stream. Reads the first window.
 * Each window is given to `check` first. Errors: as hone_stream_next and `check`.
 */
hone_status hone_loader_create_stream(hone_loader **out, hone_stream *stream, const hone_options *options,
                                      hone_data_check check, void *arg) HONE_MUST_CHECK;
void        hone_loader_destroy(hone_loader **loader);

/* Steps of the whole run: max_steps, else what num_train_epochs (fractional allowed) makes. */
int64_t     hone_loader_total_steps(const hone_loader *loader);
/* Steps of the first epoch; -1 where they are not known (a stream). */
int64_t     hone_loader_epoch_steps(const hone_loader *loader);
/* The rows that an epoch goes through; of a stream, those of its present window. */
const hone_packing *hone_loader_packing(const hone_loader *loader);
/*
 * The plan of step `step` (from 0). Any step is found at once, with two exceptions: with global_batch_tokens the steps in
 * between are counted, and a stream is read up to there. Going on from the last one is cheap for all.
 */
hone_status hone_loader_step(hone_loader *loader, int64_t step, hone_step_plan *out) HONE_MUST_CHECK;

/* Append where the step after the last plan begins, as a JSON object to be kept with a checkpoint. */
void        hone_loader_tell(const hone_loader *loader, hone_str *out);
/*
 * Go to step `step`, which begins where hone_loader_tell said: no step is counted, and of a stream the rows before it are
 * read, but not made into samples. Errors: E_FORMAT (not such an object), E_EXISTS (a stream of other rows); as
 * hone_loader_step.
 */
hone_status hone_loader_seek(hone_loader *loader, int64_t step, const json_t *position) HONE_MUST_CHECK;

#endif /* HONE_DATA_LOADER_H */
