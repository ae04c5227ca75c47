/*
 * Backward of every reference kernel against central differences of its forward, in f64: with L = Σ dy · y, each element of
 * each input that has a gradient is moved by ±h. Ops whose backward is another call of the forward are linear: there the
 * test is <f(x), u> = <x, f'(u)>.
 */
#include "hone_test.h"

#include <math.h>
#include <stdlib.h>

#include "kernel/tables.h"
#include "op_case.h"

static hone_kernel_table table;
static int64_t           checked;

static hone_kernel_fn ref(hone_op op, hone_pass pass) { return table.fn[op][pass][HONE_TARGET_REF][HONE_DTYPE_F64]; }

static op_result run(const op_case *c, hone_pass pass)
{
    return op_run(c, pass, ref(c->op, pass), HONE_DTYPE_F64, HONE_DTYPE_F64, NULL, false);
}

static double loss(const op_case *c)
{
    op_result r = run(c, HONE_PASS_FWD);
    double    sum = 0;

    for (int i = 0; i < c->n_buffers; i++) {
        const op_buffer *y = &c->buffers[i];

        if (y->use[HONE_PASS_FWD] == 'o' && y->gradient >= 0)
            for (int64_t e = 0; e < y->rows * y->stride; e++)
                if (e % y->stride < y->cols)
                    sum += r.values[i][e] * c->buffers[y->gradient].values[e];
    }
    op_result_free(&r);
    return sum;
}

static double slope_at(op_case *c, op_buffer *x, int64_t e)
{
    double x0 = x->values[e], h = 1e-4 * fmax(1, fabs(x0)), near, far;

    /* fourth order: (8 (L(h) - L(-h)) - (L(2h) - L(-2h))) / 12h */
    x->values[e] = x0 + h;
    near = loss(c);
    x->values[e] = x0 - h;
    near -= loss(c);
    x->values[e] = x0 + 2 * h;
    far = loss(c);
    x->values[e] = x0 - 2 * h;
    far -= loss(c);
    x->values[e] = x0;
    return (8 * near - far) / (12 * h);
}

static void check_gradient(op_case *c, int input, const double *got)
{
    op_buffer       *x = &c->buffers[input];
    const op_buffer *g = &c->buffers[x->gradient];
    int64_t          n = x->rows * x->stride;
    double           size = 0;

    assert_int_equal(g->rows * g->stride, n);
    for (int64_t e = 0; e < n; e++)
        size += got[e] * got[e];
    size = sqrt(size / (double)n);
    for (int64_t e = 0; e < n; e += 1 + n / 50) {       /* at most about fifty elements of a buffer */
        double want, mine;

        if (e % x->stride >= x->cols)
            continue;
        mine = got[e];
        for (int pass = 0; pass < HONE_PASS_COUNT; pass++)
            mine -= g->use[pass] == 'b' ? g->values[e] : 0;
        want = slope_at(c, x, e);
        if (!(fabs(want - mine) <= 1e-7 * (fabs(want) + size) + 1e-8))
            fail_msg("%s: d%s[%ld] is %.12g, by differences %.12g", c->label, x->name, (long)e, mine, want);
        checked++;
    }
}

/* Smooth functions only: keep away from the corners of relu, xielu and clamp. */
static void away_from_corners(op_case *c)
{
    bool       bends = c->op == HONE_OP_activation || c->op == HONE_OP_glu || c->op == HONE_OP_xielu || c->op == HONE_OP_clamp;
    double     corner = c->op == HONE_OP_clamp ? c->args.clamp.limit : 0;
    op_buffer *x = &c->buffers[0];

    for (int64_t e = 0; e < x->rows * x->stride && bends; e++)
        if (fabs(fabs(x->values[e]) - corner) < 0.01)
            x->values[e] = 0.5;
}

