/*
 * data/dataset.h -- rows of files, tokenised and labelled: what a run trains or evaluates on.
 *
 * A data set is made before any weight is read, so that every fault of the data is known first. Samples keep the order
 * of their rows. They lie in memory while they are few, else in a file that is mapped: reading needs no memory in
 * proportion to the data.
 */
#ifndef HONE_DATA_DATASET_H
#define HONE_DATA_DATASET_H

#include "base/log.h"
#include "option/option.h"
#include "text/chat.h"
#include "text/slots.h"
#include "text/tokenizer.h"

/* One training sample. labels[t] belongs to ids[t]: −100 = no loss, otherwise what token t-1 is to predict. */
typedef struct hone_sample {
    const int32_t *ids, *labels;    /* [n], borrowed from the data set; of a preference row, the chosen sequence */
    int64_t        n;
    int64_t        supervised;      /* labels >= 0 beyond the first */
    const int32_t *rejected_ids, *rejected_labels;  /* [rejected_n] of a preference row; else NULL */
    int64_t        rejected_n;
    int            desirable;       /* of a feedback (KTO) row: 1 or 0; else -1 */
    int32_t        source;          /* index of its file in the data set */
    int64_t        row, line; /* its row in that file, from 0, and the line that this starts on, from 1; of a block of a
                                 stream, those of the document that it starts in */
    int64_t        id;              /* its number in the data set, which names its dropout masks */
} hone_sample;

/* Why a row did not become a sample, or not all of it. */
typedef enum hone_row_fate {
    HONE_ROW_KEPT,
    HONE_ROW_CUT,               /* longer than cutoff_len; cut as `truncation` says */
    HONE_ROW_TOO_LONG,          /* left out, or refused, as `truncation` says */
    HONE_ROW_BAD,               /* cannot be rendered; `bad_rows: drop` */
    HONE_ROW_UNSUPERVISED,      /* no token with a loss: dropped */
    HONE_ROW_FATES
} hone_row_fate;

/* What became of a row, and why (without its place). */
typedef struct hone_row_note {
    int32_t       source;
    int64_t       row, line;
    hone_row_fate fate;
    int64_t       tokens;
    int64_t       before;       /* samples of rows before this one */
    const char   *why;          /* borrowed from the data set */
} hone_row_note;

/* "kept", "cut", … */
const char *hone_row_fate_text(hone_row_fate fate);

typedef struct hone_dataset hone_dataset;

typedef struct hone_dataset_report {
    int64_t rows;                           /* read */
    int64_t fates[HONE_ROW_FATES];          /* rows by fate */
    int64_t tokens_in;                      /* of all rows that could be tokenised */
    int64_t tokens_kept, tokens_cut, tokens_dropped;    /* in = kept + cut + dropped */
    int64_t supervised;                     /* tokens with a loss, in kept samples */
    int64_t longest;                        /* tokens of the longest sample */
    int64_t reasoning_removed; /* answers whose reasoning the chat template left out, as it does in earlier turns */
    int64_t lists_printed;     /* rows with content that is a list, and the chat template wrote it as Python prints it */
    int64_t prompts_differ;    /* rows whose last answer the chat template asks for with another text than stands before it */
    int32_t max_id;                         /* largest id and label of the samples, -1 if there is none */
    int32_t end_label; /* the label that most samples end with (their last one), -1 if there is none, and of how many */
    int64_t end_count;
    int64_t n_notes;                        /* one for each row that is not KEPT */
} hone_dataset_report;

/* How far the making of samples has come. */
typedef struct hone_dataset_progress {
    int64_t rows, bytes;        /* done */
    int64_t all_rows, all_bytes;    /* -1 = not known */
} hone_dataset_progress;
/* With NULL when it is over. */
typedef void (*hone_dataset_progress_fn)(void *arg, const hone_dataset_progress *progress);

