/* A small model directory for tests of what reads and writes them. */
#ifndef MODEL_FIXTURE_H
#define MODEL_FIXTURE_H

#include "base/status.h"

/* dir/name with this text. */
void t_put(const char *dir, const char *name, const char *text);
/* The content of dir/name as a string in static storage (up to 64 KiB, valid until the next call); NULL if absent. */
const char *t_get(const char *dir, const char *name);
/* Whether two files hold the same bytes. */
bool t_same_file(const char *dir_a, const char *dir_b, const char *name);

/*
 * Write a model into the existing folder `dir`. Tensors, with element i of tensor k being k + i / 4:
 * "embed.weight" BF16 [6,4], "norm.weight" F32 [4], "steps" I64 [2], "head.weight" F16 [3,5].
 * Files: `sharded` gives the index and two files, with norm.weight and head.weight in the second; config.json;
 * generation_config.json, tokenizer.json, LICENSE, README.md; and things that are no companions: notes.bin, state/x.
 */
void t_model(const char *dir, bool sharded);

#endif /* MODEL_FIXTURE_H */
