/*
 * The head as an op: logits, and head and loss in one, with a bias, a scale and a soft cap. Gradients against differences in
 * f64, across chunk borders too; f32 and bf16 with every instruction set against f64; the corners.
 */
#include "hone_test.h"

#include <math.h>
#include <stdlib.h>

#include "autograd/tape.h"
#include "nn/param.h"
#include "op/op.h"
#include "op/scope.h"
#include "runtime/ctx.h"

enum { ONE_CHUNK = 4096 };      /* labelled tokens, where logits are small */

static const hone_head kinds[] = {
    { 0 }, { .scale = 0.25 }, { .softcap = 1.5 }, { .scale = 1.7, .softcap = 2 }, { .scale = -0.6, .softcap = 0.8 },
};

typedef struct fixture {
    hone_ctx    *ctx;
    hone_params *params;
    hone_param  *w, *bias;      /* [v, k], [v] or NULL */
    hone_tensor *x;             /* [t, k] */
    double      *values[3];     /* of x, w, bias, before they are rounded */
    int64_t      t, k, v;
    int32_t     *labels;
    double      *weights;
    hone_head    kind;
} fixture;

/* nll [t], and the gradients of Σ weight · nll. */
typedef struct result { double *nll, *d[3]; } result;

enum { X, W, BIAS };

static int64_t numel(const fixture *f, int which) { return which == X ? f->t * f->k : which == W ? f->v * f->k : f->v; }

static double *random_values(int64_t n, uint64_t seed)
{
    hone_rng rng = hone_rng_make(seed, 5);
    double  *v = calloc((size_t)n, sizeof *v);

    for (int64_t i = 0; i < n; i++)
        v[i] = hone_rng_normal(&rng);
    return v;
}

/* Write the values into tensor and parameters. */
static void refresh(fixture *f)
{
    assert_true(hone_dtype_convert(hone_tensor_data(f->x), f->x->dtype, f->values[X], HONE_DTYPE_F64, (size_t)numel(f, X)));
    T_OK(hone_param_load(f->params, f->w, f->values[W], HONE_DTYPE_F64));
    if (f->bias)
        T_OK(hone_param_load(f->params, f->bias, f->values[BIAS], HONE_DTYPE_F64));
}

/* About one token in four is unlabelled. */
static fixture make(hone_dtype dtype, const hone_ctx_options *o, const hone_head *kind, bool bias, int64_t t, int64_t k, int64_t v)
{
    fixture f = { .t = t, .k = k, .v = v, .kind = *kind };

    T_OK(hone_ctx_create(&f.ctx, o));
    T_OK(hone_params_create(&f.params, f.ctx, dtype, HONE_PARAMS_GRADIENT));
    T_OK(hone_params_unit(f.params, "head"));
    T_OK(hone_params_declare(&f.w, f.params, "lm_head.weight", 2, (int64_t[]){ v, k }, true));
    if (bias)
        T_OK(hone_params_declare(&f.bias, f.params, "lm_head.bias", 1, &v, false));
    T_OK(hone_params_allocate(f.params));
    f.x = hone_tensor_create(f.ctx->device, dtype, 2, (int64_t[]){ t, k });
    assert_non_null(f.x);
    f.x->requires_grad = true;
    for (int i = 0; i < 3; i++)
        f.values[i] = random_values(numel(&f, i), (uint64_t)i);
    f.weights = random_values(t, 3);
    f.labels = calloc((size_t)t, sizeof *f.labels);
    for (int64_t i = 0; i < t; i++)
        f.labels[i] = (i * i + i) % 4 == 2 ? -100 : (int32_t)((i * 7 + 3) % v);
    refresh(&f);
    return f;
}

static void destroy(fixture *f)
{
    hone_tensor_release(&f->x);
    hone_params_destroy(&f->params);
    hone_ctx_destroy(&f->ctx);
    for (int i = 0; i < 3; i++)
        free(f->values[i]);
    free(f->weights);
    free(f->labels);
}

static hone_head head_of(const fixture *f)
{
    hone_head head = f->kind;

    head.weight = f->w->value;
    head.bias = f->bias ? f->bias->value : NULL;
    return head;
}

