/*
 * base/map.h -- hash map from byte strings to int64 values; keys are copied. Iteration is in insertion order.
 */
#ifndef HONE_BASE_MAP_H
#define HONE_BASE_MAP_H

#include "base/status.h"

typedef struct hone_map hone_map;

hone_status hone_map_create(hone_map **out) HONE_MUST_CHECK;
void        hone_map_destroy(hone_map **map);
/* Insert or replace. */
hone_status hone_map_put(hone_map *map, const void *key, size_t len, int64_t value) HONE_MUST_CHECK;
/* The value, or `absent`. */
int64_t     hone_map_get(const hone_map *map, const void *key, size_t len, int64_t absent);
size_t      hone_map_len(const hone_map *map);
/* i-th inserted entry (i < len); the key is NUL-terminated and borrowed. */
const char *hone_map_entry(const hone_map *map, size_t i, size_t *len, int64_t *value);

#endif /* HONE_BASE_MAP_H */
