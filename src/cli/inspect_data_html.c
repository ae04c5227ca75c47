/* hone inspect data --html: a page of its own, without scripts and without anything loaded from elsewhere. */
#include <string.h>

#include "base/utf8.h"
#include "cli/inspect_data.h"
#include "data/reader.h"

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}"
    "h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem}"
    "table{border-collapse:collapse}td,th{padding:.15rem .6rem;text-align:left;border-bottom:1px solid #ddd}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".bar{background:#7aa6d8;height:.8rem;min-width:1px}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f6f6f4;padding:.8rem;border-radius:4px;margin:.3rem 0}"
    ".t{color:#777}.l{color:#0a6b2d;background:#dff3e4}.t,.l{border-left:1px solid #ccc}"
    "summary{cursor:pointer}";

/* Text for the body of a page. */
static void put_escaped(hone_str *out, const char *s, size_t n)
{
    hone_str clean = HONE_STR_INIT;

    hone_utf8_append_clean(&clean, s, n);
    for (size_t i = 0; i < clean.len; i++) {
        char c = clean.data[i];

        if (c == '<')
            hone_str_puts(out, "&lt;");
        else if (c == '>')
            hone_str_puts(out, "&gt;");
        else if (c == '&')
            hone_str_puts(out, "&amp;");
        else if (c == '"')
            hone_str_puts(out, "&quot;");
        else
            hone_str_putc(out, c);
    }
    out->failed |= clean.failed;
    hone_str_deinit(&clean);
}

static void put_text(hone_str *out, const char *s) { put_escaped(out, s, strlen(s)); }

static void put_count(hone_str *out, const char *name, int64_t n)
{
    hone_str_printf(out, "<tr><td>%s</td><td class=n>%lld</td></tr>\n", name, (long long)n);
}

static void put_counts(hone_str *out, const hone_dataset_report *r, int64_t samples)
{
    hone_str_puts(out, "<table>\n");
    put_count(out, "rows", r->rows);
    for (int f = 0; f < HONE_ROW_FATES; f++) {
        char name[64];

        snprintf(name, sizeof name, "rows %s", hone_row_fate_text((hone_row_fate)f));
        put_count(out, name, r->fates[f]);
    }
    put_count(out, "samples", samples);
    put_count(out, "tokens read", r->tokens_in);
    put_count(out, "tokens kept", r->tokens_kept);
    put_count(out, "tokens cut", r->tokens_cut);
    put_count(out, "tokens dropped", r->tokens_dropped);
    put_count(out, "tokens with a loss", r->supervised);
    put_count(out, "longest sample", r->longest);
    put_count(out, "answers whose reasoning the template left out", r->reasoning_removed);
    hone_str_puts(out, "</table>\n");
}

static void put_histogram(hone_str *out, const hone_dataset *d)
{
    data_histogram h = data_view_histogram(d);

    hone_str_puts(out, "<h3>Lengths</h3>\n<table><tr><th class=n>tokens</th><th class=n>samples</th><th></th></tr>\n");
    for (int64_t i = 0; i < h.buckets; i++)
        hone_str_printf(out, "<tr><td class=n>%lld–%lld</td><td class=n>%lld</td><td style=\"width:30rem\">"
                        "<div class=bar style=\"width:%.1f%%\"></div></td></tr>\n",
                        (long long)(i * h.width + 1), (long long)((i + 1) * h.width), (long long)h.counts[i],
                        100.0 * (double)h.counts[i] / (double)h.most);
    hone_str_puts(out, "</table>\n");
}

static void put_notes(hone_str *out, const hone_dataset *d, const hone_dataset_report *r)
{
    if (!r->n_notes)
        return;
    hone_str_printf(out, "<details open><summary>Rows cut or left out: %lld</summary>\n"
                    "<table><tr><th>row</th><th>file</th><th class=n>line</th><th>why</th></tr>\n", (long long)r->n_notes);
    for (int64_t i = 0; i < r->n_notes; i++) {
        hone_row_note note = hone_dataset_note(d, i);

        hone_str_printf(out, "<tr><td>%s</td><td>", hone_row_fate_text(note.fate));
        put_text(out, hone_dataset_source_path(d, note.source));
        hone_str_printf(out, "</td><td class=n>%lld</td><td>", (long long)note.line);
        put_text(out, note.why);
        hone_str_puts(out, "</td></tr>\n");
    }
    hone_str_puts(out, "</table></details>\n");
}

/* One box per token: its text, and as a tooltip its place, id and label. */
static hone_status put_tokens(const data_view *v, hone_str *out, const int32_t *ids, const int32_t *labels, int64_t n)
{
    hone_str bytes = HONE_STR_INIT;

    hone_str_puts(out, "<pre>");
    for (int64_t t = 0; t < n; t++) {
        hone_status st = HONE_OK;

        hone_str_clear(&bytes);
        if (v->tokenizer)
            st = hone_tokenizer_token_bytes(v->tokenizer, &bytes, ids[t]);
        else
            hone_str_printf(&bytes, "%d ", ids[t]);
        if (st != HONE_OK || (st = hone_str_ok(&bytes)) != HONE_OK) {
            hone_str_deinit(&bytes);
            return st;
        }
        hone_str_printf(out, "<span class=%c title=\"%lld: id %d, label %d\">", labels[t] >= 0 ? 'l' : 't', (long long)t,
                        ids[t], labels[t]);
        put_escaped(out, hone_str_c(&bytes), bytes.len);
        hone_str_puts(out, "</span>");
    }
    hone_str_puts(out, "</pre>\n");
    hone_str_deinit(&bytes);
    return hone_str_ok(out);
}

static hone_status put_samples(const data_view *v, hone_str *out, const hone_dataset *d)
{
    int64_t n = HONE_MIN(v->samples, hone_dataset_len(d));

    for (int64_t i = 0; i < n; i++) {
        hone_sample s = hone_dataset_at(d, i);

        hone_str_printf(out, "<h3>Sample %lld</h3>\n<p>", (long long)i);
        put_text(out, hone_dataset_source_path(d, s.source));
        hone_str_printf(out, ", %s: %lld tokens, %lld with a loss%s</p>\n", hone_row_place_of(s.row, s.line).text, (long long)s.n,
                        (long long)s.supervised, data_view_kind(&s));
        HONE_TRY(put_tokens(v, out, s.ids, s.labels, s.n));
        if (s.rejected_ids) {
            hone_str_printf(out, "<p>rejected: %lld tokens</p>\n", (long long)s.rejected_n);
            HONE_TRY(put_tokens(v, out, s.rejected_ids, s.rejected_labels, s.rejected_n));
        }
    }
    return HONE_OK;
}

static hone_status put_dataset(const data_view *v, hone_str *out, const hone_dataset *d, const char *name)
{
    const hone_dataset_report *r = hone_dataset_get_report(d);

    hone_str_printf(out, "<h2>%s</h2>\n", name);
    put_counts(out, r, hone_dataset_len(d));
    put_notes(out, d, r);
    put_histogram(out, d);
    return put_samples(v, out, d);
}

hone_status data_view_html(const data_view *v, hone_str *out)
{
    hone_str    steps = HONE_STR_INIT;
    hone_status st = HONE_OK;

    hone_str_puts(out, "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><title>hone: data</title>\n<style>");
    hone_str_puts(out, style);
    hone_str_puts(out, "</style>\n<h1>What this run trains on</h1>\n<p>Text of a sample with a loss is "
                  "<span class=l>marked</span>; each box is a token, its id and label show under the pointer.</p>\n");
    if (v->vocabulary) {
        hone_str_puts(out, "<p><strong>");
        put_text(out, v->vocabulary);
        hone_str_puts(out, "</strong></p>\n");
    }
    if (v->train) {
        HONE_GO(data_view_steps(v, &steps));
        hone_str_puts(out, "<pre>");
        put_escaped(out, hone_str_c(&steps), steps.len);
        hone_str_puts(out, "</pre>\n");
        HONE_GO(put_dataset(v, out, v->train, "Training data"));
    }
    if (v->eval)
        HONE_GO(put_dataset(v, out, v->eval, v->options->eval_dataset.n ? "Evaluation data" : "Held-out data"));
    hone_str_puts(out, "</html>\n");
    HONE_GO(hone_str_ok(out));
out:
    hone_str_deinit(&steps);
    return st;
}
