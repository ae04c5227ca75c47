#include "data/column.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { CHUNK = 1 << 20 };       /* bytes written at once */

hone_status hone_column_temporary(hone_column *c, size_t width, size_t limit, const char *dir)
{
    *c = (hone_column){ .width = width, .limit = limit, .dir = hone_strdup(dir) };
    return c->dir ? HONE_OK : HONE_E_NOMEM;
}

hone_status hone_column_create(hone_column *c, size_t width, const char *path)
{
    *c = (hone_column){ .width = width, .limit = CHUNK, .path = hone_strdup(path) };
    if (!c->path)
        return HONE_E_NOMEM;
    c->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (c->fd < 0) {
        c->fd = 0;
        return HONE_FAIL(HONE_E_IO, "cannot create %s: %s", path, strerror(errno));
    }
    return HONE_OK;
}

/* A file that nothing is left of when the process ends, however it ends. */
static hone_status open_temporary(hone_column *c)
{
    c->path = hone_asprintf("%s/hone-samples-XXXXXX", c->dir);
    if (!c->path)
        return HONE_E_NOMEM;
    c->fd = mkostemp(c->path, O_CLOEXEC);
    if (c->fd < 0) {
        c->fd = 0;
        return HONE_FAIL(HONE_E_IO, "cannot create a temporary file for samples in %s: %s; set output_dir, or the variable TMPDIR, to "
                         "a folder with room", c->dir, strerror(errno));
    }
    unlink(c->path);
    return HONE_OK;
}

static hone_status flush(hone_column *c)
{
    const unsigned char *p = c->buffer;

    if (!c->fd)
        HONE_TRY(open_temporary(c));
    while (c->used > 0) {
        ssize_t n = write(c->fd, p, c->used);

        if (n < 0 && errno == EINTR)
            continue;
        HONE_CHECK(n >= 0, HONE_E_IO, "cannot write %s%s: %s%s", c->dir ? "samples to a temporary file in " : "",
                   c->dir ? c->dir : c->path, strerror(errno),
                   c->dir ? "; set output_dir, or the variable TMPDIR, to a folder with room" : "");
        p += n;
        c->used -= (size_t)n;
    }
    c->limit = CHUNK;
    if (c->room > CHUNK) {
        unsigned char *less = hone_realloc(c->buffer, CHUNK, 1);

        if (!less)
            return HONE_E_NOMEM;
        c->buffer = less;
        c->room = CHUNK;
    }
    return HONE_OK;
}

/* Room for more bytes in the buffer, some of what there is to append at least. */
static hone_status reserve(hone_column *c, size_t bytes)
{
    size_t         want = HONE_MIN(HONE_MAX(c->used + bytes, 2 * c->room), c->limit);
    unsigned char *p;

    if (c->used + bytes <= c->room || c->room >= c->limit)
        return HONE_OK;
    p = hone_realloc(c->buffer, want, 1);
    if (!p)
        return HONE_E_NOMEM;
    c->buffer = p;
    c->room = want;
    return HONE_OK;
}

hone_status hone_column_append(hone_column *c, const void *items, size_t n)
{
    const unsigned char *from = items;
    size_t               bytes = n * c->width;

    c->len += (int64_t)n;
    while (bytes > 0) {
        size_t part;

        HONE_TRY(reserve(c, bytes));
        part = HONE_MIN(bytes, c->room - c->used);
        memcpy(c->buffer + c->used, from, part);
        c->used += part;
        from += part;
        bytes -= part;
        if (c->used >= c->limit)
            HONE_TRY(flush(c));
    }
    return HONE_OK;
}

hone_status hone_column_finish(hone_column *c)
{
    static const int64_t nothing;
    size_t               bytes = (size_t)c->len * c->width;
    void                *p;

    c->data = c->buffer ? (const void *)c->buffer : &nothing;
    if (!c->fd)
        return HONE_OK;
    HONE_TRY(flush(c));
    HONE_CHECK(c->dir || fsync(c->fd) == 0, HONE_E_IO, "cannot sync %s: %s", c->path, strerror(errno));
    hone_free(c->buffer);
    c->buffer = NULL;
    c->data = &nothing;
    if (bytes == 0)
        return HONE_OK;
    p = mmap(NULL, bytes, PROT_READ, MAP_SHARED, c->fd, 0);
    HONE_CHECK(p != MAP_FAILED, HONE_E_IO, "cannot map %s: %s", c->path, strerror(errno));
    c->map = (hone_mapped){ p, bytes, p };
    c->data = p;
    return HONE_OK;
}

hone_status hone_column_open(hone_column *c, size_t width, int64_t len, const char *path)
{
    *c = (hone_column){ .width = width, .len = len };
    HONE_TRY(hone_file_map(&c->map, path));
    c->data = c->map.data;
    HONE_CHECK(len >= 0 && c->map.size / width == (size_t)len && c->map.size % width == 0, HONE_E_FORMAT,
               "%s has %zu bytes, and its manifest speaks of %lld elements of %zu: the file is cut short or not its own", path,
               c->map.size, (long long)len, width);
    return HONE_OK;
}

void hone_column_close(hone_column *c)
{
    if (c->fd)
        close(c->fd);
    if (c->map.base)
        hone_file_unmap(&c->map);
    hone_free(c->buffer);
    hone_free(c->dir);
    hone_free(c->path);
    *c = (hone_column){ 0 };
}
