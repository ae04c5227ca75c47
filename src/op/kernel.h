/*
 * op/kernel.h -- the kernel table's type and the arguments of every kernel.
 *
 * A kernel computes one pass of one op on raw, contiguous, row-major memory of one device; it knows no tensor and no tape.
 * The table [op][pass][target][dtype] is filled by kernel/ and is the only way to a kernel, so "supported" is a lookup.
 * `dtype` is the compute dtype: x, y, weights, dx, dy have it. Statistics, losses, gradients of parameters, and whatever
 * is marked `acc`, have the accumulation type: double when dtype is F64, else float.
 *
 * Promises every kernel keeps:
 *  - the same bits for any number of threads (work is cut by data, sums that tasks share are added in a fixed order);
 *  - a row's result depends neither on the number of rows nor on its place among them (forward passes);
 *  - every size from 1 up is right; outputs do not alias inputs unless said;
 *  - sums run in the accumulation type.
 */
#ifndef HONE_OP_KERNEL_H
#define HONE_OP_KERNEL_H

#include "base/rng.h"
#include "base/status.h"
#include "base/thread.h"
#include "tensor/dtype.h"

/* X(name, passes that exist: F = forward, B = backward to inputs, W = backward to weights) */
#define HONE_OP_LIST(X)                                                                     \
    X(embedding)        /* F W   rows of a table */                                         \
    X(linear)           /* F B W y = x wᵀ + b */                                            \
    X(rms_norm)         /* F B   (B gives dx and dw) */                                     \
    X(layer_norm)       /* F B   (B gives dx, dw and db) */                                 \
    X(rope)             /* F     (the backward is the inverse rotation) */                  \
    X(attention)        /* F B   over packed samples */                                     \
    X(activation)       /* F B   y = f(x) */                                                \
    X(glu)              /* F B   y = f(gate) · up */                                        \
    X(xielu)            /* F B   (B gives dx and the gradients of both parameters) */       \
    X(add)              /* F     y = a + factor · b */                                      \
    X(scale)            /* F     y = factor · x */                                          \
    X(clamp)            /* F B   y = x within [-limit, limit] */                            \
    X(dropout)          /* F     (the backward is the same mask on dy) */                   \
    X(copy_columns)     /* F     columns of a matrix into another's (split, join) */        \
    X(cross_entropy)    /* F     negative log-likelihoods of rows of logits, and gradient */\
    X(cap_logits)       /* F     scale and soft cap of logits, in place */                  \
    X(adamw)            /* F     one optimizer step on a flat slice, always f32 */          \
    X(square_sum)       /* F     Σ x² of a flat slice, for norms */

typedef enum hone_op {
#define HONE_OP_ENUM_(name) HONE_OP_##name,
    HONE_OP_LIST(HONE_OP_ENUM_)
#undef HONE_OP_ENUM_
    HONE_OP_COUNT
} hone_op;

typedef enum hone_pass { HONE_PASS_FWD, HONE_PASS_BWD, HONE_PASS_BWD_WEIGHT, HONE_PASS_COUNT } hone_pass;
typedef enum hone_target { HONE_TARGET_REF, HONE_TARGET_CPU, HONE_TARGET_META, HONE_TARGET_COUNT } hone_target;
enum { HONE_COMPUTE_DTYPES = 3 };   /* F32, BF16, F64: the first three of hone_dtype */

/* What a kernel may use besides its arguments. */
typedef struct hone_kernel_env {
    hone_pool *pool;                /* may be NULL: run inline */
    /* Device memory of at least `bytes`, 64-byte aligned, undefined content, valid until the kernel returns. One call per
     * kernel run. NULL (E_NOMEM raised) when memory is out. */
    void    *(*scratch)(void *arg, size_t bytes);
    void      *scratch_arg;
    bool       sizes_only;          /* ask for scratch as for real work, then return: pointers lead to no data (meta) */
} hone_kernel_env;

typedef hone_status (*hone_kernel_fn)(const hone_kernel_env *env, const void *args);

typedef struct hone_kernel_table {
    hone_kernel_fn fn[HONE_OP_COUNT][HONE_PASS_COUNT][HONE_TARGET_COUNT][HONE_COMPUTE_DTYPES];
} hone_kernel_table;

const char *hone_op_name(hone_op op);
const char *hone_pass_name(hone_pass pass);
const char *hone_target_name(hone_target target);

