/*
 * hone inspect data CONFIG.yaml [--key value …] [--samples N] [--color] [--json] [--html FILE]: the data set as it will be
 * trained on. Nothing of the model is read but its tokenizer, its template and its config.
 */
#include "cli/inspect_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "io/model_dir.h"

/* ---- arguments ---- */

static hone_status take_samples(data_view *v, const char *value)
{
    char *end;

    HONE_CHECK(value && *value, HONE_E_USAGE, "--samples takes the number of samples to show");
    v->samples = strtoll(value, &end, 10);
    HONE_CHECK(!*end && v->samples >= 0, HONE_E_USAGE, "--samples takes a number from 0, not \"%s\"", value);
    return HONE_OK;
}

static hone_status take_html(data_view *v, const char *value)
{
    HONE_CHECK(value && *value, HONE_E_USAGE, "--html takes the file to write");
    v->html = value;
    return HONE_OK;
}

/* Takes this command's own flags out of argv; the rest are options. */
static hone_status take_flags(data_view *v, int *argc, char **argv)
{
    int n = 0;

    v->samples = 3;
    v->color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--color") == 0)
            v->color = true;
        else if (strcmp(argv[i], "--no-color") == 0)
            v->color = false;
        else if (strcmp(argv[i], "--json") == 0)
            v->json = true;
        else if (strcmp(argv[i], "--samples") == 0)
            HONE_TRY(take_samples(v, ++i < *argc ? argv[i] : NULL));
        else if (hone_starts_with(argv[i], "--samples="))
            HONE_TRY(take_samples(v, argv[i] + strlen("--samples=")));
        else if (strcmp(argv[i], "--html") == 0)
            HONE_TRY(take_html(v, ++i < *argc ? argv[i] : NULL));
        else if (hone_starts_with(argv[i], "--html="))
            HONE_TRY(take_html(v, argv[i] + strlen("--html=")));
        else
            argv[n++] = argv[i];
    }
    *argc = n;
    HONE_CHECK(!v->json || !v->html, HONE_E_USAGE, "--json and --html are two forms of the same; ask for one");
    return HONE_OK;
}

/* ---- what the forms share ---- */

data_histogram data_view_histogram(const hone_dataset *d)
{
    int64_t        longest = hone_dataset_get_report(d)->longest;
    data_histogram h = { .width = 1, .most = 1 };

    for (int64_t next[] = { 2, 5, 10 }, scale = 1, i = 0; h.width * DATA_BUCKETS < longest; i++) {
        h.width = next[i % 3] * scale;
        if (i % 3 == 2)
            scale *= 10;
    }
    for (int64_t i = 0; i < hone_dataset_len(d); i++)
        h.counts[(hone_dataset_at(d, i).n - 1) / h.width]++;
    h.buckets = (longest + h.width - 1) / h.width;
    for (int i = 0; i < DATA_BUCKETS; i++)
        h.most = HONE_MAX(h.most, h.counts[i]);
    return h;
}

const char *data_view_eval_name(const data_view *v)
{
    return v->options->eval_dataset.n ? "eval_dataset" : "held out (val_size)";
}

const char *data_view_kind(const hone_sample *s)
{
    return s->rejected_ids ? ", chosen" : s->desirable == 1 ? ", desirable" : s->desirable == 0 ? ", undesirable" : "";
}

hone_status data_view_steps(const data_view *v, hone_str *out)
{
    const hone_options *o = v->options;
    const hone_packing *packing;
    hone_loader        *loader;
    hone_step_plan      plan;
    hone_status         st = HONE_OK;

    if (hone_dataset_len(v->train) == 0) {
        hone_str_puts(out, "no sample is left to train on\n");
        return HONE_OK;
    }
    HONE_TRY(hone_loader_create(&loader, v->train, o));
    HONE_GO(hone_loader_step(loader, 0, &plan));
    packing = hone_loader_packing(loader);
    if (packing->length)
        hone_str_printf(out, "packing (%s): %lld samples in %lld rows of %lld tokens, %.1f %% full; the fullest row has "
                        "%lld tokens, the emptiest %lld\n", hone_option_choice("packing_strategy", o->packing_strategy),
                        (long long)packing->samples, (long long)packing->rows, (long long)packing->length,
                        100 * hone_packing_fill(packing), (long long)packing->fullest, (long long)packing->emptiest);
    hone_str_printf(
        out,
        "steps: %lld in the first epoch, %lld in all; the first one has %lld samples, %lld tokens, %lld with a "
        "loss, in %lld micro-batches\n",
        (long long)hone_loader_epoch_steps(loader), (long long)hone_loader_total_steps(loader),
        (long long)plan.begin[plan.micro_batches], (long long)plan.tokens, (long long)plan.supervised,
        (long long)plan.micro_batches);
out:
    hone_loader_destroy(&loader);
    return st;
}

/* ---- the command ---- */

/* The number of rows that the model's config gives its embedding, -1 if it does not say. */
static hone_status read_vocabulary(int64_t *rows, const char *dir)
{
    json_t       *config;
    const json_t *size;

    *rows = -1;
    HONE_TRY(hone_json_read_if_there(&config, dir, "config.json"));
    size = json_object_get(config, "vocab_size");
    if (json_is_integer(size))
        *rows = json_integer_value(size);
    json_decref(config);
    return HONE_OK;
}

/* Ids that the model has no row for are shown like others, and said. */
static hone_status check_vocabulary(const data_view *v, const char *dir)
{
    const hone_dataset_context context = { .options = v->options, .tokenizer = v->tokenizer, .slots = v->slots, .model_dir = dir };
    int64_t                    rows;

    HONE_TRY(read_vocabulary(&rows, dir));
    if (rows >= 0 && v->train)
        HONE_TRY(hone_dataset_check_ids(v->train, &context, rows));
    if (rows >= 0 && v->eval)
        HONE_TRY(hone_dataset_check_ids(v->eval, &context, rows));
    return HONE_OK;
}

