#include "io/model_dir.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#define SINGLE "model.safetensors"
#define INDEX  "model.safetensors.index.json"
#define MORE_TEMPLATES "additional_chat_templates"

typedef struct shard { char *name, *path; hone_safetensors *file; } shard;

struct hone_model_dir {
    char      *path;
    json_t    *config;
    json_t    *weight_map;                      /* NULL without an index */
    HONE_VEC(shard) shards;
    HONE_VEC(const hone_safetensor *) tensors;  /* of all shards, in order */
    hone_vec_i64 shard_of;                      /* for each tensor */
    hone_map  *names;                           /* name -> place in `tensors` */
    HONE_VEC(char *) companions;
};

static bool has(const hone_model_dir *d, const char *name) { return hone_dir_has(d->path, name); }

/* Parse a JSON object in the folder. */
static hone_status read_object(json_t **out, const hone_model_dir *d, const char *name)
{
    hone_status st = HONE_OK;
    char       *path = hone_path_join(d->path, name);

    if (!path)
        return HONE_E_NOMEM;
    HONE_GO(hone_json_read(out, path));
    HONE_GO_CHECK(json_is_object(*out), HONE_E_FORMAT, "%s: expected a JSON object, found %s", path,
                  hone_json_type_name(*out));
out:
    hone_free(path);
    return st;
}

/* There is no config.json: say what the folder may be instead. */
static hone_status not_a_model(const hone_model_dir *d)
{
    hone_status st = HONE_OK;
    char      **names;
    size_t      n;

    HONE_CHECK(!has(d, "adapter_config.json"), HONE_E_UNSUPPORTED, "%s holds an adapter, not a whole model; merge it into its "
               "base model first, for example with PEFT's merge_and_unload", d->path);
    HONE_TRY(hone_dir_list(&names, &n, d->path));
    for (size_t i = 0; i < n; i++)
        HONE_GO_CHECK(!hone_glob_match("checkpoint-*", names[i]), HONE_E_FORMAT, "%s has no config.json, but checkpoints; give "
                      "one of them, such as %s/%s", d->path, d->path, names[i]);
    st = HONE_FAIL(HONE_E_FORMAT, "%s has no config.json, so it is not a Hugging Face model directory", d->path);
out:
    hone_dir_list_free(names, n);
    return st;
}

static hone_status read_config(hone_model_dir *d)
{
    if (!has(d, "config.json"))
        return HONE_TRACE(not_a_model(d));
    HONE_TRY(read_object(&d->config, d, "config.json"));
    return HONE_OK;
}

/* There is neither SINGLE nor INDEX: say what is there instead. */
static hone_status no_weights(const hone_model_dir *d)
{
    static const char *const others[] = { "pytorch_model*.bin", "*.gguf", "*.pth", "*.pt", "*.h5", "*.msgpack", "*.onnx" };
    hone_status st = HONE_OK;
    char      **names;
    size_t      n;

    HONE_TRY(hone_dir_list(&names, &n, d->path));
    for (size_t k = 0; k < HONE_COUNTOF(others); k++)
        for (size_t i = 0; i < n; i++)
            HONE_GO_CHECK(!hone_glob_match(others[k], names[i]), HONE_E_UNSUPPORTED, "%s has weights only in another format "
                          "(%s); hone reads safetensors: convert once with transformers, "
                          "AutoModelForCausalLM.from_pretrained(DIR).save_pretrained(NEW_DIR)", d->path, names[i]);
    st = HONE_FAIL(HONE_E_FORMAT, "%s has no weights: neither " SINGLE " nor " INDEX, d->path);
out:
    hone_dir_list_free(names, n);
    return st;
}

static hone_status add_shard(hone_model_dir *d, const char *name)
{
    shard s = { hone_strdup(name), hone_path_join(d->path, name), NULL };

    if (!s.name || !s.path || HONE_VEC_PUSH(&d->shards, s) != HONE_OK) {
        hone_free(s.name);
        hone_free(s.path);
        return HONE_E_NOMEM;
    }
    return HONE_OK;
}

/* A weight_map must stay in its folder: plain names of safetensors files only. */
static hone_status check_shard_name(const hone_model_dir *d, const char *tensor, const json_t *file)
{
    const char *name = json_string_value(file);

    HONE_CHECK(name, HONE_E_FORMAT, "%s/" INDEX ": the file of tensor '%s' is %s instead of a string", d->path, tensor,
               hone_json_type_name(file));
    HONE_CHECK(strlen(name) == json_string_length(file) && !strchr(name, '/') && name[0] != '.' &&
               hone_ends_with(name, ".safetensors"), HONE_E_FORMAT, "%s/" INDEX ": tensor '%s' is said to be in '%s'; only "
               "names of .safetensors files in the same folder are allowed", d->path, tensor, name);
    return HONE_OK;
}

