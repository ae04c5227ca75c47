/* train/batch.h -- samples of a data set as a micro-batch. */
#ifndef HONE_TRAIN_BATCH_H
#define HONE_TRAIN_BATCH_H

#include "train/run.h"

/* These samples, in this order; each token's weight is `weight`. Owns: hone_batch_destroy. */
hone_status hone_batch_of_samples(hone_batch **out, hone_run *run, const hone_sample *samples, int64_t n,
                                  double weight) HONE_MUST_CHECK;
/* Forward and backward of a micro-batch: adds its losses to *sum, and their weighted gradients to the parameters'. On meta there is
 * no loss to add. */
hone_status hone_batch_learn(hone_ctx *ctx, const hone_model *model, hone_batch *batch, const hone_trunk_options *trunk,
                             double *sum) HONE_MUST_CHECK;
/* The sum of a tensor of negative log-likelihoods, in token order. */
double      hone_nll_sum(const hone_tensor *nll);

#endif /* HONE_TRAIN_BATCH_H */
