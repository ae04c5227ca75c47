/* Data sets: from names of files to samples. Rows are parsed, rendered and tokenised by many threads, and placed in
 * order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/thread.h"
#include "data/dataset_int.h"
#include "data/reader.h"

enum { BLOCK = 512, BLOCK_BYTES = 1 << 23 };    /* parsed at once: bounds the memory of rows in flight */

typedef struct loading {
    const hone_dataset_context *context;
    hone_pool                  *pool;
    hone_reader                *reader;
    hone_row_block              block;
    const hone_source          *source;
    hone_row_format             format;
    hone_row_result             results[BLOCK];
    const uint8_t              *held_out;       /* per row of all sources: goes to `eval` */
    hone_dataset               *train, *eval;
    int64_t                     row_base;       /* rows of the sources before */
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

static void row_task(void *arg, int64_t task, int worker)
{
    loading         *l = arg;
    hone_row_result *r = &l->results[task];
    json_t          *json = NULL;
    char            *where = hone_asprintf("%s: line %lld", hone_reader_path(l->reader),
                                           (long long)l->block.rows.data[task].line);

    (void)worker;
    r->status = where ? hone_reader_parse(&json, l->reader, &l->block, (size_t)task) : HONE_E_NOMEM;
    if (r->status == HONE_OK)
        r->status = hone_row_to_sample(r, json, l->source, l->format, l->context, where);
    if (r->status != HONE_OK && where)
        r->why = reason(r->status, where);
    json_decref(json);
    hone_free(where);
}

static hone_status detect_format(loading *l)
{
    json_t     *first = NULL;
    hone_status st;
    char       *where;

    l->format = l->source->format;
    if (hone_reader_is_text(l->reader))
        l->format = HONE_ROWS_TEXT;
    if (l->format != HONE_ROWS_AUTO)
        return HONE_OK;
    HONE_TRY(hone_reader_parse(&first, l->reader, &l->block, 0));
    where = hone_asprintf("%s: line %lld", hone_reader_path(l->reader), (long long)l->block.rows.data[0].line);
    st = where ? hone_row_format_detect(&l->format, first, where) : HONE_E_NOMEM;
    json_decref(first);
    hone_free(where);
    return st;
}

static hone_status take_block(loading *l, int32_t source)
{
    for (size_t i = 0; i < l->block.rows.len; i++) {
        hone_row_result *r = &l->results[i];
        int64_t          row = l->block.rows.data[i].row;
        dataset_place    place = { source, row, l->block.rows.data[i].line };
        hone_dataset    *d = l->held_out && l->held_out[l->row_base + row] ? l->eval : l->train;

        if (r->status != HONE_OK && !r->why)
            return HONE_FAIL(HONE_E_NOMEM, "out of memory");
        if (r->status != HONE_OK && r->status != HONE_E_DATA)
            return HONE_FAIL(r->status, "%s", r->why);
        d->report.rows++;
        if (r->status == HONE_OK)
            HONE_TRY(dataset_place_row(d, l->context, r, place));
        else
            HONE_TRY(dataset_note(d, place, HONE_ROW_BAD, 0, r->why));
    }
    return HONE_OK;
}

static hone_status load_source(loading *l, int32_t index, int64_t rows)
{
    hone_status st = HONE_OK;

    for (int64_t done = 0; done < rows && st == HONE_OK; done += (int64_t)l->block.rows.len) {
        HONE_TRY(hone_reader_next(l->reader, &l->block, (size_t)HONE_MIN(rows - done, BLOCK), BLOCK_BYTES));
        HONE_CHECK(l->block.rows.len, HONE_E_IO, "%s: the file became shorter", hone_reader_path(l->reader));
        if (done == 0) {
            HONE_TRY(detect_format(l));
            HONE_TRY(hone_row_format_check(l->format, l->source, l->context));
        }
        hone_pool_run(l->pool, (int64_t)l->block.rows.len, row_task, l);
        st = take_block(l, index);
        for (size_t i = 0; i < l->block.rows.len; i++)
            hone_row_result_deinit(&l->results[i]);
    }
    return st;
}

/* Which rows are held out: a draw of val_size rows (a share if below 1) over all sources. */
static hone_status draw_held_out(uint8_t **out, const hone_options *o, int64_t rows)
{
    int64_t  count = o->val_size < 1 ? (int64_t)ceil(o->val_size * (double)rows) : (int64_t)o->val_size;
    int64_t *order;
    hone_rng rng = hone_rng_make((uint64_t)o->seed, 0x73706c6974);

    if (o->val_size <= 0 || rows == 0)
        return HONE_OK;
    HONE_CHECK(count < rows, HONE_E_USAGE, "val_size holds out %lld of %lld rows: nothing is left to train on",
               (long long)count, (long long)rows);
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

typedef struct data_file { hone_reader *reader; int64_t rows; } data_file;
typedef HONE_VEC(data_file) data_files;

static hone_status open_files(data_files *out, const hone_sources *sources, int64_t *rows)
{
    *rows = 0;
    for (size_t i = 0; i < sources->len; i++) {
        data_file f = { NULL, 0 };

        HONE_TRY(hone_reader_open(&f.reader, sources->data[i].path));
        if (HONE_VEC_PUSH(out, f) != HONE_OK) {
            hone_reader_close(&f.reader);
            return HONE_E_NOMEM;
        }
        HONE_TRY(hone_reader_count(f.reader, sources->data[i].max_rows, &out->data[i].rows));
        *rows += out->data[i].rows;
    }
    return HONE_OK;
}

/* Where samples go that memory does not hold: beside what the run writes, else where temporary files are kept. */
static char *temporary_dir(const hone_options *o)
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

static hone_status name_files(hone_dataset *d, const hone_sources *sources)
{
    for (size_t i = 0; i < sources->len; i++) {
        if (i == 0 || sources->data[i].set != sources->data[i - 1].set)
            HONE_TRY(dataset_add_set(d, sources->data[i].name));
        HONE_TRY(dataset_add_file(d, sources->data[i].path));
    }
    return HONE_OK;
}

static hone_status load_rows(loading *l, const data_files *files, const hone_sources *sources)
{
    for (size_t i = 0; i < sources->len; i++) {
        l->reader = files->data[i].reader;
        l->source = &sources->data[i];
        HONE_TRY(load_source(l, (int32_t)i, files->data[i].rows));
        l->row_base += files->data[i].rows;
    }
    return HONE_OK;
}

/* Read `names` into *out; with `held_out` not NULL, the rows that val_size draws into *held_out. */
static hone_status load_names(hone_dataset **out, hone_dataset **held_out, const hone_strings *names, const char *what,
                              const hone_dataset_context *c)
{
    hone_status  st = HONE_OK;
    hone_sources sources = { NULL, 0, 0 };
    data_files   files = { NULL, 0, 0 };
    loading     *l = hone_calloc(1, sizeof *l);
    uint8_t     *drawn = NULL;
    int64_t      rows;
    dataset_sink sink = { NULL, NULL };
    char        *dir = NULL;

    HONE_GO(l ? HONE_OK : HONE_E_NOMEM);
    l->context = c;
    HONE_GO(hone_sources_find(&sources, names, c->options));
    HONE_GO(hone_pool_create(&l->pool, (int)c->options->threads));
    HONE_GO(open_files(&files, &sources, &rows));
    sink.dir = dir = temporary_dir(c->options);
    HONE_GO(dir ? dataset_create(out, &sink) : HONE_E_NOMEM);
    HONE_GO(name_files(*out, &sources));
    if (held_out)
        HONE_GO(draw_held_out(&drawn, c->options, rows));
    if (drawn) {
        HONE_GO(dataset_create(held_out, &sink));
        HONE_GO(name_files(*held_out, &sources));
    }
    l->train = *out;
    l->eval = drawn ? *held_out : NULL;
    l->held_out = drawn;
    HONE_GO(load_rows(l, &files, &sources));
    HONE_GO(dataset_finish(*out));
    if (drawn)
        HONE_GO(dataset_finish(*held_out));
    if (!c->listing)
        HONE_GO(dataset_check(*out, l->eval, c->options, what));
    hone_dataset_log_report(*out, what, c->log);
    if (drawn)
        hone_dataset_log_report(*held_out, "held out", c->log);
out:
    if (l) {
        hone_pool_destroy(&l->pool);
        hone_row_block_deinit(&l->block);
    }
    for (size_t i = 0; i < files.len; i++)
        hone_reader_close(&files.data[i].reader);
    HONE_VEC_DEINIT(&files);
    hone_sources_deinit(&sources);
    hone_free(drawn);
    hone_free(dir);
    hone_free(l);
    return st;
}

hone_status hone_dataset_open_text(hone_tokenizer **tokenizer, hone_chat **chat, const char *dir, const hone_options *o)
{
    hone_status st;

    *tokenizer = NULL;
    *chat = NULL;
    if (!hone_dir_has(dir, "tokenizer.json"))
        return HONE_OK;
    HONE_TRY(hone_tokenizer_load(tokenizer, dir));
    if (o->stage == HONE_STAGE_PT)
        return HONE_OK;
    st = hone_chat_load(chat, dir, *tokenizer);
    if (st == HONE_E_DATA) {        /* no template: rows of messages will say so, others need none */
        hone_status_clear();
        return HONE_OK;
    }
    if (st != HONE_OK)
        hone_tokenizer_destroy(tokenizer);
    return st == HONE_OK ? st : HONE_TRACE(st);
}

hone_status hone_dataset_load(hone_dataset **train, hone_dataset **eval, const hone_dataset_context *c)
{
    const hone_options *o = c->options;
    hone_status         st = HONE_OK;

    *train = *eval = NULL;
    HONE_CHECK(o->dataset.n > 0 || o->eval_dataset.n > 0, HONE_E_USAGE,
               "dataset is missing: give the path of a .json, .jsonl or .txt file, or a name of "
               "dataset_info.json");
    if (o->dataset.n > 0)
        HONE_GO(load_names(train, eval, &o->dataset, "dataset", c));
    if (o->eval_dataset.n > 0)
        HONE_GO(load_names(eval, NULL, &o->eval_dataset, "eval_dataset", c));
out:
    if (st != HONE_OK) {
        hone_dataset_destroy(train);
        hone_dataset_destroy(eval);
    }
    return st;
}
