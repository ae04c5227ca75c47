#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/safetensors_private.h"

/* Elements converted, checked, hashed and written at a time: small enough to stay in the cache. */
enum { CHUNK = 32768 };

struct hone_safetensors_writer {
    hone_writer *file;
    hone_hasher *hash;
    char        *path;
    int64_t      size;                  /* bytes written */
    hone_safetensor       *own;         /* NULL when the list is another file's */
    const hone_safetensor *tensors;
    size_t       n, at;                 /* the tensor being written */
    int64_t      done;                  /* its elements that are written */
    unsigned char buffer[CHUNK * 8];
};

static hone_status write_bytes(hone_safetensors_writer *w, const void *data, size_t size)
{
    hone_hasher_update(w->hash, data, size);
    w->size += (int64_t)size;
    return hone_writer_write(w->file, data, size);
}

/* Tensors without elements need no data. */
static void skip_complete(hone_safetensors_writer *w)
{
    while (w->at < w->n && w->done == w->tensors[w->at].numel) {
        w->at++;
        w->done = 0;
    }
}

static hone_status start(hone_safetensors_writer **out, const char *path)
{
    hone_safetensors_writer *w = hone_calloc(1, sizeof *w);
    hone_status              st = HONE_OK;

    *out = NULL;
    if (!w)
        return HONE_E_NOMEM;
    w->path = hone_strdup(path);
    if (!w->path) {
        st = HONE_E_NOMEM;
        goto out;
    }
    HONE_GO(hone_hasher_create(&w->hash));
    HONE_GO(hone_writer_create(&w->file, path));
out:
    if (st != HONE_OK)
        hone_safetensors_writer_abandon(&w);
    *out = w;
    return st;
}

static void put_header_entry(hone_str *s, const hone_safetensor *t, size_t begin)
{
    hone_json_quote(s, t->name, strlen(t->name));
    hone_str_printf(s, ":{\"dtype\":\"%s\",\"shape\":[", hone_dtype_file_name(t->dtype));
    for (int i = 0; i < t->rank; i++)
        hone_str_printf(s, "%s%" PRId64, i ? "," : "", t->shape[i]);
    hone_str_printf(s, "],\"data_offsets\":[%zu,%zu]}", begin, begin + t->bytes);
}

/* The header with its length field; fills in numel and bytes of w->own. */
static hone_status make_header(hone_str *s, hone_safetensors_writer *w, const json_t *metadata)
{
    hone_map   *seen;
    size_t      offset = 0;
    uint64_t    length;
    hone_status st;

    HONE_TRY(hone_map_create(&seen));
    hone_str_append(s, "\0\0\0\0\0\0\0\0{", 9);
    if (metadata) {
        hone_str_puts(s, "\"__metadata__\":");
        hone_json_dump(s, metadata, false);
    }
    for (size_t i = 0; i < w->n; i++) {
        hone_safetensor *t = &w->own[i];

        t->numel = 1;
        for (int k = 0; k < t->rank; k++)
            t->numel *= t->shape[k];
        t->bytes = (size_t)t->numel * hone_dtype_bytes(t->dtype);
        HONE_GO_CHECK(hone_map_get(seen, t->name, strlen(t->name), -1) < 0, HONE_E_FORMAT,
                      "%s: the tensor '%s' would be written twice", w->path, t->name);
        HONE_GO(hone_map_put(seen, t->name, strlen(t->name), 0));
        if (i || metadata)
            hone_str_putc(s, ',');
        put_header_entry(s, t, offset);
        offset += t->bytes;
    }
    hone_str_putc(s, '}');
    for (size_t pad = -s->len % 8; pad > 0; pad--)
        hone_str_putc(s, ' ');
    HONE_GO(hone_str_ok(s));
    length = s->len - 8;
    for (int i = 0; i < 8; i++)
        s->data[i] = (char)(length >> 8 * i);
out:
    hone_map_destroy(&seen);
    return st;
}

hone_status hone_safetensors_writer_create(hone_safetensors_writer **out, const char *path, const hone_safetensor *tensors,
                                           size_t n, const json_t *metadata)
{
    hone_safetensors_writer *w;
    hone_str                 header = HONE_STR_INIT;
    hone_status              st;

    *out = NULL;
    HONE_TRY(start(&w, path));
    w->own = hone_calloc(n, sizeof *w->own);
    if (!w->own) {
        st = HONE_E_NOMEM;
        goto out;
    }
    if (n)
        memcpy(w->own, tensors, n * sizeof *tensors);
    w->tensors = w->own;
    w->n = n;
    HONE_GO(make_header(&header, w, metadata));
    HONE_GO(write_bytes(w, header.data, header.len));
    skip_complete(w);
out:
    hone_str_deinit(&header);
    if (st != HONE_OK)
        hone_safetensors_writer_abandon(&w);
    *out = w;
    return st;
}

