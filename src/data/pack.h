/*
 * data/pack.h -- which samples share a row: packing, none, greedy or best fit. A sample is never split, and the samples of
 * a row are told apart later: they never see each other.
 */
#ifndef HONE_DATA_PACK_H
#define HONE_DATA_PACK_H

#include "base/vec.h"
#include "data/dataset.h"

/* Best fit looks at so many samples at a time, in the order of the data: more would fill rows no better. */
enum { HONE_PACKING_STRETCH = 1 << 18 };

/* Rows of whole samples; each sample is in exactly one. Without packing a row is a sample, and nothing is held in memory. */
typedef struct hone_packing {
    int64_t       rows, samples, tokens;
    int64_t       length;               /* room of a row; 0 = no packing */
    int64_t       fullest, emptiest;    /* tokens of those rows, with packing */
    hone_vec_i64  begin;                /* [rows + 1] of row r: members[begin[r] … begin[r + 1]) */
    uint32_t     *members;              /* [samples] numbers of samples; NULL = no packing */
} hone_packing;

/*
 * Pack the samples of a data set as the options say (`packing`, `packing_strategy`, `pack_length`). Depends on the lengths
 * and the order of the samples alone. Rows are in the order of their first samples, the samples of a row in that of the data.
 *   best_fit: of each stretch, the longest sample first (of equal ones the earlier), into the fullest row that holds it.
 *   greedy:   in the order of the data; a sample that does not fit, and a new stretch, open the next row.
 * Time: O(n) and O(pack_length) a stretch. Memory: 4 bytes a sample, 8 to 12 a row; some MB while packing.
 * Errors: E_USAGE (a sample longer than pack_length), E_UNSUPPORTED (2^32 samples or more), E_NOMEM.
 */
hone_status hone_packing_make(hone_packing *out, const hone_dataset *dataset, const hone_options *options) HONE_MUST_CHECK;
void        hone_packing_deinit(hone_packing *packing);

/* Number of samples in a row, and the k-th of them. */
static inline int64_t hone_packing_count(const hone_packing *p, int64_t row)
{
    return p->members ? p->begin.data[row + 1] - p->begin.data[row] : 1;
}

static inline int64_t hone_packing_sample(const hone_packing *p, int64_t row, int64_t k)
{
    return p->members ? p->members[p->begin.data[row] + k] : row;
}

/* Share of places in the rows that hold a token; 1 without packing. */
double hone_packing_fill(const hone_packing *packing);

#endif /* HONE_DATA_PACK_H */
