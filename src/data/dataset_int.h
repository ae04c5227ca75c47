/* data/dataset_int.h -- inside of a data set, for dataset*.c only. */
#ifndef HONE_DATA_DATASET_INT_H
#define HONE_DATA_DATASET_INT_H

#include "base/vec.h"
#include "data/dataset.h"
#include "data/format.h"
#include "data/source.h"

typedef struct dataset_entry { int64_t begin, n, supervised, row, line; int32_t source; } dataset_entry;

struct hone_dataset {
    hone_vec_i32            ids, labels;        /* of all samples, one after another */
    HONE_VEC(dataset_entry) samples;
    HONE_VEC(char *)        sources;
    HONE_VEC(hone_row_note) notes;
    hone_dataset_report     report;
};

/* Where a row stands. */
typedef struct dataset_place { int32_t source; int64_t row, line; } dataset_place;

hone_status dataset_create(hone_dataset **out, const hone_sources *sources) HONE_MUST_CHECK;
/* Note what became of a row that is not kept as it is. */
hone_status dataset_note(hone_dataset *d, dataset_place place, hone_row_fate fate, int64_t tokens,
                         const char *why) HONE_MUST_CHECK;
/* Keep, cut or drop a row as the options say. */
hone_status dataset_place_row(hone_dataset *d, const hone_options *o, const hone_row_result *r,
                              dataset_place place) HONE_MUST_CHECK;
/* The documents, one after another, become samples of `length` tokens; the last one is what is left. */
hone_status dataset_cut_stream(hone_dataset *d, int64_t length) HONE_MUST_CHECK;
/* Refuse bad rows and rows that are too long, where the options say so, of both parts (the second may be NULL); and a
 * part with nothing left. */
hone_status dataset_check(const hone_dataset *d, const hone_dataset *held_out, const hone_options *o,
                          const char *what) HONE_MUST_CHECK;

/* Documents are joined to one stream, and cut. */
static inline bool dataset_is_stream(const hone_options *o)
{
    return o->stage == HONE_STAGE_PT && o->packing == HONE_TRI_TRUE;
}

#endif /* HONE_DATA_DATASET_INT_H */
