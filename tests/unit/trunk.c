/* The trunk's promises: bits do not depend on recompute, threads or company; gradients add up; memory comes back. */
#include "hone_test.h"

#include <math.h>

#include "autograd/tape.h"
#include "op/op.h"
#include "op/scope.h"
#include "tiny_model.h"

static const int64_t lengths[3] = { 11, 1, 17 };

static float *gradients(const t_tiny_spec *spec, int threads, bool recompute, double *loss, size_t *n)
{
    hone_ctx   *ctx = t_ctx(threads);
    hone_model *m = t_tiny_model(ctx, spec);
    hone_batch *b = t_tiny_batch(ctx, m, lengths, 3, 5);
    float      *g;

    ctx->training = true;
    hone_ctx_seed_dropout(ctx, 1, 2);
    *loss = t_run(ctx, m, b, recompute, 1.0 / 21, false);
    g = t_gradients(m, n);
    hone_batch_destroy(&b);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);     /* checks that every tensor came back */
    return g;
}

static void bits_depend_on_neither_recompute_nor_threads(void **state)
{
    (void)state;
    for (int dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_BF16; dtype++)
        for (int variant = 0; variant < 3; variant++) {
            t_tiny_spec spec = { .dtype = (hone_dtype)dtype, .dropout = variant ? 0.3f : 0, .window = variant == 2 ? 4 : 0,
                                 .rope = variant == 1 ? HONE_ROPE_DYNAMIC : HONE_ROPE_DEFAULT, .untied = variant == 2 };
            double      loss, other;
            size_t      n, k;
            float      *base = gradients(&spec, 1, false, &loss, &n);

            assert_true(isfinite(loss) && loss > 0);
            for (int threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5)
                for (int recompute = 0; recompute <= 1; recompute++) {
                    float *g = gradients(&spec, threads, recompute, &other, &k);

                    assert_true(other == loss);
                    assert_memory_equal(g, base, n * sizeof *g);
                    hone_free(g);
                }
            hone_free(base);
        }
}

static void logits_depend_on_no_company(void **state)
{
    const hone_trunk_options o = { 0 };

    (void)state;
    for (int dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_BF16; dtype++) {
        t_tiny_spec  spec = { .dtype = (hone_dtype)dtype, .rope = HONE_ROPE_DYNAMIC };
        hone_ctx    *ctx = t_ctx(2);
        hone_model  *m = t_tiny_model(ctx, &spec);
        hone_batch  *pack = t_tiny_batch(ctx, m, lengths, 3, 5);
        hone_tensor *all, *alone;

        hone_scope_open(ctx);
        all = hone_trunk_logits(ctx, m, hone_trunk_hidden(ctx, m, pack, &o));
        for (uint32_t s = 0; s < 3; s++) {
            hone_batch *b = t_tiny_batch(ctx, m, lengths + s, 1, 5 + s);

            alone = hone_trunk_logits(ctx, m, hone_trunk_hidden(ctx, m, b, &o));
            T_OK(ctx->status);
            assert_memory_equal(hone_tensor_data(alone), (float *)hone_tensor_data(all) + pack->cu[s] * m->vocab,
                                hone_tensor_bytes(alone));
            hone_batch_destroy(&b);
        }
        hone_scope_close(ctx, NULL, 0);
        hone_batch_destroy(&pack);
        hone_model_destroy(&m);
        hone_ctx_destroy(&ctx);
    }
}

/* One micro-batch of three samples, or three of one: the same loss and gradients but for the order of additions. */
static void accumulation_is_a_sum(void **state)
{
    t_tiny_spec spec = { .dtype = HONE_DTYPE_F32 };
    hone_ctx   *ctx = t_ctx(1);
    hone_model *m = t_tiny_model(ctx, &spec);
    hone_batch *pack = t_tiny_batch(ctx, m, lengths, 3, 5);
    double      whole, parts = 0, diff = 0, norm = 0;
    float      *a, *b;
    size_t      n;

    (void)state;
    whole = t_run(ctx, m, pack, false, 1.0 / 21, false);
    a = t_gradients(m, &n);
    for (uint32_t s = 0; s < 3; s++) {
        hone_batch *one = t_tiny_batch(ctx, m, lengths + s, 1, 5 + s);

        parts += t_run(ctx, m, one, false, 1.0 / 21, s > 0);
        hone_batch_destroy(&one);
    }
    b = t_gradients(m, &n);
    for (size_t i = 0; i < n; i++) {
        diff += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        norm += (double)a[i] * a[i];
    }
    assert_true(fabs(whole - parts) < 1e-6 * whole);
    assert_true(sqrt(diff) < 1e-6 * sqrt(norm));
    hone_free(a);
    hone_free(b);
    hone_batch_destroy(&pack);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);
}