/* What rows are made into samples with. */
typedef struct hone_dataset_context {
    const hone_options   *options;
    const hone_tokenizer *tokenizer;        /* NULL: only rows of input_ids are possible */
    const hone_chat      *chat;             /* NULL: no rows of messages */
    const hone_slots     *slots;            /* of the named template (`template`), in place of `chat`; NULL without one */
    const hone_log       *log; /* is told the counts and the first of the rows that were left out; may be NULL */
    hone_dataset_progress_fn progress;      /* called now and then; may be NULL */
    void                 *progress_arg;
    const char           *model_dir;        /* whose tokenizer and template these are; needed with `tokenized_path` */
    bool                  eval_only;        /* `dataset` is not read where there is an `eval_dataset` */
    bool                  listing;          /* for looking at: bad and long rows are noted, nothing is refused for them */
    bool                  documents;        /* of a stream (stage pt, packing): keep its documents, do not cut it */
} hone_dataset_context;

/*
 * The tokenizer of a model directory, with the tokens that the options add to it, and what writes conversations: the named
 * template that the options ask for (*slots), or the directory's own chat template (*chat), as far as rows may need them:
 * NULL where the directory has none (rows that need it say so), and no chat template for stage pt. Both borrow the tokenizer:
 * destroy them first.
 * Errors: E_IO, E_FORMAT, E_UNSUPPORTED as the loaders; E_USAGE (no such named template, or it contradicts other options),
 * E_DATA (a named template without a tokenizer, or of other tokens).
 */
hone_status hone_dataset_open_text(hone_tokenizer **tokenizer, hone_chat **chat, hone_slots **slots, const char *dir,
                                   const hone_options *options) HONE_MUST_CHECK;

/*
 * Read `options.dataset` into *train, and `options.eval_dataset` or the split that `val_size` asks for into *eval (NULL
 * if there is none). *train is NULL if there is only an `eval_dataset`. With stage pt and packing, documents are joined
 * to one stream and cut into samples of pack_length tokens. The result does not depend on the number of threads.
 * Errors: E_IO, E_FORMAT (broken JSON, ill-formed UTF-8, wrong types: always fatal, with file and line), E_USAGE (an
 * unknown data set, rows that do not go with the stage), E_UNSUPPORTED (a feature of dataset_info.json), E_DATA (rows
 * of text without a tokenizer, of conversations without a template; bad rows under `bad_rows: error`, each listed up to
 * a bound; nothing left to train on).
 */
hone_status hone_dataset_load(hone_dataset **train, hone_dataset **eval,
                              const hone_dataset_context *context) HONE_MUST_CHECK;
void        hone_dataset_destroy(hone_dataset **dataset);

int64_t                    hone_dataset_len(const hone_dataset *dataset);
hone_sample                hone_dataset_at(const hone_dataset *dataset, int64_t i);
const hone_dataset_report *hone_dataset_get_report(const hone_dataset *dataset);
/* Why row i of those that are not KEPT was left out or cut; in data order. */
hone_row_note              hone_dataset_note(const hone_dataset *dataset, int64_t i);
const char                *hone_dataset_source_path(const hone_dataset *dataset, int32_t source);
/* The data sets, as the options name them, that the files are of. */
int32_t                    hone_dataset_set_count(const hone_dataset *dataset);
const char                *hone_dataset_set_name(const hone_dataset *dataset, int32_t set);
int32_t                    hone_dataset_source_set(const hone_dataset *dataset, int32_t source);
/* E_DATA unless all ids and labels are below `vocab`: with file, line and token, or with the token that the named template of
 * the context added. Costs nothing if they are. */
hone_status hone_dataset_check_ids(const hone_dataset *dataset, const hone_dataset_context *context, int64_t vocab) HONE_MUST_CHECK;
/* E_DATA, with the reasons, unless a sample is left; `what` names the data set. */
hone_status hone_dataset_check_left(const hone_dataset *dataset, const char *what) HONE_MUST_CHECK;
/* The counts in two lines, and the first of the rows that were left out, each with file, line and reason. */
void                       hone_dataset_log_report(const hone_dataset *dataset, const char *name, const hone_log *log);
/* Hash of all ids and labels: two equal data sets have equal ones. */
void                       hone_dataset_fingerprint(const hone_dataset *dataset, char hex[33]);

#endif /* HONE_DATA_DATASET_H */
