/* Data sets: what is wrong with one, and what is in it, for people. */
#include <string.h>

#include "base/str.h"
#include "data/dataset_int.h"
#include "data/reader.h"

enum { MAX_LISTED = 20, MAX_TEXT = 3000 };      /* rows, and bytes of them, that one error names */
enum { MAX_LOGGED = 1000 };                     /* bad rows that the log names; of other rows MAX_LISTED */

static void list_rows(hone_str *s, const hone_dataset *d, hone_row_fate fate, int64_t *listed)
{
    for (int64_t i = 0; i < d->notes.len && *listed < MAX_LISTED && s->len < MAX_TEXT; i++) {
        hone_row_note n = hone_dataset_note(d, i);

        if (n.fate != fate)
            continue;
        hone_str_printf(s, "\n  %s, %s: %.400s", hone_dataset_source_path(d, n.source),
                        hone_row_place_of(n.row, n.line).text, n.why);
        ++*listed;
    }
}

/* Rows of this fate as one error, each with file, line and reason. */
static hone_status refuse_rows(const hone_dataset *d, const hone_dataset *held_out, hone_row_fate fate,
                               const char *what, const char *way_out)
{
    hone_str    s = HONE_STR_INIT;
    int64_t     count = d->report.fates[fate] + (held_out ? held_out->report.fates[fate] : 0), listed = 0;
    hone_status st;

    list_rows(&s, d, fate, &listed);
    if (held_out)
        list_rows(&s, held_out, fate, &listed);
    if (count > listed)
        hone_str_printf(&s, "\n  and %lld more; hone inspect data lists all of them", (long long)(count - listed));
    st = HONE_FAIL(HONE_E_DATA, "%lld %s %s:%s\n%s", (long long)count, count == 1 ? "row" : "rows", what,
                   hone_str_c(&s), way_out);
    hone_str_deinit(&s);
    return st;
}

static hone_status refuse_empty(const hone_dataset *d, const char *what)
{
    hone_str files = HONE_STR_INIT;

    for (size_t i = 0; i < d->files.len && files.len < MAX_TEXT; i++)
        hone_str_printf(&files, "%s%s", i ? ", " : "", d->files.data[i].path);
    (void)HONE_FAIL(HONE_E_DATA, "%s has no rows: nothing is in %s", what, hone_str_c(&files));
    hone_str_deinit(&files);
    return HONE_E_DATA;
}

hone_status hone_dataset_check_left(const hone_dataset *d, const char *what)
{
    const hone_dataset_report *r = &d->report;

    if (d->samples.len > 0)
        return HONE_OK;
    if (r->rows == 0)
        return refuse_empty(d, what);
    HONE_CHECK(r->fates[HONE_ROW_KEPT] == 0, HONE_E_DATA, "%s holds no token that another predicts", what);
    return HONE_FAIL(
        HONE_E_DATA,
        "nothing is left of %s: of %lld rows %lld have no token with a loss, %lld cannot be rendered, %lld "
        "are too long%s%s",
        what, (long long)r->rows, (long long)r->fates[HONE_ROW_UNSUPERVISED], (long long)r->fates[HONE_ROW_BAD],
        (long long)r->fates[HONE_ROW_TOO_LONG], d->notes.len ? "; the first row: " : "",
        d->notes.len ? hone_dataset_note(d, 0).why : "");
}

hone_status dataset_refuse_rows(const hone_dataset *d, const hone_dataset *held_out, const hone_options *o)
{
    int64_t bad = d->report.fates[HONE_ROW_BAD] + (held_out ? held_out->report.fates[HONE_ROW_BAD] : 0);
    int64_t too_long = d->report.fates[HONE_ROW_TOO_LONG] + (held_out ? held_out->report.fates[HONE_ROW_TOO_LONG] : 0);

    if (bad && o->bad_rows == HONE_BAD_ROWS_ERROR)
        return refuse_rows(d, held_out, HONE_ROW_BAD, "cannot be used",
                           "mend them, or set bad_rows: drop to leave them out");
    if (too_long && o->truncation == HONE_TRUNCATION_ERROR)
        return refuse_rows(d, held_out, HONE_ROW_TOO_LONG, "longer than cutoff_len",
                           "raise cutoff_len, or set truncation to drop, cut-left or cut-right");
    return HONE_OK;
}

hone_status dataset_check(const hone_dataset *d, const hone_dataset *held_out, const hone_options *o, const char *what)
{
    HONE_TRY(dataset_refuse_rows(d, held_out, o));
    HONE_TRY(hone_dataset_check_left(d, what));
    return held_out ? hone_dataset_check_left(held_out, "the held-out part (val_size)") : HONE_OK;
}

const char *hone_row_fate_text(hone_row_fate fate)
{
    static const char *const texts[] = { "kept", "cut", "too long", "bad", "without a token to learn" };

    return texts[fate];
}

void hone_dataset_log_report(const hone_dataset *d, const char *name, const hone_log *log)
{
    const hone_dataset_report *r = &d->report;
    int64_t                    seen[HONE_ROW_FATES] = { 0 }, more, listed = 0;

    hone_info(
        log, "%s: %lld rows: %lld kept, %lld cut, %lld too long, %lld bad, %lld without a token to learn; %lld samples",
        name, (long long)r->rows, (long long)r->fates[HONE_ROW_KEPT], (long long)r->fates[HONE_ROW_CUT],
        (long long)r->fates[HONE_ROW_TOO_LONG], (long long)r->fates[HONE_ROW_BAD],
        (long long)r->fates[HONE_ROW_UNSUPERVISED], (long long)d->samples.len);
    hone_info(log, "%s: %lld tokens: %lld kept, %lld cut, %lld dropped; %lld of them with a loss; longest sample %lld",
              name, (long long)r->tokens_in, (long long)r->tokens_kept, (long long)r->tokens_cut,
              (long long)r->tokens_dropped, (long long)r->supervised, (long long)r->longest);
    if (r->reasoning_removed)
        hone_info(log,
                  "%s: the chat template left out the reasoning of %lld answers, as it does when the model is used",
                  name, (long long)r->reasoning_removed);
    if (r->lists_printed)
        hone_warn(log, "%s: in %lld rows the content of a message is a list, and the chat template, which takes texts, writes it "
                  "as [{'type': 'text', ...}]; write it as one string", name, (long long)r->lists_printed);
    if (r->prompts_differ)
        hone_warn(log, "%s: in %lld rows the text before the last answer is not what the chat template asks for an answer with "
                  "(another opening of the turn, say): there the model learns behind a prompt that it will not see in use", name,
                  (long long)r->prompts_differ);
    more = r->fates[HONE_ROW_TOO_LONG] + r->fates[HONE_ROW_BAD] + r->fates[HONE_ROW_UNSUPERVISED];
    for (int64_t i = 0; i < d->notes.len && listed < MAX_LOGGED + 2 * MAX_LISTED; i++) {
        hone_row_note n = hone_dataset_note(d, i);

        if (n.fate == HONE_ROW_CUT || seen[n.fate]++ >= (n.fate == HONE_ROW_BAD ? MAX_LOGGED : MAX_LISTED))
            continue;
        hone_warn(log, "left out: %s, %s: %s", hone_dataset_source_path(d, n.source), hone_row_place_of(n.row, n.line).text, n.why);
        listed++;
    }
    if (more > listed)
        hone_warn(log, "left out: %lld more rows; hone inspect data lists all of them", (long long)(more - listed));
}
