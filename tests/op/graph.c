/*
 * Ops as model code uses them, recorded and run backward: gradients of activations and parameters against differences in f64;
 * the same bits for any number of threads, kept or replayed, with every instruction set; and what they refuse.
 */
#include "hone_test.h"

#include <math.h>
#include <stdlib.h>

#include "autograd/tape.h"
#include "base/rng.h"
#include "op/op.h"
#include "op/param.h"
#include "runtime/ctx.h"

enum { ROWS = 6, COLS = 20, LEAVES = 3 };

/* Leaf 0 is an activation [ROWS, COLS]; those behind it are parameters, with their shapes in `dims` (zeros: one dimension). */
typedef struct graph {
    const char   *name;
    int           leaves;
    int64_t       dims[LEAVES][2];
    hone_tensor *(*build)(hone_ctx *ctx, hone_tensor *const *leaf);
    hone_op       replayed;         /* the op whose output is made again rather than kept, or HONE_OP_COUNT */
} graph;

#define BUILD(name, expression) static hone_tensor *name(hone_ctx *ctx, hone_tensor *const *leaf) { return expression; }
BUILD(rms_plain, hone_op_rms_norm(ctx, leaf[0], leaf[1], COLS, 1e-5, 1))
BUILD(rms_heads, hone_op_rms_norm(ctx, leaf[0], leaf[1], 5, 1e-5, 0))
BUILD(rms_grouped, hone_op_rms_norm(ctx, leaf[0], leaf[1], 5, 1e-5, 1))
BUILD(rms_none, hone_op_rms_norm(ctx, leaf[0], NULL, 5, 1e-5, 1))
BUILD(layer_plain, hone_op_layer_norm(ctx, leaf[0], leaf[1], leaf[2], COLS, 1e-5, 0))
BUILD(layer_grouped, hone_op_layer_norm(ctx, leaf[0], leaf[1], NULL, 5, 1e-5, 0))
BUILD(layer_grouped_bias, hone_op_layer_norm(ctx, leaf[0], leaf[1], leaf[2], 5, 1e-5, 0))
BUILD(layer_offset, hone_op_layer_norm(ctx, leaf[0], leaf[1], leaf[2], COLS, 1e-5, 1))
BUILD(layer_none, hone_op_layer_norm(ctx, leaf[0], NULL, NULL, COLS, 1e-5, 0))
BUILD(add_twice, hone_op_add(ctx, hone_op_add(ctx, leaf[0], leaf[0], -0.3), leaf[0], 2.5))
BUILD(add_one, hone_op_add(ctx, hone_op_scale(ctx, leaf[0], 3), leaf[0], 1))
BUILD(clamped, hone_op_clamp(ctx, leaf[0], 0.8))
BUILD(bent, hone_op_xielu(ctx, leaf[0], leaf[1], leaf[2]))
BUILD(relu2, hone_op_activation(ctx, leaf[0], HONE_ACT_RELU2))
BUILD(fused, hone_op_glu_fused(ctx, leaf[0], HONE_ACT_SILU))

static hone_tensor *split(hone_ctx *ctx, hone_tensor *const *leaf)
{
    hone_tensor *part[3];

    hone_op_split(ctx, leaf[0], 2, (int64_t[]){ 3, 4, 3 }, 3, part);
    return hone_op_add(ctx, hone_op_add(ctx, part[0], part[2], 0.7), hone_op_linear(ctx, part[1], leaf[1], NULL, false, NULL), 1);
}

