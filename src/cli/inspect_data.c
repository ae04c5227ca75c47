/*
 * hone inspect data CONFIG.yaml [--key value …] [--samples N] [--color]: the data set as it will be trained on. Nothing
 * of the model is read but its tokenizer, its template and its config.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "data/loader.h"
#include "io/model_dir.h"

enum { SHOWN_IDS = 200, BUCKETS = 12, BAR = 40 };

typedef struct view {
    int64_t         samples;
    bool            color;
    hone_options   *options;
    hone_options    lenient;        /* the same, but bad rows and long ones are listed rather than refused */
    hone_tokenizer *tokenizer;
    hone_chat      *chat;
    hone_dataset   *train, *eval;
    hone_str        out;
} view;

/* ---- arguments ---- */

static hone_status take_samples(view *v, const char *value)
{
    char *end;

    HONE_CHECK(value && *value, HONE_E_USAGE, "--samples takes the number of samples to show");
    v->samples = strtoll(value, &end, 10);
    HONE_CHECK(!*end && v->samples >= 0, HONE_E_USAGE, "--samples takes a number from 0, not \"%s\"", value);
    return HONE_OK;
}

/* Takes this command's own flags out of argv; the rest are options. */
static hone_status take_flags(view *v, int *argc, char **argv)
{
    int n = 0;

    v->samples = 3;
    v->color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    for (int i = 0; i < *argc; i++) {
        if (strcmp(argv[i], "--color") == 0)
            v->color = true;
        else if (strcmp(argv[i], "--no-color") == 0)
            v->color = false;
        else if (strcmp(argv[i], "--samples") == 0)
            HONE_TRY(take_samples(v, ++i < *argc ? argv[i] : NULL));
        else if (hone_starts_with(argv[i], "--samples="))
            HONE_TRY(take_samples(v, argv[i] + strlen("--samples=")));
        else
            argv[n++] = argv[i];
    }
    *argc = n;
    return HONE_OK;
}

/* ---- what is there ---- */

static void print_counts(view *v, const hone_dataset *d, const char *name)
{
    const hone_dataset_report *r = hone_dataset_get_report(d);

    hone_str_printf(&v->out, "%s: %lld rows, %lld samples\n  rows  ", name, (long long)r->rows,
                    (long long)hone_dataset_len(d));
    for (int f = 0; f < HONE_ROW_FATES; f++)
        hone_str_printf(&v->out, " %s%lld %s", f ? " " : "", (long long)r->fates[f],
                        hone_row_fate_text((hone_row_fate)f));
    hone_str_printf(
        &v->out, "\n  tokens %lld: %lld kept, %lld cut, %lld dropped; %lld with a loss (%.1f %% of those kept)\n",
        (long long)r->tokens_in, (long long)r->tokens_kept, (long long)r->tokens_cut, (long long)r->tokens_dropped,
        (long long)r->supervised, r->tokens_kept ? 100.0 * (double)r->supervised / (double)r->tokens_kept : 0.0);
    if (r->reasoning_removed)
        hone_str_printf(
            &v->out, "  the chat template left out the reasoning of %lld answers, as it does when the model is used\n",
            (long long)r->reasoning_removed);
    if (r->lists_printed)
        hone_str_printf(&v->out, "  in %lld rows the chat template writes content that is a list as [{'type': 'text', ...}]\n",
                        (long long)r->lists_printed);
    for (size_t i = 0; i < r->n_notes; i++)
        hone_str_printf(&v->out, "  %s: %s, line %lld: %s\n", hone_row_fate_text(r->notes[i].fate),
                        hone_dataset_source_path(d, r->notes[i].source), (long long)r->notes[i].line, r->notes[i].why);
}

/* Samples by length, in steps of a round number of tokens. */
static void print_histogram(view *v, const hone_dataset *d)
{
    int64_t longest = hone_dataset_get_report(d)->longest, width = 1, counts[BUCKETS] = { 0 }, most = 1;

    for (int64_t next[] = { 2, 5, 10 }, scale = 1, i = 0; width * BUCKETS < longest; i++) {
        width = next[i % 3] * scale;
        if (i % 3 == 2)
            scale *= 10;
    }
    for (int64_t i = 0; i < hone_dataset_len(d); i++)
        counts[(hone_dataset_at(d, i).n - 1) / width]++;
    for (int i = 0; i < BUCKETS; i++)
        most = HONE_MAX(most, counts[i]);
    hone_str_printf(&v->out, "  %15s %9s\n", "tokens", "samples");
    for (int64_t i = 0; i < BUCKETS && i * width < longest; i++) {
        hone_str_printf(&v->out, "  %7lld-%-7lld %9lld ", (long long)(i * width + 1), (long long)((i + 1) * width),
                        (long long)counts[i]);
        for (int64_t k = 0; k < (counts[i] * BAR + most - 1) / most; k++)
            hone_str_putc(&v->out, '#');
        hone_str_putc(&v->out, '\n');
    }
}

