/*
 * How exact the vector functions are, over the whole range of floats and with every instruction set: activations, the hyperbolic
 * tangent of soft caps and, on a vocabulary of real size, cross entropy.
 */
#include "hone_test.h"

#include <math.h>

#include "base/mem.h"
#include "kernel/tables.h"

static hone_kernel_table table_of(hone_isa isa)
{
    hone_kernel_table t = { 0 };

    hone_kernel_table_ref(&t);
    hone_kernel_table_cpu(&t, isa);
    return t;
}

enum { SWEEP = 20011 };

/* Floats of both signs, spread over their bit patterns, of size below `limit`. */
static void sweep(float x[SWEEP], float limit)
{
    uint32_t top;

    memcpy(&top, &limit, 4);
    for (int i = 0; i < SWEEP; i++) {
        uint32_t bits = (uint32_t)((uint64_t)top * (uint32_t)i / SWEEP) | (i % 2 ? 0x80000000u : 0);

        memcpy(&x[i], &bits, 4);
    }
}

/* Relative error in units of 2^-24. For gelu tanh the argument of the exponential has its own rounding, which its size scales. */
static void check_activation(const hone_kernel_table *t, hone_act act, double most, double most_per_argument)
{
    static float         x[SWEEP], y[SWEEP];
    static double        wide[SWEEP], want[SWEEP];
    hone_kernel_env      env = { 0 };
    hone_activation_args a = { .act = act, .x = x, .y = y, .n = SWEEP }, exact = { .act = act, .x = wide, .y = want, .n = SWEEP };

    sweep(x, 12.5f);
    for (int i = 0; i < SWEEP; i++)
        wide[i] = x[i];
    T_OK(t->fn[HONE_OP_activation][HONE_PASS_FWD][HONE_TARGET_CPU][HONE_DTYPE_F32](&env, &a));
    T_OK(t->fn[HONE_OP_activation][HONE_PASS_FWD][HONE_TARGET_REF][HONE_DTYPE_F64](&env, &exact));
    for (int i = 0; i < SWEEP; i++) {
        double argument = 1.6 * fabs(wide[i]) * (1 + 0.045 * wide[i] * wide[i]);
        double tol = (most + most_per_argument * argument) * 0x1p-24 * fabs(want[i]) + 0x1p-125;

        if (!(fabs(y[i] - want[i]) <= tol))
            fail_msg("activation %d at %.9g: %.9g, should be %.9g", (int)act, wide[i], (double)y[i], want[i]);
    }
}

static void activations(void **state)
{
    (void)state;
    for (hone_isa isa = 0; isa <= hone_isa_detect(); isa++) {
        hone_kernel_table t = table_of(isa);

        check_activation(&t, HONE_ACT_SILU, 6, 0);
        check_activation(&t, HONE_ACT_GELU_ERF, 10, 0);
        check_activation(&t, HONE_ACT_GELU_TANH, 6, 3);
        check_activation(&t, HONE_ACT_RELU, 0, 0);
        check_activation(&t, HONE_ACT_RELU2, 1, 0);
    }
}

