/*
 * kernel/cpu/attention_tile.h -- what forward and backward attention share: the samples in order of work, blocks of
 * query rows, tiles of keys, and the product of two small matrices. Included once per instruction set; everything is
 * static.
 */
#ifndef HONE_KERNEL_CPU_ATTENTION_TILE_H
#define HONE_KERNEL_CPU_ATTENTION_TILE_H

#include <math.h>
#include <stdlib.h>

#include "kernel/cpu/attention.h"
#include "kernel/cpu/attention_simd.h"

enum {
    KEYS = 64,          /* keys of a tile: fixed, since a row's bits depend on it; a multiple of 4 · VF_LANES */
    MR = 6,             /* rows of a micro-kernel */
};

#define ATTENTION_GLUE__(a, b) a##b
#define ATTENTION_GLUE_(a, b) ATTENTION_GLUE__(a, b)
#define ATTENTION_NAME(name) ATTENTION_GLUE_(name, ATTENTION_ISA)

static inline int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* ---- C = A · B --------------------------------------------------------------------------------------------------- */
typedef enum product_start { FROM_ZERO, FROM_C, FROM_SCALED_C } product_start;

/* c[i][j] = start + Σ_k a[i·rs + k·ks] · b[k][j]; `scale`: one factor per row of c for FROM_SCALED_C. */
typedef struct product {
    float        *c;
    const float  *a, *b, *scale;
    int64_t       ldc, rs, ks, ldb, k;
    product_start start;
} product;

/* Sums are named variables: an array of them would be spilled to memory. */
#define FOR_ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define DECLARE_(i) vf c##i##0 = zero, c##i##1 = zero, c##i##2 = zero, c##i##3 = zero;
#define IN_(i, j) if (mr > i && nv > j) c##i##j = vf_load_full(c + i * ldc + j * VF_LANES);
#define IN_ROW_(i) IN_(i, 0) IN_(i, 1) IN_(i, 2) IN_(i, 3)
#define SCALE_(i, j) if (mr > i && nv > j) c##i##j = c##i##j * vf_set(p->scale[i]);
#define SCALE_ROW_(i) SCALE_(i, 0) SCALE_(i, 1) SCALE_(i, 2) SCALE_(i, 3)
#define STEP_(i, j) if (nv > j) c##i##j = vf_fma(x, b##j, c##i##j);
#define STEP_ROW_(i) \
    if (mr > i) { vf x = vf_set((i < 3 ? a : a3)[i % 3 * rs]); STEP_(i, 0) STEP_(i, 1) STEP_(i, 2) STEP_(i, 3) }
#define OUT_(i, j) if (mr > i && nv > j) vf_store_full(c + i * ldc + j * VF_LANES, c##i##j);
#define OUT_ROW_(i) OUT_(i, 0) OUT_(i, 1) OUT_(i, 2) OUT_(i, 3)

INLINE void product_kernel(const product *p, const int mr, const int nv)
{
    const vf     zero = vf_set(0.0f);
    const float *a = p->a, *a3 = mr > 3 ? p->a + 3 * p->rs : p->a, *b = p->b;
    float       *c = p->c;
    int64_t      rs = p->rs, ks = p->ks, ldb = p->ldb, ldc = p->ldc;

    FOR_ROWS(DECLARE_)
    if (p->start != FROM_ZERO) {
        FOR_ROWS(IN_ROW_)
        if (p->start == FROM_SCALED_C) {
            FOR_ROWS(SCALE_ROW_)
        }
    }
    for (int64_t k = p->k; k > 0; k--) {
        vf b0 = vf_load_full(b), b1 = nv > 1 ? vf_load_full(b + VF_LANES) : zero;
        vf b2 = nv > 2 ? vf_load_full(b + 2 * VF_LANES) : zero, b3 = nv > 3 ? vf_load_full(b + 3 * VF_LANES) : zero;

        FOR_ROWS(STEP_ROW_)
        a += ks;
        a3 += ks;
        b += ldb;
    }
    FOR_ROWS(OUT_ROW_)
}

typedef void (*product_fn)(const product *p);

#define KERNEL_(mr, nv) static void product_##mr##_##nv(const product *p) { product_kernel(p, mr, nv); }
#define KERNELS_OF_(nv) KERNEL_(1, nv) KERNEL_(2, nv) KERNEL_(3, nv) KERNEL_(4, nv) KERNEL_(5, nv) KERNEL_(6, nv)
#define NAMES_OF_(nv) { product_1_##nv, product_2_##nv, product_3_##nv, product_4_##nv, product_5_##nv, product_6_##nv }

KERNELS_OF_(1)
KERNELS_OF_(2)
#if defined(__AVX512F__)
KERNELS_OF_(3)
KERNELS_OF_(4)
static const product_fn product_kernels[NV_MAX][MR] = { NAMES_OF_(1), NAMES_OF_(2), NAMES_OF_(3), NAMES_OF_(4) };
#else
static const product_fn product_kernels[NV_MAX][MR] = { NAMES_OF_(1), NAMES_OF_(2) };
#endif

