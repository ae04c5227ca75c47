/*
 * The head: its logits, and head and loss in one, by chunks of labelled tokens: unlabelled ones cost nothing, and no buffer of
 * T × V exists.
 */
#include <string.h>

#include "base/vec.h"
#include "op/node.h"
#include "op/op.h"
#include "op/param.h"

typedef struct attrs {
    double         scale, softcap;  /* of hone_head */
    const int32_t *labels;      /* [T], borrowed */
    const double  *weights;     /* [T], borrowed, or NULL */
    hone_tensor   *dx;          /* made in the forward pass where the weights were known */
    int64_t        chunk;       /* rows per chunk, fixed once so that a replay adds in the same order */
} attrs;

enum { X, W, BIAS };

/* Memory the logits of one chunk may take: large enough that the pass over the weight's gradient, which each chunk costs,
 * stays small beside the products. */
static const int64_t chunk_bytes = (int64_t)192 << 20;
enum { CHUNK_STEP = 32, CHUNK_MAX = 4096 };

typedef struct buffers {
    hone_tensor *x, *logits, *dlogits, *dx, *nll, *weight;  /* of one chunk */
    int32_t     *labels;
    int64_t     *rows;          /* indices of the labelled tokens */
    int64_t      n;             /* how many */
} buffers;

static void buffers_deinit(buffers *b)
{
    hone_tensor_release(&b->x);
    hone_tensor_release(&b->logits);
    hone_tensor_release(&b->dlogits);
    hone_tensor_release(&b->dx);
    hone_tensor_release(&b->nll);
    hone_tensor_release(&b->weight);
    hone_free(b->labels);
    hone_free(b->rows);
}

static hone_status buffers_init(hone_ctx *ctx, buffers *b, const hone_node *n, bool gradient)
{
    const attrs *a = HONE_ATTRS(attrs, n);
    int64_t      t = hone_tensor_rows(n->in[X]), k = hone_tensor_cols(n->in[X]), v = n->in[W]->dims[0], c;
    hone_dtype   dtype = n->in[X]->dtype, acc = hone_acc_dtype(dtype);

    memset(b, 0, sizeof *b);
    b->rows = hone_calloc((size_t)t, sizeof *b->rows);
    b->labels = hone_calloc((size_t)t, sizeof *b->labels);
    if (!b->rows || !b->labels)
        return HONE_E_NOMEM;
    for (int64_t i = 0; i < t; i++) {
        if (a->labels[i] < 0)
            continue;
        HONE_CHECK(a->labels[i] < v, HONE_E_DATA, "label %d at token %lld is beyond the head's %lld rows", a->labels[i],
                   (long long)i, (long long)v);
        b->labels[b->n] = a->labels[i];
        b->rows[b->n++] = i;
    }
    c = HONE_MAX(HONE_MIN(a->chunk, b->n), 1);
    b->x = hone_tensor_create(ctx->device, dtype, 2, (int64_t[]){ c, k });
    b->logits = hone_tensor_create(ctx->device, acc, 2, (int64_t[]){ c, v });
    b->nll = hone_tensor_create(ctx->device, acc, 1, &c);
    if (!b->x || !b->logits || !b->nll)
        return HONE_E_NOMEM;
    if (!gradient)
        return HONE_OK;
    b->weight = hone_tensor_create(ctx->device, acc, 1, &c);
    b->dx = hone_tensor_create(ctx->device, dtype, 2, (int64_t[]){ c, k });
    b->dlogits = dtype == acc ? hone_tensor_retain(b->logits)
                              : hone_tensor_create(ctx->device, dtype, 2, (int64_t[]){ c, v });
    return b->weight && b->dx && b->dlogits ? HONE_OK : HONE_E_NOMEM;
}

static hone_status check_head(const hone_node *n)
{
    const hone_tensor *w = n->in[W], *bias = n->in[BIAS];

    HONE_CHECK(w->dims[1] == hone_tensor_cols(n->in[X]), HONE_E_SHAPE, "the head takes %lld features, the last layer gives %lld",
               (long long)w->dims[1], (long long)hone_tensor_cols(n->in[X]));
    HONE_CHECK(!bias || hone_tensor_numel(bias) == w->dims[0], HONE_E_SHAPE,
               "the head's bias has %lld elements, its weight %lld rows", (long long)hone_tensor_numel(bias), (long long)w->dims[0]);
    return HONE_OK;
}

/* The product x wᵀ + bias of m rows, into `logits`. */
static hone_linear_args head_product(const hone_node *n, const hone_tensor *x, hone_tensor *logits, int64_t m)
{
    return (hone_linear_args){ .x = hone_tensor_data(x), .w = hone_tensor_data(n->in[W]),
                               .bias = n->in[BIAS] ? hone_tensor_data(n->in[BIAS]) : NULL, .y = hone_tensor_data(logits),
                               .m = m, .n = n->in[W]->dims[0], .k = hone_tensor_cols(n->in[X]), .y_is_acc = true };
}

