/*
 * Matrix products of bf16 with VDPBF16PS: tiles of 6 x 64.
 *
 * A step takes two p's: c = fma(a_even, b_even, fma(a_odd, b_odd, c)), with denormals taken as zero. An odd last p is
 * paired with zeros.
 */
#if defined(__x86_64__)
#include <immintrin.h>

#include "kernel/cpu/pack.h"
#include "kernel/cpu/pairs_avx512.h"

enum { MR = 6, NR = 64, VEC = 16 };

static inline __m512i splat(const char *p)
{
    int32_t pair;

    memcpy(&pair, p, 4);
    return _mm512_set1_epi32(pair);
}

#define TILE_NAME tile
#define TILE_MR 6
#define TILE_NV 4
#define TILE_VEC __m512
#define TILE_OP __m512i
#define TILE_LANES VEC
#define TILE_SPLAT(p) splat(p)
#define TILE_MADD(a, b, c) _mm512_dpbf16_ps(c, (__m512bh)(a), (__m512bh)(b))
#include "kernel/cpu/matmul_tile.h"

static bool rows_in_place(hone_mm_rows *out, const hone_mm_operand *a, int64_t i0, int64_t p0, int64_t kc)
{
    if (!a->along_p || kc % 2)
        return false;
    *out = (hone_mm_rows){ pack_at(a, i0 * a->ld + p0, 2), a->ld * 2, 4 };
    return true;
}

static void pack_a(hone_mm_rows *out, void *dst, const hone_mm_operand *a, int64_t i0, int64_t rows, int64_t p0,
                   int64_t kc)
{
    int64_t even = (kc + 1) / 2 * 2;

    if (a->along_p) {
        *out = (hone_mm_rows){ dst, even * 2, 4 };
        for (int64_t r = 0; r < rows; r++) {
            uint16_t *row = (uint16_t *)dst + r * even;

            row[even - 1] = 0;
            memcpy(row, pack_at(a, (i0 + r) * a->ld + p0, 2), (size_t)kc * 2);
        }
        return;
    }
    *out = (hone_mm_rows){ dst, 4, MR * 4 };
    for (int64_t p = 0; p < kc; p += 2) {
        const uint16_t *src = (const uint16_t *)pack_at(a, (p0 + p) * a->ld + i0, 2);

        for (int64_t line = 0; line < rows * 2; line += 64) {       /* of the next strips */
            pack_prefetch((const char *)src, rows * 2 + line);
            pack_prefetch((const char *)(src + a->ld), rows * 2 + line);
        }
        for (int64_t r = 0; r < rows; r += MR) {
            __mmask8 mask = (__mmask8)((1u << HONE_MIN(MR, rows - r)) - 1);
            __m128i  even_p = _mm_maskz_loadu_epi16(mask, src + r);
            __m128i  odd_p = p + 1 < kc ? _mm_maskz_loadu_epi16(mask, src + a->ld + r) : _mm_setzero_si128();
            uint32_t *to = (uint32_t *)dst + r * (even / 2) + p / 2 * MR;

            _mm_storeu_si128((__m128i *)to, _mm_unpacklo_epi16(even_p, odd_p));
            _mm_storel_epi64((__m128i *)(to + 4), _mm_unpackhi_epi16(even_p, odd_p));
        }
    }
}

/* 16 columns x 16 pairs of a panel of `width` columns. */
PACK_INLINE void pack_block(int32_t *panel, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc,
                            int width, int j, int64_t p)
{
    int     np = (int)HONE_MIN(32, kc - p);
    __m512i r[16];

    pairs_by_p(r, b, j0 + j, HONE_MIN(16, cols - j), p0 + p, np);
    for (int q = 0; q < (np + 1) / 2; q++)
        _mm512_store_si512(panel + (p / 2 + q) * width + j, r[q]);
}

static void pack_b(void *dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc)
{
    int width = (cols + VEC - 1) / VEC * VEC;

    if (b->along_p) {                           /* the source's rows are followed in either case */
        for (int j = 0; j < width; j += 16)
            for (int64_t p = 0; p < kc; p += 32)
                pack_block(dst, b, j0, cols, p0, kc, width, j, p);
    } else {
        for (int64_t p = 0; p < kc; p += 32)
            for (int j = 0; j < width; j += 16)
                pack_block(dst, b, j0, cols, p0, kc, width, j, p);
    }
}

static void finish(const hone_mm_output *o, const float *tiles, int64_t i0, int rows, int64_t j0, int64_t cols)
{
    pack_finish(o, tiles, i0, rows, j0, cols, MR, NR);
}

static void column_sums(float *out, const void *a, int64_t ld, int64_t rows, int64_t j0, int64_t j1, bool accumulate)
{
    pack_column_sums(out, a, ld, rows, j0, j1, accumulate, true);
}

const hone_mm_set hone_mm_avx512bf16 = {
    .name = "avx512bf16", .isa = HONE_ISA_AVX512BF16, .dtype = HONE_DTYPE_BF16,
    .mr = MR, .nr = NR, .vec = VEC, .unit = 2, .elem = 2,
    .kc = 512, .mc = 516, .nc = 512, .strips = 16,
    .rows_in_place = rows_in_place, .pack_a = pack_a, .pack_b = pack_b,
    .tile = tile, .finish = finish, .column_sums = column_sums,
};
#endif