static hone_status print_steps(view *v)
{
    const hone_options *o = v->options;
    hone_loader        *loader;
    hone_step_plan      plan;
    hone_status         st = HONE_OK;

    HONE_TRY(hone_loader_create(&loader, v->train, o));
    HONE_GO(hone_loader_step(loader, 0, &plan));
    if (o->packing == HONE_TRI_TRUE && o->stage != HONE_STAGE_PT)
        hone_str_printf(&v->out, "packs of %lld tokens, %.1f %% full\n", (long long)o->pack_length,
                        100 * hone_loader_fill(loader));
    hone_str_printf(
        &v->out,
        "steps: %lld in the first epoch, %lld in all; the first one has %lld samples, %lld tokens, %lld with a "
        "loss, in %lld micro-batches\n",
        (long long)hone_loader_epoch_steps(loader), (long long)hone_loader_total_steps(loader),
        (long long)plan.begin[plan.micro_batches], (long long)plan.tokens, (long long)plan.supervised,
        (long long)plan.micro_batches);
out:
    hone_loader_destroy(&loader);
    return st;
}

/* ---- samples ---- */

static void paint(view *v, bool supervised)
{
    if (v->color)
        hone_str_puts(&v->out, supervised ? "\033[0;32m" : "\033[0;2m");
    else
        hone_str_puts(&v->out, supervised ? "[[" : "]]");
}

static void plain(view *v)
{
    if (v->color)
        hone_str_puts(&v->out, "\033[0m");
}

/* Text for a terminal: control characters and bytes that are no UTF-8 are written as \xNN. */
static void print_text(hone_str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        size_t        len = c < 0x80 ? 1 : hone_utf8_len(c);
        bool          bad = len > n - i || hone_utf8_valid_prefix(s + i, len) != len;
        bool          control =
            (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F || (c == 0xC2 && !bad && (unsigned char)s[i + 1] < 0xA0);

        if (bad || (control && len == 1)) {
            hone_str_printf(out, "\\x%02x", c);
            i++;
            continue;
        }
        if (control)
            hone_str_printf(out, "\\x%02x\\x%02x", c, (unsigned char)s[i + 1]);
        else
            hone_str_append(out, s + i, len);
        i += len;
    }
}

static hone_status print_sample_text(view *v, const hone_sample *s)
{
    hone_str    run = HONE_STR_INIT;
    hone_status st = HONE_OK;

    if (v->color)
        paint(v, false);
    for (int64_t t = 0, end; t < s->n; t = end) {
        bool on = s->labels[t] >= 0;

        hone_str_clear(&run);
        for (end = t; end < s->n && (s->labels[end] >= 0) == on; end++)
            HONE_GO(hone_tokenizer_token_bytes(v->tokenizer, &run, s->ids[end]));
        if (on)
            paint(v, true);
        print_text(&v->out, hone_str_c(&run), run.len);
        if (on)
            paint(v, false);
    }
    plain(v);
    hone_str_putc(&v->out, '\n');
    HONE_GO(hone_str_ok(&run));
out:
    hone_str_deinit(&run);
    return st;
}

static void print_numbers(view *v, const hone_sample *s, const char *name, const int32_t *numbers)
{
    hone_str_printf(&v->out, "%s", name);
    for (int64_t t = 0; t < HONE_MIN(s->n, (int64_t)SHOWN_IDS); t++) {
        if (v->color && (t == 0 || (s->labels[t] >= 0) != (s->labels[t - 1] >= 0)))
            paint(v, s->labels[t] >= 0);
        hone_str_printf(&v->out, " %d", numbers[t]);
    }
    plain(v);
    if (s->n > SHOWN_IDS)
        hone_str_printf(&v->out, " ... and %lld more", (long long)(s->n - SHOWN_IDS));
    hone_str_putc(&v->out, '\n');
}

static hone_status print_samples(view *v)
{
    int64_t n = HONE_MIN(v->samples, hone_dataset_len(v->train));

    if (n > 0)
        hone_str_printf(&v->out, "\nwhat has a loss is %s\n", v->color ? "green" : "in [[ ]]");
    for (int64_t i = 0; i < n; i++) {
        hone_sample s = hone_dataset_at(v->train, i);

        hone_str_printf(&v->out, "\nsample %lld (%s, line %lld): %lld tokens, %lld with a loss\n", (long long)i,
                        hone_dataset_source_path(v->train, s.source), (long long)s.line, (long long)s.n,
                        (long long)s.supervised);
        if (v->tokenizer)
            HONE_TRY(print_sample_text(v, &s));
        print_numbers(v, &s, "ids:   ", s.ids);
        print_numbers(v, &s, "labels:", s.labels);
    }
    return hone_str_ok(&v->out);
}

