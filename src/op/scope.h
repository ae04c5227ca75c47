/*
 * op/scope.h -- who owns the tensors that model code makes.
 *
 * Every tensor that an op returns belongs to the context's current scope; model code holds borrowed pointers and frees
 * nothing. Closing a scope drops all of them but those that escape to the enclosing scope; what a tape has recorded lives
 * on there. Scopes nest.
 */
#ifndef HONE_OP_SCOPE_H
#define HONE_OP_SCOPE_H

#include "base/ctx.h"
#include "tensor/tensor.h"

typedef struct hone_scope hone_scope;

void hone_scope_open(hone_ctx *ctx);
/* Close the innermost scope; `escapes[n]` (entries may be NULL or the poison) move to the scope around it. Without one around
 * it, the caller owns a reference to each escaped tensor. */
void hone_scope_close(hone_ctx *ctx, hone_tensor *const *escapes, int n);
/* Give a tensor (one reference) to the current scope; returns it. The poison and NULL are handled: NULL becomes a failed
 * context. */
hone_tensor *hone_scope_adopt(hone_ctx *ctx, hone_tensor *t);

/* Make the context failed with the newest error of this thread. */
void hone_ctx_fail(hone_ctx *ctx, hone_status st);

#endif /* HONE_OP_SCOPE_H */
