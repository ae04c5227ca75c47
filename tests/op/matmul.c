/* Products of `linear`: every kernel set this processor has, every pass, layout and flag, at sizes that fit no tile. */
#include "hone_test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kernel/cpu/cpu.h"
#include "kernel/cpu/matmul.h"

/* ---- memory, data ------------------------------------------------------------------------------------------------ */

/* Scratch as a device gives it: aligned, of exactly the size asked for (sanitizers see the ends), full of NaNs. */
typedef struct arena { void *base; } arena;

static void *arena_scratch(void *arg, size_t bytes)
{
    arena *a = arg;

    assert_null(a->base);                               /* one call per kernel run */
    assert_int_equal(posix_memalign(&a->base, 64, bytes), 0);
    memset(a->base, 0xFF, bytes);
    return a->base;
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (1 << 23) - 1.0;
}

/* An exactly sized array of `n` elements with random values in [-1, 1), and the same values in double. */
typedef struct array { void *data; double *value; int64_t n; bool bf16; } array;

static array array_new(int64_t n, bool bf16, uint64_t *state)
{
    array a = { hone_calloc((size_t)n, bf16 ? 2 : 4), hone_calloc((size_t)n, sizeof(double)), n, bf16 };

    for (int64_t i = 0; i < n; i++) {
        float f = (float)uniform(state);

        if (bf16) {
            ((uint16_t *)a.data)[i] = hone_f32_to_bf16(f);
            f = hone_bf16_to_f32(((uint16_t *)a.data)[i]);
        } else {
            ((float *)a.data)[i] = f;
        }
        a.value[i] = f;
    }
    return a;
}

static double array_get(const array *a, int64_t i)
{
    return a->bf16 ? hone_bf16_to_f32(((const uint16_t *)a->data)[i]) : ((const float *)a->data)[i];
}

static size_t array_bytes(const array *a) { return (size_t)a->n * (a->bf16 ? 2 : 4); }

static void array_free(array *a)
{
    hone_free(a->data);
    hone_free(a->value);
}

/* ---- one case ---------------------------------------------------------------------------------------------------- */

typedef struct problem {
    const hone_mm_set *set;
    hone_pass pass;
    int64_t   m, n, k;
    bool      w_is_kn, y_is_acc, accumulate, with_bias, with_residual, alias;
} problem;

typedef struct data { array x, w, bias, residual, dy, out, dbias; } data;

static void data_make(data *d, const problem *p)
{
    bool     bf16 = p->set->dtype == HONE_DTYPE_BF16, fwd = p->pass == HONE_PASS_FWD, bwd = p->pass == HONE_PASS_BWD;
    uint64_t state = 17;

    d->x = array_new(p->m * p->k, bf16, &state);
    d->w = array_new(p->n * p->k, bf16, &state);
    d->bias = array_new(p->n, bf16, &state);
    d->residual = array_new(p->m * p->n, bf16, &state);
    d->dy = array_new(p->m * p->n, bf16, &state);
    d->dbias = array_new(p->n, false, &state);
    d->out = array_new(fwd ? p->m * p->n : bwd ? p->m * p->k : p->n * p->k,
                       fwd ? bf16 && !p->y_is_acc : bwd && bf16, &state);
    if (p->alias)
        memcpy(d->out.data, d->residual.data, array_bytes(&d->out));
}

static void data_free(data *d)
{
    array_free(&d->x), array_free(&d->w), array_free(&d->bias), array_free(&d->residual);
    array_free(&d->dy), array_free(&d->out), array_free(&d->dbias);
}

static void run(const problem *p, data *d, hone_pool *pool)
{
    arena            mem = { 0 };
    hone_kernel_env  env = { .pool = pool, .scratch = arena_scratch, .scratch_arg = &mem };
    hone_linear_args l = { .m = p->m, .n = p->n, .k = p->k, .w_is_kn = p->w_is_kn, .y_is_acc = p->y_is_acc,
                           .accumulate = p->accumulate };

    switch (p->pass) {
    case HONE_PASS_FWD:
        l.x = d->x.data, l.w = d->w.data, l.y = d->out.data;
        l.bias = p->with_bias ? d->bias.data : NULL;
        l.residual = p->alias ? d->out.data : p->with_residual ? d->residual.data : NULL;
        break;
    case HONE_PASS_BWD:
        l.dy = d->dy.data, l.w = d->w.data, l.dx = d->out.data;
        break;
    default:
        l.dy = d->dy.data, l.x = d->x.data, l.dw = d->out.data;
        l.dbias = p->with_bias ? d->dbias.data : NULL;
    }
    T_OK(hone_mm_linear(p->set, p->pass, &env, &l));
    free(mem.base);
}

