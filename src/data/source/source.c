/* Sources: what `dataset` names. */
#include "data/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "data/reader.h"
#include "data/source/source_int.h"

const hone_row_columns source_default_columns = {
    .prompt = "instruction", .query = "input", .response = "output", .history = "history", .system = "system",
    .messages = "conversations", .tools = "tools", .role_tag = "from", .content_tag = "value", .user_tag = "human",
    .assistant_tag = "gpt", .observation_tag = "observation", .function_tag = "function_call", .system_tag = "system",
    .chosen = "chosen", .rejected = "rejected", .kto_tag = "kto_tag", .images = "images", .videos = "videos",
    .audios = "audios",
};

typedef struct finder {
    hone_sources       *out;
    const hone_options *options;
    char               *info_path;
    json_t             *info;       /* dataset_info.json, NULL if there is none */
} finder;

static hone_row_format option_format(int choice)
{
    static const hone_row_format formats[] = { HONE_ROWS_AUTO, HONE_ROWS_MESSAGES, HONE_ROWS_ALPACA, HONE_ROWS_SWIFT,
                                               HONE_ROWS_TRL,  HONE_ROWS_IDS,      HONE_ROWS_TEXT };

    return formats[choice];
}

static void source_deinit(hone_source *s)
{
    hone_free(s->path);
    hone_free(s->name);
    json_decref(s->info);
    json_decref(s->renames);
}

/* Append a source like `s` for each file. */
static hone_status add_files(finder *f, const hone_source *s, const source_paths *paths)
{
    for (size_t i = 0; i < paths->len; i++) {
        hone_source one = *s;

        one.path = hone_strdup(paths->data[i]);
        one.name = hone_strdup(s->name);
        json_incref(one.info);
        json_incref(one.renames);
        if (!one.path || !one.name || HONE_VEC_PUSH(f->out, one) != HONE_OK) {
            source_deinit(&one);
            return HONE_E_NOMEM;
        }
    }
    return HONE_OK;
}

static bool is_hub(const char *dir) { return strcmp(dir, "ONLINE") == 0 || hone_starts_with(dir, "REMOTE:"); }

static hone_status read_info(finder *f)
{
    const char *dir = f->options->dataset_dir;

    f->info_path = hone_path_join(dir, "dataset_info.json");
    if (!f->info_path)
        return HONE_E_NOMEM;
    if (is_hub(dir) || !hone_path_exists(f->info_path))
        return HONE_OK;
    HONE_TRY(hone_json_read(&f->info, f->info_path));
    HONE_CHECK(json_is_object(f->info) || json_is_array(f->info), HONE_E_FORMAT,
               "%s: must be an object (of names, as LLaMA-Factory has it) or an array (as ms-swift has it), not %s",
               f->info_path, hone_json_type_name(f->info));
    return HONE_OK;
}

static hone_status unknown_name(const finder *f, const char *name)
{
    const char *dir = f->options->dataset_dir, *near = dataset_info_nearest(f->info, name);

    HONE_CHECK(!is_hub(dir), HONE_E_UNSUPPORTED,
               "data set \"%s\": with dataset_dir \"%s\" it is on a hub, and hone downloads nothing; download it and give "
               "the path of its files", name, dir);
    HONE_CHECK(!hone_starts_with(name, "hf::") && !hone_starts_with(name, "ms::"), HONE_E_UNSUPPORTED,
               "data set \"%s\" is on a hub, and hone downloads nothing; download it and give the path of its files", name);
    HONE_CHECK(!strpbrk(name, "*?["), HONE_E_USAGE, "no file matches the pattern %s", name);
    HONE_CHECK(!hone_reader_knows(name) && name[0] != '/' && name[0] != '.', HONE_E_IO, "cannot open %s: %s", name,
               strerror(ENOENT));
    HONE_CHECK(f->info, HONE_E_USAGE, "data set \"%s\" is neither a file nor a folder, and there is no %s that could name "
               "it", name, f->info_path);
    return HONE_FAIL(HONE_E_USAGE,
                     "data set \"%s\" is neither a file, nor a folder, nor a name in %s%s%s%s; give the path of its files, "
                     "or add the name there", name, f->info_path, near ? " (did you mean " : "", near ? near : "",
                     near ? "?)" : "");
}

