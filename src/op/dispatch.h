/*
 * op/dispatch.h -- the only way to a kernel, with the counting of work and time per op.
 */
#ifndef HONE_OP_DISPATCH_H
#define HONE_OP_DISPATCH_H

#include "base/ctx.h"
#include "op/kernel.h"

typedef struct hone_profile {
    double flops;                                           /* multiply and add counted as two, products and attention only */
    struct { double seconds, flops; int64_t calls; } op[HONE_OP_COUNT][HONE_PASS_COUNT];
} hone_profile;

/* Look the kernel up and run it. E_NOKERNEL if the table has none for the context's target. */
hone_status hone_kernel_run(hone_ctx *ctx, hone_op op, hone_pass pass, hone_dtype dtype, const void *args, double flops)
    HONE_MUST_CHECK;
/* The target that serves this entry under the context's policy, or -1. */
int hone_kernel_target(const hone_ctx *ctx, hone_op op, hone_pass pass, hone_dtype dtype);

#endif /* HONE_OP_DISPATCH_H */
