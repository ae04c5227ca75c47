/*
 * kernel/cpu/pack.h -- moving operands into the micro-kernels' form and sums out of it, in plain C that compilers
 * vectorise; included by each matmul_<isa>.c, so that each set gets it compiled for its own instructions.
 *
 * The inline functions take the set's constants as arguments; the sets wrap them with constants.
 */
#ifndef HONE_KERNEL_CPU_PACK_H
#define HONE_KERNEL_CPU_PACK_H

#include <string.h>

#include "kernel/cpu/matmul.h"

enum { PACK_STRIPS = 16 };      /* strips of A packed together, of at most 8 rows */

#define PACK_INLINE static inline __attribute__((always_inline))

/* n elements to f32. */
PACK_INLINE void pack_to_f32(float *restrict dst, const void *restrict src, int64_t n, bool bf16)
{
    if (!bf16) {
        memcpy(dst, src, (size_t)n * sizeof *dst);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        dst[i] = hone_bf16_to_f32(((const uint16_t *)src)[i]);
}

PACK_INLINE const char *pack_at(const hone_mm_operand *o, int64_t index, int bytes)
{
    return (const char *)o->data + index * bytes;
}

/* Have memory `bytes` on from p brought near, to read or to write; it need not be there. Short runs of many rows are
 * what processors do not foresee. */
PACK_INLINE void pack_prefetch(const char *p, int64_t bytes)
{
    __builtin_prefetch((const char *)((uintptr_t)p + (uintptr_t)bytes), 0, 2);
}

PACK_INLINE void pack_prefetch_write(const char *p, int64_t bytes)
{
    __builtin_prefetch((const char *)((uintptr_t)p + (uintptr_t)bytes), 1, 2);
}

/* ---- A ----------------------------------------------------------------------------------------------------------- */

/* f32 rows are read in place in either layout. */
PACK_INLINE bool pack_rows_in_place_f32(hone_mm_rows *out, const hone_mm_operand *a, int64_t i0, int64_t p0)
{
    if (!a->along_p)
        return false;
    *out = (hone_mm_rows){ pack_at(a, i0 * a->ld + p0, 4), a->ld * 4, 4 };
    return true;
}

/* Strips of f32: rows one after another when A lies along p, else mr-wide panels [kc][mr]. */
PACK_INLINE void pack_a_f32(hone_mm_rows *out, float *dst, const hone_mm_operand *a, int64_t i0, int64_t rows,
                            int64_t p0, int64_t kc, const int mr, const bool bf16)
{
    const int bytes = bf16 ? 2 : 4;
    float     wide[PACK_STRIPS * 8];

    if (a->along_p) {
        *out = (hone_mm_rows){ (const char *)dst, kc * 4, 4 };
        for (int64_t r = 0; r < rows; r++)
            pack_to_f32(dst + r * kc, pack_at(a, (i0 + r) * a->ld + p0, bytes), kc, bf16);
        return;
    }
    *out = (hone_mm_rows){ (const char *)dst, 4, mr * 4 };
    for (int64_t p = 0; p < kc; p++) {
        const char *src = pack_at(a, (p0 + p) * a->ld + i0, bytes);
        int64_t     r = 0;

        for (int64_t line = 0; line < rows * bytes; line += 64)     /* of the next strips */
            pack_prefetch(src, rows * bytes + line);
        if (bf16) {                             /* long runs widen faster than short ones */
            pack_to_f32(wide, src, rows, true);
            src = (const char *)wide;
        }
        for (; r + mr <= rows; r += mr)
            memcpy(dst + r * kc + p * mr, src + r * 4, (size_t)mr * 4);
        if (r < rows)
            memcpy(dst + r * kc + p * mr, src + r * 4, (size_t)(rows - r) * 4);
    }
}

/* ---- B ----------------------------------------------------------------------------------------------------------- */

/* B stored along j: rows of the panel are runs of the source. */
PACK_INLINE void pack_b_runs_f32(float *restrict dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0,
                                 int64_t kc, const int nr, const int vec, const bool bf16)
{
    const int bytes = bf16 ? 2 : 4;
    int       width = (cols + vec - 1) / vec * vec;

    if (cols == nr) {
        for (int64_t p = 0; p < kc; p++) {
            const char *src = pack_at(b, (p0 + p) * b->ld + j0, bytes);

            for (int line = 0; line < nr * bytes; line += 64)       /* of the next panel */
                pack_prefetch(src, nr * bytes + line);
            pack_to_f32(dst + p * nr, src, nr, bf16);
        }
        return;
    }
    for (int64_t p = 0; p < kc; p++) {
        pack_to_f32(dst + p * width, pack_at(b, (p0 + p) * b->ld + j0, bytes), cols, bf16);
        for (int j = cols; j < width; j++)
            dst[p * width + j] = 0;
    }
}

/* B stored along p: a transpose, element by element. Sets with vectors have their own. */
PACK_INLINE void pack_b_transpose_f32(float *restrict dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0,
                                      int64_t kc, const int vec, const bool bf16)
{
    int width = (cols + vec - 1) / vec * vec;

    for (int j = 0; j < width; j++) {
        const char *src = pack_at(b, (j0 + j) * b->ld + p0, bf16 ? 2 : 4);

        if (j >= cols)
            for (int64_t p = 0; p < kc; p++)
                dst[p * width + j] = 0;
        else if (bf16)
            for (int64_t p = 0; p < kc; p++)
                dst[p * width + j] = hone_bf16_to_f32(((const uint16_t *)src)[p]);
        else
            for (int64_t p = 0; p < kc; p++)
                dst[p * width + j] = ((const float *)src)[p];
    }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

PACK_INLINE void pack_add(float *restrict sum, const void *restrict src, int n, bool bf16)
{
    if (bf16)
        for (int j = 0; j < n; j++)
            sum[j] += hone_bf16_to_f32(((const uint16_t *)src)[j]);
    else
        for (int j = 0; j < n; j++)
            sum[j] += ((const float *)src)[j];
}

/* Rounds to bf16 as hone_f32_to_bf16 does, without a branch. */
PACK_INLINE void pack_to_bf16(uint16_t *restrict dst, const float *restrict src, int n)
{
    for (int j = 0; j < n; j++) {
        uint32_t u, rounded, nan;

        memcpy(&u, &src[j], 4);
        rounded = (u + 0x7FFFu + (u >> 16 & 1)) >> 16;
        nan = u >> 16 | 0x40;
        dst[j] = (uint16_t)((u & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded);
    }
}

PACK_INLINE void pack_finish_run(const hone_mm_output *o, const float *tile, int64_t i, int64_t j, int n)
{
    const int in = o->in_bf16 ? 2 : 4, bytes = o->bf16 ? 2 : 4;
    int64_t   at = i * o->ld + j;
    char     *out = (char *)o->data + at * bytes;
    float     sum[HONE_MM_MAX_NR];

    memcpy(sum, tile, (size_t)n * sizeof *sum);
    if (o->bias)
        pack_add(sum, (const char *)o->bias + j * in, n, o->in_bf16);
    if (o->residual)
        pack_add(sum, (const char *)o->residual + at * in, n, o->in_bf16);
    if (o->accumulate)
        pack_add(sum, out, n, o->bf16);
    if (o->bf16)
        pack_to_bf16((uint16_t *)out, sum, n);
    else
        memcpy(out, sum, (size_t)n * sizeof *sum);
}

PACK_INLINE void pack_finish(const hone_mm_output *o, const float *tiles, int64_t i0, int rows, int64_t j0,
                             int64_t cols, const int mr, const int nr)
{
    for (int r = 0; r < rows; r++) {
        const float *row = tiles + r * nr;
        int64_t      j = 0;

        const int    bytes = o->bf16 ? 2 : 4;
        const char  *out = (const char *)o->data + ((i0 + r) * o->ld + j0) * bytes;

        for (int64_t line = 0; line < cols * bytes; line += 64)     /* of the next strip */
            pack_prefetch_write(out, mr * o->ld * bytes + line);
        for (; j + nr <= cols; j += nr, row += mr * nr)
            pack_finish_run(o, row, i0 + r, j0 + j, nr);
        if (j < cols)
            pack_finish_run(o, row, i0 + r, j0 + j, (int)(cols - j));
    }
}

/* Sums over rows, in blocks of 128 rows that are added in order. */
PACK_INLINE void pack_column_sums(float *out, const void *a, int64_t ld, int64_t rows, int64_t j0, int64_t j1,
                                  bool accumulate, const bool bf16)
{
    enum { ROWS = 128, COLS = 64 };
    const int bytes = bf16 ? 2 : 4;

    for (int64_t j = j0; j < j1; j += COLS) {
        int   n = (int)HONE_MIN(COLS, j1 - j);
        float total[COLS] = { 0 };

        for (int64_t ib = 0; ib < rows; ib += ROWS) {
            float sum[COLS] = { 0 };

            for (int64_t i = ib; i < HONE_MIN(ib + ROWS, rows); i++)
                pack_add(sum, (const char *)a + (i * ld + j) * bytes, n, bf16);
            pack_add(total, sum, n, false);
        }
        if (accumulate)
            pack_add(total, out + j, n, false);
        memcpy(out + j, total, (size_t)n * sizeof *total);
    }
}

#endif /* HONE_KERNEL_CPU_PACK_H */
