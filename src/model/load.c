#include "model/load.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/str.h"

void hone_loaded_destroy(hone_loaded **loaded)
{
    hone_loaded *l = *loaded;

    if (!l)
        return;
    hone_model_destroy(&l->model);
    hone_model_dir_close(&l->dir);
    hone_free(l->param_of);
    hone_free(l);
    *loaded = NULL;
}

hone_dtype hone_model_dir_compute_dtype(const hone_model_dir *dir)
{
    int64_t n[HONE_DTYPE_COUNT] = { 0 };

    for (size_t i = 0; i < hone_model_dir_len(dir); i++)
        n[hone_model_dir_at(dir, i)->dtype] += hone_model_dir_at(dir, i)->numel;
    return n[HONE_DTYPE_BF16] > n[HONE_DTYPE_F32] + n[HONE_DTYPE_F16] + n[HONE_DTYPE_F64] ? HONE_DTYPE_BF16 : HONE_DTYPE_F32;
}

/* One id or a list of them. */
static hone_status append_ids(hone_vec_i32 *out, const json_t *v)
{
    size_t  i;
    json_t *item;

    if (json_is_integer(v))
        return HONE_VEC_PUSH(out, (int32_t)json_integer_value(v));
    json_array_foreach(v, i, item)
        if (json_is_integer(item))
            HONE_TRY(HONE_VEC_PUSH(out, (int32_t)json_integer_value(item)));
    return HONE_OK;
}

hone_status hone_model_dir_eos_ids(hone_vec_i32 *out, const hone_model_dir *dir)
{
    json_t       *generation = NULL;
    const json_t *eos;
    hone_status   st = HONE_OK;

    HONE_GO(hone_json_read_if_there(&generation, hone_model_dir_path(dir), "generation_config.json"));
    eos = json_object_get(generation, "eos_token_id");
    HONE_GO(append_ids(out, eos && !json_is_null(eos) ? eos : json_object_get(hone_model_dir_config(dir), "eos_token_id")));
out:
    json_decref(generation);
    return st;
}

/* A class that puts another head on the trunk is another computation, whatever model_type says. */
static void check_architecture(hone_config *c)
{
    const json_t *list = json_object_get(c->root, "architectures");
    const char   *name = json_string_value(json_array_get(list, 0));

    if (name && !hone_ends_with(name, "ForCausalLM") && !hone_ends_with(name, "LMHeadModel") && !hone_ends_with(name, "Model"))
        hone_config_refuse(c, "architecture \"%s\" is not implemented; hone trains causal language models", name);
}

static hone_status build(hone_loaded *l, hone_ctx *ctx, const hone_family *family, const hone_load_options *o)
{
    hone_model  *m = l->model;
    hone_builder b = { 0 };
    hone_config  c;
    hone_status  st, end;

    m->family = family->model_type;
    HONE_TRY(hone_params_create(&m->params, ctx, o->compute, o->mode));
    HONE_TRY(hone_module_create(&m->root, NULL, "", "model"));
    b.params = m->params;
    b.at = m->root;
    st = hone_config_begin(&c, hone_model_dir_config(l->dir), family->model_type);
    check_architecture(&c);
    if (st == HONE_OK && c.status == HONE_OK)
        st = family->build(m, &b, &c, o->dropout);
    if (c.status == HONE_OK)
        c.status = st;
    end = hone_config_end(&c);
    return end == HONE_OK ? HONE_OK : hone_status_context(end, "in %s", hone_model_dir_path(l->dir));
}

/* The parameter a tensor's name means: checkpoints of a base model leave its prefix out, and some tools add one. */
static hone_param *find_param(const hone_loaded *l, const hone_family *family, const char *name)
{
    hone_param *p = hone_params_find(l->model->params, name);
    char       *longer;

    if (!p && hone_starts_with(name, family->base_prefix))
        p = hone_params_find(l->model->params, name + strlen(family->base_prefix));
    if (!p && (longer = hone_asprintf("%s%s", family->base_prefix, name))) {
        p = hone_params_find(l->model->params, longer);
        hone_free(longer);
    }
    if (!p && l->model->tied && strcmp(name, "lm_head.weight") == 0)
        p = l->model->head;
    return p;
}

static bool unread_buffer(const hone_family *family, const char *name)
{
    for (size_t i = 0; family->buffers[i]; i++)
        if (hone_ends_with(name, family->buffers[i]))
            return true;
    return false;
}

