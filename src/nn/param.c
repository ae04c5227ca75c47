#include "nn/param.h"

#include <string.h>

#include "comm/comm.h"

hone_status hone_params_create(hone_params **out, hone_ctx *ctx, hone_dtype compute, hone_param_mode mode)
{
    hone_params *p = hone_calloc(1, sizeof *p);

    *out = NULL;
    if (!p)
        return HONE_E_NOMEM;
    p->ctx = ctx;
    p->compute = compute;
    p->mode = mode;
    if (hone_map_create(&p->by_name) != HONE_OK) {
        hone_free(p);
        return HONE_E_NOMEM;
    }
    *out = p;
    return HONE_OK;
}

static void group_deinit(hone_group *g)
{
    hone_tensor_release(&g->value);
    hone_tensor_release(&g->master);
    hone_tensor_release(&g->grad);
    hone_tensor_release(&g->moment1);
    hone_tensor_release(&g->moment2);
    HONE_VEC_DEINIT(&g->params);
}

void hone_params_destroy(hone_params **params)
{
    hone_params *p = *params;

    if (!p)
        return;
    for (size_t i = 0; i < p->all.len; i++) {
        hone_tensor_release(&p->all.data[i]->value);
        hone_tensor_release(&p->all.data[i]->grad);
        hone_free(p->all.data[i]->name);
        hone_free(p->all.data[i]);
    }
    for (size_t i = 0; i < p->units.len; i++) {
        group_deinit(&p->units.data[i]->group);
        hone_free(p->units.data[i]->name);
        hone_free(p->units.data[i]);
    }
    HONE_VEC_DEINIT(&p->all);
    HONE_VEC_DEINIT(&p->units);
    hone_map_destroy(&p->by_name);
    hone_free(p);
    *params = NULL;
}

hone_status hone_params_unit(hone_params *params, const char *name)
{
    hone_unit *u = hone_calloc(1, sizeof *u);

    if (!u)
        return HONE_E_NOMEM;
    u->name = hone_strdup(name);
    if (!u->name || HONE_VEC_PUSH(&params->units, u) != HONE_OK) {
        hone_free(u->name);
        hone_free(u);
        return HONE_E_NOMEM;
    }
    return HONE_OK;
}

hone_status hone_params_declare(hone_param **out, hone_params *params, const char *name, int ndim, const int64_t *dims,
                                bool decay)
{
    hone_unit  *unit = params->units.data[params->units.len - 1];
    hone_param *p = hone_calloc(1, sizeof *p);

    *out = NULL;
    if (!p)
        return HONE_E_NOMEM;
    p->name = hone_strdup(name);
    p->ndim = ndim;
    for (int i = 0; i < ndim; i++)
        p->dims[i] = dims[i];
    p->decay = decay;
    p->group = &unit->group;
    if (!p->name || HONE_VEC_PUSH(&params->all, p) != HONE_OK) {
        hone_free(p->name);
        hone_free(p);
        return HONE_E_NOMEM;
    }
    HONE_TRY(HONE_VEC_PUSH(&unit->group.params, p));
    HONE_CHECK(!hone_params_find(params, name), HONE_E_INTERNAL, "parameter %s is declared twice", name);
    HONE_TRY(hone_map_put(params->by_name, name, strlen(name), (int64_t)params->all.len - 1));
    *out = p;
    return HONE_OK;
}

static hone_status flat(hone_tensor **out, const hone_params *params, hone_dtype dtype, int64_t n)
{
    *out = hone_tensor_create(params->ctx->device, dtype, 1, &n);
    return *out ? HONE_OK : HONE_E_NOMEM;
}

static void zero(const hone_params *params, hone_tensor *t)
{
    if (t && hone_device_has_data(params->ctx->device))
        memset(hone_tensor_data(t), 0, hone_tensor_bytes(t));
}

static hone_status group_buffers(hone_params *params, hone_group *g)
{
    hone_dtype acc = hone_acc_dtype(params->compute);

    HONE_TRY(flat(&g->value, params, params->compute, g->numel));
    zero(params, g->value);     /* the padding between parameters stays zero for good */
    if (params->mode == HONE_PARAMS_FROZEN)
        return HONE_OK;
    HONE_TRY(flat(&g->grad, params, acc, g->numel));
    zero(params, g->grad);
    if (params->mode == HONE_PARAMS_GRADIENT)
        return HONE_OK;
    if (acc == params->compute && g->slice == g->numel)
        g->master = hone_tensor_retain(g->value);
    else
        HONE_TRY(flat(&g->master, params, acc, g->slice));
    HONE_TRY(flat(&g->moment1, params, HONE_DTYPE_F32, g->slice));
    HONE_TRY(flat(&g->moment2, params, HONE_DTYPE_F32, g->slice));
    if (g->master != g->value)
        zero(params, g->master);
    zero(params, g->moment1);
    zero(params, g->moment2);
    return HONE_OK;
}

