/*
 * kernel/cpu/attention_backward.h -- backward attention for one instruction set; see attention.h for the method.
 *
 * dk and dv of a tile of keys are sums over blocks of queries in order, dq of a block is a sum over tiles in order. One
 * task per sample and kv head can do both while it computes each pair (tile, block) once; or tasks for tiles (dk, dv)
 * and tasks for blocks (dq) compute each pair twice, but are many. Both add the same numbers in the same order, so the
 * choice between them may follow the number of threads.
 *
 * ds = p (dp - delta) cancels where a query sees little but one key, so the two must carry the same rounding errors: delta is
 * Σ p dp over the very numbers that it is taken from, divided by Σ p, which is not quite 1 with the saved log-sum-exp. That costs two
 * products more than dout · out.
 */
#include "kernel/cpu/attention_tile.h"

enum {
    BWD_ROWS = 96,
    SAMPLE_BYTES = 8 << 20,     /* most memory a worker may take for the rows of a whole sample and kv head */
};

/* Rows of queries: a block's, or those of a whole sample. */
typedef struct bwd_rows {
    float   *q, *dout, *dq;     /* [rows][ldd], [rows][ldv], [rows][ldd] */
    float   *lse, *delta;       /* [rows] */
    int64_t *lo, *hi;           /* [rows] visible keys */
    int64_t  query, n;          /* the first query; number of rows */
} bwd_rows;

/* A worker's memory. */
typedef struct bwd_memory {
    bwd_rows rows;
    float   *key, *key_t, *value, *value_t, *dk, *dv;   /* of a tile */
    float   *p, *ds;            /* [rows of a block][KEYS]: probabilities after dropout, gradients of scores */
    float   *keep;              /* [KEYS] */
    float   *total;             /* [rows of a block] Σ p */
    float   *slope;             /* [MR][KEYS] derivatives of capped scores by q · k */
} bwd_memory;

typedef struct bwd_run { run r; int64_t rows; } bwd_run;    /* rows that a worker holds at once */
/* What a task works on. */
typedef struct bwd_task { const run *r; bwd_memory m; sample s; int64_t kv; } bwd_task;

static size_t bwd_carve(bwd_memory *m, char *base, const bwd_run *b)
{
    const run *r = &b->r;
    int64_t    block = r->block * r->group;
    size_t     at = 0;

    m->rows.q = carve(base, &at, b->rows * r->ldd);
    m->rows.dout = carve(base, &at, b->rows * r->ldv);
    m->rows.dq = carve(base, &at, b->rows * r->ldd);
    m->rows.lse = carve(base, &at, b->rows);
    m->rows.delta = carve(base, &at, b->rows);
    m->rows.lo = (int64_t *)carve(base, &at, 2 * b->rows);
    m->rows.hi = (int64_t *)carve(base, &at, 2 * b->rows);
    m->key = carve(base, &at, KEYS * r->ldd);
    m->key_t = carve(base, &at, r->ldd * KEYS);
    m->value = carve(base, &at, KEYS * r->ldv);
    m->value_t = carve(base, &at, r->ldv * KEYS);
    m->dk = carve(base, &at, KEYS * r->ldd);
    m->dv = carve(base, &at, KEYS * r->ldv);
    m->p = carve(base, &at, block * KEYS);
    m->ds = carve(base, &at, block * KEYS);
    m->keep = carve(base, &at, KEYS);
    m->total = carve(base, &at, block);
    m->slope = carve(base, &at, MR * KEYS);
    return at;
}

/* ---- a tile, a block, and the pair of them ----------------------------------------------------------------------- */
/* Returns the number of keys. */
static int64_t bwd_load_tile(const bwd_task *t, int64_t k0)
{
    const hone_attention_args *a = t->r->a;
    const bwd_memory          *m = &t->m;
    int64_t                    n = HONE_MIN(KEYS, t->s.n_k - k0);

    tile_load(m->key, t->r->ldd, t->r, a->k, t->s.k0 + k0, t->kv, a->dim, n);
    tile_transpose(m->key_t, m->key, t->r->ldd, a->dim, n);
    tile_load(m->value, t->r->ldv, t->r, a->v, t->s.k0 + k0, t->kv, a->v_dim, n);
    tile_transpose(m->value_t, m->value, t->r->ldv, a->v_dim, n);
    return n;
}