/* In units of 2^-24 of the two terms, which may cancel; also that a negative zero and all of [eps, 0] count as below zero. */
static void check_xielu(const hone_kernel_table *t)
{
    static float    x[SWEEP], y[SWEEP], dy[SWEEP], dx[SWEEP];
    static double   wide[SWEEP], want[SWEEP], wide_dy[SWEEP], want_dx[SWEEP];
    const float     alpha[2] = { 0.25f, -1.5f };
    const double    wide_alpha[2] = { alpha[0], alpha[1] };
    hone_kernel_env env = { 0 };
    hone_xielu_args a = { .x = x, .y = y, .alpha_p = alpha, .alpha_n = alpha + 1, .dy = dy, .dx = dx, .n = SWEEP };
    hone_xielu_args exact = { .x = wide, .y = want, .alpha_p = wide_alpha, .alpha_n = wide_alpha + 1, .dy = wide_dy,
                              .dx = want_dx, .n = SWEEP };
    double          bend = HONE_XIELU_BETA + log1p(exp(wide_alpha[1]));

    sweep(x, 200);
    for (int i = 0; i < SWEEP; i++) {
        wide[i] = x[i];
        wide_dy[i] = dy[i] = 1;
    }
    T_OK(t->fn[HONE_OP_xielu][HONE_PASS_FWD][HONE_TARGET_CPU][HONE_DTYPE_F32](&env, &a));
    T_OK(t->fn[HONE_OP_xielu][HONE_PASS_FWD][HONE_TARGET_REF][HONE_DTYPE_F64](&env, &exact));
    T_OK(t->fn[HONE_OP_xielu][HONE_PASS_BWD][HONE_TARGET_CPU][HONE_DTYPE_F32](&env, &a));
    T_OK(t->fn[HONE_OP_xielu][HONE_PASS_BWD][HONE_TARGET_REF][HONE_DTYPE_F64](&env, &exact));
    for (int i = 0; i < SWEEP; i++) {
        double line = HONE_XIELU_BETA * fabs(wide[i]), slope = wide[i] > 0 ? 0 : bend + HONE_XIELU_BETA;

        if (!(fabs(y[i] - want[i]) <= 6 * 0x1p-24 * (fabs(want[i]) + line) + 0x1p-125))
            fail_msg("xielu at %.9g: %.9g, should be %.9g", wide[i], (double)y[i], want[i]);
        if (!(fabs(dx[i] - want_dx[i]) <= 6 * 0x1p-24 * (fabs(want_dx[i]) + slope)))
            fail_msg("slope of xielu at %.9g: %.9g, should be %.9g", wide[i], (double)dx[i], want_dx[i]);
    }
}

static void xielu(void **state)
{
    (void)state;
    for (hone_isa isa = 0; isa <= hone_isa_detect(); isa++) {
        hone_kernel_table t = table_of(isa);

        check_xielu(&t);
    }
}

/* With scale and cap 1, capping is the hyperbolic tangent: exact where it should be, odd, and 1 in the end. */
static void hyperbolic_tangent(void **state)
{
    static float  x[SWEEP], y[SWEEP];
    const float   special[] = { 0.0f, INFINITY, -INFINITY, 1e30f, -1e30f, 9.5f, -9.5f, 1e-30f, 1e-42f };
    const float   wanted[] = { 0.0f, 1, -1, 1, -1, 1, -1, 1e-30f, 1e-42f };

    (void)state;
    for (hone_isa isa = 0; isa <= hone_isa_detect(); isa++) {
        hone_kernel_table    t = table_of(isa);
        hone_kernel_env      env = { 0 };
        hone_cap_logits_args a = { .logits = y, .n = SWEEP, .scale = 1, .softcap = 1 };

        sweep(x, 12.5f);
        memcpy(x, special, sizeof special);
        memcpy(y, x, sizeof x);
        T_OK(t.fn[HONE_OP_cap_logits][HONE_PASS_FWD][HONE_TARGET_CPU][HONE_DTYPE_F32](&env, &a));
        for (size_t i = 0; i < HONE_COUNTOF(special); i++)
            assert_true(y[i] == wanted[i]);
        for (int i = HONE_COUNTOF(special); i < SWEEP; i++) {
            double want = tanh((double)x[i]);

            if (!(fabs(y[i] - want) <= 4 * 0x1p-24 * fabs(want)) || fabsf(y[i]) > 1)
                fail_msg("tanh of %.9g with %s: %.9g, should be %.9g", (double)x[i], hone_isa_name(isa), (double)y[i], want);
        }
        y[0] = NAN;
        a.n = 1;
        T_OK(t.fn[HONE_OP_cap_logits][HONE_PASS_FWD][HONE_TARGET_CPU][HONE_DTYPE_F32](&env, &a));
        assert_true(isnan(y[0]));
    }
}