static const graph GRAPHS[] = {
    { "rms_norm", 2, { { 0 }, { COLS } }, rms_plain, HONE_OP_rms_norm },
    { "rms_norm of heads", 2, { { 0 }, { 5 } }, rms_heads, HONE_OP_rms_norm },
    { "rms_norm with a weight for each head of two", 2, { { 0 }, { 2, 5 } }, rms_grouped, HONE_OP_rms_norm },
    { "rms_norm without weight", 1, { { 0 } }, rms_none, HONE_OP_rms_norm },
    { "layer_norm", 3, { { 0 }, { COLS }, { COLS } }, layer_plain, HONE_OP_layer_norm },
    { "layer_norm with a weight stored less one", 3, { { 0 }, { COLS }, { COLS } }, layer_offset, HONE_OP_layer_norm },
    { "layer_norm with a weight for each head", 2, { { 0 }, { 4, 5 } }, layer_grouped, HONE_OP_layer_norm },
    { "layer_norm with a weight and a bias for each head", 3, { { 0 }, { 4, 5 }, { 4, 5 } }, layer_grouped_bias, HONE_OP_layer_norm },
    { "layer_norm without weight", 1, { { 0 } }, layer_none, HONE_OP_layer_norm },
    { "sums with factors", 1, { { 0 } }, add_twice, HONE_OP_COUNT },
    { "scale and sum", 1, { { 0 } }, add_one, HONE_OP_COUNT },
    { "clamp", 1, { { 0 } }, clamped, HONE_OP_COUNT },
    { "xielu", 3, { { 0 }, { 1 }, { 1 } }, bent, HONE_OP_xielu },
    { "relu squared", 1, { { 0 } }, relu2, HONE_OP_COUNT },
    { "fused glu", 1, { { 0 } }, fused, HONE_OP_glu },
    { "split", 2, { { 0 }, { 6, 8 } }, split, HONE_OP_COUNT },
};

/* ---- leaves and runs */
typedef struct leaves {
    int          n;
    hone_tensor *value[LEAVES];
    hone_param   param[LEAVES];
    char         y[ROWS * COLS * sizeof(double)];       /* what came out last */
} leaves;

static void leaves_init(leaves *l, hone_ctx *ctx, const graph *g, hone_dtype dtype)
{
    hone_rng rng = hone_rng_make(5, 1);

    *l = (leaves){ .n = g->leaves };
    for (int i = 0; i < l->n; i++) {
        int64_t dims[2] = { i ? g->dims[i][0] : ROWS, i ? g->dims[i][1] : COLS };
        int     ndim = dims[1] ? 2 : 1;

        l->value[i] = hone_tensor_create(ctx->device, dtype, ndim, dims);
        l->value[i]->requires_grad = true;
        for (int64_t e = 0; e < hone_tensor_numel(l->value[i]); e++) {
            double v = hone_rng_normal(&rng);

            v = fabs(v) < 0.02 || fabs(fabs(v) - 0.8) < 0.02 ? 0.4 : v;     /* away from corners */
            hone_dtype_convert((char *)hone_tensor_data(l->value[i]) + (size_t)e * hone_dtype_bytes(dtype), dtype, &v, HONE_DTYPE_F64, 1);
        }
        if (i) {
            l->param[i] = (hone_param){ .name = (char *)"w", .value = l->value[i] };
            l->param[i].grad = hone_tensor_create(ctx->device, hone_acc_dtype(dtype), ndim, dims);
            l->value[i]->param = &l->param[i];
        }
    }
}

static void leaves_deinit(leaves *l)
{
    for (int i = 0; i < l->n; i++) {
        hone_tensor_release(&l->value[i]);
        hone_tensor_release(&l->param[i].grad);
    }
}

static hone_tensor *gradient(const leaves *l, int i) { return i ? l->param[i].grad : l->value[0]->grad; }

/* silu around the graph, so that its output is read in the backward pass. */
static hone_tensor *forward(hone_ctx *ctx, const graph *g, leaves *l)
{
    hone_tensor *y;

    hone_scope_open(ctx);
    y = hone_op_activation(ctx, g->build(ctx, l->value), HONE_ACT_SILU);
    T_OK(ctx->status);
    hone_scope_close(ctx, &y, 1);
    return y;
}

/* dL/dy of element e. */
static double seed_value(int64_t e) { return 0.25 * (double)((e * 7 + 3) % 11) - 1.125; }

