#include "data/prepared.h"

#include <string.h>

#include "base/clock.h"
#include "data/prepared_int.h"

/* ---- what is there ---- */

typedef enum folder { FOLDER_ABSENT, FOLDER_PREPARED, FOLDER_OTHER } folder;

static bool is_arrow(const char *name) { return hone_ends_with(name, ".arrow") || strcmp(name, "dataset_dict.json") == 0; }

/* Errors: E_UNSUPPORTED for what LLaMA-Factory saves under this option. */
static hone_status look(folder *out, const char *dir)
{
    hone_status st = HONE_OK;
    char      **names = NULL;
    size_t      n = 0;

    *out = FOLDER_ABSENT;
    if (!hone_path_exists(dir))
        return HONE_OK;
    *out = FOLDER_OTHER;
    if (!hone_path_is_dir(dir))
        return HONE_OK;
    HONE_TRY(hone_dir_list(&names, &n, dir));
    if (n == 0)
        *out = FOLDER_ABSENT;
    if (hone_dir_has_file(dir, PREPARED_MANIFEST))
        *out = FOLDER_PREPARED;
    for (size_t i = 0; i < n; i++)
        HONE_GO_CHECK(!is_arrow(names[i]), HONE_E_UNSUPPORTED, "%s holds Arrow files (%s), as LLaMA-Factory saves data that it "
                      "tokenised; hone reads its own only: give another tokenized_path, and hone prepares the data there", dir,
                      names[i]);
out:
    hone_dir_list_free(names, n);
    return st;
}

static hone_status refuse_other(const char *dir)
{
    return HONE_FAIL(HONE_E_EXISTS, "tokenized_path %s is there, and is no folder of data that hone prepared; give a folder that does "
                     "not exist yet", dir);
}

/* *fresh: the folder's samples are those of the context. Errors: E_EXISTS with what differs. */
static hone_status check_prepared(bool *fresh, const hone_dataset_context *c)
{
    const char *dir = c->options->tokenized_path;
    json_t     *manifest;
    hone_status st;

    st = prepared_read_manifest(&manifest, dir);
    if (st == HONE_OK)
        st = prepared_check_key(manifest, c);
    json_decref(manifest);
    *fresh = st == HONE_OK;
    if ((st == HONE_E_EXISTS || st == HONE_E_FORMAT) && c->options->overwrite_cache) {
        hone_info(c->log, "preparing anew: %s", hone_status_text());
        hone_status_clear();
        return HONE_OK;
    }
    return st;
}

/* ---- making it ---- */

static hone_status make_parts(const hone_dataset_context *c, const char *dir)
{
    hone_dataset *train = NULL, *eval = NULL;
    json_t       *key = NULL;
    hone_status   st = HONE_OK;

    HONE_GO(prepared_key(&key, c, true));
    HONE_GO(dataset_read(&train, &eval, c, &(dataset_sinks){ { dir, "train" }, { dir, "eval" } }));
    HONE_GO(prepared_check_unchanged(key));
    HONE_GO(prepared_write_manifest(dir, key, train, eval));
    HONE_GO(hone_dir_sync(dir));
out:
    hone_dataset_destroy(&train);
    hone_dataset_destroy(&eval);
    json_decref(key);
    return st;
}

static bool is_own(const char *name)
{
    static const char *const own[] = {
#define FILES_(name, type) "train." #name, "eval." #name,
        DATASET_COLUMNS(FILES_)
#undef FILES_
        PREPARED_MANIFEST, PREPARED_MANIFEST ".tmp-*",
    };

    for (size_t i = 0; i < HONE_COUNTOF(own); i++)
        if (hone_glob_match(own[i], name))
            return true;
    return false;
}

/* A folder that is about to go holds nothing but what hone wrote. */
static hone_status check_own(const char *dir)
{
    char      **names;
    size_t      n;
    hone_status st = HONE_OK;

    HONE_TRY(hone_dir_list(&names, &n, dir));
    for (size_t i = 0; i < n; i++)
        HONE_GO_CHECK(is_own(names[i]), HONE_E_EXISTS, "%s is to be replaced, and holds %s, which hone did not "
                      "write; move it away", dir, names[i]);
out:
    hone_dir_list_free(names, n);
    return st;
}

