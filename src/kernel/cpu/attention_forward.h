/* kernel/cpu/attention_forward.h -- forward attention for one instruction set; see attention.h for the method. */
#include "kernel/cpu/attention_tile.h"

enum {
    FWD_FLOATS = 64 << 10,      /* of q and out that a worker should hold */
    FWD_ROWS_MAX = 512,
    FWD_ROWS_MIN = 96,
};

typedef struct fwd_run { run r; int64_t heads, parts; } fwd_run;    /* kv heads of a task, tasks of a block */

/* A worker's memory. */
typedef struct fwd_memory {
    float   *q, *out;           /* [rows][ldd], [rows][ldv] */
    float   *max, *sum, *factor;/* [rows]: running maximum and sum, what the newest tile multiplies older sums by */
    int64_t *lo, *hi;           /* [rows] visible keys */
    float   *key, *key_t, *value;
    float   *p;                 /* [MR][KEYS] scores, then probabilities */
    float   *keep;              /* [KEYS] */
} fwd_memory;

/* The pieces of a worker's memory at `base`, or only its size when that is NULL. */
static size_t fwd_carve(fwd_memory *m, char *base, const run *r)
{
    int64_t rows = r->block * r->group;
    size_t  at = 0;

    m->q = carve(base, &at, rows * r->ldd);
    m->out = carve(base, &at, rows * r->ldv);
    m->max = carve(base, &at, rows);
    m->sum = carve(base, &at, rows);
    m->factor = carve(base, &at, rows);
    m->lo = (int64_t *)carve(base, &at, 2 * rows);
    m->hi = (int64_t *)carve(base, &at, 2 * rows);
    m->key = carve(base, &at, KEYS * r->ldd);
    m->key_t = carve(base, &at, r->ldd * KEYS);
    m->value = carve(base, &at, KEYS * r->ldv);
    m->p = carve(base, &at, MR * KEYS);
    m->keep = carve(base, &at, KEYS);
    return at;
}

/* The row's new maximum; what its older sums are to be multiplied by (exactly 1 if the maximum stays). */
INLINE float softmax_shift(const fwd_memory *m, int64_t row, vf top)
{
    float old = m->max[row], max = vf_largest(vf_max(top, vf_set(old))), shift = max == -INFINITY ? 0.0f : max;

    m->factor[row] = 1.0f;
    if (max != old) {
        float factor[VF_LANES];

        vf_store_full(factor, exp_or_zero(vf_set(old - shift)));
        m->factor[row] = factor[0];
        m->max[row] = max;
    }
    return shift;
}

/*
 * One row's step of the online softmax over a tile: scores in p become exp(scale · score - new maximum), 0 where the
 * row sees nothing, for the vectors [v0, v1); what lies outside them is not touched.
 */
static void softmax_part(const fwd_memory *m, int64_t row, float *p, int lo, int hi, int v0, int v1, float scale)
{
    vf top = vf_set(-INFINITY), sum = vf_set(0.0f), shift;

    if (lo >= hi) {
        for (int v = v0; v < v1; v++)
            vf_store_full(p + v * VF_LANES, sum);
        m->factor[row] = 1.0f;
        return;
    }
    for (int v = v0; v < v1; v++) {
        vf t = vf_inside(vf_load_full(p + v * VF_LANES) * vf_set(scale), v * VF_LANES, lo, hi, -INFINITY);

        vf_store_full(p + v * VF_LANES, t);
        top = vf_max(top, t);
    }
    shift = vf_set(softmax_shift(m, row, top));
    for (int v = v0; v < v1; v++) {
        vf e = exp_or_zero(vf_load_full(p + v * VF_LANES) - shift);

        vf_store_full(p + v * VF_LANES, e);
        sum = sum + e;
    }
    m->sum[row] = m->sum[row] * m->factor[row] + vf_sum(sum);
}

/* The same for a row that sees the whole tile. */
static void softmax_whole(const fwd_memory *m, int64_t row, float *p, float scale)
{
    vf t[KEYS / VF_LANES], top = vf_set(-INFINITY), sum = vf_set(0.0f), shift;

#pragma GCC unroll 16
    for (int v = 0; v < KEYS / VF_LANES; v++) {
        t[v] = vf_load_full(p + v * VF_LANES) * vf_set(scale);
        top = vf_max(top, t[v]);
    }
    shift = vf_set(softmax_shift(m, row, top));
#pragma GCC unroll 16
    for (int v = 0; v < KEYS / VF_LANES; v++) {
        vf e = exp_or_zero(t[v] - shift);

        vf_store_full(p + v * VF_LANES, e);
        sum = sum + e;
    }
    m->sum[row] = m->sum[row] * m->factor[row] + vf_sum(sum);
}

