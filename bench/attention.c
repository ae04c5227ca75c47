/*
 * Attention's speed, per instruction set and shape, beside a loop of multiply-adds in registers run at the same time.
 *
 *     cmake --build build --target bench_attention && build/bench_attention [threads] [isa] [shape]
 *
 * With one thread, processor time is counted, which other programs on the machine disturb less. FLOPs are those of the
 * visible half: 2 products forward, 5 backward. Decoding is measured in bytes of keys and values read.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "kernel/cpu/cpu.h"

typedef struct shape {
    const char *name;
    int         samples, n_q, n_k, heads, kv_heads, dim;
    float       dropout;
    hone_dtype  dtype;
    double      softcap;
} shape;

static double now(const hone_pool *pool)
{
    struct timespec t;

    clock_gettime(hone_pool_threads(pool) == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if defined(__x86_64__)
#include <immintrin.h>

enum { CHAINS = 12, TURNS = 400000 };

#define PEAK(name, isa, vec, set1, fma, width)                                          \
    __attribute__((target(isa))) static void name(void *arg, int64_t task, int worker)  \
    {                                                                                   \
        vec a[CHAINS], x = set1(0.999f), y = set1(1e-3f);                               \
                                                                                        \
        (void)worker;                                                                   \
        for (int i = 0; i < CHAINS; i++)                                                \
            a[i] = set1((float)i);                                                      \
        for (int n = 0; n < TURNS; n++) {                                               \
            _Pragma("GCC unroll 12")                                                    \
            for (int i = 0; i < CHAINS; i++)                                            \
                a[i] = fma(a[i], x, y);                                                 \
        }                                                                               \
        for (int i = 1; i < CHAINS; i++)                                                \
            a[0] = a[0] + a[i];                                                         \
        ((float *)arg)[task] = a[0][0];                                                 \
    }
PEAK(peak512, "avx512f", __m512, _mm512_set1_ps, _mm512_fmadd_ps, 16)
PEAK(peak256, "avx2,fma", __m256, _mm256_set1_ps, _mm256_fmadd_ps, 8)

static double peak(hone_pool *pool, hone_isa isa)
{
    float  sink[HONE_MAX_THREADS];
    double t = now(pool);

    hone_pool_run(pool, hone_pool_threads(pool), isa >= HONE_ISA_AVX512 ? peak512 : peak256, sink);
    t = now(pool) - t;
    return 2.0 * CHAINS * TURNS * hone_pool_threads(pool) * (isa >= HONE_ISA_AVX512 ? 16 : 8) / t * 1e-9;
}
#else
static double peak(hone_pool *pool, hone_isa isa)
{
    (void)pool;
    (void)isa;
    return 0;
}
#endif

typedef struct arena { void *memory; size_t bytes; } arena;

static void *arena_scratch(void *arg, size_t bytes)
{
    arena *a = arg;

    if (bytes > a->bytes) {
        free(a->memory);
        if (posix_memalign(&a->memory, 64, bytes) != 0)
            abort();
        a->bytes = bytes;
    }
    return a->memory;
}

static void *random_values(int64_t n, hone_dtype dtype, uint64_t stream)
{
    float   *x = hone_calloc((size_t)n, 4);
    void    *y = hone_calloc((size_t)n, 4);
    hone_rng rng = hone_rng_make(1, stream);

    if (!x || !y)
        abort();
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)hone_rng_f64(&rng) * 2 - 1;
    hone_dtype_convert(y, dtype, x, HONE_DTYPE_F32, n);
    hone_free(x);
    return y;
}

/* The best of several runs, each beside the peak loop: GFLOP/s and the share of the peak. */
static void measure(const char *pass_name, const shape *s, hone_kernel_fn fn, const hone_kernel_env *env,
                    const hone_attention_args *a, double flops, hone_isa isa)
{
    double best = 0, top = 0;

    for (int i = 0; i < 12; i++) {
        double t;

        top = HONE_MAX(top, peak(env->pool, isa));
        t = now(env->pool);
        if (fn(env, a) != HONE_OK)
            abort();
        best = HONE_MAX(best, flops / (now(env->pool) - t) * 1e-9);
    }
    if (s->n_q == 1)
        printf("%-26s %-4s %s %8.1f GB/s\n", s->name, pass_name, s->dtype == HONE_DTYPE_BF16 ? "bf16" : "f32 ", best);
    else
        printf("%-26s %-4s %s %8.1f GFLOP/s, %3.0f %% of %.0f\n", s->name, pass_name,
               s->dtype == HONE_DTYPE_BF16 ? "bf16" : "f32 ", best, 100 * best / top, top);
}