hone_status hone_safetensors_writer_create_like(hone_safetensors_writer **out, const char *path, const hone_safetensors *like)
{
    hone_safetensors_writer *w;
    hone_status              st;

    *out = NULL;
    HONE_TRY(start(&w, path));
    w->tensors = like->tensors;
    w->n = like->n;
    HONE_GO(write_bytes(w, like->bytes, like->header));
    skip_complete(w);
out:
    if (st != HONE_OK)
        hone_safetensors_writer_abandon(&w);
    *out = w;
    return st;
}

/* `made` is what `given` became in the file; refuse what became infinite, and with `finite` whatever is not finite. */
static hone_status check_finite(const hone_safetensors_writer *w, const char *given, hone_dtype dtype, const void *made,
                                int64_t n, bool finite)
{
    const hone_safetensor *t = &w->tensors[w->at];
    size_t                 in = hone_dtype_bytes(dtype), out = hone_dtype_bytes(t->dtype);
    int64_t                i = 0;

    for (;;) {
        double v;

        i += hone_dtype_first_nonfinite((const char *)made + (size_t)i * out, t->dtype, n - i);
        if (i == n)
            return HONE_OK;
        if (!hone_dtype_convert(&v, HONE_DTYPE_F64, given + (size_t)i * in, dtype, 1))
            return HONE_FAIL(HONE_E_INTERNAL, "tensor '%s': a floating dtype was expected", t->name);
        if (v - v == 0)
            return HONE_FAIL(HONE_E_NUMERIC, "%s: tensor '%s', element %" PRId64 ": %g is too large for %s; write the "
                             "model in a wider dtype", w->path, t->name, w->done + i, v, hone_dtype_file_name(t->dtype));
        if (finite)
            return HONE_FAIL(HONE_E_NUMERIC, "%s: tensor '%s', element %" PRId64 " is %s; a model with such values is not "
                             "saved", w->path, t->name, w->done + i, v != v ? "NaN" : "infinite");
        i++;
    }
}

hone_status hone_safetensors_writer_put(hone_safetensors_writer *w, const void *data, hone_dtype dtype, int64_t n, bool finite)
{
    const hone_safetensor *t;
    const char            *p = data;

    HONE_CHECK(n == 0 || w->at < w->n, HONE_E_SHAPE, "%s: more data than its tensors have", w->path);
    if (n == 0)
        return HONE_OK;
    t = &w->tensors[w->at];
    HONE_CHECK(n <= t->numel - w->done, HONE_E_SHAPE, "%s: tensor '%s' has %" PRId64 " elements, but got %" PRId64, w->path,
               t->name, t->numel, w->done + n);
    while (n > 0) {
        int64_t     m = HONE_MIN(n, (int64_t)CHUNK);
        const void *made = p;

        if (dtype != t->dtype) {
            HONE_CHECK(hone_dtype_convert(w->buffer, t->dtype, p, dtype, m), HONE_E_UNSUPPORTED,
                       "%s: tensor '%s' is %s and cannot be written from %s", w->path, t->name,
                       hone_dtype_file_name(t->dtype), hone_dtype_file_name(dtype));
            made = w->buffer;
        }
        if (finite || dtype != t->dtype)
            HONE_TRY(check_finite(w, p, dtype, made, m, finite));
        HONE_TRY(write_bytes(w, made, (size_t)m * hone_dtype_bytes(t->dtype)));
        w->done += m;
        n -= m;
        p += (size_t)m * hone_dtype_bytes(dtype);
    }
    skip_complete(w);
    return HONE_OK;
}

hone_status hone_safetensors_writer_commit(hone_safetensors_writer **writer, hone_hash *hash, int64_t *size)
{
    hone_safetensors_writer *w = *writer;
    hone_status              st = HONE_OK;

    HONE_GO_CHECK(w->at == w->n, HONE_E_SHAPE, "%s: tensor '%s' is not complete", w->path, w->tensors[w->at].name);
    HONE_GO(hone_writer_commit(&w->file));
    hone_hasher_finish(hash, &w->hash);
    if (size)
        *size = w->size;
out:
    hone_safetensors_writer_abandon(writer);
    return st;
}

void hone_safetensors_writer_abandon(hone_safetensors_writer **writer)
{
    hone_safetensors_writer *w = *writer;

    if (!w)
        return;
    hone_writer_abandon(&w->file);
    hone_hasher_finish(NULL, &w->hash);
    hone_free(w->own);
    hone_free(w->path);
    hone_free(w);
    *writer = NULL;
}
