/*
 * kernel/tables.h -- who fills the kernel table. Called once by runtime/, in this order; then the table is frozen.
 */
#ifndef HONE_KERNEL_TABLES_H
#define HONE_KERNEL_TABLES_H

#include "kernel/cpu/isa.h"
#include "op/kernel.h"

/* Plain loops for every op, pass and dtype (F32, BF16, F64): the oracle. */
void hone_kernel_table_ref(hone_kernel_table *t);
/* Optimised CPU kernels, each op with the best the instruction set `isa` allows; what has none stays empty. */
void hone_kernel_table_cpu(hone_kernel_table *t, hone_isa isa);
/* Kernels that touch no data, for every op. */
void hone_kernel_table_meta(hone_kernel_table *t);

#endif /* HONE_KERNEL_TABLES_H */
