/* Data sets: the samples and their counts. */
#include "data/dataset.h"

#include <stdio.h>
#include <string.h>

#include "data/dataset_int.h"
#include "data/reader.h"

/* ---- the object ---- */

hone_status dataset_add_set(hone_dataset *d, const char *name)
{
    char *copy = hone_strdup(name);

    if (copy && HONE_VEC_PUSH(&d->sets, copy) == HONE_OK)
        return HONE_OK;
    hone_free(copy);
    return HONE_E_NOMEM;
}

hone_status dataset_add_file(hone_dataset *d, const char *path, int32_t set)
{
    char *copy = hone_strdup(path);

    if (copy && HONE_VEC_PUSH(&d->files, (dataset_file){ copy, set }) == HONE_OK)
        return HONE_OK;
    hone_free(copy);
    return HONE_E_NOMEM;
}

void hone_dataset_destroy(hone_dataset **dataset)
{
    hone_dataset *d = *dataset;

    if (!d)
        return;
#define CLOSE_(name, type) hone_column_close(&d->name);
    DATASET_COLUMNS(CLOSE_)
#undef CLOSE_
    for (size_t i = 0; i < d->files.len; i++)
        hone_free(d->files.data[i].path);
    for (size_t i = 0; i < d->sets.len; i++)
        hone_free(d->sets.data[i]);
    HONE_VEC_DEINIT(&d->files);
    HONE_VEC_DEINIT(&d->sets);
    HONE_VEC_DEINIT(&d->ends);
    hone_hasher_finish(NULL, &d->lengths);
    hone_hasher_finish(NULL, &d->tokens);
    hone_hasher_finish(NULL, &d->answers);
    hone_hasher_finish(NULL, &d->entries);
    hone_free(d);
    *dataset = NULL;
}

int64_t hone_dataset_len(const hone_dataset *d) { return d->samples.len; }

hone_sample hone_dataset_at(const hone_dataset *d, int64_t i)
{
    const dataset_entry *e = dataset_entry_at(d, i);
    const int32_t       *ids = (const int32_t *)d->ids.data + e->begin, *labels = (const int32_t *)d->labels.data + e->begin;
    bool                 pair = e->rejected_n > 0;

    return (hone_sample){ .ids = ids, .labels = labels, .n = e->n, .supervised = e->supervised,
                          .rejected_ids = pair ? ids + e->n : NULL, .rejected_labels = pair ? labels + e->n : NULL,
                          .rejected_n = e->rejected_n, .desirable = e->desirable, .source = e->source, .row = e->row,
                          .line = e->line, .id = i };
}

const hone_dataset_report *hone_dataset_get_report(const hone_dataset *d) { return &d->report; }
const char *hone_dataset_source_path(const hone_dataset *d, int32_t source) { return d->files.data[source].path; }
int32_t hone_dataset_source_set(const hone_dataset *d, int32_t source) { return d->files.data[source].set; }
int32_t hone_dataset_set_count(const hone_dataset *d) { return (int32_t)d->sets.len; }
const char *hone_dataset_set_name(const hone_dataset *d, int32_t set) { return d->sets.data[set]; }
void hone_dataset_fingerprint(const hone_dataset *d, char hex[33]) { memcpy(hex, d->fingerprint.hex, 33); }

hone_row_note hone_dataset_note(const hone_dataset *d, int64_t i)
{
    const dataset_note_entry *e = (const dataset_note_entry *)d->notes.data + i;

    return (hone_row_note){ .source = e->source, .row = e->row, .line = e->line, .fate = (hone_row_fate)e->fate,
                            .tokens = e->tokens, .before = e->before, .why = (const char *)d->reasons.data + e->why };
}

/* Tokens that the named template added have no row in the embedding, unless there is room for them. */
static hone_status check_added(const hone_dataset_context *c, int32_t max, int64_t vocab)
{
    size_t         n = 0;
    const int32_t *added = c->slots ? hone_slots_added(c->slots, &n) : NULL;

    for (size_t i = 0; i < n; i++)
        HONE_CHECK(added[i] != max, HONE_E_DATA, "template: %s uses the token %s, which the tokenizer of %s lacks: added, it "
                   "would have the id %d, and the model has %lld rows of embeddings. Use a template that the model knows, or "
                   "leave template out for the model's own", hone_slots_name(c->slots), hone_tokenizer_content(c->tokenizer, max),
                   c->model_dir, max, (long long)vocab);
    return HONE_OK;
}

hone_status hone_dataset_check_ids(const hone_dataset *d, const hone_dataset_context *c, int64_t vocab)
{
    if (d->report.max_id < vocab)
        return HONE_OK;
    HONE_TRY(check_added(c, d->report.max_id, vocab));
    for (int64_t i = 0; i < d->samples.len; i++) {
        const dataset_entry *e = dataset_entry_at(d, i);

        for (int64_t t = e->begin; t < e->begin + e->n + e->rejected_n; t++) {
            const int32_t *ids = d->ids.data, *labels = d->labels.data;
            bool           label = ids[t] < vocab;

            HONE_CHECK((label ? labels[t] : ids[t]) < vocab, HONE_E_DATA,
                       "%s, %s: %s %d of token %lld is beyond the model's vocabulary of %lld; the row "
                       "was tokenised for another model, or uses a token that was added to the tokenizer",
                       hone_dataset_source_path(d, e->source), hone_row_place_of(e->row, e->line).text, label ? "label" : "id",
                       label ? labels[t] : ids[t], (long long)(t - e->begin), (long long)vocab);
        }
    }
    return HONE_OK;
}
