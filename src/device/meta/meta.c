/* A device without memory: blocks are addresses that nobody reads, so a step can be run for its shapes, sizes and FLOPs. */
#include "device/device.h"

static void *meta_alloc(size_t bytes)
{
    (void)bytes;
    return (void *)64;
}

static void meta_free(void *p, size_t bytes)
{
    (void)p;
    (void)bytes;
}

const hone_device_ops hone_device_meta = { "meta", false, meta_alloc, meta_free };
