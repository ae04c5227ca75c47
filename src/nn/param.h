/*
 * nn/param.h -- parameters in units and groups.
 *
 * A unit (a block of the model, say) is what is gathered, released and updated together. Within it, each group is one flat
 * buffer of parameters that are treated alike, cut into contiguous slices of one length, one per rank. Where a parameter
 * lies is a function of the group and the number of ranks, so sharding changes no model code; on one rank the slice is the
 * whole. A trained group has f32 masters, gradients and moments, and a copy in the compute dtype, which in f32 training is
 * the master itself.
 */
#ifndef HONE_NN_PARAM_H
#define HONE_NN_PARAM_H

#include "base/ctx.h"
#include "base/map.h"
#include "base/vec.h"
#include "op/param.h"

/* What each parameter holds besides its value in the compute dtype. */
typedef enum hone_param_mode {
    HONE_PARAMS_FROZEN,         /* nothing (inference) */
    HONE_PARAMS_GRADIENT,       /* a gradient */
    HONE_PARAMS_TRAINED         /* master, gradient and the optimizer's two moments */
} hone_param_mode;

typedef struct hone_group {
    HONE_VEC(hone_param *) params;
    int64_t      numel;         /* of the whole group with padding: slice · ranks */
    int64_t      slice;         /* elements of one rank's slice */
    hone_tensor *value;         /* [numel] compute dtype */
    hone_tensor *master;        /* [slice] f32 (f64 in f64 runs); the same tensor as `value` when dtypes and sizes agree */
    hone_tensor *grad;          /* [numel] */
    hone_tensor *moment1, *moment2; /* [slice] f32 */
} hone_group;

typedef struct hone_unit { char *name; hone_group group; } hone_unit;

typedef struct hone_params {
    hone_ctx             *ctx;          /* borrowed */
    hone_dtype            compute;
    hone_param_mode       mode;
    HONE_VEC(hone_unit *)  units;
    HONE_VEC(hone_param *) all;         /* in declaration order */
    hone_map             *by_name;
} hone_params;

hone_status hone_params_create(hone_params **out, hone_ctx *ctx, hone_dtype compute, hone_param_mode mode) HONE_MUST_CHECK;
void        hone_params_destroy(hone_params **params);

/* Open a unit: parameters declared from now on belong to it. */
hone_status hone_params_unit(hone_params *params, const char *name) HONE_MUST_CHECK;
/* Declare a parameter. Owns: the set. Declaring a name twice is E_INTERNAL. */
hone_status hone_params_declare(hone_param **out, hone_params *params, const char *name, int ndim, const int64_t *dims,
                                bool decay) HONE_MUST_CHECK;
/* Lay all groups out and allocate. Values are undefined until loaded. */
hone_status hone_params_allocate(hone_params *params) HONE_MUST_CHECK;

hone_param *hone_params_find(const hone_params *params, const char *name);
int64_t     hone_param_numel(const hone_param *p);
int64_t     hone_params_numel(const hone_params *params);
int64_t     hone_unit_numel(const hone_unit *unit);     /* without padding */
/* Set a parameter's value (and master) from n elements of a floating dtype. */
hone_status hone_param_load(hone_params *params, hone_param *p, const void *data, hone_dtype dtype) HONE_MUST_CHECK;
/* The same for the n elements from `at` on. */
hone_status hone_param_load_part(hone_params *params, hone_param *p, int64_t at, int64_t n, const void *data, hone_dtype dtype)
    HONE_MUST_CHECK;
/* The parameter's master (or its value where there is none); borrowed pointer into the group's memory. */
const void *hone_param_master(const hone_params *params, const hone_param *p, hone_dtype *dtype);
/* Write the masters into the compute copies again (after the masters were changed by hand). */
void        hone_params_refresh(hone_params *params);
/* Start a new step: gradients count as empty. */
void        hone_params_clear_grads(hone_params *params);
/* Zero the gradients that nothing wrote this step, so that the whole buffer is defined. */
void        hone_params_finish_grads(hone_params *params);

/*
 * Offsets (elements) of n parameters in a group cut among `ranks`; rows[i] is the length of a row of parameter i (1 for a
 * vector). Each parameter is contiguous and starts on a multiple of 16; cuts fall between rows unless that would pad the
 * group by more than 5 %. Returns the slice length. A function of its arguments alone.
 */
int64_t hone_group_layout(int64_t *offsets, const int64_t *numel, const int64_t *rows, size_t n, int ranks);

#endif /* HONE_NN_PARAM_H */
