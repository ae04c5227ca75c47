/* train/peak.h -- what this machine reaches in a matrix product, the yardstick of "% of peak". */
#ifndef HONE_TRAIN_PEAK_H
#define HONE_TRAIN_PEAK_H

#include "base/ctx.h"
#include "tensor/dtype.h"

/* FLOPs per second of the best of a few products that fit the caches, on the context's threads; takes some 20 ms. 0 when
 * nothing could be measured. For the start of a run: the device's peak of memory is counted from here on. */
double hone_peak_flops(hone_ctx *ctx, hone_dtype dtype);

#endif /* HONE_TRAIN_PEAK_H */
