/*
 * kernel/cpu/pairs_avx512.h -- operands of instructions that multiply pairs of bf16: blocks of 16 indices x 16 pairs of
 * consecutive p's, each pair a dword with the even p in its lower half.
 */
#ifndef HONE_KERNEL_CPU_PAIRS_AVX512_H
#define HONE_KERNEL_CPU_PAIRS_AVX512_H

#include "kernel/cpu/pack.h"
#include "kernel/cpu/transpose_avx512.h"

/* Of an operand that lies along p: r[i] = the pairs of index x0 + i. Zeros beyond nx indices and np p's. */
PACK_INLINE void pairs_along_p(__m512i r[16], const hone_mm_operand *o, int64_t x0, int nx, int64_t p0, int np)
{
    __mmask32 mask = np >= 32 ? 0xFFFFFFFFu : (1u << np) - 1;

    for (int i = 0; i < 16; i++) {
        const char *src = pack_at(o, (x0 + i) * o->ld + p0, 2);

        r[i] = i < nx ? _mm512_maskz_loadu_epi16(mask, src) : _mm512_setzero_si512();
        pack_prefetch(src, 16 * o->ld * 2);
    }
}

/* Of an operand that lies along its index: r[q] = pair q of the 16 indices from x0. Zeros beyond. */
PACK_INLINE void pairs_along_x(__m512i r[16], const hone_mm_operand *o, int64_t x0, int nx, int64_t p0, int np)
{
    __mmask16 mask = (__mmask16)((1u << HONE_MIN(nx, 16)) - 1);

    for (int q = 0; q < 16; q++) {
        const char *src = pack_at(o, (p0 + 2 * q) * o->ld + x0, 2);
        __m512i     even = _mm512_setzero_si512(), odd = even;

        pack_prefetch(src, 128);
        pack_prefetch(src + 2 * o->ld, 128);
        if (2 * q < np)
            even = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, src));
        if (2 * q + 1 < np)
            odd = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, src + 2 * o->ld));
        r[q] = _mm512_or_si512(even, _mm512_slli_epi32(odd, 16));
    }
}

/* Rows of pairs whichever way the operand lies: r[q] = pair q of 16 indices. */
PACK_INLINE void pairs_by_p(__m512i r[16], const hone_mm_operand *o, int64_t x0, int nx, int64_t p0, int np)
{
    if (o->along_p) {
        pairs_along_p(r, o, x0, nx, p0, np);
        transpose16(r);
    } else {
        pairs_along_x(r, o, x0, nx, p0, np);
    }
}

/* r[i] = 16 pairs of index i. */
PACK_INLINE void pairs_by_x(__m512i r[16], const hone_mm_operand *o, int64_t x0, int nx, int64_t p0, int np)
{
    if (o->along_p) {
        pairs_along_p(r, o, x0, nx, p0, np);
    } else {
        pairs_along_x(r, o, x0, nx, p0, np);
        transpose16(r);
    }
}

#endif /* HONE_KERNEL_CPU_PAIRS_AVX512_H */
