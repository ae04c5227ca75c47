#include "kernel/cpu/isa.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static const char *const names[HONE_ISA_COUNT] = {
#define NAME_(name, text) text,
    HONE_ISA_LIST(NAME_)
#undef NAME_
};

const char *hone_isa_name(hone_isa isa) { return (unsigned)isa < HONE_ISA_COUNT ? names[isa] : "unknown"; }

#if defined(__x86_64__)
static uint64_t xgetbv0(void)
{
    uint32_t lo, hi;

    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

/* Linux gives a process tile registers only when asked, once per process (arch_prctl ARCH_REQ_XCOMP_PERM, XTILEDATA). */
static bool amx_permitted(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };

    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

hone_isa hone_isa_detect(void)
{
    uint32_t a, b, c, d, b7, c7, d7, a71 = 0;
    uint64_t state;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX) || !(c & bit_FMA) || !(c & bit_F16C))
        return HONE_ISA_PORTABLE;
    state = xgetbv0();
    if ((state & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b7, &c7, &d7) || !(b7 & bit_AVX2) || !(b7 & bit_BMI2))
        return HONE_ISA_PORTABLE;
    if ((state & 0xE0) != 0xE0 || !(b7 & bit_AVX512F) || !(b7 & bit_AVX512BW) || !(b7 & bit_AVX512DQ) || !(b7 & bit_AVX512VL))
        return HONE_ISA_AVX2;
    if (a >= 1)
        __get_cpuid_count(7, 1, &a71, &b, &c, &d);
    if (!(a71 & (1u << 5)))                                     /* AVX512_BF16 */
        return HONE_ISA_AVX512;
    if (!(d7 & (1u << 24)) || !(d7 & (1u << 22)) || (state & 0x60000) != 0x60000 || !amx_permitted())
        return HONE_ISA_AVX512BF16;                             /* needs AMX-TILE, AMX-BF16 and both tile states */
    return HONE_ISA_AMX;
}
#else
hone_isa hone_isa_detect(void) { return HONE_ISA_PORTABLE; }
#endif

hone_status hone_isa_choose(hone_isa *out, const char *name)
{
    hone_isa best = hone_isa_detect();

    *out = best;
    if (!name || !*name)
        return HONE_OK;
    for (int i = 0; i < HONE_ISA_COUNT; i++) {
        if (strcmp(name, names[i]) != 0)
            continue;
        HONE_CHECK(i <= (int)best, HONE_E_USAGE, "HONE_ISA=%s: this processor offers no more than %s", name, names[best]);
        *out = (hone_isa)i;
        return HONE_OK;
    }
    return HONE_FAIL(HONE_E_USAGE, "HONE_ISA=%s is not known; give portable, avx2, avx512, avx512bf16 or amx", name);
}
