#include "kernel/cpu/matmul.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "kernel/cpu/cpu.h"

enum { ALIGN = 64, SUM_COLS = 512, FEW_ROWS = 16 };

/* One product and how it is cut. */
typedef struct product {
    const hone_mm_set *set;
    hone_mm_operand a, b;
    hone_mm_output  out;
    int64_t         m, n, k;            /* k is the summed dimension */
    int64_t         mb, nb;             /* rows and columns of a task's block */
    int64_t         blocks_m, blocks_n;
    const void     *summed;             /* column sums of this [k, sum_n] matrix are asked for */
    int64_t         sum_n;
    float          *sums;               /* or NULL */
    char           *scratch;            /* a part for each worker: packed B, packed A, tiles of C */
    size_t          a_at, c_at, worker_bytes;
} product;

/* One task's block, at one block of k. */
typedef struct block {
    const product *p;
    int64_t        i0, rows, j0, cols;
    int64_t        k0, kc;
    bool           first, last;
    char          *a, *b;
    float         *c;
} block;

static int64_t round_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }
static int64_t div_up(int64_t v, int64_t by) { return (v + by - 1) / by; }

static int64_t panel_bytes(const hone_mm_set *set, int64_t width, int64_t kc)
{
    return round_up(width, set->vec) * round_up(kc, set->unit) * set->elem;
}

static void pack_panels(const block *b)
{
    const hone_mm_set *set = b->p->set;
    char              *dst = b->b;

    for (int64_t j = 0; j < b->cols; j += set->nr) {
        set->pack_b(dst, &b->p->b, b->j0 + j, (int)HONE_MIN(set->nr, b->cols - j), b->k0, b->kc);
        dst += panel_bytes(set, set->nr, b->kc);
    }
}

/* One strip of rows by every panel; `c` are its tiles. */
static void multiply_strip(const block *b, hone_mm_rows a, int rows, float *c)
{
    const hone_mm_set *set = b->p->set;
    const char        *panel = b->b;
    int64_t            steps = div_up(b->kc, set->unit);

    for (int64_t j = 0; j < b->cols; j += set->nr) {
        int width = (int)round_up(HONE_MIN(set->nr, b->cols - j), set->vec);

        set->tile(c, a, panel, steps, rows, width, !b->first);
        panel += panel_bytes(set, set->nr, b->kc);
        c += set->mr * set->nr;
    }
}

static void multiply_rows(const block *b)
{
    const hone_mm_set *set = b->p->set;
    int64_t            strip_floats = div_up(b->cols, set->nr) * set->mr * set->nr;
    int64_t            strip_bytes = set->mr * round_up(b->kc, set->unit) * set->elem;
    int64_t            group = (int64_t)set->strips * set->mr;
    hone_mm_rows       packed = { 0 };

    for (int64_t i = 0; i < b->rows; i += set->mr) {
        int          rows = (int)HONE_MIN(set->mr, b->rows - i);
        bool         keeps = b->p->k > set->kc;             /* sums wait for the next block of k */
        float       *c = b->c + (keeps ? i / set->mr * strip_floats : 0);
        hone_mm_rows a;

        if (!set->rows_in_place(&a, &b->p->a, b->i0 + i, b->k0, b->kc)) {
            if (i % group == 0)
                set->pack_a(&packed, b->a, &b->p->a, b->i0 + i, HONE_MIN(group, b->rows - i), b->k0, b->kc);
            a = packed;
            a.data += i % group / set->mr * strip_bytes;
        }
        multiply_strip(b, a, rows, c);
        if (b->last)
            set->finish(&b->p->out, c, b->i0 + i, rows, b->j0, b->cols);
    }
}

static void run_task(void *arg, int64_t task, int worker)
{
    const product *p = arg;
    char          *mem = p->scratch + (size_t)worker * p->worker_bytes;
    int64_t        bm, bn;
    block          b;

    if (task >= p->blocks_m * p->blocks_n) {
        int64_t j = (task - p->blocks_m * p->blocks_n) * SUM_COLS;

        p->set->column_sums(p->sums, p->summed, p->sum_n, p->k, j, HONE_MIN(j + SUM_COLS, p->sum_n), p->out.accumulate);
        return;
    }
    bm = task % p->blocks_m;
    bn = task / p->blocks_m;
    b = (block){ .p = p, .i0 = bm * p->mb, .j0 = bn * p->nb };
    b.b = mem;
    b.a = mem + p->a_at;
    b.c = (float *)(mem + p->c_at);
    b.rows = HONE_MIN(p->mb, p->m - b.i0);
    b.cols = HONE_MIN(p->nb, p->n - b.j0);
    if (p->set->enter)
        p->set->enter();
    for (b.k0 = 0; b.k0 < p->k; b.k0 += p->set->kc) {
        b.kc = HONE_MIN(p->set->kc, p->k - b.k0);
        b.first = b.k0 == 0;
        b.last = b.k0 + b.kc == p->k;
        pack_panels(&b);
        multiply_rows(&b);
    }
    if (p->set->leave)
        p->set->leave();
}

