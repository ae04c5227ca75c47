#include "io/export.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "io/json_edit.h"

#define INDEX  "model.safetensors.index.json"
#define CONFIG "config.json"

typedef struct export {
    const hone_model_dir      *source;
    const hone_export_options *options;
    char                      *target;      /* without a trailing slash; links resolved */
    char                      *stage;       /* where files are written first: in the target, or beside it */
    bool                       inside;
    HONE_VEC(char *)           files;       /* names written, in order */
} export;

hone_status hone_export_dtype_parse(hone_export_dtype *out, const char *name)
{
    static const char *const names[] = { "as-input", "f32", "bf16" };

    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (hone_export_dtype)i;
            return HONE_OK;
        }
    return HONE_FAIL(HONE_E_USAGE, "unknown dtype '%s'; use as-input, f32 or bf16", name);
}

static hone_dtype target_dtype(const export *e, hone_dtype given)
{
    if (e->options->dtype == HONE_EXPORT_AS_INPUT || !hone_dtype_is_floating(given))
        return given;
    return e->options->dtype == HONE_EXPORT_F32 ? HONE_DTYPE_F32 : HONE_DTYPE_BF16;
}

/* Note and tell that a file is written. */
static hone_status note(export *e, const char *name, int64_t size, const hone_hash *hash)
{
    char *copy = hone_strdup(name);

    if (!copy || HONE_VEC_PUSH(&e->files, copy) != HONE_OK) {
        hone_free(copy);
        return HONE_E_NOMEM;
    }
    if (e->options->written)
        e->options->written(e->options->written_arg, name, size, hash);
    return HONE_OK;
}

/* Make the folder that `path` (below the stage or target) lies in. */
static hone_status make_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    char       *parent = slash && slash > path ? hone_strndup(path, (size_t)(slash - path)) : hone_strdup(".");
    hone_status st = parent ? hone_dir_make(parent) : HONE_E_NOMEM;

    hone_free(parent);
    return st;
}

static hone_status put_bytes(export *e, const char *name, const void *data, size_t size)
{
    hone_hash   hash = hone_hash_bytes(data, size);
    char       *path = hone_path_join(e->stage, name);
    hone_status st = HONE_OK;

    if (!path)
        return HONE_E_NOMEM;
    HONE_GO(make_parent(path));
    HONE_GO(hone_file_write_all(path, data, size));
    HONE_GO(note(e, name, (int64_t)size, &hash));
out:
    hone_free(path);
    return st;
}

static hone_status put_copy(export *e, const char *name)
{
    char       *from = hone_path_join(hone_model_dir_path(e->source), name);
    hone_mapped map = { NULL, 0, NULL };
    hone_status st = HONE_OK;

    if (!from)
        return HONE_E_NOMEM;
    HONE_GO(hone_file_map(&map, from));
    HONE_GO(put_bytes(e, name, map.data, map.size));
out:
    hone_file_unmap(&map);
    hone_free(from);
    return st;
}

static hone_status put_tensor(export *e, hone_safetensors_writer *w, const hone_safetensor *t)
{
    const hone_tensor_provider *p = e->options->provider;
    const void *data = NULL;
    hone_dtype  dtype = t->dtype;

    HONE_CHECK(!e->options->stop || !*e->options->stop, HONE_E_INTERRUPT, "stopped by signal %d while %s was written",
               (int)*e->options->stop, t->name);
    if (p)
        HONE_TRY(p->get(p->arg, t, &data, &dtype));
    if (data)
        HONE_TRY(hone_safetensors_writer_put(w, data, dtype, t->numel, true));
    else
        HONE_TRY(hone_safetensors_writer_put(w, t->data, t->dtype, t->numel, false));
    return HONE_OK;
}

/* A writer with the source's header, or a new one if dtypes change; *specs keeps what the writer borrows. */
static hone_status start_shard(hone_safetensors_writer **w, hone_safetensor **specs, export *e, const hone_safetensors *from,
                               const char *path)
{
    size_t n = hone_safetensors_len(from);
    bool   same = true;

    *specs = hone_calloc(n, sizeof **specs);
    if (!*specs)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        (*specs)[i] = *hone_safetensors_at(from, i);
        (*specs)[i].dtype = target_dtype(e, (*specs)[i].dtype);
        same = same && (*specs)[i].dtype == hone_safetensors_at(from, i)->dtype;
    }
    if (same)
        HONE_TRY(hone_safetensors_writer_create_like(w, path, from));
    else
        HONE_TRY(hone_safetensors_writer_create(w, path, *specs, n, hone_safetensors_metadata(from)));
    return HONE_OK;
}

