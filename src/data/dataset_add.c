/* Data sets: how rows become samples. */
#include <stdio.h>
#include <string.h>

#include "data/dataset_int.h"

enum { IN_MEMORY = 32 << 20 };      /* bytes of a column beyond which it goes to a file */

static hone_status create_column(hone_column *c, const dataset_sink *sink, const char *name, size_t width)
{
    char       *path;
    hone_status st;

    if (!sink->name)
        return hone_column_temporary(c, width, IN_MEMORY, sink->dir);
    path = hone_asprintf("%s/%s.%s", sink->dir, sink->name, name);
    st = path ? hone_column_create(c, width, path) : HONE_E_NOMEM;
    hone_free(path);
    return st;
}

hone_status dataset_create(hone_dataset **out, const dataset_sink *sink)
{
    hone_dataset *d = hone_calloc(1, sizeof *d);

    *out = d;
    if (!d)
        return HONE_E_NOMEM;
    d->report.max_id = d->report.end_label = -1;
#define CREATE_(name, type) HONE_TRY(create_column(&d->name, sink, #name, sizeof(type)));
    DATASET_COLUMNS(CREATE_)
#undef CREATE_
    HONE_TRY(hone_hasher_create(&d->lengths));
    HONE_TRY(hone_hasher_create(&d->tokens));
    HONE_TRY(hone_hasher_create(&d->entries));
    return hone_hasher_create(&d->answers);
}

hone_status dataset_note(hone_dataset *d, dataset_place p, hone_row_fate fate, int64_t tokens, const char *why)
{
    dataset_note_entry e = { .row = p.row, .line = p.line, .tokens = tokens, .before = d->samples.len,
                             .why = d->reasons.len, .source = p.source, .fate = fate };

    d->report.fates[fate]++;
    HONE_TRY(hone_column_append(&d->reasons, why, strlen(why) + 1));
    return hone_column_append(&d->notes, &e, 1);
}

static int64_t count_supervised(const int32_t *labels, int64_t n)
{
    int64_t count = 0;

    for (int64_t t = 1; t < n; t++)     /* nothing predicts the first token */
        count += labels[t] >= 0;
    return count;
}

/* ---- samples ---- */

static hone_status add_tokens(hone_dataset *d, const int32_t *ids, const int32_t *labels, int64_t n)
{
    int32_t max = d->report.max_id;

    for (int64_t t = 0; t < n; t++)
        max = HONE_MAX(max, HONE_MAX(ids[t], labels[t]));
    d->report.max_id = max;
    hone_hasher_update(d->tokens, ids, (size_t)n * sizeof *ids);
    hone_hasher_update(d->answers, labels, (size_t)n * sizeof *labels);
    HONE_TRY(hone_column_append(&d->ids, ids, (size_t)n));
    return hone_column_append(&d->labels, labels, (size_t)n);
}

/* The tokens are there; `entry` says which are the sample's. */
static hone_status add_entry(hone_dataset *d, const dataset_entry *e)
{
    const int64_t hashed[] = { e->n, e->rejected_n, e->desirable };

    hone_hasher_update(d->lengths, hashed, sizeof hashed);
    hone_hasher_update(d->entries, e, sizeof *e);
    d->report.supervised += e->supervised;
    d->report.longest = HONE_MAX(d->report.longest, HONE_MAX(e->n, e->rejected_n));
    return hone_column_append(&d->samples, e, 1);
}

/* Count the label that a sample ends with. */
static hone_status count_end(hone_dataset *d, const int32_t *labels, int64_t n)
{
    while (n > 0 && labels[n - 1] < 0)
        n--;
    if (n == 0)
        return HONE_OK;
    if ((size_t)labels[n - 1] >= d->ends.len) {
        size_t more = (size_t)labels[n - 1] + 1 - d->ends.len;

        HONE_TRY(HONE_VEC_RESERVE(&d->ends, more));
        memset(d->ends.data + d->ends.len, 0, more * sizeof *d->ends.data);
        d->ends.len += more;
    }
    if (++d->ends.data[labels[n - 1]] > d->report.end_count) {
        d->report.end_count = d->ends.data[labels[n - 1]];
        d->report.end_label = labels[n - 1];
    }
    return HONE_OK;
}

