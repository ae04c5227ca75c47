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

static void build_matrix(hone_builder *b, hone_linear *out, const char *name, int64_t rows, int64_t cols, int64_t features,
                         bool bias)
{
    hone_build_enter(b, name, "linear");
    out->weight = hone_build_param(b, "weight", 2, (int64_t[]){ rows, cols }, true);
    out->bias = bias ? hone_build_param(b, "bias", 1, &features, false) : NULL;
    hone_build_leave(b);
}

void hone_build_linear(hone_builder *b, hone_linear *out, const char *name, int64_t in, int64_t features, bool bias)
{
    out->w_is_kn = false;
    build_matrix(b, out, name, features, in, features, bias);
}

void hone_build_conv1d(hone_builder *b, hone_linear *out, const char *name, int64_t in, int64_t features)
{
    out->w_is_kn = true;
    build_matrix(b, out, name, in, features, features, true);
}

hone_tensor *hone_linear_forward_add(hone_ctx *ctx, const hone_linear *l, hone_tensor *x, hone_tensor *residual)
{
    return hone_op_linear(ctx, x, l->weight->value, l->bias ? l->bias->value : NULL, l->w_is_kn, residual);
}

hone_tensor *hone_linear_forward(hone_ctx *ctx, const hone_linear *l, hone_tensor *x)
{
    return hone_linear_forward_add(ctx, l, x, NULL);
}

void hone_build_rms_norm(hone_builder *b, hone_norm *out, const char *name, int64_t dim, double eps)
{
    hone_build_enter(b, name, "rms_norm");
    *out = (hone_norm){ .weight = hone_build_param(b, "weight", 1, &dim, false), .eps = eps, .rms = true };
    hone_build_leave(b);
}

void hone_build_layer_norm(hone_builder *b, hone_norm *out, const char *name, int64_t dim, double eps)
{
    hone_build_enter(b, name, "layer_norm");
    *out = (hone_norm){ .weight = hone_build_param(b, "weight", 1, &dim, false), .eps = eps };
    out->bias = hone_build_param(b, "bias", 1, &dim, false);
    hone_build_leave(b);
}

hone_tensor *hone_norm_forward(hone_ctx *ctx, const hone_norm *n, hone_tensor *x)
{
    int64_t dim = n->weight->value->dims[0];

    if (n->rms)
        return hone_op_rms_norm(ctx, x, n->weight->value, dim, n->eps, 0);
    return hone_op_layer_norm(ctx, x, n->weight->value, n->bias ? n->bias->value : NULL, dim, n->eps);
}

hone_param *hone_build_embedding(hone_builder *b, const char *name, int64_t rows, int64_t dim)
{
    hone_param *p;

    hone_build_enter(b, name, "embedding");
    p = hone_build_param(b, "weight", 2, (int64_t[]){ rows, dim }, true);
    hone_build_leave(b);
    return p;
}
