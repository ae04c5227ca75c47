#include "model/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
    hone_map_destroy(&l->first);
    hone_free(l->bound);
    hone_free(l);
    *loaded = NULL;
}

int64_t hone_loaded_tensor(const hone_loaded *l, const hone_param *param, int64_t at)
{
    const hone_binding b = { (hone_param *)param, at };

    return hone_map_get(l->first, &b, sizeof b, -1);
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

static void replace_dropouts(hone_decoder_config *d, double p)
{
    float *all[] = { &d->attention.dropout, &d->embed_dropout, &d->attention_out_dropout, &d->mlp_out_dropout };

    for (size_t i = 0; i < HONE_COUNTOF(all); i++)
        if (*all[i] >= 0)
            *all[i] = (float)p;
}

static hone_status build(hone_loaded *l, hone_ctx *ctx, const hone_family *family, const hone_load_options *o)
{
    hone_model         *m = l->model;
    hone_builder        b = { 0 };
    hone_decoder_config d = { 0 };
    hone_config         c;
    hone_status         st;

    m->family = family->model_type;
    HONE_TRY(hone_params_create(&m->params, ctx, o->compute, o->mode));
    HONE_TRY(hone_module_create(&m->root, NULL, "", "model"));
    b.params = m->params;
    b.at = m->root;
    if (hone_config_begin(&c, hone_model_dir_config(l->dir), family->model_type) == HONE_OK) {
        check_architecture(&c);
        family->read(&c, &d);
    }
    st = hone_config_end(&c);
    if (st == HONE_OK && o->dropout >= 0)
        replace_dropouts(&d, o->dropout);
    if (st == HONE_OK)
        st = hone_decoder_build(m, &b, &d);
    hone_free(d.layer);
    return st == HONE_OK ? HONE_OK : hone_status_context(st, "in %s", hone_model_dir_path(l->dir));
}

/* The parameter that stacks the tensors of a name like this one, with "*" in place of one of its numbers. */
static hone_binding find_stack(const hone_params *params, const char *name)
{
    for (const char *part = name; (part = strchr(part, '.')); ) {
        char       *end, *pattern;
        long        i = strtol(++part, &end, 10);
        hone_param *p;

        if (end == part || *end != '.' || *part < '0' || *part > '9' || (*part == '0' && end > part + 1))
            continue;       /* a number has one spelling: "01" is not 1 */
        pattern = hone_asprintf("%.*s*%s", (int)(part - name), name, end);
        p = pattern ? hone_params_find(params, pattern) : NULL;
        hone_free(pattern);
        if (p && i < p->dims[0])
            return (hone_binding){ p, i * (hone_param_numel(p) / p->dims[0]) };
    }
    return (hone_binding){ NULL, 0 };
}

static hone_binding find_named(const hone_params *params, const char *name)
{
    hone_param *p = hone_params_find(params, name);

    return p && !strchr(name, '*') ? (hone_binding){ p, 0 } : find_stack(params, name);
}

/* lm_head.weight, or what the family calls it. */
static bool names_head(const hone_model *m, const char *name)
{
    size_t n = strlen(m->head_name);

    return strcmp(name, "lm_head.weight") == 0 || (strncmp(name, m->head_name, n) == 0 && strcmp(name + n, ".weight") == 0);
}

/* What a tensor's name means: checkpoints of a base model leave its prefix out, and some tools add one. */
static hone_binding find_param(const hone_loaded *l, const char *name)
{
    const hone_model *m = l->model;
    size_t            prefix = strlen(m->base_prefix);
    hone_binding      found = find_named(m->params, name);
    char             *longer;

    if (!found.param && strncmp(name, m->base_prefix, prefix) == 0 && name[prefix] == '.')
        found = find_named(m->params, name + prefix + 1);
    if (!found.param && (longer = hone_asprintf("%s.%s", m->base_prefix, name))) {
        found = find_named(m->params, longer);
        hone_free(longer);
    }
    if (!found.param && names_head(m, name))
        found.param = m->head;
    return found;
}

static hone_status check_constant(const hone_loaded *l, const hone_safetensor *t, double want)
{
    double have = NAN;

    HONE_CHECK(t->numel == 1 && hone_dtype_convert(&have, HONE_DTYPE_F64, t->data, t->dtype, 1) && fabs(have / want - 1) < 0.02,
               HONE_E_UNSUPPORTED, "%s: tensor \"%s\" is implemented for the one value %g", hone_model_dir_file_of(l->dir, t), t->name,
               want);
    return HONE_OK;
}

/* Whether a tensor that is no parameter may be in a file of this family. */
static hone_status check_buffer(const hone_loaded *l, const hone_family *family, const hone_safetensor *t)
{
    if (hone_ends_with(t->name, ".rotary_emb.inv_freq"))
        return HONE_OK;
    for (const hone_buffer *b = family->buffers; b && b->ending; b++)
        if (hone_ends_with(t->name, b->ending))
            return b->constant ? check_constant(l, t, b->value) : HONE_OK;
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: tensor \"%s\" is no parameter of %s as config.json describes it",
                     hone_model_dir_file_of(l->dir, t), t->name, family->model_type);
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
    int            stacked = strchr(p->name, '*') != NULL;
    const int64_t *dims = p->dims + stacked;
    int            n = p->ndim - stacked;
    char           want[128], have[128];
    bool           same = n == t->rank;

    for (int i = 0; i < n && same; i++)
        same = dims[i] == t->shape[i];
    if (same)
        return HONE_OK;
    shape_text(want, sizeof want, dims, n);
    shape_text(have, sizeof have, t->shape, t->rank);
    return HONE_FAIL(HONE_E_SHAPE, "%s: tensor \"%s\" has shape [%s], but config.json asks for [%s]; the two files do not belong "
                     "together", hone_model_dir_file_of(l->dir, t), t->name, have, want);
}