/* Rows up to MR, columns `nv` vectors (any number). */
static void product_run(product p, int rows, int64_t nv)
{
    for (; nv > 0; nv -= NV_MAX, p.b += NV_MAX * VF_LANES, p.c += NV_MAX * VF_LANES)
        product_kernels[HONE_MIN(nv, NV_MAX) - 1][rows - 1](&p);
}

/* ---- rows of the user's memory, as floats ------------------------------------------------------------------------ */
/* Copy `n` elements, and zeros up to a whole vector. */
static void row_load(float *to, const void *from, int64_t at, int64_t n, bool bf16)
{
    if (bf16)
        VF_EACH(i, m, n, vf_store_full(to + i, vf_load_bf16((const uint16_t *)from + at + i, m)););
    else
        VF_EACH(i, m, n, vf_store_full(to + i, vf_load((const float *)from + at + i, m)););
}

static void row_store(void *to, int64_t at, const float *from, int64_t n, bool bf16)
{
    if (bf16)
        VF_EACH(i, m, n, vf_store_bf16((uint16_t *)to + at + i, vf_load_full(from + i), m););
    else
        VF_EACH(i, m, n, vf_store((float *)to + at + i, vf_load_full(from + i), m););
}

/* ---- samples, their blocks and tiles ----------------------------------------------------------------------------- */
typedef struct sample { int64_t index, q0, k0, n_q, n_k; } sample;  /* its first query and key token, its lengths */
typedef struct queue_entry { int64_t index, length, first; } queue_entry;  /* its first item in the list of work */

/* A kernel run. ldd, ldv: dim and v_dim rounded up to whole vectors, the row strides of all packed matrices. */
typedef struct run {
    const hone_attention_args *a;
    bool         bf16;
    int64_t      group, ldd, ldv;
    int64_t      block;         /* queries of a block: group · block rows */
    queue_entry *queue;         /* samples, longest first; then one entry that ends the list of work */
    float       *delta;         /* backward: Σ p dp of each query, [tokens_q, heads] */
    char        *scratch;       /* one piece per worker */
    size_t       piece;
} run;

static int longer_first(const void *x, const void *y)
{
    const queue_entry *a = x, *b = y;

    return a->length != b->length ? (a->length < b->length ? 1 : -1) : (a->index > b->index) - (a->index < b->index);
}

static sample sample_at(const hone_attention_args *a, int64_t s)
{
    return (sample){ s, a->cu_q[s], a->cu_k[s], a->cu_q[s + 1] - a->cu_q[s], a->cu_k[s + 1] - a->cu_k[s] };
}

/* `rows`: how many (query, head) rows a block should have; it has at least those of one query. */
static run run_make(const hone_attention_args *a, bool bf16, int rows)
{
    run r = { .a = a, .bf16 = bf16, .group = a->heads / a->kv_heads, .ldd = round_up(a->dim, VF_LANES),
              .ldv = round_up(a->v_dim, VF_LANES) };

    r.block = HONE_MAX(1, rows / r.group);
    return r;
}

static int64_t longest_queries(const hone_attention_args *a)
{
    int64_t n = 0;

    for (int64_t i = 0; i < a->samples; i++)
        n = HONE_MAX(n, a->cu_q[i + 1] - a->cu_q[i]);
    return n;
}

static int64_t blocks_of(const run *r, const sample *s) { return (s->n_q + r->block - 1) / r->block; }
static int64_t tiles_of(const sample *s) { return (s->n_k + KEYS - 1) / KEYS; }

/* List the blocks, and the tiles if asked, of all samples, longest first, so that the last tasks to start are short.
 * Returns how many there are. */
static int64_t queue_fill(run *r, bool with_tiles)
{
    int64_t n = r->a->samples, items = 0;

    for (int64_t i = 0; i < n; i++) {
        sample s = sample_at(r->a, i);

        r->queue[i] = (queue_entry){ i, s.n_q + s.n_k, 0 };
    }
    qsort(r->queue, (size_t)n, sizeof *r->queue, longer_first);
    for (int64_t i = 0; i < n; i++) {
        sample s = sample_at(r->a, r->queue[i].index);

        r->queue[i].first = items;
        items += blocks_of(r, &s) + (with_tiles ? tiles_of(&s) : 0);
    }
    r->queue[n] = (queue_entry){ n, 0, items };
    return items;
}

/* The sample that list item `*item` belongs to; `*item` becomes its number within the sample. */
static sample queue_find(int64_t *item, const run *r)
{
    int64_t lo = 0, hi = r->a->samples;

    while (hi - lo > 1) {
        int64_t mid = (lo + hi) / 2;

        if (r->queue[mid].first <= *item)
            lo = mid;
        else
            hi = mid;
    }
    *item -= r->queue[lo].first;
    return sample_at(r->a, r->queue[lo].index);
}

