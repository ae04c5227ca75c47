/*
 * The optimised attention of every instruction set this machine has, against plain loops in f64 written here: odd
 * sizes, grouped heads, windows, dropout, KV caches; and its promises about bits: threads, packing, decoding. All
 * memory has its exact size and starts as NaN, so a sanitizer sees reads outside and a comparison sees what was not
 * written.
 */
#include "hone_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "kernel/cpu/cpu.h"
#include "op/op.h"
#include "op/scope.h"
#include "tiny_model.h"

enum { MAX_SAMPLES = 8 };

typedef struct shape {
    int            samples, n_q[MAX_SAMPLES], n_k[MAX_SAMPLES];     /* n_k 0: as n_q */
    int            heads, kv_heads, dim, v_dim;
    bool           noncausal;
    int            window;
    float          dropout;
    double         softcap;
    bool           bf16;
} shape;

#define SHAPE_FORMAT "(samples %d, first %d/%d, heads %d/%d, dim %d/%d, window %d, dropout %g, cap %g, bf16 %d)"
#define SHAPE_VALUES(s)                                                                                              \
    (s)->samples, (s)->n_q[0], (s)->n_k[0], (s)->heads, (s)->kv_heads, (s)->dim, (s)->v_dim, (s)->window,           \
        (double)(s)->dropout, (s)->softcap, (s)->bf16

/* Inputs of one attention, as floats (already rounded to bf16 where that is asked). */
typedef struct problem {
    shape   s;
    int32_t cu_q[MAX_SAMPLES + 1], cu_k[MAX_SAMPLES + 1], ids[MAX_SAMPLES];
    float  *q, *k, *v, *dout;
    size_t  n_q, n_k, n_v, n_out, n_lse;        /* elements */
} problem;

/* What a kernel wrote, raw. */
typedef struct result { void *out, *lse, *dq, *dk, *dv; } result;

static void *nan_memory(size_t bytes)
{
    void *p = hone_calloc(bytes, 1);

    assert_non_null(p);
    memset(p, 0xFF, bytes);
    return p;
}

/* Test scratch: aligned, exact at its end, NaN. One call per run. */
typedef struct arena { void *memory; int calls; } arena;

static void *arena_scratch(void *arg, size_t bytes)
{
    arena *a = arg;

    assert_int_equal(posix_memalign(&a->memory, 64, bytes), 0);
    memset(a->memory, 0xFF, bytes);
    a->calls++;
    return a->memory;
}

static float *random_floats(size_t n, uint64_t stream, double size, bool bf16)
{
    float   *p = hone_calloc(n, sizeof *p);
    hone_rng rng = hone_rng_make(7, stream);

    assert_non_null(p);
    for (size_t i = 0; i < n; i++) {
        p[i] = (float)(size * hone_rng_normal(&rng));
        if (bf16)
            p[i] = hone_bf16_to_f32(hone_f32_to_bf16(p[i]));
    }
    return p;
}

static void problem_init(problem *p, const shape *s)
{
    memset(p, 0, sizeof *p);
    p->s = *s;
    for (int i = 0; i < s->samples; i++) {
        p->cu_q[i + 1] = p->cu_q[i] + s->n_q[i];
        p->cu_k[i + 1] = p->cu_k[i] + (s->n_k[i] ? s->n_k[i] : s->n_q[i]);
        p->ids[i] = 1000 + 7 * i;
    }
    p->n_q = (size_t)(p->cu_q[s->samples] * s->heads * s->dim);
    p->n_k = (size_t)(p->cu_k[s->samples] * s->kv_heads * s->dim);
    p->n_v = (size_t)(p->cu_k[s->samples] * s->kv_heads * s->v_dim);
    p->n_out = (size_t)(p->cu_q[s->samples] * s->heads * s->v_dim);
    p->n_lse = (size_t)(p->cu_q[s->samples] * s->heads);
    p->q = random_floats(p->n_q, 1, 1.5, s->bf16);
    p->k = random_floats(p->n_k, 2, 1.5, s->bf16);
    p->v = random_floats(p->n_v, 3, 1, s->bf16);
    p->dout = random_floats(p->n_out, 4, 1, s->bf16);
}

