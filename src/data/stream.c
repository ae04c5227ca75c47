#include "data/stream.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/thread.h"
#include "data/dataset_int.h"
#include "data/reader.h"
#include "data/shuffle.h"

enum { BATCH_ROWS = 512, BATCH_BYTES = 8 << 20 };       /* parsed and tokenised at once */
enum { MAX_LOGGED = 1000 };                             /* rows left out that the log names, each */

struct hone_stream {
    const hone_dataset_context *context;
    hone_pool        *pool;
    hone_shuffle     *shuffle;
    char             *dir;              /* of temporary files */
    hone_dataset     *filling;          /* the next window */
    hone_stream_place at;               /* where it begins */
    hone_row_batch    batch;
    hone_row_result   results[BATCH_ROWS];
    int64_t           logged;
};

/* ---- rows to results ---- */

static void row_task(void *arg, int64_t task, int worker)
{
    hone_stream *s = arg;

    (void)worker;
    dataset_make_result(&s->results[task], &s->batch, (size_t)task, s->context);
}

static void clear_batch(hone_stream *s)
{
    for (size_t i = 0; i < s->batch.origins.len; i++)
        hone_row_result_deinit(&s->results[i]);
    hone_row_batch_clear(&s->batch);
}

/* The next rows, `max` at most, with what became of them; fewer only at the end of the epoch, or if they are long. */
static hone_status make_batch(hone_stream *s, int64_t max, bool *end)
{
    bool got = true;

    clear_batch(s);
    max = HONE_MIN(max, BATCH_ROWS);
    while ((int64_t)s->batch.origins.len < max && s->batch.block.text.len < BATCH_BYTES && got)
        HONE_TRY(hone_shuffle_next(s->shuffle, &s->batch, &got));
    *end = !got;
    hone_pool_run(s->pool, (int64_t)s->batch.origins.len, row_task, s);
    return HONE_OK;
}

static hone_status new_dataset(const hone_stream *s, hone_dataset **out)
{
    return dataset_create_for(out, &(dataset_sink){ .dir = s->dir }, hone_shuffle_rows(s->shuffle),
                              &s->context->options->dataset);
}

/* ---- windows ---- */

/* Place row i of the batch, number `row` of the epoch; keep track of where the sample that is being filled begins. */
static hone_status place_row(hone_stream *s, size_t i, int64_t row, hone_stream_place *next)
{
    int64_t before = s->filling->block.n, n = (int64_t)s->results[i].ids.len, after;

    HONE_TRY(dataset_place_result(s->filling, s->context, &s->results[i], &s->batch, i));
    after = s->filling->block.n;
    if (after > 0 && after <= n && (before == 0 || after != before + n)) {
        next->carry_row = row;
        next->carry_token = n - after;
    }
    return HONE_OK;
}

static hone_status fill_window(hone_stream *s, hone_stream_place *next, bool *end)
{
    const hone_dataset_report *r = &s->filling->report;

    *end = false;
    while (!*end && r->rows < HONE_WINDOW_ROWS && r->tokens_kept < HONE_WINDOW_TOKENS) {
        HONE_TRY(make_batch(s, HONE_WINDOW_ROWS - r->rows, end));
        for (size_t i = 0; i < s->batch.origins.len; i++)
            HONE_TRY(place_row(s, i, next->row++, next));
    }
    if (s->filling->block.n == 0) {
        next->carry_row = next->row;
        next->carry_token = 0;
    }
    return HONE_OK;
}

static void count(hone_stream_place *p, const hone_dataset *d)
{
    const hone_dataset_report *r = &d->report;

    p->samples += hone_dataset_len(d);
    p->rows += r->rows;
    p->kept += r->fates[HONE_ROW_KEPT];
    p->cut += r->fates[HONE_ROW_CUT];
    p->too_long += r->fates[HONE_ROW_TOO_LONG];
    p->bad += r->fates[HONE_ROW_BAD];
    p->unsupervised += r->fates[HONE_ROW_UNSUPERVISED];
    p->tokens_in += r->tokens_in;
    p->tokens_kept += r->tokens_kept;
    p->tokens_cut += r->tokens_cut;
    p->tokens_dropped += r->tokens_dropped;
}

/* Name the rows that are left out, once each: in the first epoch. */
static void log_notes(hone_stream *s, const hone_dataset *d)
{
    for (int64_t i = 0; i < d->report.n_notes && s->at.epoch == 0; i++) {
        hone_row_note n = hone_dataset_note(d, i);

        if (n.fate != HONE_ROW_CUT && s->logged++ < MAX_LOGGED)
            hone_warn(s->context->log, "left out: %s, %s: %s", hone_dataset_source_path(d, n.source),
                      hone_row_place_of(n.row, n.line).text, n.why);
    }
}