/* In bf16 a limit is the nearest number of bf16, in both passes, as in PyTorch: 1.001 is 1, 1.006 is the next above. */
static void clamp_of(hone_kernel_fn fwd, hone_kernel_fn bwd)
{
    static const double limits[2] = { 1.001, 1.006 };
    static const float  from[5] = { 1, 1.0078125f, 1.5f, -1, -1.0078125f };
    static const float  want[2][5] = { { 1, 1, 1, -1, -1 }, { 1, 1.0078125f, 1.0078125f, -1, -1.0078125f } };
    static const float  want_dx[2][5] = { { 0, 0, 0, 0, 0 }, { 2, 0, 0, 2, 0 } };
    hone_kernel_env     env = { 0 };

    for (int l = 0; l < 2; l++) {
        uint16_t        x[5], y[5], dy[5], dx[5];
        hone_clamp_args a = { .x = x, .y = y, .dy = dy, .dx = dx, .n = 5, .limit = limits[l] };

        for (int i = 0; i < 5; i++) {
            x[i] = hone_f32_to_bf16(from[i]);
            dy[i] = hone_f32_to_bf16(2);
        }
        T_OK(fwd(&env, &a));
        T_OK(bwd(&env, &a));
        for (int i = 0; i < 5; i++)
            assert_true(hone_bf16_to_f32(y[i]) == want[l][i] && hone_bf16_to_f32(dx[i]) == want_dx[l][i]);
    }
}

static void clamp_rounds_its_limit(void **state)
{
    (void)state;
    for (hone_isa isa = 0; isa <= hone_isa_detect(); isa++) {
        hone_kernel_table t = table_of(isa);

        for (int target = HONE_TARGET_REF; target <= HONE_TARGET_CPU; target++)
            clamp_of(t.fn[HONE_OP_clamp][HONE_PASS_FWD][target][HONE_DTYPE_BF16],
                     t.fn[HONE_OP_clamp][HONE_PASS_BWD][target][HONE_DTYPE_BF16]);
    }
}

enum { VOCAB = 151936, ROWS = 3 };

static void cross_entropy_of(const hone_kernel_table *t, float *logits, const double *wide)
{
    const int32_t           labels[ROWS] = { 0, 77777, VOCAB - 1 };
    const float             weight[ROWS] = { 1, 0.5f, 0.001f };
    float                   nll[ROWS];
    hone_kernel_env         env = { 0 };
    hone_cross_entropy_args a = { .logits = logits, .labels = labels, .nll = nll, .weight = weight, .dlogits = logits, .rows = ROWS, .vocab = VOCAB };

    for (int64_t i = 0; i < (int64_t)ROWS * VOCAB; i++)
        logits[i] = (float)wide[i];
    T_OK(t->fn[HONE_OP_cross_entropy][HONE_PASS_FWD][HONE_TARGET_CPU][HONE_DTYPE_F32](&env, &a));
    for (int r = 0; r < ROWS; r++) {
        const double *x = wide + (int64_t)r * VOCAB;
        double        total = 0, want, off = 0;

        for (int64_t i = 0; i < VOCAB; i++)
            total += exp(x[i]);
        want = log(total) - x[labels[r]];
        if (!(fabs(nll[r] - want) <= 2e-7 * want))
            fail_msg("nll of row %d is %.9g, should be %.9g", r, (double)nll[r], want);
        for (int64_t i = 0; i < VOCAB; i++) {
            double p = exp(x[i]) / total, d = (double)weight[r] * (i == labels[r] ? p - 1 : p);

            off = fmax(off, fabs(logits[(int64_t)r * VOCAB + i] - d) / fabs(d));
        }
        if (!(off <= 1.5e-6))
            fail_msg("a gradient of row %d is off by %g of itself", r, off);
    }
}

static void cross_entropy_of_a_large_vocabulary(void **state)
{
    int64_t  n = (int64_t)ROWS * VOCAB;
    float   *logits = hone_calloc((size_t)n, sizeof *logits);
    double  *wide = hone_calloc((size_t)n, sizeof *wide);
    hone_rng rng = hone_rng_make(11, 0);

    (void)state;
    assert_true(logits && wide);
    for (int64_t i = 0; i < n; i++)
        wide[i] = (float)(3 * hone_rng_normal(&rng));
    for (hone_isa isa = 0; isa <= hone_isa_detect(); isa++) {
        hone_kernel_table t = table_of(isa);

        cross_entropy_of(&t, logits, wide);
    }
    hone_free(logits);
    hone_free(wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations), cmocka_unit_test(xielu), cmocka_unit_test(clamp_rounds_its_limit),
        cmocka_unit_test(hyperbolic_tangent),
        cmocka_unit_test(cross_entropy_of_a_large_vocabulary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
