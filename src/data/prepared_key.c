/* Prepared data: what it was made from. */
#include <string.h>
#include <sys/stat.h>

#include "data/prepared_int.h"

static hone_status put(json_t *object, const char *key, json_t *value)
{
    return value && json_object_set_new(object, key, value) == 0 ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
}

/* ---- the model's files that tokens depend on ---- */

static hone_status put_hash(json_t *text, const char *dir, const char *name)
{
    char       *path = hone_path_join(dir, name);
    hone_hash   hash;
    hone_status st = path ? hone_hash_file(&hash, path) : HONE_E_NOMEM;

    if (st == HONE_OK)
        st = put(text, name, json_string(hash.hex));
    hone_free(path);
    return st;
}

static bool makes_tokens(const char *name)
{
    static const char *const kinds[] = { "tokenizer*.json", "*.model", "special_tokens_map.json", "added_tokens.json",
                                         "vocab*.json", "vocab*.txt", "merges*.txt", "*.tiktoken", "chat_template*.jinja",
                                         "chat_template*.json" };

    for (size_t i = 0; i < HONE_COUNTOF(kinds); i++)
        if (hone_glob_match(kinds[i], name))
            return true;
    return false;
}

static hone_status put_files(json_t *text, const char *dir, const char *below)
{
    char       *folder = *below ? hone_path_join(dir, below) : hone_strdup(dir), **names = NULL;
    size_t      n = 0;
    hone_status st = HONE_OK;

    HONE_GO(folder ? HONE_OK : HONE_E_NOMEM);
    if (!hone_path_is_dir(folder))
        goto out;
    HONE_GO(hone_dir_list(&names, &n, folder));
    for (size_t i = 0; i < n; i++) {
        char *name = *below ? hone_path_join(below, names[i]) : hone_strdup(names[i]);

        st = name ? HONE_OK : HONE_E_NOMEM;
        if (st == HONE_OK && (*below ? hone_ends_with(name, ".jinja") : makes_tokens(name)))
            st = put_hash(text, dir, name);
        hone_free(name);
        HONE_GO(st);
    }
out:
    hone_dir_list_free(names, n);
    hone_free(folder);
    return st;
}

/* The tokenizer goes by the model's type where nothing else names its class. */
static hone_status put_model_type(json_t *text, const char *dir)
{
    json_t     *config, *type;
    hone_status st = hone_json_read_if_there(&config, dir, "config.json");

    type = json_object_get(config, "model_type");
    if (st == HONE_OK && json_is_string(type))
        st = put(text, "model_type of config.json", json_incref(type));
    json_decref(config);
    return st;
}

static hone_status make_text(json_t **out, const char *dir)
{
    *out = json_object();
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory");
    if (!dir)
        return HONE_OK;
    HONE_TRY(put_files(*out, dir, ""));
    HONE_TRY(put_files(*out, dir, "additional_chat_templates"));
    return put_model_type(*out, dir);
}

/* ---- source files ---- */

static hone_status describe_source(json_t **out, const hone_source *s, const char *part, const hone_options *o, bool hashes)
{
    struct stat info;
    hone_hash   hash = { "" };
    json_t     *entry = s->info ? json_incref(s->info) : json_null();

    *out = NULL;
    if (stat(s->path, &info) != 0) {
        json_decref(entry);
        return HONE_FAIL(HONE_E_IO, "%s is not there any more", s->path);
    }
    if (hashes) {
        hone_status st = hone_hash_file(&hash, s->path);

        if (st != HONE_OK) {
            json_decref(entry);
            return HONE_TRACE(st);
        }
    }
    *out = json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:I, s:O?, s:o}", "path", s->path, "part", part, "set", s->name,
                     "size", (json_int_t)info.st_size, "mtime", (json_int_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec,
                     "hash", hash.hex, "num_samples", (json_int_t)s->num_samples, "max_rows", (json_int_t)s->max_rows,
                     "seed", (json_int_t)(s->num_samples >= 0 ? o->seed : -1), "renames", s->renames, "entry", entry);
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory, or a path that is no UTF-8: %s", s->path);
    return HONE_OK;
}

