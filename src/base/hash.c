#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/mem.h"

static hone_hash to_text(XXH128_hash_t h)
{
    hone_hash out;

    snprintf(out.hex, sizeof out.hex, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
    return out;
}

hone_hash hone_hash_bytes(const void *data, size_t n) { return to_text(XXH3_128bits(data, n)); }

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

/* In pieces: a file may be larger than memory. */
hone_status hone_hash_file(hone_hash *out, const char *path)
{
    enum { PIECE = 1 << 20 };
    hone_status  st = HONE_OK;
    hone_hasher *h = NULL;
    char        *piece = hone_calloc(PIECE, 1);
    int          fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);    /* a FIFO without a writer would wait for ever */
    struct stat  info;
    ssize_t      n;

    HONE_GO_CHECK(fd >= 0, HONE_E_IO, "cannot open %s: %s", path, strerror(errno));
    HONE_GO_CHECK(fstat(fd, &info) == 0 && S_ISREG(info.st_mode), HONE_E_IO, "cannot read %s: it is not a regular file", path);
    HONE_GO(piece ? hone_hasher_create(&h) : HONE_E_NOMEM);
    while ((n = read(fd, piece, PIECE)) != 0) {
        HONE_GO_CHECK(n > 0 || errno == EINTR, HONE_E_IO, "cannot read %s: %s", path, strerror(errno));
        if (n > 0)
            hone_hasher_update(h, piece, (size_t)n);
    }
out:
    hone_hasher_finish(st == HONE_OK ? out : NULL, &h);
    hone_free(piece);
    if (fd >= 0)
        close(fd);
    return st;
}
