/*
 * kernel/cpu/simd.h -- vectors of floats, so that a kernel is written once for every instruction set.
 *
 * The file that includes this is compiled for one set (CMake goes by its suffix): 16 lanes with AVX-512, 8 with AVX2, else 4
 * lanes of whatever the compiler makes of them. `+ - * /` work on vf directly. Results may differ between the sets (the
 * portable one has no fused multiply-add), never between places or lanes: so tails go through the same functions, on a part
 * of a vector, with lanes past the end read as zero.
 */
#ifndef HONE_KERNEL_CPU_SIMD_H
#define HONE_KERNEL_CPU_SIMD_H

#include "base/rng.h"
#include "tensor/dtype.h"

#if defined(__AVX512F__) && defined(__AVX512BW__)
#include "kernel/cpu/simd_avx512.h"
#elif defined(__AVX2__) && defined(__FMA__)
#include "kernel/cpu/simd_avx2.h"
#else
#include "kernel/cpu/simd_portable.h"
#endif

/*
 * Run the statements for each vector of 0 … n-1: `i` is its first element, `m` its number of elements, a constant VF_LANES in
 * all but the last turn. Loads and stores take m.
 */
#define VF_EACH(i, m, n, ...)                                   \
    do {                                                        \
        int64_t i = 0;                                          \
        for (; i + VF_LANES <= (n); i += VF_LANES) {            \
            enum { m = VF_LANES };                              \
            __VA_ARGS__                                         \
        }                                                       \
        if (i < (n)) {                                          \
            const int m = (int)((n) - i);                       \
            __VA_ARGS__                                         \
        }                                                       \
    } while (0)

static inline vf vf_load(const float *p, int m) { return m == VF_LANES ? vf_load_full(p) : vf_load_part(p, m); }

static inline void vf_store(float *p, vf v, int m)
{
    if (m == VF_LANES)
        vf_store_full(p, v);
    else
        vf_store_part(p, v, m);
}

static inline vf vf_load_bf16(const uint16_t *p, int m) { return m == VF_LANES ? vf_load_bf16_full(p) : vf_load_bf16_part(p, m); }

/* Rounds to nearest even; a NaN stays one. */
static inline void vf_store_bf16(uint16_t *p, vf v, int m)
{
    if (m == VF_LANES)
        vf_store_bf16_full(p, v);
    else
        vf_store_bf16_part(p, v, m);
}

/* exp(x + lo) = 2^n (1 + r + r² q(r)), r = x + lo - n ln 2 in [-ln2/2, ln2/2] (Cody & Waite, 1980), for x in [-104, 89] and
 * |lo| small beside it; q, which is returned, is a minimax fit of degree 4, off by 2^-28 of the result. */
static inline vf vf_exp_reduced_(vf *n, vf *r, vf x, vf lo)
{
    const vf magic = vf_set(0x1.8p23f);     /* adding it rounds to an integer */
    vf       q;

    *n = vf_fma(x, vf_set(1.44269504f), magic) - magic;
    *r = vf_fma(*n, vf_set(-0.693359375f), x);
    *r = vf_fma(*n, vf_set(2.12194440e-4f), *r) + lo;
    q = vf_fma(*r, vf_set(1.3814467e-3f), vf_set(8.368781e-3f));
    q = vf_fma(q, *r, vf_set(4.1668393e-2f));
    q = vf_fma(q, *r, vf_set(1.666652e-1f));
    return vf_fma(q, *r, vf_set(4.9999994e-1f));
}

/* exp(hi + lo); within 1 ulp for lo = 0, denormals and infinities as they should be, NaN stays NaN. */
static inline vf vf_exp_sum(vf hi, vf lo)
{
    vf n, r, q = vf_exp_reduced_(&n, &r, vf_max(vf_set(-104.0f), vf_min(vf_set(89.0f), hi)), lo);

    return vf_scale(vf_fma(q, r * r, r) + vf_set(1.0f), n);
}

static inline vf vf_exp(vf x) { return vf_exp_sum(x, vf_set(0.0f)); }

