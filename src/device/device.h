/*
 * device/device.h -- memory of the machine that computes, with a caching allocator and exact accounting.
 *
 * A device hands out blocks and keeps freed ones for reuse, but never holds more than its live peak so far: what is
 * accounted is what the process uses. A device belongs to one thread at a time.
 */
#ifndef HONE_DEVICE_DEVICE_H
#define HONE_DEVICE_DEVICE_H

#include "base/status.h"

typedef struct hone_device hone_device;

/* What a kind of device provides. `raw_alloc` returns NULL when memory is out. */
typedef struct hone_device_ops {
    const char *name;
    bool        has_data;       /* false: blocks are addresses without memory (meta) */
    void     *(*raw_alloc)(size_t bytes);
    void      (*raw_free)(void *p, size_t bytes);
} hone_device_ops;

extern const hone_device_ops hone_device_cpu;   /* cpu/: anonymous pages, huge where the system allows */
extern const hone_device_ops hone_device_meta;  /* meta/: shapes and accounting, no data */

hone_status hone_device_create(hone_device **out, const hone_device_ops *ops) HONE_MUST_CHECK;
/* Every block must have been freed. */
void        hone_device_destroy(hone_device **dev);
bool        hone_device_has_data(const hone_device *dev);

/* A block of at least `bytes`, 64-byte aligned, content undefined; *capacity (if given) tells its size. NULL with E_NOMEM
 * raised when memory is out or the limit is passed. */
void       *hone_device_alloc(hone_device *dev, size_t bytes, size_t *capacity);
void        hone_device_free(hone_device *dev, void *p, size_t capacity);
/* Give cached blocks back to the system. */
void        hone_device_trim(hone_device *dev);
/* Refuse to hold more than `bytes` (0 = no limit). */
void        hone_device_set_limit(hone_device *dev, size_t bytes);

typedef struct hone_device_stats {
    size_t live;                /* bytes in blocks handed out */
    size_t live_peak;           /* since the last reset */
    size_t reserved;            /* live + cached */
    size_t reserved_peak;
} hone_device_stats;

hone_device_stats hone_device_get_stats(const hone_device *dev);
void              hone_device_reset_peak(hone_device *dev);

#endif /* HONE_DEVICE_DEVICE_H */
