#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"

/* Kernels follow one another within microseconds: a worker that has run out of work looks for more for about this many
 * turns before it sleeps. */
enum { SPIN_TURNS = 4000 };

typedef struct worker { struct hone_pool *pool; int index; pthread_t thread; } worker;

struct hone_pool {
    int             threads;
    worker         *workers;            /* threads - 1 of them */
    int             n_started;
    pthread_mutex_t lock;
    pthread_cond_t  work, done;
    _Atomic uint64_t state;             /* of the newest run; see below */
    _Atomic int64_t next;               /* next task to hand out */
    int64_t         n;
    hone_task_fn    fn;
    void           *arg;
    atomic_bool     stop;
};

/*
 * A run is over when its tasks are done, not when every worker has been there: one that the system gives no time, since
 * others use the processor too, must not hold up those that have it. So workers join a run while it is open, and the caller
 * closes it once it has run out of tasks and those that joined have left. One word says it all: bit 0, whether the run is
 * open; the 16 bits above, how many workers are inside; the rest, the number of the run.
 */
enum { OPEN = 1, ONE_INSIDE = 2, INSIDE_BITS = 16 };

static uint64_t run_number(uint64_t state) { return state >> (INSIDE_BITS + 1); }
static uint64_t open_run(uint64_t number) { return number << (INSIDE_BITS + 1) | OPEN; }
static bool     is_new(uint64_t state, uint64_t seen) { return (state & OPEN) && run_number(state) != seen; }

/* Join the run if there is an open one that this worker has not been in; *seen becomes its number. */
static bool join_run(struct hone_pool *p, uint64_t *seen)
{
    uint64_t state = atomic_load(&p->state);

    while (is_new(state, *seen))
        if (atomic_compare_exchange_weak(&p->state, &state, state + ONE_INSIDE)) {
            *seen = run_number(state);
            return true;
        }
    return false;
}

/* Close the run if nobody is inside. */
static bool close_run(struct hone_pool *p, uint64_t number)
{
    uint64_t state = open_run(number);

    return atomic_compare_exchange_strong(&p->state, &state, state & ~(uint64_t)OPEN);
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void run_tasks(hone_pool *p, int index)
{
    for (int64_t i; (i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->n;)
        p->fn(p->arg, i, index);
}

static void *worker_main(void *arg)
{
    worker    *w = arg;
    hone_pool *p = w->pool;
    uint64_t   seen = 0;

    for (;;) {
        for (int turn = 0; turn < SPIN_TURNS; turn++) {
            if (is_new(atomic_load(&p->state), seen) || atomic_load(&p->stop))
                break;
            cpu_relax();
        }
        pthread_mutex_lock(&p->lock);
        while (!is_new(atomic_load(&p->state), seen) && !atomic_load(&p->stop))
            pthread_cond_wait(&p->work, &p->lock);
        pthread_mutex_unlock(&p->lock);
        if (atomic_load(&p->stop))
            return NULL;
        if (!join_run(p, &seen))
            continue;
        run_tasks(p, w->index);
        if (atomic_fetch_sub(&p->state, ONE_INSIDE) == open_run(seen) + ONE_INSIDE) {     /* the last to leave */
            pthread_mutex_lock(&p->lock);
            pthread_cond_signal(&p->done);
            pthread_mutex_unlock(&p->lock);
        }
    }
}

int hone_cpu_count(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return HONE_MAX(CPU_COUNT(&set), 1);
}

hone_status hone_pool_create(hone_pool **out, int threads)
{
    hone_pool *p;

    *out = NULL;
    HONE_CHECK(threads >= 0 && threads <= HONE_MAX_THREADS, HONE_E_USAGE, "%d threads: give 1 to %d, or 0 for all",
               threads, HONE_MAX_THREADS);
    p = hone_calloc(1, sizeof *p);
    if (!p)
        return HONE_E_NOMEM;
    p->threads = threads ? threads : hone_cpu_count();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->workers = hone_calloc((size_t)p->threads, sizeof *p->workers);
    for (int i = 1; p->workers && i < p->threads; i++) {
        p->workers[i - 1].pool = p;
        p->workers[i - 1].index = i;
        if (pthread_create(&p->workers[i - 1].thread, NULL, worker_main, &p->workers[i - 1]) != 0)
            break;
        p->n_started++;
    }
    if (!p->workers || p->n_started != p->threads - 1) {
        int started = p->n_started;

        hone_pool_destroy(&p);
        return HONE_FAIL(HONE_E_NOMEM, "could start only %d of %d threads: set threads to less", started + 1, threads);
    }
    *out = p;
    return HONE_OK;
}

void hone_pool_destroy(hone_pool **pool)
{
    hone_pool *p = *pool;

    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->stop, true);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_started; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    hone_free(p->workers);
    hone_free(p);
    *pool = NULL;
}

void hone_pool_run(hone_pool *p, int64_t n, hone_task_fn fn, void *arg)
{
    uint64_t number;

    if (!p || p->threads == 1 || n <= 1) {
        for (int64_t i = 0; i < n; i++)
            fn(arg, i, 0);
        return;
    }
    number = run_number(atomic_load(&p->state)) + 1;
    pthread_mutex_lock(&p->lock);
    p->n = n;
    p->fn = fn;
    p->arg = arg;
    atomic_store(&p->next, 0);
    atomic_store(&p->state, open_run(number));
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    run_tasks(p, 0);
    for (int turn = 0; turn < SPIN_TURNS; turn++) {
        if (close_run(p, number))
            return;
        cpu_relax();
    }
    pthread_mutex_lock(&p->lock);
    while (!close_run(p, number))
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

int hone_pool_threads(const hone_pool *p) { return p ? p->threads : 1; }