static hone_status put_shard(export *e, size_t k)
{
    const hone_safetensors  *from = hone_model_dir_shard(e->source, k);
    const char              *name = hone_model_dir_shard_name(e->source, k);
    hone_safetensors_writer *w = NULL;
    hone_safetensor         *specs = NULL;
    char                    *path = hone_path_join(e->stage, name);
    hone_status              st = HONE_OK;
    hone_hash                hash;
    int64_t                  size;

    if (!path)
        return HONE_E_NOMEM;
    HONE_GO(start_shard(&w, &specs, e, from, path));
    for (size_t i = 0; i < hone_safetensors_len(from); i++)
        HONE_GO(put_tensor(e, w, hone_safetensors_at(from, i)));
    HONE_GO(hone_safetensors_writer_commit(&w, &hash, &size));
    HONE_GO(note(e, name, size, &hash));
out:
    hone_safetensors_writer_abandon(&w);
    hone_free(specs);
    hone_free(path);
    return st;
}

/* Whether a floating tensor changes its dtype; *bytes is the size of all tensors as written. */
static bool dtypes_change(const export *e, int64_t *bytes)
{
    bool change = false;

    *bytes = 0;
    for (size_t i = 0; i < hone_model_dir_len(e->source); i++) {
        const hone_safetensor *t = hone_model_dir_at(e->source, i);
        hone_dtype             to = target_dtype(e, t->dtype);

        change = change || to != t->dtype;
        *bytes += t->numel * (int64_t)hone_dtype_bytes(to);
    }
    return change;
}

/* A text file of the source, its text edited. */
static hone_status put_edited(export *e, const char *name, int64_t total_size)
{
    char       *path = hone_path_join(hone_model_dir_path(e->source), name), *text = NULL;
    hone_str    edited = HONE_STR_INIT;
    hone_status st = HONE_OK;
    size_t      n;

    if (!path)
        return HONE_E_NOMEM;
    HONE_GO(hone_file_read_all(&text, &n, path));
    if (strcmp(name, INDEX) == 0)
        hone_json_edit_total_size(&edited, text, total_size);
    else
        (void)hone_json_edit_dtype(&edited, text, e->options->dtype == HONE_EXPORT_F32 ? HONE_DTYPE_F32 : HONE_DTYPE_BF16);
    HONE_GO(hone_str_ok(&edited));
    HONE_GO(put_bytes(e, name, edited.data, edited.len));
out:
    hone_str_deinit(&edited);
    hone_free(text);
    hone_free(path);
    return st;
}

static bool is_extra(const export *e, const char *name)
{
    for (size_t i = 0; i < e->options->n_extra; i++)
        if (strcmp(e->options->extra[i].name, name) == 0)
            return true;
    return false;
}

static hone_status put_all(export *e)
{
    const hone_model_dir *s = e->source;
    int64_t bytes;
    bool    change = dtypes_change(e, &bytes);

    for (size_t k = 0; k < hone_model_dir_shards(s); k++)
        HONE_TRY(put_shard(e, k));
    if (hone_model_dir_indexed(s) && change)
        HONE_TRY(put_edited(e, INDEX, bytes));
    else if (hone_model_dir_indexed(s))
        HONE_TRY(put_copy(e, INDEX));
    for (size_t i = 0; i < hone_model_dir_companions(s); i++)
        if (!is_extra(e, hone_model_dir_companion(s, i)))
            HONE_TRY(put_copy(e, hone_model_dir_companion(s, i)));
    if (hone_dir_has(hone_model_dir_path(s), "README.md") && !e->options->provider && !is_extra(e, "README.md"))
        HONE_TRY(put_copy(e, "README.md"));
    for (size_t i = 0; i < e->options->n_extra; i++)
        HONE_TRY(put_bytes(e, e->options->extra[i].name, e->options->extra[i].data, e->options->extra[i].size));
    /* Last: without it the folder is no model. */
    if (is_extra(e, CONFIG))
        return HONE_OK;
    if (e->options->dtype == HONE_EXPORT_AS_INPUT)
        HONE_TRY(put_copy(e, CONFIG));
    else
        HONE_TRY(put_edited(e, CONFIG, 0));
    return HONE_OK;
}

