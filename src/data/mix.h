/*
 * data/mix.h -- in which order the rows of several data sets are taken, and which rows are drawn from one. Everything is
 * a function of the numbers of rows, the options and the seed.
 */
#ifndef HONE_DATA_MIX_H
#define HONE_DATA_MIX_H

#include "base/rng.h"
#include "base/status.h"
#include "option/option.h"

/*
 * A draw without replacement, row by row: so many of so many rows, each choice alike (selection sampling: Knuth, The Art
 * of Computer Programming, vol. 2, 3.4.2, algorithm S). Needs no memory for the rows.
 */
typedef struct hone_draw {
    hone_rng rng;
    int64_t  rows, wanted;      /* still to come; still to be drawn */
} hone_draw;

static inline hone_draw hone_draw_make(uint64_t seed, uint64_t stream, int64_t rows, int64_t wanted)
{
    return (hone_draw){ hone_rng_make(seed, stream), rows, wanted };
}

/* Whether the next row is drawn. */
static inline bool hone_draw_next(hone_draw *d)
{
    bool yes = d->rows > 0 && hone_rng_below(&d->rng, (uint64_t)d->rows) < (uint64_t)d->wanted;

    d->rows--;
    d->wanted -= yes;
    return yes;
}

/* The rows that one pass over a data set takes. */
typedef struct hone_pick hone_pick;

/*
 * `want` rows of `rows`: a draw without replacement if there are enough, else every row once and then a draw with
 * replacement of the rest. Each part is in the order of the file. rows >= 1.
 */
hone_status hone_pick_create(hone_pick **out, int64_t rows, int64_t want, uint64_t seed, uint64_t stream) HONE_MUST_CHECK;
void        hone_pick_destroy(hone_pick **pick);
/* The number of the next row, -1 at the end of the pass; the call after that begins the same pass again. */
int64_t     hone_pick_next(hone_pick *pick);
void        hone_pick_restart(hone_pick *pick);

typedef struct hone_mix hone_mix;

/*
 * The order in which rows of `n` data sets are taken, of which one pass gives rows[i]:
 *
 *   concat            one data set after another
 *   interleave_under  in turn, until the shortest is through (its round is completed); with `probs` each row's data set is
 *                     drawn, and the first that is through ends it at once
 *   interleave_over   in turn, until the longest is through; with `probs`, until all are. A data set that is through begins
 *                     again
 *   interleave_once   the same, but a data set that is through gives no more rows: every row once
 *
 * as interleave_datasets of the Hugging Face library datasets has them. `probs` [n] may be NULL, and sum to 1. With concat,
 * rows[i] may be -1: not known before hone_mix_end. Where data sets begin again or end the others, none may be empty.
 * Errors: E_USAGE (a mixture of more than 10^12 rows), E_NOMEM.
 */
hone_status hone_mix_create(hone_mix **out, hone_mix_strategy strategy, const int64_t *rows, const double *probs, int32_t n,
                            uint64_t seed) HONE_MUST_CHECK;
void        hone_mix_destroy(hone_mix **mix);
/* The data set that the next row is of, -1 at the end. */
int32_t     hone_mix_next(hone_mix *mix);
void        hone_mix_restart(hone_mix *mix);
/* Data set i had no row left when it was asked for one. */
void        hone_mix_end(hone_mix *mix, int32_t i);
/* Rows in all, by taking them if it cannot be known otherwise; the mix is at its beginning then. All rows[i] are known. */
int64_t     hone_mix_count(hone_mix *mix);

#endif /* HONE_DATA_MIX_H */
