#include "data/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/rng.h"
#include "base/thread.h"
#include "data/format.h"
#include "data/reader.h"

enum { BLOCK = 512 };           /* rows parsed at once: bounds the memory of rows in flight */
enum { MAX_LISTED = 20 };       /* bad rows named in one error */

typedef struct entry { int64_t begin, n, supervised, row; int32_t source; } entry;

struct hone_dataset {
    hone_vec_i32         ids, labels;           /* of all samples, one after another */
    HONE_VEC(entry)      samples;
    HONE_VEC(char *)     sources;
    HONE_VEC(hone_row_note) notes;
    hone_dataset_report  report;
};

/* ---- the object --------------------------------------------------------------------------------------------------------- */

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
    const entry *e = &d->samples.data[i];

    return (hone_sample){ d->ids.data + e->begin, d->labels.data + e->begin, e->n, e->supervised, e->source, e->row };
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

/* ---- adding rows -------------------------------------------------------------------------------------------------------- */

static hone_status note(hone_dataset *d, int32_t source, int64_t row, int64_t line, hone_row_fate fate, int64_t tokens, const char *why)
{
    char *copy = hone_strdup(why);

    if (!copy)
        return HONE_E_NOMEM;
    d->report.fates[fate]++;
    if (HONE_VEC_PUSH(&d->notes, (hone_row_note){ source, row, line, fate, tokens, copy }) != HONE_OK) {
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

static hone_status add_sample(hone_dataset *d, const int32_t *ids, const int32_t *labels, int64_t n, int32_t source, int64_t row)
{
    entry e = { (int64_t)d->ids.len, n, count_supervised(labels, n), row, source };

    HONE_TRY(HONE_VEC_RESERVE(&d->ids, (size_t)n));
    HONE_TRY(HONE_VEC_RESERVE(&d->labels, (size_t)n));
    if (n) {
        memcpy(d->ids.data + d->ids.len, ids, (size_t)n * sizeof *ids);
        memcpy(d->labels.data + d->labels.len, labels, (size_t)n * sizeof *labels);
    }
    d->ids.len += (size_t)n;
    d->labels.len += (size_t)n;
    d->report.tokens_kept += n;
    d->report.supervised += e.supervised;
    d->report.longest = HONE_MAX(d->report.longest, n);
    return HONE_VEC_PUSH(&d->samples, e);
}

/* A row with ids: cut, dropped or kept. */
static hone_status place_row(hone_dataset *d, const hone_options *o, const hone_row_result *r, int32_t source, int64_t row, int64_t line,
                             bool whole)
{
    int64_t n = (int64_t)r->ids.len, keep = n, skip = 0;
    char    why[96];

    d->report.tokens_in += n;
    if (!whole && n > o->cutoff_len) {
        snprintf(why, sizeof why, "%lld tokens, cutoff_len is %lld", (long long)n, (long long)o->cutoff_len);
        if (o->truncation == HONE_TRUNCATION_DROP || o->truncation == HONE_TRUNCATION_ERROR) {
            d->report.tokens_dropped += n;
            return note(d, source, row, line, HONE_ROW_TOO_LONG, n, why);
        }
        keep = o->cutoff_len;
        skip = o->truncation == HONE_TRUNCATION_CUT_LEFT ? n - keep : 0;
    }
    if (count_supervised(r->labels.data + skip, keep) == 0) {
        d->report.tokens_dropped += n;
        return note(d, source, row, line, HONE_ROW_UNSUPERVISED, n, keep < n ? "no token with a loss is left after the cut"
                                                                             : "no token has a loss");
    }
    if (keep < n) {
        HONE_TRY(note(d, source, row, line, HONE_ROW_CUT, n, why));
        d->report.tokens_cut += n - keep;
    } else {
        d->report.fates[HONE_ROW_KEPT]++;
    }
    return add_sample(d, r->ids.data + skip, r->labels.data + skip, keep, source, row);
}

/* ---- reading files ------------------------------------------------------------------------------------------------------ */

typedef struct loading {
    const hone_dataset_context *context;
    hone_pool                  *pool;
    const hone_reader          *reader;
    const hone_source          *source;
    hone_row_format             format;
    size_t                      first;
    hone_row_result             results[BLOCK];
    const uint8_t              *held_out;       /* per row of all sources: goes to `eval` */
    hone_dataset               *train, *eval;
    int64_t                     row_base;       /* rows of the sources before */
} loading;

static hone_status parse_row(json_t **out, const hone_reader *r, const hone_row_span *span, const char *where)
{
    const char *text = (const char *)r->map.data + span->begin;

    *out = NULL;
    if (!r->is_text)
        return hone_json_parse(out, text, span->end - span->begin, where);
    *out = json_stringn(text, span->end - span->begin);
    return *out ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
}

static void row_task(void *arg, int64_t task, int worker)
{
    loading             *l = arg;
    const hone_row_span *span = &l->reader->rows.data[l->first + (size_t)task];
    hone_row_result     *r = &l->results[task];
    json_t              *json = NULL;
    char                *where = hone_asprintf("%s: line %lld", l->reader->path, (long long)span->line);

    (void)worker;
    r->status = where ? parse_row(&json, l->reader, span, where) : HONE_E_NOMEM;
    if (r->status == HONE_OK)
        r->status = hone_row_to_sample(r, json, l->source, l->format, l->context, where);
    if (r->status != HONE_OK)
        r->why = hone_strdup(hone_status_text());
    json_decref(json);
    hone_free(where);
}

static hone_status detect_format(loading *l)
{
    json_t     *first = NULL;
    hone_status st = HONE_OK;
    char       *where;

    l->format = l->source->format;
    if (l->reader->is_text)
        l->format = HONE_ROWS_TEXT;
    if (l->format != HONE_ROWS_AUTO || l->reader->rows.len == 0)
        return HONE_OK;
    where = hone_asprintf("%s: line %lld", l->reader->path, (long long)l->reader->rows.data[0].line);
    st = where ? parse_row(&first, l->reader, &l->reader->rows.data[0], where) : HONE_E_NOMEM;
    if (st == HONE_OK)
        st = hone_row_format_detect(&l->format, first, where);
    json_decref(first);
    hone_free(where);
    return st;
}

static hone_status take_block(loading *l, int32_t source, size_t n)
{
    const hone_options *o = l->context->options;
    bool                stream = o->stage == HONE_STAGE_PT && o->packing == HONE_TRI_TRUE;

    for (size_t i = 0; i < n; i++) {
        hone_row_result *r = &l->results[i];
        int64_t          row = (int64_t)(l->first + i), line = l->reader->rows.data[row].line;
        hone_dataset    *d = l->held_out && l->held_out[l->row_base + row] ? l->eval : l->train;

        d->report.rows++;
        if (r->status == HONE_E_DATA) {
            HONE_TRY(note(d, source, row, line, HONE_ROW_BAD, 0, r->why ? r->why : "out of memory"));
            continue;
        }
        if (r->status != HONE_OK)
            return HONE_FAIL(r->status, "%s", r->why ? r->why : "out of memory");
        HONE_TRY(place_row(d, o, r, source, row, line, stream));
    }
    return HONE_OK;
}

static hone_status load_source(loading *l, int32_t index)
{
    hone_status st = HONE_OK;

    HONE_TRY(detect_format(l));
    for (l->first = 0; l->first < l->reader->rows.len && st == HONE_OK; l->first += BLOCK) {
        size_t n = HONE_MIN(l->reader->rows.len - l->first, (size_t)BLOCK);

        hone_pool_run(l->pool, (int64_t)n, row_task, l);
        st = take_block(l, index, n);
        for (size_t i = 0; i < n; i++)
            hone_row_result_deinit(&l->results[i]);
    }
    return st;
}

/* ---- what is wrong with it ---------------------------------------------------------------------------------------------- */

/* Rows of this fate as one error, each with file, line and reason. */
static hone_status refuse_rows(const hone_dataset *d, hone_row_fate fate, const char *what, const char *way_out)
{
    hone_str    s = HONE_STR_INIT;
    int64_t     listed = 0;
    hone_status st;

    for (size_t i = 0; i < d->notes.len; i++) {
        const hone_row_note *n = &d->notes.data[i];
        const char          *path = d->sources.data[n->source];

        if (n->fate != fate || listed++ >= MAX_LISTED)
            continue;
        hone_str_printf(&s, "\n  %s, line %lld: ", path, (long long)n->line);
        if (hone_starts_with(n->why, path)) {    /* the reason already starts with the place */
            const char *colon = strstr(n->why + strlen(path), ": line ");

            colon = colon ? strstr(colon + 2, ": ") : NULL;
            hone_str_puts(&s, colon ? colon + 2 : n->why);
        } else {
            hone_str_puts(&s, n->why);
        }
    }
    if (listed > MAX_LISTED)
        hone_str_printf(&s, "\n  and %lld more", (long long)(listed - MAX_LISTED));
    st = HONE_FAIL(HONE_E_DATA, "%lld %s%s\n%s", (long long)listed, what, hone_str_c(&s), way_out);
    hone_str_deinit(&s);
    return st;
}

static hone_status check(const hone_dataset *d, const hone_options *o, const char *what)
{
    const hone_dataset_report *r = &d->report;

    if (r->fates[HONE_ROW_BAD] && o->bad_rows == HONE_BAD_ROWS_ERROR)
        return refuse_rows(d, HONE_ROW_BAD, "rows cannot be used:", "mend them, or set bad_rows: drop to leave them out");
    if (r->fates[HONE_ROW_TOO_LONG] && o->truncation == HONE_TRUNCATION_ERROR)
        return refuse_rows(d, HONE_ROW_TOO_LONG, "rows are longer than cutoff_len:", "raise cutoff_len, or set truncation to "
                           "drop, cut-left or cut-right");
    if (d->samples.len > 0)
        return HONE_OK;
    if (r->rows == 0)
        return HONE_FAIL(HONE_E_DATA, "%s has no rows", what);
    return HONE_FAIL(HONE_E_DATA, "nothing is left of %s: of %lld rows %lld have no token with a loss, %lld cannot be rendered, %lld "
                     "are too long; hone inspect data shows each", what, (long long)r->rows,
                     (long long)r->fates[HONE_ROW_UNSUPERVISED], (long long)r->fates[HONE_ROW_BAD], (long long)r->fates[HONE_ROW_TOO_LONG]);
}

/* ---- continued pre-training: one stream, cut into blocks ------------------------------------------------------------------ */

/* The documents of `d`, one after another, become samples of `length` tokens; the last one is what is left. */
static hone_status cut_stream(hone_dataset *d, int64_t length)
{
    int64_t total = (int64_t)d->ids.len;

    d->samples.len = 0;
    d->report.supervised = 0;
    d->report.longest = HONE_MIN(length, total);
    for (int64_t begin = 0; begin < total; begin += length) {
        int64_t n = HONE_MIN(length, total - begin);
        entry   e = { begin, n, count_supervised(d->labels.data + begin, n), (int64_t)d->samples.len, 0 };

        if (e.supervised == 0) {    /* a single token at the end predicts nothing */
            d->report.tokens_kept -= n;
            d->report.tokens_dropped += n;
            continue;
        }
        d->report.supervised += e.supervised;
        HONE_TRY(HONE_VEC_PUSH(&d->samples, e));
    }
    return HONE_OK;
}

/* ---- loading ------------------------------------------------------------------------------------------------------------ */

static hone_status dataset_create(hone_dataset **out, const hone_sources *sources)
{
    hone_dataset *d = hone_calloc(1, sizeof *d);

    *out = d;
    if (!d)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < sources->len; i++) {
        char *path = hone_strdup(sources->data[i].path);

        if (!path || HONE_VEC_PUSH(&d->sources, path) != HONE_OK) {
            hone_free(path);
            return HONE_E_NOMEM;
        }
    }
    return HONE_OK;
}

/* Which rows are held out: a draw of val_size rows (a share if below 1) over all sources. */
static hone_status draw_held_out(uint8_t **out, const hone_options *o, int64_t rows)
{
    int64_t  count = o->val_size < 1 ? (int64_t)ceil(o->val_size * (double)rows) : (int64_t)o->val_size;
    int64_t *order;
    hone_rng rng = hone_rng_make((uint64_t)o->seed, 0x73706c6974);

    *out = NULL;
    if (o->val_size <= 0)
        return HONE_OK;
    HONE_CHECK(count < rows, HONE_E_USAGE, "val_size holds out %lld of %lld rows: nothing is left to train on", (long long)count,
               (long long)rows);
    *out = hone_calloc((size_t)rows, 1);
    order = hone_calloc((size_t)rows, sizeof *order);
    if (!*out || !order) {
        hone_free(order);
        return HONE_E_NOMEM;
    }
    hone_rng_permutation(&rng, order, rows);
    for (int64_t i = 0; i < count; i++)
        (*out)[order[i]] = 1;
    hone_free(order);
    return HONE_OK;
}

typedef HONE_VEC(hone_reader) readers;

static hone_status open_readers(readers *out, const hone_sources *sources, int64_t *rows)
{
    *rows = 0;
    for (size_t i = 0; i < sources->len; i++) {
        hone_reader r;

        HONE_TRY(hone_reader_open(&r, sources->data[i].path, sources->data[i].max_rows));
        if (HONE_VEC_PUSH(out, r) != HONE_OK) {
            hone_reader_close(&r);
            return HONE_E_NOMEM;
        }
        *rows += (int64_t)r.rows.len;
    }
    return HONE_OK;
}

static hone_status finish(hone_dataset *d, const hone_options *o, const char *what)
{
    HONE_TRY(check(d, o, what));
    if (o->stage == HONE_STAGE_PT && o->packing == HONE_TRI_TRUE)
        HONE_TRY(cut_stream(d, o->pack_length));
    d->report.notes = d->notes.data;
    d->report.n_notes = d->notes.len;
    HONE_CHECK(d->samples.len > 0, HONE_E_DATA, "%s holds no token that another predicts", what);
    return HONE_OK;
}

/* Read `names` into *train; with `split`, the held-out rows into *eval. */
static hone_status load_names(hone_dataset **train, hone_dataset **eval, const hone_strings *names, bool split, const char *what,
                              const hone_dataset_context *c)
{
    hone_status  st = HONE_OK;
    hone_sources sources = { NULL, 0, 0 };
    readers      files = { NULL, 0, 0 };
    loading     *l = hone_calloc(1, sizeof *l);
    uint8_t     *held_out = NULL;
    int64_t      rows;

    HONE_GO(l ? HONE_OK : HONE_E_NOMEM);
    l->context = c;
    HONE_GO(hone_sources_find(&sources, names, c->options));
    HONE_GO(hone_pool_create(&l->pool, (int)c->options->threads));
    HONE_GO(open_readers(&files, &sources, &rows));
    HONE_GO(dataset_create(train, &sources));
    if (split)
        HONE_GO(draw_held_out(&held_out, c->options, rows));
    if (held_out)
        HONE_GO(dataset_create(eval, &sources));
    l->train = *train;
    l->eval = held_out ? *eval : NULL;
    l->held_out = held_out;
    for (size_t i = 0; i < sources.len; i++) {
        l->reader = &files.data[i];
        l->source = &sources.data[i];
        HONE_GO(load_source(l, (int32_t)i));
        l->row_base += (int64_t)files.data[i].rows.len;
    }
    HONE_GO(finish(*train, c->options, what));
    if (held_out)
        HONE_GO(finish(*eval, c->options, "the held-out part (val_size)"));
out:
    if (l)
        hone_pool_destroy(&l->pool);
    for (size_t i = 0; i < files.len; i++)
        hone_reader_close(&files.data[i]);
    HONE_VEC_DEINIT(&files);
    hone_sources_deinit(&sources);
    hone_free(held_out);
    hone_free(l);
    return st;
}

hone_status hone_dataset_load(hone_dataset **train, hone_dataset **eval, const hone_dataset_context *c)
{
    const hone_options *o = c->options;
    hone_status         st = HONE_OK;

    *train = *eval = NULL;
    HONE_CHECK(o->dataset.n > 0, HONE_E_USAGE, "dataset is missing: give the path of a .json, .jsonl or .txt file, or a name of "
               "dataset_info.json");
    HONE_GO(load_names(train, eval, &o->dataset, true, "dataset", c));
    if (o->eval_dataset.n > 0)
        HONE_GO(load_names(eval, NULL, &o->eval_dataset, false, "eval_dataset", c));
out:
    if (st != HONE_OK) {
        hone_dataset_destroy(train);
        hone_dataset_destroy(eval);
    }
    return st;
}

void hone_dataset_log_report(const hone_dataset *d, const char *name, const hone_log *log)
{
    const hone_dataset_report *r = &d->report;

    hone_info(log, "%s: %lld rows: %lld kept, %lld cut, %lld too long, %lld without supervision, %lld bad; %lld of %lld tokens kept, "
              "%lld supervised", name, (long long)r->rows, (long long)r->fates[HONE_ROW_KEPT], (long long)r->fates[HONE_ROW_CUT],
              (long long)r->fates[HONE_ROW_TOO_LONG], (long long)r->fates[HONE_ROW_UNSUPERVISED], (long long)r->fates[HONE_ROW_BAD],
              (long long)r->tokens_kept, (long long)r->tokens_in, (long long)r->supervised);
    for (size_t i = 0; i < d->notes.len && i < MAX_LISTED; i++)
        if (d->notes.data[i].fate != HONE_ROW_CUT)
            hone_info(log, "  %s, line %lld: %s", d->sources.data[d->notes.data[i].source], (long long)d->notes.data[i].line,
                      d->notes.data[i].why);
}
