/* hone inspect model --json, for other programs. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "cli/inspect_model.h"

/* jansson gives NULL when memory is out, and passes it on: one look at the end is enough. */
static json_t *numbers(const hone_vec_i32 *v)
{
    json_t *list = json_array();

    for (size_t i = 0; i < v->len; i++)
        json_array_append_new(list, json_integer(v->data[i]));
    return list;
}

static void put_module(json_t *list, const hone_model_view *v, const hone_module *m)
{
    json_t  *params = json_object();
    hone_str plan = HONE_STR_INIT;

    for (size_t i = 0; i < m->params.len; i++) {
        const hone_param *p = m->params.data[i];
        json_t           *shape = json_array();

        for (int d = 0; d < p->ndim; d++)
            json_array_append_new(shape, json_integer(p->dims[d]));
        json_object_set_new(params, p->name, json_pack("{s:o, s:s}", "shape", shape, "dtype", hone_view_file_dtype(v, p)));
    }
    hone_view_treatment(&plan, v, m);
    if (*m->name)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s}", "name", m->name, "kind", m->kind, "parameters", params,
                                              "plan", hone_str_c(&plan)));
    else
        json_decref(params);
    hone_str_deinit(&plan);
    for (size_t i = 0; i < m->children.len; i++)
        put_module(list, v, m->children.data[i]);
}

static json_t *kinds(const hone_model_view *v)
{
    json_t *list = json_array();

    for (size_t i = 0; i < v->kinds.len; i++)
        json_array_append_new(list, json_pack("{s:o, s:s}", "blocks", numbers(&v->kinds.data[i].blocks), "computes",
                                              v->kinds.data[i].text));
    return list;
}

static json_t *plan_row(const hone_plan_row *row)
{
    static const char *const treatments[] = { "unit", "recompute", "colwise", "rowwise", "vocab", "replicate" };
    static const char *const replicas[] = { "stream", "part", "same" };
    json_t *out = json_pack("{s:s, s:s}", "pattern", row->pattern, "treatment", treatments[row->treatment]);
    json_t *parts = json_array();

    if (row->unit)
        json_object_set_new(out, "unit", json_string(row->unit));
    for (int i = 0; i < row->parts; i++)
        json_array_append_new(parts, json_pack("{s:I, s:I, s:b}", "pieces", (json_int_t)row->part[i].pieces, "size",
                                               (json_int_t)row->part[i].size, "shared", (int)row->part[i].shared));
    if (row->parts > 0)
        json_object_update_new(out, json_pack("{s:O, s:b, s:b}", "parts", parts, "whole", (int)row->whole, "transposed",
                                              (int)row->transposed));
    json_decref(parts);
    if (row->treatment == HONE_TREAT_REPLICATE)
        json_object_set_new(out, "replica", json_string(replicas[row->replica]));
    return out;
}

static json_t *plan(const hone_model_view *v)
{
    const hone_plan *p = &v->loaded->model->plan;
    json_t          *list = json_array();

    for (size_t i = 0; i < p->rows.len; i++)
        json_array_append_new(list, plan_row(&p->rows.data[i]));
    return list;
}

static json_t *unread(const hone_model_view *v)
{
    json_t *all = json_object();

    for (size_t i = 0; i < v->unread.len; i++)
        json_object_set_new(all, v->unread.data[i].pattern, json_integer(v->unread.data[i].tensors));
    return all;
}

static json_t *memory(const hone_model_view *v)
{
    json_t *list = json_array();

    for (int i = 0; i < HONE_MEMORY_CASES; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I}", "dtype", hone_dtype_config_name(v->cases[i].compute),
                                              "recompute", v->cases[i].recompute ? "layer" : "none", "fixed",
                                              (json_int_t)v->memory[i].fixed, "peak", (json_int_t)v->memory[i].peak));
    return list;
}

static hone_status splits(json_t **out, const hone_model_view *v)
{
    hone_vec_i64 list = { NULL, 0, 0 };
    hone_status  st = hone_view_splits(&list, v);

    *out = json_array();
    for (size_t i = 0; i < list.len; i++)
        json_array_append_new(*out, json_integer(list.data[i]));
    HONE_VEC_DEINIT(&list);
    return st;
}

hone_status hone_view_print_json(const hone_model_view *v)
{
    const hone_model *m = v->loaded->model;
    hone_str          text = HONE_STR_INIT, path = HONE_STR_INIT, out = HONE_STR_INIT;
    json_t           *root = NULL, *modules = json_array(), *ranks = NULL;
    hone_status       st = HONE_OK;

    m->ops->describe(&text, m);
    hone_utf8_append_clean(&path, v->path, strlen(v->path));
    put_module(modules, v, m->root);
    HONE_GO(splits(&ranks, v));
    root = json_pack("{s:s, s:s, s:I, s:b, s:s, s:O, s:o, s:o, s:O, s:o, s:I, s:I, s:o}", "path", hone_str_c(&path), "family",
                     m->family, "parameters", (json_int_t)hone_params_numel(m->params), "tied", (int)m->tied, "computes",
                     hone_str_c(&text), "modules", modules, "blocks", kinds(v), "plan", plan(v), "tensor_parallel", ranks,
                     "unread", unread(v), "cutoff_len", (json_int_t)v->cutoff_len, "per_device_train_batch_size",
                     (json_int_t)v->samples, "memory", memory(v));
    HONE_GO(root ? HONE_OK : HONE_E_NOMEM);
    hone_json_dump(&out, root, true);
    HONE_GO(hone_str_ok(&out));
    printf("%s\n", out.data);
out:
    json_decref(root);
    json_decref(modules);
    json_decref(ranks);
    hone_str_deinit(&text);
    hone_str_deinit(&path);
    hone_str_deinit(&out);
    return st;
}
