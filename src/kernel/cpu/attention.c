#include "kernel/cpu/attention.h"

#include "kernel/cpu/cpu.h"

#define SET(t, isa)                                                                                                     \
    do {                                                                                                                \
        hone_kernel_set(t, HONE_OP_attention, HONE_PASS_FWD, HONE_TARGET_CPU, HONE_DTYPE_F32, hone_attention_fwd_f32_##isa);   \
        hone_kernel_set(t, HONE_OP_attention, HONE_PASS_FWD, HONE_TARGET_CPU, HONE_DTYPE_BF16, hone_attention_fwd_bf16_##isa); \
        hone_kernel_set(t, HONE_OP_attention, HONE_PASS_BWD, HONE_TARGET_CPU, HONE_DTYPE_F32, hone_attention_bwd_f32_##isa);   \
        hone_kernel_set(t, HONE_OP_attention, HONE_PASS_BWD, HONE_TARGET_CPU, HONE_DTYPE_BF16, hone_attention_bwd_bf16_##isa); \
    } while (0)

void hone_kernel_cpu_attention(hone_kernel_table *t, hone_isa isa)
{
    SET(t, portable);
#if defined(__x86_64__)
    if (isa >= HONE_ISA_AVX512)
        SET(t, avx512);
    else if (isa >= HONE_ISA_AVX2)
        SET(t, avx2);
#else
    (void)isa;
#endif
}
