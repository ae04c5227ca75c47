#include "autograd/tape.h"

#include "base/vec.h"

struct hone_tape {
    HONE_VEC(hone_node *) nodes;    /* in the order they ran */
    size_t                settled;  /* nodes before this one are settled */
    bool                  recompute;
};

hone_status hone_tape_create(hone_tape **out)
{
    *out = hone_calloc(1, sizeof **out);
    return *out ? HONE_OK : HONE_E_NOMEM;
}

/* Outlives its node on tensors that someone else still holds, so it must not point back. */
static void forget(hone_node *n)
{
    for (int i = 0; i < n->n_out; i++) {
        if (n->out[i]) {
            n->out[i]->node = NULL;
            n->out[i]->tape_refs--;
        }
    }
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i])
            n->in[i]->tape_refs--;
    hone_node_free(n);
}

void hone_tape_destroy(hone_tape **tape)
{
    hone_tape *t = *tape;

    if (!t)
        return;
    while (t->nodes.len)
        forget(t->nodes.data[--t->nodes.len]);
    HONE_VEC_DEINIT(&t->nodes);
    hone_free(t);
    *tape = NULL;
}

static void record(hone_ctx *ctx, hone_node *n)
{
    n->recompute = ctx->tape->recompute;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i])
            n->in[i]->tape_refs++;
    for (int i = 0; i < n->n_out; i++) {
        n->out[i]->tape_refs++;
        n->out[i]->keep = n->rule->keep;
    }
    if (HONE_VEC_PUSH(&ctx->tape->nodes, n) != HONE_OK) {
        hone_ctx_fail(ctx, HONE_E_NOMEM);
        forget(n);
    }
}

void hone_tape_attach(hone_ctx *ctx, hone_tape *tape)
{
    ctx->tape = tape;
    ctx->record = record;
}

void hone_tape_recompute(hone_tape *tape, bool on) { tape->recompute = on; }

/* Whether replaying may make `t` again rather than keep it. */
static bool replayable(const hone_tensor *t)
{
    return t->node && !t->keep && (t->node->rule->cheap || t->node->recompute);
}

/* The inputs whose data the backward rule reads: none when the gradients were made in the forward pass. */
static unsigned reads(const hone_node *n) { return n->seeded ? 0 : n->rule->needs_in; }

/*
 * Two marks per tensor decide: "needed", because a backward rule reads it or a replay starts from it, and "held", because
 * someone outside the tape still has it (the border of the region).
 */
void hone_tape_settle(hone_tape *tape)
{
    size_t first = tape->settled, n = tape->nodes.len;

    /* A tensor that is held now must stay for good: later regions start from it. */
    for (size_t i = first; i < n; i++)
        for (int k = 0; k < tape->nodes.data[i]->n_out; k++) {
            hone_tensor *t = tape->nodes.data[i]->out[k];

            if (t->refs > t->tape_refs)
                t->keep = true;
        }
    /* Backward over the nodes: by the time a node is reached, all uses of its outputs inside the region have been seen. */
    for (size_t i = n; i-- > first;) {
        hone_node *node = tape->nodes.data[i];
        bool       replayed = false;

        for (int k = 0; k < node->n_out; k++) {
            hone_tensor *t = node->out[k];
            bool         wanted = t->needed || (node->rule->needs_out >> k & 1);

            if (wanted && replayable(t))
                replayed = true;
            if ((wanted && replayable(t)) || (!wanted && !t->keep))
                hone_storage_release(&t->storage);
        }
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] && (replayed || (reads(node) >> k & 1)))
                node->in[k]->needed = true;
    }
    tape->settled = n;
}

/* Make the data of `t` exist, replaying its op (and what that needs) if it was dropped. */
static hone_status materialise(hone_ctx *ctx, hone_tensor *t)
{
    hone_node *n = t->node;

    if (t->storage)
        return HONE_OK;
    HONE_CHECK(n, HONE_E_INTERNAL, "a tensor's data is gone and no op can make it again");
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i])
            HONE_TRY(materialise(ctx, n->in[i]));
    return n->rule->forward(ctx, n);
}

static hone_status run_node(hone_ctx *ctx, hone_node *n)
{
    bool wanted = n->seeded;

    for (int k = 0; k < n->n_out; k++)
        wanted |= n->out[k]->grad != NULL;
    if (!wanted)
        return HONE_OK;
    for (int k = 0; k < n->n_in; k++)
        if (reads(n) >> k & 1)
            HONE_TRY(materialise(ctx, n->in[k]));
    for (int k = 0; k < n->n_out; k++)
        if (n->rule->needs_out >> k & 1)
            HONE_TRY(materialise(ctx, n->out[k]));
    if (n->rule->backward_weight)
        HONE_TRY(n->rule->backward_weight(ctx, n));
    if (n->rule->backward)
        HONE_TRY(n->rule->backward(ctx, n));
    return HONE_OK;
}

hone_status hone_tape_backward(hone_ctx *ctx, hone_tape *tape, hone_tensor *root, hone_tensor *seed)
{
    hone_status st = ctx->status;
    hone_tape  *outer = ctx->tape;

    if (st != HONE_OK)
        return st;
    ctx->tape = NULL;                   /* replays are not recorded again */
    if (root)
        st = hone_grad_add(ctx, root, seed);
    while (st == HONE_OK && tape->nodes.len) {
        hone_node *n = tape->nodes.data[tape->nodes.len - 1];

        st = run_node(ctx, n);
        if (st != HONE_OK) {
            (void)hone_status_context(st, "in the backward pass of %s", n->rule->name);
            break;
        }
        for (int k = 0; k < n->n_out; k++) {     /* every reader of these has run */
            hone_tensor_release(&n->out[k]->grad);
            hone_storage_release(&n->out[k]->storage);
        }
        tape->nodes.len--;
        forget(n);
    }
    tape->settled = tape->nodes.len;
    ctx->tape = outer;
    if (st != HONE_OK)
        hone_ctx_fail(ctx, st);
    return st;
}
