/* Sources: the entries of dataset_info.json, as LLaMA-Factory (an object by name) and ms-swift (an array) have them. */
#include <string.h>

#include "base/file.h"
#include "data/source/source_int.h"

typedef struct entry { const json_t *json; const char *name, *path; } entry;   /* path: of dataset_info.json */

/* The text of a key; *out is NULL if it is absent or null. */
static hone_status get_text(const entry *e, const json_t *object, const char *key, const char **out)
{
    const json_t *value = json_object_get(object, key);

    *out = NULL;
    if (!value || json_is_null(value))
        return HONE_OK;
    HONE_CHECK(json_is_string(value), HONE_E_FORMAT, "%s: \"%s\" of \"%s\" must be a text, not %s", e->path, key, e->name,
               hone_json_type_name(value));
    *out = json_string_value(value);
    HONE_CHECK(strlen(*out) == json_string_length(value), HONE_E_FORMAT, "%s: \"%s\" of \"%s\" holds a NUL byte", e->path,
               key, e->name);
    return HONE_OK;
}

static hone_status get_object(const entry *e, const char *key, const json_t **out)
{
    *out = json_object_get(e->json, key);
    if (json_is_null(*out))
        *out = NULL;
    HONE_CHECK(!*out || json_is_object(*out), HONE_E_FORMAT, "%s: \"%s\" of \"%s\" must be an object, not %s", e->path, key,
               e->name, hone_json_type_name(*out));
    return HONE_OK;
}

