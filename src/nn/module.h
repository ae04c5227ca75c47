/*
 * nn/module.h -- the module tree: names as the checkpoint has them, and the builder that families use.
 *
 * A family declares its modules once, top down; the builder keeps a sticky status, so family code reads as a list.
 */
#ifndef HONE_NN_MODULE_H
#define HONE_NN_MODULE_H

#include "nn/param.h"
#include "nn/plan.h"

typedef struct hone_module {
    char       *name;               /* full dotted name; "" for the root */
    const char *kind;               /* "linear", "rms_norm", … for display */
    struct hone_module *parent;
    HONE_VEC(struct hone_module *) children;
    HONE_VEC(hone_param *)         params;
} hone_module;

typedef struct hone_builder {
    hone_params *params;
    hone_plan   *plan;
    hone_module *at;                /* the module being described */
    hone_status  status;            /* sticky */
} hone_builder;

hone_status hone_module_create(hone_module **out, hone_module *parent, const char *name, const char *kind) HONE_MUST_CHECK;
void        hone_module_destroy(hone_module **module);      /* with its children; parameters belong to the set */

/* Go into a child ("layers.3.self_attn" is one step) and come back. */
void hone_build_enter(hone_builder *b, const char *name, const char *kind);
void hone_build_leave(hone_builder *b);
/* A unit of parameters starts here. */
void hone_build_unit(hone_builder *b, const char *name);
/* How the child `name` is treated (NULL: the module itself): a row of the plan. */
void hone_build_treat(hone_builder *b, const char *name, const hone_plan_row *row);
/* A parameter of the current module. A "*" in its name is a number: the parameter is a stack, along its first dimension, of the
 * tensors that the checkpoint has under the names with 0, 1, … in that place. */
hone_param *hone_build_param(hone_builder *b, const char *name, int ndim, const int64_t *dims, bool decay);

/* The one object through which weights meet activations; adapters, quantisers and splits replace it. */
typedef struct hone_linear { hone_param *weight, *bias; bool w_is_kn; } hone_linear;

/* `conv1d`: the checkpoint has the weight as [in, features], as GPT-2's Conv1D has. */
void hone_build_linear(hone_builder *b, hone_linear *out, const char *name, int64_t in, int64_t features, bool bias, bool conv1d);
hone_tensor *hone_linear_forward(hone_ctx *ctx, const hone_linear *l, hone_tensor *x);
/* With the residual added before rounding. */
hone_tensor *hone_linear_forward_add(hone_ctx *ctx, const hone_linear *l, hone_tensor *x, hone_tensor *residual);

typedef enum hone_norm_kind { HONE_NORM_RMS, HONE_NORM_LAYER } hone_norm_kind;

/* How a family norms: x / sqrt(mean(x²) + eps) (Zhang & Sennrich 2019), or with the mean taken off first (Ba et al. 2016). */
typedef struct hone_norm_spec {
    hone_norm_kind kind;
    double         eps;
    bool           plain;           /* no parameters */
    bool           bias;            /* layer norms only */
    float          offset;          /* 1: the checkpoint holds the weight less one (Gemma, Nemotron) */
} hone_norm_spec;

/* A norm over runs of `dim` elements; dim 0 is no norm at all, whose forward returns its input. */
typedef struct hone_norm { hone_param *weight, *bias; int64_t dim; hone_norm_spec spec; } hone_norm;

/* With `name` NULL there is no norm. With groups > 0 its weight is [groups, dim]: run r of a token uses row r. */
void hone_build_norm(hone_builder *b, hone_norm *out, const char *name, int64_t groups, int64_t dim, const hone_norm_spec *spec);
hone_tensor *hone_norm_forward(hone_ctx *ctx, const hone_norm *n, hone_tensor *x);

/* A table of vectors; `name`.weight [rows, dim]. */
hone_param *hone_build_embedding(hone_builder *b, const char *name, int64_t rows, int64_t dim);

#endif /* HONE_NN_MODULE_H */