/* ---- the command ---- */

/* Ids that the model has no row for, as its config says. */
static hone_status check_vocabulary(const view *v, const char *dir)
{
    char         *path = hone_path_join(dir, "config.json");
    json_t       *config = NULL;
    const json_t *size;
    hone_status   st = HONE_OK;

    HONE_GO(path ? HONE_OK : HONE_E_NOMEM);
    if (!hone_path_exists(path))
        goto out;
    HONE_GO(hone_json_read(&config, path));
    size = json_object_get(config, "vocab_size");
    if (json_is_integer(size) && v->train)
        HONE_GO(hone_dataset_check_ids(v->train, json_integer_value(size)));
    if (json_is_integer(size) && v->eval)
        HONE_GO(hone_dataset_check_ids(v->eval, json_integer_value(size)));
out:
    hone_free(path);
    json_decref(config);
    return st;
}

/* What training with the options as they are would refuse. */
static hone_status verdict(const view *v)
{
    const hone_dataset *const sets[] = { v->train, v->eval };
    int64_t bad = 0, too_long = 0;

    for (size_t i = 0; i < HONE_COUNTOF(sets); i++)
        if (sets[i]) {
            bad += hone_dataset_get_report(sets[i])->fates[HONE_ROW_BAD];
            too_long += hone_dataset_get_report(sets[i])->fates[HONE_ROW_TOO_LONG];
        }
    HONE_CHECK(!bad || v->options->bad_rows != HONE_BAD_ROWS_ERROR, HONE_E_DATA,
               "rows that cannot be used (%lld, listed above): "
               "training refuses them; mend them, or set bad_rows: drop to leave them out",
               (long long)bad);
    HONE_CHECK(!too_long || v->options->truncation != HONE_TRUNCATION_ERROR, HONE_E_DATA,
               "rows longer than cutoff_len (%lld, listed "
               "above): training refuses them; raise cutoff_len, or set truncation to drop, cut-left or cut-right",
               (long long)too_long);
    return HONE_OK;
}

static hone_status load(view *v, const char *dir)
{
    hone_dataset_context context = { .options = &v->lenient };

    HONE_TRY(hone_dataset_open_text(&v->tokenizer, &v->chat, dir, v->options));
    v->lenient = *v->options;
    v->lenient.bad_rows = HONE_BAD_ROWS_DROP;
    if (v->lenient.truncation == HONE_TRUNCATION_ERROR)
        v->lenient.truncation = HONE_TRUNCATION_DROP;
    context.tokenizer = v->tokenizer;
    context.chat = v->chat;
    HONE_TRY(hone_dataset_load(&v->train, &v->eval, &context));
    return check_vocabulary(v, dir);
}

static hone_status print_all(view *v)
{
    if (v->train) {
        print_counts(v, v->train, "dataset");
        print_histogram(v, v->train);
        HONE_TRY(print_steps(v));
    }
    if (v->eval) {
        print_counts(v, v->eval, v->options->eval_dataset.n ? "eval_dataset" : "held out (val_size)");
        print_histogram(v, v->eval);
    }
    if (v->train)
        HONE_TRY(print_samples(v));
    HONE_TRY(hone_str_ok(&v->out));
    HONE_CHECK(fwrite(v->out.data, 1, v->out.len, stdout) == v->out.len && fflush(stdout) == 0, HONE_E_IO,
               "standard output cannot be written");
    return HONE_OK;
}

hone_status hone_inspect_data(int argc, char **argv)
{
    view        v = { .out = HONE_STR_INIT };
    char       *dir = NULL;
    hone_status st;

    HONE_TRY(take_flags(&v, &argc, argv));
    HONE_GO_CHECK(argc > 0, HONE_E_USAGE, "hone inspect data needs a config: hone inspect data CONFIG.yaml [--key value]; hone train --help shows a "
                  "small one");
    HONE_GO(hone_options_load_no_train(&v.options, argc, argv));
    HONE_GO_CHECK(v.options->model_name_or_path, HONE_E_USAGE,
                  "model_name_or_path is missing: the model whose tokenizer and chat "
                  "template the data goes through");
    HONE_GO(hone_model_dir_locate(&dir, v.options->model_name_or_path, v.options->model_revision));
    HONE_GO(load(&v, dir));
    HONE_GO(print_all(&v));
    HONE_GO(verdict(&v));
out:
    hone_dataset_destroy(&v.train);
    hone_dataset_destroy(&v.eval);
    hone_chat_destroy(&v.chat);
    hone_tokenizer_destroy(&v.tokenizer);
    hone_options_destroy(&v.options);
    hone_str_deinit(&v.out);
    hone_free(dir);
    return st;
}
