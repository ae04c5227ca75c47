/* kernel/cpu/simd_avx512.h -- the primitives of simd.h with AVX-512 (F, BW, DQ, VL). Included by simd.h only. */
#ifndef HONE_KERNEL_CPU_SIMD_AVX512_H
#define HONE_KERNEL_CPU_SIMD_AVX512_H

#include <immintrin.h>

typedef __m512  vf;
typedef __m512i vi;
enum { VF_LANES = 16 };

static inline vf   vf_set(float x) { return _mm512_set1_ps(x); }
static inline vf   vf_load_full(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_store_full(float *p, vf v) { _mm512_storeu_ps(p, v); }
static inline vf   vf_load_part(const float *p, int m) { return _mm512_maskz_loadu_ps((__mmask16)((1u << m) - 1), p); }
static inline void vf_store_part(float *p, vf v, int m) { _mm512_mask_storeu_ps(p, (__mmask16)((1u << m) - 1), v); }
static inline vf   vf_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }    /* a b + c */
static inline vf   vf_fma_exact(vf a, vf b, vf c) { return vf_fma(a, b, c); }    /* one rounding in every set */
static inline vf   vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }                 /* b when either is NaN */
static inline vf   vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vf   vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
static inline vf   vf_abs(vf a) { return _mm512_abs_ps(a); }
/* yes where a < b, else no */
static inline vf   vf_where_less(vf a, vf b, vf yes, vf no) { return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ), no, yes); }
/* v in the first m lanes, zero in the rest */
static inline vf   vf_part(vf v, int m) { return m == VF_LANES ? v : _mm512_maskz_mov_ps((__mmask16)((1u << m) - 1), v); }
/* v · 2^n for integral n in [-152, 130] */
static inline vf   vf_scale(vf v, vf n) { return _mm512_scalef_ps(v, n); }
/* z² - s exactly, s being z² rounded */
static inline vf   vf_square_low(vf z, vf s) { return _mm512_fmsub_ps(z, z, s); }

static inline vf vf_widen_(__m256i half) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16)); }

static inline __m256i vf_narrow_(vf v)
{
    __m512i u = _mm512_castps_si512(v), odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
    __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(u, _mm512_set1_epi32(0x7FFF)), odd), 16);
    __m512i quiet = _mm512_or_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(0x40));

    return _mm512_cvtepi32_epi16(_mm512_mask_blend_epi32(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), rounded, quiet));
}

static inline vf   vf_load_bf16_full(const uint16_t *p) { return vf_widen_(_mm256_loadu_si256((const __m256i *)p)); }
static inline vf   vf_load_bf16_part(const uint16_t *p, int m) { return vf_widen_(_mm256_maskz_loadu_epi16((__mmask16)((1u << m) - 1), p)); }
static inline void vf_store_bf16_full(uint16_t *p, vf v) { _mm256_storeu_si256((__m256i *)p, vf_narrow_(v)); }
static inline void vf_store_bf16_part(uint16_t *p, vf v, int m) { _mm256_mask_storeu_epi16(p, (__mmask16)((1u << m) - 1), vf_narrow_(v)); }

/* Sum and maximum of the lanes, halves folded onto one another. */
static inline float vf_sum(vf v)
{
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));

    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}

static inline float vf_largest(vf v)
{
    __m256 h = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));

    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}

/* ---- words */
static inline vi vi_set(uint32_t x) { return _mm512_set1_epi32((int)x); }
static inline vi vi_add(vi a, vi b) { return _mm512_add_epi32(a, b); }
static inline vi vi_xor(vi a, vi b) { return _mm512_xor_si512(a, b); }

/* High and low halves of a · b, lane by lane. */
static inline void vi_multiply(vi *high, vi *low, vi a, uint32_t b)
{
    vi even = _mm512_mul_epu32(a, vi_set(b)), odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), vi_set(b));

    *high = _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64(even, 32), odd);
    *low = _mm512_mask_blend_epi32(0xAAAA, even, _mm512_slli_epi64(odd, 32));
}

/* Lane 4 l + j computes group 4 j + l, which vi_transpose brings to out[j], words 4 l … 4 l + 3. */
static inline vi vi_group_order(void) { return _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15); }

static inline void vi_transpose(vi out[4], vi a, vi b, vi c, vi d)
{
    vi ab0 = _mm512_unpacklo_epi32(a, b), ab1 = _mm512_unpackhi_epi32(a, b);
    vi cd0 = _mm512_unpacklo_epi32(c, d), cd1 = _mm512_unpackhi_epi32(c, d);

    out[0] = _mm512_unpacklo_epi64(ab0, cd0);
    out[1] = _mm512_unpackhi_epi64(ab0, cd0);
    out[2] = _mm512_unpacklo_epi64(ab1, cd1);
    out[3] = _mm512_unpackhi_epi64(ab1, cd1);
}

/* v where word >= threshold, else 0 */
static inline vf vf_keep(vf v, vi word, uint32_t threshold)
{
    return _mm512_maskz_mov_ps(_mm512_cmpge_epu32_mask(word, vi_set(threshold)), v);
}

#endif /* HONE_KERNEL_CPU_SIMD_AVX512_H */
