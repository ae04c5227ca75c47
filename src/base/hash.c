#include "base/hash.h"

#include <stdio.h>
#include <xxhash.h>

#include "base/file.h"

hone_hash hone_hash_bytes(const void *data, size_t n)
{
    XXH128_hash_t h = XXH3_128bits(data, n);
    hone_hash     out;

    snprintf(out.hex, sizeof out.hex, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
    return out;
}

hone_status hone_hash_file(hone_hash *out, const char *path)
{
    hone_mapped map;

    HONE_TRY(hone_file_map(&map, path));
    *out = hone_hash_bytes(map.data, map.size);
    hone_file_unmap(&map);
    return HONE_OK;
}