static double w_at(const problem *p, const data *d, int64_t n, int64_t k)
{
    return d->w.value[p->w_is_kn ? k * p->n + n : n * p->k + k];
}

/* The exact value of output (i, j), and in `size` the sum of magnitudes that bounds its rounding. */
static double expected(const problem *p, const data *d, int64_t i, int64_t j, double *size)
{
    double  sum = 0, abs = 0, term;
    int64_t terms = p->pass == HONE_PASS_FWD ? p->k : p->pass == HONE_PASS_BWD ? p->n : p->m;

    for (int64_t t = 0; t < terms; t++) {
        if (p->pass == HONE_PASS_FWD)
            term = d->x.value[i * p->k + t] * w_at(p, d, j, t);
        else if (p->pass == HONE_PASS_BWD)
            term = d->dy.value[i * p->n + t] * w_at(p, d, t, j);
        else
            term = d->dy.value[t * p->n + i] * d->x.value[t * p->k + j];
        sum += term;
        abs += fabs(term);
    }
    *size = abs;
    return sum;
}

static void check_close(const problem *p, const char *what, int64_t i, int64_t j, double got, double want, double bound)
{
    if (!(fabs(got - want) <= bound))
        fail_msg("%s %s m %d n %d k %d kn %d acc %d add %d bias %d residual %d alias %d: %s[%d, %d] is %.9g, not %.9g "
                 "(bound %g)", p->set->name, hone_pass_name(p->pass), (int)p->m, (int)p->n, (int)p->k, p->w_is_kn,
                 p->y_is_acc, p->accumulate, p->with_bias, p->with_residual, p->alias, what,
                 (int)i, (int)j, got, want, bound);
}

static void check(const problem *p)
{
    int64_t rows = p->pass == HONE_PASS_BWD_WEIGHT ? p->n : p->m, cols = p->pass == HONE_PASS_FWD ? p->n : p->k;
    data    d;

    data_make(&d, p);
    run(p, &d, NULL);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            bool    transposed = p->pass == HONE_PASS_BWD_WEIGHT && p->w_is_kn;
            int64_t at = transposed ? j * p->n + i : i * cols + j;
            double  size, want = expected(p, &d, i, j, &size), extra = 0;

            if (p->pass == HONE_PASS_FWD)
                extra = (p->with_bias ? d.bias.value[j] : 0)
                      + (p->with_residual || p->alias ? d.residual.value[at] : 0);
            else if (p->accumulate)
                extra = d.out.value[at];
            want += extra;
            /* Rounding errors of a sum are a small part of its terms' magnitudes; bf16 outputs add half a unit. */
            check_close(p, "out", i, j, array_get(&d.out, at), want,
                        8 * FLT_EPSILON * (size + fabs(extra)) + (d.out.bf16 ? fabs(want) * 0x1.01p-8 : 0));
        }
    }
    for (int64_t j = 0; p->pass == HONE_PASS_BWD_WEIGHT && p->with_bias && j < p->n; j++) {
        double want = p->accumulate ? d.dbias.value[j] : 0, size = fabs(want);

        for (int64_t i = 0; i < p->m; i++)
            want += d.dy.value[i * p->n + j], size += fabs(d.dy.value[i * p->n + j]);
        check_close(p, "dbias", 0, j, array_get(&d.dbias, j), want, 8 * FLT_EPSILON * size);
    }
    data_free(&d);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
extern const hone_mm_set hone_mm_amx_emulated;
#endif

/* The s'th set that this processor can run, the emulation of AMX last; NULL when there are no more. */
static const hone_mm_set *usable_set(int s)
{
    hone_isa isa = hone_isa_detect();

    for (int i = 0; hone_mm_sets[i]; i++)
        if (hone_mm_sets[i]->isa <= isa && s-- == 0)
            return hone_mm_sets[i];
#if defined(__x86_64__)
    if (s == 0 && isa >= HONE_ISA_AVX512)
        return &hone_mm_amx_emulated;
#endif
    return NULL;
}