static void bench(const shape *s, hone_isa isa, int threads)
{
    static hone_kernel_table table;
    hone_pool *pool;
    arena      memory = { 0 };
    int64_t    tokens = s->samples * s->n_q, keys = s->samples * s->n_k;
    int32_t   *cu_q = hone_calloc((size_t)s->samples + 1, 4), *cu_k = hone_calloc((size_t)s->samples + 1, 4);
    int32_t   *ids = hone_calloc((size_t)s->samples, 4);
    int64_t    nq = tokens * s->heads * s->dim, nk = keys * s->kv_heads * s->dim;
    hone_attention_args a = { .cu_q = cu_q, .cu_k = cu_k, .sample_ids = ids, .samples = s->samples, .heads = s->heads,
                              .kv_heads = s->kv_heads, .dim = s->dim, .v_dim = s->dim, .scale = 1 / sqrt(s->dim), .softcap = s->softcap,
                              .mask = { true, 0 }, .dropout = { s->dropout, 1, 1 } };
    hone_kernel_env env;
    double          pairs = 0, flops;

    if (hone_pool_create(&pool, threads) != HONE_OK || !cu_q || !cu_k || !ids)
        abort();
    env = (hone_kernel_env){ pool, arena_scratch, &memory };
    for (int i = 1; i <= s->samples; i++) {
        cu_q[i] = i * s->n_q;
        cu_k[i] = i * s->n_k;
    }
    for (int i = 0; i < s->n_q; i++)
        pairs += s->n_k - s->n_q + i + 1;
    a.q = random_values(nq, s->dtype, 1);
    a.k = random_values(nk, s->dtype, 2);
    a.v = random_values(nk, s->dtype, 3);
    a.dout = random_values(nq, s->dtype, 4);
    a.out = random_values(nq, s->dtype, 5);
    a.lse = random_values(tokens * s->heads, HONE_DTYPE_F32, 5);
    a.dq = random_values(nq, s->dtype, 5);
    a.dk = random_values(nk, s->dtype, 5);
    a.dv = random_values(nk, s->dtype, 5);
    hone_kernel_cpu_attention(&table, isa);
    flops = 2 * pairs * s->dim * s->heads * s->samples;
    measure("fwd", s, table.fn[HONE_OP_attention][HONE_PASS_FWD][HONE_TARGET_CPU][s->dtype], &env, &a,
            s->n_q == 1 ? 2.0 * (double)nk * (double)hone_dtype_bytes(s->dtype) : 2 * flops, isa);
    if (s->n_q > 1)
        measure("bwd", s, table.fn[HONE_OP_attention][HONE_PASS_BWD][HONE_TARGET_CPU][s->dtype], &env, &a, 5 * flops,
                isa);
    hone_pool_destroy(&pool);
    free(memory.memory);
    hone_free(cu_q);
    hone_free(cu_k);
    hone_free(ids);
    hone_free((void *)a.q);
    hone_free((void *)a.k);
    hone_free((void *)a.v);
    hone_free((void *)a.dout);
    hone_free(a.out);
    hone_free(a.lse);
    hone_free(a.dq);
    hone_free(a.dk);
    hone_free(a.dv);
}

int main(int argc, char **argv)
{
    static const shape shapes[] = {
        { "qwen2 0.5B, 2 x 512", 2, 512, 512, 14, 2, 64, 0, HONE_DTYPE_F32, 0 },
        { "gpt2, 2 x 512", 2, 512, 512, 12, 12, 64, 0, HONE_DTYPE_F32, 0 },
        { "gpt2, dropout 0.1", 2, 512, 512, 12, 12, 64, 0.1f, HONE_DTYPE_F32, 0 },
        { "8/4 of 32, 2 x 512", 2, 512, 512, 8, 4, 32, 0, HONE_DTYPE_F32, 0 },
        { "16/8 of 128, 2 x 512", 2, 512, 512, 16, 8, 128, 0, HONE_DTYPE_F32, 0 },
        { "16/8 of 128, 2 x 512", 2, 512, 512, 16, 8, 128, 0, HONE_DTYPE_BF16, 0 },
        { "8/4 of 80, 1 x 2048", 1, 2048, 2048, 8, 4, 80, 0, HONE_DTYPE_F32, 0 },
        { "qwen2 0.5B, decode 4096", 16, 1, 4096, 14, 2, 64, 0, HONE_DTYPE_F32, 0 },
        { "qwen2 0.5B, decode 4096", 16, 1, 4096, 14, 2, 64, 0, HONE_DTYPE_BF16, 0 },
        { "gemma2 2B, 1 x 1024", 1, 1024, 1024, 8, 4, 256, 0, HONE_DTYPE_F32, 0 },
        { "gemma2 2B, capped at 50", 1, 1024, 1024, 8, 4, 256, 0, HONE_DTYPE_F32, 50 },
        { "16/8 of 128, decode 4096", 4, 1, 4096, 16, 8, 128, 0, HONE_DTYPE_F32, 0 },
    };
    hone_isa isa;
    int      threads = argc > 1 ? atoi(argv[1]) : 0;

    if (hone_isa_choose(&isa, argc > 2 ? argv[2] : NULL) != HONE_OK) {
        fprintf(stderr, "%s\n", hone_status_text());
        return 2;
    }
    for (size_t i = 0; i < HONE_COUNTOF(shapes); i++)
        if (argc <= 3 || atoi(argv[3]) == (int)i)
            bench(&shapes[i], isa, threads);
    return 0;
}
