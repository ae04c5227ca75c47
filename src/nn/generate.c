#include "nn/generate.h"

#include <math.h>
#include <string.h>

#include "op/scope.h"

struct hone_generator {
    hone_ctx         *ctx;
    const hone_model *model;
    hone_kv_cache    *cache;
    hone_vec_i32      ids;          /* the context; the cache holds its first cache->length tokens */
    int64_t           rotated;      /* length of the context when the cache was last written */
    double           *probabilities;/* [vocab] */
};

hone_status hone_generator_create(hone_generator **out, hone_ctx *ctx, const hone_model *model)
{
    hone_status     st = HONE_OK;
    hone_generator *g = hone_calloc(1, sizeof *g);

    *out = NULL;
    if (!g)
        return HONE_E_NOMEM;
    g->ctx = ctx;
    g->model = model;
    g->probabilities = hone_calloc((size_t)model->vocab, sizeof *g->probabilities);
    HONE_GO(g->probabilities ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(hone_kv_cache_create(&g->cache, ctx, model->blocks));
out:
    if (st != HONE_OK)
        hone_generator_destroy(&g);
    *out = g;
    return st;
}

void hone_generator_destroy(hone_generator **generator)
{
    hone_generator *g = *generator;

    if (!g)
        return;
    hone_kv_cache_destroy(&g->cache);
    HONE_VEC_DEINIT(&g->ids);
    hone_free(g->probabilities);
    hone_free(g);
    *generator = NULL;
}

/* Positions of the longest context. */
static int64_t limit(const hone_generator *g) { return g->model->max_positions > 0 ? g->model->max_positions : INT32_MAX; }

int64_t hone_generator_room(const hone_generator *g) { return limit(g) - (int64_t)g->ids.len; }

/* Whether the cache's keys are rotated as in a context of n tokens. */
static bool keys_hold(const hone_generator *g, int64_t n)
{
    int64_t length = g->model->rope_length;

    return length == 0 || HONE_MAX(g->rotated, n) <= length || (g->model->rope_steps && HONE_MIN(g->rotated, n) > length);
}

hone_status hone_generator_prompt(hone_generator *g, const int32_t *ids, int64_t n)
{
    int64_t same = 0, shared = 0;

    HONE_CHECK(n > 0, HONE_E_DATA, "the prompt has no token");
    HONE_CHECK(n < limit(g), HONE_E_DATA, "the prompt has %lld tokens, but the model has %lld positions, and one is for the answer",
               (long long)n, (long long)limit(g));
    for (int64_t i = 0; i < n; i++)
        HONE_CHECK(ids[i] >= 0 && ids[i] < g->model->vocab, HONE_E_DATA,
                   "id %d at token %lld is beyond the model's %lld rows; the tokenizer is another model's", ids[i], (long long)i, (long long)g->model->vocab);
    if (keys_hold(g, n))
        shared = HONE_MIN(n - 1, HONE_MIN(g->cache->length, (int64_t)g->ids.len));
    while (same < shared && g->ids.data[same] == ids[same])
        same++;     /* at least the last token is computed: its logits are wanted */
    g->cache->length = same;
    g->ids.len = 0;
    HONE_TRY(HONE_VEC_RESERVE(&g->ids, (size_t)n));
    memcpy(g->ids.data, ids, (size_t)n * sizeof *ids);
    g->ids.len = (size_t)n;
    return HONE_OK;
}

static int32_t choose(hone_generator *g, const void *logits, bool f64, double temperature, hone_rng *rng)
{
    int64_t n = g->model->vocab;
    int32_t best = 0;
    double  sum = 0, left;

    for (int64_t i = 0; i < n; i++) {
        g->probabilities[i] = f64 ? ((const double *)logits)[i] : (double)((const float *)logits)[i];
        if (!isfinite(g->probabilities[i]))
            return -1;
        if (g->probabilities[i] > g->probabilities[best])
            best = (int32_t)i;
    }
    if (temperature <= 0)
        return best;
    left = g->probabilities[best];
    for (int64_t i = 0; i < n; i++)
        sum += g->probabilities[i] = exp((g->probabilities[i] - left) / temperature);
    left = hone_rng_f64(rng) * sum;
    for (int64_t i = 0; i < n; i++)
        if ((left -= g->probabilities[i]) < 0)
            return (int32_t)i;
    return best;
}

/* Run the tokens the cache lacks; the logits of the last one choose. */
static hone_status run(hone_generator *g, int32_t *id, double temperature, hone_rng *rng)
{
    const hone_trunk_options trunk = { 0 };
    hone_ctx                *ctx = g->ctx;
    int64_t                  total = (int64_t)g->ids.len, past, n, hidden = g->model->hidden;
    hone_sample_view         view;
    hone_batch              *batch;
    hone_tensor             *h, *last, *logits;

    if (g->model->rope_steps && !keys_hold(g, total))
        g->cache->length = 0;       /* the one step past the original context */
    past = g->cache->length;
    n = total - past;
    view = (hone_sample_view){ g->ids.data + past, NULL, n, 0 };
    HONE_TRY(hone_batch_create(&batch, ctx, &view, 1, g->model->vocab, g->cache));
    hone_scope_open(ctx);
    h = hone_trunk_hidden(ctx, g->model, batch, &trunk);
    last = ctx->status == HONE_OK ? hone_scope_adopt(ctx, hone_tensor_view(h, (n - 1) * hidden, 2, (int64_t[]){ 1, hidden })) : h;
    logits = hone_trunk_logits(ctx, g->model, last);
    *id = ctx->status == HONE_OK ? choose(g, hone_tensor_data(logits), logits->dtype == HONE_DTYPE_F64, temperature, rng) : -1;
    hone_scope_close(ctx, NULL, 0);
    hone_batch_destroy(&batch);
    if (ctx->status != HONE_OK)
        return ctx->status;
    g->cache->length = g->rotated = total;
    return HONE_OK;
}

hone_status hone_generator_next(hone_generator *g, int32_t *id, double temperature, hone_rng *rng)
{
    HONE_CHECK(hone_generator_room(g) > 0, HONE_E_DATA, "the context is full: %lld tokens", (long long)limit(g));
    HONE_TRY(run(g, id, temperature, rng));
    HONE_CHECK(*id >= 0, HONE_E_NUMERIC, "the model's logits are not finite: its weights are broken");
    return HONE_VEC_PUSH(&g->ids, *id);
}
