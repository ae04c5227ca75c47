/* Matrix products with AVX2 and FMA: tiles of 6 x 16. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "kernel/cpu/pack.h"

enum { MR = 6, NR = 16, VEC = 8 };

#define TILE_NAME tile
#define TILE_MR 6
#define TILE_NV 2
#define TILE_VEC __m256
#define TILE_OP __m256
#define TILE_LANES VEC
#define TILE_SPLAT(p) _mm256_broadcast_ss((const float *)(p))
#define TILE_MADD(a, b, c) _mm256_fmadd_ps(a, b, c)
#include "kernel/cpu/matmul_tile.h"

PACK_INLINE __m256 load8(const char *p, bool bf16)
{
    if (bf16)
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p)), 16));
    return _mm256_loadu_ps((const float *)p);
}

PACK_INLINE void transpose8(__m256 r[8])
{
    __m256 t[8];

    for (int i = 0; i < 8; i += 2) {                    /* pairs of rows */
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {                    /* 4 x 4 blocks within 128-bit lanes */
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xEE);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xEE);
    }
    for (int i = 0; i < 4; i++) {
        t[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        t[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
    for (int i = 0; i < 8; i++)
        r[i] = t[i];
}

PACK_INLINE void pack_b(float *dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc, bool bf16)
{
    const int bytes = bf16 ? 2 : 4;
    int       width = (cols + VEC - 1) / VEC * VEC;
    int64_t   whole = kc / 8 * 8;

    if (!b->along_p) {
        pack_b_runs_f32(dst, b, j0, cols, p0, kc, NR, VEC, bf16);
        return;
    }
    for (int j = 0; j < width; j += 8) {
        const char *src = pack_at(b, (j0 + j) * b->ld + p0, bytes);
        int         n = HONE_MIN(8, cols - j);

        for (int64_t p = 0; p < whole; p += 8) {
            __m256 r[8];

            for (int i = 0; i < 8; i++)
                r[i] = i < n ? load8(src + (i * b->ld + p) * bytes, bf16) : _mm256_setzero_ps();
            transpose8(r);
            for (int i = 0; i < 8; i++)
                _mm256_store_ps(dst + (p + i) * width + j, r[i]);
        }
    }
    if (whole < kc)
        pack_b_transpose_f32(dst + whole * width, b, j0, cols, p0 + whole, kc - whole, VEC, bf16);
}

#define SET avx2
#define SET_ISA HONE_ISA_AVX2
#define SET_KC 256
#define SET_MC 516
#define SET_NC 256
#include "kernel/cpu/matmul_set.h"
#endif