static double flops(const hone_linear_args *a) { return 2.0 * (double)a->m * (double)a->n * (double)a->k; }

/* Copy the chunk's rows out of (into) a matrix over all tokens. */
static void move_rows(const hone_ctx *ctx, hone_tensor *chunk, hone_tensor *all, const int64_t *rows, int64_t n, bool into)
{
    size_t bytes = (size_t)(hone_tensor_numel(all) / all->dims[0]) * hone_dtype_bytes(all->dtype);

    if (!hone_device_has_data(ctx->device))
        return;
    for (int64_t i = 0; i < n; i++) {
        char *c = (char *)hone_tensor_data(chunk) + (size_t)i * bytes;
        char *a = (char *)hone_tensor_data(all) + (size_t)rows[i] * bytes;

        memcpy(into ? a : c, into ? c : a, bytes);
    }
}

static void zero(const hone_ctx *ctx, hone_tensor *t)
{
    if (hone_device_has_data(ctx->device))
        memset(hone_tensor_data(t), 0, hone_tensor_bytes(t));
}

/* The chunk's gradient weights, from the caller's doubles or from the gradient of the nll. */
static void fill_weights(const hone_ctx *ctx, const buffers *b, const double *weights, const hone_tensor *dnll, int64_t first,
                         int64_t n)
{
    if (!hone_device_has_data(ctx->device))
        return;
    for (int64_t i = 0; i < n; i++) {
        int64_t row = b->rows[first + i];
        bool    f64 = b->weight->dtype == HONE_DTYPE_F64;
        double  w = weights ? weights[row]
                    : f64   ? ((double *)hone_tensor_data(dnll))[row]
                            : (double)((float *)hone_tensor_data(dnll))[row];

        if (f64)
            ((double *)hone_tensor_data(b->weight))[i] = w;
        else
            ((float *)hone_tensor_data(b->weight))[i] = (float)w;
    }
}

/* Where the chunk's gradients of weight and bias go. Where only one of them holds a sum already (a tied weight has another
 * writer, a bias has not), the other begins at zero. */
static hone_status parameter_targets(const hone_ctx *ctx, const hone_node *n, hone_linear_args *product)
{
    bool bias_accumulate = false;

    product->dw = hone_param_grad_target(n->in[W], &product->accumulate);
    product->dbias = hone_param_grad_target(n->in[BIAS], &bias_accumulate);
    if (!product->dbias)
        return HONE_OK;
    HONE_CHECK(product->dw, HONE_E_INTERNAL, "a head's weight and bias must be trained together");
    if (bias_accumulate != product->accumulate)
        zero(ctx, (bias_accumulate ? n->in[W] : n->in[BIAS])->param->grad);
    product->accumulate |= bias_accumulate;
    return HONE_OK;
}

static hone_status chunk_gradients(hone_ctx *ctx, hone_node *n, const buffers *b, hone_linear_args *product)
{
    product->dy = hone_tensor_data(b->dlogits);
    product->dx = hone_tensor_data(b->dx);
    product->accumulate = false;
    HONE_TRY(hone_kernel_run(ctx, HONE_OP_linear, HONE_PASS_BWD, n->in[X]->dtype, product, flops(product)));
    HONE_TRY(parameter_targets(ctx, n, product));
    if (product->dw)
        HONE_TRY(hone_kernel_run(ctx, HONE_OP_linear, HONE_PASS_BWD_WEIGHT, n->in[X]->dtype, product, flops(product)));
    return HONE_OK;
}

/* Over all chunks: nll (if given), and with `dx` the gradients of x (into it), of the weight and of the bias. */
static hone_status run_chunks(hone_ctx *ctx, hone_node *n, hone_tensor *nll, hone_tensor *dx, const double *weights,
                              const hone_tensor *dnll)
{
    hone_status  st = HONE_OK;
    const attrs *a = HONE_ATTRS(attrs, n);
    hone_dtype   dtype = n->in[X]->dtype;
    buffers      b;

    HONE_GO(buffers_init(ctx, &b, n, dx != NULL));
    for (int64_t first = 0, m; first < b.n; first += m) {
        hone_linear_args        product;
        hone_cross_entropy_args loss = { .logits = hone_tensor_data(b.logits), .labels = b.labels + first,
                                         .nll = hone_tensor_data(b.nll), .vocab = n->in[W]->dims[0],
                                         .scale = a->scale, .softcap = a->softcap };

        loss.rows = m = HONE_MIN(b.x->dims[0], b.n - first);
        product = head_product(n, b.x, b.logits, m);
        move_rows(ctx, b.x, n->in[X], b.rows + first, m, false);
        HONE_GO(hone_kernel_run(ctx, HONE_OP_linear, HONE_PASS_FWD, dtype, &product, flops(&product)));
        if (dx) {
            fill_weights(ctx, &b, weights, dnll, first, m);
            loss.weight = hone_tensor_data(b.weight);
            loss.dlogits = hone_tensor_data(b.dlogits);
        }
        HONE_GO(hone_kernel_run(ctx, HONE_OP_cross_entropy, HONE_PASS_FWD, dtype, &loss, 0));
        if (nll)
            move_rows(ctx, b.nll, nll, b.rows + first, m, true);
        if (dx) {
            HONE_GO(chunk_gradients(ctx, n, &b, &product));
            move_rows(ctx, b.dx, dx, b.rows + first, m, true);
        }
    }
out:
    buffers_deinit(&b);
    return st;
}

