#include "nn/batch.h"

#include <string.h>

#include "op/scope.h"

static hone_status batch_arrays(hone_batch *b)
{
    size_t   t = (size_t)b->tokens, s = (size_t)b->samples;
    int32_t *p = hone_calloc(4 * t + 3 * s + 2, sizeof *p);

    if (!p)
        return HONE_E_NOMEM;
    b->ids = p;                     /* one allocation holds all of them */
    b->positions = b->ids + t;
    b->token_samples = b->positions + t;
    b->labels = b->token_samples + t;
    b->cu = b->labels + t;
    b->cu_keys = b->cu + s + 1;
    b->sample_ids = b->cu_keys + s + 1;
    b->weights = hone_calloc(t, sizeof *b->weights);
    return b->weights ? HONE_OK : HONE_E_NOMEM;
}

static hone_status fill_sample(hone_batch *b, const hone_sample_view *s, int64_t index, int64_t start, int64_t past,
                               int64_t vocab)
{
    for (int64_t i = 0; i < s->n; i++) {
        int64_t t = start + i;

        HONE_CHECK(s->ids[i] >= 0 && s->ids[i] < vocab, HONE_E_DATA,
                   "token %lld of sample %u is id %d, but the model's embedding has %lld rows; the data was tokenised for "
                   "another model", (long long)i, s->id, s->ids[i], (long long)vocab);
        b->ids[t] = s->ids[i];
        b->positions[t] = (int32_t)(past + i);
        b->token_samples[t] = (int32_t)s->id;
        b->labels[t] = s->labels && i + 1 < s->n ? s->labels[i + 1] : -100;
        HONE_CHECK(b->labels[t] == -100 || (b->labels[t] >= 0 && b->labels[t] < vocab), HONE_E_DATA,
                   "label %lld of sample %u is %d, but the model's head has %lld rows (-100 means no label)", (long long)i + 1, s->id, b->labels[t], (long long)vocab);
        b->weights[t] = 1;
        b->predicted += b->labels[t] >= 0;
    }
    b->cu[index + 1] = (int32_t)(start + s->n);
    b->cu_keys[index + 1] = (int32_t)(start + s->n + past);
    b->sample_ids[index] = (int32_t)s->id;
    return HONE_OK;
}

hone_status hone_batch_create(hone_batch **out, hone_ctx *ctx, const hone_sample_view *samples, int64_t n, int64_t vocab,
                              hone_kv_cache *cache)
{
    hone_status st = HONE_OK;
    hone_batch *b = hone_calloc(1, sizeof *b);
    int64_t     start = 0;

    *out = NULL;
    if (!b)
        return HONE_E_NOMEM;
    HONE_ASSERT(!cache || n == 1);
    b->ctx = ctx;
    b->cache = cache;
    b->samples = n;
    for (int64_t i = 0; i < n; i++)
        b->tokens += samples[i].n;
    HONE_GO(batch_arrays(b));
    for (int64_t i = 0; i < n; i++) {
        HONE_GO(fill_sample(b, &samples[i], i, start, cache ? cache->length : 0, vocab));
        start += samples[i].n;
    }
out:
    if (st != HONE_OK)
        hone_batch_destroy(&b);
    *out = b;
    return st;
}

void hone_batch_destroy(hone_batch **batch)
{
    hone_batch *b = *batch;

    if (!b)
        return;
    for (size_t i = 0; i < b->ropes.len; i++) {
        hone_tensor_release(&b->ropes.data[i].cos);
        hone_tensor_release(&b->ropes.data[i].sin);
    }
    HONE_VEC_DEINIT(&b->ropes);
    hone_free(b->ids);
    hone_free(b->weights);
    hone_free(b);
    *batch = NULL;
}

int64_t hone_batch_sample_length(const hone_batch *b, int64_t s) { return b->cu_keys[s + 1] - b->cu_keys[s]; }

hone_status hone_kv_cache_create(hone_kv_cache **out, hone_ctx *ctx, int layers)
{
    hone_kv_cache *c = hone_calloc(1, sizeof *c);

    *out = NULL;
    if (!c)
        return HONE_E_NOMEM;
    c->ctx = ctx;
    c->layers = layers;
    c->k = hone_calloc(2 * (size_t)layers, sizeof(hone_tensor *));
    if (!c->k) {
        hone_free(c);
        return HONE_E_NOMEM;
    }
    c->v = c->k + layers;
    *out = c;
    return HONE_OK;
}

void hone_kv_cache_destroy(hone_kv_cache **cache)
{
    hone_kv_cache *c = *cache;

    if (!c)
        return;
    for (int i = 0; i < 2 * c->layers; i++)
        hone_tensor_release(&c->k[i]);
    hone_free(c->k);
    hone_free(c);
    *cache = NULL;
}

/* Give *slot room for `rows`: at least twice as many as before, so that each row is moved a bounded number of times. */
static hone_status grow(hone_ctx *ctx, hone_tensor **slot, hone_dtype dtype, int64_t rows, int64_t width, int64_t used)
{
    int64_t      have = *slot ? (*slot)->dims[0] : 0;
    hone_tensor *larger;

    if (rows <= have)
        return HONE_OK;
    larger = hone_tensor_create(ctx->device, dtype, 2, (int64_t[]){ HONE_MAX(rows, 2 * have), width });
    if (!larger)
        return HONE_E_NOMEM;
    if (*slot)
        memcpy(hone_tensor_data(larger), hone_tensor_data(*slot), (size_t)(used * width) * hone_dtype_bytes(dtype));
    hone_tensor_release(slot);
    *slot = larger;
    return HONE_OK;
}

static hone_tensor *append_one(hone_ctx *ctx, const hone_batch *b, hone_tensor **slot, hone_tensor *fresh)
{
    int64_t width = hone_tensor_cols(fresh), past = b->cache->length, used = past + b->tokens;

    if (grow(ctx, slot, fresh->dtype, used, width, past) != HONE_OK)
        return hone_scope_adopt(ctx, NULL);
    memcpy((char *)hone_tensor_data(*slot) + (size_t)(past * width) * hone_dtype_bytes(fresh->dtype), hone_tensor_data(fresh),
           hone_tensor_bytes(fresh));
    return hone_scope_adopt(ctx, hone_tensor_view(*slot, 0, 2, (int64_t[]){ used, width }));
}

void hone_kv_cache_append(hone_ctx *ctx, const hone_batch *b, int layer, hone_tensor **k, hone_tensor **v)
{
    if (ctx->status != HONE_OK)
        return;
    *k = append_one(ctx, b, &b->cache->k[layer], *k);
    *v = append_one(ctx, b, &b->cache->v[layer], *v);
}