/* A parameter may be there twice, as both of a tied pair or under two spellings: with the same bytes. */
static hone_status check_twice(const hone_loaded *l, const hone_safetensor *t, const hone_safetensor *first)
{
    const char *file = hone_model_dir_file_of(l->dir, t);

    if (t->dtype == first->dtype && t->bytes == first->bytes && memcmp(t->data, first->data, t->bytes) == 0)
        return HONE_OK;
    if (l->model->tied && (names_head(l->model, t->name) != names_head(l->model, first->name)))
        return HONE_FAIL(HONE_E_FORMAT, "%s: config.json ties \"%s\" to \"%s\", but the two tensors differ; set "
                         "tie_word_embeddings to false to train both, or remove one of them", file, t->name, first->name);
    return HONE_FAIL(HONE_E_FORMAT, "%s: \"%s\" and \"%s\" name one parameter, but the two tensors differ; remove one of them",
                     file, t->name, first->name);
}

static hone_status check_dtype(const hone_loaded *l, const hone_safetensor *t)
{
    double unused;

    HONE_CHECK(hone_dtype_convert(&unused, HONE_DTYPE_F64, t->data, t->dtype, 0), HONE_E_UNSUPPORTED, "%s: tensor \"%s\" has dtype %s, "
               "which is not a floating type that hone reads; convert the model to BF16 or F32 first",
               hone_model_dir_file_of(l->dir, t), t->name, hone_dtype_file_name(t->dtype));
    return HONE_OK;
}

/* Every parameter is there, all parts of a stack too. */
static hone_status check_missing(const hone_loaded *l)
{
    const hone_params *params = l->model->params;

    for (size_t k = 0; k < params->all.len; k++) {
        const hone_param *p = params->all.data[k];
        int64_t           parts = strchr(p->name, '*') ? p->dims[0] : 1, step = hone_param_numel(p) / parts;

        for (int64_t part = 0; part < parts; part++)
            HONE_CHECK(hone_loaded_tensor(l, p, part * step) >= 0, HONE_E_FORMAT, "%s: tensor \"%s\" is missing; config.json asks "
                       "for it%s", hone_model_dir_path(l->dir), p->name, strchr(p->name, '*') ? " for every *" : "");
    }
    return HONE_OK;
}

static hone_status bind_tensors(hone_loaded *l, const hone_family *family)
{
    size_t  n = hone_model_dir_len(l->dir);
    int64_t first;

    HONE_TRY(hone_map_create(&l->first));
    l->bound = hone_calloc(n, sizeof *l->bound);
    if (!l->bound)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const hone_safetensor *t = hone_model_dir_at(l->dir, i);
        hone_binding           b = find_param(l, t->name);

        if (!b.param) {
            HONE_TRY(check_buffer(l, family, t));
            continue;
        }
        HONE_TRY(check_shape(l, b.param, t));
        HONE_TRY(check_dtype(l, t));
        first = hone_loaded_tensor(l, b.param, b.at);
        if (first >= 0)
            HONE_TRY(check_twice(l, t, hone_model_dir_at(l->dir, (size_t)first)));
        else
            HONE_TRY(hone_map_put(l->first, &b, sizeof b, (int64_t)i));
        l->bound[i] = b;
    }
    return check_missing(l);
}

static hone_status load_weights(hone_loaded *l)
{
    hone_status st = HONE_OK;

    for (size_t i = 0; i < hone_model_dir_len(l->dir); i++) {
        const hone_safetensor *t = hone_model_dir_at(l->dir, i);

        if (l->bound[i].param)
            st = hone_param_load_part(l->model->params, l->bound[i].param, l->bound[i].at, t->numel, t->data, t->dtype);
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
    HONE_GO(family ? HONE_OK : hone_status_context(HONE_E_UNSUPPORTED, "in %s", path));
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
