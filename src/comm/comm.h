/*
 * comm/comm.h -- process groups and their collectives.
 *
 * Collectives are asynchronous: each returns at once, `wait` makes its result usable. On one rank (self/) they are free.
 * All ranks of a group call the same collectives in the same order.
 */
#ifndef HONE_COMM_COMM_H
#define HONE_COMM_COMM_H

#include "base/status.h"

typedef struct hone_comm hone_comm;
typedef struct hone_work { uint64_t id; } hone_work;   /* 0 = already done */

typedef struct hone_comm_ops {
    const char *name;
    /* full = the ranks' slices, in rank order; `slice` of `bytes` may lie inside `full` at its own place. */
    hone_status (*all_gather)(hone_comm *c, hone_work *work, void *full, const void *slice, size_t bytes);
    /* slice = the sum over ranks, added in rank order, of each rank's part of `full` that belongs here. f32. */
    hone_status (*reduce_scatter_f32)(hone_comm *c, hone_work *work, float *slice, const float *full, size_t n);
    /* values = the sum over ranks, in rank order. */
    hone_status (*all_reduce_f64)(hone_comm *c, hone_work *work, double *values, size_t n);
    hone_status (*wait)(hone_comm *c, hone_work work);
    /* The first failure of any rank, on all of them. */
    hone_status (*agree)(hone_comm *c, hone_status mine);
} hone_comm_ops;

struct hone_comm { const hone_comm_ops *ops; int rank, size; };

/* The group of one rank: needs no launcher and no library. Static storage, never destroyed. */
hone_comm *hone_comm_self(void);

#endif /* HONE_COMM_COMM_H */
