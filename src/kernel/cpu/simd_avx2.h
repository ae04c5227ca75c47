/* kernel/cpu/simd_avx2.h -- the primitives of simd.h with AVX2 and FMA. Included by simd.h only; see simd_avx512.h for meanings. */
#ifndef HONE_KERNEL_CPU_SIMD_AVX2_H
#define HONE_KERNEL_CPU_SIMD_AVX2_H

#include <immintrin.h>

typedef __m256  vf;
typedef __m256i vi;
enum { VF_LANES = 8 };

static inline __m256i vf_first_(int m)      /* all ones in the first m lanes */
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(m), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline vf   vf_set(float x) { return _mm256_set1_ps(x); }
static inline vf   vf_load_full(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_store_full(float *p, vf v) { _mm256_storeu_ps(p, v); }
static inline vf   vf_load_part(const float *p, int m) { return _mm256_maskload_ps(p, vf_first_(m)); }
static inline void vf_store_part(float *p, vf v, int m) { _mm256_maskstore_ps(p, vf_first_(m), v); }
static inline vf   vf_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
static inline vf   vf_fma_exact(vf a, vf b, vf c) { return vf_fma(a, b, c); }
static inline vf   vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
static inline vf   vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf   vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
static inline vf   vf_abs(vf a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
static inline vf   vf_where_less(vf a, vf b, vf yes, vf no) { return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
static inline vf   vf_part(vf v, int m) { return m == VF_LANES ? v : _mm256_and_ps(v, _mm256_castsi256_ps(vf_first_(m))); }
static inline vf   vf_square_low(vf z, vf s) { return _mm256_fmsub_ps(z, z, s); }

static inline vf vf_power_of_two_(__m256i n) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23)); }

/* In two steps, since 2^n itself may be out of range. */
static inline vf vf_scale(vf v, vf n)
{
    __m256i k = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(k, 1);

    return v * vf_power_of_two_(half) * vf_power_of_two_(_mm256_sub_epi32(k, half));
}

static inline vf vf_widen_(__m128i half) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16)); }

static inline __m128i vf_narrow_(vf v)
{
    __m256i u = _mm256_castps_si256(v), odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
    __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(u, _mm256_set1_epi32(0x7FFF)), odd), 16);
    __m256i quiet = _mm256_or_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(0x40));
    __m256i r = _mm256_blendv_epi8(rounded, quiet, _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q)));

    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi32(r, r), 0x08));
}

static inline vf   vf_load_bf16_full(const uint16_t *p) { return vf_widen_(_mm_loadu_si128((const __m128i *)p)); }
static inline void vf_store_bf16_full(uint16_t *p, vf v) { _mm_storeu_si128((__m128i *)p, vf_narrow_(v)); }

static inline vf vf_load_bf16_part(const uint16_t *p, int m)
{
    uint16_t part[8] = { 0 };

    memcpy(part, p, (size_t)m * sizeof *part);
    return vf_load_bf16_full(part);
}

static inline void vf_store_bf16_part(uint16_t *p, vf v, int m)
{
    uint16_t part[8];

    vf_store_bf16_full(part, v);
    memcpy(p, part, (size_t)m * sizeof *part);
}

static inline float vf_sum(vf v)
{
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}

static inline float vf_largest(vf v)
{
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}

/* ---- words */
static inline vi vi_set(uint32_t x) { return _mm256_set1_epi32((int)x); }
static inline vi vi_add(vi a, vi b) { return _mm256_add_epi32(a, b); }
static inline vi vi_xor(vi a, vi b) { return _mm256_xor_si256(a, b); }

static inline void vi_multiply(vi *high, vi *low, vi a, uint32_t b)
{
    vi even = _mm256_mul_epu32(a, vi_set(b)), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), vi_set(b));

    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
    *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}

/* Lane 4 l + j computes group 2 j + l. */
static inline vi vi_group_order(void) { return _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7); }

static inline void vi_transpose(vi out[4], vi a, vi b, vi c, vi d)
{
    vi ab0 = _mm256_unpacklo_epi32(a, b), ab1 = _mm256_unpackhi_epi32(a, b);
    vi cd0 = _mm256_unpacklo_epi32(c, d), cd1 = _mm256_unpackhi_epi32(c, d);

    out[0] = _mm256_unpacklo_epi64(ab0, cd0);
    out[1] = _mm256_unpackhi_epi64(ab0, cd0);
    out[2] = _mm256_unpacklo_epi64(ab1, cd1);
    out[3] = _mm256_unpackhi_epi64(ab1, cd1);
}

static inline vf vf_keep(vf v, vi word, uint32_t threshold)
{
    const __m256i sign = _mm256_set1_epi32((int)0x80000000u);   /* turns unsigned order into signed */
    __m256i       less = _mm256_cmpgt_epi32(_mm256_xor_si256(vi_set(threshold), sign), _mm256_xor_si256(word, sign));

    return _mm256_andnot_ps(_mm256_castsi256_ps(less), v);
}

#endif /* HONE_KERNEL_CPU_SIMD_AVX2_H */