static inline void hone_kernel_set(hone_kernel_table *t, hone_op op, hone_pass pass, hone_target target, hone_dtype dtype,
                                   hone_kernel_fn fn)
{
    t->fn[op][pass][target][dtype] = fn;
}

/* ---- embedding ------------------------------------------------------------------------------------------------------ */
typedef struct hone_embedding_args {
    const int32_t *ids;         /* [rows], each in [0, vocab) (the op has checked) */
    const void    *table;       /* [vocab, dim] */
    void          *y;           /* [rows, dim]; FWD writes */
    const void    *dy;          /* [rows, dim]; BWD_WEIGHT */
    void          *dtable;      /* acc [vocab, dim]; BWD_WEIGHT adds in row order; with !accumulate it is zeroed first */
    int64_t        rows, vocab, dim;
    int64_t        padding;     /* dy of rows with this id goes nowhere; -1: there is no such id */
    bool           accumulate;
} hone_embedding_args;

/* ---- linear --------------------------------------------------------------------------------------------------------- */
typedef struct hone_linear_args {
    const void *x;              /* [m, k]; FWD and BWD_WEIGHT */
    const void *w;              /* [n, k], or [k, n] when w_is_kn (GPT-2's Conv1D); FWD and BWD */
    const void *bias;           /* [n] or NULL; FWD */
    const void *residual;       /* [m, n] or NULL: added in the accumulation type before rounding; may alias y; FWD */
    void       *y;              /* [m, n]; FWD */
    const void *dy;             /* [m, n]; BWD and BWD_WEIGHT */
    void       *dx;             /* [m, k]; BWD: dy · w */
    void       *dw;             /* acc [n, k] (or [k, n]); BWD_WEIGHT: dyᵀ · x */
    void       *dbias;          /* acc [n] or NULL; BWD_WEIGHT: sum of dy over rows */
    int64_t     m, n, k;        /* m may be 0 */
    bool        w_is_kn;
    bool        y_is_acc;       /* FWD: y has the accumulation type (logits) */
    bool        accumulate;     /* BWD: dx += …; BWD_WEIGHT: dw += …, dbias += … */
    /* A row's bits depend neither on m nor on its place in FWD and BWD: the order along the summed dimension is fixed. */
} hone_linear_args;

/* ---- norms: y = (x - mean?) · rstd · (w + w_offset) + b? -------------------------------------------------------------- */
/* A row is what one norm runs over: several make a token when each head has its own. Row r uses row r % groups of w and bias. */
typedef struct hone_norm_args {
    const void *x;              /* [rows, dim] */
    const void *w;              /* [groups, dim], or NULL: then the factor is 1, whatever w_offset */
    const void *bias;           /* [groups, dim] or NULL; layer_norm only */
    void       *y;              /* [rows, dim]; FWD */
    void       *mean;           /* acc [rows]; layer_norm: FWD writes, BWD reads; NULL for rms_norm */
    void       *rstd;           /* acc [rows]; FWD writes, BWD reads */
    const void *dy;             /* [rows, dim]; BWD */
    void       *dx;             /* [rows, dim]; BWD */
    void       *dw, *dbias;     /* acc [groups, dim] or NULL; BWD */
    int64_t     rows, dim;
    int64_t     groups;         /* 0 counts as 1; rows is a multiple */
    double      eps;
    float       w_offset;       /* Gemma stores w - 1 */
    bool        accumulate_dx;  /* dx += … */
    bool        accumulate_dw;  /* dw += …, dbias += … */
} hone_norm_args;

static inline int64_t hone_norm_groups(const hone_norm_args *a) { return a->groups > 0 ? a->groups : 1; }

/* ---- rope: rotate the first rot_dim elements of each head, copy the rest ---------------------------------------------- */
typedef struct hone_rope_args {
    const void  *x;             /* [tokens, heads, dim] */
    void        *y;             /* same shape; may be x */
    const float *cos, *sin;     /* [tokens, rot_dim / 2], always f32, any attention factor folded in */
    int64_t      tokens, heads, dim, rot_dim;
    bool         interleaved;   /* pairs (2i, 2i+1) instead of (i, i + rot_dim/2) */
    bool         inverse;       /* rotate back: sin is negated (the backward pass) */
} hone_rope_args;

/* ---- dropout: which elements are dropped is a function of names, not of places ----------------------------------------- */
typedef struct hone_dropout {
    float    p;                 /* 0 = off */
    uint64_t key;               /* of (seed, step) */
    uint32_t site;              /* which dropout of the model */
} hone_dropout;

