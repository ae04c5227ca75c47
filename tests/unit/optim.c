/* The optimizer on parameters: f32 masters under bf16, gradient norm, clipping, decay groups. */
#include <math.h>

#include "hone_test.h"

#include "optim/adamw.h"
#include "runtime/ctx.h"

enum { N = 37 };

static hone_params *make(hone_ctx *ctx, hone_dtype dtype)
{
    int64_t      n = N;
    hone_params *p;
    hone_param  *w, *b;
    float        ones[N];

    for (int i = 0; i < N; i++)
        ones[i] = 1;
    T_OK(hone_params_create(&p, ctx, dtype, HONE_PARAMS_TRAINED));
    T_OK(hone_params_unit(p, "unit"));
    T_OK(hone_params_declare(&w, p, "w", 1, &n, true));
    T_OK(hone_params_declare(&b, p, "b", 1, &n, false));
    T_OK(hone_params_allocate(p));
    T_OK(hone_param_load(p, w, ones, HONE_DTYPE_F32));
    T_OK(hone_param_load(p, b, ones, HONE_DTYPE_F32));
    return p;
}

static float *grad(hone_params *p, size_t i) { return hone_tensor_data(p->all.data[i]->grad); }
static const float *master(hone_params *p, size_t i)
{
    hone_dtype dtype;

    return hone_param_master(p, p->all.data[i], &dtype);
}

static void set_grads(hone_params *p, float value)
{
    for (size_t i = 0; i < p->all.len; i++)
        for (int k = 0; k < N; k++)
            grad(p, i)[k] = value;
}

/* A step of 6e-4 is less than half a bf16 spacing at 1: without masters the weight would never move. */
static void bf16_moves_as_f32(void **state)
{
    hone_ctx        *ctx;
    hone_ctx_options o = { .threads = 1 };
    hone_params     *f32, *bf16;

    (void)state;
    T_OK(hone_ctx_create(&ctx, &o));
    f32 = make(ctx, HONE_DTYPE_F32);
    bf16 = make(ctx, HONE_DTYPE_BF16);
    for (int64_t step = 1; step <= 100; step++) {
        hone_adamw_spec s = { .lr = 6e-4, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .grad_scale = 1, .update = step };

        set_grads(f32, 0.01f);
        set_grads(bf16, 0.01f);
        T_OK(hone_adamw_step(f32, &s));
        T_OK(hone_adamw_step(bf16, &s));
    }
    assert_memory_equal(master(f32, 0), master(bf16, 0), N * sizeof(float));
    assert_true(fabs(master(bf16, 0)[0] - (1 - 100 * 6e-4)) < 1e-5);
    assert_int_equal(((uint16_t *)hone_tensor_data(bf16->all.data[0]->value))[N - 1], hone_f32_to_bf16(master(bf16, 0)[N - 1]));
    hone_params_destroy(&f32);
    hone_params_destroy(&bf16);
    hone_ctx_destroy(&ctx);
}

static void decay_acts_on_its_group(void **state)
{
    hone_ctx        *ctx;
    hone_ctx_options o = { .threads = 1 };
    hone_adamw_spec  s = { .lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.5, .grad_scale = 1, .update = 1 };
    hone_params     *p;

    (void)state;
    T_OK(hone_ctx_create(&ctx, &o));
    p = make(ctx, HONE_DTYPE_F32);
    set_grads(p, 0);
    T_OK(hone_adamw_step(p, &s));
    assert_true(fabsf(master(p, 0)[3] - 0.95f) < 1e-6f);
    assert_true(master(p, 1)[3] == 1);
    hone_params_destroy(&p);
    hone_ctx_destroy(&ctx);
}

static void norm_and_clipping(void **state)
{
    hone_ctx        *ctx;
    hone_ctx_options o = { .threads = 1 };
    hone_params     *p;
    double           norm;

    (void)state;
    T_OK(hone_ctx_create(&ctx, &o));
    p = make(ctx, HONE_DTYPE_BF16);
    set_grads(p, 2);
    T_OK(hone_grad_norm(&norm, p));
    assert_true(fabs(norm - sqrt(4.0 * 2 * N)) < 1e-9);
    assert_true(hone_clip_scale(norm, 1) == 1 / (norm + 1e-6));
    assert_true(hone_clip_scale(norm, 100) == 1 && hone_clip_scale(norm, 0) == 1);
    grad(p, 1)[N - 1] = NAN;            /* one bad element anywhere shows */
    T_OK(hone_grad_norm(&norm, p));
    assert_true(isnan(norm));
    grad(p, 1)[N - 1] = -INFINITY;
    T_OK(hone_grad_norm(&norm, p));
    assert_true(isinf(norm));
    hone_params_destroy(&p);
    hone_ctx_destroy(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bf16_moves_as_f32),
        cmocka_unit_test(decay_acts_on_its_group),
        cmocka_unit_test(norm_and_clipping),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