static const int64_t sizes[][3] = {
    { 1, 1, 1 }, { 1, 2, 3 }, { 2, 1, 5 }, { 3, 7, 1 }, { 5, 17, 2 }, { 6, 64, 32 }, { 7, 65, 33 }, { 13, 31, 257 },
    { 1, 131, 129 }, { 97, 16, 15 }, { 31, 127, 61 }, { 17, 129, 523 }, { 257, 33, 47 },
    { 101, 7, 1151 }, { 12, 48, 512 },
    { 523, 3, 5 }, { 3, 1031, 9 }, { 9, 5, 523 },
};

static void every_flag_at_odd_sizes(void **state)
{
    (void)state;
    for (int s = 0; usable_set(s); s++) {
        for (size_t i = 0; i < HONE_COUNTOF(sizes); i++) {
            for (int bits = 0; bits < 64; bits++) {
                problem p = { .set = usable_set(s), .m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2],
                              .w_is_kn = bits & 1, .with_bias = bits & 2 };

                if (bits < 32) {
                    p.pass = HONE_PASS_FWD;
                    p.y_is_acc = bits & 4, p.with_residual = bits & 8, p.alias = bits & 16;
                    if (p.alias && (p.with_residual || (p.y_is_acc && p.set->dtype == HONE_DTYPE_BF16)))
                        continue;
                } else {
                    p.pass = bits & 4 ? HONE_PASS_BWD : HONE_PASS_BWD_WEIGHT;
                    p.accumulate = bits & 8;
                    if (bits & 16 || (p.pass == HONE_PASS_BWD && p.with_bias))
                        continue;
                }
                check(&p);
            }
        }
    }
}

/* Without rows outputs [m, ·] have nothing to write; dw and dbias are sums of nothing. */
static void no_rows(void **state)
{
    (void)state;
    for (int s = 0; usable_set(s); s++) {
        for (int bits = 0; bits < 4; bits++) {
            problem p = { .set = usable_set(s), .pass = HONE_PASS_BWD_WEIGHT, .n = 5, .k = 3, .w_is_kn = bits & 1,
                          .accumulate = bits & 2, .with_bias = true };

            check(&p);
            p.pass = HONE_PASS_FWD;
            check(&p);
            p.pass = HONE_PASS_BWD;
            check(&p);
        }
    }
}

static void threads_change_no_bit(void **state)
{
    const int64_t shapes[][3] = { { 67, 193, 531 }, { 3, 701, 300 }, { 530, 75, 20 }, { 1, 65, 1030 } };

    (void)state;
    for (int s = 0; usable_set(s); s++) {
        for (size_t i = 0; i < HONE_COUNTOF(shapes); i++) {
            for (int pass = 0; pass < HONE_PASS_COUNT; pass++) {
                problem p = { .set = usable_set(s), .pass = (hone_pass)pass, .m = shapes[i][0], .n = shapes[i][1],
                              .k = shapes[i][2], .with_bias = true, .accumulate = true };
                data one, many;

                data_make(&one, &p);
                run(&p, &one, NULL);
                for (int threads = 1; threads <= 8; threads++) {
                    hone_pool *pool;

                    T_OK(hone_pool_create(&pool, threads));
                    data_make(&many, &p);
                    run(&p, &many, pool);
                    assert_memory_equal(one.out.data, many.out.data, array_bytes(&one.out));
                    assert_memory_equal(one.dbias.data, many.dbias.data, array_bytes(&one.dbias));
                    data_free(&many);
                    hone_pool_destroy(&pool);
                }
                data_free(&one);
            }
        }
    }
}