static double *doubles(const hone_tensor *t)
{
    double *v = calloc((size_t)hone_tensor_numel(t), sizeof *v);

    assert_true(hone_dtype_convert(v, HONE_DTYPE_F64, hone_tensor_data(t), t->dtype, (size_t)hone_tensor_numel(t)));
    return v;
}

static hone_tensor *seed_of(const fixture *f, const hone_tensor *nll)
{
    hone_tensor *seed = hone_tensor_create(f->ctx->device, nll->dtype, nll->ndim, nll->dims);

    assert_true(hone_dtype_convert(hone_tensor_data(seed), seed->dtype, f->weights, HONE_DTYPE_F64, (size_t)f->t));
    return seed;
}

/* Forward and backward once, adding to the parameters' gradients as they are; `late`: the weights come from above. */
static result run(fixture *f, bool late)
{
    hone_head    head = head_of(f);
    hone_tape   *tape;
    hone_tensor *nll, *seed;
    result       r = { 0 };

    T_OK(hone_tape_create(&tape));
    hone_tape_attach(f->ctx, tape);
    hone_scope_open(f->ctx);
    nll = hone_op_linear_cross_entropy(f->ctx, f->x, &head, f->labels, late ? NULL : f->weights);
    T_OK(f->ctx->status);
    r.nll = doubles(nll);
    seed = late ? seed_of(f, nll) : NULL;
    T_OK(hone_tape_backward(f->ctx, tape, late ? nll : NULL, seed));
    hone_tensor_release(&seed);
    hone_scope_close(f->ctx, NULL, 0);
    hone_tape_attach(f->ctx, NULL);
    hone_tape_destroy(&tape);
    r.d[X] = doubles(f->x->grad);
    hone_tensor_release(&f->x->grad);
    r.d[W] = doubles(f->w->grad);
    r.d[BIAS] = f->bias ? doubles(f->bias->grad) : NULL;
    return r;
}

static result run_afresh(fixture *f, bool late)
{
    hone_params_clear_grads(f->params);
    return run(f, late);
}

static void result_free(result *r)
{
    free(r->nll);
    for (int i = 0; i < 3; i++)
        free(r->d[i]);
}

static double loss(fixture *f)
{
    hone_head    head = head_of(f);
    hone_tensor *nll;
    double       sum = 0;

    refresh(f);
    hone_scope_open(f->ctx);
    nll = hone_op_linear_cross_entropy(f->ctx, f->x, &head, f->labels, NULL);
    T_OK(f->ctx->status);
    for (int64_t t = 0; t < f->t; t++)
        sum += f->weights[t] * ((const double *)hone_tensor_data(nll))[t];
    hone_scope_close(f->ctx, NULL, 0);
    return sum;
}

static double slope_at(fixture *f, double *x)
{
    double x0 = *x, h = 1e-3, near, far;

    /* fourth order: (8 (L(h) - L(-h)) - (L(2h) - L(-2h))) / 12h */
    *x = x0 + h;
    near = loss(f);
    *x = x0 - h;
    near -= loss(f);
    *x = x0 + 2 * h;
    far = loss(f);
    *x = x0 - 2 * h;
    far -= loss(f);
    *x = x0;
    return (8 * near - far) / (12 * h);
}

static void check_slopes(fixture *f, const double *d, int which, int64_t begin, int64_t end, double tol)
{
    for (int64_t i = begin; i < end; i++) {
        double want = slope_at(f, &f->values[which][i]);

        if (!(fabs(d[i] - want) <= tol * (1 + fabs(want))))
            fail_msg("scale %g, softcap %g, %lld tokens: d%s[%lld] is %.12g, by differences %.12g", f->kind.scale, f->kind.softcap,
                     (long long)f->t, which == X ? "x" : which == W ? "w" : "bias", (long long)i, d[i], want);
    }
    refresh(f);
}

static const hone_ctx_options exact = { .threads = 1, .policy = HONE_OP_POLICY_NATIVE };