/* Load the rows of `queries` queries from `query` on, with dq = 0. */
static void bwd_load_rows(bwd_task *t, int64_t query, int64_t queries)
{
    const run                 *r = t->r;
    const hone_attention_args *a = r->a;
    bwd_rows                  *b = &t->m.rows;

    b->query = query;
    b->n = queries * r->group;
    for (int64_t row = 0; row < b->n; row++) {
        int64_t at = place(r, &t->s, t->kv, query, row);

        row_load(b->q + row * r->ldd, a->q, at * a->dim, a->dim, r->bf16);
        row_load(b->dout + row * r->ldv, a->dout, at * a->v_dim, a->v_dim, r->bf16);
        visible(&b->lo[row], &b->hi[row], &a->mask, &t->s, query + row / r->group);
        b->lse[row] = ((const float *)a->lse)[at];
        b->delta[row] = r->delta[at];
    }
    memset(b->dq, 0, (size_t)(b->n * r->ldd) * sizeof *b->dq);
}

static void bwd_store_rows(const bwd_task *t)
{
    const run      *r = t->r;
    const bwd_rows *b = &t->m.rows;

    for (int64_t row = 0; row < b->n; row++)
        row_store(r->a->dq, place(r, &t->s, t->kv, b->query, row) * r->a->dim, b->dq + row * r->ldd, r->a->dim,
                  r->bf16);
}

/* The block of `rows` that starts at their query number `query`. */
static bwd_rows bwd_block_of(const run *r, const bwd_rows *rows, int64_t query)
{
    int64_t  first = query * r->group;
    bwd_rows b = { rows->q + first * r->ldd, rows->dout + first * r->ldv, rows->dq + first * r->ldd, rows->lse + first,
                   rows->delta + first, rows->lo + first, rows->hi + first, rows->query + query, 0 };

    b.n = HONE_MIN(r->block * r->group, rows->n - first);
    return b;
}

/* Does one of these queries see a key of the tile? */
static bool bwd_visible(const bwd_task *t, int64_t query, int64_t queries, int64_t k0)
{
    int64_t lo, hi, other;

    visible(&lo, &other, &t->r->a->mask, &t->s, query);
    visible(&other, &hi, &t->r->a->mask, &t->s, query + queries - 1);
    return lo < k0 + KEYS && hi > k0;
}

/* One row: scores in p and dout · v in ds become probabilities and gradients of scores; zeros outside [lo, hi). */
static void bwd_row(float *p, float *ds, float score_scale, float row_lse, float row_delta, int lo, int hi,
                    const float *keep)
{
    const vf scale = vf_set(score_scale), lse = vf_set(row_lse), delta = vf_set(row_delta);
    int      v0 = lo / VF_LANES, v1 = lo < hi ? (hi + VF_LANES - 1) / VF_LANES : v0;

    for (int v = 0; v < KEYS / VF_LANES; v++) {
        vf x, e, g;

        if (v < v0 || v >= v1) {
            vf_store_full(p + v * VF_LANES, vf_set(0.0f));
            vf_store_full(ds + v * VF_LANES, vf_set(0.0f));
            continue;
        }
        x = vf_load_full(p + v * VF_LANES) * scale - lse;
        if (v * VF_LANES < lo || (v + 1) * VF_LANES > hi)
            x = vf_inside(x, v * VF_LANES, lo, hi, -INFINITY);
        e = exp_or_zero(x);
        g = vf_load_full(ds + v * VF_LANES);
        if (keep) {
            vf f = vf_load_full(keep + v * VF_LANES);

            vf_store_full(p + v * VF_LANES, e * f);
            g = g * f;
        } else {
            vf_store_full(p + v * VF_LANES, e);
        }
        vf_store_full(ds + v * VF_LANES, e * (g - delta) * scale);
    }
}

