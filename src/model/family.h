/*
 * model/family.h -- the registry from model_type to the file that knows the family. It is made by the build from the files in
 * model/family/: one whose tests/data/models/<model_type>-* is missing, with which it is proven, does not register.
 */
#ifndef HONE_MODEL_FAMILY_H
#define HONE_MODEL_FAMILY_H

#include "model/config.h"
#include "nn/decoder.h"

/* A tensor that files of the family carry and no computation reads (masks), or that is a constant here. */
typedef struct hone_buffer {
    const char *ending;             /* of its name */
    bool        constant;           /* must be `value`, to within 2 %, as f16 and bf16 hold it */
    double      value;
} hone_buffer;

/* File src/model/family/<model_type>.c defines hone_family_<model_type>. */
typedef struct hone_family {
    const char *model_type;
    /* Read the config. out->layer is the caller's to free, whatever the status. */
    void (*read)(hone_config *c, hone_decoder_config *out);
    const hone_buffer *buffers;     /* ends with an ending of NULL; NULL = none but rotary_emb.inv_freq */
} hone_family;

/* Families that others are, and something more. */
extern const hone_family hone_family_glm, hone_family_llama, hone_family_mistral;

/* NULL with E_UNSUPPORTED raised (and what there is named) for an unknown type. */
const hone_family *hone_family_find(const char *model_type);
/* The i-th family by name, NULL past the last. */
const hone_family *hone_family_at(size_t i);

#endif /* HONE_MODEL_FAMILY_H */
