/* Sources: paths, folders and patterns to files. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "data/reader.h"
#include "data/source/source_int.h"

enum { DEPTH_MAX = 64 };        /* folders that "**" goes down */

void source_paths_deinit(source_paths *paths)
{
    for (size_t i = 0; i < paths->len; i++)
        hone_free(paths->data[i]);
    HONE_VEC_DEINIT(paths);
}

static hone_status add(source_paths *out, const char *path)
{
    char *copy = hone_strdup(path);

    if (!copy || HONE_VEC_PUSH(out, copy) != HONE_OK) {
        hone_free(copy);
        return HONE_E_NOMEM;
    }
    return HONE_OK;
}

/* ".json" of "a.jsonl.gz": files of one type may stand beside one another in a folder. */
static const char *type_of(const char *path)
{
    static const char *const types[] = { ".json", ".csv", ".tsv", ".txt" };
    const char *base = hone_path_base(path), *last = base, *at;

    for (size_t i = 0; i < HONE_COUNTOF(types); i++)
        for (at = base; (at = strstr(at, types[i])); at++)
            last = at > last ? at : last;
    for (size_t i = 0; i < HONE_COUNTOF(types); i++)
        if (hone_starts_with(last, types[i]))
            return types[i];
    return "";
}

/* ---- folders ---- */

static hone_status add_of_folder(source_paths *out, const char *dir, const char *name, const char **type)
{
    hone_status st = HONE_OK;
    char       *path = hone_path_join(dir, name);

    if (!path)
        return HONE_E_NOMEM;
    HONE_GO_CHECK(!hone_path_is_dir(path), HONE_E_USAGE, "%s: folders in a folder of data are not read; name them, or give "
                  "a pattern as %s/**/*.jsonl", path, dir);
    st = hone_reader_check_ending(path);
    if (st != HONE_OK)
        hone_status_context(st, "every file of the folder %s is read; take others out, or give a pattern as %s/*.jsonl", dir, dir);
    HONE_GO(st);
    HONE_GO_CHECK(!*type || strcmp(*type, type_of(path)) == 0, HONE_E_USAGE,
                  "%s holds files of several types (%s and %s); give a pattern as %s/*.jsonl", dir, *type, type_of(path),
                  dir);
    *type = type_of(path);
    HONE_GO(add(out, path));
out:
    hone_free(path);
    return st;
}

static hone_status add_folder(source_paths *out, const char *dir)
{
    const char *type = NULL;
    char      **names;
    size_t      n, before = out->len;
    hone_status st = HONE_OK;

    HONE_TRY(hone_dir_list(&names, &n, dir));
    for (size_t i = 0; i < n; i++)
        if (names[i][0] != '.' && strcmp(names[i], "dataset_info.json") != 0)
            HONE_GO(add_of_folder(out, dir, names[i], &type));
    HONE_GO_CHECK(out->len > before, HONE_E_USAGE, "%s: the folder holds no data files", dir);
out:
    hone_dir_list_free(names, n);
    return st;
}

/* ---- patterns ---- */

static bool is_pattern(const char *path) { return strpbrk(path, "*?[") != NULL; }

/* A folder, and no link to one: "**" follows none, which could lead in a circle. */
static bool is_true_dir(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static char *join(const char *dir, const char *name)
{
    return !*dir ? hone_strdup(name) : strcmp(dir, "/") == 0 ? hone_asprintf("/%s", name) : hone_path_join(dir, name);
}

static hone_status match(source_paths *out, const char *dir, const char *pattern, int depth);

/* What the rest of the pattern, "" for none, matches from here. */
static hone_status match_rest(source_paths *out, const char *path, const char *rest, int depth)
{
    struct stat info;

    if (*rest)
        return match(out, path, rest, depth);
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode) ? add(out, path) : HONE_OK;
}

