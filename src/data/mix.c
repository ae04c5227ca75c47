#include "data/mix.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- rows of one data set ---- */

struct hone_pick {
    int64_t   rows, want;
    uint64_t  seed, stream;
    int64_t   row;              /* next row of the first part */
    hone_draw draw;
    int64_t  *extra;            /* the second part, sorted */
    int64_t   n_extra, at;
};

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

void hone_pick_restart(hone_pick *p)
{
    p->row = p->at = 0;
    p->draw = hone_draw_make(p->seed, p->stream, p->rows, HONE_MIN(p->want, p->rows));
}

hone_status hone_pick_create(hone_pick **out, int64_t rows, int64_t want, uint64_t seed, uint64_t stream)
{
    hone_pick *p = hone_calloc(1, sizeof *p);
    hone_rng   rng = hone_rng_make(seed, stream ^ 0x6578747261);

    *out = p;
    if (!p)
        return HONE_E_NOMEM;
    *p = (hone_pick){ .rows = rows, .want = want, .seed = seed, .stream = stream, .n_extra = HONE_MAX(want - rows, (int64_t)0) };
    p->extra = hone_calloc((size_t)p->n_extra, sizeof *p->extra);
    if (!p->extra) {
        hone_pick_destroy(out);
        return HONE_E_NOMEM;
    }
    for (int64_t i = 0; i < p->n_extra; i++)
        p->extra[i] = (int64_t)hone_rng_below(&rng, (uint64_t)rows);
    qsort(p->extra, (size_t)p->n_extra, sizeof *p->extra, by_number);
    hone_pick_restart(p);
    return HONE_OK;
}

void hone_pick_destroy(hone_pick **pick)
{
    if (*pick)
        hone_free((*pick)->extra);
    hone_free(*pick);
    *pick = NULL;
}

int64_t hone_pick_next(hone_pick *p)
{
    while (p->row < p->rows) {
        int64_t row = p->row++;

        if (hone_draw_next(&p->draw))
            return row;
    }
    if (p->at < p->n_extra)
        return p->extra[p->at++];
    hone_pick_restart(p);
    return -1;
}

/* ---- several data sets ---- */

struct hone_mix {
    hone_mix_strategy strategy;
    int32_t           n, next;      /* `next`: whose turn it is */
    int64_t          *rows;         /* [n] */
    int64_t          *taken;        /* [n] */
    double           *probs;        /* [n], or NULL */
    int64_t           round, rounds;
    int32_t           through;      /* data sets of which every row was taken */
    uint64_t          seed;
    hone_rng          rng;
};

void hone_mix_restart(hone_mix *m)
{
    m->next = m->through = 0;
    m->round = 0;
    m->rng = hone_rng_make(m->seed, 0x6D6978);
    memset(m->taken, 0, (size_t)m->n * sizeof *m->taken);
    for (int32_t i = 0; i < m->n; i++)
        m->through += m->rows[i] == 0;
}

static hone_status check(const hone_mix *m)
{
    static const double most = 1e12;
    double              expected = (double)m->rounds * m->n;

    for (int32_t i = 0; m->strategy != HONE_MIX_CONCAT && i < m->n; i++) {
        HONE_ASSERT(m->rows[i] > 0 || m->strategy == HONE_MIX_INTERLEAVE_ONCE);
        if (m->probs && m->strategy == HONE_MIX_INTERLEAVE_OVER)
            expected = HONE_MAX(expected, (double)m->rows[i] / m->probs[i]);
    }
    HONE_CHECK(m->strategy != HONE_MIX_INTERLEAVE_OVER || expected <= most, HONE_E_USAGE,
               "mix_strategy: interleave_over would make %.2g rows until every data set is through; raise the small "
               "interleave_probs, or use interleave_once", expected);
    return HONE_OK;
}

