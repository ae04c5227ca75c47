/*
 * data/stream.h -- training data that is read while it is trained on (`streaming`): rows go through a shuffle buffer and
 * become samples a window at a time. Neither files nor samples are held in memory: a buffer of rows and a window or two are.
 */
#ifndef HONE_DATA_STREAM_H
#define HONE_DATA_STREAM_H

#include "data/dataset.h"

/* A window ends with so many rows, or tokens; it is what packing looks at. */
enum { HONE_WINDOW_ROWS = 2048, HONE_WINDOW_TOKENS = 1 << 22 };

/* X(number): where a window begins, and what was counted before it. */
#define HONE_STREAM_PLACE(X)                                                                                           \
    X(epoch)        /* from 0 */                                                                                       \
    X(row)          /* rows of the epoch before the window, in shuffled order */                                       \
    X(carry_row)    /* stage pt with packing: the row in which the window's first sample begins; else `row` */         \
    X(carry_token)  /* and the token of that row */                                                                    \
    X(samples)      /* of the epoch before the window */                                                               \
    X(epoch_rows)   /* rows of an epoch, once one has been read to its end; else 0 */                                  \
    X(hash)         /* of the rows that had been read when the window before was made, in its epoch */                 \
    /* since the start of the run, those of the epochs before included: rows by fate, and tokens */                    \
    X(rows) X(kept) X(cut) X(too_long) X(bad) X(unsupervised)                                                          \
    X(tokens_in) X(tokens_kept) X(tokens_cut) X(tokens_dropped)

typedef struct hone_stream_place {
#define HONE_STREAM_NUMBER_(name) int64_t name;
    HONE_STREAM_PLACE(HONE_STREAM_NUMBER_)
#undef HONE_STREAM_NUMBER_
} hone_stream_place;

/* Append the numbers as a JSON object; and back. Errors: E_FORMAT. */
void        hone_stream_place_write(const hone_stream_place *place, hone_str *out);
hone_status hone_stream_place_read(hone_stream_place *out, const json_t *json) HONE_MUST_CHECK;

typedef struct hone_stream hone_stream;

/*
 * Rows of `options.dataset`. *eval becomes the data set of `eval_dataset`, or the first `val_size` rows of the shuffled
 * order of epoch 0, which are then left out of every epoch; NULL without either.
 * Errors: as hone_dataset_load, for the held-out rows; those of the others show when their window is read.
 * Owns: hone_stream_destroy, hone_dataset_destroy; the context, and what it points to, is borrowed.
 */
hone_status hone_stream_create(hone_stream **out, hone_dataset **eval, const hone_dataset_context *context) HONE_MUST_CHECK;
void        hone_stream_destroy(hone_stream **stream);

/*
 * The samples of the next window; it may have none. *last: it ends its epoch; the next one begins another.
 * Errors: E_DATA (bad or long rows under `error`, each named; an epoch without any sample), E_FORMAT, E_IO.
 * Owns: hone_dataset_destroy.
 */
hone_status hone_stream_next(hone_stream *stream, hone_dataset **out, bool *last) HONE_MUST_CHECK;
/* Where the next window begins, and all counts so far. */
hone_stream_place hone_stream_tell(const hone_stream *stream);
/*
 * Go to where a window began, in this run or an earlier one: rows before it in the epoch are read, but not made into
 * samples. Errors: as hone_stream_next.
 */
hone_status hone_stream_seek(hone_stream *stream, const hone_stream_place *place) HONE_MUST_CHECK;

/* The sizes of the files: what can be told of the data before it is read. */
void        hone_stream_fingerprint(const hone_stream *stream, char hex[33]);
int64_t     hone_stream_files(const hone_stream *stream);
/* The counts so far, in two lines. */
void        hone_stream_log_report(const hone_stream *stream, const hone_log *log);

#endif /* HONE_DATA_STREAM_H */
