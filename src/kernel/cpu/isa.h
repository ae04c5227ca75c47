/*
 * kernel/cpu/isa.h -- instruction sets of the processor, found and chosen at run time.
 */
#ifndef HONE_KERNEL_CPU_ISA_H
#define HONE_KERNEL_CPU_ISA_H

#include "base/status.h"

/* Each includes the ones before it. */
#define HONE_ISA_LIST(X)            \
    X(PORTABLE,   "portable")       \
    X(AVX2,       "avx2")           \
    X(AVX512,     "avx512")         \
    X(AVX512BF16, "avx512bf16")     \
    X(AMX,        "amx")

typedef enum hone_isa {
#define HONE_ISA_ENUM_(name, text) HONE_ISA_##name,
    HONE_ISA_LIST(HONE_ISA_ENUM_)
#undef HONE_ISA_ENUM_
    HONE_ISA_COUNT
} hone_isa;

const char *hone_isa_name(hone_isa isa);
/* The best set this process may use: by CPUID as the process sees it, the operating system's state saving (XGETBV), and for
 * AMX its permission. */
hone_isa    hone_isa_detect(void);
/* The set to use: `name` (the value of HONE_ISA), or the best one when NULL or "". E_USAGE for an unknown name (with the list)
 * or a set that this processor lacks. */
hone_status hone_isa_choose(hone_isa *out, const char *name) HONE_MUST_CHECK;

#endif /* HONE_KERNEL_CPU_ISA_H */
