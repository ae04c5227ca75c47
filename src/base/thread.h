/*
 * base/thread.h -- a pool of threads that runs numbered tasks.
 *
 * Work is cut by data into tasks whose number does not depend on the number of threads; each task writes its own outputs.
 * So results are equal to the bit for any number of threads.
 */
#ifndef HONE_BASE_THREAD_H
#define HONE_BASE_THREAD_H

#include "base/status.h"

typedef struct hone_pool hone_pool;
/* Task number `task` of the run; `worker` in [0, threads) tells which thread runs it (for private scratch only). */
typedef void (*hone_task_fn)(void *arg, int64_t task, int worker);

enum { HONE_MAX_THREADS = 1024 };

/* A pool of `threads` threads, the caller's included; 0 = the number of processors this process may use. */
hone_status hone_pool_create(hone_pool **out, int threads) HONE_MUST_CHECK;
void        hone_pool_destroy(hone_pool **pool);
/* Run tasks 0 … n-1 and wait. One caller at a time; tasks must not call it again. A NULL pool runs them inline. */
void        hone_pool_run(hone_pool *pool, int64_t n, hone_task_fn fn, void *arg);
int         hone_pool_threads(const hone_pool *pool);
/* Processors this process may run on (its affinity mask). */
int         hone_cpu_count(void);

#endif /* HONE_BASE_THREAD_H */
