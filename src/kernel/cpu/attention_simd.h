/*
 * kernel/cpu/attention_simd.h -- vectors of floats for the attention kernels, as wide as the including file's instruction
 * set allows. Included once per instruction set; everything is static.
 *
 * Arithmetic uses the compiler's vector types (a + b, a * b); here is only what these cannot say.
 */
#ifndef HONE_KERNEL_CPU_ATTENTION_SIMD_H
#define HONE_KERNEL_CPU_ATTENTION_SIMD_H

#include <stdint.h>
#include <string.h>

#include "op/kernel.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
enum { VW = 16, NV_MAX = 4 };       /* floats per vector; columns of a micro-kernel, in vectors (32 registers) */
#elif defined(__AVX2__)
enum { VW = 8, NV_MAX = 2 };        /* 16 registers: 12 sums */
#else
enum { VW = 4, NV_MAX = 2 };
#endif

typedef float    vf __attribute__((vector_size(VW * 4)));
typedef uint32_t vu __attribute__((vector_size(VW * 4)));
typedef int32_t  vi __attribute__((vector_size(VW * 4)));
typedef float    lane4 __attribute__((vector_size(16), aligned(4), may_alias));

INLINE vf v_load(const float *p)
{
    vf v;

    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void v_store(float *p, vf v) { memcpy(p, &v, sizeof v); }

#if defined(__AVX512F__)
INLINE vf v_set1(float x) { return _mm512_set1_ps(x); }
INLINE vf v_fma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
INLINE vf v_max(vf a, vf b) { return _mm512_max_ps(a, b); }
/* y where x is not below `cut`, else 0 */
INLINE vf v_zero_below(vf y, vf x, float cut)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, _mm512_set1_ps(cut), _CMP_NLT_UQ), y);
}
/* Four floats from each of VW/4 places: group i of four goes to 128-bit lane i. */
INLINE vf v_lanes(const float *p, int64_t step)
{
    vf v = _mm512_castps128_ps512(_mm_loadu_ps(p));

    v = _mm512_insertf32x4(v, _mm_loadu_ps(p + step), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(p + 2 * step), 2);
    return _mm512_insertf32x4(v, _mm_loadu_ps(p + 3 * step), 3);
}
#elif defined(__AVX2__)
INLINE vf v_set1(float x) { return _mm256_set1_ps(x); }
INLINE vf v_fma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
INLINE vf v_max(vf a, vf b) { return _mm256_max_ps(a, b); }
INLINE vf v_zero_below(vf y, vf x, float cut)
{
    return _mm256_and_ps(y, _mm256_cmp_ps(x, _mm256_set1_ps(cut), _CMP_NLT_UQ));
}
INLINE vf v_lanes(const float *p, int64_t step)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + step), 1);
}
#else
INLINE vf v_set1(float x) { return (vf){ x, x, x, x }; }
INLINE vf v_fma(vf a, vf b, vf c) { return a * b + c; }     /* two roundings: baseline processors have no fused form */
INLINE vf v_max(vf a, vf b)
{
    vu m = (vu)(a > b);

    return (vf)((m & (vu)a) | (~m & (vu)b));
}
INLINE vf v_zero_below(vf y, vf x, float cut) { return (vf)((vu)y & ~(vu)(x < v_set1(cut))); }
INLINE vf v_lanes(const float *p, int64_t step)
{
    (void)step;
    return v_load(p);
}
#endif

/* Halves are folded onto each other: an order that is the same for every compiler. */
INLINE float v_sum(vf v)
{
    float a[VW];

#if defined(__AVX512F__)
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));

    _mm_storeu_ps(a, q);
#elif defined(__AVX2__)
    _mm_storeu_ps(a, _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
#else
    v_store(a, v);
#endif
    return (a[0] + a[2]) + (a[1] + a[3]);
}

INLINE float v_maximum(vf v)
{
#if defined(__AVX2__)
#if defined(__AVX512F__)
    __m256 h = _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
#else
    __m256 h = v;
#endif
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));

    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
#else
    float a[VW], m;

    v_store(a, v);
    m = a[0];
    for (int i = 1; i < VW; i++)
        m = a[i] > m ? a[i] : m;
    return m;
