/*
 * data/shuffle.h -- rows of a stream in the order of an epoch: read forward, and drawn from a buffer of `buffer_size` rows,
 * each drawn row replaced by the next one of the files. The order is a function of the numbers of the rows, data_seed (or
 * seed) and the epoch; with disable_shuffling it is that of the mixture.
 */
#ifndef HONE_DATA_SHUFFLE_H
#define HONE_DATA_SHUFFLE_H

#include "data/rows.h"

typedef struct hone_shuffle hone_shuffle;

/* A row of a file. */
typedef struct hone_row_key { int32_t file; int64_t row; } hone_row_key;

/* Rows of `options.dataset`; hone_shuffle_begin comes first. Errors: as hone_rows_create. Owns: hone_shuffle_destroy. */
hone_status hone_shuffle_create(hone_shuffle **out, const struct hone_dataset_context *context) HONE_MUST_CHECK;
void        hone_shuffle_destroy(hone_shuffle **shuffle);
/* Go to the first row of an epoch. */
void        hone_shuffle_begin(hone_shuffle *shuffle, int64_t epoch);
/* Append the next row to a batch (NULL: pass over it); *got is false at the end of the epoch. Rows stay good as long as the
 * batch and the shuffle. Errors: as hone_rows_next. */
hone_status hone_shuffle_next(hone_shuffle *shuffle, hone_row_batch *out, bool *got) HONE_MUST_CHECK;
/* Leave these rows out from the next hone_shuffle_begin on. Takes them over; they are sorted. */
void        hone_shuffle_leave_out(hone_shuffle *shuffle, hone_row_key *rows, size_t n);
/* Hash of the rows read in this epoch so far, those of the buffer included. */
uint64_t    hone_shuffle_hash(const hone_shuffle *shuffle);
const hone_rows *hone_shuffle_rows(const hone_shuffle *shuffle);

#endif /* HONE_DATA_SHUFFLE_H */
