/* hone inspect data --json: every row as one line, for other programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/inspect_data.h"

enum { FLUSH = 1 << 16 };

static hone_status flush(hone_str *out, size_t limit)
{
    HONE_TRY(hone_str_ok(out));
    if (out->len < limit)
        return HONE_OK;
    HONE_CHECK(fwrite(hone_str_c(out), 1, out->len, stdout) == out->len && fflush(stdout) == 0, HONE_E_IO,
               "standard output cannot be written");
    hone_str_clear(out);
    return HONE_OK;
}

static void put_text(hone_str *out, const char *key, const char *text)
{
    hone_str_printf(out, "\"%s\": ", key);
    hone_json_quote(out, text, strlen(text));
}

static void put_numbers(hone_str *out, const char *key, const int32_t *v, int64_t n)
{
    hone_str_printf(out, ", \"%s\": [", key);
    for (int64_t i = 0; i < n; i++) {
        char  digits[16], *p = digits + sizeof digits;
        bool  negative = v[i] < 0;
        int64_t rest = negative ? -(int64_t)v[i] : v[i];

        do
            *--p = (char)('0' + rest % 10);
        while (rest /= 10);
        if (negative)
            *--p = '-';
        if (i)
            hone_str_append(out, ", ", 2);
        hone_str_append(out, p, (size_t)(digits + sizeof digits - p));
    }
    hone_str_putc(out, ']');
}

static void put_place(hone_str *out, const hone_dataset *d, int32_t source, int64_t row)
{
    hone_str_putc(out, '{');
    put_text(out, "source", hone_dataset_source_path(d, source));
    hone_str_printf(out, ", \"row\": %" PRId64, row);
}

static hone_status put_sample(hone_str *out, const hone_dataset *d, int64_t i)
{
    hone_sample s = hone_dataset_at(d, i);

    put_place(out, d, s.source, s.row);
    put_numbers(out, s.rejected_ids ? "chosen_ids" : "ids", s.ids, s.n);
    put_numbers(out, s.rejected_ids ? "chosen_labels" : "labels", s.labels, s.n);
    if (s.rejected_ids) {
        put_numbers(out, "rejected_ids", s.rejected_ids, s.rejected_n);
        put_numbers(out, "rejected_labels", s.rejected_labels, s.rejected_n);
    }
    if (s.desirable >= 0)
        hone_str_printf(out, ", \"desirable\": %s", s.desirable ? "true" : "false");
    hone_str_puts(out, "}\n");
    return flush(out, FLUSH);
}

static hone_status put_note(hone_str *out, const hone_dataset *d, hone_row_note note)
{
    if (note.fate == HONE_ROW_KEPT || note.fate == HONE_ROW_CUT)
        return HONE_OK;         /* such a row is a sample */
    put_place(out, d, note.source, note.row);
    hone_str_puts(out, ", ");
    put_text(out, "dropped", note.why);
    hone_str_puts(out, "}\n");
    return flush(out, FLUSH);
}

static hone_status put_dataset(hone_str *out, const hone_dataset *d)
{
    const hone_dataset_report *r = hone_dataset_get_report(d);
    int64_t                    note = 0;

    for (int64_t i = 0; i <= hone_dataset_len(d); i++) {
        for (; note < r->n_notes && hone_dataset_note(d, note).before <= i; note++)
            HONE_TRY(put_note(out, d, hone_dataset_note(d, note)));
        if (i < hone_dataset_len(d))
            HONE_TRY(put_sample(out, d, i));
    }
    return HONE_OK;
}

hone_status data_view_json(const data_view *v)
{
    hone_str    out = HONE_STR_INIT;
    hone_status st = HONE_OK;

    if (v->train)
        HONE_GO(put_dataset(&out, v->train));
    if (v->eval)
        HONE_GO(put_dataset(&out, v->eval));
    HONE_GO(flush(&out, 0));
out:
    hone_str_deinit(&out);
    return st;
}
