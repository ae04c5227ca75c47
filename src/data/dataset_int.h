/* data/dataset_int.h -- inside of a data set, for dataset*.c, prepared*.c and stream.c only. */
#ifndef HONE_DATA_DATASET_INT_H
#define HONE_DATA_DATASET_INT_H

#include "base/hash.h"
#include "base/vec.h"
#include "data/column.h"
#include "data/dataset.h"
#include "data/format.h"
#include "data/rows.h"

/* A sample as it is stored: `begin` counts tokens; the rejected sequence follows the chosen one. */
typedef struct dataset_entry {
    int64_t begin, n, rejected_n, supervised, row, line;
    int32_t source, desirable;
} dataset_entry;

/* A note as it is stored: its reason is the text at `why` of the reasons, which ends with a NUL. */
typedef struct dataset_note_entry {
    int64_t row, line, tokens, before, why;
    int32_t source, fate;
} dataset_note_entry;

typedef struct dataset_file { char *path; int32_t set; } dataset_file;

/* X(name, type of an element): the arrays of a data set. */
#define DATASET_COLUMNS(X)                                                                                             \
    X(ids, int32_t) X(labels, int32_t) X(samples, dataset_entry) X(notes, dataset_note_entry) X(reasons, char)

struct hone_dataset {
    /* ids, labels: of all samples, one after another */
#define DATASET_COLUMN_(name, type) hone_column name;
    DATASET_COLUMNS(DATASET_COLUMN_)
#undef DATASET_COLUMN_
    HONE_VEC(dataset_file)  files;
    HONE_VEC(char *)        sets;
    hone_dataset_report     report;
    hone_hash               fingerprint, index;     /* of the samples' tokens; of the array `samples` */

    /* while it is being made */
    hone_hasher  *lengths, *tokens, *answers, *entries; /* hashes of n, of the ids, of the labels, of the samples */
    hone_vec_i64  ends;                         /* per label: samples that end with it */
    dataset_entry block;                        /* of a stream: the sample that is being filled */
    int32_t       block_set;
};

/* Where a row stands. */
typedef struct dataset_place { int32_t source; int64_t row, line; } dataset_place;

/* Where the columns of a new data set go. */
typedef struct dataset_sink {
    const char *dir;        /* of temporary files; or of files `name`.ids, … */
    const char *name;       /* NULL: memory, then a temporary file */
} dataset_sink;

typedef struct dataset_sinks { dataset_sink train, eval; } dataset_sinks;

static inline const dataset_entry *dataset_entry_at(const hone_dataset *d, int64_t i)
{
    return (const dataset_entry *)d->samples.data + i;
}

/* Where samples go that memory does not hold: beside what the run writes, else where temporary files are kept. NULL with
 * E_NOMEM raised. Owns: hone_free. */
char       *dataset_temporary_dir(const hone_options *o);
/* Owns: hone_dataset_destroy, also after a failure. */
hone_status dataset_create(hone_dataset **out, const dataset_sink *sink) HONE_MUST_CHECK;
hone_status dataset_add_set(hone_dataset *d, const char *name) HONE_MUST_CHECK;
hone_status dataset_add_file(hone_dataset *d, const char *path, int32_t set) HONE_MUST_CHECK;
/* An empty data set of the files of `rows`, which `names` found. */
hone_status dataset_create_for(hone_dataset **out, const dataset_sink *sink, const hone_rows *rows,
                               const hone_strings *names) HONE_MUST_CHECK;
/* Note what became of a row that is not kept as it is. */
hone_status dataset_note(hone_dataset *d, dataset_place place, hone_row_fate fate, int64_t tokens,
                         const char *why) HONE_MUST_CHECK;
/* Keep, cut or drop a row as the options say. Documents of a stream (stage pt, packing) are joined and cut into samples of
 * pack_length tokens; the last one is what is left. */
hone_status dataset_place_row(hone_dataset *d, const hone_dataset_context *c, const hone_row_result *r,
                              dataset_place place) HONE_MUST_CHECK;
/* Parse, render and tokenise row i of a batch. Thread-safe. */
void        dataset_make_result(hone_row_result *out, const hone_row_batch *batch, size_t i, const hone_dataset_context *c);
/* Place what row i of a batch became, and note it if it is bad. Errors: what ends the reading (E_FORMAT, say). */
hone_status dataset_place_result(hone_dataset *d, const hone_dataset_context *c, const hone_row_result *r,
                                 const hone_row_batch *batch, size_t i) HONE_MUST_CHECK;
/* Tokens that a stream's next document goes on behind: the beginning of a sample. */
hone_status dataset_begin_block(hone_dataset *d, const int32_t *ids, const int32_t *labels, int64_t n,
                                dataset_place place) HONE_MUST_CHECK;
/* Finish `d`, but for the sample of a stream that it has begun to fill: `next` goes on with that. Its tokens stay counted in
 * the report of `d`. */
hone_status dataset_finish_into(hone_dataset *next, hone_dataset *d) HONE_MUST_CHECK;
/* No row comes any more: the samples can be read. */
hone_status dataset_finish(hone_dataset *d) HONE_MUST_CHECK;
/* Make the samples of `dataset` and `eval_dataset`. On failure either may be half made; the caller destroys them. */
hone_status dataset_read(hone_dataset **train, hone_dataset **eval, const hone_dataset_context *c,
                         const dataset_sinks *sinks) HONE_MUST_CHECK;
/* Refuse bad rows and rows that are too long, where the options say so, of both parts (the second may be NULL). */
hone_status dataset_refuse_rows(const hone_dataset *d, const hone_dataset *held_out, const hone_options *o) HONE_MUST_CHECK;
/* The same, and refuse a part with nothing left. */
hone_status dataset_check(const hone_dataset *d, const hone_dataset *held_out, const hone_options *o,
                          const char *what) HONE_MUST_CHECK;

#endif /* HONE_DATA_DATASET_INT_H */
