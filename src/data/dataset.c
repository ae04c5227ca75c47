/* Data sets: the samples and their counts. */
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "data/dataset_int.h"

/* ---- the object ---- */

hone_status dataset_create(hone_dataset **out, const hone_sources *sources)
{
    hone_dataset *d = hone_calloc(1, sizeof *d);

    *out = d;
    if (!d)
        return HONE_E_NOMEM;
    d->report.max_id = -1;
    for (size_t i = 0; i < sources->len; i++) {
        char *path = hone_strdup(sources->data[i].path);

        if (!path || HONE_VEC_PUSH(&d->sources, path) != HONE_OK) {
            hone_free(path);
            return HONE_E_NOMEM;
        }
    }
    return HONE_OK;
}

void hone_dataset_destroy(hone_dataset **dataset)
{
    hone_dataset *d = *dataset;

    if (!d)
        return;
    for (size_t i = 0; i < d->sources.len; i++)
        hone_free(d->sources.data[i]);
    for (size_t i = 0; i < d->notes.len; i++)
        hone_free(d->notes.data[i].why);
    HONE_VEC_DEINIT(&d->ids);
    HONE_VEC_DEINIT(&d->labels);
    HONE_VEC_DEINIT(&d->samples);
    HONE_VEC_DEINIT(&d->sources);
    HONE_VEC_DEINIT(&d->notes);
    hone_free(d);
    *dataset = NULL;
}

int64_t hone_dataset_len(const hone_dataset *d) { return (int64_t)d->samples.len; }

hone_sample hone_dataset_at(const hone_dataset *d, int64_t i)
{
    const dataset_entry *e = &d->samples.data[i];

    return (hone_sample){
        d->ids.data + e->begin, d->labels.data + e->begin, e->n, e->supervised, e->source, e->row, e->line
    };
}

const hone_dataset_report *hone_dataset_get_report(const hone_dataset *d) { return &d->report; }
const char *hone_dataset_source_path(const hone_dataset *d, int32_t source) { return d->sources.data[source]; }