static hone_status group_allocate(hone_params *params, hone_group *g)
{
    size_t      n = g->params.len;
    int64_t    *sizes = hone_calloc(3 * n, sizeof *sizes), *rows, *offsets;
    hone_status st = HONE_OK;

    if (!sizes)
        return HONE_E_NOMEM;
    rows = sizes + n;
    offsets = rows + n;
    for (size_t i = 0; i < n; i++) {
        hone_param *p = g->params.data[i];

        sizes[i] = hone_param_numel(p);
        rows[i] = p->ndim > 1 ? p->dims[p->ndim - 1] : 1;
    }
    g->slice = hone_group_layout(offsets, sizes, rows, n, params->ctx->comm->size);
    g->numel = g->slice * params->ctx->comm->size;
    HONE_GO(group_buffers(params, g));
    for (size_t i = 0; i < n; i++) {
        hone_param *p = g->params.data[i];

        p->offset = offsets[i];
        p->value = hone_tensor_view(g->value, p->offset, p->ndim, p->dims);
        HONE_GO(p->value ? HONE_OK : HONE_E_NOMEM);
        p->value->param = p;
        p->value->requires_grad = g->grad != NULL;
        if (g->grad) {
            p->grad = hone_tensor_view(g->grad, p->offset, p->ndim, p->dims);
            HONE_GO(p->grad ? HONE_OK : HONE_E_NOMEM);
        }
    }
out:
    hone_free(sizes);
    return st;
}

hone_status hone_params_allocate(hone_params *params)
{
    for (size_t i = 0; i < params->units.len; i++)
        HONE_TRY(group_allocate(params, &params->units.data[i]->group));
    return HONE_OK;
}

hone_param *hone_params_find(const hone_params *params, const char *name)
{
    int64_t i = hone_map_get(params->by_name, name, strlen(name), -1);

    return i < 0 ? NULL : params->all.data[i];
}

int64_t hone_param_numel(const hone_param *p)
{
    int64_t n = 1;

    for (int i = 0; i < p->ndim; i++)
        n *= p->dims[i];
    return n;
}

int64_t hone_unit_numel(const hone_unit *unit)
{
    int64_t n = 0;

    for (size_t i = 0; i < unit->group.params.len; i++)
        n += hone_param_numel(unit->group.params.data[i]);
    return n;
}

int64_t hone_params_numel(const hone_params *params)
{
    int64_t n = 0;

    for (size_t i = 0; i < params->all.len; i++)
        n += hone_param_numel(params->all.data[i]);
    return n;
}

static void *element(const hone_tensor *t, int64_t i) { return (char *)hone_tensor_data(t) + (size_t)i * hone_dtype_bytes(t->dtype); }

hone_status hone_param_load_part(hone_params *params, hone_param *p, int64_t at, int64_t n, const void *data, hone_dtype dtype)
{
    hone_group *g = p->group;

    if (!hone_device_has_data(params->ctx->device))
        return HONE_OK;
    HONE_CHECK(hone_dtype_convert(element(p->value, at), p->value->dtype, data, dtype, n), HONE_E_UNSUPPORTED,
               "tensor %s has dtype %s, which is not a floating type hone reads", p->name, hone_dtype_file_name(dtype));
    if (g->master && g->master != g->value)
        hone_dtype_convert(element(g->master, p->offset + at), g->master->dtype, data, dtype, n);
    return HONE_OK;
}

hone_status hone_param_load(hone_params *params, hone_param *p, const void *data, hone_dtype dtype)
{
    return hone_param_load_part(params, p, 0, hone_param_numel(p), data, dtype);
}

const void *hone_param_master(const hone_params *params, const hone_param *p, hone_dtype *dtype)
{
    const hone_tensor *flat = p->group->master ? p->group->master : p->group->value;

    (void)params;
    *dtype = flat->dtype;
    return (const char *)hone_tensor_data(flat) + (size_t)p->offset * hone_dtype_bytes(flat->dtype);
}

void hone_params_refresh(hone_params *params)
{
    for (size_t i = 0; i < params->units.len; i++) {
        hone_group *g = &params->units.data[i]->group;

        if (g->master && g->master != g->value)
            hone_dtype_convert(hone_tensor_data(g->value), g->value->dtype, hone_tensor_data(g->master), g->master->dtype,
                               g->numel);
    }
}

void hone_params_clear_grads(hone_params *params)
{
    for (size_t i = 0; i < params->all.len; i++)
        params->all.data[i]->grad_ready = false;
}

void hone_params_finish_grads(hone_params *params)
{
    for (size_t i = 0; i < params->all.len; i++) {
        hone_param *p = params->all.data[i];

        if (p->grad && !p->grad_ready) {
            zero(params, p->grad);
            p->grad_ready = true;
        }
    }
}
