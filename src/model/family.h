/*
 * model/family.h -- the registry from model_type to the file that builds it.
 */
#ifndef HONE_MODEL_FAMILY_H
#define HONE_MODEL_FAMILY_H

#include "model/config.h"
#include "nn/model.h"

typedef struct hone_family {
    const char *model_type;
    const char *base_prefix;        /* "model.": checkpoints of the base model alone leave it out */
    const char *const *buffers;     /* endings of tensors that old files carry and nothing reads (masks); NULL-terminated */
    /* Read the config, declare the modules. `dropout` >= 0 replaces the config's dropouts. */
    hone_status (*build)(hone_model *m, hone_builder *b, hone_config *c, double dropout);
} hone_family;

extern const hone_family hone_family_gpt2, hone_family_llama, hone_family_qwen2, hone_family_qwen3;

/* NULL with E_UNSUPPORTED raised (and what there is named) for an unknown type. */
const hone_family *hone_family_find(const char *model_type);

#endif /* HONE_MODEL_FAMILY_H */
