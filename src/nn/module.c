#include "nn/module.h"

#include "base/str.h"
#include "op/op.h"

hone_status hone_module_create(hone_module **out, hone_module *parent, const char *name, const char *kind)
{
    hone_module *m = hone_calloc(1, sizeof *m);

    *out = NULL;
    if (!m)
        return HONE_E_NOMEM;
    m->name = parent && *parent->name ? hone_asprintf("%s.%s", parent->name, name) : hone_strdup(name);
    m->kind = kind;
    m->parent = parent;
    if (!m->name || (parent && HONE_VEC_PUSH(&parent->children, m) != HONE_OK)) {
        hone_free(m->name);
        hone_free(m);
        return HONE_E_NOMEM;
    }
    *out = m;
    return HONE_OK;
}

void hone_module_destroy(hone_module **module)
{
    hone_module *m = *module;

    if (!m)
        return;
    for (size_t i = 0; i < m->children.len; i++)
        hone_module_destroy(&m->children.data[i]);
    HONE_VEC_DEINIT(&m->children);
    HONE_VEC_DEINIT(&m->params);
    hone_free(m->name);
    hone_free(m);
    *module = NULL;
}

void hone_build_enter(hone_builder *b, const char *name, const char *kind)
{
    hone_module *m;

    if (b->status == HONE_OK)
        b->status = hone_module_create(&m, b->at, name, kind);
    if (b->status == HONE_OK)
        b->at = m;
}

void hone_build_leave(hone_builder *b)
{
    if (b->status == HONE_OK)
        b->at = b->at->parent;
}

void hone_build_unit(hone_builder *b, const char *name)
{
    if (b->status == HONE_OK)
        b->status = hone_params_unit(b->params, name);
}

void hone_build_treat(hone_builder *b, const char *name, const hone_plan_row *row)
{
    char *full;

    if (b->status != HONE_OK)
        return;
    full = hone_asprintf("%s%s%s", b->at->name, name && *b->at->name ? "." : "", name ? name : "");
    b->status = full ? hone_plan_declare(b->plan, full, row) : HONE_E_NOMEM;
    hone_free(full);
}

hone_param *hone_build_param(hone_builder *b, const char *name, int ndim, const int64_t *dims, bool decay)
{
    hone_param *p = NULL;
    char       *full;

    if (b->status != HONE_OK)
        return NULL;
    full = *b->at->name ? hone_asprintf("%s.%s", b->at->name, name) : hone_strdup(name);
    b->status = full ? hone_params_declare(&p, b->params, full, ndim, dims, decay) : HONE_E_NOMEM;
    hone_free(full);
    if (b->status == HONE_OK)
        b->status = HONE_VEC_PUSH(&b->at->params, p);
    return p;
}

void hone_build_linear(hone_builder *b, hone_linear *out, const char *name, int64_t in, int64_t features, bool bias, bool conv1d)
{
    const int64_t dims[2] = { conv1d ? in : features, conv1d ? features : in };

    out->w_is_kn = conv1d;
    hone_build_enter(b, name, "linear");
    out->weight = hone_build_param(b, "weight", 2, dims, true);
    out->bias = bias ? hone_build_param(b, "bias", 1, &features, false) : NULL;
    hone_build_leave(b);
}

hone_tensor *hone_linear_forward_add(hone_ctx *ctx, const hone_linear *l, hone_tensor *x, hone_tensor *residual)
{
    return hone_op_linear(ctx, x, l->weight->value, l->bias ? l->bias->value : NULL, l->w_is_kn, residual);
}

hone_tensor *hone_linear_forward(hone_ctx *ctx, const hone_linear *l, hone_tensor *x)
{
    return hone_linear_forward_add(ctx, l, x, NULL);
}

void hone_build_norm(hone_builder *b, hone_norm *out, const char *name, int64_t groups, int64_t dim, const hone_norm_spec *spec)
{
    const int64_t dims[2] = { groups, dim };

    *out = (hone_norm){ .spec = *spec };
    if (!name)
        return;
    out->dim = dim;
    hone_build_enter(b, name, spec->kind == HONE_NORM_RMS ? "rms_norm" : "layer_norm");
    if (!spec->plain)
        out->weight = groups > 0 ? hone_build_param(b, "weight", 2, dims, false) : hone_build_param(b, "weight", 1, &dim, false);
    if (spec->bias)
        out->bias = hone_build_param(b, "bias", 1, &dim, false);
    hone_build_leave(b);
}

hone_tensor *hone_norm_forward(hone_ctx *ctx, const hone_norm *n, hone_tensor *x)
{
    hone_tensor *weight = n->weight ? n->weight->value : NULL;

    if (n->dim == 0)
        return x;
    if (n->spec.kind == HONE_NORM_RMS)
        return hone_op_rms_norm(ctx, x, weight, n->dim, n->spec.eps, n->spec.offset);
    return hone_op_layer_norm(ctx, x, weight, n->bias ? n->bias->value : NULL, n->dim, n->spec.eps, n->spec.offset);
}

hone_param *hone_build_embedding(hone_builder *b, const char *name, int64_t rows, int64_t dim)
{
    hone_param *p;

    hone_build_enter(b, name, "embedding");
    p = hone_build_param(b, "weight", 2, (int64_t[]){ rows, dim }, true);
    hone_build_leave(b);
    return p;
}