static hone_status end_epoch(hone_stream *s, hone_stream_place *next)
{
    HONE_CHECK(next->samples > 0, HONE_E_DATA, "the data set has no sample to train on: of the %lld rows of an epoch none has a "
               "token with a loss that fits", (long long)next->row);
    next->epoch_rows = next->row;
    next->epoch++;
    next->row = next->carry_row = next->carry_token = next->samples = 0;
    hone_shuffle_begin(s->shuffle, next->epoch);
    return HONE_OK;
}

hone_status hone_stream_next(hone_stream *s, hone_dataset **out, bool *last)
{
    hone_stream_place next = s->at;
    hone_dataset     *d = s->filling;
    hone_status       st = HONE_OK;

    *out = NULL;
    HONE_TRY(fill_window(s, &next, last));
    s->filling = NULL;
    HONE_GO(new_dataset(s, &s->filling));
    HONE_GO(*last ? dataset_finish(d) : dataset_finish_into(s->filling, d));
    HONE_GO(dataset_refuse_rows(d, NULL, s->context->options));
    log_notes(s, d);
    count(&next, d);
    next.hash = (int64_t)hone_shuffle_hash(s->shuffle);
    if (*last)
        HONE_GO(end_epoch(s, &next));
    s->at = next;
out:
    if (st != HONE_OK)
        hone_dataset_destroy(&d);
    *out = d;
    return st;
}

/* ---- places ---- */

void hone_stream_place_write(const hone_stream_place *p, hone_str *out)
{
    const char *comma = "";

    hone_str_putc(out, '{');
#define WRITE_(name) hone_str_printf(out, "%s\"" #name "\": %lld", comma, (long long)p->name); comma = ", ";
    HONE_STREAM_PLACE(WRITE_)
#undef WRITE_
    hone_str_putc(out, '}');
}

static hone_status read_number(int64_t *out, const json_t *json, const char *name)
{
    const json_t *v = json_object_get(json, name);

    *out = json_integer_value(v);
    HONE_CHECK(json_is_integer(v) && (*out >= 0 || strcmp(name, "hash") == 0), HONE_E_FORMAT, "the checkpoint does not say where "
               "its stream of data goes on (\"%s\"); resume from another one", name);
    return HONE_OK;
}

hone_status hone_stream_place_read(hone_stream_place *out, const json_t *json)
{
    memset(out, 0, sizeof *out);
#define READ_(name) HONE_TRY(read_number(&out->name, json, #name));
    HONE_STREAM_PLACE(READ_)
#undef READ_
    HONE_CHECK(out->carry_row <= out->row, HONE_E_FORMAT, "the checkpoint's place in its stream of data was changed; resume from "
               "another one");
    return HONE_OK;
}

hone_stream_place hone_stream_tell(const hone_stream *s) { return s->at; }

static hone_status append(hone_vec_i32 *to, const hone_vec_i32 *from)
{
    HONE_TRY(HONE_VEC_RESERVE(to, from->len));
    if (from->len)
        memcpy(to->data + to->len, from->data, from->len * sizeof *from->data);
    to->len += from->len;
    return HONE_OK;
}

/* The beginning of the sample that goes on in the window: the tokens of the rows from carry_row on, but the first ones. */
static hone_status restore_carry(hone_stream *s)
{
    hone_vec_i32  ids = { NULL, 0, 0 }, labels = { NULL, 0, 0 };
    dataset_place place = { 0 };
    hone_status   st = HONE_OK;
    bool          end = false;

    for (int64_t left = s->at.row - s->at.carry_row; left > 0 && !end; left -= (int64_t)s->batch.origins.len) {
        HONE_GO(make_batch(s, left, &end));
        for (size_t i = 0; i < s->batch.origins.len; i++) {
            const hone_row_result *r = &s->results[i];

            if (ids.len == 0)
                place = (dataset_place){ s->batch.origins.data[i].file, s->batch.block.rows.data[i].row,
                                         s->batch.block.rows.data[i].line };
            HONE_GO(append(&ids, &r->ids));
            HONE_GO(append(&labels, &r->labels));
        }
    }
    if ((int64_t)ids.len > s->at.carry_token)
        HONE_GO(dataset_begin_block(s->filling, ids.data + s->at.carry_token, labels.data + s->at.carry_token,
                                    (int64_t)ids.len - s->at.carry_token, place));
out:
    HONE_VEC_DEINIT(&ids);
    HONE_VEC_DEINIT(&labels);
    return st;
}

hone_status hone_stream_seek(hone_stream *s, const hone_stream_place *place)
{
    bool got = true;

    s->at = *place;
    hone_dataset_destroy(&s->filling);
    HONE_TRY(new_dataset(s, &s->filling));
    hone_shuffle_begin(s->shuffle, place->epoch);
    for (int64_t i = 0; i < place->carry_row && got; i++)
        HONE_TRY(hone_shuffle_next(s->shuffle, NULL, &got));
    return restore_carry(s);
}

