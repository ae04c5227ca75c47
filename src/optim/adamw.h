/*
 * optim/adamw.h -- AdamW on f32 masters (Loshchilov & Hutter 2019, in PyTorch's order of operations), and the gradient norm.
 */
#ifndef HONE_OPTIM_ADAMW_H
#define HONE_OPTIM_ADAMW_H

#include "nn/param.h"

typedef struct hone_adamw_spec {
    double  lr, beta1, beta2, eps, weight_decay;
    double  grad_scale;         /* gradients are multiplied by this first */
    int64_t update;             /* 1 for the first one */
} hone_adamw_spec;

/* The global L2 norm of all gradients, added per parameter in declaration order, so that it depends on no layout. NaN or
 * infinite when a gradient is. */
hone_status hone_grad_norm(double *norm, hone_params *params) HONE_MUST_CHECK;
/* The factor that brings `norm` down to `max_norm` (0 = never), as the reference clips: max / (norm + 1e-6), at most 1. */
double      hone_clip_scale(double norm, double max_norm);
/* Update all masters, moments and compute copies. */
hone_status hone_adamw_step(hone_params *params, const hone_adamw_spec *spec) HONE_MUST_CHECK;

#endif /* HONE_OPTIM_ADAMW_H */