static void run(hone_ctx *ctx, const graph *g, leaves *l, bool settle)
{
    hone_tape   *tape;
    hone_tensor *y, *seed;

    T_OK(hone_tape_create(&tape));
    hone_tape_attach(ctx, tape);
    y = forward(ctx, g, l);
    memcpy(l->y, hone_tensor_data(y), hone_tensor_bytes(y));
    if (settle)
        hone_tape_settle(tape);
    seed = hone_tensor_create(ctx->device, y->dtype, y->ndim, y->dims);
    for (int64_t e = 0; e < hone_tensor_numel(y); e++) {
        double v = seed_value(e);

        hone_dtype_convert((char *)hone_tensor_data(seed) + (size_t)e * hone_dtype_bytes(y->dtype), y->dtype, &v, HONE_DTYPE_F64, 1);
    }
    T_OK(hone_tape_backward(ctx, tape, y, seed));
    hone_tape_attach(ctx, NULL);
    hone_tape_destroy(&tape);
    hone_tensor_release(&seed);
    hone_tensor_release(&y);
}

static hone_ctx *context(int threads, hone_op_policy policy, const char *isa)
{
    hone_ctx_options o = { .threads = threads, .policy = policy, .isa = isa };
    hone_ctx        *ctx;

    T_OK(hone_ctx_create(&ctx, &o));
    return ctx;
}

/* ---- gradients */
static double loss(hone_ctx *ctx, const graph *g, leaves *l)
{
    hone_tensor *y = forward(ctx, g, l);
    double       sum = 0;

    for (int64_t e = 0; e < hone_tensor_numel(y); e++)
        sum += seed_value(e) * ((double *)hone_tensor_data(y))[e];
    hone_tensor_release(&y);
    return sum;
}

static double difference(hone_ctx *ctx, const graph *g, leaves *l, double *x, double h)
{
    double keep = *x, d;

    *x = keep + h;
    d = loss(ctx, g, l);
    *x = keep - h;
    d -= loss(ctx, g, l);
    *x = keep;
    return d;
}

static void gradients(void **state)
{
    const double h = 1e-4;

    (void)state;
    for (size_t k = 0; k < HONE_COUNTOF(GRAPHS); k++) {
        hone_ctx *ctx = context(1, HONE_OP_POLICY_NATIVE, NULL);
        leaves    l;

        leaves_init(&l, ctx, &GRAPHS[k], HONE_DTYPE_F64);
        run(ctx, &GRAPHS[k], &l, false);
        for (int i = 0; i < l.n; i++) {
            double *x = hone_tensor_data(l.value[i]), *got = hone_tensor_data(gradient(&l, i));

            for (int64_t e = 0; e < hone_tensor_numel(l.value[i]); e++) {
                double want = (8 * difference(ctx, &GRAPHS[k], &l, x + e, h) - difference(ctx, &GRAPHS[k], &l, x + e, 2 * h)) / (12 * h);

                if (!(fabs(got[e] - want) <= 1e-8 * (1 + fabs(want))))
                    fail_msg("%s: gradient %ld of leaf %d is %.12g, by differences %.12g", GRAPHS[k].name, (long)e, i, got[e], want);
            }
        }
        leaves_deinit(&l);
        hone_ctx_destroy(&ctx);
    }
}

/* ---- bits */
static void same_bits(const graph *g, const char *isa, hone_dtype dtype)
{
    hone_ctx *ctx = context(1, HONE_OP_POLICY_CUSTOM, isa);
    leaves    base;

    leaves_init(&base, ctx, g, dtype);
    run(ctx, g, &base, false);
    for (int threads = 1; threads <= 3; threads++)
        for (int settle = 0; settle <= 1; settle++) {
            hone_ctx *other = context(threads, HONE_OP_POLICY_CUSTOM, isa);
            leaves    l;

            leaves_init(&l, other, g, dtype);
            run(other, g, &l, settle);
            assert_memory_equal(l.y, base.y, sizeof l.y);
            for (int i = 0; i < l.n; i++)
                assert_memory_equal(hone_tensor_data(gradient(&l, i)), hone_tensor_data(gradient(&base, i)),
                                    hone_tensor_bytes(gradient(&l, i)));
            if (g->replayed != HONE_OP_COUNT)
                assert_int_equal(other->profile->op[g->replayed][HONE_PASS_FWD].calls, 1 + settle);
            leaves_deinit(&l);
            hone_ctx_destroy(&other);
        }
    leaves_deinit(&base);
    hone_ctx_destroy(&ctx);
}

