/*
 * hone's promises beside its reference, for every model directory of tests/data/models, in f32 and bf16: bits depend on neither
 * threads, recompute nor company, nothing flows from one sample to another or back in time, micro-batches add up, a cache gives
 * what a whole forward gives, and memory comes back. A test per family; each prints every promise that is broken.
 *
 *     test_golden_promises [FAMILY...]
 */
#include "hone_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "io/safetensors.h"
#include "model/load.h"
#include "nn/generate.h"
#include "op/scope.h"

#include "model_families.h"
#include "tiny_model.h"

enum { SAMPLES = 8, THREADS = 3, MORE = 8 };     /* MORE: room behind a sample for tokens to come */

/* The samples of a variant's input.safetensors, and the model once for each number of threads. */
typedef struct variant {
    const char      *dir;
    hone_dtype       dtype;
    double           dropout;
    int              failures;
    int64_t          samples, tokens, predicted;
    int64_t          longest;               /* which sample */
    int32_t         *ids[SAMPLES], *labels[SAMPLES];
    hone_sample_view views[SAMPLES];
    hone_ctx        *ctx[THREADS];
    hone_loaded     *loaded[THREADS];
    size_t           live[THREADS];         /* bytes before the model came */
} variant;

static void expect(variant *v, bool kept, const char *promise)
{
    if (kept)
        return;
    print_error("%s, %s%s: %s\n", t_variant_name(v->dir), v->dtype == HONE_DTYPE_F32 ? "f32" : "bf16",
                v->dropout > 0 ? ", dropout" : "", promise);
    v->failures++;
}

static int32_t *take(const hone_safetensors *file, const char *kind, int64_t k, int64_t *n)
{
    const hone_safetensor *t;
    int32_t               *values;
    char                   name[32];

    snprintf(name, sizeof name, "%s.%lld", kind, (long long)k);
    t = hone_safetensors_find(file, name);
    if (!t)
        return NULL;
    values = hone_calloc((size_t)t->numel + MORE, sizeof *values);
    memcpy(values, t->data, (size_t)t->numel * sizeof *values);
    *n = t->numel;
    return values;
}

static void read_samples(variant *v)
{
    char             *path = t_path(v->dir, "input.safetensors");
    hone_safetensors *file;
    int64_t           n;

    T_OK(hone_safetensors_open(&file, path));
    for (int64_t k = 0; k < SAMPLES && (v->ids[k] = take(file, "tokens", k, &n)); k++) {
        v->labels[k] = take(file, "labels", k, &n);
        assert_non_null(v->labels[k]);
        v->views[k] = (hone_sample_view){ v->ids[k], v->labels[k], n, (uint32_t)k };
        v->longest = n > v->views[v->longest].n ? k : v->longest;
        v->tokens += n;
        v->samples++;
    }
    assert_true(v->samples >= 4);
    hone_safetensors_close(&file);
    hone_free(path);
}

static void open_variant(variant *v)
{
    read_samples(v);
    for (int i = 0; i < THREADS; i++) {
        v->ctx[i] = t_ctx(i + 1);
        v->live[i] = hone_device_get_stats(v->ctx[i]->device).live;
        T_OK(hone_model_load(&v->loaded[i], v->ctx[i], v->dir,
                             &(hone_load_options){ v->dtype, HONE_PARAMS_GRADIENT, v->dropout }));
        v->ctx[i]->training = true;
        hone_ctx_seed_dropout(v->ctx[i], 1, 2);
    }
}

static void close_variant(variant *v)
{
    for (int i = 0; i < THREADS; i++) {
        hone_loaded_destroy(&v->loaded[i]);
        hone_storage_release(&v->ctx[i]->scratch);
        expect(v, hone_device_get_stats(v->ctx[i]->device).live == v->live[i], "memory did not come back");
        hone_ctx_destroy(&v->ctx[i]);
    }
    for (int64_t k = 0; k < v->samples; k++) {
        hone_free(v->ids[k]);
        hone_free(v->labels[k]);
    }
}

static hone_batch *batch_of(const variant *v, int i, const hone_sample_view *views, int64_t n)
{
    hone_batch *b;

    T_OK(hone_batch_create(&b, v->ctx[i], views, n, v->loaded[i]->model->vocab, NULL));
    return b;
}

/* Loss and gradients of these samples. */
static float *gradients(const variant *v, int i, const hone_sample_view *views, int64_t n, bool recompute, bool accumulate,
                        double *loss, size_t *numel)
{
    hone_model *m = v->loaded[i]->model;
    hone_batch *b = batch_of(v, i, views, n);

    *loss = t_run(v->ctx[i], m, b, recompute, 1.0 / (double)v->tokens, accumulate);
    hone_params_finish_grads(m->params);
    hone_batch_destroy(&b);
    return t_gradients(m, numel);
}