/* Words for elements 4·group … 4·group+3 of (sample, position, lane). lane: the head for attention (element = key position),
 * 0 for activations (element = column). An element is kept if its word >= hone_dropout_threshold(p), and then scaled by
 * 1/(1-p). */
static inline void hone_dropout_words(uint32_t out[4], const hone_dropout *d, uint32_t sample, uint32_t position,
                                      uint32_t lane, uint32_t group)
{
    hone_philox(out, d->key, (uint64_t)position << 32 | sample, (uint64_t)group << 32 | (lane & 0xFFFFu) << 16 | (d->site & 0xFFFFu));
}

static inline uint32_t hone_dropout_threshold(float p) { return (uint32_t)((double)p * 4294967296.0); }

typedef struct hone_dropout_args {
    const void    *x;           /* [rows, dim] */
    void          *y;           /* [rows, dim]; may be x */
    const int32_t *sample_ids;  /* [rows] global sample id of each token */
    const int32_t *positions;   /* [rows] */
    int64_t        rows, dim;
    hone_dropout   dropout;
} hone_dropout_args;

/* ---- attention over packed samples -------------------------------------------------------------------------------------- */
/* The mask is a rule; query and key positions are counted within their sample, and a sample's queries are its last ones:
 * query i of n_q stands at key position i + n_k - n_q (a KV cache has n_q < n_k). */
typedef struct hone_mask {
    bool    causal;             /* a query sees keys at its own position and before */
    int32_t window;             /* > 0: of those, only the last `window` (its own included) */
} hone_mask;

typedef struct hone_attention_args {
    const void    *q;           /* [tokens_q, heads, dim] */
    const void    *k;           /* [tokens_k, kv_heads, dim]; heads is a multiple of kv_heads, head h reads h / (heads / kv_heads) */
    const void    *v;           /* [tokens_k, kv_heads, v_dim] */
    void          *out;         /* [tokens_q, heads, v_dim]; FWD writes */
    void          *lse;         /* acc [tokens_q, heads]: log-sum-exp of the scaled scores; FWD writes, BWD reads */
    const void    *dout;        /* BWD */
    void          *dq, *dk, *dv;/* BWD writes */
    const int32_t *cu_q, *cu_k; /* [samples + 1] offsets of the samples; may be the same array */
    const int32_t *sample_ids;  /* [samples] global ids, for dropout; NULL without it */
    int64_t        samples, heads, kv_heads, dim, v_dim;
    double         scale;       /* scores = scale · q·k */
    double         softcap;     /* > 0: scores become s = softcap · tanh(scale · q·k / softcap) before the mask (Gemma 2, Gemma
                                 * Team 2024); their gradient takes the factor 1 - (s/softcap)². 0: none */
    hone_mask      mask;
    hone_dropout   dropout;     /* on the probabilities; position = the query's position in its sample */
    /* No buffer grows with the square of a sample's length. A sample's bits depend on that sample alone. */
} hone_attention_args;

/* ---- activations --------------------------------------------------------------------------------------------------------- */
typedef enum hone_act {
    HONE_ACT_SILU, HONE_ACT_GELU_ERF, HONE_ACT_GELU_TANH, HONE_ACT_RELU,
    HONE_ACT_RELU2,             /* relu(x)² (So et al. 2021) */
    HONE_ACT_COUNT
} hone_act;

typedef struct hone_activation_args {
    hone_act    act;
    const void *x;              /* [n] */
    void       *y;              /* [n]; FWD; may be x */
    const void *dy;             /* [n]; BWD */
    void       *dx;             /* [n]; BWD; may be dy */
    int64_t     n;
} hone_activation_args;

typedef struct hone_glu_args {
    hone_act    act;
    const void *gate, *up;      /* [rows, dim] with row stride ld (in elements): halves of one fused matrix, or two */
    int64_t     ld;
    void       *y;              /* [rows, dim] contiguous; FWD: act(gate) · up */
    const void *dy;             /* [rows, dim] contiguous; BWD */
    void       *dgate, *dup;    /* row stride ld; BWD; may be gate and up */
    int64_t     rows, dim;
} hone_glu_args;

/* xIELU (Huang & Schlag 2024, arXiv 2411.13010), with a_p = softplus(alpha_p), a_n = beta + softplus(alpha_n):
 *     x > 0   a_p x² + beta x
 *     else    a_n (expm1(min(x, eps)) - x) + beta x     (below 0 and above eps the slope has no exponential: beta - a_n) */
