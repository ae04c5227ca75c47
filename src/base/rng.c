#include "base/rng.h"

#include <math.h>

double hone_rng_normal(hone_rng *r)
{
    double u = 1.0 - hone_rng_f64(r), v = hone_rng_f64(r);  /* u in (0, 1] keeps the logarithm finite */

    return sqrt(-2.0 * log(u)) * cos(6.283185307179586476925 * v);
}

void hone_rng_permutation(hone_rng *r, int64_t *order, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)hone_rng_below(r, (uint64_t)i + 1), t = order[i];

        order[i] = order[j];
        order[j] = t;
    }
}

hone_permutation hone_permutation_make(uint64_t seed, uint64_t stream, int64_t n)
{
    hone_rng         rng = hone_rng_make(seed, stream);
    hone_permutation p = { .n = (uint64_t)n, .side = (uint64_t)sqrt((double)n) };

    while (p.side * p.side < p.n)
        p.side++;
    for (int r = 0; r < HONE_PERMUTATION_ROUNDS; r++)
        p.keys[r] = hone_rng_u64(&rng);
    return p;
}

/* Stafford's thirteenth mixer, as in SplitMix64. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

int64_t hone_permutation_at(const hone_permutation *p, int64_t i)
{
    uint64_t x = (uint64_t)i;

    do {
        uint64_t left = x / p->side, right = x % p->side;

        for (int r = 0; r < HONE_PERMUTATION_ROUNDS; r++) {
            uint64_t f = (uint64_t)((__uint128_t)mix(right + p->keys[r]) * p->side >> 64), sum = left + f;

            left = right;
            right = sum < p->side ? sum : sum - p->side;
        }
        x = left * p->side + right;
    } while (x >= p->n);
    return (int64_t)x;
}
