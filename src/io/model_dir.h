/*
 * io/model_dir.h -- a Hugging Face model directory: config.json, weights in one or several safetensors files, and the files
 * that other tools expect beside them.
 */
#ifndef HONE_IO_MODEL_DIR_H
#define HONE_IO_MODEL_DIR_H

#include "io/safetensors.h"

typedef struct hone_model_dir hone_model_dir;

/*
 * The folder that `name_or_path` means: itself if it is a folder; else, if it is spelt as a hub id ("org/name", or "name"),
 * its snapshot in the Hugging Face cache, which is HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else
 * ~/.cache/huggingface/hub. `revision` is a branch, tag or commit there; NULL means "main". Nothing is downloaded.
 * Owns: hone_free(*path). Errors: E_IO if there is none, with the command that downloads it; E_NOMEM.
 */
hone_status hone_model_dir_locate(char **path, const char *name_or_path, const char *revision) HONE_MUST_CHECK;

/*
 * Open a folder: read config.json, map and check all weight files. Weights are "model.safetensors" or, without it, the files
 * that "model.safetensors.index.json" names. Each tensor lies in exactly one file, and in the one that the index says; a
 * tensor of these files that the index leaves out belongs to the model too, as other readers see it.
 * Owns: hone_model_dir_close; all that the accessors return is borrowed.
 * Errors: E_IO, E_FORMAT with file, reason and the way out; E_UNSUPPORTED for weights in other formats only, and adapters.
 */
hone_status hone_model_dir_open(hone_model_dir **out, const char *path) HONE_MUST_CHECK;
void        hone_model_dir_close(hone_model_dir **dir);

const char   *hone_model_dir_path(const hone_model_dir *dir);
const json_t *hone_model_dir_config(const hone_model_dir *dir);     /* an object */

/* Tensors, in the order of their files' names, then of their data. */
size_t                 hone_model_dir_len(const hone_model_dir *dir);
const hone_safetensor *hone_model_dir_at(const hone_model_dir *dir, size_t i);
/* NULL if there is no such tensor. */
const hone_safetensor *hone_model_dir_find(const hone_model_dir *dir, const char *name);
/* The path of the file that holds `t`, a tensor of `dir`, for messages. */
const char            *hone_model_dir_file_of(const hone_model_dir *dir, const hone_safetensor *t);

/* Weight files, in the order of their names, which are relative to the folder. */
size_t                  hone_model_dir_shards(const hone_model_dir *dir);
const hone_safetensors *hone_model_dir_shard(const hone_model_dir *dir, size_t i);
const char             *hone_model_dir_shard_name(const hone_model_dir *dir, size_t i);
/* Whether the folder has "model.safetensors.index.json". */
bool                    hone_model_dir_indexed(const hone_model_dir *dir);

/*
 * Names, relative to the folder, of the files that go with the weights wherever they go, in byte order: tokenizer files,
 * chat templates, generation and processor configs, model code (*.py), licences. Not among them: config.json and the weights,
 * weights in other formats, the state of a training run, README.md (the card of this very model; see io/export.h), and
 * whatever hone does not know.
 */
size_t      hone_model_dir_companions(const hone_model_dir *dir);
const char *hone_model_dir_companion(const hone_model_dir *dir, size_t i);

#endif /* HONE_IO_MODEL_DIR_H */