static int by_name(const void *a, const void *b) { return strcmp(((const shard *)a)->name, ((const shard *)b)->name); }

static hone_status read_index(hone_model_dir *d)
{
    json_t     *index = NULL, *file;
    hone_map   *seen = NULL;
    const char *tensor;
    hone_status st;

    HONE_GO(hone_map_create(&seen));
    HONE_GO(read_object(&index, d, INDEX));
    d->weight_map = json_incref(json_object_get(index, "weight_map"));
    HONE_GO_CHECK(json_is_object(d->weight_map), HONE_E_FORMAT, "%s/" INDEX " has no \"weight_map\" object", d->path);
    json_object_foreach(d->weight_map, tensor, file) {
        const char *name = json_string_value(file);

        HONE_GO(check_shard_name(d, tensor, file));
        if (hone_map_get(seen, name, strlen(name), -1) >= 0)
            continue;
        HONE_GO(hone_map_put(seen, name, strlen(name), 0));
        HONE_GO(add_shard(d, name));
        HONE_GO_CHECK(has(d, name), HONE_E_FORMAT, "%s/%s is missing: " INDEX " says it holds tensor '%s'; download the model "
                      "again, or copy this file too", d->path, name, tensor);
    }
    HONE_GO_CHECK(d->shards.len > 0, HONE_E_FORMAT, "%s/" INDEX " names no tensor", d->path);
    qsort(d->shards.data, d->shards.len, sizeof *d->shards.data, by_name);
out:
    json_decref(index);
    hone_map_destroy(&seen);
    return st;
}

/* Map a weight file and enter its tensors. */
static hone_status open_shard(hone_model_dir *d, size_t k)
{
    shard *s = &d->shards.data[k];

    HONE_TRY(hone_safetensors_open(&s->file, s->path));
    for (size_t i = 0; i < hone_safetensors_len(s->file); i++) {
        const hone_safetensor *t = hone_safetensors_at(s->file, i);
        size_t                 len = strlen(t->name);
        int64_t                other = hone_map_get(d->names, t->name, len, -1);

        if (other >= 0)
            return HONE_FAIL(HONE_E_FORMAT, "%s: tensor '%s' is in two files, %s and %s", d->path, t->name,
                             d->shards.data[d->shard_of.data[other]].name, s->name);
        HONE_TRY(hone_map_put(d->names, t->name, len, (int64_t)d->tensors.len));
        HONE_TRY(HONE_VEC_PUSH(&d->tensors, t));
        HONE_TRY(HONE_VEC_PUSH(&d->shard_of, (int64_t)k));
    }
    return HONE_OK;
}

/* The index must be right about every tensor it names. */
static hone_status check_index(const hone_model_dir *d)
{
    const char *tensor;
    json_t     *file;

    json_object_foreach(d->weight_map, tensor, file) {
        int64_t     i = hone_map_get(d->names, tensor, strlen(tensor), -1);
        const char *want = json_string_value(file), *in = i < 0 ? NULL : d->shards.data[d->shard_of.data[i]].name;

        HONE_CHECK(in, HONE_E_FORMAT, "%s/%s has no tensor '%s', though " INDEX " says so; weights and index are not of the "
                   "same model: download both again", d->path, want, tensor);
        HONE_CHECK(strcmp(in, want) == 0, HONE_E_FORMAT, "%s/" INDEX " says that tensor '%s' is in %s, but it is in %s",
                   d->path, tensor, want, in);
    }
    return HONE_OK;
}

static bool is_companion(const char *name)
{
    static const char *const kept[] = {
        "tokenizer*.json", "tokenizer*.model*", "special_tokens_map.json", "added_tokens.json", "vocab*.json", "vocab*.txt",
        "merges*.txt", "*.tiktoken", "*.model", "chat_template*.jinja", "chat_template*.json", "generation_config.json",
        "preprocessor_config.json", "processor_config.json", "video_preprocessor_config.json", "image_processor*.json",
        "configuration.json", "*.py", "LICENSE*", "LICENCE*", "COPYING*", "NOTICE*", "USE_POLICY*",
    };

    if (name[0] == '.')
        return false;
    for (size_t i = 0; i < HONE_COUNTOF(kept); i++)
        if (hone_glob_match(kept[i], name))
            return true;
    return false;
}