/* All rows of the block against one packed tile of keys. */
static void fwd_tile(const run *r, const fwd_memory *m, const sample *s, int64_t kv, int64_t query, int64_t rows,
                     int64_t k0)
{
    const hone_attention_args *a = r->a;
    bool                       capped = a->softcap > 0;
    float                      scale = capped ? 1.0f : (float)a->scale;
    int64_t                    next = k0 + KEYS;

    for (int64_t row = 0; row < rows; row += MR) {
        int mr = (int)HONE_MIN(MR, rows - row), lo, hi, v0, v1;

        if (next < m->hi[rows - 1]) {
            tile_prefetch(r, a->k, s, next, kv, a->dim, row * KEYS / rows, (row + mr) * KEYS / rows);
            tile_prefetch(r, a->v, s, next, kv, a->v_dim, row * KEYS / rows, (row + mr) * KEYS / rows);
        }
        clip(&lo, &hi, m->lo[row], m->hi[row + mr - 1], k0);
        if (lo >= hi)
            continue;
        v0 = lo / VF_LANES;
        v1 = (hi + VF_LANES - 1) / VF_LANES;
        product_run((product){ .c = m->p + v0 * VF_LANES, .ldc = KEYS, .a = m->q + row * r->ldd, .rs = r->ldd, .ks = 1,
                               .b = m->key_t + v0 * VF_LANES, .ldb = KEYS, .k = a->dim, .start = FROM_ZERO },
                    mr, v1 - v0);
        if (capped)
            softcap_rows(m->p, NULL, a, mr, lo, hi);
        for (int i = 0; i < mr; i++) {
            float *p = m->p + i * KEYS;
            int    row_lo, row_hi;

            clip(&row_lo, &row_hi, m->lo[row + i], m->hi[row + i], k0);
            if (row_lo == 0 && row_hi == KEYS)
                softmax_whole(m, row + i, p, scale);
            else
                softmax_part(m, row + i, p, row_lo, row_hi, v0, v1, scale);
            if (a->dropout.p > 0 && row_lo < row_hi) {
                tile_dropout(m->keep, r, s, kv * r->group + (row + i) % r->group, query + (row + i) / r->group, k0);
                for (int j = v0 * VF_LANES; j < v1 * VF_LANES; j += VF_LANES)
                    vf_store_full(p + j, vf_load_full(p + j) * vf_load_full(m->keep + j));
            }
        }
        product_run((product){ .c = m->out + row * r->ldv, .ldc = r->ldv, .a = m->p + lo, .rs = KEYS, .ks = 1,
                               .b = m->value + lo * r->ldv, .ldb = r->ldv, .k = hi - lo, .start = FROM_SCALED_C,
                               .scale = m->factor + row }, mr, r->ldv / VF_LANES);
    }
}

static void fwd_finish(const run *r, const fwd_memory *m, const sample *s, int64_t kv, int64_t query, int64_t rows)
{
    const hone_attention_args *a = r->a;

    for (int64_t row = 0; row < rows; row++) {
        int64_t at = place(r, s, kv, query, row);
        bool    empty = m->lo[row] >= m->hi[row];
        float   inverse = empty ? 0.0f : 1.0f / m->sum[row], *out = m->out + row * r->ldv;

        for (int64_t d = 0; d < r->ldv; d++)
            out[d] *= inverse;
        row_store(a->out, at * a->v_dim, out, a->v_dim, r->bf16);
        ((float *)a->lse)[at] = empty ? -INFINITY : m->max[row] + logf(m->sum[row]);
    }
}

static void fwd_start(const run *r, const fwd_memory *m, const sample *s, int64_t kv, int64_t query, int64_t rows)
{
    const hone_attention_args *a = r->a;

    for (int64_t row = 0; row < rows; row++) {
        row_load(m->q + row * r->ldd, a->q, place(r, s, kv, query, row) * a->dim, a->dim, r->bf16);
        visible(&m->lo[row], &m->hi[row], &a->mask, s, query + row / r->group);
        m->max[row] = -INFINITY;
        m->sum[row] = 0.0f;
    }
    memset(m->out, 0, (size_t)(rows * r->ldv) * sizeof *m->out);
}

/* The part of the memory that holds the rows from `first` on. */
static fwd_memory fwd_rows_from(const run *r, fwd_memory m, int64_t first)
{
    m.q += first * r->ldd;
    m.out += first * r->ldv;
    m.max += first;
    m.sum += first;
    m.factor += first;
    m.lo += first;
    m.hi += first;
    return m;
}

