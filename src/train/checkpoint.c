#include "train/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "io/export.h"
#include "train/template_files.h"

static const char prefix[] = "checkpoint-";

/* The step of a folder called checkpoint-<step>, or -1. */
static int64_t step_of(const char *name)
{
    char     *end;
    long long n;

    if (!hone_starts_with(name, prefix) || name[sizeof prefix - 1] < '0' || name[sizeof prefix - 1] > '9')
        return -1;
    n = strtoll(name + sizeof prefix - 1, &end, 10);
    return *end ? -1 : n;
}

static bool is_complete(const char *dir)
{
    char *path = hone_path_join(dir, "state/run.json");
    bool  there = path && hone_path_exists(path);

    hone_free(path);
    return there;
}

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

typedef struct provider { const hone_run *run; size_t next; } provider;

/* The masters, in the order of the source's tensors; NULL for what no parameter is. */
static hone_status provide(void *arg, const hone_safetensor *t, const void **data, hone_dtype *dtype)
{
    provider           *p = arg;
    const hone_loaded  *l = p->run->loaded;
    const hone_binding *b = &l->bound[p->next];

    HONE_ASSERT(hone_model_dir_at(l->dir, p->next) == t);
    p->next++;
    *data = NULL;
    if (!b->param)
        return HONE_OK;
    *data = hone_param_master(l->model->params, b->param, dtype);
    *data = (const char *)*data + (size_t)b->at * hone_dtype_bytes(*dtype);
    return HONE_OK;
}

typedef struct file_list { hone_str json; } file_list;

static void note_file(void *arg, const char *name, int64_t size, const hone_hash *hash)
{
    file_list *f = arg;

    hone_str_puts(&f->json, f->json.len ? ",\n    " : "\n    ");
    hone_json_quote(&f->json, name, strlen(name));
    hone_str_printf(&f->json, ": {\"bytes\": %lld, \"xxh3_128\": \"%s\"}", (long long)size, hash->hex);
}

static hone_status export_model(hone_run *run, const char *out, hone_export_mode mode, file_list *files)
{
    provider             p = { run, 0 };
    hone_tensor_provider get = { provide, &p };
    hone_export_options  o = { .dtype = (hone_export_dtype)run->options->export_dtype, .mode = mode, .provider = &get,
                               .written = files ? note_file : NULL, .written_arg = files };
    hone_str             stops = HONE_STR_INIT, chat = HONE_STR_INIT;
    hone_export_file     extra[2];
    hone_status          st = HONE_OK;

    HONE_GO(hone_run_generation_config(run, &stops));
    HONE_GO(hone_run_chat_template(run, &chat));
    o.extra = extra;
    if (stops.len)
        extra[o.n_extra++] = (hone_export_file){ "generation_config.json", hone_str_c(&stops), stops.len };
    if (chat.len)
        extra[o.n_extra++] = (hone_export_file){ "chat_template.jinja", hone_str_c(&chat), chat.len };
    HONE_GO(hone_model_dir_export(run->loaded->dir, out, &o));
out:
    hone_str_deinit(&stops);
    hone_str_deinit(&chat);
    return st;
}

hone_status hone_checkpoint_export(hone_run *run, const char *out)
{
    return export_model(run, out, HONE_EXPORT_INTO, NULL);
}

/* Tensors of the optimizer file: three per parameter, in declaration order. */
static hone_status optimizer_tensors(const hone_params *params, hone_safetensor **list, size_t *n)
{
    static const char *const kinds[] = { "master", "moment1", "moment2" };

    *n = 0;
    *list = hone_calloc(3 * params->all.len, sizeof **list);
    if (!*list)
        return HONE_E_NOMEM;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < params->all.len; i++) {
            const hone_param *p = params->all.data[i];
            hone_safetensor  *t = &(*list)[*n];

            *t = (hone_safetensor){ .name = hone_asprintf("%s.%s", kinds[k], p->name), .dtype = HONE_DTYPE_F32, .rank = p->ndim,
                                    .numel = hone_param_numel(p) };
            if (!t->name)
                return HONE_E_NOMEM;
            memcpy(t->shape, p->dims, sizeof p->dims);
            (*n)++;
        }
    return HONE_OK;
}

static void free_tensors(hone_safetensor *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hone_free((char *)list[i].name);
    hone_free(list);
}

/* The memory that tensor i of that list describes. */
static float *optimizer_data(const hone_params *params, size_t i)
{
    const hone_param *p = params->all.data[i % params->all.len];
    hone_tensor      *flat[3] = { p->group->master, p->group->moment1, p->group->moment2 };

    return (float *)hone_tensor_data(flat[i / params->all.len]) + p->offset;
}

