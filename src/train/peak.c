#include "train/peak.h"

#include "base/clock.h"
#include "op/dispatch.h"
#include "tensor/tensor.h"

enum { SIDE = 384, TRIES = 8 };

double hone_peak_flops(hone_ctx *ctx, hone_dtype dtype)
{
    int64_t      dims[3] = { 3, SIDE, SIDE };
    hone_profile before = *ctx->profile;        /* these products are not the run's … */
    hone_tensor *all = hone_tensor_create(ctx->device, dtype, 3, dims);
    double       began = hone_clock_now(), best = 0, flops = 2.0 * SIDE * SIDE * SIDE;
    size_t       matrix = (size_t)SIDE * SIDE * hone_dtype_bytes(dtype);

    if (!all || !hone_device_has_data(ctx->device))
        goto out;
    for (size_t i = 0; i < 3 * matrix; i += 2)  /* bytes that make small normal numbers: zeros run too fast on some parts */
        ((uint16_t *)hone_tensor_data(all))[i / 2] = (uint16_t)(0x3c00 + i % 251);
    for (int i = 0; i < TRIES && hone_clock_now() - began < 0.05; i++) {     /* reference kernels would take seconds */
        char            *p = hone_tensor_data(all);
        hone_linear_args args = { .x = p, .w = p + matrix, .y = p + 2 * matrix, .m = SIDE, .n = SIDE, .k = SIDE };
        double           start = hone_clock_now();

        if (hone_kernel_run(ctx, HONE_OP_linear, HONE_PASS_FWD, dtype, &args, 0) != HONE_OK)
            break;
        best = HONE_MAX(best, flops / (hone_clock_now() - start));
    }
out:
    *ctx->profile = before;
    hone_tensor_release(&all);
    hone_storage_release(&ctx->scratch);
    hone_device_trim(ctx->device);
    hone_device_reset_peak(ctx->device);        /* nor is this memory */
    return best;
}
