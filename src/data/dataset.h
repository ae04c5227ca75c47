/*
 * data/dataset.h -- rows of files, tokenised and labelled: what a run trains or evaluates on.
 *
 * A data set is made before any weight is read, so that every fault of the data is known first. Samples keep the order of
 * their rows.
 */
#ifndef HONE_DATA_DATASET_H
#define HONE_DATA_DATASET_H

#include "base/log.h"
#include "option/option.h"
#include "text/chat.h"
#include "text/tokenizer.h"

/* One training sample. labels[t] belongs to ids[t]: −100 = no loss, otherwise what token t-1 is to predict. */
typedef struct hone_sample {
    const int32_t *ids, *labels;    /* [n], borrowed from the data set */
    int64_t        n;
    int64_t        supervised;      /* labels >= 0 beyond the first */
    int32_t        source;          /* index of its file in the data set */
    int64_t        row;             /* index of its row in that file, from 0 */
} hone_sample;

/* Why a row did not become a sample, or not all of it. */
typedef enum hone_row_fate {
    HONE_ROW_KEPT,
    HONE_ROW_CUT,               /* longer than cutoff_len; cut as `truncation` says */
    HONE_ROW_TOO_LONG,          /* dropped as `truncation: drop` says */
    HONE_ROW_BAD,               /* cannot be rendered; `bad_rows: drop` */
    HONE_ROW_UNSUPERVISED,      /* no token with a loss: dropped */
    HONE_ROW_FATES
} hone_row_fate;

typedef struct hone_row_note { int32_t source; int64_t row, line; hone_row_fate fate; int64_t tokens; char *why; } hone_row_note;

typedef struct hone_dataset hone_dataset;

typedef struct hone_dataset_report {
    int64_t rows;                           /* read */
    int64_t fates[HONE_ROW_FATES];          /* rows by fate */
    int64_t tokens_in;                      /* of all rows that could be tokenised */
    int64_t tokens_kept, tokens_cut, tokens_dropped;    /* in = kept + cut + dropped */
    int64_t supervised;                     /* tokens with a loss, in kept samples */
    int64_t longest;
    const hone_row_note *notes;             /* one for each row that is not KEPT; borrowed */
    size_t  n_notes;
} hone_dataset_report;

/* What rows are made into samples with. */
typedef struct hone_dataset_context {
    const hone_options   *options;
    const hone_tokenizer *tokenizer;        /* NULL: only rows of input_ids are possible */
    const hone_chat      *chat;             /* NULL: no rows of messages */
    const hone_log       *log;
} hone_dataset_context;

/*
 * Read `options.dataset` into *train, and `options.eval_dataset` or the split that `val_size` asks for into *eval (NULL if
 * there is none).
 * Errors: E_IO, E_FORMAT (broken JSON, ill-formed UTF-8, wrong types: always fatal, with file and line), E_DATA (a bad row
 * under `bad_rows: error`, each one listed; nothing left to train on).
 */
hone_status hone_dataset_load(hone_dataset **train, hone_dataset **eval, const hone_dataset_context *context) HONE_MUST_CHECK;
void        hone_dataset_destroy(hone_dataset **dataset);

int64_t                    hone_dataset_len(const hone_dataset *dataset);
hone_sample                hone_dataset_at(const hone_dataset *dataset, int64_t i);
const hone_dataset_report *hone_dataset_get_report(const hone_dataset *dataset);
const char                *hone_dataset_source_path(const hone_dataset *dataset, int32_t source);
/* The counts in a line, and the first of the rows that were left out, each with file, line and reason. */
void                       hone_dataset_log_report(const hone_dataset *dataset, const char *name, const hone_log *log);
/* Hash of all ids and labels: two equal data sets have equal ones. */
void                       hone_dataset_fingerprint(const hone_dataset *dataset, char hex[33]);

#endif /* HONE_DATA_DATASET_H */