static hone_status write_optimizer(hone_run *run, const char *dir, file_list *files)
{
    hone_status              st = HONE_OK;
    hone_safetensors_writer *w = NULL;
    hone_safetensor         *list = NULL;
    size_t                   n = 0;
    hone_hash                hash;
    int64_t                  size;
    char                    *path = hone_path_join(dir, "state/optimizer.safetensors");

    HONE_GO(path ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(optimizer_tensors(run->loaded->model->params, &list, &n));
    HONE_GO(hone_safetensors_writer_create(&w, path, list, n, NULL));
    for (size_t i = 0; i < n; i++)
        HONE_GO(hone_safetensors_writer_put(w, optimizer_data(run->loaded->model->params, i), HONE_DTYPE_F32, list[i].numel, true));
    HONE_GO(hone_safetensors_writer_commit(&w, &hash, &size));
    note_file(files, "state/optimizer.safetensors", size, &hash);
out:
    hone_safetensors_writer_abandon(&w);
    free_tensors(list, n);
    hone_free(path);
    return st;
}

/* What the model directory says it computes; its weights do not matter to a run that goes on. */
static hone_status hash_model_config(hone_hash *out, const hone_run *run)
{
    char       *path = hone_path_join(run->model_path, "config.json");
    hone_status st = path ? hone_hash_file(out, path) : HONE_E_NOMEM;

    hone_free(path);
    return st;
}

static void fingerprint_data(const hone_run *run, char hex[33])
{
    if (run->stream)
        hone_stream_fingerprint(run->stream, hex);
    else
        hone_dataset_fingerprint(run->train, hex);
}

/* Written last: with it the checkpoint is complete. */
static hone_status write_manifest(hone_run *run, const char *dir, const file_list *files)
{
    hone_str    s = HONE_STR_INIT;
    hone_hash   config;
    char       *path = hone_path_join(dir, "state/run.json"), data[33];
    hone_status st = HONE_OK;

    HONE_GO(hash_model_config(&config, run));
    fingerprint_data(run, data);
    hone_str_printf(&s, "{\n  \"hone\": \"%s\",\n  \"step\": %lld,\n  \"updates\": %lld,\n  \"total_steps\": %lld,\n  \"data\": \"%s\",\n"
                    "  \"model_config\": \"%s\",\n  \"identity\": ", HONE_VERSION, (long long)run->step, (long long)run->updates,
                    (long long)run->total_steps, data, config.hex);
    hone_json_quote(&s, run->identity, strlen(run->identity));
    hone_str_puts(&s, ",\n  \"position\": ");
    hone_loader_tell(run->loader, &s);
    hone_str_printf(&s, ",\n  \"files\": {%s\n  }\n}\n", hone_str_c(&files->json));
    HONE_GO(path ? hone_str_ok(&s) : HONE_E_NOMEM);
    HONE_GO(hone_file_write_all(path, s.data, s.len));
out:
    hone_str_deinit(&s);
    hone_free(path);
    return st;
}

static hone_status build(hone_run *run, const char *dir, bool with_state)
{
    hone_status st = HONE_OK;
    file_list   files = { HONE_STR_INIT };
    char       *state = hone_path_join(dir, "state");

    HONE_GO(state ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(export_model(run, dir, HONE_EXPORT_FRESH, &files));
    if (!with_state)
        goto out;
    HONE_GO(hone_dir_make(state));
    HONE_GO(write_optimizer(run, dir, &files));
    HONE_GO(hone_str_ok(&files.json));
    HONE_GO(write_manifest(run, dir, &files));
out:
    hone_str_deinit(&files.json);
    hone_free(state);
    return st;
}

/* Remove the oldest checkpoints until `keep` are left. Each goes by being renamed first, so a half-removed one has no name
 * that a run would take for a checkpoint. */
static hone_status prune(hone_run *run, int64_t keep)
{
    const char *out = run->options->output_dir;
    hone_status st = HONE_OK;

    for (;;) {
        int64_t oldest = -1, count = 0;
        char  **names, *path, *gone;
        size_t  n;

        HONE_TRY(hone_dir_list(&names, &n, out));
        for (size_t i = 0; i < n; i++) {
            int64_t s = step_of(names[i]);

            if (s < 0)
                continue;
            count++;
            if (oldest < 0 || s < oldest)
                oldest = s;
        }
        hone_dir_list_free(names, n);
        if (count <= keep || oldest == run->step)
            return HONE_OK;
        path = hone_asprintf("%s/%s%lld", out, prefix, (long long)oldest);
        gone = hone_asprintf("%s/.removed-%s%lld", out, prefix, (long long)oldest);
        st = path && gone ? hone_path_rename(path, gone) : HONE_E_NOMEM;
        if (st == HONE_OK)
            st = hone_dir_remove(gone);
        hone_free(path);
        hone_free(gone);
        if (st != HONE_OK)
            return st;
    }
}

hone_status hone_checkpoint_save(hone_run *run, bool state)
{
    const char *out = run->options->output_dir;
    hone_status st = HONE_OK;
    char       *final = hone_asprintf("%s/%s%lld", out, prefix, (long long)run->step);
    char       *temp = hone_asprintf("%s/.partial-%s%lld", out, prefix, (long long)run->step);

    HONE_GO(final && temp ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(hone_dir_remove(temp));
    HONE_GO(build(run, temp, state));
    HONE_GO(hone_dir_remove(final));        /* one of this step, left by an earlier run that is being repeated */
    HONE_GO(hone_path_rename(temp, final));
    if (run->options->save_total_limit != HONE_INT_NULL)
        HONE_GO(prune(run, run->options->save_total_limit));
out:
    if (st != HONE_OK) {
        (void)hone_status_context(st, "while saving checkpoint %lld; the checkpoints before it are unharmed", (long long)run->step);
        if (temp)
            hone_dir_discard(temp);
    }
    hone_free(final);
    hone_free(temp);
    return st;
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

static hone_status check_files(const char *path, const json_t *manifest)
{
    const char *name;
    json_t     *entry;

    json_object_foreach(json_object_get(manifest, "files"), name, entry) {
        const char *want = json_string_value(json_object_get(entry, "xxh3_128"));
        char       *file = hone_path_join(path, name);
        hone_hash   hash;
        hone_status st = file ? hone_hash_file(&hash, file) : HONE_E_NOMEM;

        if (st == HONE_OK && (!want || strcmp(hash.hex, want) != 0))
            st = HONE_FAIL(HONE_E_FORMAT, "%s was changed after the checkpoint was written (its hash differs from state/run.json); "
                           "resume from another checkpoint", file);
        hone_free(file);
        if (st != HONE_OK)
            return st;
    }
    return HONE_OK;
}

/* Name the first line in which two identities differ. */
static hone_status different_run(const char *path, const char *mine, const char *theirs)
{
    size_t line = hone_first_different_line(mine, theirs);
    int    a = (int)strcspn(mine + line, "\n");
    int    b = (int)strcspn(theirs + line, "\n");

    return HONE_FAIL(HONE_E_EXISTS, "%s belongs to another run: here \"%.*s\", there \"%.*s\"; give another output_dir, or "
                     "overwrite_output_dir: true to start anew", path, a, mine + line, b, theirs + line);
}

static hone_status read_manifest(json_t **out, const char *path)
{
    char       *file = hone_path_join(path, "state/run.json");
    hone_status st = file ? HONE_OK : HONE_E_NOMEM;

    *out = NULL;
    if (st == HONE_OK && !hone_path_exists(file))
        st = HONE_FAIL(HONE_E_FORMAT, "%s has no state/run.json: it is no checkpoint a run can go on from (save_only_model leaves "
                       "the state out)", path);
    if (st == HONE_OK)
        st = hone_json_read(out, file);
    hone_free(file);
    return st;
}

static bool int_between(const json_t *manifest, const char *key, int64_t lo, int64_t hi)
{
    const json_t *v = json_object_get(manifest, key);

    return json_is_integer(v) && json_integer_value(v) >= lo && json_integer_value(v) <= hi;
}

static hone_status check_identity(const hone_run *run, const char *path, const json_t *manifest)
{
    const char *identity = json_string_value(json_object_get(manifest, "identity"));
    const char *data = json_string_value(json_object_get(manifest, "data"));
    const char *model = json_string_value(json_object_get(manifest, "model_config"));
    char        mine[33];
    hone_hash   config;

    HONE_CHECK(identity && data && model && json_is_object(json_object_get(manifest, "files")), HONE_E_FORMAT,
               "%s/state/run.json lacks the fields of a checkpoint; resume from another one", path);
    if (strcmp(identity, run->identity) != 0)
        return different_run(path, run->identity, identity);
    fingerprint_data(run, mine);
    HONE_CHECK(strcmp(mine, data) == 0, HONE_E_EXISTS, "%s was trained on other data: the samples' tokens differ although the "
               "options are the same; give another output_dir, or overwrite_output_dir: true to start anew", path);
    HONE_TRY(hash_model_config(&config, run));
    HONE_CHECK(strcmp(config.hex, model) == 0, HONE_E_EXISTS, "%s was trained with another config.json than %s has now; give another "
               "output_dir, or overwrite_output_dir: true to start anew", path, run->model_path);
    HONE_CHECK(int_between(manifest, "step", 1, run->total_steps)
               && int_between(manifest, "updates", 0, json_integer_value(json_object_get(manifest, "step"))), HONE_E_FORMAT,
               "%s/state/run.json: step and updates are none of a run of %lld steps; the file was changed: resume from another "
               "checkpoint", path, (long long)run->total_steps);
    return HONE_OK;
}

static hone_status read_optimizer(hone_run *run, const char *path)
{
    hone_status       st = HONE_OK;
    hone_params      *params = run->loaded->model->params;
    hone_safetensors *file = NULL;
    hone_safetensor  *list = NULL;
    size_t            n = 0;
    char             *name = hone_path_join(path, "state/optimizer.safetensors");

    HONE_GO(name ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(hone_safetensors_open(&file, name));
    HONE_GO(optimizer_tensors(params, &list, &n));
    for (size_t i = 0; i < n; i++) {
        const hone_safetensor *t = hone_safetensors_find(file, list[i].name);

        HONE_GO_CHECK(t && t->dtype == HONE_DTYPE_F32 && t->numel == list[i].numel, HONE_E_FORMAT,
                      "%s has no tensor \"%s\" of the model's shape", name, list[i].name);
        memcpy(optimizer_data(params, i), t->data, t->bytes);
    }
    hone_params_refresh(params);
out:
    hone_safetensors_close(&file);
    free_tensors(list, n);
    hone_free(name);
    return st;
}

hone_status hone_checkpoint_restore(hone_run *run, const char *path)
{
    hone_status st = HONE_OK;
    json_t     *manifest = NULL;

    HONE_GO(read_manifest(&manifest, path));
    HONE_GO(check_identity(run, path, manifest));
    HONE_GO(check_files(path, manifest));
    HONE_GO(read_optimizer(run, path));
    run->step = json_integer_value(json_object_get(manifest, "step"));
    run->updates = json_integer_value(json_object_get(manifest, "updates"));
    HONE_GO(hone_loader_seek(run->loader, run->step, json_object_get(manifest, "position")));
out:
    json_decref(manifest);
    return st;
}

/* ---- output_dir before training ---------------------------------------------------------------------------------------- */

/* What hone itself puts into output_dir before there is a checkpoint; a run that ended there may start anew. These names are
 * removed then, so nothing that somebody else may have put there passes: the records are files, also half-written ones
 * (hone_writer_create adds .tmp-<pid>). */
static bool own_early_file(const char *dir, const char *name)
{
    static const char *const records[] = { "metrics.jsonl", "config.resolved.yaml", "training_loss.png" };

    if (hone_starts_with(name, ".partial-checkpoint-") || hone_starts_with(name, ".removed-checkpoint-")
        || hone_glob_match(".export-*.tmp", name))
        return true;
    for (size_t i = 0; i < HONE_COUNTOF(records); i++) {
        const char *tail = hone_starts_with(name, records[i]) ? name + strlen(records[i]) : NULL;

        if (tail && (!*tail || hone_glob_match(".tmp-*", tail)) && hone_dir_has_file(dir, name))
            return true;
    }
    return false;
}

static hone_status remove_entry(const char *dir, const char *name)
{
    char       *path = hone_path_join(dir, name);
    hone_status st = path ? hone_dir_remove(path) : HONE_E_NOMEM;

    hone_free(path);
    return st;
}

/* Weights of an earlier run must not stay beside those of a new one: under other file names, readers would prefer them. */
static bool is_weights(const char *name)
{
    return hone_glob_match("model*.safetensors", name) || strcmp(name, "model.safetensors.index.json") == 0;
}

/* Take a run's own leftovers away: with `all`, its checkpoints and results too. */
static hone_status remove_leftovers(const hone_run *run, char **names, size_t n, bool all)
{
    const char *dir = run->options->output_dir;

    for (size_t i = 0; i < n; i++) {
        bool partial = hone_starts_with(names[i], ".partial-checkpoint-");

        if (partial)
            hone_warn(&run->log, "removing %s/%s, a save that did not finish", dir, names[i]);
        if (partial || hone_starts_with(names[i], ".removed-checkpoint-") || hone_glob_match(".export-*.tmp", names[i])
            || (all && (step_of(names[i]) >= 0 || own_early_file(dir, names[i]) || is_weights(names[i]))))
            HONE_TRY(remove_entry(dir, names[i]));
    }
    return HONE_OK;
}

/* The newest complete checkpoint, or NULL; a folder that is not complete is named. */
static hone_status find_newest(char **resume, const hone_run *run, char **names, size_t n)
{
    const char *dir = run->options->output_dir;
    int64_t     newest = -1;

    for (size_t i = 0; i < n; i++) {
        char *path;

        if (step_of(names[i]) <= newest)
            continue;
        path = hone_path_join(dir, names[i]);
        if (!path)
            return HONE_E_NOMEM;
        if (is_complete(path)) {
            newest = step_of(names[i]);
            hone_free(*resume);
            *resume = path;
        } else {
            hone_warn(&run->log, "%s has no state/run.json: no run can go on from it", path);
            hone_free(path);
        }
    }
    return HONE_OK;
}

/* Without a checkpoint to go on from: only our own early files may be there. */
static hone_status check_rest(const char *dir, char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        HONE_CHECK(own_early_file(dir, names[i]), HONE_E_EXISTS, "output_dir %s is not empty: it holds \"%s\" and no checkpoint to go on "
                   "from; give another output_dir, or overwrite_output_dir: true to write into it", dir, names[i]);
    return HONE_OK;
}

static hone_status check_resumable(hone_run *run, const char *path)
{
    json_t     *manifest;
    hone_status st;

    HONE_TRY(read_manifest(&manifest, path));
    st = check_identity(run, path, manifest);
    json_decref(manifest);
    return st;
}

/* Whether `path` is `dir` itself, or lies in one of its checkpoints; links are followed. */
static bool lies_in(const char *path, const char *dir, bool itself)
{
    char  *p = realpath(path, NULL), *d = realpath(dir, NULL);
    size_t n = d ? strlen(d) : 0;
    bool   in = p && d && strncmp(p, d, n) == 0 && (p[n] ? p[n] == '/' && hone_starts_with(p + n + 1, prefix) : itself);

    free(p);
    free(d);
    return in;
}

/* Starting anew removes the checkpoints in output_dir: none of them may be what this run reads. */
static hone_status check_inputs_stay(const hone_run *run)
{
    const hone_options *o = run->options;

    HONE_CHECK(!lies_in(run->model_path, o->output_dir, true), HONE_E_EXISTS, "the model %s is in output_dir %s, and would be "
               "overwritten by this run; give another output_dir", run->model_path, o->output_dir);
    for (size_t i = 0; i < o->dataset.n; i++)
        HONE_CHECK(!lies_in(o->dataset.v[i], o->output_dir, false), HONE_E_EXISTS, "the data set %s is in a checkpoint of output_dir "
                   "%s, and would be removed; give another output_dir", o->dataset.v[i], o->output_dir);
    return HONE_OK;
}

hone_status hone_checkpoint_prepare(hone_run *run, char **resume)
{
    const hone_options *o = run->options;
    hone_status         st = HONE_OK;
    char              **names = NULL;
    size_t              n = 0;

    *resume = NULL;
    HONE_TRY(hone_dir_make(o->output_dir));
    HONE_CHECK(access(o->output_dir, W_OK) == 0, HONE_E_IO, "cannot write into output_dir %s: %s", o->output_dir, strerror(errno));
    HONE_GO(hone_dir_lock_take(&run->lock, o->output_dir));
    HONE_GO(hone_dir_list(&names, &n, o->output_dir));
    if (!o->overwrite_output_dir) {
        HONE_GO(find_newest(resume, run, names, n));
        HONE_GO(*resume ? check_resumable(run, *resume) : check_rest(o->output_dir, names, n));
    }
    if (o->resume_from_checkpoint && strcmp(o->resume_from_checkpoint, "true") == 0) {
        if (!*resume)       /* not looked for with overwrite_output_dir */
            HONE_GO(find_newest(resume, run, names, n));
        HONE_GO_CHECK(*resume, HONE_E_USAGE, "resume_from_checkpoint: true, but output_dir %s has no checkpoint to go on from; leave "
                      "it out to start anew", o->output_dir);
        HONE_GO(check_resumable(run, *resume));
    } else if (o->resume_from_checkpoint) {
        hone_free(*resume);
        *resume = hone_strdup(o->resume_from_checkpoint);
        HONE_GO(*resume ? check_resumable(run, *resume) : HONE_E_NOMEM);
    }
    if (!*resume)
        HONE_GO(check_inputs_stay(run));
    HONE_GO(remove_leftovers(run, names, n, !*resume));
out:
    hone_dir_list_free(names, n);
    if (st != HONE_OK) {
        hone_free(*resume);
        *resume = NULL;
    }
    return st;
}