#define HONE_XIELU_BETA 0.5
#define HONE_XIELU_EPS  (-1e-6)

typedef struct hone_xielu_args {
    const void *x;              /* [n] */
    const void *alpha_p, *alpha_n; /* [1] */
    void       *y;              /* [n]; FWD; may be x */
    const void *dy;             /* [n]; BWD */
    void       *dx;             /* [n]; BWD; may be dy */
    void       *dalpha_p, *dalpha_n; /* acc [1] or NULL; BWD: sums over all elements, in an order that depends on n alone */
    int64_t     n;
    bool        accumulate;     /* dalpha_p += …, dalpha_n += … */
} hone_xielu_args;

/* ---- small ones ------------------------------------------------------------------------------------------------------------ */
typedef struct hone_add_args {
    const void *a, *b;          /* [n] */
    void       *y;              /* [n]; may be a or b */
    int64_t     n;
    double      factor;         /* y = a + factor · b */
} hone_add_args;

typedef struct hone_scale_args {
    const void *x;              /* [n] */
    void       *y;              /* [n]; may be x */
    int64_t     n;
    double      factor;
} hone_scale_args;

typedef struct hone_clamp_args {
    const void *x;              /* [n]; for BWD y does as well */
    void       *y;              /* [n]; FWD; may be x */
    const void *dy;             /* [n]; BWD */
    void       *dx;             /* [n]; BWD: dy strictly within the limits, else 0 (as PyTorch has it); may be dy */
    int64_t     n;
    double      limit;          /* > 0; rounded to the dtype first */
} hone_clamp_args;

typedef struct hone_copy_columns_args {
    const void *x;              /* [rows, cols] with row stride x_ld (in elements) */
    void       *y;              /* [rows, cols] with row stride y_ld */
    int64_t     rows, cols, x_ld, y_ld;
} hone_copy_columns_args;

/*
 * The head's last step: logits are y = softcap · tanh(z / softcap) with z = scale · x (Bello et al. 2016), or y = z where softcap
 * is 0; scale 0 means 1. x is what the product gives.
 */
typedef struct hone_cap_logits_args {
    void   *logits;             /* acc [n]: x, overwritten by y */
    int64_t n;
    double  scale, softcap;
} hone_cap_logits_args;

typedef struct hone_cross_entropy_args {
    void          *logits;      /* acc [rows, vocab]: x, of which y is made on the way; undefined afterwards when dlogits is given
                                 * and aliases it */
    const int32_t *labels;      /* [rows], each in [0, vocab) */
    void          *nll;         /* acc [rows]: logsumexp(y) - y[label] */
    const void    *weight;      /* acc [rows]: gradient of the total loss by nll; read when dlogits */
    void          *dlogits;     /* dtype [rows, vocab] = weight · (softmax(y) - onehot) · dy/dx, where dy/dx = scale · (1 - (y /
                                 * softcap)²); or NULL. May alias logits in place: element i of the output then starts at byte
                                 * offset i · sizeof(dtype) of the same row (rows keep the stride of logits) only when dtype is
                                 * the accumulation type; otherwise separate memory. */
    int64_t        rows, vocab;
    double         scale, softcap;  /* as in hone_cap_logits_args; both 0: y = x */
} hone_cross_entropy_args;

/* Decoupled weight decay (Loshchilov & Hutter, ICLR 2019) with the bias corrections and the order of operations of
 * PyTorch's AdamW: w -= lr·decay·w; m, v moments; w -= lr/bc1 · m / (sqrt(v)/sqrt(bc2) + eps). Table dtype: F32. */
typedef struct hone_adamw_args {
    float       *w;             /* [n] masters */
    const float *grad;          /* [n] */
    float       *m, *v;         /* [n] moments */
    uint16_t    *w_bf16;        /* [n] compute copy to refresh, or NULL */
    int64_t      n;
    double       lr, beta1, beta2, eps, weight_decay;
    double       grad_scale;    /* each gradient is multiplied by this first (clipping) */
    int64_t      step;          /* 1 for the first update */
} hone_adamw_args;

typedef struct hone_square_sum_args {
    const void *x;              /* [n], dtype */
    double     *sum;            /* FWD: Σ x² in double, in an order that depends on n alone */
    int64_t     n;
} hone_square_sum_args;

#endif /* HONE_OP_KERNEL_H */