/* A piece of a sequence: `n` tokens from `skip` on. */
typedef struct piece { int64_t skip, n; } piece;

static hone_status add_sample(hone_dataset *d, const hone_row_result *r, piece a, piece b, dataset_place p)
{
    const int32_t *labels = r->labels.data + a.skip;
    dataset_entry  e = { .begin = d->ids.len, .n = a.n, .rejected_n = b.n, .supervised = count_supervised(labels, a.n),
                         .row = p.row, .line = p.line, .source = p.source,
                         .desirable = r->is_feedback ? r->desirable : -1 };

    d->report.tokens_kept += a.n + b.n;
    HONE_TRY(add_tokens(d, r->ids.data + a.skip, labels, a.n));
    HONE_TRY(count_end(d, labels, a.n));
    if (b.n)
        HONE_TRY(add_tokens(d, r->rejected_ids.data + b.skip, r->rejected_labels.data + b.skip, b.n));
    return add_entry(d, &e);
}

/* ---- continued pre-training: one stream, cut into blocks ---- */

static hone_status end_block(hone_dataset *d)
{
    dataset_entry e = d->block;

    d->block = (dataset_entry){ .begin = d->ids.len };
    if (e.supervised > 0)
        return add_entry(d, &e);
    d->report.tokens_kept -= e.n;       /* a single token at the end predicts nothing */
    d->report.tokens_dropped += e.n;
    return HONE_OK;
}

static hone_status add_document(hone_dataset *d, const hone_row_result *r, int64_t length, dataset_place p)
{
    int64_t n = (int64_t)r->ids.len;

    d->report.tokens_kept += n;
    for (int64_t t = 0, part; t < n; t += part) {
        dataset_entry *e = &d->block;

        part = HONE_MIN(length - e->n, n - t);
        if (e->n == 0)                  /* a block is named after the document that it starts in */
            *e = (dataset_entry){ .begin = d->ids.len, .row = p.row, .line = p.line, .source = p.source, .desirable = -1 };
        e->supervised += count_supervised(r->labels.data + t, part) + (e->n > 0 && r->labels.data[t] >= 0);
        e->n += part;
        HONE_TRY(add_tokens(d, r->ids.data + t, r->labels.data + t, part));
        if (e->n == length)
            HONE_TRY(end_block(d));
    }
    return HONE_OK;
}

hone_status dataset_begin_block(hone_dataset *d, const int32_t *ids, const int32_t *labels, int64_t n, dataset_place p)
{
    d->block = (dataset_entry){ .begin = d->ids.len, .n = n, .supervised = count_supervised(labels, n), .row = p.row,
                                .line = p.line, .source = p.source, .desirable = -1 };
    d->block_set = d->files.data[p.source].set;
    return add_tokens(d, ids, labels, n);
}

hone_status dataset_finish_into(hone_dataset *next, hone_dataset *d)
{
    dataset_entry e = d->block;

    d->block.n = 0;
    HONE_TRY(dataset_finish(d));
    if (e.n == 0)
        return HONE_OK;
    return dataset_begin_block(next, (const int32_t *)d->ids.data + e.begin, (const int32_t *)d->labels.data + e.begin, e.n,
                               (dataset_place){ e.source, e.row, e.line });
}

/* ---- rows ---- */

/* Left out: too long, or nothing to learn. */
static hone_status leave_out(hone_dataset *d, dataset_place p, hone_row_fate fate, int64_t tokens, const char *why)
{
    d->report.tokens_dropped += tokens;
    return dataset_note(d, p, fate, tokens, why);
}

