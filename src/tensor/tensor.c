#include "tensor/tensor.h"

#include "base/mem.h"

hone_storage *hone_storage_create(hone_device *dev, size_t bytes)
{
    hone_storage *s = hone_calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->refs = 1;
    s->device = dev;
    s->data = hone_device_alloc(dev, bytes, &s->bytes);
    if (!s->data) {
        hone_free(s);
        return NULL;
    }
    return s;
}

hone_storage *hone_storage_retain(hone_storage *s)
{
    s->refs++;
    return s;
}

void hone_storage_release(hone_storage **storage)
{
    hone_storage *s = *storage;

    *storage = NULL;
    if (!s || --s->refs > 0)
        return;
    hone_device_free(s->device, s->data, s->bytes);
    hone_free(s);
}

hone_tensor *hone_tensor_create_empty(hone_dtype dtype, int ndim, const int64_t *dims)
{
    hone_tensor *t = hone_calloc(1, sizeof *t);

    if (!t)
        return NULL;
    HONE_ASSERT(ndim >= 0 && ndim <= HONE_MAX_DIMS);
    t->refs = 1;
    t->dtype = dtype;
    t->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        t->dims[i] = dims[i];
    return t;
}

hone_tensor *hone_tensor_create(hone_device *dev, hone_dtype dtype, int ndim, const int64_t *dims)
{
    hone_tensor *t = hone_tensor_create_empty(dtype, ndim, dims);

    if (!t)
        return NULL;
    t->storage = hone_storage_create(dev, hone_tensor_bytes(t));
    if (!t->storage)
        hone_tensor_release(&t);
    return t;
}

hone_tensor *hone_tensor_view(hone_tensor *base, int64_t first, int ndim, const int64_t *dims)
{
    hone_tensor *t = hone_tensor_create_empty(base->dtype, ndim, dims);

    if (!t)
        return NULL;
    if (first < 0 || first + hone_tensor_numel(t) > hone_tensor_numel(base)) {
        (void)HONE_FAIL(HONE_E_SHAPE, "a view of %lld elements from %lld on does not fit in %lld",
                        (long long)hone_tensor_numel(t), (long long)first, (long long)hone_tensor_numel(base));
        hone_tensor_release(&t);
        return NULL;
    }
    if (base->storage) {
        t->storage = hone_storage_retain(base->storage);
        t->offset = base->offset + (size_t)first * hone_dtype_bytes(base->dtype);
    }
    return t;
}

hone_tensor *hone_tensor_retain(hone_tensor *t)
{
    t->refs++;
    return t;
}

void hone_tensor_release(hone_tensor **tensor)
{
    hone_tensor *t = *tensor;

    *tensor = NULL;
    if (!t || --t->refs > 0)
        return;
    hone_tensor_release(&t->grad);
    hone_storage_release(&t->storage);
    hone_free(t);
}

int64_t hone_tensor_numel(const hone_tensor *t)
{
    int64_t n = 1;

    for (int i = 0; i < t->ndim; i++)
        n *= t->dims[i];
    return n;
}

size_t hone_tensor_bytes(const hone_tensor *t) { return (size_t)hone_tensor_numel(t) * hone_dtype_bytes(t->dtype); }

int64_t hone_tensor_rows(const hone_tensor *t)
{
    int64_t n = 1;

    for (int i = 0; i + 1 < t->ndim; i++)
        n *= t->dims[i];
    return n;
}

int64_t hone_tensor_cols(const hone_tensor *t) { return t->ndim ? t->dims[t->ndim - 1] : 1; }
