/*
 * The AMX set over tile registers in plain C, so that its packing and loops are tested where the processor has no AMX.
 * Compiled for AVX-512 (its packing uses that). Arithmetic as the manual gives it for TDPBF16PS.
 */
#if defined(__x86_64__)
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "tensor/dtype.h"

static _Thread_local struct { uint8_t byte[16][64]; } reg[8];
static _Thread_local bool configured;

static void configure(const void *config)
{
    const uint8_t *c = config;
    uint16_t       bytes;

    HONE_ASSERT(!configured && c[0] == 1 && c[1] == 0);
    for (int t = 0; t < 16; t++) {
        memcpy(&bytes, c + 16 + 2 * t, 2);
        HONE_ASSERT(bytes == (t < 8 ? 64 : 0) && c[48 + t] == (t < 8 ? 16 : 0));
    }
    memset(reg, 0, sizeof reg);
    configured = true;
}

static void release(void)
{
    HONE_ASSERT(configured);
    configured = false;
}

static void load(int t, const void *base, size_t stride)
{
    HONE_ASSERT(configured);
    for (int i = 0; i < 16; i++)
        memcpy(reg[t].byte[i], (const char *)base + i * stride, 64);
}

static void store(int t, void *base, size_t stride)
{
    HONE_ASSERT(configured);
    for (int i = 0; i < 16; i++)
        memcpy((char *)base + i * stride, reg[t].byte[i], 64);
}

static float no_denormal(float f) { return fabsf(f) < FLT_MIN ? copysignf(0, f) : f; }

static float half_at(int t, int row, int index)
{
    uint16_t v;

    memcpy(&v, &reg[t].byte[row][2 * index], 2);
    return no_denormal(hone_bf16_to_f32(v));
}

static void dot(int c, int a, int b)
{
    HONE_ASSERT(configured);
    for (int i = 0; i < 16; i++) {
        for (int j = 0; j < 16; j++) {
            float even = 0, odd = 0, sum;

            for (int p = 0; p < 16; p++) {
                even = no_denormal(fmaf(half_at(a, i, 2 * p), half_at(b, p, 2 * j), even));
                odd = no_denormal(fmaf(half_at(a, i, 2 * p + 1), half_at(b, p, 2 * j + 1), odd));
            }
            memcpy(&sum, &reg[c].byte[i][4 * j], 4);
            sum = no_denormal(no_denormal(sum) + no_denormal(even + odd));
            memcpy(&reg[c].byte[i][4 * j], &sum, 4);
        }
    }
}

#define AMX_SET hone_mm_amx_emulated
#define AMX_ISA HONE_ISA_AVX512
#define AMX_CONFIGURE(config) configure(config)
#define AMX_RELEASE() release()
#define AMX_ZERO(t) memset(&reg[t], 0, sizeof reg[t])
#define AMX_LOAD(t, base, stride) load(t, base, stride)
#define AMX_STREAM(t, base, stride) load(t, base, stride)
#define AMX_STORE(t, base, stride) store(t, base, stride)
#define AMX_DOT(c, a, b) dot(c, a, b)

#include "kernel/cpu/matmul.h"

extern const hone_mm_set hone_mm_amx_emulated;
#include "kernel/cpu/matmul_amx.c"
#endif
