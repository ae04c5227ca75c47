/*
 * io/safetensors.h -- reading and writing safetensors files.
 *
 * The format (https://huggingface.co/docs/safetensors): 8 bytes, little endian, the length of the header; the header, one
 * JSON object from tensor name to {"dtype", "shape", "data_offsets": [begin, end)}, with an optional "__metadata__" object
 * of strings; then the data. The reader maps the file and holds it to everything the format promises; the writer streams,
 * so memory does not grow with the file.
 */
#ifndef HONE_IO_SAFETENSORS_H
#define HONE_IO_SAFETENSORS_H

#include <jansson.h>

#include "base/hash.h"
#include "base/status.h"
#include "tensor/dtype.h"

enum { HONE_SAFETENSORS_MAX_RANK = 8 };

/* One tensor of a file, row-major. `data` points into the map and may be unaligned: files written by old tools have headers
 * of any length. hone_dtype_convert and memcpy take such pointers. */
typedef struct hone_safetensor {
    const char *name;
    hone_dtype  dtype;
    int         rank;                               /* 0 is a scalar */
    int64_t     shape[HONE_SAFETENSORS_MAX_RANK];
    int64_t     numel;
    size_t      bytes;
    const void *data;
} hone_safetensor;

typedef struct hone_safetensors hone_safetensors;

/*
 * Map and check a file: header length, JSON, known dtypes, no shape overflow, byte ranges as long as shape and dtype say,
 * without overlap or hole, and ending where the file ends. A Git LFS pointer in place of the file is recognised.
 * Owns: hone_safetensors_close. Every tensor is borrowed from it.
 * Errors: E_IO; E_FORMAT with file, tensor, reason and the way out; E_UNSUPPORTED for a dtype of the format that hone lacks
 * or a rank above HONE_SAFETENSORS_MAX_RANK; E_NOMEM.
 */
hone_status hone_safetensors_open(hone_safetensors **out, const char *path) HONE_MUST_CHECK;
/* The same for bytes in memory, which must outlive the object; `where` names them in errors. */
hone_status hone_safetensors_parse(hone_safetensors **out, const void *data, size_t size, const char *where)
    HONE_MUST_CHECK;
void hone_safetensors_close(hone_safetensors **file);

/* Tensors in the order of their data. */
size_t                 hone_safetensors_len(const hone_safetensors *file);
const hone_safetensor *hone_safetensors_at(const hone_safetensors *file, size_t i);
/* NULL if the file has no such tensor. */
const hone_safetensor *hone_safetensors_find(const hone_safetensors *file, const char *name);
/* "__metadata__", borrowed; NULL if there is none. */
const json_t *hone_safetensors_metadata(const hone_safetensors *file);

typedef struct hone_safetensors_writer hone_safetensors_writer;

/*
 * Start a file with tensors of the given name, dtype and shape (the other fields are ignored; the names must outlive the
 * writer), whose data follows in this order, and optional string `metadata`. The header is padded with spaces to a multiple of 8 bytes, so tensors listed from
 * wide dtypes to narrow ones are aligned, as the reference writer lists them. Nothing appears at `path` before the commit.
 * Errors: E_IO, E_NOMEM; E_FORMAT for a name twice.
 */
hone_status hone_safetensors_writer_create(hone_safetensors_writer **out, const char *path, const hone_safetensor *tensors,
                                           size_t n, const json_t *metadata) HONE_MUST_CHECK;
/* Start a file with exactly the header bytes of `like`, which must outlive the writer; tensors come in its data order. So
 * writing the same data again gives the same file. */
hone_status hone_safetensors_writer_create_like(hone_safetensors_writer **out, const char *path,
                                                const hone_safetensors *like) HONE_MUST_CHECK;
/*
 * Append the next `n` elements of the tensor being written, converted from `dtype` to the file's; a tensor may come in any
 * number of pieces, none of which crosses into the next tensor. `data` may be unaligned.
 * Errors: E_NUMERIC, naming tensor and element, for a finite value that the file's dtype cannot hold, and with `finite`
 * also for a NaN or infinity that `data` already has; E_SHAPE for more elements than the tensor has; E_UNSUPPORTED for a
 * conversion that is not between floating dtypes; E_IO.
 */
hone_status hone_safetensors_writer_put(hone_safetensors_writer *w, const void *data, hone_dtype dtype, int64_t n,
                                        bool finite) HONE_MUST_CHECK;
/* Finish: all tensors must be complete (E_SHAPE). The file appears at its path; `hash`, if wanted, gets the hash of its
 * bytes and `size` their number. Ends the object, also on failure. */
hone_status hone_safetensors_writer_commit(hone_safetensors_writer **w, hone_hash *hash, int64_t *size) HONE_MUST_CHECK;
/* Drop the file; nothing stays. */
void hone_safetensors_writer_abandon(hone_safetensors_writer **w);

#endif /* HONE_IO_SAFETENSORS_H */