static void gradients_are_differences(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < HONE_COUNTOF(kinds); kind++)
        for (int bias = 0; bias <= 1; bias++)
            for (int late = 0; late <= 1; late++) {
                fixture f = make(HONE_DTYPE_F64, &exact, &kinds[kind], bias, 9, 3, 5);
                result  r = run_afresh(&f, late);

                for (int which = X; which <= (bias ? BIAS : W); which++)
                    check_slopes(&f, r.d[which], which, 0, numel(&f, which), 1e-9);
                result_free(&r);
                destroy(&f);
            }
}

/* The last token of the first chunk, the first of the next, and what both add to. */
static void gradients_across_chunks(void **state)
{
    (void)state;
    for (int late = 0; late <= 1; late++) {
        fixture f = make(HONE_DTYPE_F64, &exact, &kinds[3], true, ONE_CHUNK + 60, 2, 3);
        result  r;

        for (int64_t t = 0; t < f.t; t++)
            f.labels[t] = t == 7 ? -100 : (int32_t)(t % 3);
        r = run_afresh(&f, late);
        check_slopes(&f, r.d[X], X, ONE_CHUNK * f.k, (ONE_CHUNK + 2) * f.k, 1e-7);     /* token 4096 is the 4095th with a label */
        check_slopes(&f, r.d[X], X, (f.t - 1) * f.k, f.t * f.k, 1e-7);
        check_slopes(&f, r.d[W], W, 0, numel(&f, W), 1e-7);
        check_slopes(&f, r.d[BIAS], BIAS, 0, f.v, 1e-7);
        for (int64_t i = 0; i < f.k; i++)
            assert_true(r.d[X][7 * f.k + i] == 0 && r.nll[7] == 0);
        result_free(&r);
        destroy(&f);
    }
}

/* By the definition, in double: what hone_op_logits gives, and that the loss is the loss of those. */
static void logits_are_as_defined(void **state)
{
    const hone_ctx_options o = { .threads = 2 };

    (void)state;
    for (hone_dtype dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_F64; dtype++)
        for (size_t kind = 0; kind < HONE_COUNTOF(kinds); kind++) {
            fixture      f = make(dtype, &o, &kinds[kind], true, 7, 24, 37);
            hone_head    head = head_of(&f);
            double      *x = doubles(f.x), *w = doubles(f.w->value), *b = doubles(f.bias->value), *y, most = dtype == HONE_DTYPE_F64 ? 1e-13 : 1e-5;
            result       r = run_afresh(&f, false);
            hone_tensor *logits;

            hone_scope_open(f.ctx);
            logits = hone_op_logits(f.ctx, f.x, &head);
            T_OK(f.ctx->status);
            assert_int_equal(logits->dtype, hone_acc_dtype(dtype));
            y = doubles(logits);
            for (int64_t t = 0; t < f.t; t++) {
                double total = 0;

                for (int64_t v = 0; v < f.v; v++) {
                    double z = b[v];

                    for (int64_t k = 0; k < f.k; k++)
                        z += x[t * f.k + k] * w[v * f.k + k];
                    z *= f.kind.scale != 0 ? f.kind.scale : 1;
                    z = f.kind.softcap > 0 ? f.kind.softcap * tanh(z / f.kind.softcap) : z;
                    if (!(fabs(y[t * f.v + v] - z) <= most * (1 + fabs(z))))
                        fail_msg("scale %g, softcap %g: a logit is %.9g, should be %.9g", f.kind.scale, f.kind.softcap, y[t * f.v + v], z);
                    total += exp(z);
                }
                if (f.labels[t] >= 0)
                    assert_true(fabs(r.nll[t] - (log(total) - y[t * f.v + f.labels[t]])) <= 4 * most * (1 + r.nll[t]));
            }
            hone_scope_close(f.ctx, NULL, 0);
            free(x);
            free(w);
            free(b);
            free(y);
            result_free(&r);
            destroy(&f);
        }
}

static double rms(const double *v, int64_t n)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += v[i] * v[i];
    return sqrt(sum / (double)n);
}

static void check_close(const fixture *f, const char *name, const double *got, const double *want, int64_t n, double tol)
{
    double size = rms(want, n);

    for (int64_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= tol * (fabs(want[i]) + size)))
            fail_msg("%s, scale %g, softcap %g: %s[%lld] is %.9g, should be %.9g", hone_isa_name(hone_ctx_isa(f->ctx)), f->kind.scale,
                     f->kind.softcap, name, (long long)i, got[i], want[i]);
}

