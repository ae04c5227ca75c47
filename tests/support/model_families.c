#include "model_families.h"

#include <stdio.h>
#include <stdlib.h>

#include "hone_test.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

#define FOLDER TEST_DATA "/data/models"

const char *t_variant_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

char *t_path(const char *dir, const char *name)
{
    char *path = hone_path_join(dir, name);

    assert_non_null(path);
    return path;
}

json_t *t_read_json(const char *dir, const char *name)
{
    char   *path = t_path(dir, name);
    json_t *root = NULL;

    T_OK(hone_json_read(&root, path));
    hone_free(path);
    return root;
}

char *t_read_text(const char *dir, const char *name)
{
    char  *path = t_path(dir, name), *text = NULL;
    size_t size;

    T_OK(hone_file_read_all(&text, &size, path));
    hone_free(path);
    return text;
}

void t_copy(const char *from_dir, const char *from, const char *to_dir, const char *to)
{
    char *source = t_path(from_dir, from), *target = t_path(to_dir, to);

    T_OK(hone_file_copy(source, target));
    hone_free(source);
    hone_free(target);
}

bool t_hone(const char *what, const char *temp, const char *arguments)
{
    char command[2048];

    snprintf(command, sizeof command, "\"$HONE\" %s >'%s/log' 2>&1", arguments, temp);
    if (system(command) == 0)
        return true;
    char *text = t_read_text(temp, "log");

    print_error("%s: hone %.20s ... failed: %s\n", what, arguments, text);
    hone_free(text);
    return false;
}

const char *t_variant_with(const t_family *f, const char *key, json_t **record)
{
    const char *found = NULL;

    *record = NULL;
    for (size_t i = 0; i < f->n; i++) {
        json_t *root = t_read_json(f->variants[i], "expected.json");

        if (json_object_get(root, key)) {
            if (found)
                fail_msg("%s: both %s and %s have \"%s\"", f->name, found, f->variants[i], key);
            found = f->variants[i];
            *record = root;
        } else {
            json_decref(root);
        }
    }
    if (!found)
        fail_msg("%s: no variant has \"%s\"", f->name, key);
    return found;
}

static bool asked_for(const char *name, char *const *names, int n)
{
    bool any = false;

    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0)
            return true;
        any |= names[i][0] != '-';
    }
    return !any;
}

static void check_three(void **state)
{
    const t_family *f = *state;

    fail_msg("a family has at least three variants; %s has %zu", f->name, f->n);
}

/* The families asked for; the variants of one lie side by side, since the names are sorted. */
static size_t gather(t_family *families, size_t room, char **names, size_t n, int argc, char **argv)
{
    size_t found = 0;
    char   family[64];

    for (size_t i = 0; i < n; i++) {
        snprintf(family, sizeof family, "%.*s", (int)strcspn(names[i], "-"), names[i]);
        if (!asked_for(family, argv + 1, argc - 1))
            continue;
        if (!found || strcmp(families[found - 1].name, family) != 0) {
            assert_true(found < room);
            families[found] = (t_family){ .variants = hone_calloc(n, sizeof(char *)) };
            assert_non_null(families[found].variants);
            families[found].report = argc > 1 && strcmp(argv[1], "--report") == 0;
            memcpy(families[found++].name, family, sizeof family);
        }
        families[found - 1].variants[families[found - 1].n++] = t_path(FOLDER, names[i]);
    }
    return found;
}

int t_run_families(const char *group, void (*check)(void **state), int argc, char **argv)
{
    static t_family   families[128];
    struct CMUnitTest tests[HONE_COUNTOF(families)];
    char            **names;
    size_t            n, found;
    int               failed;

    if (!getenv("HONE") || hone_dir_list(&names, &n, FOLDER) != HONE_OK) {
        fprintf(stderr, "the environment variable HONE must name the program, and %s must be there\n", FOLDER);
        return 1;
    }
    found = gather(families, HONE_COUNTOF(families), names, n, argc, argv);
    hone_dir_list_free(names, n);
    for (size_t i = 0; i < found; i++) {
        t_family *f = &families[i];

        tests[i] = (struct CMUnitTest){ f->name, f->n < 3 ? check_three : check, NULL, NULL, f };
    }
    if (found == 0) {
        fprintf(stderr, "no such family in %s\n", FOLDER);
        return 1;
    }
    failed = _cmocka_run_group_tests(group, tests, found, NULL, NULL);
    for (size_t i = 0; i < found; i++) {
        for (size_t k = 0; k < families[i].n; k++)
            hone_free(families[i].variants[k]);
        hone_free(families[i].variants);
    }
    return failed;
}
