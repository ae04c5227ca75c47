/*
 * tensor/tensor.h -- reference-counted handles on storages: contiguous, row-major, at most 5 dimensions.
 *
 * A view shares its storage: reshapes, and slices of the leading dimension. There are no strides.
 */
#ifndef HONE_TENSOR_TENSOR_H
#define HONE_TENSOR_TENSOR_H

#include "device/device.h"
#include "tensor/dtype.h"

enum { HONE_MAX_DIMS = 5 };

typedef struct hone_storage {
    int          refs;
    hone_device *device;
    void        *data;
    size_t       bytes;
} hone_storage;

typedef struct hone_tensor {
    int           refs;
    hone_dtype    dtype;
    int           ndim;
    int64_t       dims[HONE_MAX_DIMS];
    hone_storage *storage;          /* NULL: the data was dropped and can be made again (autograd) */
    size_t        offset;           /* bytes into the storage */
    /* Slots of the layers above. */
    struct hone_node   *node;       /* the recorded op that made it, or NULL */
    struct hone_param  *param;      /* set on the leaf of a parameter */
    struct hone_tensor *grad;       /* during a backward run */
    int           tape_refs;        /* how many of `refs` are recorded nodes' */
    bool          requires_grad;
    bool          keep;             /* stays until the backward pass rather than be made again */
    bool          needed;           /* the backward pass reads its data, or a replay starts from it */
} hone_tensor;

/* Fresh storage of `bytes` / NULL with E_NOMEM raised. */
hone_storage *hone_storage_create(hone_device *dev, size_t bytes);
hone_storage *hone_storage_retain(hone_storage *s);
void          hone_storage_release(hone_storage **s);

/* Fresh tensor with its own storage, undefined content. NULL with E_NOMEM or E_SHAPE raised. */
hone_tensor *hone_tensor_create(hone_device *dev, hone_dtype dtype, int ndim, const int64_t *dims);
/* A handle without data. */
hone_tensor *hone_tensor_create_empty(hone_dtype dtype, int ndim, const int64_t *dims);
/* A view of `base` from element `first` on, with its own shape. NULL with E_SHAPE raised if it does not fit. */
hone_tensor *hone_tensor_view(hone_tensor *base, int64_t first, int ndim, const int64_t *dims);
hone_tensor *hone_tensor_retain(hone_tensor *t);
void         hone_tensor_release(hone_tensor **t);

int64_t hone_tensor_numel(const hone_tensor *t);
size_t  hone_tensor_bytes(const hone_tensor *t);
/* Product of all dimensions but the last / the last one (1 for a scalar). */
int64_t hone_tensor_rows(const hone_tensor *t);
int64_t hone_tensor_cols(const hone_tensor *t);

static inline void *hone_tensor_data(const hone_tensor *t)
{
    return t->storage ? (char *)t->storage->data + t->offset : NULL;
}

/* The accumulation type of a compute dtype. */
static inline hone_dtype hone_acc_dtype(hone_dtype d) { return d == HONE_DTYPE_F64 ? HONE_DTYPE_F64 : HONE_DTYPE_F32; }

#endif /* HONE_TENSOR_TENSOR_H */
