/*
 * model/config.h -- config.json as a family reads it: typed, with the config class's defaults, and nothing ignored.
 *
 * Every key must be read by the family, or stand on the list of keys that do not change the computation, or it is refused by
 * name: a feature that hone does not know is never dropped in silence. Both spellings are read: that of transformers 5
 * (rope_parameters, dtype) and 4 (rope_theta, rope_scaling, torch_dtype). A null is an absent key.
 */
#ifndef HONE_MODEL_CONFIG_H
#define HONE_MODEL_CONFIG_H

#include <jansson.h>

#include "base/map.h"
#include "nn/rope.h"
#include "op/kernel.h"

typedef struct hone_config {
    const json_t *root;         /* borrowed */
    const char   *family;
    hone_map     *read;         /* keys that were asked for */
    hone_status   status;       /* sticky: the first fault */
} hone_config;

hone_status hone_config_begin(hone_config *c, const json_t *root, const char *family) HONE_MUST_CHECK;
/* The sticky status; also refuses every key that nobody read, but for one that only says that a feature is off. Ends the object. */
hone_status hone_config_end(hone_config *c) HONE_MUST_CHECK;

/* From `least` to `most` whatever the file says. */
int64_t     hone_config_int(hone_config *c, const char *key, int64_t absent, int64_t least, int64_t most);
/* Computed with in f32 sooner or later: what a float rounds to zero or to infinity is refused. */
double      hone_config_number(hone_config *c, const char *key, double absent);
bool        hone_config_fits_f32(double x);
bool        hone_config_bool(hone_config *c, const char *key, bool absent);
/* Borrowed; `absent` may be NULL. */
const char *hone_config_string(hone_config *c, const char *key, const char *absent);
/* The raw value, NULL when absent. Counts as read. */
const json_t *hone_config_raw(hone_config *c, const char *key);
/* These keys do not change what this family computes. */
void        hone_config_ignore(hone_config *c, const char *const *keys, size_t n);
/* A feature that only works one way here: refused by name when the key has another value. */
void        hone_config_only_bool(hone_config *c, const char *key, bool only);
/* The same for many keys; `only` is a word, a number, or "true" or "false". */
typedef struct hone_fixed_key { const char *key, *only; } hone_fixed_key;
void        hone_config_fixed(hone_config *c, const hone_fixed_key *keys, size_t n);
void        hone_config_refuse(hone_config *c, const char *fmt, ...) HONE_PRINTF(2, 3);

/* silu, swish, gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, relu, relu2; others are refused by name. */
hone_act    hone_config_act(hone_config *c, const char *key, const char *absent);
float       hone_config_probability(hone_config *c, const char *key, double absent);
double      hone_config_epsilon(hone_config *c, const char *key, double absent);    /* of a norm: not negative */
/* A soft cap, a clip: null is none (0); anything but a positive number is refused. */
double      hone_config_limit(hone_config *c, const char *key, double absent);

/* A multiplier: positive. */
double      hone_config_scale(hone_config *c, const char *key, double absent);

/* What a config class takes for absent rotary keys. */
typedef struct hone_rope_defaults {
    double      theta;              /* rope_theta; 0: 10000 */
    double      partial;            /* partial_rotary_factor; 0: the family always rotates whole heads, another value is refused */
    int64_t     original;           /* original_max_position_embeddings at the top level, which goes before that in the settings; 0: none */
    bool        alpha;              /* type "dynamic" with "alpha": a base stretched once and for all by it */
    bool        growth;             /* "llama_4_scaling_beta", which the family cannot do without */
    const char *types;              /* rope types the family has, "default, linear"; NULL: all */
} hone_rope_defaults;

/* rope_parameters, or rope_theta with rope_scaling. `dim` is the head's. */
void        hone_config_rope(hone_config *c, hone_rope_spec *out, int64_t dim, int64_t max_positions,
                             const hone_rope_defaults *defaults);
/* rope_parameters that hold one object for each layer type: rope[0] is that of full, rope[1] that of sliding layers. In the
 * older spelling rope_theta and rope_scaling are those of full layers, `sliding_key` is the base of sliding ones. */
void        hone_config_rope_by_type(hone_config *c, hone_rope_spec rope[2], int64_t dim, int64_t max_positions,
                                     const hone_rope_defaults *full, const hone_rope_defaults *sliding, const char *sliding_key);

#endif /* HONE_MODEL_CONFIG_H */
