/*
 * Every kernel of the CPU target, with every instruction set that this processor has, and the f32 and bf16 references, on every
 * case: against the f64 reference on the same numbers; equal to the bit for 1 to 8 threads; a row (a sample of attention) alone
 * against among others. What the runner itself checks (guards, inputs, scratch) comes on top. Kernels are looked up in the
 * table: a new one is covered without a change here.
 */
#include "hone_test.h"

#include <math.h>
#include <stdlib.h>

#include "kernel/tables.h"
#include "op_case.h"

enum { MOST_THREADS = 8 };

static hone_kernel_table ref, sets[HONE_ISA_COUNT];
static int               n_sets;
static hone_pool        *pools[MOST_THREADS];
static int64_t           compared[HONE_OP_COUNT][HONE_PASS_COUNT][HONE_COMPUTE_DTYPES];
static const char       *current;                       /* what runs, for messages */

/*
 * How far an element may be from the exact value: roundings of a sum of `length` terms of the row's size, four times what the
 * f32 reference is off on the same row (so a badly conditioned row excuses itself), and for bf16 one rounding of the result.
 */
static double tolerance(const op_buffer *b, hone_dtype dtype, double want, double size, double yardstick)
{
    bool   bf16 = (b->type == OP_ELEM && dtype == HONE_DTYPE_BF16) || b->type == OP_BF16;
    double u = b->type == OP_F64 ? 0x1p-53 : 0x1p-24;
    double tol = 4 * u * sqrt(b->length) * (fabs(want) + size) + 4 * yardstick + 0x1p-126;

    if (dtype == HONE_DTYPE_BF16)
        tol += b->rough * 0x1p-8 * size;
    return bf16 ? tol + 0x1p-8 * (fabs(want) + tol) : tol;
}

static double buffer_size(const op_buffer *b, const double *v)
{
    double sum = 0;

    if (b->length == 1)                                 /* no sum: terms of size one, but for what the value itself is */
        return 1;
    for (int64_t e = 0; e < b->rows * b->stride; e++)
        sum += isfinite(v[e]) ? v[e] * v[e] : 0;
    return sqrt(sum / (double)(b->rows * b->cols));
}

static void compare_values(const op_case *c, const op_buffer *b, hone_dtype dtype, const double *got, const double *want, const double *f32)
{
    double size = buffer_size(b, want);

    for (int64_t r = 0; r < b->rows; r++) {
        double yardstick = 0, largest = 0;

        for (int64_t i = r * b->stride; i < r * b->stride + b->cols; i++)
            if (isfinite(want[i])) {
                yardstick = fmax(yardstick, fabs(f32[i] - want[i]));
                largest = fmax(largest, fabs(want[i]));
            }
        if (!(yardstick <= 1e-3 * (largest + 1)))
            fail_msg("%s: the f32 reference is off by %g in row %ld of %s", c->label, yardstick, (long)r, b->name);
        for (int64_t i = r * b->stride; i < r * b->stride + b->cols; i++) {
            bool fine = isnan(want[i]) ? isnan(got[i])
                      : isinf(want[i]) ? got[i] == want[i]
                                       : fabs(got[i] - want[i]) <= tolerance(b, dtype, want[i], size, yardstick);

            if (!fine)
                fail_msg("%s, %s: %s[%ld, %ld] is %.9g, should be %.9g (tolerance %g)", current, c->label, b->name, (long)r,
                         (long)(i - r * b->stride), got[i], want[i], tolerance(b, dtype, want[i], size, yardstick));
        }
    }
}

/* What a pass of a case should give, from the references. */
typedef struct expected { op_result exact, f32; } expected;

static expected expect(const op_case *c, hone_pass pass, hone_dtype dtype)
{
    hone_kernel_fn plain = ref.fn[c->op][pass][HONE_TARGET_REF][HONE_DTYPE_F32];
    expected       w = { .f32 = op_run(c, pass, plain, HONE_DTYPE_F32, dtype, NULL, false) };

    w.exact = c->exact ? op_run(c, pass, ref.fn[c->op][pass][HONE_TARGET_REF][dtype], dtype, dtype, NULL, false)
                       : op_run(c, pass, ref.fn[c->op][pass][HONE_TARGET_REF][HONE_DTYPE_F64], HONE_DTYPE_F64, dtype, NULL, false);
    return w;
}

static void check_values(const op_case *c, hone_pass pass, hone_kernel_fn fn, hone_dtype dtype, const expected *want)
{
    op_result got = op_run(c, pass, fn, dtype, dtype, NULL, true);

    for (int i = 0; i < c->n_buffers; i++) {
        if (!got.values[i])
            continue;
        if (!c->exact)
            compare_values(c, &c->buffers[i], dtype, got.values[i], want->exact.values[i], want->f32.values[i]);
        else if (memcmp(got.bytes[i], want->exact.bytes[i], got.size[i]) != 0)
            fail_msg("%s, %s: %s is not equal to the bit", current, c->label, c->buffers[i].name);
    }
    op_result_free(&got);
}

static void check_threads(const op_case *c, hone_pass pass, hone_kernel_fn fn, hone_dtype dtype, const op_result *one)
{
    for (int t = 0; t < MOST_THREADS; t++) {
        op_result r = op_run(c, pass, fn, dtype, dtype, pools[t], false);

        for (int i = 0; i < c->n_buffers; i++)
            if (one->bytes[i] && memcmp(one->bytes[i], r.bytes[i], one->size[i]) != 0)
                fail_msg("%s, %s: %s differs between no pool and %d threads", current, c->label, c->buffers[i].name, t + 1);
        op_result_free(&r);
    }
}