void hone_dataset_fingerprint(const hone_dataset *d, char hex[33])
{
    XXH3_state_t *state = XXH3_createState();
    XXH128_hash_t h;

    HONE_ASSERT(state);
    XXH3_128bits_reset(state);
    for (size_t i = 0; i < d->samples.len; i++)
        XXH3_128bits_update(state, &d->samples.data[i].n, sizeof d->samples.data[i].n);
    XXH3_128bits_update(state, d->ids.data, d->ids.len * sizeof *d->ids.data);
    XXH3_128bits_update(state, d->labels.data, d->labels.len * sizeof *d->labels.data);
    h = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    snprintf(hex, 33, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
}

hone_status hone_dataset_check_ids(const hone_dataset *d, int64_t vocab)
{
    if (d->report.max_id < vocab)
        return HONE_OK;
    for (size_t i = 0; i < d->samples.len; i++) {
        const dataset_entry *e = &d->samples.data[i];

        for (int64_t t = 0; t < e->n; t++) {
            bool    label = d->ids.data[e->begin + t] < vocab;
            int32_t id = label ? d->labels.data[e->begin + t] : d->ids.data[e->begin + t];

            HONE_CHECK(id < vocab, HONE_E_DATA,
                       "%s, line %lld: %s %d of token %lld is beyond the model's vocabulary of %lld; the row "
                       "was tokenised for another model",
                       d->sources.data[e->source], (long long)e->line, label ? "label" : "id", id, (long long)t,
                       (long long)vocab);
        }
    }
    return HONE_OK;
}

/* ---- adding rows ---- */

hone_status dataset_note(hone_dataset *d, dataset_place p, hone_row_fate fate, int64_t tokens, const char *why)
{
    char *copy = hone_strdup(why);

    if (!copy)
        return HONE_E_NOMEM;
    d->report.fates[fate]++;
    if (HONE_VEC_PUSH(&d->notes, (hone_row_note){ p.source, p.row, p.line, fate, tokens, (int64_t)d->samples.len, copy }) != HONE_OK) {
        hone_free(copy);
        return HONE_E_NOMEM;
    }
    return HONE_OK;
}

static int64_t count_supervised(const int32_t *labels, int64_t n)
{
    int64_t count = 0;

    for (int64_t t = 1; t < n; t++)     /* nothing predicts the first token */
        count += labels[t] >= 0;
    return count;
}

static hone_status add_sample(hone_dataset *d, const int32_t *ids, const int32_t *labels, int64_t n, dataset_place p)
{
    dataset_entry e = { (int64_t)d->ids.len, n, count_supervised(labels, n), p.row, p.line, p.source };

    HONE_TRY(HONE_VEC_RESERVE(&d->ids, (size_t)n));
    HONE_TRY(HONE_VEC_RESERVE(&d->labels, (size_t)n));
    if (n) {
        memcpy(d->ids.data + d->ids.len, ids, (size_t)n * sizeof *ids);
        memcpy(d->labels.data + d->labels.len, labels, (size_t)n * sizeof *labels);
    }
    d->ids.len += (size_t)n;
    d->labels.len += (size_t)n;
    for (int64_t t = 0; t < n; t++)
        d->report.max_id = HONE_MAX(d->report.max_id, HONE_MAX(ids[t], labels[t]));
    d->report.tokens_kept += n;
    d->report.supervised += e.supervised;
    d->report.longest = HONE_MAX(d->report.longest, n);
    return HONE_VEC_PUSH(&d->samples, e);
}

hone_status dataset_place_row(hone_dataset *d, const hone_options *o, const hone_row_result *r, dataset_place place)
{
    int64_t n = (int64_t)r->ids.len, keep = n, skip = 0;
    char    why[96];

    d->report.tokens_in += n;
    d->report.reasoning_removed += r->reasoning_removed;
    d->report.lists_printed += r->list_printed;
    if (dataset_is_stream(o)) {     /* whatever its length: it is cut with its neighbours */
        d->report.fates[HONE_ROW_KEPT]++;
        return add_sample(d, r->ids.data, r->labels.data, n, place);
    }
    if (n > o->cutoff_len) {
        snprintf(why, sizeof why, "%lld tokens, cutoff_len is %lld", (long long)n, (long long)o->cutoff_len);
        if (o->truncation == HONE_TRUNCATION_DROP || o->truncation == HONE_TRUNCATION_ERROR) {
            d->report.tokens_dropped += n;
            return dataset_note(d, place, HONE_ROW_TOO_LONG, n, why);
        }
        keep = o->cutoff_len;
        skip = o->truncation == HONE_TRUNCATION_CUT_LEFT ? n - keep : 0;
    }
    if (keep == 0 || count_supervised(r->labels.data + skip, keep) == 0) {
        d->report.tokens_dropped += n;
        return dataset_note(d, place, HONE_ROW_UNSUPERVISED, n, keep < n ? "no token with a loss is left after the cut"
                                                                         : "no token has a loss");
    }
    if (keep < n) {
        HONE_TRY(dataset_note(d, place, HONE_ROW_CUT, n, why));
        d->report.tokens_cut += n - keep;
    } else {
        d->report.fates[HONE_ROW_KEPT]++;
    }
    return add_sample(d, r->ids.data + skip, r->labels.data + skip, keep, place);
}

/* ---- continued pre-training: one stream, cut into blocks ---- */

hone_status dataset_cut_stream(hone_dataset *d, int64_t length)
{
    int64_t     total = (int64_t)d->ids.len;
    size_t      document = 0;
    HONE_VEC(dataset_entry) blocks = { NULL, 0, 0 };
    hone_status st = HONE_OK;

    d->report.supervised = 0;
    d->report.longest = 0;
    for (int64_t begin = 0; begin < total; begin += HONE_MIN(length, total - begin)) {
        int64_t       n = HONE_MIN(length, total - begin);
        dataset_entry e;

        while (d->samples.data[document].begin + d->samples.data[document].n <= begin)
            document++;
        e = d->samples.data[document];      /* a block is named after the document that it starts in */
        e.begin = begin;
        e.n = n;
        e.supervised = count_supervised(d->labels.data + begin, n);
        if (e.supervised == 0) {            /* a single token at the end predicts nothing */
            d->report.tokens_kept -= n;
            d->report.tokens_dropped += n;
            continue;
        }
        d->report.supervised += e.supervised;
        d->report.longest = HONE_MAX(d->report.longest, n);
        HONE_GO(HONE_VEC_PUSH(&blocks, e));
    }
    d->samples.len = 0;
    HONE_GO(HONE_VEC_RESERVE(&d->samples, blocks.len));
    if (blocks.len)
        memcpy(d->samples.data, blocks.data, blocks.len * sizeof *blocks.data);
    d->samples.len = blocks.len;
out:
    HONE_VEC_DEINIT(&blocks);
    return st;
}