/* Refuse a target that must not be touched, and choose how it gets its files. */
static hone_status check_target(export *e)
{
    const char *stale = hone_model_dir_indexed(e->source) ? "model.safetensors" : INDEX;
    char      **names;
    size_t      n;

    if (!hone_path_exists(e->target))
        return HONE_OK;
    HONE_CHECK(hone_path_is_dir(e->target), HONE_E_EXISTS, "%s exists and is not a folder", e->target);
    HONE_TRY(hone_dir_list(&names, &n, e->target));
    hone_dir_list_free(names, n);
    /* An empty folder is filled, not replaced: it can be a mount point. */
    e->inside = n == 0 || e->options->mode == HONE_EXPORT_INTO;
    if (e->inside) {
        HONE_CHECK(!hone_dir_has(e->target, stale), HONE_E_EXISTS, "%s holds %s of another model, which would stay and be read with the "
                   "new files; remove it first", e->target, stale);
        return HONE_OK;
    }
    HONE_CHECK(e->options->mode == HONE_EXPORT_REPLACE, HONE_E_EXISTS, "%s exists and is not empty; choose another folder, or "
               "remove it", e->target);
    HONE_CHECK(hone_dir_has(e->target, CONFIG), HONE_E_EXISTS, "%s is not empty and not a model directory, so it is not replaced; remove "
               "it yourself if you do not need it", e->target);
    return HONE_OK;
}

/* Choose where to write; links in an existing target are followed, so that the folder behind them is replaced. */
static hone_status prepare(export *e, const char *out)
{
    char *real = realpath(out, NULL);

    e->target = hone_strdup(real ? real : out);
    free(real);
    if (!e->target)
        return HONE_E_NOMEM;
    HONE_CHECK(*out, HONE_E_USAGE, "the name of the output folder is empty");
    for (size_t n = strlen(e->target); n > 1 && e->target[n - 1] == '/'; n--)
        e->target[n - 1] = '\0';
    HONE_TRY(check_target(e));
    e->stage = hone_asprintf(e->inside ? "%s/.export-%ld.tmp" : "%s.tmp-%ld", e->target, (long)getpid());
    if (!e->stage)
        return HONE_E_NOMEM;
    if (hone_path_exists(e->stage))     /* of a dead process with our number */
        HONE_TRY(hone_dir_remove(e->stage));
    HONE_TRY(hone_dir_make(e->stage));
    return HONE_OK;
}

/* The whole stage becomes the target, which does not exist or is replaced. */
static hone_status publish_folder(export *e)
{
    char       *old;
    hone_status st;

    if (!hone_path_exists(e->target))
        return hone_path_rename(e->stage, e->target);
    old = hone_asprintf("%s.old-%ld", e->target, (long)getpid());
    if (!old)
        return HONE_E_NOMEM;
    HONE_GO(hone_path_rename(e->target, old));
    st = hone_path_rename(e->stage, e->target);
    if (st != HONE_OK) {
        if (rename(old, e->target) != 0)
            (void)hone_status_context(st, "the former content of %s is in %s", e->target, old);
        goto out;
    }
    HONE_GO(hone_dir_remove(old));
out:
    hone_free(old);
    return st;
}

/* Each file of the stage moves into the target, config.json last. */
static hone_status publish_files(export *e)
{
    hone_status st = HONE_OK;

    for (size_t i = 0; i < e->files.len && st == HONE_OK; i++) {
        char *from = hone_path_join(e->stage, e->files.data[i]), *to = hone_path_join(e->target, e->files.data[i]);

        st = from && to ? make_parent(to) : HONE_E_NOMEM;
        if (st == HONE_OK)
            st = hone_path_rename(from, to);
        hone_free(from);
        hone_free(to);
    }
    if (st == HONE_OK)
        st = hone_dir_remove(e->stage);
    return st;
}

/* Remove the stage without losing the error that led here. */
static hone_status clean_up(const export *e, hone_status st)
{
    char *why = hone_strdup(hone_status_text());

    if (hone_dir_remove(e->stage) != HONE_OK)
        st = HONE_FAIL(st, "%s\n  and %s could not be removed", why ? why : "", e->stage);
    hone_free(why);
    return st;
}

hone_status hone_model_dir_export(const hone_model_dir *source, const char *out, const hone_export_options *options)
{
    static const hone_export_options copy = { 0 };
    export      e = { .source = source, .options = options ? options : &copy };
    hone_status st;

    HONE_GO(prepare(&e, out));
    st = put_all(&e);
    if (st != HONE_OK)
        (void)hone_status_context(st, "so %s stays as it was", e.target);
    else
        st = e.inside ? publish_files(&e) : publish_folder(&e);
    if (st != HONE_OK)
        st = clean_up(&e, st);
out:
    for (size_t i = 0; i < e.files.len; i++)
        hone_free(e.files.data[i]);
    HONE_VEC_DEINIT(&e.files);
    hone_free(e.stage);
    hone_free(e.target);
    return st;
}