static hone_status forward(hone_ctx *ctx, hone_node *n)
{
    attrs       *a = HONE_ATTRS(attrs, n);
    hone_tensor *x = n->in[X], *nll;
    hone_dtype   acc = hone_acc_dtype(x->dtype);
    int64_t      t = hone_tensor_rows(x), v = n->in[W]->dims[0];
    int64_t      row_bytes = v * (int64_t)(hone_dtype_bytes(acc) + (acc == x->dtype ? 0 : hone_dtype_bytes(x->dtype)));

    HONE_TRY(check_head(n));
    a->chunk = HONE_MIN(HONE_MAX(chunk_bytes / row_bytes / CHUNK_STEP * CHUNK_STEP, CHUNK_STEP), CHUNK_MAX);
    nll = hone_node_output(ctx, n, 0, acc, 1, &t);
    if (!nll)
        return HONE_E_NOMEM;
    zero(ctx, nll);
    if (a->weights && ctx->tape && x->requires_grad) {
        a->dx = hone_tensor_create(ctx->device, x->dtype, x->ndim, x->dims);
        if (!a->dx)
            return HONE_E_NOMEM;
        zero(ctx, a->dx);
        n->seeded = true;
    }
    return run_chunks(ctx, n, nll, a->dx, a->weights, NULL);
}

static hone_status backward(hone_ctx *ctx, hone_node *n)
{
    attrs      *a = HONE_ATTRS(attrs, n);
    hone_status st = HONE_OK;

    if (!a->dx) {
        a->dx = hone_tensor_create(ctx->device, n->in[X]->dtype, n->in[X]->ndim, n->in[X]->dims);
        if (!a->dx)
            return HONE_E_NOMEM;
        zero(ctx, a->dx);
        HONE_TRY(run_chunks(ctx, n, NULL, a->dx, NULL, n->out[0]->grad));
    }
    st = hone_grad_add(ctx, n->in[X], a->dx);
    hone_tensor_release(&a->dx);
    return st;
}

static void release(hone_node *n) { hone_tensor_release(&HONE_ATTRS(attrs, n)->dx); }

/* With gradients made in the forward pass nothing is needed later; without, x is. The rule cannot know, so it keeps x: one
 * T × K matrix. */
static const hone_op_rule rule = { .name = "linear_cross_entropy", .attrs_size = sizeof(attrs), .forward = forward,
                                   .backward = backward, .release = release, .needs_in = 1u << X, .keep = true };

hone_tensor *hone_op_linear_cross_entropy(hone_ctx *ctx, hone_tensor *x, const hone_head *head, const int32_t *labels,
                                       const double *weights)
{
    return hone_node_apply(ctx, &rule, (hone_tensor *[]){ x, head->weight, head->bias }, 3,
                           &(attrs){ .scale = head->scale, .softcap = head->softcap, .labels = labels, .weights = weights }, 1,
                           NULL);
}

static hone_status logits_forward(hone_ctx *ctx, hone_node *n)
{
    const attrs         *a = HONE_ATTRS(attrs, n);
    hone_tensor         *x = n->in[X], *y;
    hone_linear_args     product;
    hone_cap_logits_args cap = { .scale = a->scale, .softcap = a->softcap };

    HONE_TRY(check_head(n));
    y = hone_node_output(ctx, n, 0, hone_acc_dtype(x->dtype), 2, (int64_t[]){ hone_tensor_rows(x), n->in[W]->dims[0] });
    if (!y)
        return HONE_E_NOMEM;
    product = head_product(n, x, y, hone_tensor_rows(x));
    HONE_TRY(hone_kernel_run(ctx, HONE_OP_linear, HONE_PASS_FWD, x->dtype, &product, flops(&product)));
    if (cap.softcap == 0 && (cap.scale == 0 || cap.scale == 1))
        return HONE_OK;
    cap.logits = hone_tensor_data(y);
    cap.n = hone_tensor_numel(y);
    return hone_kernel_run(ctx, HONE_OP_cap_logits, HONE_PASS_FWD, x->dtype, &cap, 0);
}

static const hone_op_rule logits_rule = { .name = "logits", .attrs_size = sizeof(attrs), .forward = logits_forward };

hone_tensor *hone_op_logits(hone_ctx *ctx, hone_tensor *x, const hone_head *head)
{
    return hone_node_apply(ctx, &logits_rule, (hone_tensor *[]){ x, head->weight, head->bias }, 3,
                           &(attrs){ .scale = head->scale, .softcap = head->softcap }, 1, NULL);
}
