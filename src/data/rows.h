/*
 * data/rows.h -- the rows of the data sets that an option names, in the order of their mixture, a batch at a time: read
 * forward, in memory that does not grow with the data.
 */
#ifndef HONE_DATA_ROWS_H
#define HONE_DATA_ROWS_H

#include "data/mix.h"
#include "data/reader.h"
#include "data/source.h"

struct hone_dataset_context;

/* Where a row of a batch comes from. */
typedef struct hone_row_origin {
    const hone_reader *reader;
    const hone_source *source;
    hone_row_format    format;
    int32_t            file;        /* index of the source among hone_rows_sources */
} hone_row_origin;

/* Rows, and where each comes from. Zeros are an empty batch; reusable. */
typedef struct hone_row_batch {
    hone_row_block block;           /* hone_reader_parse(out, origins[i].reader, &block, i) */
    HONE_VEC(hone_row_origin) origins;
} hone_row_batch;

void hone_row_batch_clear(hone_row_batch *batch);       /* keeps the memory */
void hone_row_batch_deinit(hone_row_batch *batch);

typedef struct hone_rows hone_rows;

/*
 * Find the files of `names`, and count their rows where the order depends on that. `joined`: one data set after another,
 * whatever mix_strategy says.
 * Errors: E_IO, E_FORMAT, E_USAGE, E_DATA, E_UNSUPPORTED. Owns: hone_rows_destroy; the context's options are borrowed.
 */
hone_status hone_rows_create(hone_rows **out, const hone_strings *names, const struct hone_dataset_context *context,
                             bool joined) HONE_MUST_CHECK;
void        hone_rows_destroy(hone_rows **rows);
/*
 * Fill a batch with the next rows, at most `max_rows`, and none more once their bytes reach `max_bytes`; none at the end.
 * Rows of other batches stay good (give two in turn to read beside their parsing).
 * Errors: E_IO, E_FORMAT, E_USAGE, E_DATA (a format that does not go with the stage, say).
 */
hone_status hone_rows_next(hone_rows *rows, hone_row_batch *out, size_t max_rows, size_t max_bytes) HONE_MUST_CHECK;
/* Go back to the first row. */
void        hone_rows_rewind(hone_rows *rows);
/* Rows of the whole mixture; counts them if need be. Before the first hone_rows_next only. */
hone_status hone_rows_count(hone_rows *rows, int64_t *count) HONE_MUST_CHECK;

/* About how many bytes of rows there are, -1 if the sizes of the files do not tell. */
int64_t             hone_rows_bytes(const hone_rows *rows);
const hone_sources *hone_rows_sources(const hone_rows *rows);

#endif /* HONE_DATA_ROWS_H */
