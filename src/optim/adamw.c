#include "optim/adamw.h"

#include <math.h>

#include "op/dispatch.h"

hone_status hone_grad_norm(double *norm, hone_params *params)
{
    double total = 0;

    for (size_t i = 0; i < params->all.len; i++) {
        const hone_param    *p = params->all.data[i];
        double               sum = 0;
        hone_square_sum_args args;

        if (!p->grad)
            continue;
        args = (hone_square_sum_args){ hone_tensor_data(p->grad), &sum, hone_param_numel(p) };
        HONE_TRY(hone_kernel_run(params->ctx, HONE_OP_square_sum, HONE_PASS_FWD, p->grad->dtype, &args, 0));
        total += sum;
    }
    *norm = sqrt(total);
    return HONE_OK;
}

double hone_clip_scale(double norm, double max_norm)
{
    return max_norm > 0 && norm > 0 ? fmin(1, max_norm / (norm + 1e-6)) : 1;
}

hone_status hone_adamw_step(hone_params *params, const hone_adamw_spec *s)
{
    for (size_t i = 0; i < params->all.len; i++) {
        const hone_param *p = params->all.data[i];
        const hone_group *g = p->group;
        hone_adamw_args   args = { .n = hone_param_numel(p), .lr = s->lr, .beta1 = s->beta1, .beta2 = s->beta2, .eps = s->eps,
                                   .weight_decay = p->decay ? s->weight_decay : 0, .grad_scale = s->grad_scale,
                                   .step = s->update };

        if (!p->grad)
            continue;
        args.w = (float *)hone_tensor_data(g->master) + p->offset;
        args.grad = hone_tensor_data(p->grad);
        args.m = (float *)hone_tensor_data(g->moment1) + p->offset;
        args.v = (float *)hone_tensor_data(g->moment2) + p->offset;
        args.w_bf16 = p->value->dtype == HONE_DTYPE_BF16 ? hone_tensor_data(p->value) : NULL;
        HONE_TRY(hone_kernel_run(params->ctx, HONE_OP_adamw, HONE_PASS_FWD, HONE_DTYPE_F32, &args, 0));
    }
    return HONE_OK;
}
