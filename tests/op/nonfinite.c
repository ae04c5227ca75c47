/*
 * A NaN or an infinity in any input reaches the output wherever it does in the reference: training stops on a non-finite loss
 * or gradient, so no vector maximum, comparison or exponential may lose one. All kernels of the CPU target, all sets.
 */
#include "hone_test.h"

#include <math.h>

#include "kernel/tables.h"
#include "op_case.h"

static hone_kernel_table ref, sets[HONE_ISA_COUNT];
static int               n_sets;
static int64_t           reached;       /* outputs that were not finite, so the test saw something */

static void compare(const op_case *c, const op_result *got, const op_result *want, const char *set, const char *poisoned)
{
    for (int i = 0; i < c->n_buffers; i++)
        for (int64_t e = 0; want->values[i] && e < c->buffers[i].rows * c->buffers[i].stride; e++) {
            if (isfinite(want->values[i][e]))
                continue;
            reached++;
            if (isfinite(got->values[i][e]))
                fail_msg("%s, %s: %s[%ld] is %g though %s is not finite there in the reference", set, c->label, c->buffers[i].name, (long)e,
                         got->values[i][e], poisoned);
        }
}

static void check_pass(const op_case *c, hone_pass pass, hone_dtype dtype, const char *poisoned)
{
    op_result want = op_run(c, pass, ref.fn[c->op][pass][HONE_TARGET_REF][dtype], dtype, dtype, NULL, false);

    for (int s = 0; s < n_sets; s++) {
        hone_kernel_fn fn = sets[s].fn[c->op][pass][HONE_TARGET_CPU][dtype];
        op_result      got;

        if (!fn || (s > 0 && fn == sets[s - 1].fn[c->op][pass][HONE_TARGET_CPU][dtype]))
            continue;
        got = op_run(c, pass, fn, dtype, dtype, NULL, false);
        compare(c, &got, &want, hone_isa_name((hone_isa)s), poisoned);
        op_result_free(&got);
    }
    op_result_free(&want);
}

static void poison(op_case *c, hone_pass pass, hone_dtype dtype, op_buffer *b, int64_t element, double value)
{
    double keep = b->values[element];

    b->values[element] = value;
    check_pass(c, pass, dtype, b->name);
    b->values[element] = keep;
}

static void check_case(op_case *c, void *arg)
{
    (void)arg;
    for (hone_dtype dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_BF16; dtype++)
        for (hone_pass pass = 0; pass < HONE_PASS_COUNT; pass++) {
            if (!ref.fn[c->op][pass][HONE_TARGET_REF][dtype])
                continue;
            op_case_prepare(c, &ref, dtype);
            for (int i = 0; i < c->n_buffers; i++) {
                op_buffer *b = &c->buffers[i];

                if ((b->use[pass] != 'i' && b->use[pass] != 'b') || b->type == OP_I32)
                    continue;
                poison(c, pass, dtype, b, 0, NAN);
                poison(c, pass, dtype, b, b->cols - 1, INFINITY);
                poison(c, pass, dtype, b, (b->rows - 1) * b->stride + b->cols / 2, NAN);
            }
        }
}

#define OP_TEST(op)                                                     \
    static void op(void **state)                                        \
    {                                                                   \
        (void)state;                                                    \
        reached = 0;                                                    \
        op_cases_each(HONE_OP_##op, true, 3, check_case, NULL);         \
        assert_true(reached > 0);                                       \
    }
HONE_OP_LIST(OP_TEST)

int main(void)
{
#define OP_ROW_(op) cmocka_unit_test(op),
    const struct CMUnitTest tests[] = { HONE_OP_LIST(OP_ROW_) };

    hone_kernel_table_ref(&ref);
    n_sets = (int)hone_isa_detect() + 1;
    for (int s = 0; s < n_sets; s++)
        hone_kernel_table_cpu(&sets[s], (hone_isa)s);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
