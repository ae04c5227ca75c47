/*
 * io/export.h -- writing a Hugging Face model directory with the names, order, files and companions of another.
 *
 * Values come from a provider; whatever it leaves alone keeps the source's bytes, so writing back an unchanged model gives
 * equal files. Everything is written beside the target first; the target changes only when all of it is there.
 */
#ifndef HONE_IO_EXPORT_H
#define HONE_IO_EXPORT_H

#include <signal.h>

#include "io/model_dir.h"

/* Dtype of the floating tensors written: each as in its source file, or all in one. Integers and bools stay. */
typedef enum hone_export_dtype { HONE_EXPORT_AS_INPUT, HONE_EXPORT_F32, HONE_EXPORT_BF16 } hone_export_dtype;
/* "as-input", "f32", "bf16". Errors: E_USAGE. */
hone_status hone_export_dtype_parse(hone_export_dtype *out, const char *name) HONE_MUST_CHECK;

/* Where new values come from. */
typedef struct hone_tensor_provider {
    /* Values for tensor `t` of the source: *data has t->numel elements of *dtype in the order of t's shape and stays valid
     * until the next call; NULL keeps the source's bytes. Called once for each tensor, in the order of the source. */
    hone_status (*get)(void *arg, const hone_safetensor *t, const void **data, hone_dtype *dtype);
    void *arg;
} hone_tensor_provider;

typedef enum hone_export_mode {
    HONE_EXPORT_FRESH,      /* the target must not exist, or be an empty folder */
    HONE_EXPORT_REPLACE,    /* an existing model directory is replaced as a whole; what else is in it goes too */
    HONE_EXPORT_INTO,       /* files go into the folder, next to what it holds and over files of the same names */
} hone_export_mode;

/* A file to add, or to write in place of a companion of that name. `name` is relative to the target. */
typedef struct hone_export_file { const char *name; const void *data; size_t size; } hone_export_file;

typedef struct hone_export_options {
    hone_export_dtype dtype;
    hone_export_mode  mode;
    const hone_tensor_provider *provider;       /* NULL: all tensors from the source */
    const hone_export_file     *extra;
    size_t                      n_extra;
    /* Told of each file once it is written, or NULL. */
    void (*written)(void *arg, const char *name, int64_t size, const hone_hash *hash);
    void  *written_arg;
    const volatile sig_atomic_t *stop;          /* a signal's number gives up before the next tensor; or NULL */
} hone_export_options;

/*
 * Write `source` with the provider's values to the folder `out`. NULL options are all zero: a copy.
 *
 * Written are: the weight files, under their names; their index, with total_size corrected if dtypes change; config.json,
 * in which only the dtype is changed, if it changes; the companions (hone_model_dir_companion) byte for byte; README.md if
 * there is no provider, since it describes the source's own weights; the extra files. Parents of `out` are made.
 * Memory: nothing that grows with the model, besides what the provider holds.
 * Files are staged in a folder beside the target (in it, if it exists and is empty or mode is INTO), then moved in, with
 * config.json last where they move one by one.
 * Errors, after which the target is as it was and nothing else is left: E_EXISTS; E_NUMERIC for a provider's NaN or infinity
 * and for values that the dtype cannot hold, by tensor; E_INTERRUPT; E_IO; E_NOMEM; whatever the provider returns.
 */
hone_status hone_model_dir_export(const hone_model_dir *source, const char *out, const hone_export_options *options)
    HONE_MUST_CHECK;

#endif /* HONE_IO_EXPORT_H */
