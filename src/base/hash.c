#include "base/hash.h"

#include <stdio.h>
#include <xxhash.h>

#include "base/file.h"
#include "base/mem.h"

static hone_hash to_text(XXH128_hash_t h)
{
    hone_hash out;

    snprintf(out.hex, sizeof out.hex, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
    return out;
}

hone_hash hone_hash_bytes(const void *data, size_t n) { return to_text(XXH3_128bits(data, n)); }

hone_status hone_hash_file(hone_hash *out, const char *path)
{
    hone_mapped map;

    HONE_TRY(hone_file_map(&map, path));
    *out = hone_hash_bytes(map.data, map.size);
    hone_file_unmap(&map);
    return HONE_OK;
}

struct hone_hasher { XXH3_state_t *state; };

hone_status hone_hasher_create(hone_hasher **out)
{
    hone_hasher *h = hone_calloc(1, sizeof *h);

    *out = NULL;
    if (!h)
        return HONE_E_NOMEM;
    h->state = XXH3_createState();  /* wants an alignment that hone_calloc does not promise */
    if (!h->state) {
        hone_free(h);
        return HONE_FAIL(HONE_E_NOMEM, "out of memory for a hash");
    }
    XXH3_128bits_reset(h->state);
    *out = h;
    return HONE_OK;
}

void hone_hasher_update(hone_hasher *h, const void *data, size_t n) { XXH3_128bits_update(h->state, data, n); }

void hone_hasher_finish(hone_hash *out, hone_hasher **hasher)
{
    hone_hasher *h = *hasher;

    if (!h)
        return;
    if (out)
        *out = to_text(XXH3_128bits_digest(h->state));
    XXH3_freeState(h->state);
    hone_free(h);
    *hasher = NULL;
}
