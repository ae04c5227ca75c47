/* base/hash.h -- content hashes (XXH3, 128 bits), as hexadecimal text for manifests and cache keys. */
#ifndef HONE_BASE_HASH_H
#define HONE_BASE_HASH_H

#include "base/status.h"

typedef struct hone_hash { char hex[33]; } hone_hash;

hone_hash   hone_hash_bytes(const void *data, size_t n);
hone_status hone_hash_file(hone_hash *out, const char *path) HONE_MUST_CHECK;

#endif /* HONE_BASE_HASH_H */
