/*
 * model/load.h -- a model from a Hugging Face directory: config checked, every tensor accounted for, weights in place.
 */
#ifndef HONE_MODEL_LOAD_H
#define HONE_MODEL_LOAD_H

#include "base/map.h"
#include "base/vec.h"
#include "io/model_dir.h"
#include "model/family.h"

typedef struct hone_load_options {
    hone_dtype      compute;    /* F32, BF16 or F64 */
    hone_param_mode mode;
    double          dropout;    /* >= 0 replaces the config's dropouts */
} hone_load_options;

/* What a tensor of a file is: a parameter, or from element `at` on a part of one that stacks several; NULL: nothing reads it. */
typedef struct hone_binding { hone_param *param; int64_t at; } hone_binding;

/* A model with the directory it came from. */
typedef struct hone_loaded {
    hone_model     *model;
    hone_model_dir *dir;
    hone_binding   *bound;      /* per tensor of `dir`, in its order */
    hone_map       *first;      /* hone_binding -> the first tensor of it */
} hone_loaded;

/*
 * Build the model that dir's config.json describes and load its weights. Every parameter must have a tensor of its shape, and
 * every tensor must be a parameter or a buffer known to be unread. A tied head stored as a tensor of its own must equal the
 * embedding, or the load is refused: neither of two different tensors is picked in silence.
 * On a context of the meta device no weight is read. Owns: hone_loaded_destroy.
 * Errors: E_IO, E_FORMAT, E_UNSUPPORTED, E_SHAPE, E_NOMEM, with file and tensor.
 */
hone_status hone_model_load(hone_loaded **out, hone_ctx *ctx, const char *path, const hone_load_options *options)
    HONE_MUST_CHECK;
void        hone_loaded_destroy(hone_loaded **loaded);
/* The first tensor that is this parameter, or the part of it from `at` on; -1: there is none. */
int64_t     hone_loaded_tensor(const hone_loaded *loaded, const hone_param *param, int64_t at);
/* Append the ids that end a generation, as generation_config.json lists them, else config.json. Errors: E_FORMAT, E_IO. */
hone_status hone_model_dir_eos_ids(hone_vec_i32 *out, const hone_model_dir *dir) HONE_MUST_CHECK;
/* The dtype most of the directory's floating weights have; F32 for F16 and F64, which hone does not compute in by default. */
hone_dtype  hone_model_dir_compute_dtype(const hone_model_dir *dir);

#endif /* HONE_MODEL_LOAD_H */
