/* kernel/cpu/transpose_avx512.h -- a 16 x 16 matrix of dwords, transposed in registers. */
#ifndef HONE_KERNEL_CPU_TRANSPOSE_AVX512_H
#define HONE_KERNEL_CPU_TRANSPOSE_AVX512_H

#include <immintrin.h>

static inline __attribute__((always_inline)) void transpose16(__m512i r[16])
{
    __m512i t[16];

    for (int i = 0; i < 16; i += 2) {               /* pairs of rows */
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {               /* 4 x 4 blocks within lanes: row i+c has columns c mod 4 */
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int c = 0; c < 4; c++) {                   /* the same on the 4 x 4 matrix of lanes */
        __m512i a = _mm512_shuffle_i32x4(r[c], r[c + 4], 0x44);
        __m512i b = _mm512_shuffle_i32x4(r[c], r[c + 4], 0xEE);
        __m512i d = _mm512_shuffle_i32x4(r[c + 8], r[c + 12], 0x44);
        __m512i e = _mm512_shuffle_i32x4(r[c + 8], r[c + 12], 0xEE);

        t[c] = _mm512_shuffle_i32x4(a, d, 0x88);
        t[c + 4] = _mm512_shuffle_i32x4(a, d, 0xDD);
        t[c + 8] = _mm512_shuffle_i32x4(b, e, 0x88);
        t[c + 12] = _mm512_shuffle_i32x4(b, e, 0xDD);
    }
    for (int i = 0; i < 16; i++)
        r[i] = t[i];
}

#endif /* HONE_KERNEL_CPU_TRANSPOSE_AVX512_H */
