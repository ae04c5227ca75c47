#include "kernel/cpu/cpu.h"
#include "kernel/tables.h"

void hone_kernel_table_cpu(hone_kernel_table *t, hone_isa isa)
{
    hone_kernel_cpu_linear(t, isa);
    hone_kernel_cpu_attention(t, isa);
    hone_kernel_cpu_elementwise(t, isa);
}