/*
 * Choose the block: of the sizes up to the set's, the one with the least time for the busiest thread, where packing an
 * element of B or A costs as much as some products. The bits do not depend on it.
 */
static void cut(product *p, int threads)
{
    const hone_mm_set *set = p->set;
    const double       pack_b_cost = 8, pack_a_cost = 4;
    double             best = 0;
    /* With few rows the packing of B is the work: a panel is used while the nearest caches hold it. */
    int64_t            widest = p->m <= FEW_ROWS ? HONE_MM_MAX_NR : set->nc;
    int64_t            tm0 = div_up(p->m, set->mc), tm1 = HONE_MIN(tm0 + 4 * threads, div_up(p->m, set->mr));

    for (int64_t w = widest; w > 0; w -= set->nr) {
        int64_t nb = round_up(div_up(p->n, div_up(p->n, w)), set->nr), tn = div_up(p->n, nb);

        for (int64_t t = tm0; t <= tm1; t++) {
            int64_t mb = round_up(div_up(p->m, t), set->mr), tm = div_up(p->m, mb);
            double  cost = (double)div_up(tm * tn, threads)
                         * ((double)mb * (double)nb + pack_b_cost * (double)nb + pack_a_cost * (double)mb);

            if (best == 0 || cost < best) {
                best = cost;
                p->mb = mb, p->nb = nb;
                p->blocks_m = tm, p->blocks_n = tn;
            }
        }
    }
}

static hone_status run_product(product *p, const hone_kernel_env *env)
{
    const hone_mm_set *set = p->set;
    int                threads = hone_pool_threads(env->pool);
    int64_t            kc = HONE_MIN(set->kc, p->k), tile_rows;
    int64_t            sum_tasks = p->sums ? div_up(p->sum_n, SUM_COLS) : 0;

    cut(p, threads);
    tile_rows = p->k > set->kc ? p->mb : set->mr;
    p->a_at = (size_t)round_up(panel_bytes(set, p->nb, kc), ALIGN);
    p->c_at = p->a_at + (size_t)round_up(set->strips * set->mr * round_up(kc, set->unit) * set->elem, ALIGN);
    p->worker_bytes = p->c_at + (size_t)round_up(tile_rows * p->nb * (int64_t)sizeof(float), ALIGN);
    p->scratch = env->scratch(env->scratch_arg, p->worker_bytes * (size_t)threads);
    if (!p->scratch)
        return HONE_TRACE(HONE_E_NOMEM);
    if (env->sizes_only)
        return HONE_OK;
    hone_pool_run(env->pool, p->blocks_m * p->blocks_n + sum_tasks, run_task, p);
    return HONE_OK;
}

static hone_status forward(const hone_mm_set *set, const hone_kernel_env *env, const hone_linear_args *l)
{
    bool    bf16 = set->dtype == HONE_DTYPE_BF16;
    product p = {
        .set = set, .m = l->m, .n = l->n, .k = l->k,
        .a = { l->x, l->k, true },
        .b = { l->w, l->w_is_kn ? l->n : l->k, !l->w_is_kn },
        .out = { .data = l->y, .ld = l->n, .bf16 = bf16 && !l->y_is_acc, .in_bf16 = bf16,
                 .bias = l->bias, .residual = l->residual },
    };

    return l->m == 0 ? HONE_OK : run_product(&p, env);
}

static hone_status backward(const hone_mm_set *set, const hone_kernel_env *env, const hone_linear_args *l)
{
    product p = {
        .set = set, .m = l->m, .n = l->k, .k = l->n,
        .a = { l->dy, l->n, true },
        .b = { l->w, l->w_is_kn ? l->n : l->k, l->w_is_kn },
        .out = { .data = l->dx, .ld = l->k, .bf16 = set->dtype == HONE_DTYPE_BF16, .accumulate = l->accumulate },
    };

    return l->m == 0 ? HONE_OK : run_product(&p, env);
}

