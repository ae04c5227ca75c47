/* cli/inspect_data.h -- what the forms of `hone inspect data` share: text, JSON lines, and an HTML page. */
#ifndef HONE_CLI_INSPECT_DATA_H
#define HONE_CLI_INSPECT_DATA_H

#include "data/loader.h"

/* A data set as it will be trained on, and how to show it. */
typedef struct data_view {
    int64_t         samples;        /* so many are shown whole (text and HTML) */
    bool            color, json;
    const char     *html;           /* file to write, or NULL */
    hone_options   *options;
    hone_tokenizer *tokenizer;      /* NULL: only ids are known */
    hone_chat      *chat;
    hone_slots     *slots;
    hone_dataset   *train, *eval;   /* either may be NULL */
    const char     *vocabulary;     /* complaint about ids that the model has no row for, or NULL */
} data_view;

/* Samples by length, in steps of a round number of tokens. */
enum { DATA_BUCKETS = 12 };
typedef struct data_histogram { int64_t width, buckets, most, counts[DATA_BUCKETS]; } data_histogram;

data_histogram data_view_histogram(const hone_dataset *dataset);
/* "dataset", "held out (val_size)", … */
const char    *data_view_eval_name(const data_view *view);
/* "", or what else a sample is: ", chosen", ", desirable", … */
const char    *data_view_kind(const hone_sample *sample);
/* Append the line on steps, and that on packs. */
hone_status    data_view_steps(const data_view *view, hone_str *out) HONE_MUST_CHECK;

/* Counts, lengths, what was left out, and the first samples. */
hone_status data_view_text(const data_view *view, hone_str *out) HONE_MUST_CHECK;
/* The same as a page of its own: no script, nothing loaded from elsewhere. */
hone_status data_view_html(const data_view *view, hone_str *out) HONE_MUST_CHECK;
/*
 * One object a line on standard output, in data order, train then validation; documents of a stream are whole:
 * {"source", "row", "ids", "labels"}, or {"source", "row", "dropped"} with the reason. Preference rows have chosen_ids,
 * chosen_labels, rejected_ids and rejected_labels; feedback rows ids, labels and desirable.
 */
hone_status data_view_json(const data_view *view) HONE_MUST_CHECK;

#endif /* HONE_CLI_INSPECT_DATA_H */