/* A loss whose weights come from above gives what known weights give. */
static void weights_known_late_give_the_same(void **state)
{
    const hone_trunk_options o = { 0 };
    t_tiny_spec  spec = { .dtype = HONE_DTYPE_F32, .untied = true };
    hone_ctx    *ctx = t_ctx(1);
    hone_model  *m = t_tiny_model(ctx, &spec);
    hone_batch  *b = t_tiny_batch(ctx, m, lengths, 3, 5);
    hone_tape   *tape;
    hone_tensor *nll, *seed;
    float       *known, *late;
    size_t       n;

    (void)state;
    t_run(ctx, m, b, false, 0.25, false);
    known = t_gradients(m, &n);
    hone_params_clear_grads(m->params);
    T_OK(hone_tape_create(&tape));
    hone_tape_attach(ctx, tape);
    hone_scope_open(ctx);
    nll = hone_op_linear_cross_entropy(ctx, hone_trunk_hidden(ctx, m, b, &o), &(hone_head){ .weight = m->head->value }, b->labels, NULL);
    T_OK(ctx->status);
    seed = hone_tensor_create(ctx->device, nll->dtype, nll->ndim, nll->dims);
    for (int64_t t = 0; t < b->tokens; t++)
        ((float *)hone_tensor_data(seed))[t] = 0.25f;
    T_OK(hone_tape_backward(ctx, tape, nll, seed));
    hone_tensor_release(&seed);
    hone_scope_close(ctx, NULL, 0);
    hone_tape_attach(ctx, NULL);
    hone_tape_destroy(&tape);
    late = t_gradients(m, &n);
    assert_memory_equal(known, late, n * sizeof *late);
    hone_free(known);
    hone_free(late);
    hone_batch_destroy(&b);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);
}

/* What a model says of its head holds for its logits and for its loss. */
static void a_head_may_have_bias_scale_and_cap(void **state)
{
    const hone_trunk_options o = { 0 };
    t_tiny_spec  spec = { .dtype = HONE_DTYPE_F32 };
    hone_ctx    *ctx = t_ctx(1);
    hone_model  *m = t_tiny_model(ctx, &spec);
    hone_batch  *b = t_tiny_batch(ctx, m, lengths, 3, 5);
    hone_params *more;
    hone_tensor *hidden, *plain, *logits, *nll;
    float        bias[37];

    (void)state;
    T_OK(hone_params_create(&more, ctx, HONE_DTYPE_F32, HONE_PARAMS_FROZEN));
    T_OK(hone_params_unit(more, "head"));
    hone_scope_open(ctx);
    hidden = hone_trunk_hidden(ctx, m, b, &o);
    plain = hone_trunk_logits(ctx, m, hidden);
    T_OK(hone_params_declare(&m->head_bias, more, "lm_head.bias", 1, &m->vocab, false));
    T_OK(hone_params_allocate(more));
    for (int i = 0; i < 37; i++)
        bias[i] = 0.1f * (float)(i % 7 - 3);
    T_OK(hone_param_load(more, m->head_bias, bias, HONE_DTYPE_F32));
    m->logit_scale = 0.5;
    m->logit_softcap = 1.25;
    logits = hone_trunk_logits(ctx, m, hidden);
    nll = hone_trunk_nll(ctx, m, b, &o);
    T_OK(ctx->status);
    for (int64_t t = 0; t < b->tokens; t++) {
        const float *x = (const float *)hone_tensor_data(plain) + t * m->vocab, *y = (const float *)hone_tensor_data(logits) + t * m->vocab;
        double       total = 0, want;

        for (int64_t i = 0; i < m->vocab; i++) {
            want = 1.25 * tanh(0.5 * ((double)x[i] + (double)bias[i]) / 1.25);
            assert_true(fabs(y[i] - want) <= 1e-6);
            total += exp(want);
        }
        want = b->labels[t] < 0 ? 0 : log(total) - (double)y[b->labels[t]];
        assert_true(fabs(((const float *)hone_tensor_data(nll))[t] - want) <= 1e-5);
    }
    hone_scope_close(ctx, NULL, 0);
    hone_params_destroy(&more);
    hone_batch_destroy(&b);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);
}

/* A row without labels, and a batch without any, cost no NaN and change nothing. */
static void no_label_no_gradient(void **state)
{
    t_tiny_spec spec = { .dtype = HONE_DTYPE_F32 };
    hone_ctx   *ctx = t_ctx(1);
    hone_model *m = t_tiny_model(ctx, &spec);
    hone_batch *b = t_tiny_batch(ctx, m, lengths, 3, 5);
    float      *g;
    size_t      n;

    (void)state;
    for (int64_t t = 0; t < b->tokens; t++)
        b->labels[t] = -100;
    assert_true(t_run(ctx, m, b, false, 1, false) == 0);
    hone_params_finish_grads(m->params);
    g = t_gradients(m, &n);
    for (size_t i = 0; i < n; i++)
        assert_true(g[i] == 0);
    hone_free(g);
    hone_batch_destroy(&b);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);
}