#endif
}

/* `v` where lo <= first + element < hi, else `other`. */
INLINE vf v_inside(vf v, int first, int lo, int hi, float other)
{
    static const int32_t index[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
    vi at;
    vu m;

    memcpy(&at, index, sizeof at);
    at += first;
    m = (vu)(at >= lo) & (vu)(at < hi);
    return (vf)((m & (vu)v) | (~m & (vu)v_set1(other)));
}

/*
 * e^x for x up to about 80; below -86.5 exactly 0 (no subnormal results); NaN stays NaN. About 1 ulp.
 * x = n·ln 2 + r with |r| <= ln 2 / 2, then a polynomial in r; split of ln 2 and coefficients are those of Cephes' expf.
 */
INLINE vf v_exp(vf x)
{
    const vf magic = v_set1(12582912.0f);                   /* 1.5 · 2^23: adding it rounds to an integer, in the low bits */
    vf       t = v_fma(x, v_set1(1.44269504088896341f), magic), n = t - magic, r, p;

    r = v_fma(n, v_set1(-0.693359375f), x);
    r = v_fma(n, v_set1(2.12194440e-4f), r);
    p = v_fma(v_set1(1.9875691500e-4f), r, v_set1(1.3981999507e-3f));
    p = v_fma(p, r, v_set1(8.3334519073e-3f));
    p = v_fma(p, r, v_set1(4.1665795894e-2f));
    p = v_fma(p, r, v_set1(1.6666665459e-1f));
    p = v_fma(p, r, v_set1(5.0000001201e-1f));
    p = v_fma(p, r * r, r) + v_set1(1.0f);
    return v_zero_below((vf)((vu)p + ((vu)t << 23)), x, -86.5f);
}

/* Write four rows of `to` (stride ld_to), VW columns each, from VW rows of `from`, four columns each: a transposition. */
INLINE void v_transpose4(float *to, int64_t ld_to, const float *from, int64_t ld)
{
    vf a = v_lanes(from, 4 * ld), b = v_lanes(from + ld, 4 * ld);
    vf c = v_lanes(from + 2 * ld, 4 * ld), d = v_lanes(from + 3 * ld, 4 * ld);
#if defined(__AVX512F__)
    vf ab = _mm512_unpacklo_ps(a, b), ab2 = _mm512_unpackhi_ps(a, b);
    vf cd = _mm512_unpacklo_ps(c, d), cd2 = _mm512_unpackhi_ps(c, d);

    v_store(to, _mm512_shuffle_ps(ab, cd, 0x44));
    v_store(to + ld_to, _mm512_shuffle_ps(ab, cd, 0xEE));
    v_store(to + 2 * ld_to, _mm512_shuffle_ps(ab2, cd2, 0x44));
    v_store(to + 3 * ld_to, _mm512_shuffle_ps(ab2, cd2, 0xEE));
#elif defined(__AVX2__)
    vf ab = _mm256_unpacklo_ps(a, b), ab2 = _mm256_unpackhi_ps(a, b);
    vf cd = _mm256_unpacklo_ps(c, d), cd2 = _mm256_unpackhi_ps(c, d);

    v_store(to, _mm256_shuffle_ps(ab, cd, 0x44));
    v_store(to + ld_to, _mm256_shuffle_ps(ab, cd, 0xEE));
    v_store(to + 2 * ld_to, _mm256_shuffle_ps(ab2, cd2, 0x44));
    v_store(to + 3 * ld_to, _mm256_shuffle_ps(ab2, cd2, 0xEE));
#else
    for (int i = 0; i < 4; i++)
        v_store(to + i * ld_to, (vf){ a[i], b[i], c[i], d[i] });
#endif
}

/* The words of hone_dropout_words for 4·V_GROUPS neighbouring elements from `group` on, as factors: 0 or `keep`. */
typedef struct dropout_row { const hone_dropout *d; uint32_t sample, position, lane, threshold; float keep; } dropout_row;

#if defined(__AVX512F__)
enum { V_GROUPS = 8 };

INLINE void v_dropout(float *to, const dropout_row *o, uint32_t group)
{
    /* One counter per 64-bit lane, in its low half; the order of groups makes the last interleaving come out sorted. */
    __m512i c3 = _mm512_add_epi64(_mm512_set1_epi64(group), _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7));
    __m512i c0 = _mm512_set1_epi64(o->sample), c1 = _mm512_set1_epi64(o->position);
    __m512i c2 = _mm512_set1_epi64((o->lane & 0xFFFFu) << 16 | (o->d->site & 0xFFFFu)), w01, w23;
    const __m512i m0 = _mm512_set1_epi64(0xD2511F53u), m1 = _mm512_set1_epi64(0xCD9E8D57u);
    const __m512i threshold = _mm512_set1_epi32((int)o->threshold);
    uint32_t k0 = (uint32_t)o->d->key, k1 = (uint32_t)(o->d->key >> 32);

    for (int round = 0; round < 10; round++) {
        __m512i p0 = _mm512_mul_epu32(m0, c0), p1 = _mm512_mul_epu32(m1, c2);

        c0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), c1, _mm512_set1_epi64(k0), 0x96);
        c2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c3, _mm512_set1_epi64(k1), 0x96);
        c1 = p1;
        c3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    w01 = _mm512_mask_blend_epi32(0xAAAA, c0, _mm512_slli_epi64(c1, 32));
    w23 = _mm512_mask_blend_epi32(0xAAAA, c2, _mm512_slli_epi64(c3, 32));
    v_store(to, _mm512_maskz_mov_ps(_mm512_cmpge_epu32_mask(_mm512_unpacklo_epi64(w01, w23), threshold), v_set1(o->keep)));
    v_store(to + 16, _mm512_maskz_mov_ps(_mm512_cmpge_epu32_mask(_mm512_unpackhi_epi64(w01, w23), threshold), v_set1(o->keep)));
}
#elif defined(__AVX2__)
enum { V_GROUPS = 4 };

