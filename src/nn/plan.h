/*
 * nn/plan.h -- how a model may be divided among ranks and relieved of memory: rows of pattern -> treatment, as data.
 *
 * The builders of nn/ add a row for every module as they declare it, so that each family has a default plan. Model code never
 * reads the plan, and the plan moves no weight: it holds what must be known to do so.
 *
 * Tensor parallelism is Megatron's (Shoeybi et al. 2019): of two products in a row, the first is cut by columns of its output and
 * the second by rows of its input, so that what lies between stays on its rank and one sum over the ranks follows.
 */
#ifndef HONE_NN_PLAN_H
#define HONE_NN_PLAN_H

#include "base/str.h"
#include "base/vec.h"

typedef enum hone_treatment {
    HONE_TREAT_UNIT,            /* gathered, released and updated together */
    HONE_TREAT_RECOMPUTE,       /* its activations may be made again in the backward pass */
    /* one of: */
    HONE_TREAT_COLWISE,         /* cut along what it puts out; a bias likewise */
    HONE_TREAT_ROWWISE,         /* cut along what it takes in; ranks' outputs are summed, then a bias is added once */
    HONE_TREAT_VOCAB,           /* one row per token id, cut; a lookup sums over ranks, a loss works on each rank's own logits */
    HONE_TREAT_REPLICATE        /* whole on every rank */
} hone_treatment;

/* Of a parameter that is whole on every rank: what each rank's gradient is. */
typedef enum hone_replica {
    HONE_REPLICA_STREAM,        /* works on the residual stream: the same on all ranks, or where tokens are split a part of the sum */
    HONE_REPLICA_PART,          /* works on a rank's own heads or columns: a part of the sum, always */
    HONE_REPLICA_SAME           /* works on whole rows of all tokens: the same on all ranks, always */
} hone_replica;

/*
 * A stretch of the cut dimension of a weight (of the rows of a stack of norms): `pieces` of `size` that are never cut themselves,
 * such as heads. Every rank gets an equal share of them, in order, so that a rank's query heads are those of its key/value heads.
 */
typedef struct hone_plan_part {
    int64_t pieces, size;
    bool    shared;             /* with more ranks than pieces, neighbours hold the same one (kv heads) and sum its gradient */
} hone_plan_part;

enum { HONE_PLAN_PARTS = 3 };

typedef struct hone_plan_row {
    char          *pattern;     /* owned by the plan */
    hone_treatment treatment;
    const char    *unit;        /* unit: the name that several matches have together; NULL = each has its own. Static text */
    /* colwise, rowwise, vocab: the parts lie one behind another (a fused q | k | v has three), and each is cut for itself */
    hone_plan_part part[HONE_PLAN_PARTS];
    int            parts;
    bool           whole;       /* colwise: the output is gathered on every rank; rowwise: the input is whole, a rank takes its share */
    bool           transposed;  /* the weight is stored as [in, features] */
    hone_replica   replica;     /* replicate */
} hone_plan_row;

typedef struct hone_plan { HONE_VEC(hone_plan_row) rows; } hone_plan;

void hone_plan_deinit(hone_plan *plan);

/*
 * Add the treatment of module `name`, under the pattern that has "*" for each number in it. Where the same pattern has another
 * treatment of the same kind already (a layer that differs from the first), the row is for this name alone.
 */
hone_status hone_plan_declare(hone_plan *plan, const char *name, const hone_plan_row *row) HONE_MUST_CHECK;

/* "model.layers.3.mlp" -> "model.layers.*.mlp". Owns: hone_free. NULL when memory is out. */
char *hone_plan_pattern(const char *name);
/* Whether a name matches: part by part between dots, "*" standing for one that is a number, or "*" (a stack of parameters). */
bool hone_plan_match(const char *pattern, const char *name);

/*
 * The row that governs a module or parameter: that of the nearest module around it, and there the last one. `kind` is UNIT,
 * RECOMPUTE, or any of the rest, which exclude one another. NULL where there is none.
 */
const hone_plan_row *hone_plan_find(const hone_plan *plan, const char *name, hone_treatment kind);

/* Whether a row lets its module be cut among so many ranks, each with something of its own or a shared piece. */
bool hone_plan_can_cut(const hone_plan_row *row, int64_t ranks);

/* In words: "colwise 32 x 128 | 8 x 128 shared | 8 x 128 shared". */
void hone_plan_describe(hone_str *out, const hone_plan_row *row);

#endif /* HONE_NN_PLAN_H */
