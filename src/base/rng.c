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