static void shape_text(char *buf, size_t cap, const int64_t *dims, int n)
{
    size_t len = 0;

    buf[0] = '\0';
    for (int i = 0; i < n && len < cap; i++)
        len += (size_t)snprintf(buf + len, cap - len, "%s%lld", i ? ", " : "", (long long)dims[i]);
}

static hone_status check_shape(const hone_loaded *l, const hone_param *p, const hone_safetensor *t)
{
    char want[128], have[128];
    bool same = p->ndim == t->rank;

    for (int i = 0; i < p->ndim && same; i++)
        same = p->dims[i] == t->shape[i];
    if (same)
        return HONE_OK;
    shape_text(want, sizeof want, p->dims, p->ndim);
    shape_text(have, sizeof have, t->shape, t->rank);
    return HONE_FAIL(HONE_E_SHAPE, "%s: tensor \"%s\" has shape [%s], but config.json asks for [%s]; the two files do not belong "
                     "together", hone_model_dir_file_of(l->dir, t), t->name, have, want);
}

/* The second tensor of a tied pair must hold the same bytes as the first. */
static hone_status check_tie(const hone_loaded *l, const hone_safetensor *t, const hone_safetensor *first)
{
    HONE_CHECK(t->dtype == first->dtype && t->bytes == first->bytes && memcmp(t->data, first->data, t->bytes) == 0,
               HONE_E_FORMAT, "%s: config.json ties \"%s\" to \"%s\", but the two tensors differ; set tie_word_embeddings to "
               "false to train both, or remove one of them", hone_model_dir_file_of(l->dir, t), t->name, first->name);
    return HONE_OK;
}

static hone_status bind_tensors(hone_loaded *l, const hone_family *family)
{
    size_t       n = hone_model_dir_len(l->dir);
    hone_params *params = l->model->params;

    l->param_of = hone_calloc(n, sizeof *l->param_of);
    if (!l->param_of)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const hone_safetensor *t = hone_model_dir_at(l->dir, i);
        hone_param            *p = find_param(l, family, t->name);

        if (!p && unread_buffer(family, t->name))
            continue;
        HONE_CHECK(p, HONE_E_UNSUPPORTED, "%s: tensor \"%s\" is no parameter of %s as config.json describes it",
                   hone_model_dir_file_of(l->dir, t), t->name, family->model_type);
        HONE_TRY(check_shape(l, p, t));
        for (size_t k = 0; k < i; k++)
            if (l->param_of[k] == p)
                HONE_TRY(check_tie(l, t, hone_model_dir_at(l->dir, k)));
        l->param_of[i] = p;
    }
    for (size_t k = 0; k < params->all.len; k++) {
        bool found = false;

        for (size_t i = 0; i < n && !found; i++)
            found = l->param_of[i] == params->all.data[k];
        HONE_CHECK(found, HONE_E_FORMAT, "%s: tensor \"%s\" is missing; config.json asks for it", hone_model_dir_path(l->dir),
                   params->all.data[k]->name);
    }
    return HONE_OK;
}

static hone_status load_weights(hone_loaded *l)
{
    hone_status st = HONE_OK;

    for (size_t i = 0; i < hone_model_dir_len(l->dir); i++) {
        const hone_safetensor *t = hone_model_dir_at(l->dir, i);

        if (l->param_of[i])
            st = hone_param_load(l->model->params, l->param_of[i], t->data, t->dtype);
        if (st != HONE_OK)
            return hone_status_context(st, "in %s", hone_model_dir_file_of(l->dir, t));
    }
    return HONE_OK;
}

hone_status hone_model_load(hone_loaded **out, hone_ctx *ctx, const char *path, const hone_load_options *o)
{
    hone_status        st = HONE_OK;
    hone_loaded       *l = hone_calloc(1, sizeof *l);
    const hone_family *family;
    const char        *type;

    *out = NULL;
    if (!l)
        return HONE_E_NOMEM;
    HONE_GO(hone_model_dir_open(&l->dir, path));
    type = json_string_value(json_object_get(hone_model_dir_config(l->dir), "model_type"));
    HONE_GO_CHECK(type, HONE_E_FORMAT, "%s/config.json has no \"model_type\"", path);
    family = hone_family_find(type);
    HONE_GO(family ? HONE_OK : HONE_E_UNSUPPORTED);
    l->model = hone_calloc(1, sizeof *l->model);
    HONE_GO(l->model ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(build(l, ctx, family, o));
    HONE_GO(bind_tensors(l, family));
    HONE_GO(hone_params_allocate(l->model->params));
    HONE_GO(load_weights(l));
out:
    if (st != HONE_OK)
        hone_loaded_destroy(&l);
    *out = l;
    return st;
}
