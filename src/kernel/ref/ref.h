/*
 * kernel/ref/ref.h -- reference kernels: plain loops, one file per op, each compiled for three element types.
 *
 * f32.c, bf16.c and f64.c define the element type and include every op body (*.inc). A body is written once, in terms of
 *     elem        what x, y, weights, dx, dy hold
 *     acc         the accumulation type, for sums, statistics and parameter gradients
 *     load(p, i)  element i of p as acc;   store(p, i, v)  the reverse, rounded to nearest even
 * and of <tgmath.h>, whose functions follow the type of acc. They run on the calling thread.
 */
#ifndef HONE_KERNEL_REF_REF_H
#define HONE_KERNEL_REF_REF_H

#include "op/kernel.h"

void hone_kernel_ref_f32(hone_kernel_table *t);
void hone_kernel_ref_bf16(hone_kernel_table *t);
void hone_kernel_ref_f64(hone_kernel_table *t);

#endif /* HONE_KERNEL_REF_REF_H */