static void problem_free(problem *p)
{
    hone_free(p->q);
    hone_free(p->k);
    hone_free(p->v);
    hone_free(p->dout);
}

static void result_free(result *r)
{
    hone_free(r->out);
    hone_free(r->lse);
    hone_free(r->dq);
    hone_free(r->dk);
    hone_free(r->dv);
}

static size_t element(const problem *p) { return p->s.bf16 ? 2 : 4; }

/* The kernel's own copy of an input, in its dtype. */
static void *typed(const problem *p, const float *x, size_t n)
{
    void *t = nan_memory(n * element(p));

    assert_true(hone_dtype_convert(t, p->s.bf16 ? HONE_DTYPE_BF16 : HONE_DTYPE_F32, x, HONE_DTYPE_F32, (int64_t)n));
    return t;
}

static hone_dropout dropout_of(const shape *s) { return (hone_dropout){ s->dropout, 0x123456789ABCDEFull, 5 }; }

static void run_pass(const hone_kernel_table *t, hone_pass pass, const problem *p, int threads,
                     const hone_attention_args *args)
{
    arena           a = { 0 };
    hone_pool      *pool = NULL;
    hone_kernel_env env = { .scratch = arena_scratch, .scratch_arg = &a };
    hone_kernel_fn  fn = t->fn[HONE_OP_attention][pass][HONE_TARGET_CPU][p->s.bf16 ? HONE_DTYPE_BF16 : HONE_DTYPE_F32];

    if (threads > 1)
        T_OK(hone_pool_create(&pool, threads));
    env.pool = pool;
    assert_non_null(fn);
    T_OK(fn(&env, args));
    assert_int_equal(a.calls, 1);
    free(a.memory);
    hone_pool_destroy(&pool);
}

/* Forward, then backward from its output. */
static result run(const hone_kernel_table *t, const problem *p, int threads)
{
    size_t              e = element(p);
    void               *q = typed(p, p->q, p->n_q), *k = typed(p, p->k, p->n_k), *v = typed(p, p->v, p->n_v);
    void               *dout = typed(p, p->dout, p->n_out);
    result              r = { nan_memory(p->n_out * e), nan_memory(p->n_lse * 4), nan_memory(p->n_q * e),
                              nan_memory(p->n_k * e), nan_memory(p->n_v * e) };
    hone_attention_args a = { .q = q, .k = k, .v = v, .out = r.out, .lse = r.lse, .cu_q = p->cu_q, .cu_k = p->cu_k,
                              .samples = p->s.samples, .heads = p->s.heads, .kv_heads = p->s.kv_heads, .dim = p->s.dim,
                              .v_dim = p->s.v_dim, .scale = 1 / sqrt(p->s.dim), .softcap = p->s.softcap,
                              .mask = { !p->s.noncausal, p->s.window } };

    if (p->s.dropout > 0) {
        a.dropout = dropout_of(&p->s);
        a.sample_ids = p->ids;
    }
    run_pass(t, HONE_PASS_FWD, p, threads, &a);
    a.dout = dout;
    a.dq = r.dq;
    a.dk = r.dk;
    a.dv = r.dv;
    run_pass(t, HONE_PASS_BWD, p, threads, &a);
    hone_free(q);
    hone_free(k);
    hone_free(v);
    hone_free(dout);
    return r;
}

/* ---- plain loops in f64 ------------------------------------------------------------------------------------------ */
typedef struct expected { double *out, *lse, *dq, *dk, *dv; } expected;

static double *doubles(size_t n)
{
    double *p = hone_calloc(n, sizeof *p);

    assert_non_null(p);
    return p;
}

