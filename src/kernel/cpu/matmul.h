/*
 * kernel/cpu/matmul.h -- matrix products: what the driver (matmul.c) and the kernel sets (matmul_<isa>.c) share.
 *
 * All passes of `linear` are one problem, C[i,j] = sum over p of A(i,p) · B(p,j), with each operand stored along p or
 * along its own index. The driver cuts C into blocks (the tasks of the pool) and p into blocks of `kc`; inside, the
 * micro-kernel ("tile") computes mr x nr outputs from a packed panel of B and rows of A, in place where their layout
 * allows it.
 *
 * Order of additions, the same for every output whatever tile, tail or thread computes it: within a block of p the
 * one the set's multiply-add instruction gives, from zero, p ascending; the blocks' sums are then added in ascending
 * order (AMX goes on from the sum so far instead); then come bias, residual or the output's old value; then the one
 * rounding to the output's type. So a row's bits depend neither on the number of rows nor on its place, and nothing
 * depends on the number of threads.
 *
 * Blocking after K. Goto, R. van de Geijn, "Anatomy of High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008.
 */
#ifndef HONE_KERNEL_CPU_MATMUL_H
#define HONE_KERNEL_CPU_MATMUL_H

#include "kernel/cpu/isa.h"
#include "op/kernel.h"

/* An operand: element (x, p), x the output's row (A) or column (B), lies at data[x·ld + p] if along_p, else at
 * data[p·ld + x]. */
typedef struct hone_mm_operand {
    const void *data;
    int64_t     ld;             /* in elements */
    bool        along_p;
} hone_mm_operand;

/* Where sums go: out = round(sum + bias + residual) or round(old + sum). */
typedef struct hone_mm_output {
    void       *data;           /* [·, ld] */
    int64_t     ld;             /* in elements, of the residual as well */
    bool        bf16;           /* type of data; else f32 */
    bool        in_bf16;        /* type of bias and residual */
    bool        accumulate;
    const void *bias, *residual;/* or NULL */
} hone_mm_output;

/* Rows of A as the micro-kernel reads them: row r, step s at data + r·row + s·step (bytes). */
typedef struct hone_mm_rows {
    const char *data;
    int64_t     row, step;
} hone_mm_rows;

enum { HONE_MM_MAX_MR = 32, HONE_MM_MAX_NR = 64 };

/*
 * c[r][0 … width) (row stride nr floats) = or += sum over `steps`, of rows [0, rows) of A and one packed panel of B
 * that is `width` columns wide, a multiple of the set's `vec`.
 */
typedef void (*hone_mm_tile_fn)(float *c, hone_mm_rows a, const void *b, int64_t steps, int rows, int width, bool add);

typedef struct hone_mm_set {
    const char *name;
    hone_isa    isa;            /* the least instruction set it needs */
    hone_dtype  dtype;          /* of the operands */
    int         mr, nr, vec;    /* tile; columns of a panel are padded with zeros to a multiple of vec */
    int         unit;           /* consecutive p's that one step of the micro-kernel takes */
    int         elem;           /* bytes of an element in packed form: 4, or 2 if the instructions read bf16 */
    int         kc, mc, nc;     /* blocks: kc is part of the order of additions; mc and nc are multiples of mr and nr */
    int         strips;         /* strips of mr rows that are packed together when A must be packed */
    /* True if the micro-kernel can read `kc` p's of A where they lie; fills `out` for row i0. */
    bool      (*rows_in_place)(hone_mm_rows *out, const hone_mm_operand *a, int64_t i0, int64_t p0, int64_t kc);
    /* Pack `rows` rows from i0 into strips of mr; strip s begins at dst + s · mr · elem · round_up(kc, unit), and `out`
     * describes the first one. */
    void      (*pack_a)(hone_mm_rows *out, void *dst, const hone_mm_operand *a, int64_t i0, int64_t rows,
                        int64_t p0, int64_t kc);
    /* Pack one panel: columns j0 … j0+cols of at most nr, padded with zeros to a multiple of vec and of unit. */
    void      (*pack_b)(void *dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc);
    hone_mm_tile_fn tile;
    void      (*enter)(void), (*leave)(void);   /* around a task on its thread; or NULL */
    /* Write rows [i0, i0+rows) x columns [j0, j0+cols) from consecutive tiles of mr x nr floats. */
    void      (*finish)(const hone_mm_output *o, const float *tiles, int64_t i0, int rows, int64_t j0, int64_t cols);
    /* out[j] = (accumulate ? out[j] : 0) + sum over i of a(i, j), a[rows, ld], columns [j0, j1). */
    void      (*column_sums)(float *out, const void *a, int64_t ld, int64_t rows, int64_t j0, int64_t j1,
                             bool accumulate);
} hone_mm_set;

/* Every set this build has, NULL-terminated; tests and bench/ run each that the processor has. */
extern const hone_mm_set *const hone_mm_sets[];
/* The set that `isa` uses for `dtype`: the best one it includes, but AVX512_BF16 only where that is faster than
 * widening to f32 (by the processor's maker: not on Intel). */
const hone_mm_set *hone_mm_set_for(hone_isa isa, hone_dtype dtype);
/* One pass of linear with a given set. */
hone_status hone_mm_linear(const hone_mm_set *set, hone_pass pass, const hone_kernel_env *env,
                           const hone_linear_args *args);

extern const hone_mm_set hone_mm_portable_f32, hone_mm_portable_bf16;
#if defined(__x86_64__)
extern const hone_mm_set hone_mm_avx2_f32, hone_mm_avx2_bf16, hone_mm_avx512_f32, hone_mm_avx512_bf16;
extern const hone_mm_set hone_mm_avx512bf16, hone_mm_amx;
#endif

#endif /* HONE_KERNEL_CPU_MATMUL_H */
