/* Data sets: from names of files to samples. Rows are parsed, rendered and tokenised by many threads while the next ones
 * are read, and placed in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/thread.h"
#include "data/dataset_int.h"
#include "data/reader.h"
#include "data/prepared.h"
#include "data/rows.h"

enum { BATCH_ROWS = 1024, BATCH_BYTES = 4 << 20 };      /* parsed at once: bounds the memory of rows in flight */

typedef struct loading {
    const hone_dataset_context *context;
    hone_pool                  *pool;
    hone_rows                  *rows;
    hone_row_batch              batches[2], *now, *next;
    hone_status                 read;           /* of filling `next` */
    hone_error                  read_error;
    hone_row_result             results[BATCH_ROWS];
    bool                        splits;         /* `held_out` says which rows go to `eval` */
    hone_draw                   held_out;
    hone_dataset               *train, *eval;
    hone_dataset_progress       progress;
} loading;

/* The reason that this row failed: with its place if the failure ends the reading; else the place is kept beside it. */
static char *reason(hone_status st, const char *where)
{
    const char *text = hone_status_text();
    bool        placed = hone_starts_with(text, where);

    if (st == HONE_E_DATA)
        return hone_strdup(placed ? text + strlen(where) + 2 : text);
    return placed || st == HONE_E_FORMAT ? hone_strdup(text) : hone_asprintf("%s: %s", where, text);
}

void dataset_make_result(hone_row_result *r, const hone_row_batch *batch, size_t i, const hone_dataset_context *c)
{
    const hone_row_origin *from = &batch->origins.data[i];
    json_t                *json = NULL;
    const hone_row_span   *span = &batch->block.rows.data[i];
    char                  *where = hone_asprintf("%s: %s", from->source->path, hone_row_place_of(span->row, span->line).text);

    r->status = where ? hone_reader_parse(&json, from->reader, &batch->block, i) : HONE_E_NOMEM;
    if (r->status == HONE_OK)
        r->status = hone_row_to_sample(r, json, from->source, from->format, c, where);
    if (r->status != HONE_OK && where)
        r->why = reason(r->status, where);
    json_decref(json);
    hone_free(where);
}

static void read_next(loading *l)
{
    l->read = hone_rows_next(l->rows, l->next, BATCH_ROWS, BATCH_BYTES);
    if (l->read != HONE_OK)
        hone_error_save(&l->read_error);        /* it is this thread's */
}

static void run_task(void *arg, int64_t task, int worker)
{
    loading *l = arg;

    (void)worker;
    if (task == 0)
        read_next(l);
    else
        dataset_make_result(&l->results[task - 1], l->now, (size_t)task - 1, l->context);
}

hone_status dataset_place_result(hone_dataset *d, const hone_dataset_context *c, const hone_row_result *r,
                                 const hone_row_batch *batch, size_t i)
{
    const hone_row_span *span = &batch->block.rows.data[i];
    dataset_place        place = { batch->origins.data[i].file, span->row, span->line };

    if (r->status != HONE_OK && !r->why)
        return HONE_FAIL(HONE_E_NOMEM, "out of memory");
    if (r->status != HONE_OK && r->status != HONE_E_DATA)
        return HONE_FAIL(r->status, "%s", r->why);
    d->report.rows++;
    return r->status == HONE_OK ? dataset_place_row(d, c, r, place) : dataset_note(d, place, HONE_ROW_BAD, 0, r->why);
}

static hone_status place_batch(loading *l)
{
    for (size_t i = 0; i < l->now->origins.len; i++) {
        hone_dataset *d = l->splits && hone_draw_next(&l->held_out) ? l->eval : l->train;

        HONE_TRY(dataset_place_result(d, l->context, &l->results[i], l->now, i));
    }
    return HONE_OK;
}

static void tell_progress(loading *l)
{
    l->progress.rows += (int64_t)l->now->origins.len;
    l->progress.bytes += (int64_t)l->now->block.text.len;
    if (l->context->progress)
        l->context->progress(l->context->progress_arg, &l->progress);
}

static hone_status load_rows(loading *l)
{
    l->now = &l->batches[0];
    l->next = &l->batches[1];
    HONE_TRY(hone_rows_next(l->rows, l->now, BATCH_ROWS, BATCH_BYTES));
    while (l->now->origins.len > 0) {
        hone_row_batch *done = l->now;
        hone_status     st;

        hone_pool_run(l->pool, 1 + (int64_t)l->now->origins.len, run_task, l);
        st = place_batch(l);
        for (size_t i = 0; i < l->now->origins.len; i++)
            hone_row_result_deinit(&l->results[i]);
        HONE_TRY(st);
        tell_progress(l);
        if (l->read != HONE_OK) {
            hone_error_restore(&l->read_error);
            return HONE_TRACE(l->read);
        }
        l->now = l->next;
        l->next = done;
    }
    return HONE_OK;
}

/* Hold out val_size rows (a share if below 1) of the mixture, drawn before it is known which of them are good. */
static hone_status draw_held_out(loading *l)
{
    const hone_options *o = l->context->options;
    int64_t             rows, count;

    if (o->val_size <= 0)
        return HONE_OK;
    HONE_TRY(hone_rows_count(l->rows, &rows));
    if (rows == 0)
        return HONE_OK;
    count = o->val_size < 1 ? (int64_t)ceil(o->val_size * (double)rows) : (int64_t)o->val_size;
    HONE_CHECK(count < rows, HONE_E_USAGE, "val_size holds out %lld of %lld rows: nothing is left to train on",
               (long long)count, (long long)rows);
    l->held_out = hone_draw_make((uint64_t)o->seed, 0x73706c6974, rows, count);
    l->progress.all_rows = rows;
    l->splits = true;
    return HONE_OK;
}

