#include "kernel/tables.h"

#include "kernel/ref/ref.h"

void hone_kernel_table_ref(hone_kernel_table *t)
{
    hone_kernel_ref_f32(t);
    hone_kernel_ref_bf16(t);
    hone_kernel_ref_f64(t);
}
