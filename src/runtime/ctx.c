#include "runtime/ctx.h"

#include <stdlib.h>

#include "base/mem.h"
#include "comm/comm.h"
#include "kernel/tables.h"
#include "op/scope.h"

/* The context with what it owns. */
typedef struct owner {
    hone_ctx          ctx;
    hone_kernel_table kernels;
    hone_profile      profile;
    hone_isa          isa;
} owner;

hone_status hone_ctx_create(hone_ctx **out, const hone_ctx_options *o)
{
    hone_status st = HONE_OK;
    owner      *w = hone_calloc(1, sizeof *w);
    hone_ctx   *ctx = w ? &w->ctx : NULL;

    *out = NULL;
    if (!w)
        return HONE_E_NOMEM;
    ctx->log = o->log;
    ctx->comm = hone_comm_self();
    ctx->kernels = &w->kernels;
    ctx->profile = &w->profile;
    ctx->target = o->meta ? HONE_TARGET_META : o->policy == HONE_OP_POLICY_NATIVE ? HONE_TARGET_REF : HONE_TARGET_CPU;
    ctx->fallback = o->policy == HONE_OP_POLICY_AUTO;
    HONE_GO(hone_isa_choose(&w->isa, o->isa ? o->isa : getenv("HONE_ISA")));
    HONE_GO(hone_device_create(&ctx->device, o->meta ? &hone_device_meta : &hone_device_cpu));
    HONE_GO(hone_pool_create(&ctx->pool, o->threads));
    hone_kernel_table_ref(&w->kernels);
    hone_kernel_table_cpu(&w->kernels, w->isa);
    hone_kernel_table_meta(&w->kernels);
    ctx->poison = hone_tensor_create_empty(HONE_DTYPE_F32, 0, NULL);
    HONE_GO(ctx->poison ? HONE_OK : HONE_E_NOMEM);
out:
    if (st != HONE_OK)
        hone_ctx_destroy(&ctx);
    *out = ctx;
    return st;
}

void hone_ctx_destroy(hone_ctx **context)
{
    hone_ctx *ctx = *context;

    if (!ctx)
        return;
    HONE_ASSERT(!ctx->scope && !ctx->tape);
    hone_storage_release(&ctx->scratch);
    hone_tensor_release(&ctx->poison);
    hone_pool_destroy(&ctx->pool);
    hone_device_destroy(&ctx->device);
    hone_free((owner *)ctx);
    *context = NULL;
}

void hone_ctx_seed_dropout(hone_ctx *ctx, uint64_t seed, uint64_t step)
{
    hone_rng r = hone_rng_make(seed, step);

    ctx->dropout_key = hone_rng_u64(&r);
}

hone_isa hone_ctx_isa(const hone_ctx *ctx) { return ((const owner *)ctx)->isa; }
