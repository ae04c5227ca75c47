/* Chat templates of model directories: which of the files and names is used. */
#include <string.h>

#include "base/file.h"
#include "text/chat_parts.h"

/* What is looked for: a name, or NULL = "default", and "tool_use" for rows with tools. */
typedef struct loader {
    hone_chat  *chat;
    const char *dir, *choice;
    hone_str    names;          /* those there are, for the error */
} loader;

static hone_status nothing_to_load(const loader *l)
{
    if (l->names.len)
        return HONE_FAIL(HONE_E_DATA, "%s: the model has no chat template named \"%s\"; it has: %s", l->dir,
                         l->choice ? l->choice : "default", hone_str_c(&l->names));
    return HONE_FAIL(HONE_E_DATA, "%s: the model has no chat template (no chat_template.jinja, chat_template.json or "
                     "\"chat_template\" in tokenizer_config.json); add one as chat_template.jinja", l->dir);
}

/* Where the template of this name goes, NULL if it is not wanted. */
static hone_template **place_of(loader *l, const char *name)
{
    hone_str_printf(&l->names, "%s\"%s\"", l->names.len ? ", " : "", name);
    if (l->choice)
        return strcmp(name, l->choice) == 0 ? &l->chat->main : NULL;
    if (strcmp(name, "tool_use") == 0)
        return &l->chat->with_tools;
    return strcmp(name, "default") == 0 ? &l->chat->main : NULL;
}

/* ---- files ---- */
static hone_status load_file(hone_template **out, const char *path)
{
    char       *data = NULL;
    size_t      n;
    hone_status st = HONE_OK;

    HONE_GO(hone_file_read_all(&data, &n, path));
    HONE_GO(hone_template_compile(out, data, n, path));
out:
    hone_free(data);
    return st;
}

static hone_status load_named_file(loader *l, const char *file, const char *name)
{
    hone_template **place = place_of(l, name);
    char           *path;
    hone_status     st;

    if (!place || *place)
        return HONE_OK;
    path = hone_path_join(l->dir, file);
    st = path ? load_file(place, path) : HONE_E_NOMEM;
    hone_free(path);
    return st;
}

/* chat_template.jinja is "default"; the files of additional_chat_templates/ have their own names. */
static hone_status load_files(loader *l)
{
    static const char folder[] = "additional_chat_templates";
    char      **names = NULL, *path = NULL;
    size_t      n = 0;
    hone_status st = HONE_OK;

    if (hone_dir_has(l->dir, "chat_template.jinja"))
        HONE_GO(load_named_file(l, "chat_template.jinja", "default"));
    if (!hone_dir_has(l->dir, folder))
        goto out;
    path = hone_path_join(l->dir, folder);
    HONE_GO_CHECK(path, HONE_E_NOMEM, "out of memory");
    HONE_GO(hone_dir_list(&names, &n, path));
    for (size_t i = 0; i < n; i++) {
        char *file, *name;

        if (!hone_ends_with(names[i], ".jinja"))
            continue;
        file = hone_asprintf("%s/%s", folder, names[i]);
        name = hone_strndup(names[i], strlen(names[i]) - strlen(".jinja"));
        st = file && name ? load_named_file(l, file, name) : HONE_E_NOMEM;
        hone_free(file);
        hone_free(name);
        if (st != HONE_OK)
            goto out;
    }
out:
    hone_dir_list_free(names, n);
    hone_free(path);
    return st;
}

/* ---- JSON ---- */
static hone_status load_named_text(loader *l, const char *file, const char *name, const json_t *source)
{
    hone_template **place = place_of(l, name);
    char           *where;
    hone_status     st;

    HONE_CHECK(json_is_string(source), HONE_E_FORMAT, "%s/%s: the chat template \"%s\" is not a text", l->dir, file, name);
    if (!place)
        return HONE_OK;
    hone_template_destroy(place);       /* of templates of one name, the last counts */
    where = hone_asprintf(strcmp(name, "default") == 0 ? "%s/%s (chat_template)" : "%s/%s (chat_template %s)", l->dir, file, name);
    st = where ? hone_template_compile(place, json_string_value(source), json_string_length(source), where) : HONE_E_NOMEM;
    hone_free(where);
    return st;
}