static hone_status backward_weight(const hone_mm_set *set, const hone_kernel_env *env, const hone_linear_args *l)
{
    /* dw is [n, k] = dyᵀ · x, or for w_is_kn [k, n] = xᵀ · dy; the bias wants the sums of dy either way. */
    product p = {
        .set = set, .m = l->w_is_kn ? l->k : l->n, .n = l->w_is_kn ? l->n : l->k, .k = l->m,
        .a = { l->w_is_kn ? l->x : l->dy, l->w_is_kn ? l->k : l->n, false },
        .b = { l->w_is_kn ? l->dy : l->x, l->w_is_kn ? l->n : l->k, false },
        .out = { .data = l->dw, .ld = l->w_is_kn ? l->n : l->k, .accumulate = l->accumulate },
        .summed = l->dy, .sum_n = l->n, .sums = l->dbias,
    };

    if (l->m > 0)
        return run_product(&p, env);
    if (!l->accumulate && !env->sizes_only) {
        memset(l->dw, 0, (size_t)(l->n * l->k) * sizeof(float));
        if (l->dbias)
            memset(l->dbias, 0, (size_t)l->n * sizeof(float));
    }
    return HONE_OK;
}

hone_status hone_mm_linear(const hone_mm_set *set, hone_pass pass, const hone_kernel_env *env,
                           const hone_linear_args *args)
{
    switch (pass) {
    case HONE_PASS_FWD: return forward(set, env, args);
    case HONE_PASS_BWD: return backward(set, env, args);
    default:            return backward_weight(set, env, args);
    }
}

/* ---- the sets ---------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define SETS(X)                                                             \
    X(portable_f32) X(portable_bf16) X(avx2_f32) X(avx2_bf16) X(avx512_f32) X(avx512_bf16) X(avx512bf16) X(amx)
#else
#define SETS(X) X(portable_f32) X(portable_bf16)
#endif

/* Kernels in the table have no argument for the set: each set has its three functions. */
#define DEFINE_(set)                                                                                          \
    static hone_status set##_fwd(const hone_kernel_env *env, const void *args)                                \
    { return forward(&hone_mm_##set, env, args); }                                                            \
    static hone_status set##_bwd(const hone_kernel_env *env, const void *args)                                \
    { return backward(&hone_mm_##set, env, args); }                                                           \
    static hone_status set##_bwd_weight(const hone_kernel_env *env, const void *args)                         \
    { return backward_weight(&hone_mm_##set, env, args); }
SETS(DEFINE_)

static const struct { const hone_mm_set *set; hone_kernel_fn fn[HONE_PASS_COUNT]; } kernels[] = {
#define ROW_(set) { &hone_mm_##set, { set##_fwd, set##_bwd, set##_bwd_weight } },
    SETS(ROW_)
};

const hone_mm_set *const hone_mm_sets[] = {
#define SET_(set) &hone_mm_##set,
    SETS(SET_)
    NULL
};

/* VDPBF16PS does two multiply-adds for one of FMA. AMD's processors (Zen 4 and 5 measured) issue as many of either,
 * Intel's (a server part with AMX measured) a quarter as many: there, bf16 widened to f32 is twice as fast. */
static bool dot_is_slow(void)
{
#if defined(__x86_64__)
    uint32_t a, b, c, d;

    return __get_cpuid(0, &a, &b, &c, &d) && b == signature_INTEL_ebx;
#else
    return false;
#endif
}

const hone_mm_set *hone_mm_set_for(hone_isa isa, hone_dtype dtype)
{
    const hone_mm_set *best = NULL;

    for (size_t i = 0; hone_mm_sets[i]; i++) {              /* from least to best */
        const hone_mm_set *set = hone_mm_sets[i];

        if (set->dtype == dtype && set->isa <= isa && !(set->isa == HONE_ISA_AVX512BF16 && dot_is_slow()))
            best = set;
    }
    return best;
}

void hone_kernel_cpu_linear(hone_kernel_table *t, hone_isa isa)
{
    const hone_dtype dtypes[] = { HONE_DTYPE_F32, HONE_DTYPE_BF16 };

    for (size_t d = 0; d < HONE_COUNTOF(dtypes); d++)
        for (size_t i = 0; i < HONE_COUNTOF(kernels); i++)
            for (int pass = 0; kernels[i].set == hone_mm_set_for(isa, dtypes[d]) && pass < HONE_PASS_COUNT; pass++)
                hone_kernel_set(t, HONE_OP_linear, (hone_pass)pass, HONE_TARGET_CPU, dtypes[d], kernels[i].fn[pass]);
}
