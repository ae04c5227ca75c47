/*
 * kernel/cpu/simd_portable.h -- the primitives of simd.h with the vector extensions of gcc and clang, which map them to SSE2,
 * NEON or plain code. Included by simd.h only; see simd_avx512.h for meanings.
 */
#ifndef HONE_KERNEL_CPU_SIMD_PORTABLE_H
#define HONE_KERNEL_CPU_SIMD_PORTABLE_H

typedef float    vf __attribute__((vector_size(16)));
typedef uint32_t vi __attribute__((vector_size(16)));
enum { VF_LANES = 4 };

static inline vf vf_set(float x) { return (vf){ x, x, x, x }; }

static inline vf vf_load_part(const float *p, int m)
{
    vf v = { 0 };

    memcpy(&v, p, (size_t)m * sizeof *p);
    return v;
}

static inline void vf_store_part(float *p, vf v, int m) { memcpy(p, &v, (size_t)m * sizeof *p); }
static inline vf   vf_load_full(const float *p) { return vf_load_part(p, 4); }
static inline void vf_store_full(float *p, vf v) { vf_store_part(p, v, 4); }

static inline vf vf_blend_(vi mask, vf yes, vf no) { return (vf)((mask & (vi)yes) | (~mask & (vi)no)); }
static inline vf vf_fma(vf a, vf b, vf c) { return a * b + c; }     /* two roundings here */

static inline vf vf_fma_exact(vf a, vf b, vf c)
{
    for (int i = 0; i < VF_LANES; i++)
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}

static inline vf vf_min(vf a, vf b) { return vf_blend_((vi)(a < b), a, b); }
static inline vf vf_max(vf a, vf b) { return vf_blend_((vi)(a > b), a, b); }
static inline vf vf_sqrt(vf a) { return (vf){ __builtin_sqrtf(a[0]), __builtin_sqrtf(a[1]), __builtin_sqrtf(a[2]), __builtin_sqrtf(a[3]) }; }
static inline vf vf_abs(vf a) { return (vf)((vi)a & 0x7FFFFFFFu); }
static inline vf vf_where_less(vf a, vf b, vf yes, vf no) { return vf_blend_((vi)(a < b), yes, no); }

static inline vf vf_part(vf v, int m)
{
    for (int i = m; i < VF_LANES; i++)
        v[i] = 0;
    return v;
}

/* n + 1.5 · 2^23 has the integer n in its lowest bits. In two steps, since 2^n itself may be out of range. */
static inline vf vf_scale(vf v, vf n)
{
    typedef int32_t signed_words __attribute__((vector_size(16)));
    signed_words k = (signed_words)(n + vf_set(0x1.8p23f)) - (signed_words)vf_set(0x1.8p23f), half = k >> 1;

    return v * (vf)((half + 127) << 23) * (vf)((k - half + 127) << 23);
}

/* Without a fused operation: z is cut into two parts whose products are exact (Dekker, 1971). */
static inline vf vf_square_low(vf z, vf s)
{
    vf high = (vf)((vi)z & 0xFFFFF000u), low = z - high;

    return ((high * high - s) + high * low + high * low) + low * low;
}

static inline vf vf_load_bf16_part(const uint16_t *p, int m)
{
    vf v = { 0 };

    for (int i = 0; i < m; i++)
        v[i] = hone_bf16_to_f32(p[i]);
    return v;
}

static inline void vf_store_bf16_part(uint16_t *p, vf v, int m)
{
    for (int i = 0; i < m; i++)
        p[i] = hone_f32_to_bf16(v[i]);
}

static inline vf   vf_load_bf16_full(const uint16_t *p) { return vf_load_bf16_part(p, 4); }
static inline void vf_store_bf16_full(uint16_t *p, vf v) { vf_store_bf16_part(p, v, 4); }

static inline float vf_sum(vf v) { return (v[0] + v[2]) + (v[1] + v[3]); }

static inline float vf_largest(vf v)
{
    float a = v[0] > v[2] ? v[0] : v[2], b = v[1] > v[3] ? v[1] : v[3];

    return a > b ? a : b;
}

/* ---- words */
static inline vi vi_set(uint32_t x) { return (vi){ x, x, x, x }; }
static inline vi vi_add(vi a, vi b) { return a + b; }
static inline vi vi_xor(vi a, vi b) { return a ^ b; }

static inline void vi_multiply(vi *high, vi *low, vi a, uint32_t b)
{
    for (int i = 0; i < 4; i++)
        (*high)[i] = (uint32_t)((uint64_t)a[i] * b >> 32);
    *low = a * b;
}

static inline vi vi_group_order(void) { return (vi){ 0, 1, 2, 3 }; }

static inline void vi_transpose(vi out[4], vi a, vi b, vi c, vi d)
{
    for (int i = 0; i < 4; i++)
        out[i] = (vi){ a[i], b[i], c[i], d[i] };
}

static inline vf vf_keep(vf v, vi word, uint32_t threshold) { return (vf)((vi)(word >= vi_set(threshold)) & (vi)v); }

#endif /* HONE_KERNEL_CPU_SIMD_PORTABLE_H */
