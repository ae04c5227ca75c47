#include "device/device.h"

#include "base/vec.h"

typedef struct cached { void *p; size_t bytes; uint64_t age; } cached;

struct hone_device {
    const hone_device_ops *ops;
    HONE_VEC(cached)       cache;
    hone_device_stats      stats;
    size_t                 high_water;      /* largest `live` ever; bounds `reserved` */
    size_t                 limit;
    uint64_t               clock;
};

/* Blocks come in steps of 1/16 of their size's power of two, very large ones in whole huge pages: few distinct sizes, so
 * that freed blocks fit again. */
static size_t round_size(size_t bytes)
{
    const size_t huge = (size_t)2 << 20;
    size_t       step = 64;

    if (bytes >= 8 * huge)
        return (bytes + huge - 1) / huge * huge;
    while (step * 16 <= bytes)
        step *= 2;
    return HONE_MAX((bytes + step - 1) / step * step, (size_t)64);
}

hone_status hone_device_create(hone_device **out, const hone_device_ops *ops)
{
    hone_device *d = hone_calloc(1, sizeof *d);

    *out = d;
    if (!d)
        return HONE_E_NOMEM;
    d->ops = ops;
    return HONE_OK;
}

void hone_device_destroy(hone_device **dev)
{
    hone_device *d = *dev;

    if (!d)
        return;
    hone_device_trim(d);
    HONE_ASSERT(d->stats.live == 0);
    HONE_VEC_DEINIT(&d->cache);
    hone_free(d);
    *dev = NULL;
}

bool hone_device_has_data(const hone_device *d) { return d->ops->has_data; }

static void release_cached(hone_device *d, size_t i)
{
    d->ops->raw_free(d->cache.data[i].p, d->cache.data[i].bytes);
    d->stats.reserved -= d->cache.data[i].bytes;
    d->cache.data[i] = d->cache.data[--d->cache.len];
}

/* The smallest cached block that holds `bytes` and wastes at most an eighth of itself; -1 if none. */
static int64_t find_cached(const hone_device *d, size_t bytes)
{
    int64_t best = -1;

    for (size_t i = 0; i < d->cache.len; i++) {
        size_t have = d->cache.data[i].bytes;

        if (have >= bytes && have - bytes <= have / 8 && (best < 0 || have < d->cache.data[best].bytes))
            best = (int64_t)i;
    }
    return best;
}

static void release_oldest(hone_device *d)
{
    size_t oldest = 0;

    for (size_t i = 1; i < d->cache.len; i++)
        if (d->cache.data[i].age < d->cache.data[oldest].age)
            oldest = i;
    release_cached(d, oldest);
}

static void account(hone_device *d)
{
    d->high_water = HONE_MAX(d->high_water, d->stats.live);
    d->stats.live_peak = HONE_MAX(d->stats.live_peak, d->stats.live);
    d->stats.reserved_peak = HONE_MAX(d->stats.reserved_peak, d->stats.reserved);
}

void *hone_device_alloc(hone_device *d, size_t bytes, size_t *capacity)
{
    size_t  size = round_size(bytes);
    int64_t hit = find_cached(d, size);
    void   *p;

    if (hit >= 0) {
        p = d->cache.data[hit].p;
        size = d->cache.data[hit].bytes;
        d->cache.data[hit] = d->cache.data[--d->cache.len];
    } else {
        while (d->cache.len && d->stats.reserved + size > HONE_MAX(d->high_water, d->stats.live + size))
            release_oldest(d);
        p = d->limit && d->stats.live + size > d->limit ? NULL : d->ops->raw_alloc(size);
        if (!p) {
            (void)HONE_FAIL(HONE_E_NOMEM, "out of %s memory: wanted %.1f MB while %.1f MB are in use", d->ops->name,
                            (double)size / 1e6, (double)d->stats.live / 1e6);
            return NULL;
        }
        d->stats.reserved += size;
    }
    d->stats.live += size;
    account(d);
    if (capacity)
        *capacity = size;
    return p;
}

void hone_device_free(hone_device *d, void *p, size_t capacity)
{
    if (!p)
        return;
    d->stats.live -= capacity;
    if (HONE_VEC_PUSH(&d->cache, (cached){ p, capacity, d->clock++ }) != HONE_OK) {
        d->ops->raw_free(p, capacity);
        d->stats.reserved -= capacity;
    }
}

void hone_device_trim(hone_device *d)
{
    while (d->cache.len)
        release_cached(d, d->cache.len - 1);
    d->high_water = d->stats.live;
}

void hone_device_set_limit(hone_device *d, size_t bytes) { d->limit = bytes; }
hone_device_stats hone_device_get_stats(const hone_device *d) { return d->stats; }

void hone_device_reset_peak(hone_device *d)
{
    d->stats.live_peak = d->stats.live;
    d->stats.reserved_peak = d->stats.reserved;
}