static double keep_factor(const problem *p, int sample, int head, int position, int key)
{
    hone_dropout d = dropout_of(&p->s);
    uint32_t     w[4];

    if (p->s.dropout == 0)
        return 1;
    hone_dropout_words(w, &d, (uint32_t)p->ids[sample], (uint32_t)position, (uint32_t)head, (uint32_t)key / 4);
    return w[key % 4] >= hone_dropout_threshold(d.p) ? 1 / (1 - (double)d.p) : 0;
}

/* One query of one head. */
static void expect_row(const expected *e, const problem *p, int sample, int head, int i)
{
    const shape *s = &p->s;
    int          n_q = p->cu_q[sample + 1] - p->cu_q[sample], n_k = p->cu_k[sample + 1] - p->cu_k[sample];
    int          kv = head / (s->heads / s->kv_heads), position = i + n_k - n_q;
    size_t       at = (size_t)((p->cu_q[sample] + i) * s->heads + head);
    const float *q = p->q + at * (size_t)s->dim, *dout = p->dout + at * (size_t)s->v_dim;
    double       scale = 1 / sqrt(s->dim), sum = 0, max = -INFINITY, big_d = 0, cap = s->softcap, *score = doubles((size_t)n_k + 1);

    for (int j = 0; j < n_k; j++) {
        const float *k = p->k + ((p->cu_k[sample] + j) * s->kv_heads + kv) * s->dim;

        for (int d = 0; d < s->dim; d++)
            score[j] += scale * (double)q[d] * (double)k[d];
        score[j] = cap > 0 ? cap * tanh(score[j] / cap) : score[j];
        if ((!s->noncausal && j > position) || (s->window && j <= position - s->window))
            score[j] = -INFINITY;
        max = fmax(max, score[j]);
    }
    for (int j = 0; j < n_k; j++)
        sum += score[j] > -INFINITY ? exp(score[j] - max) : 0;
    e->lse[at] = sum > 0 ? max + log(sum) : -INFINITY;
    for (int j = 0; j < n_k; j++)
        for (int d = 0; d < s->v_dim && score[j] > -INFINITY; d++)
            e->out[at * (size_t)s->v_dim + (size_t)d] += exp(score[j] - max) / sum * keep_factor(p, sample, head, position, j)
                * (double)p->v[((p->cu_k[sample] + j) * s->kv_heads + kv) * s->v_dim + d];
    for (int d = 0; d < s->v_dim; d++)
        big_d += (double)dout[d] * e->out[at * (size_t)s->v_dim + (size_t)d];
    for (int j = 0; j < n_k; j++) {
        size_t row = (size_t)((p->cu_k[sample] + j) * s->kv_heads + kv);
        double probability = score[j] > -INFINITY ? exp(score[j] - max) / sum : 0, keep, dp = 0, ds;

        if (probability == 0)
            continue;
        keep = keep_factor(p, sample, head, position, j);
        for (int d = 0; d < s->v_dim; d++) {
            double v = (double)p->v[row * (size_t)s->v_dim + (size_t)d];

            e->dv[row * (size_t)s->v_dim + (size_t)d] += probability * keep * (double)dout[d];
            dp += keep * (double)dout[d] * v;
        }
        ds = probability * (dp - big_d) * scale * (cap > 0 ? 1 - score[j] / cap * (score[j] / cap) : 1);
        for (int d = 0; d < s->dim; d++) {
            e->dq[at * (size_t)s->dim + (size_t)d] += ds * (double)p->k[row * (size_t)s->dim + (size_t)d];
            e->dk[row * (size_t)s->dim + (size_t)d] += ds * (double)q[d];
        }
    }
    hone_free(score);
}

static expected expect(const problem *p)
{
    expected e = { doubles(p->n_out), doubles(p->n_lse), doubles(p->n_q), doubles(p->n_k), doubles(p->n_v) };

    for (int s = 0; s < p->s.samples; s++)
        for (int h = 0; h < p->s.heads; h++)
            for (int i = 0; i < p->s.n_q[s]; i++)
                expect_row(&e, p, s, h, i);
    return e;
}

