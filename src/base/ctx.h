/*
 * base/ctx.h -- the context every computation runs in. Declared here so that each layer can name it; the slots belong to
 * higher layers and are filled by runtime/ctx.c. One context belongs to one thread at a time.
 */
#ifndef HONE_BASE_CTX_H
#define HONE_BASE_CTX_H

#include "base/log.h"
#include "base/status.h"
#include "base/thread.h"

struct hone_node;

typedef struct hone_ctx {
    hone_status               status;       /* sticky: after a failed op every further op is a no-op giving `poison` */
    hone_log                  log;
    hone_pool                *pool;
    struct hone_device       *device;       /* device/device.h */
    struct hone_comm         *comm;         /* comm/comm.h */
    struct hone_kernel_table *kernels;      /* op/kernel.h */
    int                       target;       /* hone_target the kernels run on; HONE_TARGET_CPU falls back to REF under auto */
    bool                      fallback;     /* op_policy auto: ops without an optimised kernel use the reference */
    struct hone_tensor       *poison;       /* what ops return on a failed context */
    struct hone_scope        *scope;        /* op/scope.h: owner of new tensors */
    struct hone_tape         *tape;         /* autograd/tape.h: where ops are recorded; NULL = not recorded */
    void                    (*record)(struct hone_ctx *ctx, struct hone_node *node);
    struct hone_profile      *profile;      /* op/dispatch.h: FLOPs and time per op */
    struct hone_storage      *scratch;      /* grow-only workspace of kernels */
    bool                      training;     /* dropout is active */
    uint64_t                  dropout_key;  /* of (seed, step) */
} hone_ctx;

#endif /* HONE_BASE_CTX_H */
