#include "data/reader/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

enum { PACKED_SIZE = 1 << 16 };

struct reader_input {
    const char   *path;                 /* borrowed */
    input_packing packing;
    int           fd;
    bool          file_end;
    /* packed files: bytes of the file not yet unpacked, and where they stand in it */
    char         *packed;
    size_t        at, n;
    int64_t       offset;
    bool          inside;               /* of a gzip member or a zstd frame */
    int64_t       members;              /* begun */
    z_stream      gzip;
    bool          gzip_ready;
    ZSTD_DCtx    *zstd;
};

static hone_status open_file(reader_input *in)
{
    struct stat info;

    in->fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);     /* a FIFO without a writer would wait for ever */
    HONE_CHECK(in->fd >= 0, HONE_E_IO, "cannot open %s: %s", in->path, strerror(errno));
    HONE_CHECK(fstat(in->fd, &info) == 0, HONE_E_IO, "cannot stat %s: %s", in->path, strerror(errno));
    HONE_CHECK(!S_ISDIR(info.st_mode), HONE_E_IO, "cannot read %s: it is a folder", in->path);
    HONE_CHECK(S_ISREG(info.st_mode), HONE_E_IO,
               "cannot read %s: it is not a regular file, and data is read more than once", in->path);
    posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return HONE_OK;
}

static hone_status open_archive(reader_input *in)
{
    in->packed = hone_calloc(PACKED_SIZE, 1);
    if (!in->packed)
        return HONE_E_NOMEM;
    if (in->packing == INPUT_GZIP) {
        HONE_CHECK(inflateInit2(&in->gzip, 15 + 16) == Z_OK, HONE_E_NOMEM, "out of memory");
        in->gzip_ready = true;
        return HONE_OK;
    }
    in->zstd = ZSTD_createDCtx();
    HONE_CHECK(in->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax, 27)), HONE_E_NOMEM,
               "out of memory");
    return HONE_OK;
}

hone_status input_open(reader_input **out, const char *path, input_packing packing)
{
    reader_input *in = hone_calloc(1, sizeof *in);
    hone_status   st = HONE_OK;

    *out = NULL;
    if (!in)
        return HONE_E_NOMEM;
    in->path = path;
    in->packing = packing;
    in->fd = -1;
    HONE_GO(open_file(in));
    if (packing != INPUT_PLAIN)
        HONE_GO(open_archive(in));
    *out = in;
    in = NULL;
out:
    input_close(&in);
    return st;
}

void input_close(reader_input **in_)
{
    reader_input *in = *in_;

    if (!in)
        return;
    if (in->fd >= 0)
        close(in->fd);
    if (in->gzip_ready)
        inflateEnd(&in->gzip);
    ZSTD_freeDCtx(in->zstd);
    hone_free(in->packed);
    hone_free(in);
    *in_ = NULL;
}

hone_status input_rewind(reader_input *in)
{
    HONE_CHECK(lseek(in->fd, 0, SEEK_SET) == 0, HONE_E_IO, "cannot read %s again: %s", in->path, strerror(errno));
    in->file_end = in->inside = false;
    in->at = in->n = 0;
    in->offset = in->members = 0;
    if (in->zstd)
        ZSTD_DCtx_reset(in->zstd, ZSTD_reset_session_only);
    return HONE_OK;
}

static hone_status read_file(reader_input *in, char *to, size_t cap, size_t *n)
{
    for (*n = 0; *n < cap && !in->file_end; ) {
        ssize_t got = read(in->fd, to + *n, cap - *n);

        HONE_CHECK(got >= 0 || errno == EINTR, HONE_E_IO, "cannot read %s: %s", in->path, strerror(errno));
        in->file_end = got == 0;
        *n += got > 0 ? (size_t)got : 0;
    }
    return HONE_OK;
}

/* Have bytes of the archive, unless it is at its end. */
static hone_status more_packed(reader_input *in)
{
    if (in->at < in->n)
        return HONE_OK;
    in->offset += (int64_t)in->n;
    in->at = in->n = 0;
    return read_file(in, in->packed, PACKED_SIZE, &in->n);
}

static hone_status broken(const reader_input *in, const char *why)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s: the archive is broken near its byte %lld: %s; copy or download it again",
                     in->path, (long long)(in->offset + (int64_t)in->at), why);
}

