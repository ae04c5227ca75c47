/* data/prepared_int.h -- inside of prepared data, for prepared*.c only. */
#ifndef HONE_DATA_PREPARED_INT_H
#define HONE_DATA_PREPARED_INT_H

#include "base/json.h"
#include "data/dataset_int.h"
#include "data/prepared.h"

#define PREPARED_MANIFEST "manifest.json"

/* What samples of this context are made from: {"options", "text", "sources"}; source files are hashed if `hashes`.
 * Owns: json_decref. */
hone_status prepared_key(json_t **out, const hone_dataset_context *context, bool hashes) HONE_MUST_CHECK;
/* E_EXISTS, naming what differs, unless a folder's manifest is of this hone and its key is this context's. A source file of equal name, size
 * and time is taken as unchanged, else its content is compared; if none of them is here, they are not compared. */
hone_status prepared_check_key(const json_t *manifest, const hone_dataset_context *context) HONE_MUST_CHECK;
/* E_IO if a source file changed since the key was made. */
hone_status prepared_check_unchanged(const json_t *key) HONE_MUST_CHECK;

/* Write the manifest of parts that are finished (either may be NULL). */
hone_status prepared_write_manifest(const char *dir, const json_t *key, const hone_dataset *train,
                                    const hone_dataset *eval) HONE_MUST_CHECK;
/* Read and check it; the part's numbers are looked at when it is opened. Owns: json_decref. */
hone_status prepared_read_manifest(json_t **out, const char *dir) HONE_MUST_CHECK;
/* Map a part ("train", "eval"); NULL if the manifest has none of that name. */
hone_status prepared_open_part(hone_dataset **out, const json_t *manifest, const char *dir, const char *name) HONE_MUST_CHECK;

#endif /* HONE_DATA_PREPARED_INT_H */