static hone_status clear_dir(const char *dir)
{
    char      **names;
    size_t      n;
    hone_status st = HONE_OK;

    HONE_TRY(check_own(dir));
    HONE_TRY(hone_dir_list(&names, &n, dir));
    for (size_t i = 0; i < n && st == HONE_OK; i++) {
        char *path = hone_path_join(dir, names[i]);

        st = path ? hone_dir_remove(path) : HONE_E_NOMEM;
        hone_free(path);
    }
    hone_dir_list_free(names, n);
    return st;
}

/* What a process left that was killed while it prepared is cleared away; one that still runs is not disturbed. */
static hone_status make(const hone_dataset_context *c, const char *dir)
{
    char          *made = hone_asprintf("%s.preparing", dir);
    hone_dir_lock *lock = NULL;
    hone_status    st = HONE_OK;

    HONE_GO(made ? hone_dir_make(made) : HONE_E_NOMEM);
    HONE_GO(hone_dir_lock_take(&lock, made));
    HONE_GO(clear_dir(made));
    st = make_parts(c, made);
    if (st == HONE_OK)
        st = hone_dir_replace(made, dir);
    if (st != HONE_OK)
        hone_dir_discard(made);
out:
    hone_dir_unlock(&lock);
    hone_free(made);
    return st;
}

hone_status hone_prepare(const hone_dataset_context *c, bool *made)
{
    const char *dir = c->options->tokenized_path;
    size_t      n = dir ? strlen(dir) : 0;
    char       *plain;
    folder      what;
    bool        fresh = false;
    double      start = hone_clock_now();
    hone_status st = HONE_OK;

    *made = false;
    HONE_CHECK(n > 0, HONE_E_USAGE, "tokenized_path is missing: the folder to prepare the data into");
    while (n > 1 && dir[n - 1] == '/')
        n--;
    plain = hone_strndup(dir, n);       /* names beside it are made of it */
    HONE_GO(plain ? look(&what, plain) : HONE_E_NOMEM);
    if (what == FOLDER_OTHER)
        HONE_GO(refuse_other(plain));
    if (what == FOLDER_PREPARED)
        HONE_GO(check_prepared(&fresh, c));
    if (fresh)
        goto out;
    if (what == FOLDER_PREPARED)
        HONE_GO(check_own(plain));
    HONE_GO(make(c, plain));
    *made = true;
    hone_info(c->log, "prepared %s in %.1f s", plain, hone_clock_now() - start);
out:
    hone_free(plain);
    return st;
}

/* ---- using it ---- */

hone_status hone_prepared_open(hone_dataset **train, hone_dataset **eval, const char *dir)
{
    json_t     *manifest = NULL;
    hone_status st = HONE_OK;

    *train = *eval = NULL;
    HONE_GO(prepared_read_manifest(&manifest, dir));
    HONE_GO(prepared_open_part(train, manifest, dir, "train"));
    HONE_GO(prepared_open_part(eval, manifest, dir, "eval"));
out:
    if (st != HONE_OK) {
        hone_dataset_destroy(train);
        hone_dataset_destroy(eval);
    }
    json_decref(manifest);
    return st;
}

hone_status hone_prepared_load(hone_dataset **train, hone_dataset **eval, const hone_dataset_context *c)
{
    bool made;

    *train = *eval = NULL;
    HONE_TRY(hone_prepare(c, &made));
    HONE_TRY(hone_prepared_open(train, eval, c->options->tokenized_path));
    if (made)       /* the counts were told already */
        return HONE_OK;
    hone_info(c->log, "using the prepared data of %s", c->options->tokenized_path);
    if (*train)
        hone_dataset_log_report(*train, "dataset", c->log);
    if (*eval)
        hone_dataset_log_report(*eval, c->options->eval_dataset.n ? "eval_dataset" : "held out", c->log);
    return HONE_OK;
}
