/*
 * base/rng.h -- counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011). A value depends only on its key and counter, never on what was drawn before, so dropout masks and shuffles do
 * not change with packing, recompute or the number of threads.
 */
#ifndef HONE_BASE_RNG_H
#define HONE_BASE_RNG_H

#include <stdint.h>

/* Four 32-bit words for (key, counter). */
static inline void hone_philox(uint32_t out[4], uint64_t key, uint64_t counter_lo, uint64_t counter_hi)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t c0 = (uint32_t)counter_lo, c1 = (uint32_t)(counter_lo >> 32);
    uint32_t c2 = (uint32_t)counter_hi, c3 = (uint32_t)(counter_hi >> 32);

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;

        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0; out[1] = c1; out[2] = c2; out[3] = c3;
}

/* A stream of words drawn in order, for shuffles and initial values: (seed, stream, position) name each word. */
typedef struct hone_rng { uint64_t key, stream, position; } hone_rng;

static inline hone_rng hone_rng_make(uint64_t seed, uint64_t stream) { return (hone_rng){ seed, stream, 0 }; }

static inline uint64_t hone_rng_u64(hone_rng *r)
{
    uint32_t w[4];

    hone_philox(w, r->key, r->position++, r->stream);
    return (uint64_t)w[1] << 32 | w[0];
}

/* Uniform in [0, 1) with 53 bits. */
static inline double hone_rng_f64(hone_rng *r) { return (double)(hone_rng_u64(r) >> 11) * 0x1p-53; }

/* Uniform in [0, n), unbiased (Lemire 2019); n > 0. */
static inline uint64_t hone_rng_below(hone_rng *r, uint64_t n)
{
    for (;;) {
        __uint128_t m = (__uint128_t)hone_rng_u64(r) * n;

        if ((uint64_t)m >= n || (uint64_t)m >= (uint64_t)(-n) % n)
            return (uint64_t)(m >> 64);
    }
}

/*
 * A permutation of 0 … n-1 whose values are computed one at a time: no order is kept, and any place of it is reached at
 * once. A Feistel network over the smallest square that holds n, walked until the value is below n (Black and Rogaway,
 * "Ciphers with arbitrary finite domains", CT-RSA 2002), with round keys from (seed, stream).
 */
enum { HONE_PERMUTATION_ROUNDS = 10 };
typedef struct hone_permutation { uint64_t n, side, keys[HONE_PERMUTATION_ROUNDS]; } hone_permutation;

hone_permutation hone_permutation_make(uint64_t seed, uint64_t stream, int64_t n);
/* Its value at i, 0 <= i < n. */
int64_t          hone_permutation_at(const hone_permutation *p, int64_t i);

/* Standard normal (Box-Muller, one value per call). */
double hone_rng_normal(hone_rng *r);
/* Fill `order` with a permutation of 0 … n-1 (Fisher-Yates). */
void hone_rng_permutation(hone_rng *r, int64_t *order, int64_t n);

#endif /* HONE_BASE_RNG_H */