/* One block of queries, for a few neighbouring kv heads: their keys lie together, which matters when rows are few. */
static void fwd_task(void *arg, int64_t task, int worker)
{
    const fwd_run             *f = arg;
    const run                 *r = &f->r;
    const hone_attention_args *a = r->a;
    int64_t    first = task % f->parts * f->heads, heads = HONE_MIN(f->heads, a->kv_heads - first);
    int64_t    item = task / f->parts, query, rows, end;
    sample     s = queue_find(&item, r);
    fwd_memory all, m;

    fwd_carve(&all, r->scratch + (size_t)worker * r->piece, r);
    query = (blocks_of(r, &s) - 1 - item) * r->block;       /* under a causal mask the last block has the most work */
    rows = HONE_MIN(r->block, s.n_q - query) * r->group;
    for (int64_t i = 0; i < heads; i++) {
        m = fwd_rows_from(r, all, i * rows);
        fwd_start(r, &m, &s, first + i, query, rows);
    }
    end = all.hi[rows - 1];
    for (int64_t k0 = all.lo[0] / KEYS * KEYS; k0 < end; k0 += KEYS) {
        int64_t n = HONE_MIN(KEYS, s.n_k - k0);

        for (int64_t i = 0; i < heads; i++) {
            m = fwd_rows_from(r, all, i * rows);
            tile_load(m.key, r->ldd, r, a->k, s.k0 + k0, first + i, a->dim, n);
            tile_transpose(m.key_t, m.key, r->ldd, a->dim, n);
            tile_load(m.value, r->ldv, r, a->v, s.k0 + k0, first + i, a->v_dim, n);
            fwd_tile(r, &m, &s, first + i, query, rows, k0);
        }
    }
    for (int64_t i = 0; i < heads; i++) {
        m = fwd_rows_from(r, all, i * rows);
        fwd_finish(r, &m, &s, first + i, query, rows);
    }
}

static int64_t fwd_blocks(const run *r)
{
    int64_t blocks = 0;

    for (int64_t i = 0; i < r->a->samples; i++) {
        sample s = sample_at(r->a, i);

        blocks += blocks_of(r, &s);
    }
    return blocks;
}

/* Cut the work: large blocks, since each packs its tiles anew, but enough tasks for the threads; and when even the
 * longest sample does not fill a block, several kv heads in one task. None of this changes a bit. */
static fwd_run fwd_plan(const hone_attention_args *a, bool bf16, int threads)
{
    run     r = run_make(a, bf16, 1);
    int64_t rows = HONE_MAX(FWD_ROWS_MIN, HONE_MIN(FWD_ROWS_MAX, FWD_FLOATS / (r.ldd + r.ldv))), heads, longest;

    for (;; rows /= 2) {
        r = run_make(a, bf16, (int)rows);
        if (rows / 2 < FWD_ROWS_MIN || fwd_blocks(&r) * a->kv_heads >= 3 * threads)
            break;
    }
    longest = HONE_MAX(1, longest_queries(a));
    heads = HONE_MAX(1, HONE_MIN(r.block / longest, a->kv_heads));
    while (heads > 1 && fwd_blocks(&r) * (a->kv_heads / heads) < threads)
        heads--;
    return (fwd_run){ r, heads, (a->kv_heads + heads - 1) / heads };
}

static hone_status fwd(const hone_kernel_env *env, const hone_attention_args *a, bool bf16)
{
    int        threads = hone_pool_threads(env->pool);
    fwd_run    f = fwd_plan(a, bf16, threads);
    fwd_memory m;
    size_t     queue = (size_t)round_up((a->samples + 1) * (int64_t)sizeof *f.r.queue, 64);

    f.r.piece = fwd_carve(&m, NULL, &f.r);
    f.r.queue = env->scratch(env->scratch_arg, queue + (size_t)threads * f.r.piece);
    if (!f.r.queue)
        return HONE_TRACE(HONE_E_NOMEM);
    if (env->sizes_only)
        return HONE_OK;
    f.r.scratch = (char *)f.r.queue + queue;
    hone_pool_run(env->pool, queue_fill(&f.r, false) * f.parts, fwd_task, &f);
    return HONE_OK;
}

hone_status ATTENTION_NAME(hone_attention_fwd_f32_)(const hone_kernel_env *env, const void *args)
{
    return fwd(env, args, false);
}

hone_status ATTENTION_NAME(hone_attention_fwd_bf16_)(const hone_kernel_env *env, const void *args)
{
    return fwd(env, args, true);
}