/* Every instruction set against f64 on the same (rounded) numbers; the logits of this head are tens, so a cap of 2 is full. */
static void optimised_is_near_exact(void **state)
{
    static const char *const names[] = { "dx", "dw", "dbias" };

    (void)state;
    for (hone_isa isa = 0; isa <= hone_isa_detect(); isa++)
        for (hone_dtype dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_BF16; dtype++)
            for (size_t kind = 0; kind < HONE_COUNTOF(kinds); kind++) {
                const hone_ctx_options o = { .threads = 2, .isa = hone_isa_name(isa) };
                fixture f = make(dtype, &o, &kinds[kind], true, 33, 40, 259), e = make(HONE_DTYPE_F64, &exact, &kinds[kind], true, 33, 40, 259);
                double *w = doubles(f.w->value), *x = doubles(f.x), *b = doubles(f.bias->value), tol = dtype == HONE_DTYPE_BF16 ? 0.02 : 2e-5;
                result  got = run_afresh(&f, false), want;

                memcpy(e.values[X], x, (size_t)numel(&e, X) * sizeof *x);
                memcpy(e.values[W], w, (size_t)numel(&e, W) * sizeof *w);
                memcpy(e.values[BIAS], b, (size_t)numel(&e, BIAS) * sizeof *b);
                refresh(&e);
                want = run_afresh(&e, false);
                check_close(&f, "nll", got.nll, want.nll, f.t, 2e-5);
                for (int which = X; which <= BIAS; which++)
                    check_close(&f, names[which], got.d[which], want.d[which], numel(&f, which), tol);
                free(w);
                free(x);
                free(b);
                result_free(&got);
                result_free(&want);
                destroy(&f);
                destroy(&e);
            }
}

static void expect_same(const fixture *f, const result *a, const result *b)
{
    assert_memory_equal(a->nll, b->nll, (size_t)f->t * sizeof *a->nll);
    for (int which = X; which <= (f->bias ? BIAS : W); which++)
        assert_memory_equal(a->d[which], b->d[which], (size_t)numel(f, which) * sizeof(double));
}

/* The bits depend neither on the threads nor on when the weights are known; a scale of 1 is no scale. */
static void bits_are_the_same(void **state)
{
    (void)state;
    for (hone_dtype dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_BF16; dtype++)
        for (size_t kind = 0; kind < HONE_COUNTOF(kinds); kind++) {
            const hone_ctx_options one = { .threads = 1 };
            fixture f = make(dtype, &one, &kinds[kind], true, 70, 20, 300);
            result  base = run_afresh(&f, false);

            for (int threads = 1; threads <= 4; threads += 3)
                for (int late = 0; late <= 1; late++) {
                    const hone_ctx_options o = { .threads = threads };
                    hone_head kind_too = kinds[kind];
                    fixture   g;
                    result    r;

                    kind_too.scale = kind_too.scale != 0 ? kind_too.scale : 1;
                    g = make(dtype, &o, &kind_too, true, 70, 20, 300);
                    r = run_afresh(&g, late);
                    expect_same(&f, &base, &r);
                    result_free(&r);
                    destroy(&g);
                }
            result_free(&base);
            destroy(&f);
        }
}

/* Logits beyond every float's exponential, of both signs, capped or not: nothing overflows, and a full cap has no slope. */
static void huge_logits(void **state)
{
    (void)state;
    for (int cap = 0; cap <= 1; cap++) {
        const hone_ctx_options o = { .threads = 1 };
        fixture f = make(HONE_DTYPE_F32, &o, &(hone_head){ .softcap = cap ? 30 : 0 }, true, 9, 8, 50);
        result  r;

        for (int64_t i = 0; i < numel(&f, W); i++)
            f.values[W][i] *= 1e6;
        refresh(&f);
        r = run_afresh(&f, false);
        for (int64_t t = 0; t < f.t; t++)
            assert_true(isfinite(r.nll[t]) && r.nll[t] >= 0 && (cap ? r.nll[t] <= 60 + log(50) : r.nll[t] < 1e9));
        assert_true(cap ? rms(r.nll, f.t) > 1 : rms(r.nll, f.t) > 1e5);
        for (int which = X; which <= BIAS; which++)
            for (int64_t i = 0; i < numel(&f, which); i++)
                assert_true(cap ? fabs(r.d[which][i]) < 1e-6 : isfinite(r.d[which][i]));
        result_free(&r);
        destroy(&f);
    }
}

