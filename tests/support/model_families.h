/*
 * support/model_families.h -- the model directories of tests/data/models by family, and a test program of a test per family.
 */
#ifndef HONE_TEST_MODEL_FAMILIES_H
#define HONE_TEST_MODEL_FAMILIES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct t_family {
    char   name[64];            /* what stands before the "-" of a folder's name */
    char **variants;            /* paths of the folders, in order of their names */
    size_t n;
    bool   report;              /* --report was given */
} t_family;

/* main of such a program: `[--report] [FAMILY...]`; check's state is a t_family. */
int t_run_families(const char *group, void (*check)(void **state), int argc, char **argv);

/* The rest fail the test on any error. */
const char *t_variant_name(const char *path);           /* the folder's own name */
char       *t_path(const char *dir, const char *name);  /* hone_free it */
json_t     *t_read_json(const char *dir, const char *name);
char       *t_read_text(const char *dir, const char *name);
void        t_copy(const char *from_dir, const char *from, const char *to_dir, const char *to);
/* Run hone with `arguments` and output to temp/log. False after printing the log: it failed. */
bool        t_hone(const char *what, const char *temp, const char *arguments);
/* The only variant of a family whose expected.json has `key`. */
const char *t_variant_with(const t_family *f, const char *key, json_t **record);

#endif /* HONE_TEST_MODEL_FAMILIES_H */