/* The value of a "chat_template" key: a source, named sources as a list of {name, template}, or as an object. */
static hone_status load_value(loader *l, const char *file, json_t *value)
{
    const char *key;
    json_t     *item;
    size_t      i;

    if (!value || json_is_null(value))
        return HONE_OK;
    HONE_CHECK(json_is_string(value) || json_is_array(value) || json_is_object(value), HONE_E_FORMAT,
               "%s/%s: \"chat_template\" is neither a text nor a list of named texts", l->dir, file);
    if (json_is_string(value))
        return load_named_text(l, file, "default", value);
    json_object_foreach(value, key, item)
        HONE_TRY(load_named_text(l, file, key, item));
    json_array_foreach(value, i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));

        HONE_CHECK(name, HONE_E_FORMAT, "%s/%s: item %zu of \"chat_template\" has no \"name\"", l->dir, file, i);
        HONE_TRY(load_named_text(l, file, name, json_object_get(item, "template")));
    }
    return HONE_OK;
}

/* A token given as text or as {"content": text}. */
static json_t *token_text(json_t *v)
{
    json_t *content = json_is_object(v) ? json_object_get(v, "content") : v;

    return json_is_string(content) ? content : NULL;
}

/* Variables of the named tokens of a tokenizer_config.json or special_tokens_map.json. */
static hone_status add_special(hone_chat *c, json_t *config)
{
    const char *key;
    json_t     *v;
    int         bad = 0;

    json_object_foreach(config, key, v)
        if (hone_ends_with(key, "_token") && token_text(v))
            bad |= json_object_set(c->special, key, token_text(v));
    v = json_object_get(config, "extra_special_tokens");
    if (json_is_object(v)) {
        json_t *extra = v;

        json_object_foreach(extra, key, v)
            if (token_text(v))
                bad |= json_object_set(c->special, key, token_text(v));
    }
    HONE_CHECK(!bad, HONE_E_NOMEM, "out of memory");
    return HONE_OK;
}

static bool found(const loader *l) { return l->chat->main || l->chat->with_tools; }

static hone_status load_templates(loader *l, json_t *config)
{
    json_t     *other;
    hone_status st;

    HONE_TRY(load_files(l));
    if (found(l))
        return HONE_OK;
    HONE_TRY(hone_json_read_if_there(&other, l->dir, "chat_template.json"));
    st = load_value(l, "chat_template.json", json_object_get(other, "chat_template"));
    json_decref(other);
    HONE_TRY(st);
    if (!found(l))
        HONE_TRY(load_value(l, "tokenizer_config.json", json_object_get(config, "chat_template")));
    return found(l) ? HONE_OK : nothing_to_load(l);
}

static hone_status load_special(loader *l, json_t *config)
{
    json_t     *map;
    hone_status st = HONE_OK;

    if (!json_object_get(config, "added_tokens_decoder")) {     /* older directories keep the names apart */
        HONE_TRY(hone_json_read_if_there(&map, l->dir, "special_tokens_map.json"));
        st = add_special(l->chat, map);
        json_decref(map);
    }
    return st == HONE_OK ? add_special(l->chat, config) : st;
}

hone_status hone_chat_load_named(hone_chat **out, const char *dir, const char *choice, const hone_tokenizer *tok)
{
    loader      l = { .dir = dir, .choice = choice };
    json_t     *config = NULL;
    hone_status st;

    HONE_TRY(chat_new(out, tok));
    l.chat = *out;
    HONE_GO(hone_json_read_if_there(&config, dir, "tokenizer_config.json"));
    HONE_GO(load_special(&l, config));
    if (choice && hone_ends_with(choice, ".jinja"))
        HONE_GO(load_file(&(*out)->main, choice));
    else
        HONE_GO(load_templates(&l, config));
    HONE_GO(chat_try_arguments(*out));
out:
    json_decref(config);
    hone_str_deinit(&l.names);
    if (st != HONE_OK)
        hone_chat_destroy(out);
    return st;
}

hone_status hone_chat_load(hone_chat **out, const char *dir, const hone_tokenizer *tok)
{
    return hone_chat_load_named(out, dir, NULL, tok);
}