static void check_rows(const op_case *c, hone_pass pass, hone_kernel_fn fn, hone_dtype dtype, const op_result *all)
{
    int64_t units = op_case_units(c);

    for (int64_t unit = 0; unit < units; unit += 1 + units / 12) {
        double    cu[4];
        op_case   alone;
        op_result r;

        op_case_alone(&alone, c, unit, cu);
        r = op_run(&alone, pass, fn, dtype, dtype, NULL, false);
        for (int i = 0; i < c->n_buffers; i++) {
            const op_buffer *b = &c->buffers[i];
            int64_t          count, start = op_unit_start(c, b, unit, &count);

            if (r.bytes[i] && b->axis != OP_SHARED && count &&
                memcmp((char *)all->bytes[i] + (size_t)start * op_element_size(b, dtype), r.bytes[i], r.size[i]) != 0)
                fail_msg("%s, %s: row or sample %ld of %s differs alone and among others", current, c->label, (long)unit, b->name);
        }
        op_result_free(&r);
    }
}

static void check_kernel(op_case *c, hone_pass pass, hone_kernel_fn fn, hone_dtype dtype, const expected *want)
{
    op_result one;

    check_values(c, pass, fn, dtype, want);
    one = op_run(c, pass, fn, dtype, dtype, NULL, false);
    check_threads(c, pass, fn, dtype, &one);
    if (c->alone[pass])
        check_rows(c, pass, fn, dtype, &one);
    op_result_free(&one);
}

/* A set often keeps a kernel of the set below: once is enough. */
static bool seen_before(int set, hone_op op, hone_pass pass, hone_dtype dtype)
{
    for (int s = 0; s < set; s++)
        if (sets[s].fn[op][pass][HONE_TARGET_CPU][dtype] == sets[set].fn[op][pass][HONE_TARGET_CPU][dtype])
            return true;
    return false;
}

static void check_pass(op_case *c, hone_pass pass, hone_dtype dtype)
{
    hone_kernel_fn fn = ref.fn[c->op][pass][HONE_TARGET_REF][dtype];
    expected       want;

    if (!fn)
        return;
    want = expect(c, pass, dtype);
    current = "ref";
    check_values(c, pass, fn, dtype, &want);            /* one row after another on one thread: the rest holds by its form */
    compared[c->op][pass][dtype]++;
    for (int s = 0; s < n_sets; s++) {
        fn = sets[s].fn[c->op][pass][HONE_TARGET_CPU][dtype];
        current = hone_isa_name((hone_isa)s);
        if (fn && !seen_before(s, c->op, pass, dtype))
            check_kernel(c, pass, fn, dtype, &want);
    }
    op_result_free(&want.exact);
    op_result_free(&want.f32);
}

static void check_case(op_case *c, void *arg)
{
    (void)arg;
    for (hone_dtype dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_BF16; dtype++) {
        op_case_prepare(c, &ref, dtype);
        for (hone_pass pass = 0; pass < HONE_PASS_COUNT; pass++)
            check_pass(c, pass, dtype);
    }
}

#define OP_TEST(op) static void op(void **state) { (void)state; op_cases_each(HONE_OP_##op, false, 7, check_case, NULL); }
HONE_OP_LIST(OP_TEST)

/* Each pass of each op that has a reference was compared on some case, is on meta, and has an optimised kernel. */
static void nothing_is_left_out(void **state)
{
    hone_kernel_table meta = { 0 };

    (void)state;
    hone_kernel_table_meta(&meta);
    for (int op = 0; op < HONE_OP_COUNT; op++) {
        assert_non_null(ref.fn[op][HONE_PASS_FWD][HONE_TARGET_REF][HONE_DTYPE_F32]);
        for (int pass = 0; pass < HONE_PASS_COUNT; pass++)
            for (int dtype = 0; dtype < HONE_COMPUTE_DTYPES; dtype++) {
                bool is = ref.fn[op][pass][HONE_TARGET_REF][dtype];

                assert_int_equal(is, meta.fn[op][pass][HONE_TARGET_META][dtype] != NULL);
                if (!is || dtype == HONE_DTYPE_F64)
                    continue;
                if (!compared[op][pass][dtype])
                    fail_msg("%s %s has no test case", hone_op_name((hone_op)op), hone_pass_name((hone_pass)pass));
                if (!sets[0].fn[op][pass][HONE_TARGET_CPU][dtype])
                    fail_msg("%s %s has no optimised kernel", hone_op_name((hone_op)op), hone_pass_name((hone_pass)pass));
            }
    }
}

int main(void)
{
#define OP_ROW_(op) cmocka_unit_test(op),
    const struct CMUnitTest tests[] = { HONE_OP_LIST(OP_ROW_) cmocka_unit_test(nothing_is_left_out) };
    int                     failed;

    hone_kernel_table_ref(&ref);
    n_sets = (int)hone_isa_detect() + 1;
    for (int s = 0; s < n_sets; s++)
        hone_kernel_table_cpu(&sets[s], (hone_isa)s);
    for (int t = 0; t < MOST_THREADS; t++)
        if (hone_pool_create(&pools[t], t + 1) != HONE_OK)
            return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int t = 0; t < MOST_THREADS; t++)
        hone_pool_destroy(&pools[t]);
    return failed;
}