static void check_case(op_case *c, void *arg)
{
    (void)arg;
    away_from_corners(c);
    op_case_prepare(c, &table, HONE_DTYPE_F64);
    for (hone_pass pass = 0; pass < HONE_PASS_COUNT; pass++) {
        op_result r;

        if (!ref(c->op, pass))
            continue;
        r = run(c, pass);
        for (int i = 0; i < c->n_buffers; i++) {
            int g = c->buffers[i].gradient;

            if (c->buffers[i].use[HONE_PASS_FWD] == 'i' && g >= 0 && r.values[g])
                check_gradient(c, i, r.values[g]);
        }
        op_result_free(&r);
    }
}

static void check_op(hone_op op)
{
    checked = 0;
    for (uint64_t seed = 1; seed <= 3; seed++)
        op_cases_each(op, true, seed, check_case, NULL);
    assert_true(checked > 100);
}

#define GRADIENT_TEST(op) static void op(void **state) { (void)state; check_op(HONE_OP_##op); }
GRADIENT_TEST(embedding)
GRADIENT_TEST(linear)
GRADIENT_TEST(rms_norm)
GRADIENT_TEST(layer_norm)
GRADIENT_TEST(attention)
GRADIENT_TEST(activation)
GRADIENT_TEST(glu)
GRADIENT_TEST(xielu)
GRADIENT_TEST(clamp)
GRADIENT_TEST(cross_entropy)

/* ---- linear ops that are their own backward */
static double inner(const op_buffer *a, const double *b)
{
    double sum = 0;

    for (int64_t e = 0; e < a->rows * a->cols; e++)
        sum += a->values[e] * b[e];
    return sum;
}

/* f' is the same op with `flip` applied to its arguments; buffer 0 is x, buffer 1 is y. */
static void check_adjoint(op_case *c, void (*flip)(op_case *c))
{
    op_buffer *x = &c->buffers[0];
    op_case    back = *c;
    double    *u = calloc((size_t)(x->rows * x->cols), sizeof *u), forward, backward;
    op_result  r = run(c, HONE_PASS_FWD);

    for (int64_t e = 0; e < x->rows * x->cols; e++)
        u[e] = hone_rng_normal(&c->rng);
    back.buffers[0].values = u;
    flip(&back);
    forward = inner(&back.buffers[0], r.values[1]);
    op_result_free(&r);
    r = run(&back, HONE_PASS_FWD);
    backward = inner(x, r.values[1]);
    op_result_free(&r);
    free(u);
    if (!(fabs(forward - backward) <= 1e-12 * (double)(x->rows * x->cols)))
        fail_msg("%s: <f(x), u> = %.15g but <x, f'(u)> = %.15g", c->label, forward, backward);
    checked++;
}

static void other_way(op_case *c) { c->args.rope.inverse = !c->args.rope.inverse; }
static void same(op_case *c) { (void)c; }
static void rope_case(op_case *c, void *arg) { (void)arg; check_adjoint(c, other_way); }
static void same_case(op_case *c, void *arg) { (void)arg; check_adjoint(c, same); }

static void linear_ops(void **state)
{
    (void)state;
    checked = 0;
    op_cases_each(HONE_OP_rope, true, 1, rope_case, NULL);
    op_cases_each(HONE_OP_dropout, true, 1, same_case, NULL);
    op_cases_each(HONE_OP_scale, true, 1, same_case, NULL);
    assert_true(checked > 100);
}

/* A turn by a known angle, in both pairings: (1, 0) goes to (cos, sin). */
static void rope_turns_forward(void **state)
{
    const float    cosine[] = { 0.6f, 0.0f }, sine[] = { 0.8f, 1.0f };
    const double   x[] = { 1, 2, 0, 0, 9 };
    double         y[5];
    hone_rope_args a = { .x = x, .y = y, .cos = cosine, .sin = sine, .tokens = 1, .heads = 1, .dim = 5, .rot_dim = 4 };

    (void)state;
    T_OK(ref(HONE_OP_rope, HONE_PASS_FWD)(NULL, &a));
    assert_true(y[0] == (double)0.6f && y[2] == (double)0.8f && y[1] == 0 && y[3] == 2 && y[4] == 9);
    a.interleaved = true;
    T_OK(ref(HONE_OP_rope, HONE_PASS_FWD)(NULL, &a));
    assert_true(y[0] == (double)0.6f - 2 * (double)0.8f && y[1] == 2 * (double)0.6f + (double)0.8f && y[2] == 0 && y[3] == 0);
}

