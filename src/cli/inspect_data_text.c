/* hone inspect data, for a terminal. */
#include <string.h>

#include "base/utf8.h"
#include "cli/inspect_data.h"
#include "data/reader.h"

enum { SHOWN_IDS = 200, BAR = 40 };

/* ---- what is there ---- */

static void put_clean(hone_str *out, const char *text) { hone_utf8_append_clean(out, text, strlen(text)); }

static void put_counts(hone_str *out, const hone_dataset *d, const char *name)
{
    const hone_dataset_report *r = hone_dataset_get_report(d);

    hone_str_printf(out, "%s: %lld rows, %lld samples\n  rows  ", name, (long long)r->rows,
                    (long long)hone_dataset_len(d));
    for (int f = 0; f < HONE_ROW_FATES; f++)
        hone_str_printf(out, " %s%lld %s", f ? " " : "", (long long)r->fates[f], hone_row_fate_text((hone_row_fate)f));
    hone_str_printf(
        out, "\n  tokens %lld: %lld kept, %lld cut, %lld dropped; %lld with a loss (%.1f %% of those kept)\n",
        (long long)r->tokens_in, (long long)r->tokens_kept, (long long)r->tokens_cut, (long long)r->tokens_dropped,
        (long long)r->supervised, r->tokens_kept ? 100.0 * (double)r->supervised / (double)r->tokens_kept : 0.0);
    if (r->reasoning_removed)
        hone_str_printf(
            out, "  the chat template left out the reasoning of %lld answers, as it does when the model is used\n",
            (long long)r->reasoning_removed);
    if (r->lists_printed)
        hone_str_printf(out, "  in %lld rows the chat template writes content that is a list as [{'type': 'text', ...}]\n",
                        (long long)r->lists_printed);
    if (r->prompts_differ)
        hone_str_printf(out, "  in %lld rows the text before the last answer is not what the chat template asks for an answer with\n",
                        (long long)r->prompts_differ);
    for (int64_t i = 0; i < r->n_notes; i++) {
        hone_row_note note = hone_dataset_note(d, i);

        hone_str_printf(out, "  %s: ", hone_row_fate_text(note.fate));
        put_clean(out, hone_dataset_source_path(d, note.source));
        hone_str_printf(out, ", %s: ", hone_row_place_of(note.row, note.line).text);
        put_clean(out, note.why);
        hone_str_putc(out, '\n');
    }
}

static void put_histogram(hone_str *out, const hone_dataset *d)
{
    data_histogram h = data_view_histogram(d);

    hone_str_printf(out, "  %15s %9s\n", "tokens", "samples");
    for (int64_t i = 0; i < h.buckets; i++) {
        hone_str_printf(out, "  %7lld-%-7lld %9lld ", (long long)(i * h.width + 1), (long long)((i + 1) * h.width),
                        (long long)h.counts[i]);
        for (int64_t k = 0; k < (h.counts[i] * BAR + h.most - 1) / h.most; k++)
            hone_str_putc(out, '#');
        hone_str_putc(out, '\n');
    }
}

/* ---- samples ---- */

static void paint(const data_view *v, hone_str *out, bool supervised)
{
    if (v->color)
        hone_str_puts(out, supervised ? "\033[0;32m" : "\033[0;2m");
    else
        hone_str_puts(out, supervised ? "[[" : "]]");
}

static void plain(const data_view *v, hone_str *out)
{
    if (v->color)
        hone_str_puts(out, "\033[0m");
}

/* A sequence of tokens with their labels. */
typedef struct tokens { const int32_t *ids, *labels; int64_t n; } tokens;

static hone_status put_token_text(const data_view *v, hone_str *out, const tokens *s)
{
    hone_str    run = HONE_STR_INIT;
    hone_status st = HONE_OK;

    if (v->color)
        paint(v, out, false);
    for (int64_t t = 0, end; t < s->n; t = end) {
        bool on = s->labels[t] >= 0;

        hone_str_clear(&run);
        for (end = t; end < s->n && (s->labels[end] >= 0) == on; end++)
            HONE_GO(hone_tokenizer_token_bytes(v->tokenizer, &run, s->ids[end]));
        if (on)
            paint(v, out, true);
        hone_utf8_append_clean(out, hone_str_c(&run), run.len);
        if (on)
            paint(v, out, false);
    }
    plain(v, out);
    hone_str_putc(out, '\n');
    HONE_GO(hone_str_ok(&run));
out:
    hone_str_deinit(&run);
    return st;
}

static void put_numbers(const data_view *v, hone_str *out, const tokens *s, const char *name, const int32_t *numbers)
{
    hone_str_printf(out, "%s", name);
    for (int64_t t = 0; t < HONE_MIN(s->n, (int64_t)SHOWN_IDS); t++) {
        if (v->color && (t == 0 || (s->labels[t] >= 0) != (s->labels[t - 1] >= 0)))
            paint(v, out, s->labels[t] >= 0);
        hone_str_printf(out, " %d", numbers[t]);
    }
    plain(v, out);
    if (s->n > SHOWN_IDS)
        hone_str_printf(out, " ... and %lld more", (long long)(s->n - SHOWN_IDS));
    hone_str_putc(out, '\n');
}

static hone_status put_tokens(const data_view *v, hone_str *out, tokens s)
{
    if (v->tokenizer)
        HONE_TRY(put_token_text(v, out, &s));
    put_numbers(v, out, &s, "ids:   ", s.ids);
    put_numbers(v, out, &s, "labels:", s.labels);
    return HONE_OK;
}

static hone_status put_samples(const data_view *v, hone_str *out)
{
    int64_t n = HONE_MIN(v->samples, hone_dataset_len(v->train));

    if (n > 0)
        hone_str_printf(out, "\nwhat has a loss is %s\n", v->color ? "green" : "in [[ ]]");
    for (int64_t i = 0; i < n; i++) {
        hone_sample s = hone_dataset_at(v->train, i);

        hone_str_printf(out, "\nsample %lld (", (long long)i);
        put_clean(out, hone_dataset_source_path(v->train, s.source));
        hone_str_printf(out, ", %s): %lld tokens, %lld with a loss%s\n", hone_row_place_of(s.row, s.line).text, (long long)s.n,
                        (long long)s.supervised, data_view_kind(&s));
        HONE_TRY(put_tokens(v, out, (tokens){ s.ids, s.labels, s.n }));
        if (s.rejected_ids) {
            hone_str_printf(out, "rejected: %lld tokens\n", (long long)s.rejected_n);
            HONE_TRY(put_tokens(v, out, (tokens){ s.rejected_ids, s.rejected_labels, s.rejected_n }));
        }
    }
    return hone_str_ok(out);
}

hone_status data_view_text(const data_view *v, hone_str *out)
{
    if (v->train) {
        put_counts(out, v->train, "dataset");
        put_histogram(out, v->train);
        HONE_TRY(data_view_steps(v, out));
    }
    if (v->eval) {
        put_counts(out, v->eval, data_view_eval_name(v));
        put_histogram(out, v->eval);
    }
    if (v->train)
        HONE_TRY(put_samples(v, out));
    return hone_str_ok(out);
}
