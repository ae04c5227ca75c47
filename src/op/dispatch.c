#include "op/dispatch.h"


#include "base/clock.h"
#include "tensor/tensor.h"

/* Kernel workspace: one block that grows to the largest request and stays; it is device memory like any other. */
static void *scratch(void *arg, size_t bytes)
{
    hone_ctx *ctx = arg;

    if (!ctx->scratch || ctx->scratch->bytes < bytes) {
        hone_storage_release(&ctx->scratch);
        ctx->scratch = hone_storage_create(ctx->device, bytes);
    }
    return ctx->scratch ? ctx->scratch->data : NULL;
}

int hone_kernel_target(const hone_ctx *ctx, hone_op op, hone_pass pass, hone_dtype dtype)
{
    if ((int)dtype >= HONE_COMPUTE_DTYPES)
        return -1;
    if (ctx->kernels->fn[op][pass][ctx->target][dtype])
        return ctx->target;
    if (ctx->target == HONE_TARGET_CPU && ctx->fallback && ctx->kernels->fn[op][pass][HONE_TARGET_REF][dtype])
        return HONE_TARGET_REF;
    return -1;
}

hone_status hone_kernel_run(hone_ctx *ctx, hone_op op, hone_pass pass, hone_dtype dtype, const void *args, double flops)
{
    hone_kernel_env env = { ctx->pool, scratch, ctx, ctx->target == HONE_TARGET_META };
    int             target = hone_kernel_target(ctx, op, pass, dtype);
    double          start;

    HONE_CHECK(target >= 0, HONE_E_NOKERNEL, "%s has no %s kernel for %s and %s", hone_op_name(op), hone_pass_name(pass),
               hone_target_name((hone_target)ctx->target), hone_dtype_config_name(dtype));
    start = hone_clock_now();
    HONE_TRY(ctx->kernels->fn[op][pass][target][dtype](&env, args));
    ctx->profile->flops += flops;
    ctx->profile->op[op][pass].flops += flops;
    ctx->profile->op[op][pass].seconds += hone_clock_now() - start;
    ctx->profile->op[op][pass].calls++;
    return HONE_OK;
}