/* The files of this name or path, if there is such a thing. */
static hone_status find_plain(finder *f, hone_source *s, const char *name, bool *found)
{
    source_paths paths = { NULL, 0, 0 };
    char        *path = NULL;
    hone_status  st = HONE_OK;
    bool         in_info = false;

    HONE_GO(f->info ? dataset_info_find(s, &path, &in_info, f->info, f->info_path, name, f->options->stage) : HONE_OK);
    HONE_GO(source_expand(&paths, found, in_info ? path : name));
    HONE_GO_CHECK(*found || !in_info, HONE_E_IO, "cannot open %s: %s", path, strerror(ENOENT));
    if (f->options->data_format != HONE_DATA_FORMAT_AUTO)
        s->format = option_format(f->options->data_format);
    if (*found)
        HONE_GO(add_files(f, s, &paths));
out:
    if (st != HONE_OK && in_info)
        hone_status_context(st, "data set \"%s\" of %s", name, f->info_path);
    source_paths_deinit(&paths);
    hone_free(path);
    return st;
}

/* ms-swift's "name#count": the number, or -1. */
static int64_t sample_count(const char *mark)
{
    size_t digits = mark ? strspn(mark + 1, "0123456789") : 0;

    return digits && digits <= 18 && mark[1 + digits] == '\0' ? (int64_t)strtoll(mark + 1, NULL, 10) : -1;
}

/* The same with ms-swift's endings: "name#count" draws rows, "name:subset" is for hubs. */
static hone_status find_with_ending(finder *f, hone_source *s, const char *name, bool *found)
{
    const char *mark = strrchr(name, '#'), *colon = strrchr(name, ':');
    int64_t     count = sample_count(mark);
    char       *base = hone_strndup(name, count >= 0 ? (size_t)(mark - name) : colon ? (size_t)(colon - name) : 0);
    size_t      before = f->out->len;
    hone_status st = HONE_OK;

    *found = false;
    HONE_GO(base ? HONE_OK : HONE_E_NOMEM);
    if (!*base || (count < 0 && !hone_path_exists(base)))
        goto out;
    HONE_GO_CHECK(count >= 0, HONE_E_UNSUPPORTED, "data set \"%s\": \"%s\" would be a subset, which files have none of; "
                  "name the files", name, colon);
    HONE_GO_CHECK(count > 0, HONE_E_USAGE, "data set \"%s\": \"%s\" asks for no row at all", name, mark);
    HONE_GO(find_plain(f, s, base, found));
    for (size_t i = before; i < f->out->len; i++)
        f->out->data[i].num_samples = count;
out:
    hone_free(base);
    return st;
}

static hone_status find(finder *f, const char *name, int32_t set)
{
    const hone_options *o = f->options;
    hone_source         s = { .columns = source_default_columns, .set = set, .num_samples = -1,
                              .max_rows = o->max_samples == HONE_INT_NULL ? -1 : o->max_samples };
    hone_status         st = HONE_OK;
    bool                found;

    s.name = hone_strdup(name);
    HONE_GO(s.name ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(find_plain(f, &s, name, &found));
    if (!found)
        HONE_GO(find_with_ending(f, &s, name, &found));
    HONE_GO(found ? HONE_OK : unknown_name(f, name));
out:
    source_deinit(&s);
    return st;
}

hone_status hone_sources_find(hone_sources *out, const hone_strings *names, const hone_options *o)
{
    hone_status st = HONE_OK;
    finder      f = { .out = out, .options = o };

    HONE_GO(read_info(&f));
    for (size_t i = 0; i < names->n; i++)
        HONE_GO(find(&f, names->v[i], (int32_t)i));
out:
    json_decref(f.info);
    hone_free(f.info_path);
    return st;
}

void hone_sources_deinit(hone_sources *sources)
{
    for (size_t i = 0; i < sources->len; i++)
        source_deinit(&sources->data[i]);
    HONE_VEC_DEINIT(sources);
}