/* exp(x) - 1 - x for x <= 0, without cancellation: exp(r) = 1 + r + r² q(r) as above, and where n = 0 the rest is nothing. */
static inline vf vf_exp_bend(vf x)
{
    vf n, r, q = vf_exp_reduced_(&n, &r, vf_max(vf_set(-104.0f), x), vf_set(0.0f)), power = vf_scale(vf_set(1.0f), n);

    return vf_fma(power, q * (r * r), vf_fma(power, r, power - vf_set(1.0f)) - x);
}

/* 1 / (1 + exp(-x)) */
static inline vf vf_sigmoid(vf x) { return vf_set(1.0f) / (vf_set(1.0f) + vf_exp(vf_set(0.0f) - x)); }

/*
 * tanh(x) = m / (m + 2) with m = exp(2 |x|) - 1, which is taken without its cancellation, and x's sign; `slope` becomes
 * 1 - tanh²(x) = 4 (m + 1) / (m + 2)². Within 2.7 and 5.3 ulp, the slope up to |x| = 20, where it is 2e-17 and stays. Odd, ±1 at
 * infinity, NaN stays NaN.
 */
static inline vf vf_tanh(vf *slope, vf x)
{
    vf size = vf_abs(x), n, r, q = vf_exp_reduced_(&n, &r, vf_min(vf_set(40.0f), size + size), vf_set(0.0f)), power, m, below;

    r = vf_fma(q, r * r, r);
    power = vf_scale(vf_set(1.0f), n);
    m = vf_fma(r, power, power - vf_set(1.0f));
    below = m + vf_set(2.0f);
    *slope = vf_fma(r, power, power) * vf_set(4.0f) / (below * below);
    return (vf)vi_xor((vi)(m / below), vi_xor((vi)x, (vi)size));
}

/*
 * Upper tail of the normal distribution at t >= 0, 1 - Φ(t), and exp(-t²/2): the tail is exp(-t²/2) · p(u) / (1 + 0.8 t) with
 * u = (t - 3.5) / (t + 3.5), p a minimax fit of degree 10, off by 2^-27.9 of the result. t² is taken with its rounding error, so
 * far tails keep their relative accuracy (4 ulp).
 */
static inline vf vf_normal_tail(vf *gauss, vf t)
{
    vf x = vf_min(vf_set(15.0f), t), square = x * x, low = vf_square_low(x, square), u, p;

    u = (x - vf_set(3.5f)) / (x + vf_set(3.5f));
    p = vf_fma(u, vf_set(1.6425856e-05f), vf_set(1.4808144e-04f));
    p = vf_fma(p, u, vf_set(1.0522587e-04f));
    p = vf_fma(p, u, vf_set(-1.0667455e-03f));
    p = vf_fma(p, u, vf_set(-5.1922347e-05f));
    p = vf_fma(p, u, vf_set(7.994941e-03f));
    p = vf_fma(p, u, vf_set(-2.0393863e-02f));
    p = vf_fma(p, u, vf_set(1.8109798e-02f));
    p = vf_fma(p, u, vf_set(2.5800642e-02f));
    p = vf_fma(p, u, vf_set(-1.15597986e-01f));
    p = vf_fma(p, u, vf_set(4.041116e-01f));
    *gauss = vf_exp_sum(square * vf_set(-0.5f), low * vf_set(-0.5f));
    return *gauss * p / vf_fma(x, vf_set(0.8f), vf_set(1.0f));
}

/*
 * Random words of 4 * VF_LANES elements, in the order of the elements: out[j] holds those of elements j * VF_LANES …, counted
 * from the first of Philox counter (c0, c1, c2, group). Elements 4g … 4g+3 have the words of counter group + g.
 */
static inline void vi_philox(vi out[4], uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t group)
{
    vi       v0 = vi_set(c0), v1 = vi_set(c1), v2 = vi_set(c2), v3 = vi_add(vi_group_order(), vi_set(group));
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);

    for (int round = 0; round < 10; round++) {
        vi high0, low0, high1, low1;

        vi_multiply(&high0, &low0, v0, 0xD2511F53u);
        vi_multiply(&high1, &low1, v2, 0xCD9E8D57u);
        v0 = vi_xor(vi_xor(high1, v1), vi_set(k0));
        v1 = low1;
        v2 = vi_xor(vi_xor(high0, v3), vi_set(k1));
        v3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    vi_transpose(out, v0, v1, v2, v3);
}

#endif /* HONE_KERNEL_CPU_SIMD_H */