/* Logits [tokens, vocab] of these samples. */
static float *logits_of(const variant *v, const hone_sample_view *views, int64_t n)
{
    const hone_trunk_options o = { 0 };
    hone_ctx                *ctx = v->ctx[1];
    const hone_model        *m = v->loaded[1]->model;
    hone_batch              *b = batch_of(v, 1, views, n);
    float                   *all = hone_calloc((size_t)(b->tokens * m->vocab), sizeof *all);
    hone_tensor             *logits;

    hone_scope_open(ctx);
    logits = hone_trunk_logits(ctx, m, hone_trunk_hidden(ctx, m, b, &o));
    T_OK(ctx->status);
    memcpy(all, hone_tensor_data(logits), hone_tensor_bytes(logits));
    hone_scope_close(ctx, NULL, 0);
    hone_batch_destroy(&b);
    return all;
}

static bool same(const float *a, const float *b, int64_t n) { return memcmp(a, b, (size_t)n * sizeof *a) == 0; }

/* |a - b| / |b| over all elements. */
static double distance(const float *a, const float *b, size_t n)
{
    double diff = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        diff += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
        norm += (double)b[i] * b[i];
    }
    return sqrt(diff / norm);
}

static void bits_depend_on_neither_threads_nor_recompute(variant *v)
{
    static const struct { int threads; bool recompute; const char *what; } runs[] = {
        { 0, true, "recompute changes the loss or a gradient" }, { 1, false, "two threads change the loss or a gradient" },
        { 2, false, "three threads change the loss or a gradient" },
        { 2, true, "recompute with three threads changes the loss or a gradient" } };
    double loss, other;
    size_t n, k;
    float *base = gradients(v, 0, v->views, v->samples, false, false, &loss, &n);

    expect(v, isfinite(loss) && loss > 0, "the loss is no positive number");
    for (size_t r = 0; r < HONE_COUNTOF(runs); r++) {
        float *g = gradients(v, runs[r].threads, v->views, v->samples, runs[r].recompute, false, &other, &k);

        expect(v, other == loss && k == n && same(g, base, (int64_t)n), runs[r].what);
        hone_free(g);
    }
    hone_free(base);
}

static void logits_depend_on_no_company(variant *v)
{
    const int64_t    vocab = v->loaded[1]->model->vocab;
    hone_sample_view turned[SAMPLES];
    float           *pack = logits_of(v, v->views, v->samples), *other;
    int64_t          at = 0, back = v->tokens;

    for (int64_t k = 0; k < v->samples; k++)
        turned[k] = v->views[v->samples - 1 - k];
    other = logits_of(v, turned, v->samples);
    for (int64_t k = 0; k < v->samples; k++) {
        float  *alone = logits_of(v, &v->views[k], 1);
        int64_t n = v->views[k].n;

        back -= n;
        expect(v, same(alone, pack + at * vocab, n * vocab), "a sample's logits alone are not those among others");
        expect(v, same(alone, other + back * vocab, n * vocab), "a sample's logits depend on its place");
        at += n;
        hone_free(alone);
    }
    hone_free(pack);
    hone_free(other);
}

/* The longest sample's token in the middle is another one: what may change is this sample from there on. */
static void nothing_leaks(variant *v)
{
    const int64_t vocab = v->loaded[1]->model->vocab, changed = v->views[v->longest].n / 2;
    int32_t      *token = &v->ids[v->longest][changed];
    int64_t       start = 0, end;
    double        loss;
    size_t        n;
    float        *before = logits_of(v, v->views, v->samples), *after, *g, *h;

    for (int64_t k = 0; k < v->longest; k++)
        start += v->views[k].n;
    end = start + v->views[v->longest].n;
    v->views[v->longest].labels = NULL;
    g = gradients(v, 1, v->views, v->samples, false, false, &loss, &n);
    *token = (*token + 1) % (int32_t)vocab;
    after = logits_of(v, v->views, v->samples);
    h = gradients(v, 1, v->views, v->samples, false, false, &loss, &n);
    *token = (*token + (int32_t)vocab - 1) % (int32_t)vocab;
    v->views[v->longest].labels = v->labels[v->longest];

    expect(v, same(before, after, (start + changed) * vocab), "a token changes what stands before it");
    expect(v, same(before + end * vocab, after + end * vocab, (v->tokens - end) * vocab), "a token changes another sample");
    expect(v, !same(before + (start + changed) * vocab, after + (start + changed) * vocab, vocab), "a token changes nothing");
    expect(v, same(g, h, (int64_t)n), "a sample without labels changes a gradient");
    hone_free(before);
    hone_free(after);
    hone_free(g);
    hone_free(h);
}

/* All samples in one micro-batch, or each in its own: the same but for the order of additions. */
static void micro_batches_add_up(variant *v)
{
    double whole, parts = 0, loss;
    size_t n;
    float *a = gradients(v, 0, v->views, v->samples, false, false, &whole, &n), *b = NULL;

    for (int64_t k = 0; k < v->samples; k++) {
        hone_free(b);
        b = gradients(v, 0, &v->views[k], 1, false, k > 0, &loss, &n);
        parts += loss;
    }
    expect(v, fabs(whole - parts) <= 1e-6 * whole, "the losses of micro-batches do not add up");
    expect(v, distance(b, a, n) <= 1e-6, "the gradients of micro-batches do not add up");
    hone_free(a);
    hone_free(b);
}