hone_status dataset_create_for(hone_dataset **out, const dataset_sink *sink, const hone_rows *rows, const hone_strings *names)
{
    const hone_sources *sources = hone_rows_sources(rows);

    HONE_TRY(dataset_create(out, sink));
    for (size_t i = 0; i < names->n; i++)
        HONE_TRY(dataset_add_set(*out, names->v[i]));
    for (size_t i = 0; i < sources->len; i++)
        HONE_TRY(dataset_add_file(*out, sources->data[i].path, sources->data[i].set));
    return HONE_OK;
}

static hone_status finish(loading *l, const char *what)
{
    const hone_dataset_context *c = l->context;

    HONE_TRY(dataset_finish(l->train));
    if (l->splits)
        HONE_TRY(dataset_finish(l->eval));
    if (!c->listing)
        HONE_TRY(dataset_check(l->train, l->splits ? l->eval : NULL, c->options, what));
    hone_dataset_log_report(l->train, what, c->log);
    if (l->splits)
        hone_dataset_log_report(l->eval, "held out", c->log);
    return HONE_OK;
}

/* Read `names` into *out; with `held_out` not NULL, the rows that val_size draws into *held_out. */
static hone_status load_names(hone_dataset **out, hone_dataset **held_out, const hone_strings *names, const char *what,
                              const hone_dataset_context *c, const dataset_sinks *sinks)
{
    hone_status st = HONE_OK;
    loading    *l = hone_calloc(1, sizeof *l);

    HONE_GO(l ? HONE_OK : HONE_E_NOMEM);
    l->context = c;
    l->progress.all_rows = -1;
    HONE_GO(hone_rows_create(&l->rows, names, c, !held_out && c->options->eval_on_each_dataset));
    l->progress.all_bytes = hone_rows_bytes(l->rows);
    HONE_GO(hone_pool_create(&l->pool, (int)c->options->threads));
    if (held_out)
        HONE_GO(draw_held_out(l));
    HONE_GO(dataset_create_for(out, held_out ? &sinks->train : &sinks->eval, l->rows, names));
    if (l->splits)
        HONE_GO(dataset_create_for(held_out, &sinks->eval, l->rows, names));
    l->train = *out;
    l->eval = l->splits ? *held_out : NULL;
    st = load_rows(l);
    if (c->progress)
        c->progress(c->progress_arg, NULL);
    HONE_GO(st);
    HONE_GO(finish(l, what));
out:
    if (l) {
        hone_pool_destroy(&l->pool);
        hone_row_batch_deinit(&l->batches[0]);
        hone_row_batch_deinit(&l->batches[1]);
        hone_rows_destroy(&l->rows);
    }
    hone_free(l);
    return st;
}

hone_status dataset_read(hone_dataset **train, hone_dataset **eval, const hone_dataset_context *c, const dataset_sinks *sinks)
{
    const hone_options *o = c->options;

    if (o->dataset.n > 0)
        HONE_TRY(load_names(train, eval, &o->dataset, "dataset", c, sinks));
    if (o->eval_dataset.n > 0)
        HONE_TRY(load_names(eval, NULL, &o->eval_dataset, "eval_dataset", c, sinks));
    return HONE_OK;
}

char *dataset_temporary_dir(const hone_options *o)
{
    const char *tmp = getenv("TMPDIR");
    char       *dir = hone_strdup(o->output_dir ? o->output_dir : ""), *slash;

    while (dir && *dir && !hone_path_exists(dir)) {         /* output_dir may still have to be made */
        slash = strrchr(dir, '/');
        if (slash && slash > dir)
            *slash = '\0';
        else
            strcpy(dir, slash ? "/" : ".");
    }
    if (!dir || (*dir && access(dir, W_OK) == 0))
        return dir;
    hone_free(dir);
    return hone_strdup(tmp && *tmp ? tmp : "/tmp");
}

hone_status hone_dataset_load(hone_dataset **train, hone_dataset **eval, const hone_dataset_context *c)
{
    const hone_options *o = c->options;
    hone_status         st = HONE_OK;
    char               *dir;

    *train = *eval = NULL;
    HONE_CHECK(o->dataset.n > 0 || o->eval_dataset.n > 0, HONE_E_USAGE,
               "dataset is missing: give paths of files, folders or patterns, or names of dataset_info.json");
    if (o->tokenized_path && *o->tokenized_path && !c->listing)
        return hone_prepared_load(train, eval, c);
    dir = dataset_temporary_dir(o);
    HONE_GO(dir ? HONE_OK : HONE_E_NOMEM);
    if (c->eval_only && o->eval_dataset.n > 0)
        HONE_GO(load_names(eval, NULL, &o->eval_dataset, "eval_dataset", c, &(dataset_sinks){ { dir, NULL }, { dir, NULL } }));
    else
        HONE_GO(dataset_read(train, eval, c, &(dataset_sinks){ { dir, NULL }, { dir, NULL } }));
out:
    hone_free(dir);
    if (st != HONE_OK) {
        hone_dataset_destroy(train);
        hone_dataset_destroy(eval);
    }
    return st;
}
