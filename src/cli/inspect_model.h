/* cli/inspect_model.h -- what `hone inspect model` found, and the two ways to show it. */
#ifndef HONE_CLI_INSPECT_MODEL_H
#define HONE_CLI_INSPECT_MODEL_H

#include "base/str.h"
#include "model/load.h"
#include "train/memory.h"

/* Blocks that are equal: the same modules, in files of the same dtypes, that compute the same. */
typedef struct hone_block_kind {
    const hone_module *first;       /* borrowed */
    char              *text;        /* what they compute */
    size_t             modules;     /* the first kind that has the same modules: itself, if none before has */
    hone_vec_i32       blocks;      /* which */
} hone_block_kind;

/* Tensors of the files that nothing reads, under one pattern. */
typedef struct hone_unread { char *pattern; int64_t tensors; } hone_unread;

enum { HONE_MEMORY_CASES = 4 };

typedef struct hone_model_view {
    char        *path;
    hone_loaded *loaded;
    int64_t      cutoff_len, samples, threads;
    HONE_VEC(hone_block_kind) kinds;
    HONE_VEC(hone_unread)     unread;
    hone_memory_case          cases[HONE_MEMORY_CASES];
    hone_memory               memory[HONE_MEMORY_CASES];
} hone_model_view;

/* The dtype that a parameter has in the files. */
const char *hone_view_file_dtype(const hone_model_view *v, const hone_param *p);
/* Elements of all parameters in a module. */
int64_t     hone_view_numel(const hone_module *m);
/* The treatment of a module (not that of one around it) in words, units and recompute first; empty when there is none. */
void        hone_view_treatment(hone_str *out, const hone_model_view *v, const hone_module *m);
/* Append to `list` the numbers of ranks among which all modules can be cut. */
hone_status hone_view_splits(hone_vec_i64 *list, const hone_model_view *v) HONE_MUST_CHECK;

hone_status hone_view_print_text(const hone_model_view *v) HONE_MUST_CHECK;
hone_status hone_view_print_json(const hone_model_view *v) HONE_MUST_CHECK;

#endif /* HONE_CLI_INSPECT_MODEL_H */
