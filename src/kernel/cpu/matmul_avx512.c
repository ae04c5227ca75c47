/* Matrix products with AVX-512 FMA: tiles of 6 x 64. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "kernel/cpu/pack.h"
#include "kernel/cpu/transpose_avx512.h"

enum { MR = 6, NR = 64, VEC = 16 };

#define TILE_NAME tile
#define TILE_MR 6
#define TILE_NV 4
#define TILE_VEC __m512
#define TILE_OP __m512
#define TILE_LANES VEC
#define TILE_SPLAT(p) _mm512_set1_ps(*(const float *)(p))
#define TILE_MADD(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "kernel/cpu/matmul_tile.h"

/* 16 elements (those of `mask`) as floats. */
PACK_INLINE __m512i load16(const char *p, __mmask16 mask, bool bf16)
{
    if (bf16)
        return _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, p)), 16);
    return _mm512_maskz_loadu_epi32(mask, p);
}

PACK_INLINE void pack_b(float *dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc, bool bf16)
{
    const int bytes = bf16 ? 2 : 4;
    int       width = (cols + VEC - 1) / VEC * VEC;

    if (!b->along_p) {
        pack_b_runs_f32(dst, b, j0, cols, p0, kc, NR, VEC, bf16);
        return;
    }
    for (int j = 0; j < width; j += 16) {
        const char *src = pack_at(b, (j0 + j) * b->ld + p0, bytes);
        int         n = HONE_MIN(16, cols - j);

        for (int64_t p = 0; p < kc; p += 16) {
            int       np = (int)HONE_MIN(16, kc - p);
            __mmask16 mask = (__mmask16)((1u << np) - 1);
            __m512i   r[16];

            for (int i = 0; i < 16; i++) {
                r[i] = i < n ? load16(src + (i * b->ld + p) * bytes, mask, bf16) : _mm512_setzero_si512();
                pack_prefetch(src, (i * b->ld + p + 16 * b->ld) * bytes);
            }
            transpose16(r);
            for (int i = 0; i < np; i++)
                _mm512_store_si512(dst + (p + i) * width + j, r[i]);
        }
    }
}

#define SET avx512
#define SET_ISA HONE_ISA_AVX512
#define SET_KC 256
#define SET_MC 516
#define SET_NC 512
#include "kernel/cpu/matmul_set.h"
#endif