static void bits_depend_on_neither_threads_nor_replay(void **state)
{
    (void)state;
    for (hone_isa isa = 0; isa <= hone_isa_detect(); isa++)
        for (size_t k = 0; k < HONE_COUNTOF(GRAPHS); k++)
            for (int dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_BF16; dtype++)
                same_bits(&GRAPHS[k], hone_isa_name(isa), (hone_dtype)dtype);
}

/* ---- values */
static float *numbers(hone_tensor *t)
{
    float *x = hone_tensor_data(t);

    for (int64_t i = 0; i < hone_tensor_numel(t); i++)
        x[i] = (float)(i + 1) / 8;
    return x;
}

/* Group g of row t is [part 0 | part 1 | part 2] of widths 1, 3, 2. */
static void split_takes_each_group_apart(void **state)
{
    const int64_t widths[] = { 1, 3, 2 };
    hone_ctx     *ctx = context(2, HONE_OP_POLICY_AUTO, NULL);
    hone_tensor  *x = hone_tensor_create(ctx->device, HONE_DTYPE_F32, 2, (int64_t[]){ 5, 24 }), *part[3];
    float        *v = numbers(x);

    (void)state;
    hone_scope_open(ctx);
    hone_op_split(ctx, x, 4, widths, 3, part);
    T_OK(ctx->status);
    for (int p = 0, before = 0; p < 3; before += (int)widths[p++]) {
        assert_int_equal(hone_tensor_cols(part[p]), 4 * widths[p]);
        for (int64_t t = 0; t < 5; t++)
            for (int64_t g = 0; g < 4; g++)
                for (int64_t i = 0; i < widths[p]; i++)
                    assert_true(((float *)hone_tensor_data(part[p]))[(t * 4 + g) * widths[p] + i] == v[t * 24 + g * 6 + before + i]);
    }
    hone_scope_close(ctx, NULL, 0);
    hone_tensor_release(&x);
    hone_ctx_destroy(&ctx);
}

/* Halves of one matrix or two matrices: the same bits. A weight for each head: those of a norm of that head alone. */
static void forms_of_one_thing_agree(void **state)
{
    hone_ctx    *ctx = context(2, HONE_OP_POLICY_AUTO, NULL);
    hone_tensor *x = hone_tensor_create(ctx->device, HONE_DTYPE_F32, 2, (int64_t[]){ 7, 26 }), *half[2], *one, *two;
    hone_tensor *w = hone_tensor_create(ctx->device, HONE_DTYPE_F32, 2, (int64_t[]){ 2, 13 }), *row[2];

    (void)state;
    numbers(x);
    numbers(w);
    hone_scope_open(ctx);
    hone_op_split(ctx, x, 1, (int64_t[]){ 13, 13 }, 2, half);
    one = hone_op_glu_fused(ctx, x, HONE_ACT_GELU_TANH);
    two = hone_op_glu(ctx, half[0], half[1], HONE_ACT_GELU_TANH);
    T_OK(ctx->status);
    assert_int_equal(hone_tensor_bytes(one), hone_tensor_bytes(two));
    assert_memory_equal(hone_tensor_data(one), hone_tensor_data(two), hone_tensor_bytes(two));
    one = hone_op_layer_norm(ctx, x, w, NULL, 13, 1e-5, 0);
    hone_op_split(ctx, one, 1, (int64_t[]){ 13, 13 }, 2, row);
    for (int g = 0; g < 2; g++) {
        hone_tensor *alone = hone_tensor_view(w, g * 13, 1, (int64_t[]){ 13 });

        two = hone_op_layer_norm(ctx, half[g], alone, NULL, 13, 1e-5, 0);
        T_OK(ctx->status);
        assert_memory_equal(hone_tensor_data(row[g]), hone_tensor_data(two), hone_tensor_bytes(two));
        hone_tensor_release(&alone);
    }
    hone_scope_close(ctx, NULL, 0);
    hone_tensor_release(&x);
    hone_tensor_release(&w);
    hone_ctx_destroy(&ctx);
}