/* The first bytes are those of the packing that the ending names. */
static hone_status check_magic(const reader_input *in)
{
    const unsigned char *p = (const unsigned char *)in->packed;
    bool gzip = in->n >= 2 && p[0] == 0x1F && p[1] == 0x8B;
    bool zstd = in->n >= 4 && ((p[0] == 0x28 && p[1] == 0xB5 && p[2] == 0x2F && p[3] == 0xFD)
                               || ((p[0] & 0xF0) == 0x50 && p[1] == 0x2A && p[2] == 0x4D && p[3] == 0x18));

    HONE_CHECK(in->packing == INPUT_GZIP ? gzip : zstd, HONE_E_FORMAT,
               "%s: it is not %s data, which its name says%s", in->path, in->packing == INPUT_GZIP ? "gzip" : "zstd",
               in->n == 0 ? "; it is empty" : gzip ? ", but gzip data; name it .gz" : zstd ? ", but zstd data; name it .zst"
               : "; if it is not packed, leave that ending away");
    return HONE_OK;
}

/* Between two members: zeros are padding, anything else begins the next one. False at the end. */
static hone_status begin_gzip_member(reader_input *in, bool *more)
{
    *more = false;
    for (;;) {
        HONE_TRY(more_packed(in));
        if (in->members == 0)
            HONE_TRY(check_magic(in));
        if (in->at == in->n)
            return HONE_OK;
        if (in->packed[in->at] != '\0')
            break;
        in->at++;
    }
    if (inflateReset2(&in->gzip, 15 + 16) != Z_OK)
        return broken(in, "it cannot be unpacked");
    in->inside = *more = true;
    in->members++;
    return HONE_OK;
}

static hone_status read_gzip(reader_input *in, char *to, size_t cap, size_t *n)
{
    for (*n = 0; *n < cap; ) {
        bool more = true;
        int  rc;

        if (!in->inside)
            HONE_TRY(begin_gzip_member(in, &more));
        if (!more)
            return HONE_OK;
        HONE_TRY(more_packed(in));
        if (in->at == in->n)
            return broken(in, "it is cut short");
        in->gzip.next_in = (Bytef *)in->packed + in->at;
        in->gzip.avail_in = (uInt)(in->n - in->at);
        in->gzip.next_out = (Bytef *)to + *n;
        in->gzip.avail_out = (uInt)(cap - *n);
        rc = inflate(&in->gzip, Z_NO_FLUSH);
        HONE_CHECK(rc != Z_MEM_ERROR, HONE_E_NOMEM, "out of memory");
        in->at = in->n - in->gzip.avail_in;
        *n = cap - in->gzip.avail_out;
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return broken(in, in->gzip.msg ? in->gzip.msg : "it is not gzip data");
        in->inside = rc != Z_STREAM_END;
    }
    return HONE_OK;
}

static hone_status zstd_failed(const reader_input *in, size_t code)
{
    /* ZSTD_getErrorCode is not in the stable interface: the text is what tells a window that is too large. */
    HONE_CHECK(strcmp(ZSTD_getErrorName(code), "Frame requires too much memory for decoding") != 0, HONE_E_UNSUPPORTED,
               "%s: unpacking takes a window beyond 128 MiB; compress it again without --long", in->path);
    return broken(in, ZSTD_getErrorName(code));
}

static hone_status read_zstd(reader_input *in, char *to, size_t cap, size_t *n)
{
    for (*n = 0; *n < cap; ) {
        ZSTD_outBuffer out = { to + *n, cap - *n, 0 };
        ZSTD_inBuffer  packed;
        size_t         rc;

        HONE_TRY(more_packed(in));
        if (in->members == 0 && !in->inside)
            HONE_TRY(check_magic(in));
        if (in->at == in->n && !in->inside)
            return HONE_OK;
        packed = (ZSTD_inBuffer){ in->packed + in->at, in->n - in->at, 0 };
        rc = ZSTD_decompressStream(in->zstd, &out, &packed);
        in->at += packed.pos;
        *n += out.pos;
        if (ZSTD_isError(rc))
            return zstd_failed(in, rc);
        if (rc != 0 && packed.pos == 0 && out.pos == 0 && in->at == in->n)
            return broken(in, "it is cut short");
        in->members += !in->inside;
        in->inside = rc != 0;
    }
    return HONE_OK;
}

hone_status input_read(reader_input *in, char *to, size_t cap, size_t *n)
{
    switch (in->packing) {
    case INPUT_GZIP: return read_gzip(in, to, cap, n);
    case INPUT_ZSTD: return read_zstd(in, to, cap, n);
    default:         return read_file(in, to, cap, n);
    }
}
