/* base/hash.h -- content hashes (XXH3, 128 bits), as hexadecimal text for manifests and cache keys. */
#ifndef HONE_BASE_HASH_H
#define HONE_BASE_HASH_H

#include "base/status.h"

typedef struct hone_hash { char hex[33]; } hone_hash;

hone_hash   hone_hash_bytes(const void *data, size_t n);
hone_status hone_hash_file(hone_hash *out, const char *path) HONE_MUST_CHECK;

/* The same hash of a stream: create, update any number of times, then finish (ends the object and sets it to NULL; a NULL
 * `out` only ends it). */
typedef struct hone_hasher hone_hasher;
hone_status hone_hasher_create(hone_hasher **out) HONE_MUST_CHECK;
void        hone_hasher_update(hone_hasher *h, const void *data, size_t n);
void        hone_hasher_finish(hone_hash *out, hone_hasher **h);

#endif /* HONE_BASE_HASH_H */
