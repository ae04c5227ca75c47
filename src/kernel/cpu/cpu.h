/*
 * kernel/cpu/cpu.h -- the parts of the CPU's kernel table, one function per group of ops.
 */
#ifndef HONE_KERNEL_CPU_CPU_H
#define HONE_KERNEL_CPU_CPU_H

#include "kernel/cpu/isa.h"
#include "op/kernel.h"

/* Each enters its ops' kernels for target CPU, the best that `isa` allows; what it has none for stays as it is. */
void hone_kernel_cpu_linear(hone_kernel_table *t, hone_isa isa);
void hone_kernel_cpu_attention(hone_kernel_table *t, hone_isa isa);
void hone_kernel_cpu_elementwise(hone_kernel_table *t, hone_isa isa);

#endif /* HONE_KERNEL_CPU_CPU_H */
