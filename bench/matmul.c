/*
 * bench/matmul.c -- speed of the matrix products of `linear`, as a share of this machine's peak measured beside them.
 *
 *   bench_matmul [--threads N] [--set NAME] [--pass fwd|bwd|wgrad] [--kn] [--shape MxNxK] [--kc N] [--mc N] [--nc N]
 *
 * Without --set, the sets that this processor would use; without --shape, the products of a training step of qwen2
 * 0.5B, gpt2 124M and a 10M qwen3. N and K are the output and input width of the layer in every pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/mem.h"
#include "kernel/cpu/matmul.h"

/* One thread is timed by the processor time it gets, which other work on the machine disturbs less. */
static double now(bool one_thread)
{
    struct timespec t;

    clock_gettime(one_thread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- peak -------------------------------------------------------------------------------------------------------- */

enum { PEAK_STEPS = 200000, CHAINS = 12 };

#if defined(__x86_64__)
#define PEAK(name, isa, vec, op)                                                                        \
    __attribute__((target(isa))) static void name(void *arg, int64_t task, int worker)                  \
    {                                                                                                   \
        vec c[CHAINS] = { { 0 } }, a = { 0 };                                                           \
                                                                                                        \
        (void)arg, (void)task, (void)worker;                                                            \
        for (int64_t s = 0; s < PEAK_STEPS; s++)                                                        \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++) {                                 \
                c[i] = op(a, c[i]);                                                                     \
                __asm__ volatile("" : "+v"(c[i]));                                                      \
            }                                                                                           \
    }
#define MULADD4(a, c) ((a) * (a) + (c))
#define FMA8(a, c) _mm256_fmadd_ps(a, a, c)
#define FMA16(a, c) _mm512_fmadd_ps(a, a, c)
#define DOT16(a, c) _mm512_dpbf16_ps(c, (__m512bh)(a), (__m512bh)(a))
PEAK(peak_sse, "sse2", __m128, MULADD4)
PEAK(peak_avx2, "avx2,fma", __m256, FMA8)
PEAK(peak_avx512, "avx512f", __m512, FMA16)
PEAK(peak_bf16, "avx512f,avx512bf16", __m512, DOT16)
#endif

/* FLOP/s of the set's multiply-add on all threads; 0 where not known. */
static double peak_of(const hone_mm_set *set, hone_pool *pool)
{
    hone_task_fn fn = NULL;
    double       flop = 0, best = 0;
    bool         one = hone_pool_threads(pool) == 1;

#if defined(__x86_64__)
    switch (set->isa) {
    case HONE_ISA_PORTABLE: fn = peak_sse, flop = 8; break;
    case HONE_ISA_AVX2:     fn = peak_avx2, flop = 16; break;
    case HONE_ISA_AVX512:   fn = peak_avx512, flop = 32; break;
    case HONE_ISA_AVX512BF16: fn = peak_bf16, flop = 64; break;
    default: break;
    }
#endif
    for (int i = 0; fn && i < 5; i++) {
        double t = now(one), rate;

        hone_pool_run(pool, hone_pool_threads(pool), fn, NULL);
        rate = flop * CHAINS * PEAK_STEPS * hone_pool_threads(pool) / (now(one) - t);
        best = HONE_MAX(best, rate);
    }
    return best;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static void *fixed_scratch(void *arg, size_t bytes)
{
    struct { void *p; size_t bytes; } *s = arg;

    if (bytes > s->bytes) {
        free(s->p);
        s->p = aligned_alloc(64, (bytes + 63) / 64 * 64);
        s->bytes = bytes;
    }
    return s->p;
}

static void *fill(int64_t n, bool bf16)
{
    uint64_t state = 1;
    void    *p = aligned_alloc(64, ((size_t)n * (bf16 ? 2 : 4) + 63) / 64 * 64);

    if (!p)
        exit(7);
    for (int64_t i = 0; i < n; i++) {
        float f;

        state = state * 6364136223846793005u + 1442695040888963407u;
        f = (float)(state >> 40) / (1 << 23) - 1.0f;
        if (bf16)
            ((uint16_t *)p)[i] = hone_f32_to_bf16(f);
        else
            ((float *)p)[i] = f;
    }
    return p;
}

static void bench(const hone_mm_set *set, hone_pass pass, const int64_t shape[3], bool kn, hone_pool *pool)
{
    static const char *const passes[] = { "fwd", "bwd", "wgrad" };
    struct { void *p; size_t bytes; } scratch = { 0 };
    hone_kernel_env  env = { pool, fixed_scratch, &scratch };
    hone_linear_args l = { .m = shape[0], .n = shape[1], .k = shape[2], .w_is_kn = kn,
                           .accumulate = pass == HONE_PASS_BWD_WEIGHT };
    bool             bf16 = set->dtype == HONE_DTYPE_BF16, one = hone_pool_threads(pool) == 1;
    double           flop = 2.0 * (double)l.m * (double)l.n * (double)l.k, best = 1e30, start, peak;
    void            *x = fill(l.m * l.k, bf16), *y = fill(l.m * l.n, bf16), *w = NULL, *dw = NULL;

    l.y_is_acc = pass == HONE_PASS_FWD && l.n > 16384;               /* logits */
    if (l.y_is_acc) {
        free(y);
        y = fill(l.m * l.n, false);
    }
    if (pass == HONE_PASS_BWD_WEIGHT)
        dw = fill(l.n * l.k, false);
    else
        w = fill(l.n * l.k, bf16);
    l.x = l.dx = x, l.y = y, l.dy = y, l.w = w, l.dw = dw;
    peak = peak_of(set, pool);
    start = now(one);
    for (int i = 0; i < 3 || (i < 200 && now(one) - start < 0.4); i++) {
        double t = now(one);

        if (hone_mm_linear(set, pass, &env, &l) != HONE_OK)
            exit(7);
        best = HONE_MIN(best, now(one) - t);
    }
    peak = HONE_MAX(peak, peak_of(set, pool));
    printf("%-14s %-5s%s %5lld %6lld %6lld  %d  %8.1f GFLOP/s  %5.1f %%  of %6.1f   %6.1f GB/s of w   "
           "scratch %.2f MB\n", set->name, passes[pass], kn ? " kn" : "   ", (long long)l.m, (long long)l.n,
           (long long)l.k, hone_pool_threads(pool), flop / best * 1e-9, 100 * flop / best / HONE_MAX(peak, 1), peak * 1e-9,
           (double)(l.n * l.k) * (bf16 ? 2 : 4) / best * 1e-9, (double)scratch.bytes / 1e6);
    fflush(stdout);
    free(x), free(y), free(w), free(dw), free(scratch.p);
}

static const int64_t shapes[][3] = {
    { 512, 896, 896 }, { 512, 128, 896 }, { 512, 4864, 896 }, { 512, 896, 4864 }, 
    { 1024, 896, 896 }, { 1024, 4864, 896 }, { 1024, 896, 4864 }, { 256, 151936, 896 },
    { 1024, 768, 768 }, { 1024, 2304, 768 }, { 1024, 3072, 768 }, { 1024, 768, 3072 }, { 256, 50257, 768 },
    { 1024, 256, 256 }, { 1024, 768, 256 }, { 1024, 256, 768 }, { 256, 8192, 256 },
};

int main(int argc, char **argv)
{
    const char *name = NULL, *only = NULL;
    int64_t     shape[3] = { 0 }, kc = 0, mc = 0, nc = 0;
    int         threads = 1;
    bool        kn = false;
    hone_pool  *pool;

    for (int i = 1; i < argc; i++) {
        const char *v = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--kn") == 0) { kn = true; continue; }
        if (strcmp(argv[i], "--threads") == 0) threads = atoi(v);
        else if (strcmp(argv[i], "--set") == 0) name = v;
        else if (strcmp(argv[i], "--pass") == 0) only = v;
        else if (strcmp(argv[i], "--kc") == 0) kc = atoi(v);
        else if (strcmp(argv[i], "--mc") == 0) mc = atoi(v);
        else if (strcmp(argv[i], "--nc") == 0) nc = atoi(v);
        else if (strcmp(argv[i], "--shape") != 0 || sscanf(v, "%ldx%ldx%ld", &shape[0], &shape[1], &shape[2]) != 3) {
            fprintf(stderr, "unknown argument %s\n", argv[i]);
            return 2;
        }
        i++;
    }
    if (hone_pool_create(&pool, threads) != HONE_OK)
        return 7;
    for (int s = 0; hone_mm_sets[s]; s++) {
        hone_mm_set set = *hone_mm_sets[s];

        if (set.isa > hone_isa_detect() || (name ? strcmp(name, set.name) != 0
                                                 : hone_mm_sets[s] != hone_mm_set_for(hone_isa_detect(), set.dtype)))
            continue;
        set.kc = kc ? kc : set.kc, set.mc = mc ? mc : set.mc, set.nc = nc ? nc : set.nc;
        for (int pass = 0; pass < HONE_PASS_COUNT; pass++) {
            if (only && strcmp(only, pass == 0 ? "fwd" : pass == 1 ? "bwd" : "wgrad") != 0)
                continue;
            for (size_t i = 0; i < (shape[0] ? 1 : HONE_COUNTOF(shapes)); i++)
                bench(&set, (hone_pass)pass, shape[0] ? shape : shapes[i], kn, pool);
        }
    }
    hone_pool_destroy(&pool);
    return 0;
}
