#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/model_dir.h"

/* A hub id is "name" or "org/name" of letters, digits, '-', '_' and '.'; no part starts or ends with '-' or '.', and "--"
 * and ".." do not occur (huggingface_hub, validate_repo_id). */
static bool is_hub_id(const char *s)
{
    int  parts = 1;
    char before = '/';

    if (strlen(s) > 96 || strstr(s, "--") || strstr(s, ".."))
        return false;
    for (const char *p = s;; p++) {
        bool edge = *p == '/' || *p == '\0';

        if (edge && (before == '/' || before == '-' || before == '.'))
            return false;
        if (*p == '\0')
            return parts <= 2;
        if (edge)
            parts++;
        else if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *p))
            return false;
        else if (before == '/' && (*p == '-' || *p == '.'))
            return false;
        before = *p;
    }
}

/* The folder given by an environment variable and a tail, with "~/" expanded; NULL without error if it is not set. */
static hone_status folder_from(char **out, const char *variable, const char *tail)
{
    const char *value = getenv(variable), *home = getenv("HOME");

    *out = NULL;
    if (!value || !*value)
        return HONE_OK;
    *out = value[0] == '~' && (value[1] == '/' || value[1] == '\0') && home ? hone_asprintf("%s%s%s", home, value + 1, tail)
                                                                             : hone_asprintf("%s%s", value, tail);
    return *out ? HONE_OK : HONE_E_NOMEM;
}

static hone_status cache_folder(char **out)
{
    static const char *const places[][2] = {
        { "HF_HUB_CACHE", "" }, { "HUGGINGFACE_HUB_CACHE", "" }, { "HF_HOME", "/hub" },
        { "XDG_CACHE_HOME", "/huggingface/hub" }, { "HOME", "/.cache/huggingface/hub" },
    };

    *out = NULL;
    for (size_t i = 0; i < HONE_COUNTOF(places) && !*out; i++)
        HONE_TRY(folder_from(out, places[i][0], places[i][1]));
    HONE_CHECK(*out, HONE_E_IO, "the Hugging Face cache is not known: neither HF_HOME nor HOME is set");
    return HONE_OK;
}

/* The commit that `revision` means for a cached model: the content of refs/<revision>, else itself. Owns: hone_free. */
static hone_status read_ref(char **commit, const char *model, const char *revision)
{
    hone_status st = HONE_OK;
    char       *path = hone_asprintf("%s/refs/%s", model, revision);
    size_t      n;

    *commit = NULL;
    if (!path)
        return HONE_E_NOMEM;
    if (!strstr(revision, "..") && hone_path_exists(path) && !hone_path_is_dir(path)) {
        HONE_GO(hone_file_read_all(commit, &n, path));
        (*commit)[strcspn(*commit, " \t\r\n")] = '\0';
    } else {
        *commit = hone_strdup(revision);
        st = *commit ? HONE_OK : HONE_E_NOMEM;
    }
out:
    hone_free(path);
    return st;
}

/* The snapshot of a hub id in `cache`; NULL without error if it is not there. */
static hone_status find_snapshot(char **out, const char *cache, const char *id, const char *revision)
{
    char       *model = hone_asprintf("%s/models--%s", cache, id), *commit = NULL, *slash;
    hone_status st = HONE_OK;

    *out = NULL;
    if (!model)
        return HONE_E_NOMEM;
    slash = strchr(model + strlen(cache) + 1, '/');
    if (slash) {    /* "org/name" is stored as "org--name" */
        char *joined = hone_asprintf("%.*s--%s", (int)(slash - model), model, slash + 1);

        hone_free(model);
        model = joined;
        if (!model)
            return HONE_E_NOMEM;
    }
    HONE_GO(read_ref(&commit, model, revision));
    if (*commit && commit[0] != '.' && !strchr(commit, '/')) {
        *out = hone_asprintf("%s/snapshots/%s", model, commit);
        if (!*out)
            st = HONE_E_NOMEM;
        else if (!hone_path_is_dir(*out)) {
            hone_free(*out);
            *out = NULL;
        }
    }
out:
    hone_free(commit);
    hone_free(model);
    return st;
}

hone_status hone_model_dir_locate(char **path, const char *name, const char *revision)
{
    const char *rev = revision && *revision ? revision : "main";
    char       *cache = NULL;
    hone_status st;

    *path = NULL;
    if (hone_path_is_dir(name)) {
        *path = hone_strdup(name);
        return *path ? HONE_OK : HONE_E_NOMEM;
    }
    HONE_CHECK(!hone_path_exists(name), HONE_E_IO, "%s is a file; give the folder of the model", name);
    HONE_CHECK(is_hub_id(name), HONE_E_IO, "there is no folder %s", *name ? name : "with an empty name");
    HONE_GO(cache_folder(&cache));
    HONE_GO(find_snapshot(path, cache, name, rev));
    HONE_GO_CHECK(*path, HONE_E_IO, "there is no folder %s, and the Hugging Face cache %s has no such model%s%s; download it "
                  "with `hf download %s%s%s`", name, cache, revision ? " at revision " : "", revision ? rev : "", name,
                  revision ? " --revision " : "", revision ? rev : "");
out:
    hone_free(cache);
    return st;
}
