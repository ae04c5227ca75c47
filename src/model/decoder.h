/*
 * model/decoder.h -- the keys that llama's descendants share, read into a decoder; a family file gives the defaults of its
 * config class and adds what is its own.
 */
#ifndef HONE_MODEL_DECODER_H
#define HONE_MODEL_DECODER_H

#include "model/family.h"
#include "nn/decoder.h"

/* Values of absent keys. */
typedef struct hone_decoder_defaults {
    int64_t vocab, hidden, intermediate, layers, heads;
    int64_t kv_heads;           /* 0: as many as heads; a null in the file means that too */
    int64_t head_dim;           /* 0: hidden / heads */
    int64_t positions;
} hone_decoder_defaults;

/* Read sizes, activation, norm, ties, dropout and rotary settings. */
void        hone_config_decoder(hone_config *c, hone_decoder_config *out, const hone_decoder_defaults *defaults);
/* Build what was read; with `windows`, each layer's sliding window is read as qwen configs give it. `dropout` >= 0 replaces the
 * config's. */
hone_status hone_config_decoder_build(hone_model *m, hone_builder *b, hone_config *c, hone_decoder_config *d, bool windows,
                                      double dropout) HONE_MUST_CHECK;

#endif /* HONE_MODEL_DECODER_H */