static void expected_free(expected *e)
{
    hone_free(e->out);
    hone_free(e->lse);
    hone_free(e->dq);
    hone_free(e->dk);
    hone_free(e->dv);
}

/* Within `share` of the largest value (or of 1, the size of what may cancel), and for bf16 within its rounding. */
static void check_close(const char *what, const char *isa, const problem *p, const void *got, bool bf16,
                        const double *want, size_t n, double share)
{
    double top = 1;

    for (size_t i = 0; i < n; i++)
        if (isfinite(want[i]))
            top = fmax(top, fabs(want[i]));
    for (size_t i = 0; i < n; i++) {
        double g = bf16 ? (double)hone_bf16_to_f32(((const uint16_t *)got)[i]) : (double)((const float *)got)[i];
        double bound = share * top + (bf16 ? fabs(want[i]) / 256 : 0);

        if (want[i] == -INFINITY ? g != -INFINITY : !(fabs(g - want[i]) <= bound))
            fail_msg("%s %s[%zu] = %.9g, wanted %.9g " SHAPE_FORMAT, isa, what, i, g, want[i], SHAPE_VALUES(&p->s));
    }
}

static void check_bits(const char *what, const problem *p, const result *x, const result *y)
{
    size_t e = element(p);

    if (memcmp(x->out, y->out, p->n_out * e) || memcmp(x->lse, y->lse, p->n_lse * 4) ||
        memcmp(x->dq, y->dq, p->n_q * e) || memcmp(x->dk, y->dk, p->n_k * e) || memcmp(x->dv, y->dv, p->n_v * e))
        fail_msg("bits differ: %s " SHAPE_FORMAT, what, SHAPE_VALUES(&p->s));
}

static void check_shape(const hone_kernel_table *t, const char *isa, const shape *s)
{
    static const int threads[] = { 2, 3, 8 };
    problem  p;
    result   one;
    expected e;

    problem_init(&p, s);
    one = run(t, &p, 1);
    e = expect(&p);
    check_close("out", isa, &p, one.out, s->bf16, e.out, p.n_out, 2e-6);
    check_close("lse", isa, &p, one.lse, false, e.lse, p.n_lse, 1e-6);
    check_close("dq", isa, &p, one.dq, s->bf16, e.dq, p.n_q, 4e-6);
    check_close("dk", isa, &p, one.dk, s->bf16, e.dk, p.n_k, 4e-6);
    check_close("dv", isa, &p, one.dv, s->bf16, e.dv, p.n_v, 4e-6);
    for (size_t i = 0; i < HONE_COUNTOF(threads); i++) {
        result many = run(t, &p, threads[i]);

        check_bits("threads", &p, &one, &many);
        result_free(&many);
    }
    expected_free(&e);
    result_free(&one);
    problem_free(&p);
}