static hone_status put_sources(json_t *list, const hone_strings *names, const char *part, const hone_options *o, bool hashes)
{
    hone_sources sources = { NULL, 0, 0 };
    hone_status  st = HONE_OK;

    if (names->n == 0)
        return HONE_OK;
    HONE_GO(hone_sources_find(&sources, names, o));
    for (size_t i = 0; i < sources.len; i++) {
        json_t *source;

        HONE_GO(describe_source(&source, &sources.data[i], part, o, hashes));
        HONE_GO_CHECK(json_array_append_new(list, source) == 0, HONE_E_NOMEM, "out of memory");
    }
out:
    hone_sources_deinit(&sources);
    return st;
}

static hone_status make_sources(json_t **out, const hone_options *o, bool hashes)
{
    *out = json_array();
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory");
    HONE_TRY(put_sources(*out, &o->dataset, "dataset", o, hashes));
    return put_sources(*out, &o->eval_dataset, "eval_dataset", o, hashes);
}

hone_status prepared_key(json_t **out, const hone_dataset_context *c, bool hashes)
{
    hone_status st = HONE_OK;
    hone_str    options = HONE_STR_INIT;
    json_t     *key = json_object(), *text = NULL, *sources = NULL;

    *out = NULL;
    hone_options_data_identity(c->options, &options);
    HONE_GO(hone_str_ok(&options));
    HONE_GO(make_text(&text, c->model_dir));
    if (c->slots && hone_slots_date(c->slots))
        HONE_GO(put(text, "the date of tool texts (tool_date)", json_string(hone_slots_date(c->slots))));
    HONE_GO(make_sources(&sources, c->options, hashes));
    HONE_GO(put(key, "options", json_string(hone_str_c(&options))));
    HONE_GO(put(key, "text", json_incref(text)));
    HONE_GO(put(key, "sources", json_incref(sources)));
    *out = json_incref(key);
out:
    hone_str_deinit(&options);
    json_decref(text);
    json_decref(sources);
    json_decref(key);
    return st;
}

/* ---- comparison ---- */

/* The first line that differs of two texts of options. */
static hone_status compare_options(const char *mine, const char *theirs)
{
    size_t line;
    int    a, b;

    if (strcmp(mine, theirs) == 0)
        return HONE_OK;
    line = hone_first_different_line(mine, theirs);
    a = (int)strcspn(mine + line, "\n");
    b = (int)strcspn(theirs + line, "\n");
    return HONE_FAIL(HONE_E_EXISTS, "was made with other options: there \"%.*s\", here \"%.*s\"", b, theirs + line, a,
                     mine + line);
}

static hone_status compare_text(const json_t *mine, const json_t *theirs)
{
    const char *name;
    json_t     *value;

    json_object_foreach((json_t *)mine, name, value)
        HONE_CHECK(json_equal(value, json_object_get(theirs, name)), HONE_E_EXISTS,
                   "was made with another tokenizer or chat template: %s %s", name,
                   json_object_get(theirs, name) ? "differs" : "was not there");
    json_object_foreach((json_t *)theirs, name, value)
        HONE_CHECK(json_object_get(mine, name), HONE_E_EXISTS,
                   "was made with another tokenizer or chat template: %s is not here", name);
    return HONE_OK;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static bool same(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key));
}

