#include "kernel/cpu/elementwise.h"

#include "kernel/cpu/cpu.h"

void hone_kernel_cpu_elementwise(hone_kernel_table *t, hone_isa isa)
{
    hone_kernel_elementwise_f32_portable(t);
    hone_kernel_elementwise_bf16_portable(t);
#if defined(__x86_64__)
    if (isa >= HONE_ISA_AVX2) {
        hone_kernel_elementwise_f32_avx2(t);
        hone_kernel_elementwise_bf16_avx2(t);
    }
    if (isa >= HONE_ISA_AVX512) {
        hone_kernel_elementwise_f32_avx512(t);
        hone_kernel_elementwise_bf16_avx512(t);
    }
#else
    (void)isa;
#endif
}