/* What training with the options as they are would refuse. */
static hone_status verdict(const data_view *v)
{
    const hone_dataset *const sets[] = { v->train, v->eval };
    int64_t bad = 0, too_long = 0;

    for (size_t i = 0; i < HONE_COUNTOF(sets); i++)
        if (sets[i]) {
            bad += hone_dataset_get_report(sets[i])->fates[HONE_ROW_BAD];
            too_long += hone_dataset_get_report(sets[i])->fates[HONE_ROW_TOO_LONG];
        }
    HONE_CHECK(!v->vocabulary, HONE_E_DATA, "%s", v->vocabulary);
    HONE_CHECK(!bad || v->options->bad_rows != HONE_BAD_ROWS_ERROR, HONE_E_DATA,
               "rows that cannot be used (%lld, listed above): "
               "training refuses them; mend them, or set bad_rows: drop to leave them out",
               (long long)bad);
    HONE_CHECK(!too_long || v->options->truncation != HONE_TRUNCATION_ERROR, HONE_E_DATA,
               "rows longer than cutoff_len (%lld, listed "
               "above): training refuses them; raise cutoff_len, or set truncation to drop, cut-left or cut-right",
               (long long)too_long);
    if (v->train)
        HONE_TRY(hone_dataset_check_left(v->train, "dataset"));
    return v->eval ? hone_dataset_check_left(v->eval, data_view_eval_name(v)) : HONE_OK;
}

static void warn_added(const data_view *v)
{
    size_t         n = 0;
    const hone_log log = hone_log_stderr(HONE_LOG_INFO);
    const int32_t *added = v->slots ? hone_slots_added(v->slots, &n) : NULL;

    for (size_t i = 0; i < n; i++)
        hone_warn(&log, "template: %s uses the token %s, which the vocabulary lacks; here it has the id %d",
                  hone_slots_name(v->slots), hone_tokenizer_content(v->tokenizer, added[i]), added[i]);
}

static hone_status load(data_view *v, const char *dir)
{
    hone_dataset_context context = { .options = v->options, .listing = true, .documents = v->json };

    HONE_TRY(hone_dataset_open_text(&v->tokenizer, &v->chat, &v->slots, dir, v->options));
    warn_added(v);
    context.tokenizer = v->tokenizer;
    context.chat = v->chat;
    context.slots = v->slots;
    return hone_dataset_load(&v->train, &v->eval, &context);
}

static hone_status write_out(const data_view *v, const hone_str *text)
{
    const hone_log log = hone_log_stderr(HONE_LOG_INFO);

    HONE_TRY(hone_str_ok(text));
    if (v->html) {
        HONE_TRY(hone_file_write_all(v->html, hone_str_c(text), text->len));
        hone_info(&log, "wrote %s", v->html);
        return HONE_OK;
    }
    HONE_CHECK(fwrite(hone_str_c(text), 1, text->len, stdout) == text->len && fflush(stdout) == 0, HONE_E_IO,
               "standard output cannot be written");
    return HONE_OK;
}

static hone_status show(const data_view *v)
{
    hone_str    out = HONE_STR_INIT;
    hone_status st;

    if (v->json)
        return data_view_json(v);
    st = v->html ? data_view_html(v, &out) : data_view_text(v, &out);
    if (st == HONE_OK)
        st = write_out(v, &out);
    hone_str_deinit(&out);
    return st;
}

/* Show what there is, then say what training would refuse. JSON is for programs that judge for themselves: for them that is
 * a warning on standard error. */
static hone_status show_and_judge(data_view *v, const char *dir)
{
    char       *complaint = NULL;
    hone_log    log = hone_log_stderr(HONE_LOG_INFO);
    hone_status vocabulary = check_vocabulary(v, dir), st;

    if (vocabulary != HONE_OK) {
        HONE_CHECK(vocabulary == HONE_E_DATA && (complaint = hone_strdup(hone_status_text())), vocabulary, "%s",
                   hone_status_text());
        hone_status_clear();
        v->vocabulary = complaint;
    }
    HONE_GO(show(v));
    st = verdict(v);
    if (st == HONE_E_DATA && v->json) {
        hone_warn(&log, "%s", hone_status_text());
        hone_status_clear();
        st = HONE_OK;
    }
out:
    hone_free(complaint);
    v->vocabulary = NULL;
    return st;
}

hone_status hone_inspect_data(int argc, char **argv)
{
    data_view   v = { 0 };
    char       *dir = NULL;
    hone_status st;

    HONE_TRY(take_flags(&v, &argc, argv));
    HONE_GO_CHECK(argc > 0, HONE_E_USAGE, "hone inspect data needs a config: hone inspect data CONFIG.yaml "
                  "[--key value]; hone train --help shows a small one");
    HONE_GO(hone_options_load_data(&v.options, argc, argv));
    HONE_GO_CHECK(v.options->model_name_or_path, HONE_E_USAGE,
                  "model_name_or_path is missing: the model whose tokenizer and chat "
                  "template the data goes through");
    HONE_GO(hone_model_dir_locate(&dir, v.options->model_name_or_path, v.options->model_revision));
    HONE_GO(load(&v, dir));
    HONE_GO(show_and_judge(&v, dir));
out:
    hone_dataset_destroy(&v.train);
    hone_dataset_destroy(&v.eval);
    hone_chat_destroy(&v.chat);
    hone_slots_destroy(&v.slots);
    hone_tokenizer_destroy(&v.tokenizer);
    hone_options_destroy(&v.options);
    hone_free(dir);
    return st;
}
