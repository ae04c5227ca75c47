/*
 * op/node.h -- an op in flight: its rule, its tensors, its attributes.
 *
 * An op function of op/op.h fills a node and applies it. The node can run its forward again on the same inputs and give the
 * same bits, which is what recompute rests on; side effects are guarded by `replay`. If the context records, the node goes
 * to the tape, else it is freed at once.
 */
#ifndef HONE_OP_NODE_H
#define HONE_OP_NODE_H

#include "base/ctx.h"
#include "op/dispatch.h"
#include "op/scope.h"
#include "tensor/tensor.h"

enum { HONE_NODE_MAX_IN = 4, HONE_NODE_MAX_OUT = 4 };

typedef struct hone_node hone_node;

/* The rule of an op. */
typedef struct hone_op_rule {
    const char *name;
    size_t      attrs_size;
    /* Make the outputs (hone_node_output) and compute them. Also runs as replay. */
    hone_status (*forward)(hone_ctx *ctx, hone_node *n);
    /* The two halves of the backward pass: gradients of activations / of parameters. Either order is fine. */
    hone_status (*backward)(hone_ctx *ctx, hone_node *n);
    hone_status (*backward_weight)(hone_ctx *ctx, hone_node *n);
    void        (*release)(hone_node *n);       /* frees what attrs own; NULL = nothing */
    unsigned    needs_in;       /* bit i: the backward pass reads the data of in[i] (bits of parameters are not needed) */
    unsigned    needs_out;      /* bit i: … of out[i] */
    bool        cheap;          /* an output is made again rather than kept: costs one pass over inputs that are kept anyway */
    bool        keep;           /* outputs are expensive: regions keep them rather than replay (attention) */
} hone_op_rule;

struct hone_node {
    const hone_op_rule *rule;
    int                 n_in, n_out;
    hone_tensor        *in[HONE_NODE_MAX_IN];   /* retained; NULL where an optional input is absent */
    hone_tensor        *out[HONE_NODE_MAX_OUT]; /* retained */
    void               *attrs;                  /* owned copy, rule->attrs_size bytes */
    bool                seeded;                 /* its gradients were made in the forward pass: backward needs none from above */
    bool                recompute;              /* recorded where only kept outputs stay, the rest is replayed */
};

/*
 * Apply `rule` to `in[n_in]` with a copy of `attrs`; returns the node's first output, or the poison. With `out_list`, all
 * outputs are stored there. Outputs belong to the current scope.
 */
hone_tensor *hone_node_apply(hone_ctx *ctx, const hone_op_rule *rule, hone_tensor *const *in, int n_in, const void *attrs,
                             int n_out, hone_tensor **out_list);
void         hone_node_free(hone_node *n);

/* For forward rules: output i with this shape and fresh data (on replay the same handle gets data again). NULL when memory
 * is out. */
hone_tensor *hone_node_output(hone_ctx *ctx, hone_node *n, int i, hone_dtype dtype, int ndim, const int64_t *dims);
/* Output i with the shape and dtype of `like`. */
hone_tensor *hone_node_output_like(hone_ctx *ctx, hone_node *n, int i, const hone_tensor *like);

/* For backward rules: where to write the gradient of `t`. *accumulate tells whether something is there already to be added
 * to. NULL when memory is out (raised). The handle is borrowed. */
hone_tensor *hone_grad_target(hone_ctx *ctx, hone_tensor *t, bool *accumulate);
/* Add `g` (borrowed, same shape) to the gradient of `t`; the first one is shared, not copied. */
hone_status  hone_grad_add(hone_ctx *ctx, hone_tensor *t, hone_tensor *g) HONE_MUST_CHECK;
/* Add factor · `g`. */
hone_status  hone_grad_add_scaled(hone_ctx *ctx, hone_tensor *t, hone_tensor *g, double factor) HONE_MUST_CHECK;
/* Where to write the gradient of a parameter (accumulation type), or NULL if it is not trained. */
void        *hone_param_grad_target(hone_tensor *leaf, bool *accumulate);

#define HONE_ATTRS(type, n) ((type *)(n)->attrs)

#endif /* HONE_OP_NODE_H */
