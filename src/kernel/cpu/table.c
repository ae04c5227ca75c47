#include "kernel/cpu/cpu.h"
#include "kernel/tables.h"

#if __has_include("kernel/cpu/attention.c")
#define HAVE_ATTENTION 1
#endif
#if __has_include("kernel/cpu/elementwise.c")
#define HAVE_ELEMENTWISE 1
#endif

void hone_kernel_table_cpu(hone_kernel_table *t, hone_isa isa)
{
    hone_kernel_cpu_linear(t, isa);
#ifdef HAVE_ATTENTION
    hone_kernel_cpu_attention(t, isa);
#endif
#ifdef HAVE_ELEMENTWISE
    hone_kernel_cpu_elementwise(t, isa);
#endif
}