/* Where the weight is frozen, its bias still adds up over micro-batches. */
static void a_bias_alone_accumulates(void **state)
{
    const graph *g = &GRAPHS[4];
    hone_ctx    *ctx = context(1, HONE_OP_POLICY_AUTO, NULL);
    leaves       l;
    float        once[COLS], *bias;

    (void)state;
    leaves_init(&l, ctx, g, HONE_DTYPE_F32);
    hone_tensor_release(&l.param[1].grad);
    bias = hone_tensor_data(l.param[2].grad);
    for (int turn = 0; turn < 2; turn++) {
        run(ctx, g, &l, true);
        if (turn == 0)
            memcpy(once, bias, sizeof once);
    }
    for (int i = 0; i < COLS; i++)
        assert_true(once[i] != 0 && bias[i] == 2 * once[i]);
    leaves_deinit(&l);
    hone_ctx_destroy(&ctx);
}

/* ---- what is refused */
BUILD(norm_of_thirds, hone_op_rms_norm(ctx, leaf[0], NULL, 7, 1e-5, 0))
BUILD(norm_of_three_groups, hone_op_rms_norm(ctx, leaf[0], leaf[1], 5, 1e-5, 0))
BUILD(norm_of_a_piece, hone_op_rms_norm(ctx, leaf[0], leaf[1], 10, 1e-5, 0))
BUILD(bias_alone, hone_op_layer_norm(ctx, leaf[0], NULL, leaf[1], COLS, 1e-5, 0))
BUILD(bias_of_one_head, hone_op_layer_norm(ctx, leaf[0], leaf[1], leaf[2], 5, 1e-5, 0))
BUILD(odd_halves, hone_op_glu_fused(ctx, leaf[1], HONE_ACT_SILU))
BUILD(long_alpha, hone_op_xielu(ctx, leaf[0], leaf[1], leaf[2]))
BUILD(unlike_terms, hone_op_add(ctx, leaf[0], leaf[1], 0.5))

static hone_tensor *split_too_far(hone_ctx *ctx, hone_tensor *const *leaf)
{
    hone_tensor *part[2];

    hone_op_split(ctx, leaf[0], 3, (int64_t[]){ 3, 4 }, 2, part);
    return part[0];
}

static void wrong_shapes_are_refused(void **state)
{
    static const struct { graph g; const char *text; } wrong[] = {
        { { "", 1, { { 0 } }, norm_of_thirds, 0 }, "norms 7 features, its input has 20" },
        { { "", 2, { { 0 }, { 3, 5 } }, norm_of_three_groups, 0 }, "15 weights for an input of 20 features, 5 at a time" },
        { { "", 2, { { 0 }, { 5 } }, norm_of_a_piece, 0 }, "5 weights for an input of 20 features, 10 at a time" },
        { { "", 2, { { 0 }, { COLS } }, bias_alone, 0 }, "bias" },
        { { "", 3, { { 0 }, { 4, 5 }, { 5 } }, bias_of_one_head, 0 }, "bias" },
        { { "", 2, { { 0 }, { 2, 5 } }, odd_halves, 0 }, "5 columns" },
        { { "", 3, { { 0 }, { 1 }, { 2 } }, long_alpha, 0 }, "xielu" },
        { { "", 2, { { 0 }, { COLS } }, unlike_terms, 0 }, "differ in size" },
        { { "", 1, { { 0 } }, split_too_far, 0 }, "20 columns do not split into 3 groups of 7" },
    };

    (void)state;
    for (size_t k = 0; k < HONE_COUNTOF(wrong); k++) {
        hone_ctx *ctx = context(1, HONE_OP_POLICY_AUTO, NULL);
        leaves    l;

        leaves_init(&l, ctx, &wrong[k].g, HONE_DTYPE_F32);
        hone_scope_open(ctx);
        assert_ptr_equal(wrong[k].g.build(ctx, l.value), ctx->poison);
        assert_int_equal(ctx->status, HONE_E_SHAPE);
        T_ERROR_HAS(wrong[k].text);
        hone_scope_close(ctx, NULL, 0);
        leaves_deinit(&l);
        hone_ctx_destroy(&ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients), cmocka_unit_test(bits_depend_on_neither_threads_nor_replay),
        cmocka_unit_test(split_takes_each_group_apart), cmocka_unit_test(forms_of_one_thing_agree),
        cmocka_unit_test(a_bias_alone_accumulates), cmocka_unit_test(wrong_shapes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