/* The vectors of rows of KEYS that hold elements [lo, hi), times those of others. */
static void multiply_rows(float *to, const float *by, int rows, int lo, int hi)
{
    for (int row = 0; row < rows; row++)
        for (int i = row * KEYS + lo / VF_LANES * VF_LANES; i < row * KEYS + hi; i += VF_LANES)
            vf_store_full(to + i, vf_load_full(to + i) * vf_load_full(by + i));
}

/* The products of rows [row, row + mr): scores, capped ones where there is a cap, in p and dout · v in ds, for keys [lo, hi). */
static void bwd_products(const bwd_task *t, const bwd_rows *b, int64_t row, int mr, int lo, int hi)
{
    const run                 *r = t->r;
    const hone_attention_args *a = r->a;
    const bwd_memory          *m = &t->m;
    int                        v0 = lo / VF_LANES, n = (hi + VF_LANES - 1) / VF_LANES - v0;
    float                     *p = m->p + row * KEYS, *ds = m->ds + row * KEYS;

    product_run((product){ .c = p + v0 * VF_LANES, .ldc = KEYS, .a = b->q + row * r->ldd, .rs = r->ldd, .ks = 1,
                           .b = m->key_t + v0 * VF_LANES, .ldb = KEYS, .k = a->dim, .start = FROM_ZERO }, mr, n);
    product_run((product){ .c = ds + v0 * VF_LANES, .ldc = KEYS, .a = b->dout + row * r->ldv, .rs = r->ldv, .ks = 1,
                           .b = m->value_t + v0 * VF_LANES, .ldb = KEYS, .k = a->v_dim, .start = FROM_ZERO }, mr, n);
    if (a->softcap > 0)
        softcap_rows(p, m->slope, a, mr, lo, hi);
}

/* The dropout factors of a row, NULL without dropout. */
static const float *bwd_keep(const bwd_task *t, const bwd_rows *b, int64_t row, int64_t k0)
{
    const run *r = t->r;

    if (!(r->a->dropout.p > 0))
        return NULL;
    tile_dropout(t->m.keep, r, &t->s, t->kv * r->group + row % r->group, b->query + row / r->group, k0);
    return t->m.keep;
}

/* What scores are multiplied by: capped ones have their scale. */
static float bwd_scale(const hone_attention_args *a) { return a->softcap > 0 ? 1.0f : (float)a->scale; }

/* p and ds of the loaded tile and block. Rows that see nothing of the tile may be left as they are. */
static void bwd_pair(const bwd_task *t, const bwd_rows *b, int64_t k0)
{
    const bwd_memory *m = &t->m;
    float             scale = bwd_scale(t->r->a);

    for (int64_t row = 0; row < b->n; row += MR) {
        int    mr = (int)HONE_MIN(MR, b->n - row), lo, hi;
        float *p = m->p + row * KEYS, *ds = m->ds + row * KEYS;

        clip(&lo, &hi, b->lo[row], b->hi[row + mr - 1], k0);
        if (lo >= hi)
            continue;
        bwd_products(t, b, row, mr, lo, hi);
        for (int i = 0; i < mr; i++) {
            int row_lo, row_hi;

            clip(&row_lo, &row_hi, b->lo[row + i], b->hi[row + i], k0);
            bwd_row(p + i * KEYS, ds + i * KEYS, scale, b->lse[row + i], b->delta[row + i], row_lo, row_hi,
                    bwd_keep(t, b, row + i, k0));
        }
        if (t->r->a->softcap > 0)
            multiply_rows(ds, m->slope, mr, lo, hi);
    }
}