/* ---- held-out rows ---- */

/* The first val_size rows of the shuffled order of epoch 0 become *eval, and no epoch has them. */
static hone_status hold_out(hone_stream *s, hone_dataset **eval)
{
    int64_t       n = (int64_t)s->context->options->val_size, taken = 0;
    hone_row_key *keys = hone_calloc((size_t)n, sizeof *keys);
    hone_status   st = HONE_OK;
    bool          end = false;

    HONE_GO(keys ? new_dataset(s, eval) : HONE_E_NOMEM);
    hone_shuffle_begin(s->shuffle, 0);
    while (taken < n && !end) {
        HONE_GO(make_batch(s, n - taken, &end));
        for (size_t i = 0; i < s->batch.origins.len; i++) {
            keys[taken++] = (hone_row_key){ s->batch.origins.data[i].file, s->batch.block.rows.data[i].row };
            HONE_GO(dataset_place_result(*eval, s->context, &s->results[i], &s->batch, i));
        }
    }
    HONE_GO_CHECK(taken == n, HONE_E_USAGE, "val_size holds out %lld of %lld rows: nothing is left to train on", (long long)n,
                  (long long)taken);
    HONE_GO(dataset_finish(*eval));
    HONE_GO(dataset_check(*eval, NULL, s->context->options, "the held-out part (val_size)"));
    hone_dataset_log_report(*eval, "held out", s->context->log);
    hone_shuffle_leave_out(s->shuffle, keys, (size_t)n);
    keys = NULL;
out:
    hone_free(keys);
    return st;
}

static hone_status load_eval(hone_dataset **eval, const hone_dataset_context *c)
{
    hone_options         options = *c->options;
    hone_dataset_context context = *c;
    hone_dataset        *train;

    options.dataset.n = 0;
    context.options = &options;
    return hone_dataset_load(&train, eval, &context);
}

/* ---- the object ---- */

hone_status hone_stream_create(hone_stream **out, hone_dataset **eval, const hone_dataset_context *c)
{
    const hone_options *o = c->options;
    hone_stream        *s = hone_calloc(1, sizeof *s);
    hone_status         st = HONE_OK;

    *out = NULL;
    *eval = NULL;
    HONE_GO(s ? HONE_OK : HONE_E_NOMEM);
    s->context = c;
    s->dir = dataset_temporary_dir(o);
    HONE_GO(s->dir ? hone_shuffle_create(&s->shuffle, c) : HONE_E_NOMEM);
    HONE_GO(hone_pool_create(&s->pool, (int)o->threads));
    if (o->eval_dataset.n > 0)
        HONE_GO(load_eval(eval, c));
    if (o->val_size > 0)
        HONE_GO(hold_out(s, eval));
    HONE_GO(hone_stream_seek(s, &(hone_stream_place){ 0 }));
out:
    if (st != HONE_OK) {
        hone_dataset_destroy(eval);
        hone_stream_destroy(&s);
    }
    *out = s;
    return st;
}

void hone_stream_destroy(hone_stream **stream)
{
    hone_stream *s = *stream;

    if (!s)
        return;
    clear_batch(s);
    hone_row_batch_deinit(&s->batch);
    hone_dataset_destroy(&s->filling);
    hone_shuffle_destroy(&s->shuffle);
    hone_pool_destroy(&s->pool);
    hone_free(s->dir);
    hone_free(s);
    *stream = NULL;
}

void hone_stream_fingerprint(const hone_stream *s, char hex[33])
{
    const hone_sources *sources = hone_rows_sources(hone_shuffle_rows(s->shuffle));
    hone_hash           hash = hone_hash_bytes(NULL, 0);

    for (size_t i = 0; i < sources->len; i++) {
        char text[64];
        int  n = snprintf(text, sizeof text, "%s %lld", hash.hex, (long long)hone_file_size(sources->data[i].path));

        hash = hone_hash_bytes(text, (size_t)n);
    }
    memcpy(hex, hash.hex, sizeof hash.hex);
}

int64_t hone_stream_files(const hone_stream *s) { return (int64_t)hone_rows_sources(hone_shuffle_rows(s->shuffle))->len; }

void hone_stream_log_report(const hone_stream *s, const hone_log *log)
{
    const hone_stream_place *p = &s->at;

    hone_info(log, "streamed: %lld rows: %lld kept, %lld cut, %lld too long, %lld bad, %lld without a token to learn",
              (long long)p->rows, (long long)p->kept, (long long)p->cut, (long long)p->too_long, (long long)p->bad,
              (long long)p->unsupervised);
    hone_info(log, "streamed: %lld tokens: %lld kept, %lld cut, %lld dropped", (long long)p->tokens_in, (long long)p->tokens_kept,
              (long long)p->tokens_cut, (long long)p->tokens_dropped);
}
