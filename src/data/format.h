/*
 * data/format.h -- one row to ids and labels.
 */
#ifndef HONE_DATA_FORMAT_H
#define HONE_DATA_FORMAT_H

#include "data/dataset.h"
#include "data/source.h"

/* What became of a row; arrays are owned, hone_row_result_deinit frees them. */
typedef struct hone_row_result {
    hone_status  status;        /* E_DATA: this row is bad, others may be fine; any other failure ends the reading */
    char        *why;           /* of a failure; filled by the caller */
    hone_vec_i32 ids, labels;   /* the sample; of preference rows, prompt + chosen */
    hone_vec_i32 rejected_ids, rejected_labels; /* preference rows: prompt + rejected; else empty */
    bool         is_feedback, desirable;        /* feedback (KTO) rows: what was said of the answer */
    int64_t      tokens_full;   /* of `ids`, before an encoder's own cut; = ids.len if there was none */
    int64_t      reasoning_removed; /* answers whose reasoning the template left out */
    bool         list_printed;      /* the template wrote content that is a list as Python prints it */
    bool         prompt_differs;    /* the template asks for the last answer with another text than it stands behind */
} hone_row_result;

void hone_row_result_deinit(hone_row_result *r);

/* The format of a source whose first row is this. E_FORMAT (naming the keys found) if none fits. */
hone_status hone_row_format_detect(hone_row_format *out, const json_t *row, const hone_source *source,
                                   const char *where) HONE_MUST_CHECK;

/*
 * Whether rows of this format can be used at all: by the stage, with the tokenizer and template there are, and with the
 * columns that dataset_info.json names. Errors: E_USAGE, E_DATA, E_FORMAT.
 */
hone_status hone_row_format_check(hone_row_format format, const hone_source *source,
                                  const hone_dataset_context *context) HONE_MUST_CHECK;

/*
 * Tokenise and label a row (a JSON object; for text rows also a JSON string). `where` is "file: line n". Thread-safe.
 * Wrong types are E_FORMAT; what cannot be used or rendered is E_DATA.
 */
hone_status hone_row_to_sample(hone_row_result *out, const json_t *row, const hone_source *source,
                               hone_row_format format, const hone_dataset_context *context,
                               const char *where) HONE_MUST_CHECK;

#endif /* HONE_DATA_FORMAT_H */
