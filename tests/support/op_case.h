/*
 * op_case.h -- one description of a call of an op, and everything that can be done with it.
 *
 * A case lists the scalars of the op's argument struct and its buffers: where the pointer goes, type, shape, what each pass
 * does with it and where its gradient is. From that alone the tests run any kernel of the op on guarded memory, compare
 * kernels, threads, rows, and differentiate numerically. A new kernel of a known op needs no new test code.
 */
#ifndef OP_CASE_H
#define OP_CASE_H

#include "op/kernel.h"

typedef enum op_type { OP_ELEM, OP_ACC, OP_F32, OP_I32, OP_BF16, OP_F64 } op_type;
/* What a buffer's rows belong to: nothing in particular, the op's rows, or (attention) the queries, keys, samples. */
typedef enum op_axis { OP_SHARED, OP_ROW, OP_QUERY, OP_KEY, OP_SAMPLE, OP_CU_QUERY, OP_CU_KEY } op_axis;

typedef struct op_buffer {
    const char *name;
    size_t      field;              /* offset of its pointer in the argument struct */
    op_type     type;
    op_axis     axis;
    int64_t     rows, cols, stride; /* stride >= cols elements between rows; the gap must stay untouched */
    char        use[4];             /* per pass: '-' unused (NULL), 'i' in, 'o' out, 'b' both */
    int         gradient;           /* in: buffer that receives its gradient; out of FWD: buffer that holds dL/d(it); or -1 */
    int         alias;              /* this buffer lies `alias_at` elements into that one, or -1; references ignore it */
    int64_t     alias_at;
    double      length;             /* out: number of terms of the longest sum behind an element */
    double      rough;              /* out: bf16 roundings of intermediates that a kernel may do, in units of the row's size */
    double     *values;             /* [rows * stride] */
} op_buffer;

enum { OP_MAX_BUFFERS = 16 };

typedef struct op_case {
    hone_op   op;
    char      label[200];
    union {
        hone_embedding_args embedding;
        hone_linear_args linear;
        hone_norm_args norm;
        hone_rope_args rope;
        hone_dropout_args dropout;
        hone_attention_args attention;
        hone_activation_args activation;
        hone_glu_args glu;
        hone_xielu_args xielu;
        hone_add_args add;
        hone_scale_args scale;
        hone_clamp_args clamp;
        hone_copy_columns_args copy_columns;
        hone_cross_entropy_args cross_entropy;
        hone_cap_logits_args cap_logits;
        hone_adamw_args adamw;
        hone_square_sum_args square_sum;
    } args;
    op_buffer buffers[OP_MAX_BUFFERS];
    int       n_buffers;
    size_t    rows_field;           /* offset of the int64_t that counts the rows, to run one alone; 0 = no such promise */
    bool      alone[HONE_PASS_COUNT];
    bool      exact;                /* kernels must equal the reference to the bit */
    hone_rng  rng;
} op_case;

/* ---- building (op_cases.c, and tests that need a special case). Equal (op, shape, seed) give equal numbers. */
op_case op_case_new(hone_op op, uint64_t shape, uint64_t seed);
/* Appends a buffer of `rows` x `cols`, filled with standard normal values (zeros for integers); returns
 * its index. */
int     op_case_add(op_case *c, const char *name, size_t field, op_type type, op_axis axis, int64_t rows, int64_t cols,
                    const char *use);
void    op_case_free(op_case *c);

/* Call `fn` for every case of `op` (all sizes and flags) with the numbers of `seed`; the case is freed afterwards. `small` keeps only sizes whose
 * numerical differentiation is quick. */
void op_cases_each(hone_op op, bool small, uint64_t seed, void (*fn)(op_case *c, void *arg), void *arg);

/* ---- running */
typedef struct op_result {
    int     n;
    double *values[OP_MAX_BUFFERS]; /* of buffers the pass wrote, else NULL */
    void   *bytes[OP_MAX_BUFFERS];
    size_t  size[OP_MAX_BUFFERS];
} op_result;

/*
 * Run one kernel on fresh, guarded, oddly aligned memory, inputs first rounded to `as` (so that every dtype can be given the
 * very same numbers). Fails the test if the kernel writes outside its outputs, changes an input, or asks for scratch twice.
 * `aliased` lays buffers over one another where the case says so.
 */
op_result op_run(const op_case *c, hone_pass pass, hone_kernel_fn fn, hone_dtype dtype, hone_dtype as, hone_pool *pool, bool aliased);
size_t    op_element_size(const op_buffer *b, hone_dtype dtype);
void      op_result_free(op_result *r);
/* Fill what the backward reads of the forward (statistics, outputs) by running the f64 reference on inputs rounded to `as`. */
void      op_case_prepare(op_case *c, const hone_kernel_table *ref, hone_dtype as);
/* The case reduced to its row (or sample) number `unit`; op_case_units of them. Values are borrowed from `c`. */
int64_t   op_case_units(const op_case *c);
void      op_case_alone(op_case *out, const op_case *c, int64_t unit, double cu[4]);
/* First element of `unit` within a buffer's values, and how many elements it has. */
int64_t   op_unit_start(const op_case *c, const op_buffer *b, int64_t unit, int64_t *count);

#endif /* OP_CASE_H */
