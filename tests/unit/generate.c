/* Generation with a key/value cache against whole forward passes. */
#include "hone_test.h"

#include "nn/generate.h"
#include "op/scope.h"
#include "tiny_model.h"

enum { STEPS = 40 };

/* The most probable next token by a whole forward pass over ids. */
static int32_t whole(hone_ctx *ctx, const hone_model *m, const int32_t *ids, int64_t n)
{
    const hone_trunk_options o = { 0 };
    hone_sample_view         view = { ids, NULL, n, 0 };
    hone_batch              *b;
    const float             *logits;
    int32_t                  best = 0;

    T_OK(hone_batch_create(&b, ctx, &view, 1, m->vocab, NULL));
    hone_scope_open(ctx);
    logits = hone_tensor_data(hone_trunk_logits(ctx, m, hone_trunk_hidden(ctx, m, b, &o)));
    T_OK(ctx->status);
    logits += (n - 1) * m->vocab;
    for (int32_t i = 1; i < m->vocab; i++)
        if (logits[i] > logits[best])
            best = i;
    hone_scope_close(ctx, NULL, 0);
    hone_batch_destroy(&b);
    return best;
}

static void greedy_equals_whole_passes(void **state)
{
    t_tiny_spec specs[] = { { .dtype = HONE_DTYPE_F32 }, { .dtype = HONE_DTYPE_F32, .window = 5, .rope = HONE_ROPE_LLAMA3 },
                            { .dtype = HONE_DTYPE_BF16, .untied = true } };

    (void)state;
    for (size_t k = 0; k < HONE_COUNTOF(specs); k++) {
        hone_ctx       *ctx = t_ctx(2);
        hone_model     *m = t_tiny_model(ctx, &specs[k]);
        hone_rng        r = hone_rng_make(1, 1);
        hone_generator *g;
        int32_t         ids[STEPS + 3] = { 5, 9, 31 }, id;

        T_OK(hone_generator_create(&g, ctx, m));
        T_OK(hone_generator_prompt(g, ids, 3));
        for (int i = 0; i < STEPS; i++) {
            T_OK(hone_generator_next(g, &id, 0, &r));
            assert_int_equal(id, whole(ctx, m, ids, 3 + i));
            ids[3 + i] = id;
        }
        /* another context that begins alike: what is shared is not computed again, and nothing of the rest is left */
        for (int i = 10; i < 20; i++)
            ids[i] = (ids[i] + 1) % 37;
        T_OK(hone_generator_prompt(g, ids, 20));
        T_OK(hone_generator_next(g, &id, 0, &r));
        assert_int_equal(id, whole(ctx, m, ids, 20));
        hone_generator_destroy(&g);
        hone_model_destroy(&m);
        hone_ctx_destroy(&ctx);
    }
}

static void contexts_are_checked(void **state)
{
    hone_ctx       *ctx = t_ctx(1);
    hone_model     *m = t_tiny_model(ctx, &(t_tiny_spec){ .dtype = HONE_DTYPE_F32 });
    hone_rng        r = hone_rng_make(1, 1);
    hone_generator *g;
    int32_t         ids[] = { 1, 2, 3, 4, 37 }, id;

    (void)state;
    m->max_positions = 4;
    T_OK(hone_generator_create(&g, ctx, m));
    T_STATUS(hone_generator_prompt(g, ids, 0), HONE_E_DATA);
    T_STATUS(hone_generator_prompt(g, ids, 4), HONE_E_DATA);
    T_ERROR_HAS("4 positions");
    T_STATUS(hone_generator_prompt(g, ids + 4, 1), HONE_E_DATA);
    T_ERROR_HAS("id 37");
    T_OK(hone_generator_prompt(g, ids, 3));
    assert_int_equal(hone_generator_room(g), 1);
    T_OK(hone_generator_next(g, &id, 0, &r));
    T_STATUS(hone_generator_next(g, &id, 0, &r), HONE_E_DATA);
    hone_generator_destroy(&g);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);
}

static void draws_follow_the_seed(void **state)
{
    hone_ctx       *ctx = t_ctx(1);
    hone_model     *m = t_tiny_model(ctx, &(t_tiny_spec){ .dtype = HONE_DTYPE_F32 });
    hone_generator *g;
    int32_t         first[12], again[12], other[12], *out[] = { first, again, other };
    uint64_t        seeds[] = { 3, 3, 4 };

    (void)state;
    T_OK(hone_generator_create(&g, ctx, m));
    for (int k = 0; k < 3; k++) {
        hone_rng r = hone_rng_make(seeds[k], 0);

        T_OK(hone_generator_prompt(g, (int32_t[]){ 4, 2 }, 2));
        for (int i = 0; i < 12; i++)
            T_OK(hone_generator_next(g, &out[k][i], 1.5, &r));
    }
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    hone_generator_destroy(&g);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(greedy_equals_whole_passes),
        cmocka_unit_test(contexts_are_checked),
        cmocka_unit_test(draws_follow_the_seed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
