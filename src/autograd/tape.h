/*
 * autograd/tape.h -- the record of one micro-batch's ops, run backward.
 *
 * A tape is an object: several may be live at once, run backward and freed in any order. What stays in memory between the
 * passes is decided per tensor when a region closes (hone_tape_settle): data that no backward rule reads goes; data that is
 * cheap to make again goes; and in a recomputed region everything goes but its border and what rules mark as worth keeping
 * (attention outputs and their log-sum-exp). Whatever is missing in the backward pass is made again from its own recorded
 * op, so the bits are those of the forward pass.
 */
#ifndef HONE_AUTOGRAD_TAPE_H
#define HONE_AUTOGRAD_TAPE_H

#include "op/node.h"

typedef struct hone_tape hone_tape;

hone_status hone_tape_create(hone_tape **out) HONE_MUST_CHECK;
/* Frees all that it recorded. */
void        hone_tape_destroy(hone_tape **tape);

/* Record the context's ops on this tape from now on (NULL stops recording). */
void        hone_tape_attach(hone_ctx *ctx, hone_tape *tape);
/* From now until the next settle, ops belong to a region that is recomputed. */
void        hone_tape_recompute(hone_tape *tape, bool on);
/* Drop what need not stay of everything recorded since the last call. The scope the ops ran in must be closed: tensors that
 * someone still holds stay, as the border of the region. */
void        hone_tape_settle(hone_tape *tape);

/*
 * Run everything backward and free it as it goes. `root` (borrowed) starts with the gradient `seed` (borrowed, same shape);
 * both may be NULL when a recorded op made its gradients already (linear_cross_entropy with weights).
 * Errors: the context's sticky status is set too.
 */
hone_status hone_tape_backward(hone_ctx *ctx, hone_tape *tape, hone_tensor *root, hone_tensor *seed) HONE_MUST_CHECK;

#endif /* HONE_AUTOGRAD_TAPE_H */