static hone_status compare_source(const json_t *mine, const json_t *theirs)
{
    static const char *const exact[] = { "part", "set", "num_samples", "max_rows", "seed", "renames", "entry" };
    const char              *path = text_of(mine, "path"), *there = text_of(theirs, "path");
    hone_hash                hash;

    for (size_t i = 0; i < HONE_COUNTOF(exact); i++)
        HONE_CHECK(same(mine, theirs, exact[i]), HONE_E_EXISTS, "was made from %s as dataset_info.json described it then: %s of "
                   "data set \"%s\" differs", there, exact[i], text_of(mine, "set"));
    HONE_CHECK(strcmp(hone_path_base(path), hone_path_base(there)) == 0, HONE_E_EXISTS, "was made from %s, which is %s now",
               there, path);
    HONE_CHECK(same(mine, theirs, "size"), HONE_E_EXISTS, "was made from %s, which had %lld bytes then and has %lld now",
               path, (long long)json_integer_value(json_object_get(theirs, "size")),
               (long long)json_integer_value(json_object_get(mine, "size")));
    if (strcmp(path, there) == 0 && same(mine, theirs, "mtime"))
        return HONE_OK;
    HONE_TRY(hone_hash_file(&hash, path));
    HONE_CHECK(strcmp(hash.hex, text_of(theirs, "hash")) == 0, HONE_E_EXISTS,
               "was made from %s, whose content was another then", path);
    return HONE_OK;
}

/* None of the files is here: prepared on another machine, say. */
static bool all_gone(const json_t *sources)
{
    const json_t *source;
    size_t        i;

    json_array_foreach(sources, i, source)
        if (hone_path_exists(text_of(source, "path")))
            return false;
    return true;
}

static hone_status compare_sources(const json_t *theirs, const hone_dataset_context *c)
{
    hone_status st = HONE_OK;
    json_t     *mine = NULL, *source;
    size_t      i;

    st = make_sources(&mine, c->options, false);
    if (st != HONE_OK && all_gone(theirs)) {
        hone_info(c->log, "%s: the files that it was made from are not here, so they were not compared",
                  c->options->tokenized_path);
        hone_status_clear();
        st = HONE_OK;
        goto out;
    }
    HONE_GO(st);
    HONE_GO_CHECK(json_array_size(mine) == json_array_size(theirs), HONE_E_EXISTS,
                  "was made from %zu files, and there are %zu now", json_array_size(theirs), json_array_size(mine));
    json_array_foreach(mine, i, source)
        HONE_GO(compare_source(source, json_array_get(theirs, i)));
out:
    json_decref(mine);
    return st;
}

/* The comparison's sentence begins with the folder, and ends with the way out, unless that is taken. */
static hone_status name_folder(hone_status st, const hone_options *o)
{
    hone_error e;

    if (st != HONE_E_EXISTS)
        return st;
    hone_error_save(&e);
    return HONE_FAIL(st, "%s %s%s", o->tokenized_path, e.text,
                     o->overwrite_cache ? "" : "; set overwrite_cache: true to prepare anew, or give another tokenized_path");
}

hone_status prepared_check_key(const json_t *manifest, const hone_dataset_context *c)
{
    const json_t *key = json_object_get(manifest, "key");
    hone_status   st = HONE_OK;
    hone_str    options = HONE_STR_INIT;
    json_t     *text = NULL;

    hone_options_data_identity(c->options, &options);
    HONE_GO(hone_str_ok(&options));
    /* Another version may make other samples of the same rows. */
    HONE_GO_CHECK(strcmp(text_of(manifest, "hone"), HONE_VERSION) == 0, HONE_E_EXISTS,
                  "was made by hone %s, and this is hone %s", text_of(manifest, "hone"), HONE_VERSION);
    HONE_GO(compare_options(hone_str_c(&options), text_of(key, "options")));
    HONE_GO(make_text(&text, c->model_dir));
    HONE_GO(compare_text(text, json_object_get(key, "text")));
    HONE_GO(compare_sources(json_object_get(key, "sources"), c));
out:
    hone_str_deinit(&options);
    json_decref(text);
    return name_folder(st, c->options);
}

hone_status prepared_check_unchanged(const json_t *key)
{
    const json_t *source;
    size_t        i;

    json_array_foreach(json_object_get(key, "sources"), i, source) {
        const char *path = text_of(source, "path");
        struct stat info;

        HONE_CHECK(stat(path, &info) == 0 && info.st_size == json_integer_value(json_object_get(source, "size"))
                   && (json_int_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec
                      == json_integer_value(json_object_get(source, "mtime")),
                   HONE_E_IO, "%s was changed while it was prepared; prepare again", path);
    }
    return HONE_OK;
}
