/*
 * runtime/ctx.h -- makes a context: device, threads, kernels, communicator. Afterwards the kernel table does not change.
 */
#ifndef HONE_RUNTIME_CTX_H
#define HONE_RUNTIME_CTX_H

#include "base/ctx.h"
#include "device/device.h"
#include "kernel/cpu/isa.h"
#include "op/dispatch.h"

typedef enum hone_op_policy { HONE_OP_POLICY_AUTO, HONE_OP_POLICY_NATIVE, HONE_OP_POLICY_CUSTOM } hone_op_policy;

typedef struct hone_ctx_options {
    int            threads;     /* 0 = all processors this process may use */
    hone_op_policy policy;      /* auto: optimised where there is one; native: reference kernels; custom: optimised only */
    const char    *isa;         /* as HONE_ISA; NULL = what the environment says, else the best */
    bool           meta;        /* shapes and accounting, no data */
    hone_log       log;
} hone_ctx_options;

/* Errors: E_USAGE (unknown or absent instruction set), E_NOMEM. Owns: hone_ctx_destroy. */
hone_status hone_ctx_create(hone_ctx **out, const hone_ctx_options *options) HONE_MUST_CHECK;
/* All tensors must be gone. */
void        hone_ctx_destroy(hone_ctx **ctx);
/* Seeds dropout for this step: same (seed, step), same masks. */
void        hone_ctx_seed_dropout(hone_ctx *ctx, uint64_t seed, uint64_t step);
/* The instruction set in use. */
hone_isa    hone_ctx_isa(const hone_ctx *ctx);

#endif /* HONE_RUNTIME_CTX_H */
