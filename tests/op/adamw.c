/* AdamW against PyTorch's fused one: the same bits after each of twenty steps; the copy in bf16. */
#include "hone_test.h"

#include "kernel/tables.h"

#include "../data/op/adamw.inc"

enum { N = sizeof GRADIENTS[0] / sizeof GRADIENTS[0][0], STEPS = HONE_COUNTOF(GRADIENTS) };

static hone_adamw_args settings(int64_t step)
{
    return (hone_adamw_args){ .lr = 3e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .weight_decay = 0.1, .grad_scale = 0.5, .step = step };
}

static void follow_pytorch(hone_kernel_fn adamw)
{
    hone_kernel_env env = { 0 };
    float           w[N], m[N] = { 0 }, v[N] = { 0 };
    uint16_t        copy[N];

    memcpy(w, WEIGHTS_BEFORE[0], sizeof w);
    for (int s = 0; s < STEPS; s++) {
        hone_adamw_args a = settings(s + 1);

        a.w = w, a.m = m, a.v = v, a.grad = GRADIENTS[s], a.w_bf16 = copy, a.n = N;
        T_OK(adamw(&env, &a));
        assert_memory_equal(w, WEIGHTS_AFTER[s], sizeof w);
        for (int i = 0; i < N; i++)
            assert_int_equal(copy[i], hone_f32_to_bf16(w[i]));
    }
    assert_memory_equal(m, MOMENTS_AFTER[0], sizeof m);
    assert_memory_equal(v, MOMENTS_AFTER[1], sizeof v);
}

static void twenty_steps_follow_pytorch(void **state)
{
    (void)state;
    for (hone_isa isa = 0; isa <= hone_isa_detect(); isa++) {
        hone_kernel_table t = { 0 };

        hone_kernel_table_ref(&t);
        hone_kernel_table_cpu(&t, isa);
        follow_pytorch(t.fn[HONE_OP_adamw][HONE_PASS_FWD][HONE_TARGET_REF][HONE_DTYPE_F32]);
        follow_pytorch(t.fn[HONE_OP_adamw][HONE_PASS_FWD][HONE_TARGET_CPU][HONE_DTYPE_F32]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(twenty_steps_follow_pytorch) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
