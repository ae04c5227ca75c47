/* base/clock.h -- time that only runs forward, for measuring how long something takes. */
#ifndef HONE_BASE_CLOCK_H
#define HONE_BASE_CLOCK_H

#include <time.h>

/* Seconds since some fixed moment; differences are what counts. */
static inline double hone_clock_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif /* HONE_BASE_CLOCK_H */