/* xIELU and its gradients as PyTorch gives them, on both sides of eps and at 0. */
static void xielu_values(void **state)
{
    const double    x[] = { -20, -1, -0.25, -5e-7, 0, 0.5, 3 }, dy[] = { 1, 2, -1, 3, 0.5, -2, 1 }, alpha[] = { 0.25, -1.5 };
    const double    want_y[] = { 3.3268522831180167, -0.24196447526547549, -0.10479874833741573, -6.0070628828485418e-07,
                                 -7.0141292727623042e-07, 0.45648485496971092, 8.9334547789095922 };
    const double    want_dx[] = { -0.20141327653703195, 0.11324449350354415, -0.34484793216689613, -0.60423983394825731,
                                  -0.10070663899137622, -2.6518788397576873, 5.4556365192730611 };
    double          y[7], dx[7], dp, dn;
    hone_xielu_args a = { .x = x, .y = y, .dy = dy, .dx = dx, .alpha_p = alpha, .alpha_n = alpha + 1, .dalpha_p = &dp,
                          .dalpha_n = &dn, .n = 7 };

    (void)state;
    T_OK(ref(HONE_OP_xielu, HONE_PASS_FWD)(NULL, &a));
    T_OK(ref(HONE_OP_xielu, HONE_PASS_BWD)(NULL, &a));
    for (int i = 0; i < 7; i++)
        if (!(fabs(y[i] - want_y[i]) <= 1e-14 * fabs(x[i]) + 1e-20 && fabs(dx[i] - want_dx[i]) <= 1e-14))
            fail_msg("xielu at %g: %.17g and %.17g, should be %.17g and %.17g", x[i], y[i], dx[i], want_y[i], want_dx[i]);
    assert_true(fabs(dp - 4.7785002575292834) < 1e-14 && fabs(dn - 3.5950517894147946) < 1e-14);
}

/* As PyTorch: nothing passes at the limits, nor where there is no number. */
static void clamp_at_the_limits(void **state)
{
    const double    x[] = { -1.5, -1, -0.5, 0.5, 1, 1.5, NAN }, dy[] = { 1, 2, 3, 4, 5, 6, 7 };
    double          y[7], dx[7];
    hone_clamp_args a = { .x = x, .y = y, .dy = dy, .dx = dx, .n = 7, .limit = 1 };

    (void)state;
    T_OK(ref(HONE_OP_clamp, HONE_PASS_FWD)(NULL, &a));
    assert_memory_equal(y, ((double[]){ -1, -1, -0.5, 0.5, 1, 1 }), 6 * sizeof *y);
    assert_true(isnan(y[6]));
    T_OK(ref(HONE_OP_clamp, HONE_PASS_BWD)(NULL, &a));
    assert_memory_equal(dx, ((double[]){ 0, 0, 3, 4, 0, 0, 0 }), sizeof dx);
    a.x = y;
    memset(dx, 0, sizeof dx);
    T_OK(ref(HONE_OP_clamp, HONE_PASS_BWD)(NULL, &a));
    assert_memory_equal(dx, ((double[]){ 0, 0, 3, 4, 0, 0, 0 }), sizeof dx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedding), cmocka_unit_test(linear), cmocka_unit_test(rms_norm), cmocka_unit_test(layer_norm),
        cmocka_unit_test(attention), cmocka_unit_test(activation), cmocka_unit_test(glu), cmocka_unit_test(xielu),
        cmocka_unit_test(clamp), cmocka_unit_test(cross_entropy),
        cmocka_unit_test(linear_ops), cmocka_unit_test(rope_turns_forward),
        cmocka_unit_test(xielu_values), cmocka_unit_test(clamp_at_the_limits),
    };

    hone_kernel_table_ref(&table);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