/* Add what belongs to the model in the folder, or in the one folder below that may. */
static hone_status find_companions(hone_model_dir *d, const char *below)
{
    hone_status st = HONE_OK;
    char      **names = NULL, *path = hone_path_join(d->path, below);
    size_t      n = 0;

    if (!path)
        return HONE_E_NOMEM;
    HONE_GO(hone_dir_list(&names, &n, path));
    for (size_t i = 0; i < n; i++) {
        char *name = hone_asprintf("%s%s%s", below, *below ? "/" : "", names[i]);
        char *full = name ? hone_path_join(d->path, name) : NULL;
        bool  keep = full && (*below ? hone_ends_with(names[i], ".jinja") : is_companion(names[i])) &&
                     hone_path_exists(full) && !hone_path_is_dir(full);

        st = full ? HONE_OK : HONE_E_NOMEM;
        if (keep)
            st = HONE_VEC_PUSH(&d->companions, name);
        hone_free(full);
        if (!keep || st != HONE_OK)
            hone_free(name);
        if (st != HONE_OK)
            goto out;
    }
out:
    hone_dir_list_free(names, n);
    hone_free(path);
    return st;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

hone_status hone_model_dir_open(hone_model_dir **out, const char *path)
{
    hone_model_dir *d = hone_calloc(1, sizeof *d);
    hone_status     st = HONE_OK;

    *out = NULL;
    if (!d)
        return HONE_E_NOMEM;
    d->path = hone_strdup(path);
    if (!d->path) {
        st = HONE_E_NOMEM;
        goto out;
    }
    for (size_t n = strlen(path); n > 1 && d->path[n - 1] == '/'; n--)
        d->path[n - 1] = '\0';
    HONE_GO_CHECK(hone_path_is_dir(path), HONE_E_IO, "%s is not a folder; a model is a folder with config.json and "
                  SINGLE, path);
    HONE_GO(hone_map_create(&d->names));
    HONE_GO(read_config(d));
    if (has(d, SINGLE))
        HONE_GO(add_shard(d, SINGLE));
    else if (has(d, INDEX))
        HONE_GO(read_index(d));
    else
        HONE_GO(no_weights(d));
    for (size_t k = 0; k < d->shards.len; k++)
        HONE_GO(open_shard(d, k));
    HONE_GO(check_index(d));
    HONE_GO(find_companions(d, ""));
    if (has(d, MORE_TEMPLATES))
        HONE_GO(find_companions(d, MORE_TEMPLATES));
    if (d->companions.len)
        qsort(d->companions.data, d->companions.len, sizeof *d->companions.data, by_text);
out:
    if (st != HONE_OK)
        hone_model_dir_close(&d);
    *out = d;
    return st;
}

void hone_model_dir_close(hone_model_dir **dir)
{
    hone_model_dir *d = *dir;

    if (!d)
        return;
    for (size_t i = 0; i < d->shards.len; i++) {
        hone_safetensors_close(&d->shards.data[i].file);
        hone_free(d->shards.data[i].name);
        hone_free(d->shards.data[i].path);
    }
    for (size_t i = 0; i < d->companions.len; i++)
        hone_free(d->companions.data[i]);
    HONE_VEC_DEINIT(&d->shards);
    HONE_VEC_DEINIT(&d->tensors);
    HONE_VEC_DEINIT(&d->shard_of);
    HONE_VEC_DEINIT(&d->companions);
    hone_map_destroy(&d->names);
    json_decref(d->weight_map);
    json_decref(d->config);
    hone_free(d->path);
    hone_free(d);
    *dir = NULL;
}

const char *hone_model_dir_path(const hone_model_dir *d) { return d->path; }
const json_t *hone_model_dir_config(const hone_model_dir *d) { return d->config; }
size_t hone_model_dir_len(const hone_model_dir *d) { return d->tensors.len; }
const hone_safetensor *hone_model_dir_at(const hone_model_dir *d, size_t i) { return d->tensors.data[i]; }
size_t hone_model_dir_shards(const hone_model_dir *d) { return d->shards.len; }
const hone_safetensors *hone_model_dir_shard(const hone_model_dir *d, size_t i) { return d->shards.data[i].file; }
const char *hone_model_dir_shard_name(const hone_model_dir *d, size_t i) { return d->shards.data[i].name; }
bool hone_model_dir_indexed(const hone_model_dir *d) { return d->weight_map != NULL; }
size_t hone_model_dir_companions(const hone_model_dir *d) { return d->companions.len; }
const char *hone_model_dir_companion(const hone_model_dir *d, size_t i) { return d->companions.data[i]; }

const hone_safetensor *hone_model_dir_find(const hone_model_dir *d, const char *name)
{
    int64_t i = hone_map_get(d->names, name, strlen(name), -1);

    return i < 0 ? NULL : d->tensors.data[i];
}

const char *hone_model_dir_file_of(const hone_model_dir *d, const hone_safetensor *t)
{
    int64_t i = hone_map_get(d->names, t->name, strlen(t->name), -1);

    HONE_ASSERT(i >= 0);
    return d->shards.data[d->shard_of.data[i]].path;
}
