#include "data/source.h"

#include <string.h>

#include "base/file.h"

static const hone_row_columns default_columns = {
    .prompt = "instruction", .query = "input", .response = "output", .history = "history", .system = "system",
    .messages = "conversations", .tools = "tools", .role_tag = "from", .content_tag = "value", .user_tag = "human",
    .assistant_tag = "gpt", .observation_tag = "observation", .function_tag = "function_call", .system_tag = "system",
    .chosen = "chosen", .rejected = "rejected", .kto_tag = "kto_tag", .images = "images", .videos = "videos",
    .audios = "audios",
};

static bool is_data_file(const char *path)
{
    return hone_ends_with(path, ".json") || hone_ends_with(path, ".jsonl") || hone_ends_with(path, ".txt");
}

static hone_row_format option_format(int choice)
{
    static const hone_row_format formats[] = { HONE_ROWS_AUTO, HONE_ROWS_MESSAGES, HONE_ROWS_ALPACA, HONE_ROWS_IDS,
                                               HONE_ROWS_TEXT };

    return formats[choice];
}

static hone_status refuse_unknown(const json_t *entry, const char *const *known, const char *what, const char *name)
{
    const char *key;
    json_t     *value;

    json_object_foreach((json_t *)entry, key, value) {
        bool found = false;

        for (size_t i = 0; known[i]; i++)
            found |= strcmp(key, known[i]) == 0;
        HONE_CHECK(found, HONE_E_UNSUPPORTED, "dataset_info.json: %s \"%s\" of \"%s\" is not implemented", what, key,
                   name);
    }
    return HONE_OK;
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* With a `columns` object, only what it names exists; the same for `tags`. */
static hone_status read_columns(hone_source *s, const char *name)
{
    static const char *const known_columns[] = { "prompt", "query",    "response", "history",
                                                 "system", "messages", "tools",    NULL };
    static const char *const known_tags[] = { "role_tag", "content_tag", "user_tag", "assistant_tag", "observation_tag",
                                              "system_tag", "function_tag", NULL };
    const json_t *columns = json_object_get(s->info, "columns"), *tags = json_object_get(s->info, "tags");

    s->columns.history = s->columns.system = s->columns.tools = NULL;
    s->columns.chosen = s->columns.rejected = s->columns.kto_tag = NULL;
    s->columns.images = s->columns.videos = s->columns.audios = NULL;
    if (columns) {
        HONE_TRY(refuse_unknown(columns, known_columns, "column", name));
        s->columns.prompt = text(columns, "prompt");
        s->columns.query = text(columns, "query");
        s->columns.response = text(columns, "response");
        s->columns.history = text(columns, "history");
        s->columns.system = text(columns, "system");
        s->columns.messages = text(columns, "messages");
        s->columns.tools = text(columns, "tools");
    }
    if (!tags)
        return HONE_OK;
    HONE_TRY(refuse_unknown(tags, known_tags, "tag", name));
    s->columns.role_tag = text(tags, "role_tag");
    s->columns.content_tag = text(tags, "content_tag");
    s->columns.user_tag = text(tags, "user_tag");
    s->columns.assistant_tag = text(tags, "assistant_tag");
    s->columns.observation_tag = text(tags, "observation_tag");
    s->columns.function_tag = text(tags, "function_tag");
    s->columns.system_tag = text(tags, "system_tag");
    HONE_CHECK(s->columns.role_tag && s->columns.content_tag && s->columns.user_tag && s->columns.assistant_tag,
               HONE_E_FORMAT,
               "dataset_info.json: \"%s\" gives \"tags\" without role_tag, content_tag, user_tag or assistant_tag; a "
               "tag that is left out has no default then, and every row would be dropped",
               name);
    return HONE_OK;
}

static bool is(const char *tag, const char *name) { return tag && strcmp(tag, name) == 0; }

/* Rows in the spelling of chat templates: they need no translation, and may hold more (tool calls, reasoning). */
static bool is_openai(const hone_row_columns *c)
{
    return is(c->role_tag, "role") && is(c->content_tag, "content") && is(c->user_tag, "user")
           && is(c->assistant_tag, "assistant") && (!c->system_tag || is(c->system_tag, "system"))
           && (!c->observation_tag || is(c->observation_tag, "tool"));
}

static hone_status from_info(hone_source *s, const char *name, json_t *entry, const char *dir)
{
    static const char *const known[] = { "file_name", "formatting", "columns", "tags", "ranking", "split", NULL };
    const char *file = text(entry, "file_name"), *formatting = text(entry, "formatting"),
               *split = text(entry, "split");

    s->info = json_incref(entry);
    s->columns = default_columns;
    HONE_TRY(refuse_unknown(entry, known, "key", name));
    HONE_CHECK(!json_is_true(json_object_get(entry, "ranking")), HONE_E_USAGE,
               "data set \"%s\" holds preference pairs (ranking), which stage sft and pt do not train on", name);
    HONE_CHECK(!split || strcmp(split, "train") == 0, HONE_E_UNSUPPORTED,
               "dataset_info.json: split \"%s\" of \"%s\": a local file "
               "has the split train only",
               split, name);
    HONE_CHECK(file, HONE_E_FORMAT, "dataset_info.json: \"%s\" has no \"file_name\"; hone reads local files", name);
    s->path = file[0] == '/' ? hone_strdup(file) : hone_path_join(dir, file);
    if (!s->path)
        return HONE_E_NOMEM;
    if (!formatting || strcmp(formatting, "alpaca") == 0)
        s->format = HONE_ROWS_ALPACA;
    else if (strcmp(formatting, "sharegpt") == 0 || strcmp(formatting, "openai") == 0)
        s->format = HONE_ROWS_SHAREGPT;
    else
        return HONE_FAIL(HONE_E_UNSUPPORTED,
                         "dataset_info.json: formatting \"%s\" of \"%s\" is not implemented; hone has alpaca, "
                         "sharegpt and openai",
                         formatting, name);
    HONE_TRY(read_columns(s, name));
    if (s->format == HONE_ROWS_SHAREGPT && is_openai(&s->columns))
        s->format = HONE_ROWS_MESSAGES;
    return HONE_OK;
}

static hone_status unknown_name(const char *name, const json_t *info, const char *path)
{
    const char *names[512], *key, *near;
    json_t     *value;
    size_t      n = 0;

    json_object_foreach((json_t *)info, key, value)
        if (n < HONE_COUNTOF(names))
            names[n++] = key;
    near = hone_nearest_name(name, names, n);
    return HONE_FAIL(
        HONE_E_USAGE,
        "data set \"%s\" is neither a file nor a name in %s%s%s%s; give a path that ends in .json, .jsonl or .txt, "
        "or add the name there",
        name, path, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static hone_status look_up(hone_source *s, const char *name, const char *dir)
{
    hone_status st = HONE_OK;
    char       *path = hone_path_join(dir, "dataset_info.json");
    json_t     *info = NULL, *entry;

    HONE_GO(path ? HONE_OK : HONE_E_NOMEM);
    if (!hone_path_exists(path) && hone_path_exists(name)) {
        st = HONE_FAIL(HONE_E_UNSUPPORTED, "%s: hone reads .json, .jsonl and .txt files", name);
        goto out;
    }
    if (!hone_path_exists(path)) {
        st = HONE_FAIL(HONE_E_USAGE, "data set \"%s\" is no file, and there is no %s that could name it", name, path);
        goto out;
    }
    HONE_GO(hone_json_read(&info, path));
    entry = json_object_get(info, name);
    HONE_GO(json_is_object(entry) ? from_info(s, name, entry, dir) : unknown_name(name, info, path));
out:
    json_decref(info);
    hone_free(path);
    return st;
}

hone_status hone_sources_find(hone_sources *out, const hone_strings *names, const hone_options *o)
{
    for (size_t i = 0; i < names->n; i++) {
        const char *name = names->v[i];
        hone_source s = { .columns = default_columns, .format = option_format(o->data_format), .set = (int32_t)i,
                          .num_samples = -1, .max_rows = o->max_samples == HONE_INT_NULL ? -1 : o->max_samples };
        hone_status st;

        s.name = hone_strdup(name);
        if (!s.name) {
            st = HONE_E_NOMEM;
        } else if (is_data_file(name)) {
            s.path = hone_strdup(name);
            st = s.path ? HONE_OK : HONE_E_NOMEM;
        } else {
            st = look_up(&s, name, o->dataset_dir);
        }
        if (st == HONE_OK && !is_data_file(s.path))
            st = HONE_FAIL(HONE_E_UNSUPPORTED, "%s (data set \"%s\"): hone reads .json, .jsonl and .txt files", s.path,
                           name);
        if (st == HONE_OK && o->data_format != HONE_DATA_FORMAT_AUTO)
            s.format = option_format(o->data_format);
        if (st == HONE_OK)
            st = HONE_VEC_PUSH(out, s);
        if (st != HONE_OK) {
            hone_free(s.path);
            hone_free(s.name);
            json_decref(s.info);
            return st;
        }
    }
    return HONE_OK;
}

void hone_sources_deinit(hone_sources *sources)
{
    for (size_t i = 0; i < sources->len; i++) {
        hone_free(sources->data[i].path);
        hone_free(sources->data[i].name);
        json_decref(sources->data[i].info);
    }
    HONE_VEC_DEINIT(sources);
}
