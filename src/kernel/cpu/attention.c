#include "kernel/cpu/attention.h"

#include "kernel/cpu/cpu.h"

#define SET_PASS(t, PASS, pass, isa)                                                                                \
    do {                                                                                                            \
        hone_kernel_set(t, HONE_OP_attention, HONE_PASS_##PASS, HONE_TARGET_CPU, HONE_DTYPE_F32,                    \
                        hone_attention_##pass##_f32_##isa);                                                         \
        hone_kernel_set(t, HONE_OP_attention, HONE_PASS_##PASS, HONE_TARGET_CPU, HONE_DTYPE_BF16,                   \
                        hone_attention_##pass##_bf16_##isa);                                                        \
    } while (0)

#define SET(t, isa)                     \
    do {                                \
        SET_PASS(t, FWD, fwd, isa);     \
        SET_PASS(t, BWD, bwd, isa);     \
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
