/* data/source/source_int.h -- inside of finding sources, for this folder only. */
#ifndef HONE_DATA_SOURCE_INT_H
#define HONE_DATA_SOURCE_INT_H

#include "data/source.h"

typedef HONE_VEC(char *) source_paths;

/*
 * The data files that a path means, appended: a file; the files of a folder (of one type; hidden ones and
 * dataset_info.json are left out); what a pattern matches. In order of their bytes. *found is false if there is nothing.
 * Errors: E_IO; E_USAGE (an empty folder, a folder of mixed types); E_UNSUPPORTED (a kind that is not read).
 */
hone_status source_expand(source_paths *out, bool *found, const char *path) HONE_MUST_CHECK;
void        source_paths_deinit(source_paths *paths);

/* What a source has without an entry of dataset_info.json. */
extern const hone_row_columns source_default_columns;

/*
 * The entry `name` of a dataset_info.json in LLaMA-Factory's or ms-swift's form, read from `info_path` (the path is for
 * messages, and file names are relative to its folder): fills `s` but for its path, which goes to *path (hone_free).
 * *found is false if there is none.
 * Errors: E_FORMAT, E_USAGE (an entry that does not go with the stage), E_UNSUPPORTED.
 */
hone_status dataset_info_find(hone_source *s, char **path, bool *found, const json_t *info, const char *info_path,
                              const char *name, hone_stage stage) HONE_MUST_CHECK;
/* The name in it that is nearest to this one, or NULL. Borrowed. */
const char *dataset_info_nearest(const json_t *info, const char *name);

#endif /* HONE_DATA_SOURCE_INT_H */