/* With one entry there is nothing to learn; without labels nothing is touched. */
static void corners(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < HONE_COUNTOF(kinds); kind++) {
        const hone_ctx_options o = { .threads = 1 };
        fixture f = make(HONE_DTYPE_F32, &o, &kinds[kind], true, 9, 8, 1);
        result  r = run_afresh(&f, false);

        assert_true(rms(r.nll, f.t) == 0 && rms(r.d[X], numel(&f, X)) == 0 && rms(r.d[W], f.k) == 0 && r.d[BIAS][0] == 0);
        result_free(&r);
        destroy(&f);
        for (int late = 0; late <= 1; late++) {
            f = make(HONE_DTYPE_F32, &o, &kinds[kind], true, 9, 8, 5);
            for (int64_t t = 0; t < f.t; t++)
                f.labels[t] = -100;
            r = run_afresh(&f, late);
            assert_true(rms(r.nll, f.t) == 0 && rms(r.d[X], numel(&f, X)) == 0);
            assert_false(f.w->grad_ready || f.bias->grad_ready);
            result_free(&r);
            destroy(&f);
        }
    }
}

/* Micro-batches add up; a tied weight may hold a sum of its embedding before its bias holds any, and the other way round. */
static void gradients_add_up(void **state)
{
    const hone_ctx_options o = { .threads = 1 };
    fixture f = make(HONE_DTYPE_F32, &o, &kinds[3], true, 9, 8, 13);
    result  once = run_afresh(&f, false);

    (void)state;
    for (int ready = 0; ready < 4; ready++) {
        const bool holds[] = { false, ready & 1, ready & 2 };
        result     r;

        hone_params_clear_grads(f.params);
        for (int64_t i = 0; i < numel(&f, W); i++)
            ((float *)hone_tensor_data(f.w->grad))[i] = 100;
        for (int64_t i = 0; i < f.v; i++)
            ((float *)hone_tensor_data(f.bias->grad))[i] = 100;
        f.w->grad_ready = holds[W];
        f.bias->grad_ready = holds[BIAS];
        r = run(&f, false);
        assert_true(f.w->grad_ready && f.bias->grad_ready);
        for (int which = W; which <= BIAS; which++)
            for (int64_t i = 0; i < numel(&f, which); i++)
                assert_true(fabs(r.d[which][i] - once.d[which][i] - (holds[which] ? 100 : 0)) <= (holds[which] ? 1e-5 : 0));
        result_free(&r);
    }
    result_free(&once);
    destroy(&f);
}

static void shapes_are_checked(void **state)
{
    const hone_ctx_options o = { .threads = 1 };
    fixture   f = make(HONE_DTYPE_F32, &o, &kinds[0], true, 9, 8, 13);
    hone_head head = head_of(&f);

    (void)state;
    head.bias = hone_tensor_create(f.ctx->device, HONE_DTYPE_F32, 1, (int64_t[]){ 12 });
    for (int loss_too = 0; loss_too <= 1; loss_too++) {
        hone_scope_open(f.ctx);
        if (loss_too)
            hone_op_linear_cross_entropy(f.ctx, f.x, &head, f.labels, NULL);
        else
            hone_op_logits(f.ctx, f.x, &head);
        hone_scope_close(f.ctx, NULL, 0);
        assert_int_equal(f.ctx->status, HONE_E_SHAPE);
        T_ERROR_HAS("bias has 12 elements, its weight 13 rows");
        f.ctx->status = HONE_OK;
    }
    hone_tensor_release(&head.bias);
    destroy(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(gradients_across_chunks),
        cmocka_unit_test(logits_are_as_defined),
        cmocka_unit_test(optimised_is_near_exact),
        cmocka_unit_test(bits_are_the_same),
        cmocka_unit_test(huge_logits),
        cmocka_unit_test(corners),
        cmocka_unit_test(gradients_add_up),
        cmocka_unit_test(shapes_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
