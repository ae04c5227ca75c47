#include "op/scope.h"

#include "base/vec.h"

struct hone_scope {
    hone_scope             *outer;
    HONE_VEC(hone_tensor *) tensors;
};

void hone_ctx_fail(hone_ctx *ctx, hone_status st)
{
    if (ctx->status == HONE_OK)
        ctx->status = st == HONE_OK ? HONE_E_NOMEM : st;
}

void hone_scope_open(hone_ctx *ctx)
{
    hone_scope *s = hone_calloc(1, sizeof *s);

    HONE_ASSERT(s);     /* a few words: without them nothing could even be reported */
    s->outer = ctx->scope;
    ctx->scope = s;
}

hone_tensor *hone_scope_adopt(hone_ctx *ctx, hone_tensor *t)
{
    if (!t) {
        hone_ctx_fail(ctx, hone_status_last());
        return ctx->poison;
    }
    if (t == ctx->poison)
        return t;
    HONE_ASSERT(ctx->scope);
    if (HONE_VEC_PUSH(&ctx->scope->tensors, t) != HONE_OK) {
        hone_tensor_release(&t);
        hone_ctx_fail(ctx, HONE_E_NOMEM);
        return ctx->poison;
    }
    return t;
}

void hone_scope_close(hone_ctx *ctx, hone_tensor *const *escapes, int n)
{
    hone_scope *s = ctx->scope;

    HONE_ASSERT(s);
    ctx->scope = s->outer;
    for (int i = 0; i < n; i++) {
        if (!escapes[i] || escapes[i] == ctx->poison)
            continue;
        hone_tensor_retain(escapes[i]);
        if (ctx->scope)
            hone_scope_adopt(ctx, escapes[i]);
    }
    for (size_t i = s->tensors.len; i-- > 0;)
        hone_tensor_release(&s->tensors.data[i]);
    HONE_VEC_DEINIT(&s->tensors);
    hone_free(s);
}