/* The keys that query i sees: [lo, hi). */
static void visible(int64_t *lo, int64_t *hi, const hone_mask *m, const sample *s, int64_t i)
{
    int64_t position = i + s->n_k - s->n_q;

    *lo = m->window > 0 ? HONE_MAX(0, position - m->window + 1) : 0;
    *hi = m->causal ? HONE_MIN(position + 1, s->n_k) : s->n_k;
    if (*hi < *lo)
        *hi = *lo;
}

/* Cut [lo, hi) to the tile that starts at key k0. */
static void clip(int *tile_lo, int *tile_hi, int64_t lo, int64_t hi, int64_t k0)
{
    *tile_lo = (int)HONE_MIN(HONE_MAX(lo - k0, 0), KEYS);
    *tile_hi = (int)HONE_MIN(HONE_MAX(hi - k0, 0), KEYS);
}

/* Where row `row` of a block lies in [tokens, heads]: query row / group, head row % group of kv head `kv`. */
static int64_t place(const run *r, const sample *s, int64_t kv, int64_t query, int64_t row)
{
    return (s->q0 + query + row / r->group) * r->a->heads + kv * r->group + row % r->group;
}

/* Load `n` key or value rows of a tile (dim elements, stride ld), and zeros up to whole vectors of rows. */
static void tile_load(float *to, int64_t ld, const run *r, const void *from, int64_t token, int64_t kv, int64_t dim,
                      int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        row_load(to + i * ld, from, ((token + i) * r->a->kv_heads + kv) * dim, dim, r->bf16);
    memset(to + n * ld, 0, (size_t)((round_up(n, VF_LANES) - n) * ld) * sizeof *to);
}

/* Rows lie far apart, so the processor does not foresee them: ask for rows [first, end) of the tile at key k0, as far
 * as there are such, while there is other work. */
static void tile_prefetch(const run *r, const void *from, const sample *s, int64_t k0, int64_t kv, int64_t dim,
                          int64_t first, int64_t end)
{
    int64_t size = r->bf16 ? 2 : 4;

    end = HONE_MIN(end, s->n_k - k0);
    for (int64_t i = first; i < end; i++) {
        const char *row = (const char *)from + ((s->k0 + k0 + i) * r->a->kv_heads + kv) * dim * size;

        for (int64_t byte = 0; byte < dim * size; byte += 64)
            __builtin_prefetch(row + byte, 0, 3);
    }
}

/* [n rounded up to VF_LANES][ld] to [dim rounded up to 4][KEYS] */
static void tile_transpose(float *to, const float *from, int64_t ld, int64_t dim, int64_t n)
{
    for (int64_t key = 0; key < n; key += VF_LANES)
        for (int64_t d = 0; d < dim; d += 4)
            transpose_four(to + d * KEYS + key, KEYS, from + key * ld + d, ld);
}

/* Dropout factors of one row for the tile at key k0: the words of hone_dropout_words. */
static void tile_dropout(float *to, const run *r, const sample *s, int64_t head, int64_t query, int64_t k0)
{
    const hone_dropout *d = &r->a->dropout;
    const vf            keep = vf_set((float)(1 / (1 - (double)d->p)));
    uint32_t            threshold = hone_dropout_threshold(d->p);
    uint32_t            lane = ((uint32_t)head & 0xFFFFu) << 16 | (d->site & 0xFFFFu);

    for (int i = 0; i < KEYS; i += 4 * VF_LANES) {
        vi words[4];

        vi_philox(words, d->key, (uint32_t)r->a->sample_ids[s->index], (uint32_t)(query + s->n_k - s->n_q), lane,
                  (uint32_t)((k0 + i) / 4));
        for (int j = 0; j < 4; j++)
            vf_store_full(to + i + j * VF_LANES, vf_keep(keep, words[j], threshold));
    }
}

/* Rows of KEYS products q · k, in the vectors that hold elements [lo, hi), become softcap · tanh(scale · q · k / softcap);
 * `slope`, if asked for, the derivative by q · k. */
static void softcap_rows(float *p, float *slope, const hone_attention_args *a, int rows, int lo, int hi)
{
    const vf inner = vf_set((float)(a->scale / a->softcap)), cap = vf_set((float)a->softcap), scale = vf_set((float)a->scale);

    for (int row = 0; row < rows; row++)
        for (int i = row * KEYS + lo / VF_LANES * VF_LANES; i < row * KEYS + hi; i += VF_LANES) {
            vf s, t = vf_tanh(&s, vf_load_full(p + i) * inner);

            vf_store_full(p + i, t * cap);
            if (slope)
                vf_store_full(slope + i, s * scale);
        }
}

/* Take `n` floats, in whole cache lines, at offset `*at` of `base`; with base NULL, only count them. */
static float *carve(char *base, size_t *at, int64_t n)
{
    float *p = base ? (float *)(base + *at) : NULL;

    *at += (size_t)round_up(n * (int64_t)sizeof *p, 64);
    return p;
}

#endif /* HONE_KERNEL_CPU_ATTENTION_TILE_H */