/* One row's part of Σ p dp and Σ p: scores in p and dout · v in g, of keys [lo, hi). */
static void delta_row(float *sum, float *total, const float *p, const float *g, float scale, float lse, int lo, int hi,
                      const float *keep)
{
    vf sums = vf_set(0.0f), totals = vf_set(0.0f);

    for (int v = lo / VF_LANES * VF_LANES; v < hi; v += VF_LANES) {
        vf x = vf_inside(vf_load_full(p + v) * vf_set(scale) - vf_set(lse), v, lo, hi, -INFINITY), e = exp_or_zero(x);
        vf dp = vf_inside(vf_load_full(g + v), v, lo, hi, 0.0f);

        totals = totals + e;
        if (keep)
            dp = dp * vf_load_full(keep + v);
        sums = vf_fma(e, dp, sums);
    }
    *sum += vf_sum(sums);
    *total += vf_sum(totals);
}

/* Adds the loaded tile to Σ p dp, in delta, and Σ p of the block's rows. */
static void delta_pair(const bwd_task *t, const bwd_rows *b, int64_t k0)
{
    const bwd_memory *m = &t->m;
    float             scale = bwd_scale(t->r->a);

    for (int64_t row = 0; row < b->n; row += MR) {
        int mr = (int)HONE_MIN(MR, b->n - row), lo, hi;

        clip(&lo, &hi, b->lo[row], b->hi[row + mr - 1], k0);
        if (lo >= hi)
            continue;
        bwd_products(t, b, row, mr, lo, hi);
        for (int64_t i = row; i < row + mr; i++) {
            int row_lo, row_hi;

            clip(&row_lo, &row_hi, b->lo[i], b->hi[i], k0);
            if (row_lo < row_hi)
                delta_row(&b->delta[i], &m->total[i], m->p + i * KEYS, m->ds + i * KEYS, scale, b->lse[i], row_lo, row_hi,
                          bwd_keep(t, b, i, k0));
        }
    }
}

/* dv += pᵀ · dout, dk += dsᵀ · q: for each few keys, over the rows that see one of them. */
static void bwd_add_tile(const bwd_task *t, const bwd_rows *b, int64_t k0, int64_t n)
{
    const run        *r = t->r;
    const bwd_memory *m = &t->m;
    int64_t           first = 0, end = 0;

    for (int64_t key = 0; key < n; key += MR) {
        int     mr = (int)HONE_MIN(MR, n - key);
        product p = { .c = m->dv + key * r->ldv, .ldc = r->ldv, .rs = 1, .ks = KEYS, .ldb = r->ldv, .start = FROM_C };

        while (first < b->n && b->hi[first] <= k0 + key)
            first++;
        while (end < b->n && b->lo[end] < k0 + key + mr)
            end++;
        if (first >= end)
            continue;
        p.k = end - first;
        p.a = m->p + first * KEYS + key;
        p.b = b->dout + first * r->ldv;
        product_run(p, mr, r->ldv / VF_LANES);
        p.c = m->dk + key * r->ldd;
        p.ldc = p.ldb = r->ldd;
        p.a = m->ds + first * KEYS + key;
        p.b = b->q + first * r->ldd;
        product_run(p, mr, r->ldd / VF_LANES);
    }
}