/* Run `check` with the table of each instruction set that this machine has; kinds of one table are run once. */
static void for_each_isa(void (*check)(const hone_kernel_table *t, const char *isa))
{
    for (int isa = 0; isa <= (int)hone_isa_detect() && isa <= HONE_ISA_AVX512; isa++) {
        hone_kernel_table *t = hone_calloc(1, sizeof *t);

        assert_non_null(t);
        hone_kernel_cpu_attention(t, (hone_isa)isa);
        check(t, hone_isa_name((hone_isa)isa));
        hone_free(t);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */
static void shapes(const hone_kernel_table *t, const char *isa)
{
    static const shape cases[] = {
        { 1, { 1 }, { 0 }, 1, 1, 1, 1, .window = 0 },
        { 1, { 2 }, { 0 }, 2, 1, 3, 3, .window = 0 },
        { 3, { 1, 2, 63 }, { 0 }, 1, 1, 16, 16, .window = 0 },
        { 2, { 64, 65 }, { 0 }, 4, 2, 33, 33, .window = 0 },
        { 2, { 130, 7 }, { 0 }, 3, 3, 64, 64, .window = 0 },
        { 1, { 130 }, { 0 }, 7, 1, 64, 64, .window = 0 },
        { 1, { 65 }, { 0 }, 2, 2, 80, 80, .window = 0 },
        { 1, { 130 }, { 0 }, 4, 2, 128, 128, .window = 0 },
        { 1, { 30 }, { 0 }, 2, 1, 256, 256, .window = 0 },
        { 1, { 70 }, { 0 }, 2, 1, 257, 5, .window = 0 },                                         /* v_dim apart */
        { 1, { 70 }, { 0 }, 2, 1, 5, 130, .window = 0 },
        { 2, { 130, 65 }, { 0 }, 2, 1, 16, 16, .window = 1 },
        { 2, { 130, 65 }, { 0 }, 2, 1, 17, 16, .window = 5 },
        { 2, { 200, 65 }, { 0 }, 6, 2, 16, 16, .window = 64 },
        { 2, { 300, 65 }, { 0 }, 2, 2, 32, 32, .window = 100 },
        { 3, { 1, 7, 65 }, { 100, 70, 130 }, 4, 2, 16, 24, .window = 0 },                        /* KV cache */
        { 2, { 1, 70 }, { 130, 200 }, 4, 1, 64, 64, .window = 64 },
        { 2, { 65, 9 }, { 130, 9 }, 4, 2, 20, 12, .noncausal = true },
        { 2, { 65, 9 }, { 130, 9 }, 4, 2, 20, 12, .noncausal = true, .window = 3 },
        { 2, { 70, 3 }, { 5, 3 }, 2, 1, 8, 8, .window = 0 },                    /* queries before the first key */
        { 1, { 40 }, { 0 }, 100, 1, 8, 8, .window = 0 },                        /* a group larger than a block */
        { 2, { 130, 66 }, { 0 }, 6, 2, 32, 32, .dropout = 0.1f },
        { 2, { 130, 66 }, { 0 }, 3, 3, 15, 9, .dropout = 0.5f, .window = 40 },
        { 2, { 10, 66 }, { 77, 66 }, 2, 2, 15, 9, .dropout = 0.9f },
        { 2, { 130, 65 }, { 0 }, 4, 2, 33, 33, .softcap = 0.2 },                /* nearly all scores saturate */
        { 2, { 130, 65 }, { 0 }, 4, 2, 33, 33, .softcap = 2 },
        { 2, { 130, 65 }, { 0 }, 4, 2, 33, 33, .softcap = 1e3 },                /* nearly linear */
        { 2, { 200, 65 }, { 0 }, 6, 2, 16, 24, .softcap = 1, .window = 64 },
        { 3, { 1, 7, 65 }, { 100, 70, 130 }, 4, 2, 16, 24, .softcap = 3 },
        { 2, { 65, 9 }, { 130, 9 }, 4, 2, 20, 12, .softcap = 1.5, .noncausal = true, .window = 3 },
        { 2, { 130, 66 }, { 0 }, 3, 3, 15, 9, .softcap = 2, .dropout = 0.5f, .window = 40 },
    };

    for (size_t i = 0; i < HONE_COUNTOF(cases); i++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            shape s = cases[i];

            s.bf16 = bf16;
            check_shape(t, isa, &s);
        }
}

static void equals_plain_loops(void **state)
{
    (void)state;
    for_each_isa(shapes);
}

/* No sample, or samples without tokens: nothing is touched. */
static void empties(const hone_kernel_table *t, const char *isa)
{
    check_shape(t, isa, &(shape){ 0, { 0 }, { 0 }, 2, 1, 8, 8, .window = 0 });
    check_shape(t, isa, &(shape){ 3, { 0, 5, 0 }, { 0 }, 2, 1, 8, 8, .window = 0 });
    check_shape(t, isa, &(shape){ 2, { 0, 5 }, { 9, 5 }, 2, 1, 8, 8, .window = 0 });     /* keys nobody sees */
}

static void takes_empty_samples(void **state)
{
    (void)state;
    for_each_isa(empties);
}

/* A sample of a pack has the bits it has alone. */
static void packs(const hone_kernel_table *t, const char *isa)
{
    for (int c = 0; c < 4; c++) {
        shape   s = { 5, { 63, 1, 130, 65, 2 }, { 63, 64, 0, 100, 2 }, 6, 2, 24, 20, .window = 70, .dropout = 0.2f,
                      .softcap = c & 2 ? 1.5 : 0, .bf16 = c & 1 };
        problem p;
        result  pack;
        size_t  e;

        problem_init(&p, &s);
        pack = run(t, &p, 2);
        e = element(&p);
        for (int i = 0; i < s.samples; i++) {
            problem alone = p;
            size_t  q = (size_t)(p.cu_q[i] * s.heads), k = (size_t)(p.cu_k[i] * s.kv_heads);
            size_t  dim = (size_t)s.dim, v_dim = (size_t)s.v_dim;
            result  r, part = { (char *)pack.out + q * v_dim * e, (char *)pack.lse + q * 4,
                                (char *)pack.dq + q * dim * e, (char *)pack.dk + k * dim * e,
                                (char *)pack.dv + k * v_dim * e };

            alone.s.samples = 1;
            alone.cu_q[1] = p.cu_q[i + 1] - p.cu_q[i];
            alone.cu_k[1] = p.cu_k[i + 1] - p.cu_k[i];
            alone.ids[0] = p.ids[i];
            alone.q += q * dim;
            alone.k += k * dim;
            alone.v += k * v_dim;
            alone.dout += q * v_dim;
            alone.n_q = (size_t)(alone.cu_q[1] * s.heads) * dim;
            alone.n_k = (size_t)(alone.cu_k[1] * s.kv_heads) * dim;
            alone.n_v = (size_t)(alone.cu_k[1] * s.kv_heads) * v_dim;
            alone.n_out = (size_t)(alone.cu_q[1] * s.heads) * v_dim;
            alone.n_lse = (size_t)(alone.cu_q[1] * s.heads);
            r = run(t, &alone, 1);
            check_bits(isa, &alone, &r, &part);
            result_free(&r);
        }
        result_free(&pack);
        problem_free(&p);
    }
}

static void pack_equals_alone(void **state)
{
    (void)state;
    for_each_isa(packs);
}

/* Queries in one call, or the last few over the same keys, or one at a time as a chat does: same bits. */
static void decodes(const hone_kernel_table *t, const char *isa)
{
    for (int c = 0; c < 6; c++) {
        shape   s = { 1, { 150 }, { 0 }, 7, 1, 24, 20, .window = c & 1 ? 70 : 0, .softcap = c >= 4 ? 1.5 : 0,
                      .bf16 = c == 2 || c == 3 };
        problem p;
        result  all;
        size_t  e;

        problem_init(&p, &s);
        all = run(t, &p, 1);
        e = element(&p);
        for (int first = 0; first < 150; first += first < 60 || first > 125 ? 1 : 13) {
            int     n = first % 13 == 0 ? 13 : 1;
            problem part = p;
            size_t  row = (size_t)(first * s.heads);
            result  r;

            n = HONE_MIN(n, 150 - first);
            part.cu_q[1] = n;
            part.cu_k[1] = first + n;
            part.q += row * (size_t)s.dim;
            part.dout += row * (size_t)s.v_dim;
            part.n_q = (size_t)(n * s.heads * s.dim);
            part.n_k = (size_t)((first + n) * s.kv_heads * s.dim);
            part.n_v = (size_t)((first + n) * s.kv_heads * s.v_dim);
            part.n_out = (size_t)(n * s.heads * s.v_dim);
            part.n_lse = (size_t)(n * s.heads);
            r = run(t, &part, 1);
            if (memcmp(r.out, (char *)all.out + row * (size_t)s.v_dim * e, part.n_out * e) ||
                memcmp(r.lse, (char *)all.lse + row * 4, part.n_lse * 4))
                fail_msg("%s: queries %d to %d alone have other bits than in the whole (window %d, cap %g, bf16 %d)",
                         isa, first, first + n - 1, s.window, s.softcap, s.bf16);
            result_free(&r);
        }
        result_free(&all);
        problem_free(&p);
    }
}

static void decoding_equals_the_whole(void **state)
{
    (void)state;
    for_each_isa(decodes);
}

/* Scores so far apart that probabilities underflow, and so large that only a shifted softmax survives. */
static void extremes(const hone_kernel_table *t, const char *isa)
{
    shape    s = { 1, { 140 }, { 0 }, 2, 1, 16, 16, .window = 0 };
    problem  p;
    result   r;
    expected e;

    problem_init(&p, &s);
    for (size_t i = 0; i < p.n_q; i++)
        p.q[i] *= 60;
    r = run(t, &p, 2);
    e = expect(&p);
    check_close("out", isa, &p, r.out, false, e.out, p.n_out, 2e-4);        /* scores near 1e3 carry errors near 1e-4 */
    check_close("lse", isa, &p, r.lse, false, e.lse, p.n_lse, 1e-6);
    check_close("dq", isa, &p, r.dq, false, e.dq, p.n_q, 5e-4);
    check_close("dk", isa, &p, r.dk, false, e.dk, p.n_k, 5e-4);
    check_close("dv", isa, &p, r.dv, false, e.dv, p.n_v, 5e-4);
    expected_free(&e);
    result_free(&r);
    p.q[0] = NAN;                                                           /* must not be lost in a maximum */
    r = run(t, &p, 1);
    assert_true(isnan(((float *)r.out)[0]));
    assert_true(isnan(((float *)r.lse)[0]));
    assert_true(isnan(((float *)r.dq)[0]));
    assert_true(isnan(((float *)r.dk)[0]));
    result_free(&r);
    problem_free(&p);
}

static void survives_extremes(void **state)
{
    (void)state;
    for_each_isa(extremes);
}

/* With one key and scale, cap and key 1, the log-sum-exp is tanh(q). With a second key of 0, and values 1 and 0, dq is p1 p2 times
 * the slope of tanh at q. */
static void tangents(const hone_kernel_table *t, const char *isa)
{
    enum { N = 3000 };
    static float        q[N], out[N], lse[N], dout[N], dq[N];
    float               keys[2] = { 1, 0 }, dk[2], dv[2];
    int32_t             cu_q[2] = { 0, N }, cu_k[2] = { 0, 1 };
    hone_attention_args a = { .q = q, .k = keys, .v = keys, .out = out, .lse = lse, .dout = dout, .dq = dq, .dk = dk, .dv = dv,
                              .cu_q = cu_q, .cu_k = cu_k, .samples = 1, .heads = 1, .kv_heads = 1, .dim = 1, .v_dim = 1,
                              .scale = 1, .softcap = 1 };
    problem             p = { .s = { .samples = 1 } };

    for (int i = 0; i < N; i++) {
        q[i] = (float)ldexp(i % 2 ? -1 : 1, -100) * (float)pow(2, 0.0351 * i);      /* 2^-100 to 2^5 */
        dout[i] = 1;
    }
    q[0] = 3e38f;
    q[1] = -3e38f;
    run_pass(t, HONE_PASS_FWD, &p, 1, &a);
    for (int i = 0; i < N; i++) {
        double want = tanh((double)q[i]);

        if (!(fabs(lse[i] - want) <= 4 * 0x1p-24 * fabs(want)))
            fail_msg("%s: tanh of %.9g is %.9g, wanted %.9g", isa, (double)q[i], (double)lse[i], want);
    }
    cu_k[1] = 2;
    run_pass(t, HONE_PASS_FWD, &p, 1, &a);
    run_pass(t, HONE_PASS_BWD, &p, 1, &a);
    for (int i = 0; i < N; i++) {
        double p1 = 1 / (1 + exp(-tanh((double)q[i]))), slope = p1 * (1 - p1) / cosh((double)q[i]) / cosh((double)q[i]);

        if (!(fabs(dq[i] - slope) <= 16 * 0x1p-24 * slope + 3e-17))
            fail_msg("%s: the slope of tanh at %.9g is %.9g, wanted %.9g", isa, (double)q[i], (double)dq[i], slope);
    }
}

static void soft_cap_is_exact(void **state)
{
    (void)state;
    for_each_isa(tangents);
}

/* The op tells the kernel of scale, window and cap. */
static void op_passes_what_is_asked(void **state)
{
    shape               s = { 2, { 5, 3 }, { 0 }, 4, 2, 8, 6, .window = 3, .softcap = 1.5 };
    problem             p;
    hone_ctx           *ctx = t_ctx(1);
    hone_attention_pack pack;
    hone_attention_spec spec = { .heads = 4, .kv_heads = 2, .scale = 1 / sqrt(8), .softcap = 1.5, .mask = { true, 3 } };
    hone_tensor        *in[3], *out;
    expected            e;

    (void)state;
    problem_init(&p, &s);
    pack = (hone_attention_pack){ p.cu_q, p.cu_k, p.ids, 2 };
    for (int i = 0; i < 3; i++) {
        size_t n = i == 0 ? p.n_q : i == 1 ? p.n_k : p.n_v;

        in[i] = hone_tensor_create(ctx->device, HONE_DTYPE_F32, 2, (int64_t[]){ 8, (int64_t)n / 8 });
        assert_non_null(in[i]);
        memcpy(hone_tensor_data(in[i]), i == 0 ? p.q : i == 1 ? p.k : p.v, n * sizeof(float));
    }
    hone_scope_open(ctx);
    out = hone_op_attention(ctx, in[0], in[1], in[2], &pack, &spec);
    T_OK(ctx->status);
    e = expect(&p);
    check_close("out", "op", &p, hone_tensor_data(out), false, e.out, p.n_out, 2e-6);
    hone_scope_close(ctx, NULL, 0);
    for (int i = 0; i < 3; i++)
        hone_tensor_release(&in[i]);
    expected_free(&e);
    problem_free(&p);
    hone_ctx_destroy(&ctx);
}

static void *no_scratch(void *arg, size_t bytes)
{
    (void)arg;
    (void)bytes;
    (void)HONE_FAIL(HONE_E_NOMEM, "none left");
    return NULL;
}

static void no_memory(const hone_kernel_table *t, const char *isa)
{
    int32_t             cu[2] = { 0, 1 };
    float               x[4] = { 0 };
    hone_attention_args a = { .q = x, .k = x, .v = x, .out = x + 1, .lse = x + 2, .dout = x, .dq = x + 1, .dk = x + 2,
                              .dv = x + 3, .cu_q = cu, .cu_k = cu, .samples = 1, .heads = 1, .kv_heads = 1, .dim = 1,
                              .v_dim = 1, .scale = 1, .mask = { true, 0 } };
    hone_kernel_env     env = { .scratch = no_scratch };

    (void)isa;
    T_STATUS(t->fn[HONE_OP_attention][HONE_PASS_FWD][HONE_TARGET_CPU][HONE_DTYPE_F32](&env, &a), HONE_E_NOMEM);
    T_STATUS(t->fn[HONE_OP_attention][HONE_PASS_BWD][HONE_TARGET_CPU][HONE_DTYPE_BF16](&env, &a), HONE_E_NOMEM);
}

static void reports_no_memory(void **state)
{
    (void)state;
    for_each_isa(no_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_plain_loops),        cmocka_unit_test(takes_empty_samples),
        cmocka_unit_test(pack_equals_alone),         cmocka_unit_test(decoding_equals_the_whole),
        cmocka_unit_test(survives_extremes),         cmocka_unit_test(soft_cap_is_exact),
        cmocka_unit_test(op_passes_what_is_asked),   cmocka_unit_test(reports_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
