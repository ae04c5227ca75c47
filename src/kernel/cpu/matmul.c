#include "kernel/cpu/cpu.h"

void hone_kernel_cpu_linear(hone_kernel_table *t, hone_isa isa)
{
    (void)t;
    (void)isa;
}