/* Recompute keeps less between the passes; a failed allocation is an error, not a crash, and leaks nothing. */
static void memory_is_accounted_and_comes_back(void **state)
{
    t_tiny_spec spec = { .dtype = HONE_DTYPE_F32 };
    size_t      peak[2], live;

    (void)state;
    for (int recompute = 0; recompute <= 1; recompute++) {
        hone_ctx   *ctx = t_ctx(1);
        hone_model *m = t_tiny_model(ctx, &spec);
        hone_batch *b = t_tiny_batch(ctx, m, (int64_t[]){ 60, 60, 60 }, 3, 5);

        live = hone_device_get_stats(ctx->device).live;
        t_run(ctx, m, b, recompute, 1, false);
        peak[recompute] = hone_device_get_stats(ctx->device).live_peak;
        assert_true(hone_device_get_stats(ctx->device).live - live < 1 << 20);    /* scratch and rope tables */
        hone_batch_destroy(&b);
        hone_model_destroy(&m);
        hone_ctx_destroy(&ctx);
    }
    assert_true(peak[1] < peak[0]);
}

static void out_of_memory_is_an_error(void **state)
{
    const hone_trunk_options o = { 0 };
    t_tiny_spec spec = { .dtype = HONE_DTYPE_F32 };
    hone_ctx   *ctx = t_ctx(1);
    hone_model *m = t_tiny_model(ctx, &spec);
    hone_batch *b = t_tiny_batch(ctx, m, lengths, 3, 5);
    bool        ended = false;

    (void)state;
    for (size_t room = 0; !ended; room += 4096) {
        hone_tape   *tape;
        hone_tensor *nll;

        hone_device_trim(ctx->device);
        hone_device_set_limit(ctx->device, hone_device_get_stats(ctx->device).live + room + 1);
        T_OK(hone_tape_create(&tape));
        hone_tape_attach(ctx, tape);
        hone_scope_open(ctx);
        nll = hone_trunk_nll(ctx, m, b, &o);
        ended = ctx->status == HONE_OK;
        assert_true(ended || (ctx->status == HONE_E_NOMEM && nll == ctx->poison));
        hone_scope_close(ctx, NULL, 0);
        hone_tape_attach(ctx, NULL);
        hone_tape_destroy(&tape);
        hone_storage_release(&ctx->scratch);
        ctx->status = HONE_OK;
        assert_true(room < (size_t)1 << 30);
    }
    hone_batch_destroy(&b);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);
}

/* What lies outside a table is an error of the context, and never read. */
static void rows_beyond_a_table_are_refused(void **state)
{
    const hone_trunk_options o = { 0 };
    t_tiny_spec spec = { .dtype = HONE_DTYPE_F32 };
    hone_ctx   *ctx = t_ctx(1);
    hone_model *m = t_tiny_model(ctx, &spec);
    hone_batch *b = t_tiny_batch(ctx, m, lengths, 3, 5);

    (void)state;
    for (int bad = -1; bad <= 37; bad += 38) {
        b->ids[3] = bad;
        hone_scope_open(ctx);
        assert_ptr_equal(hone_trunk_hidden(ctx, m, b, &o), ctx->poison);
        hone_scope_close(ctx, NULL, 0);
        assert_int_equal(ctx->status, HONE_E_DATA);
        ctx->status = HONE_OK;
    }
    b->ids[3] = 0;
    m->max_positions = 16;      /* the third sample has 17 */
    hone_scope_open(ctx);
    assert_ptr_equal(hone_trunk_hidden(ctx, m, b, &o), ctx->poison);
    T_ERROR_HAS("17 tokens, but the model has 16 positions");
    hone_scope_close(ctx, NULL, 0);
    hone_batch_destroy(&b);
    hone_model_destroy(&m);
    ctx->status = HONE_OK;
    hone_ctx_destroy(&ctx);
}

static void layouts_cut_between_rows(void **state)
{
    const int64_t numel[5] = { 60 * 24, 24, 39 * 24, 7, 24 * 32 }, rows[5] = { 24, 1, 24, 1, 32 };
    int64_t       offsets[5];

    (void)state;
    for (int ranks = 1; ranks <= 16; ranks++) {
        int64_t slice = hone_group_layout(offsets, numel, rows, 5, ranks), end = 0;

        for (int i = 0; i < 5; i++) {
            assert_true(offsets[i] >= end && offsets[i] % 16 == 0);
            end = offsets[i] + numel[i];
        }
        assert_true(end <= slice * ranks && slice % 16 == 0);
    }
    /* on one rank nothing but alignment is added */
    assert_int_equal(hone_group_layout(offsets, numel, rows, 5, 1), 60 * 24 + 32 + 39 * 24 + 24 + 24 * 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_depend_on_neither_recompute_nor_threads),
        cmocka_unit_test(logits_depend_on_no_company),
        cmocka_unit_test(accumulation_is_a_sum),
        cmocka_unit_test(weights_known_late_give_the_same),
        cmocka_unit_test(a_head_may_have_bias_scale_and_cap),
        cmocka_unit_test(no_label_no_gradient),
        cmocka_unit_test(memory_is_accounted_and_comes_back),
        cmocka_unit_test(out_of_memory_is_an_error),
        cmocka_unit_test(rows_beyond_a_table_are_refused),
        cmocka_unit_test(layouts_cut_between_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
