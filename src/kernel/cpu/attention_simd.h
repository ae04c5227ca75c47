/*
 * kernel/cpu/attention_simd.h -- what attention needs of vectors beyond simd.h. Included once per instruction set;
 * everything is static.
 */
#ifndef HONE_KERNEL_CPU_ATTENTION_SIMD_H
#define HONE_KERNEL_CPU_ATTENTION_SIMD_H

#include "kernel/cpu/simd.h"
#include "op/kernel.h"

#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
enum { NV_MAX = 4 };        /* columns of a micro-kernel, in vectors: 32 registers hold 24 sums */
#else
enum { NV_MAX = 2 };        /* 16 registers hold 12 */
#endif

/* exp for probabilities: exactly 0 where the result would be subnormal, which is slow to compute with. */
INLINE vf exp_or_zero(vf x) { return vf_where_less(x, vf_set(-87.0f), vf_set(0.0f), vf_exp(x)); }

/* `v` where lo <= first + element < hi, else `other`. */
INLINE vf vf_inside(vf v, int first, int lo, int hi, float other)
{
    static const float index[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    vf at = vf_load_full(index) + vf_set((float)first);

    v = vf_where_less(at, vf_set((float)lo), vf_set(other), v);
    return vf_where_less(at, vf_set((float)hi), v, vf_set(other));
}

/* Four floats from each of VF_LANES / 4 places, `step` apart, next to one another. */
INLINE vi vi_lanes(const float *p, int64_t step)
{
#if defined(__AVX512F__)
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(p));

    v = _mm512_insertf32x4(v, _mm_loadu_ps(p + step), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(p + 2 * step), 2);
    return (vi)_mm512_insertf32x4(v, _mm_loadu_ps(p + 3 * step), 3);
#elif defined(__AVX2__)
    return (vi)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + step), 1);
#else
    (void)step;
    return (vi)vf_load_full(p);
#endif
}

/* VF_LANES rows of four columns (stride ld) become four rows (stride ld_to) of VF_LANES columns. */
INLINE void transpose_four(float *to, int64_t ld_to, const float *from, int64_t ld)
{
    vi out[4];

    vi_transpose(out, vi_lanes(from, 4 * ld), vi_lanes(from + ld, 4 * ld), vi_lanes(from + 2 * ld, 4 * ld),
                 vi_lanes(from + 3 * ld, 4 * ld));
    for (int i = 0; i < 4; i++)
        vf_store_full(to + i * ld_to, (vf)out[i]);
}

#endif /* HONE_KERNEL_CPU_ATTENTION_SIMD_H */