/* Rows [first, first+count) of a product alone are, to the bit, those rows of the whole. */
static void check_rows(const problem *whole, const data *before, const data *after, int64_t first, int64_t count)
{
    problem part = *whole;
    data    d;
    bool    fwd = whole->pass == HONE_PASS_FWD;
    size_t  elem = whole->set->dtype == HONE_DTYPE_BF16 ? 2 : 4;
    size_t  row = (size_t)(fwd ? whole->n : whole->k) * (before->out.bf16 ? 2 : 4);

    part.m = count;
    data_make(&d, &part);
    memcpy(d.x.data, (char *)before->x.data + (size_t)(first * whole->k) * elem, array_bytes(&d.x));
    memcpy(d.dy.data, (char *)before->dy.data + (size_t)(first * whole->n) * elem, array_bytes(&d.dy));
    memcpy(d.residual.data, (char *)before->residual.data + (size_t)(first * whole->n) * elem,
           array_bytes(&d.residual));
    memcpy(d.w.data, before->w.data, array_bytes(&d.w));
    memcpy(d.bias.data, before->bias.data, array_bytes(&d.bias));
    memcpy(d.out.data, (char *)before->out.data + (size_t)first * row, array_bytes(&d.out));
    run(&part, &d, NULL);
    assert_memory_equal((char *)after->out.data + (size_t)first * row, d.out.data, (size_t)count * row);
    data_free(&d);
}

static void a_row_depends_on_no_other(void **state)
{
    const int64_t shapes[][2] = { { 70, 531 }, { 129, 64 }, { 530, 33 }, { 16, 1153 } };      /* n, k */
    hone_pool    *pool;

    (void)state;
    T_OK(hone_pool_create(&pool, 2));
    for (int s = 0; usable_set(s); s++) {
        for (size_t i = 0; i < HONE_COUNTOF(shapes); i++) {
            for (int bits = 0; bits < 8; bits++) {
                problem p = { .set = usable_set(s), .pass = bits & 1 ? HONE_PASS_BWD : HONE_PASS_FWD, .m = 75,
                              .n = shapes[i][0], .k = shapes[i][1], .w_is_kn = bits & 2, .with_bias = true,
                              .with_residual = true, .y_is_acc = bits & 4, .accumulate = bits & 4 };
                data before, after;

                data_make(&before, &p);
                data_make(&after, &p);
                run(&p, &after, pool);
                for (int64_t r = 0; r < p.m; r += 1 + r / 8)
                    check_rows(&p, &before, &after, r, 1);
                check_rows(&p, &before, &after, 1, 5);
                check_rows(&p, &before, &after, 2, 13);
                check_rows(&p, &before, &after, 7, 37);
                check_rows(&p, &before, &after, 74, 1);
                data_free(&before);
                data_free(&after);
            }
        }
    }
    hone_pool_destroy(&pool);
}

static void *no_scratch(void *arg, size_t bytes)
{
    (void)arg, (void)bytes;
    (void)HONE_FAIL(HONE_E_NOMEM, "no scratch");
    return NULL;
}

/* What the table holds for each instruction set computes, and says so when memory is out. */
static void the_table_has_the_sets(void **state)
{
    hone_kernel_env  env = { .scratch = no_scratch };
    float            x = 2, w = 3, y = 0;
    hone_linear_args l = { .x = &x, .w = &w, .y = &y, .m = 1, .n = 1, .k = 1 };
    arena            mem = { 0 };

    (void)state;
    for (int isa = 0; isa <= (int)hone_isa_detect(); isa++) {
        hone_kernel_table t = { 0 };
        hone_kernel_fn    fn;

        hone_kernel_cpu_linear(&t, (hone_isa)isa);
        for (int pass = 0; pass < HONE_PASS_COUNT; pass++) {
            assert_non_null(t.fn[HONE_OP_linear][pass][HONE_TARGET_CPU][HONE_DTYPE_F32]);
            assert_non_null(t.fn[HONE_OP_linear][pass][HONE_TARGET_CPU][HONE_DTYPE_BF16]);
            assert_null(t.fn[HONE_OP_linear][pass][HONE_TARGET_CPU][HONE_DTYPE_F64]);
        }
        fn = t.fn[HONE_OP_linear][HONE_PASS_FWD][HONE_TARGET_CPU][HONE_DTYPE_F32];
        env = (hone_kernel_env){ .scratch = no_scratch };
        T_STATUS(fn(&env, &l), HONE_E_NOMEM);
        T_ERROR_HAS("no scratch");
        mem.base = NULL, y = 0;
        env = (hone_kernel_env){ .scratch = arena_scratch, .scratch_arg = &mem };
        T_OK(fn(&env, &l));
        assert_true(y == 6);
        free(mem.base);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flag_at_odd_sizes), cmocka_unit_test(no_rows), cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_row_depends_on_no_other), cmocka_unit_test(the_table_has_the_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