static hone_status refuse_unknown(const entry *e, const json_t *object, const char *const *known, size_t n, const char *what)
{
    const char *key;
    json_t     *value;

    json_object_foreach((json_t *)object, key, value) {
        const char *near = hone_nearest_name(key, known, n);
        bool        found = false;

        for (size_t i = 0; i < n; i++)
            found |= strcmp(key, known[i]) == 0;
        HONE_CHECK(found, HONE_E_FORMAT, "%s: there is no %s \"%s\" (of \"%s\")%s%s%s", e->path, what, key, e->name,
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return HONE_OK;
}

/* ---- LLaMA-Factory ---- */

typedef struct name_of { const char *key; size_t field; } name_of;

#define COLUMN(name) { #name, offsetof(hone_row_columns, name) }
static const name_of columns[] = {
    COLUMN(prompt), COLUMN(query), COLUMN(response), COLUMN(history), COLUMN(system), COLUMN(messages), COLUMN(tools),
    COLUMN(chosen), COLUMN(rejected), COLUMN(kto_tag), COLUMN(images), COLUMN(videos), COLUMN(audios),
};
static const name_of tags[] = {
    COLUMN(role_tag), COLUMN(content_tag), COLUMN(user_tag), COLUMN(assistant_tag), COLUMN(observation_tag),
    COLUMN(function_tag), COLUMN(system_tag),
};
#undef COLUMN

/* With the object, only what it names exists. */
static hone_status get_names(const entry *e, const char *key, const name_of *names, size_t n, hone_row_columns *out)
{
    const json_t *object;
    const char   *known[16];

    HONE_TRY(get_object(e, key, &object));
    if (!object)
        return HONE_OK;
    for (size_t i = 0; i < n; i++)
        known[i] = names[i].key;
    HONE_TRY(refuse_unknown(e, object, known, n, names == tags ? "tag" : "column"));
    for (size_t i = 0; i < n; i++)
        HONE_TRY(get_text(e, object, names[i].key, (const char **)((char *)out + names[i].field)));
    return HONE_OK;
}

static hone_status get_columns(const entry *e, hone_source *s)
{
    hone_row_columns *c = &s->columns;

    *c = source_default_columns;
    c->history = c->system = c->tools = c->chosen = c->rejected = c->kto_tag = c->images = c->videos = c->audios = NULL;
    HONE_TRY(get_names(e, "columns", columns, HONE_COUNTOF(columns), c));
    HONE_TRY(get_names(e, "tags", tags, HONE_COUNTOF(tags), c));
    HONE_CHECK(s->format == HONE_ROWS_ALPACA || (c->role_tag && c->content_tag && c->user_tag && c->assistant_tag),
               HONE_E_FORMAT,
               "%s: \"%s\" gives \"tags\" without role_tag, content_tag, user_tag or assistant_tag; a tag that is left out "
               "has no default then, and every row would be dropped", e->path, e->name);
    return HONE_OK;
}

static hone_status get_formatting(const entry *e, hone_source *s)
{
    const char *formatting;

    HONE_TRY(get_text(e, e->json, "formatting", &formatting));
    if (!formatting || strcmp(formatting, "alpaca") == 0)
        s->format = HONE_ROWS_ALPACA;
    else if (strcmp(formatting, "sharegpt") == 0)
        s->format = HONE_ROWS_SHAREGPT;
    else if (strcmp(formatting, "openai") == 0)
        s->format = HONE_ROWS_OPENAI;
    else
        return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: formatting \"%s\" of \"%s\" is unknown; hone has alpaca, sharegpt and "
                         "openai", e->path, formatting, e->name);
    return get_columns(e, s);
}

static const char *stage_name(hone_stage stage)
{
    static const char *const names[] = { [HONE_STAGE_PT] = "pt",   [HONE_STAGE_SFT] = "sft", [HONE_STAGE_RM] = "rm",
                                         [HONE_STAGE_PPO] = "ppo", [HONE_STAGE_DPO] = "dpo", [HONE_STAGE_KTO] = "kto" };

    return names[stage];
}

/* Pairs are for the stages that learn from them, and nothing else is. */
static hone_status get_ranking(const entry *e, hone_source *s, hone_stage stage)
{
    const json_t *value = json_object_get(e->json, "ranking");
    bool          wanted = stage == HONE_STAGE_RM || stage == HONE_STAGE_DPO;

    HONE_CHECK(!value || json_is_boolean(value) || json_is_null(value), HONE_E_FORMAT,
               "%s: \"ranking\" of \"%s\" must be true or false", e->path, e->name);
    s->ranking = json_is_true(value);
    HONE_CHECK(!s->ranking || wanted, HONE_E_USAGE,
               "data set \"%s\" holds preference pairs (\"ranking\" in %s), which stage %s does not train on; they are for "
               "the stages rm and dpo", e->name, e->path, stage_name(stage));
    HONE_CHECK(s->ranking || !wanted, HONE_E_USAGE,
               "data set \"%s\" does not say that it holds preference pairs, which stage %s trains on; if it does, add "
               "\"ranking\": true, and the columns chosen and rejected, to its entry in %s", e->name, stage_name(stage),
               e->path);
    return HONE_OK;
}

static hone_status get_num_samples(const entry *e, hone_source *s)
{
    const json_t *value = json_object_get(e->json, "num_samples");

    if (!value || json_is_null(value))
        return HONE_OK;
    HONE_CHECK(json_is_integer(value) && json_integer_value(value) > 0, HONE_E_FORMAT,
               "%s: \"num_samples\" of \"%s\" must be a number of rows, at least 1", e->path, e->name);
    s->num_samples = json_integer_value(value);
    return HONE_OK;
}

/* What LLaMA-Factory takes before `file_name` cannot be read here. */
static hone_status refuse_remote(const entry *e)
{
    static const char *const hubs[] = { "hf_hub_url", "ms_hub_url", "om_hub_url", "cloud_file_name" };
    bool file = json_is_string(json_object_get(e->json, "file_name"));

    for (size_t i = 0; i < HONE_COUNTOF(hubs); i++)
        HONE_CHECK(!json_object_get(e->json, hubs[i]), HONE_E_UNSUPPORTED,
                   "%s: \"%s\" of \"%s\": hone downloads nothing; %s", e->path, hubs[i], e->name,
                   file ? "LLaMA-Factory takes it before \"file_name\": if that file holds the same rows, remove this key"
                        : "download the files and name them in \"file_name\" instead");
    HONE_CHECK(!json_object_get(e->json, "script_url"), HONE_E_UNSUPPORTED,
               "%s: \"script_url\" of \"%s\" is a program in Python, which hone does not run; write its rows to a .jsonl "
               "file and name that in \"file_name\" instead", e->path, e->name);
    return HONE_OK;
}

static hone_status get_split(const entry *e)
{
    const char *split;

    HONE_TRY(get_text(e, e->json, "split", &split));
    HONE_CHECK(!split || strcmp(split, "train") == 0, HONE_E_UNSUPPORTED,
               "%s: split \"%s\" of \"%s\": a local file has the split train only", e->path, split, e->name);
    return HONE_OK;
}

static hone_status beside(char **out, const char *info_path, const char *file)
{
    char *dir = hone_strndup(info_path, (size_t)(hone_path_base(info_path) - info_path));

    *out = !dir ? NULL : file[0] == '/' ? hone_strdup(file) : hone_asprintf("%s%s", dir, file);
    hone_free(dir);
    return *out ? HONE_OK : HONE_E_NOMEM;
}

static hone_status read_entry(const entry *e, hone_source *s, char **path, hone_stage stage)
{
    /* subset and folder choose among the files of a hub; they change nothing for a local file, there as here */
    static const char *const known[] = { "file_name", "formatting", "columns", "tags", "ranking", "split", "subset",
                                         "folder", "num_samples", "hf_hub_url", "ms_hub_url", "om_hub_url", "script_url",
                                         "cloud_file_name" };
    const char *file;

    HONE_CHECK(json_is_object(e->json), HONE_E_FORMAT, "%s: \"%s\" must be an object, not %s", e->path, e->name,
               hone_json_type_name(e->json));
    HONE_TRY(refuse_unknown(e, e->json, known, HONE_COUNTOF(known), "key"));
    HONE_TRY(refuse_remote(e));
    HONE_TRY(get_text(e, e->json, "file_name", &file));
    HONE_CHECK(file && *file, HONE_E_FORMAT, "%s: \"%s\" has no \"file_name\"", e->path, e->name);
    HONE_TRY(get_split(e));
    HONE_TRY(get_formatting(e, s));
    HONE_TRY(get_ranking(e, s, stage));
    HONE_TRY(get_num_samples(e, s));
    s->info = json_incref((json_t *)e->json);
    return beside(path, e->path, file);
}

/* ---- ms-swift ---- */

static bool is(const char *text, const char *name) { return text && strcmp(text, name) == 0; }

/* An array of texts that holds nothing but this one, or is not there. */
static bool is_only(const json_t *list, const char *text)
{
    return !list || json_is_null(list) || (json_is_array(list) && json_array_size(list) == 0)
           || (json_is_array(list) && json_array_size(list) == 1
               && is(json_string_value(json_array_get(list, 0)), text));
}

static hone_status read_swift_entry(const entry *e, hone_source *s, char **path)
{
    static const char *const known[] = { "dataset_path", "ms_dataset_id", "hf_dataset_id", "dataset_name", "ms_revision",
                                         "hf_revision", "subsets", "split", "columns", "messages", "tags", "help",
                                         "huge_dataset" };
    const json_t *renames;
    const char   *file, *key;
    json_t       *value;

    HONE_TRY(refuse_unknown(e, e->json, known, HONE_COUNTOF(known), "key"));
    HONE_TRY(get_text(e, e->json, "dataset_path", &file));
    HONE_CHECK(file && *file, HONE_E_UNSUPPORTED,
               "%s: \"%s\" is on a hub, and hone downloads nothing; download it and name its files in \"dataset_path\"",
               e->path, e->name);
    HONE_CHECK(is_only(json_object_get(e->json, "subsets"), "default"), HONE_E_UNSUPPORTED,
               "%s: \"subsets\" of \"%s\": files have none; give each its own entry", e->path, e->name);
    HONE_CHECK(is_only(json_object_get(e->json, "split"), "train"), HONE_E_UNSUPPORTED,
               "%s: \"split\" of \"%s\": a local file has the split train only", e->path, e->name);
    HONE_TRY(get_object(e, "messages", &renames));
    HONE_CHECK(!renames, HONE_E_UNSUPPORTED, "%s: \"messages\" of \"%s\" (other names of roles and keys) is not "
               "implemented; describe the file as LLaMA-Factory does, with \"tags\"", e->path, e->name);
    HONE_TRY(get_object(e, "columns", &renames));
    json_object_foreach((json_t *)renames, key, value)
        HONE_CHECK(json_is_string(value), HONE_E_FORMAT, "%s: column \"%s\" of \"%s\" must be a text, not %s", e->path, key,
                   e->name, hone_json_type_name(value));
    s->renames = json_incref((json_t *)renames);
    s->format = HONE_ROWS_AUTO;
    return beside(path, e->path, file);
}

/* Whether an entry goes by this name: its own, its path as written or from here, its id on a hub or the last part of it. */
static bool is_named(const json_t *json, const char *name, const char *info_path)
{
    static const char *const ids[] = { "ms_dataset_id", "hf_dataset_id" };
    const char *path = json_string_value(json_object_get(json, "dataset_path"));
    size_t      dir = (size_t)(hone_path_base(info_path) - info_path);

    if (is(json_string_value(json_object_get(json, "dataset_name")), name) || is(path, name))
        return true;
    if (path && strncmp(name, info_path, dir) == 0 && strcmp(name + dir, path) == 0)
        return true;
    for (size_t i = 0; i < HONE_COUNTOF(ids); i++) {
        const char *id = json_string_value(json_object_get(json, ids[i]));

        if (id && (strcmp(id, name) == 0 || strcmp(hone_path_base(id), name) == 0))
            return true;
    }
    return false;
}

static hone_status find_in_list(hone_source *s, char **path, bool *found, const json_t *info, entry e)
{
    size_t  i;
    json_t *item;

    json_array_foreach(info, i, item) {
        HONE_CHECK(json_is_object(item), HONE_E_FORMAT, "%s: entry %zu must be an object, not %s", e.path, i,
                   hone_json_type_name(item));
        if (!is_named(item, e.name, e.path))
            continue;
        e.json = item;
        *found = true;
        return read_swift_entry(&e, s, path);
    }
    return HONE_OK;
}

hone_status dataset_info_find(hone_source *s, char **path, bool *found, const json_t *info, const char *info_path,
                              const char *name, hone_stage stage)
{
    entry e = { json_object_get(info, name), name, info_path };

    *found = e.json != NULL;
    if (json_is_array(info))
        return find_in_list(s, path, found, info, e);
    return *found ? read_entry(&e, s, path, stage) : HONE_OK;
}

const char *dataset_info_nearest(const json_t *info, const char *name)
{
    const char *names[512], *key;
    json_t     *value;
    size_t      n = 0, i;

    json_object_foreach((json_t *)info, key, value)
        if (n < HONE_COUNTOF(names))
            names[n++] = key;
    json_array_foreach(info, i, value) {
        key = json_string_value(json_object_get(value, "dataset_name"));
        if (key && n < HONE_COUNTOF(names))
            names[n++] = key;
    }
    return hone_nearest_name(name, names, n);
}
