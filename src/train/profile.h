/* train/profile.h -- where the time of a run went. */
#ifndef HONE_TRAIN_PROFILE_H
#define HONE_TRAIN_PROFILE_H

#include "base/ctx.h"

/* Log a table of kernel time per op and pass, with calls, share of `seconds` (the time of all steps) and GFLOP/s where FLOPs
 * are counted; the last row is what no kernel accounts for. */
void hone_profile_log(const hone_ctx *ctx, double seconds);

#endif /* HONE_TRAIN_PROFILE_H */