/* dq += ds · k */
static void bwd_add_block(const bwd_task *t, const bwd_rows *b, int64_t k0)
{
    const run        *r = t->r;
    const bwd_memory *m = &t->m;

    for (int64_t row = 0; row < b->n; row += MR) {
        int mr = (int)HONE_MIN(MR, b->n - row), lo, hi;

        clip(&lo, &hi, b->lo[row], b->hi[row + mr - 1], k0);
        if (lo < hi)
            product_run((product){ .c = b->dq + row * r->ldd, .ldc = r->ldd, .a = m->ds + row * KEYS + lo, .rs = KEYS,
                                   .ks = 1, .b = m->key + lo * r->ldd, .ldb = r->ldd, .k = hi - lo, .start = FROM_C },
                        mr, r->ldd / VF_LANES);
    }
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */
static void bwd_clear_tile(const bwd_task *t)
{
    memset(t->m.dk, 0, (size_t)(KEYS * t->r->ldd) * sizeof(float));
    memset(t->m.dv, 0, (size_t)(KEYS * t->r->ldv) * sizeof(float));
}

static void bwd_store_tile(const bwd_task *t, int64_t k0, int64_t n)
{
    const run                 *r = t->r;
    const hone_attention_args *a = r->a;

    for (int64_t i = 0; i < n; i++) {
        int64_t at = (t->s.k0 + k0 + i) * a->kv_heads + t->kv;

        row_store(a->dk, at * a->dim, t->m.dk + i * r->ldd, a->dim, r->bf16);
        row_store(a->dv, at * a->v_dim, t->m.dv + i * r->ldv, a->v_dim, r->bf16);
    }
}

/* dk and dv of one tile. */
static void bwd_tile_task(bwd_task *t, int64_t k0)
{
    int64_t n = bwd_load_tile(t, k0);

    bwd_clear_tile(t);
    for (int64_t query = 0; query < t->s.n_q; query += t->r->block) {
        bwd_rows *b = &t->m.rows;
        int64_t   queries = HONE_MIN(t->r->block, t->s.n_q - query);

        if (!bwd_visible(t, query, queries, k0))
            continue;
        bwd_load_rows(t, query, queries);
        bwd_pair(t, b, k0);
        bwd_add_tile(t, b, k0, n);
    }
    bwd_store_tile(t, k0, n);
}

/* dq of one block. */
static void bwd_block_task(bwd_task *t, int64_t query)
{
    const bwd_rows *b = &t->m.rows;

    bwd_load_rows(t, query, HONE_MIN(t->r->block, t->s.n_q - query));
    for (int64_t k0 = b->lo[0] / KEYS * KEYS; k0 < b->hi[b->n - 1]; k0 += KEYS) {
        bwd_load_tile(t, k0);
        bwd_pair(t, b, k0);
        bwd_add_block(t, b, k0);
    }
    bwd_store_rows(t);
}

/* All gradients of one sample and kv head. */
static void bwd_sample_task(bwd_task *t)
{
    bwd_load_rows(t, 0, t->s.n_q);
    for (int64_t k0 = 0; k0 < t->s.n_k; k0 += KEYS) {
        int64_t n = bwd_load_tile(t, k0);

        bwd_clear_tile(t);
        for (int64_t query = 0; query < t->s.n_q; query += t->r->block) {
            bwd_rows b = bwd_block_of(t->r, &t->m.rows, query);

            if (!bwd_visible(t, query, b.n / t->r->group, k0))
                continue;
            bwd_pair(t, &b, k0);
            bwd_add_tile(t, &b, k0, n);
            bwd_add_block(t, &b, k0);
        }
        bwd_store_tile(t, k0, n);
    }
    bwd_store_rows(t);
}

static bwd_task bwd_task_at(const bwd_run *b, sample s, int64_t kv, int worker)
{
    bwd_task t = { .r = &b->r, .s = s, .kv = kv };

    bwd_carve(&t.m, b->r.scratch + (size_t)worker * b->r.piece, b);
    return t;
}

static void bwd_run_sample(void *arg, int64_t task, int worker)
{
    const bwd_run             *b = arg;
    const hone_attention_args *a = b->r.a;
    sample                     s = sample_at(a, b->r.queue[task / a->kv_heads].index);
    bwd_task                   t = bwd_task_at(b, s, task % a->kv_heads, worker);

    bwd_sample_task(&t);
}

static void bwd_run_item(void *arg, int64_t task, int worker)
{
    const bwd_run *b = arg;
    int64_t        item = task / b->r.a->kv_heads;
    sample         s = queue_find(&item, &b->r);
    bwd_task       t = bwd_task_at(b, s, task % b->r.a->kv_heads, worker);

    if (item < tiles_of(&s))
        bwd_tile_task(&t, item * KEYS);
    else
        bwd_block_task(&t, (blocks_of(&b->r, &s) - 1 - (item - tiles_of(&s))) * b->r.block);
}

/* delta of one block. */
static void bwd_run_delta(void *arg, int64_t task, int worker)
{
    const bwd_run *b = arg;
    const run     *r = &b->r;
    int64_t        item = task / r->a->kv_heads;
    sample         s = queue_find(&item, r);
    bwd_task       t = bwd_task_at(b, s, task % r->a->kv_heads, worker);
    bwd_rows      *rows = &t.m.rows;
    int64_t        query = (blocks_of(r, &s) - 1 - item) * r->block;

    bwd_load_rows(&t, query, HONE_MIN(r->block, s.n_q - query));
    memset(rows->delta, 0, (size_t)rows->n * sizeof *rows->delta);
    memset(t.m.total, 0, (size_t)rows->n * sizeof *t.m.total);
    for (int64_t k0 = rows->lo[0] / KEYS * KEYS; k0 < rows->hi[rows->n - 1]; k0 += KEYS) {
        bwd_load_tile(&t, k0);
        delta_pair(&t, rows, k0);
    }
    for (int64_t row = 0; row < rows->n; row++)
        r->delta[place(r, &s, t.kv, query, row)] = rows->lo[row] < rows->hi[row] ? rows->delta[row] / t.m.total[row] : 0.0f;
}

/* One task per sample and kv head is the lesser work, if that leaves no thread long alone with the longest sample. */
static bool bwd_by_sample(const bwd_run *b, int threads)
{
    const hone_attention_args *a = b->r.a;
    double                     total = 0, most = 0;

    for (int64_t i = 0; i < a->samples; i++) {
        sample s = sample_at(a, i);
        double work = (double)s.n_q * (double)s.n_k;

        total += work;
        most = HONE_MAX(most, work);
    }
    if (longest_queries(a) * b->r.group * (2 * b->r.ldd + b->r.ldv) * (int64_t)sizeof(float) > SAMPLE_BYTES)
        return false;
    return threads == 1 || most <= 1.2 * total * (double)a->kv_heads / threads;
}

static hone_status bwd(const hone_kernel_env *env, const hone_attention_args *a, bool bf16)
{
    int        threads = hone_pool_threads(env->pool);
    bwd_run    b = { .r = run_make(a, bf16, BWD_ROWS) };
    run       *r = &b.r;
    bool       by_sample = bwd_by_sample(&b, threads);
    size_t     queue = (size_t)round_up((a->samples + 1) * (int64_t)sizeof *r->queue, 64);
    size_t     delta = (size_t)round_up(a->cu_q[a->samples] * a->heads * (int64_t)sizeof *r->delta, 64);
    bwd_memory m;
    int64_t    items;

    b.rows = HONE_MAX(r->block, by_sample ? longest_queries(a) : 0) * r->group;
    r->piece = bwd_carve(&m, NULL, &b);
    r->queue = env->scratch(env->scratch_arg, queue + delta + (size_t)threads * r->piece);
    if (!r->queue)
        return HONE_TRACE(HONE_E_NOMEM);
    if (env->sizes_only)
        return HONE_OK;
    r->delta = (float *)((char *)r->queue + queue);
    r->scratch = (char *)r->queue + queue + delta;
    hone_pool_run(env->pool, queue_fill(r, false) * a->kv_heads, bwd_run_delta, &b);
    items = queue_fill(r, true);
    if (by_sample)
        hone_pool_run(env->pool, a->samples * a->kv_heads, bwd_run_sample, &b);
    else
        hone_pool_run(env->pool, items * a->kv_heads, bwd_run_item, &b);
    return HONE_OK;
}

hone_status ATTENTION_NAME(hone_attention_bwd_f32_)(const hone_kernel_env *env, const void *args)
{
    return bwd(env, args, false);
}

hone_status ATTENTION_NAME(hone_attention_bwd_bf16_)(const hone_kernel_env *env, const void *args)
{
    return bwd(env, args, true);
}