hone_status hone_mix_create(hone_mix **out, hone_mix_strategy strategy, const int64_t *rows, const double *probs, int32_t n,
                            uint64_t seed)
{
    hone_status st = HONE_OK;
    hone_mix   *m = hone_calloc(1, sizeof *m);

    *out = NULL;
    if (!m)
        return HONE_E_NOMEM;
    *m = (hone_mix){ .strategy = strategy, .n = n, .seed = seed, .rows = hone_calloc((size_t)n, sizeof *m->rows),
                     .taken = hone_calloc((size_t)n, sizeof *m->taken),
                     .probs = probs ? hone_calloc((size_t)n, sizeof *m->probs) : NULL };
    HONE_GO(m->rows && m->taken && (m->probs || !probs) ? HONE_OK : HONE_E_NOMEM);
    memcpy(m->rows, rows, (size_t)n * sizeof *rows);
    if (probs)
        memcpy(m->probs, probs, (size_t)n * sizeof *probs);
    m->rounds = n ? rows[0] : 0;
    for (int32_t i = 1; i < n; i++)
        m->rounds = strategy == HONE_MIX_INTERLEAVE_UNDER ? HONE_MIN(m->rounds, rows[i]) : HONE_MAX(m->rounds, rows[i]);
    hone_mix_restart(m);
    HONE_GO(check(m));
out:
    if (st != HONE_OK)
        hone_mix_destroy(&m);
    *out = m;
    return st;
}

void hone_mix_destroy(hone_mix **mix)
{
    hone_mix *m = *mix;

    if (!m)
        return;
    hone_free(m->rows);
    hone_free(m->taken);
    hone_free(m->probs);
    hone_free(m);
    *mix = NULL;
}

static bool is_through(const hone_mix *m, int32_t i) { return m->rows[i] >= 0 && m->taken[i] >= m->rows[i]; }

static int32_t next_of_concat(hone_mix *m)
{
    while (m->next < m->n && is_through(m, m->next))
        m->next++;
    if (m->next == m->n)
        return -1;
    m->taken[m->next]++;
    return m->next;
}

static int32_t next_in_turn(hone_mix *m)
{
    while (m->round < m->rounds) {
        int32_t i = m->next++;

        if (m->next == m->n) {
            m->next = 0;
            m->round++;
        }
        if (m->strategy == HONE_MIX_INTERLEAVE_ONCE && is_through(m, i))
            continue;
        m->taken[i]++;
        return i;
    }
    return -1;
}

/* A data set by its probability; of interleave_once, among those that are not through. */
static int32_t draw(hone_mix *m)
{
    bool    once = m->strategy == HONE_MIX_INTERLEAVE_ONCE;
    double  sum = 0, at;
    int32_t last = -1;

    for (int32_t i = 0; i < m->n; i++)
        if (!once || !is_through(m, i))
            sum += m->probs[i];
    at = hone_rng_f64(&m->rng) * sum;
    for (int32_t i = 0; i < m->n; i++) {
        if ((once && is_through(m, i)) || m->probs[i] == 0)
            continue;
        last = i;
        if (at < m->probs[i])
            break;
        at -= m->probs[i];
    }
    return last;        /* rounding may leave a rest: the last one's */
}

static int32_t next_drawn(hone_mix *m)
{
    int32_t i, end = m->strategy == HONE_MIX_INTERLEAVE_UNDER ? 1 : m->n;

    if (m->through >= end)
        return -1;
    i = draw(m);
    if (++m->taken[i] == m->rows[i])
        m->through++;
    return i;
}

int32_t hone_mix_next(hone_mix *m)
{
    if (m->strategy == HONE_MIX_CONCAT)
        return next_of_concat(m);
    return m->probs ? next_drawn(m) : next_in_turn(m);
}

void hone_mix_end(hone_mix *m, int32_t i) { m->rows[i] = --m->taken[i]; }

int64_t hone_mix_count(hone_mix *m)
{
    int64_t count = 0;

    if (m->probs && m->strategy != HONE_MIX_INTERLEAVE_ONCE) {
        while (hone_mix_next(m) >= 0)
            count++;
        hone_mix_restart(m);
        return count;
    }
    if (m->strategy == HONE_MIX_INTERLEAVE_UNDER || m->strategy == HONE_MIX_INTERLEAVE_OVER)
        return m->rounds * m->n;
    for (int32_t i = 0; i < m->n; i++)
        count += m->rows[i];
    return count;
}