/* The longest sample, a prompt of a third of it and then token by token, has the logits of a whole forward pass; where frequencies
 * depend on a sample's length, so long as they are the plain ones. */
static void a_cache_gives_the_same(variant *v)
{
    const hone_trunk_options o = { 0 };
    hone_sample_view         whole = v->views[v->longest];
    hone_ctx                *ctx = v->ctx[1];
    const hone_model        *m = v->loaded[1]->model;
    float                   *want, *got = hone_calloc((size_t)(whole.n * m->vocab), sizeof *got);
    hone_kv_cache           *cache;

    if (m->rope_length > 0)
        whole.n = HONE_MIN(whole.n, m->rope_length);
    want = logits_of(v, &whole, 1);
    T_OK(hone_kv_cache_create(&cache, ctx, m->blocks));
    for (int64_t n = whole.n / 3; cache->length < whole.n; n = 1) {
        hone_sample_view next = { whole.ids + cache->length, NULL, n, whole.id };
        hone_batch      *b;
        hone_tensor     *logits;

        T_OK(hone_batch_create(&b, ctx, &next, 1, m->vocab, cache));
        hone_scope_open(ctx);
        logits = hone_trunk_logits(ctx, m, hone_trunk_hidden(ctx, m, b, &o));
        T_OK(ctx->status);
        memcpy(got + cache->length * m->vocab, hone_tensor_data(logits), hone_tensor_bytes(logits));
        hone_scope_close(ctx, NULL, 0);
        hone_batch_destroy(&b);
        cache->length += n;
    }
    expect(v, same(got, want, whole.n * m->vocab), "logits with a cache are not those of a whole forward pass");
    hone_kv_cache_destroy(&cache);
    hone_free(want);
    hone_free(got);
}

/* The most probable token after the first n of the longest sample, by a whole forward pass. */
static int32_t most_probable(const variant *v, int64_t n)
{
    const int64_t    vocab = v->loaded[1]->model->vocab;
    hone_sample_view part = { v->ids[v->longest], NULL, n, 0 };
    float           *all = logits_of(v, &part, 1), *last = all + (n - 1) * vocab;
    int32_t          best = 0;

    for (int32_t i = 1; i < vocab; i++)
        best = last[i] > last[best] ? i : best;
    hone_free(all);
    return best;
}

static void expect_next(variant *v, hone_generator *g, int64_t n, const char *promise)
{
    hone_rng rng = hone_rng_make(1, 1);
    int32_t  id;

    T_OK(hone_generator_next(g, &id, 0, &rng));
    expect(v, id == most_probable(v, n), promise);
    v->ids[v->longest][n] = id;
}

/* Where frequencies change past a length, a text may pass it while it is generated (not with dynamic ones, as in the reference:
 * nn/generate.h), and prompts on either side may follow one another. The sample's ids are lost. */
static void texts_pass_the_original_context(variant *v)
{
    const hone_model *m = v->loaded[1]->model;
    const int64_t     length = m->rope_length, n[] = { length - 2, length + 2, length - 3, length, length + 1, length - 1 };
    int32_t          *ids = v->ids[v->longest];
    hone_generator   *g;

    if (length == 0)
        return;
    assert_true(n[2] > 0 && n[0] <= v->views[v->longest].n);
    T_OK(hone_generator_create(&g, v->ctx[1], m));
    for (size_t i = 0; i < HONE_COUNTOF(n); i++) {
        T_OK(hone_generator_prompt(g, ids, n[i]));
        expect_next(v, g, n[i], "a prompt's next token is not that of a whole forward pass");
        for (int64_t k = 1; k <= 3 && (m->rope_steps || n[i] + k <= length); k++)
            expect_next(v, g, n[i] + k, "a token past the original context is not that of a whole forward pass");
    }
    hone_generator_destroy(&g);
}

static void check_variant(variant *v)
{
    open_variant(v);
    a_cache_gives_the_same(v);
    bits_depend_on_neither_threads_nor_recompute(v);
    logits_depend_on_no_company(v);
    nothing_leaks(v);
    micro_batches_add_up(v);
    texts_pass_the_original_context(v);
    close_variant(v);
}

static void check_family(void **state)
{
    const t_family *f = *state;
    int             failures = 0;

    for (size_t i = 0; i < f->n; i++)
        for (int dtype = HONE_DTYPE_F32; dtype <= HONE_DTYPE_BF16; dtype++)
            for (int drops = 0; drops <= 1; drops++) {
                variant v = { .dir = f->variants[i], .dtype = (hone_dtype)dtype, .dropout = drops ? 0.2 : 0 };

                check_variant(&v);
                failures += v.failures;
            }
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
    return t_run_families("promises", check_family, argc, argv);
}