/* Every entry of `dir` that the first part of the pattern fits; for "**" every folder, which the same pattern goes on in. */
static hone_status match_entries(source_paths *out, const char *dir, const char *part, const char *pattern, const char *rest,
                                 int depth)
{
    hone_status st = HONE_OK;
    bool        deep = strcmp(part, "**") == 0;
    const char *from = *dir ? dir : ".";
    char      **names, *path = NULL;
    size_t      n;

    if (!hone_path_is_dir(from))
        return HONE_OK;
    HONE_TRY(hone_dir_list(&names, &n, from));
    for (size_t i = 0; i < n; i++) {
        if (deep ? names[i][0] == '.' : fnmatch(part, names[i], FNM_PERIOD) != 0)
            continue;
        path = join(dir, names[i]);
        HONE_GO(path ? HONE_OK : HONE_E_NOMEM);
        if (!deep)
            HONE_GO(match_rest(out, path, rest, depth));
        else if (is_true_dir(path))
            HONE_GO(match(out, path, pattern, depth + 1));
        hone_free(path);
        path = NULL;
    }
out:
    hone_free(path);
    hone_dir_list_free(names, n);
    return st;
}

static hone_status match(source_paths *out, const char *dir, const char *pattern, int depth)
{
    const char *slash = strchr(pattern, '/'), *rest = slash ? slash + strspn(slash, "/") : pattern + strlen(pattern);
    char       *part = hone_strndup(pattern, slash ? (size_t)(slash - pattern) : strlen(pattern)), *path = NULL;
    hone_status st = HONE_OK;

    HONE_GO(part ? HONE_OK : HONE_E_NOMEM);
    if (strcmp(part, "**") == 0)        /* as good as one: each more would go through all folders again */
        while (hone_starts_with(rest, "**/"))
            rest += 2 + strspn(rest + 2, "/");
    HONE_GO_CHECK(depth <= DEPTH_MAX, HONE_E_USAGE, "%s: \"**\" goes down more than %d folders", dir, DEPTH_MAX);
    if (!is_pattern(part)) {
        path = join(dir, part);
        HONE_GO(path ? HONE_OK : HONE_E_NOMEM);
        HONE_GO(match_rest(out, path, rest, depth));
        goto out;
    }
    if (strcmp(part, "**") == 0)        /* no folder at all; at the end of a pattern it means what "*" does */
        HONE_GO(*rest ? match(out, dir, rest, depth) : match_entries(out, dir, "*", "*", "", depth));
    HONE_GO(match_entries(out, dir, part, pattern, rest, depth));
out:
    hone_free(part);
    hone_free(path);
    return st;
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static hone_status add_matches(source_paths *out, const char *pattern)
{
    source_paths found = { NULL, 0, 0 };
    hone_status  st = HONE_OK;
    size_t       skip = strspn(pattern, "/");

    HONE_GO(match(&found, skip ? "/" : "", pattern + skip, 0));
    if (found.len)
        qsort(found.data, found.len, sizeof *found.data, by_bytes);
    for (size_t i = 0; i < found.len; i++) {
        if (i && strcmp(found.data[i], found.data[i - 1]) == 0)     /* "**" may find one file in two ways */
            continue;
        HONE_GO(hone_reader_check_ending(found.data[i]));
        HONE_GO(add(out, found.data[i]));
    }
out:
    source_paths_deinit(&found);
    return st;
}

hone_status source_expand(source_paths *out, bool *found, const char *path)
{
    struct stat info;

    *found = true;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return add_folder(out, path);
        HONE_TRY(hone_reader_check_ending(path));
        return add(out, path);
    }
    if (errno == ENOENT && is_pattern(path)) {
        size_t before = out->len;

        HONE_TRY(add_matches(out, path));
        *found = out->len > before;
        return HONE_OK;
    }
    HONE_CHECK(errno == ENOENT || errno == ENOTDIR, HONE_E_IO, "cannot open %s: %s", path, strerror(errno));
    *found = false;
    return HONE_OK;
}