/* What `truncation` leaves of a sequence of n tokens. */
static piece cut(const hone_options *o, int64_t n)
{
    int64_t keep = HONE_MIN(n, o->cutoff_len);

    return (piece){ o->truncation == HONE_TRUNCATION_CUT_LEFT ? n - keep : 0, keep };
}

static hone_status place_document(hone_dataset *d, const hone_dataset_context *c, const hone_row_result *r, dataset_place p)
{
    int32_t set = d->files.data[p.source].set;

    d->report.fates[HONE_ROW_KEPT]++;   /* whatever its length: it is cut with its neighbours */
    if (c->documents)
        return add_sample(d, r, (piece){ 0, (int64_t)r->ids.len }, (piece){ 0, 0 }, p);
    if (c->options->eval_on_each_dataset && d->block.n > 0 && d->block_set != set)
        HONE_TRY(end_block(d));
    d->block_set = set;
    return add_document(d, r, c->options->pack_length, p);
}

static bool learns_nothing(const hone_row_result *r, piece a, piece b)
{
    return a.n == 0 || count_supervised(r->labels.data + a.skip, a.n) == 0
           || (r->rejected_ids.len > 0 && (b.n == 0 || count_supervised(r->rejected_labels.data + b.skip, b.n) == 0));
}

hone_status dataset_place_row(hone_dataset *d, const hone_dataset_context *c, const hone_row_result *r, dataset_place place)
{
    const hone_options *o = c->options;
    int64_t n = (int64_t)r->ids.len, m = (int64_t)r->rejected_ids.len, longest = HONE_MAX(HONE_MAX(n, m), r->tokens_full);
    int64_t full = HONE_MAX(r->tokens_full, n) + m;
    piece   a = { 0, n }, b = { 0, m };
    char    why[96];

    d->report.tokens_in += full;
    d->report.reasoning_removed += r->reasoning_removed;
    d->report.lists_printed += r->list_printed;
    d->report.prompts_differ += r->prompt_differs;
    if (o->stage == HONE_STAGE_PT && o->packing == HONE_TRI_TRUE)
        return place_document(d, c, r, place);
    snprintf(why, sizeof why, "%lld tokens, cutoff_len is %lld", (long long)longest, (long long)o->cutoff_len);
    if (HONE_MAX(n, m) > o->cutoff_len) {
        if (o->truncation == HONE_TRUNCATION_DROP || o->truncation == HONE_TRUNCATION_ERROR)
            return leave_out(d, place, HONE_ROW_TOO_LONG, full, why);
        a = cut(o, n);
        b = cut(o, m);
    }
    if (learns_nothing(r, a, b))
        return leave_out(d, place, HONE_ROW_UNSUPERVISED, full,
                         a.n + b.n < full ? "no token with a loss is left after the cut" : "no token has a loss");
    if (a.n + b.n < full) {
        HONE_TRY(dataset_note(d, place, HONE_ROW_CUT, full, why));
        d->report.tokens_cut += full - a.n - b.n;
    } else {
        d->report.fates[HONE_ROW_KEPT]++;
    }
    return add_sample(d, r, a, b, place);
}

/* ---- the end ---- */

static void finish_fingerprint(hone_dataset *d)
{
    hone_hash parts[3];

    hone_hasher_finish(&parts[0], &d->lengths);
    hone_hasher_finish(&parts[1], &d->tokens);
    hone_hasher_finish(&parts[2], &d->answers);
    hone_hasher_finish(&d->index, &d->entries);
    d->fingerprint = hone_hash_bytes(parts, sizeof parts);
}

hone_status dataset_finish(hone_dataset *d)
{
    if (d->block.n > 0)
        HONE_TRY(end_block(d));
    d->report.n_notes = d->notes.len;
    finish_fingerprint(d);
    HONE_VEC_DEINIT(&d->ends);
#define FINISH_(name, type) HONE_TRY(hone_column_finish(&d->name));
    DATASET_COLUMNS(FINISH_)
#undef FINISH_
    return HONE_OK;
}