INLINE vf v_keep(__m256i words, const dropout_row *o)
{
    __m256i kept = _mm256_cmpeq_epi32(_mm256_max_epu32(words, _mm256_set1_epi32((int)o->threshold)), words);

    return _mm256_and_ps(_mm256_castsi256_ps(kept), v_set1(o->keep));
}

INLINE void v_dropout(float *to, const dropout_row *o, uint32_t group)
{
    __m256i c3 = _mm256_add_epi64(_mm256_set1_epi64x(group), _mm256_setr_epi64x(0, 2, 1, 3));
    __m256i c0 = _mm256_set1_epi64x(o->sample), c1 = _mm256_set1_epi64x(o->position);
    __m256i c2 = _mm256_set1_epi64x((o->lane & 0xFFFFu) << 16 | (o->d->site & 0xFFFFu)), w01, w23;
    const __m256i m0 = _mm256_set1_epi64x(0xD2511F53u), m1 = _mm256_set1_epi64x(0xCD9E8D57u);
    uint32_t k0 = (uint32_t)o->d->key, k1 = (uint32_t)(o->d->key >> 32);

    for (int round = 0; round < 10; round++) {
        __m256i p0 = _mm256_mul_epu32(m0, c0), p1 = _mm256_mul_epu32(m1, c2);

        c0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1), _mm256_set1_epi64x(k0));
        c2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3), _mm256_set1_epi64x(k1));
        c1 = p1;
        c3 = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    w01 = _mm256_blend_epi32(c0, _mm256_slli_epi64(c1, 32), 0xAA);
    w23 = _mm256_blend_epi32(c2, _mm256_slli_epi64(c3, 32), 0xAA);
    v_store(to, v_keep(_mm256_unpacklo_epi64(w01, w23), o));
    v_store(to + 8, v_keep(_mm256_unpackhi_epi64(w01, w23), o));
}
#else
enum { V_GROUPS = 1 };

INLINE void v_dropout(float *to, const dropout_row *o, uint32_t group)
{
    uint32_t w[4];

    hone_dropout_words(w, o->d, o->sample, o->position, o->lane, group);
    for (int i = 0; i < 4; i++)
        to[i] = w[i] >= o->threshold ? o->keep : 0.0f;
}
#endif

#endif /* HONE_KERNEL_CPU_ATTENTION_SIMD_H */
