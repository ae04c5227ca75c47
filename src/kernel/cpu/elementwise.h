/*
 * kernel/cpu/elementwise.h -- optimised kernels of all ops but linear and attention, one registration function for each
 * element type and instruction set. Their bodies (*.inc) are written once on simd.h; elementwise_<dtype>_<isa>.c compile them.
 */
#ifndef HONE_KERNEL_CPU_ELEMENTWISE_H
#define HONE_KERNEL_CPU_ELEMENTWISE_H

#include "op/kernel.h"

void hone_kernel_elementwise_f32_portable(hone_kernel_table *t);
void hone_kernel_elementwise_bf16_portable(hone_kernel_table *t);
void hone_kernel_elementwise_f32_avx2(hone_kernel_table *t);
void hone_kernel_elementwise_bf16_avx2(hone_kernel_table *t);
void hone_kernel_elementwise_f32_avx512(hone_kernel_table *t);
void hone_kernel_elementwise_bf16_avx512(hone_kernel_table *t);

#endif /* HONE_KERNEL_CPU_ELEMENTWISE_H */
