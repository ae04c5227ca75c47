/* Rotary settings of a config.json, in the spellings of transformers 5 and 4. */
#include <string.h>

#include "base/json.h"
#include "model/config.h"

typedef struct reader { hone_config *c; const json_t *dict; hone_map *read; const char *type; } reader;

static const json_t *get(reader *r, const char *key)
{
    const json_t *v = json_object_get(r->dict, key);

    if (r->c->status == HONE_OK)
        r->c->status = hone_map_put(r->read, key, strlen(key), 1);
    return json_is_null(v) ? NULL : v;
}

static double number(reader *r, const char *key, double absent)
{
    const json_t *v = get(r, key);

    if (v && !json_is_number(v) && r->c->status == HONE_OK)
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rope setting \"%s\" must be a number, not %s", key,
                                 hone_json_type_name(v));
    return v ? json_number_value(v) : absent;
}

/* A setting the type cannot do without; positive. */
static double required(reader *r, const char *key)
{
    double v = number(r, key, -1);

    if (v <= 0 && r->c->status == HONE_OK)
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rope type \"%s\" needs a positive \"%s\"", r->type, key);
    return v;
}

static const char *rope_type(reader *r)
{
    const json_t *v = get(r, "rope_type"), *old = get(r, "type");

    if (!v)
        v = old;
    if (v && !json_is_string(v) && r->c->status == HONE_OK)
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: the rope type must be a string, not %s",
                                 hone_json_type_name(v));
    return v && json_is_string(v) ? json_string_value(v) : "default";
}

static void read_yarn(reader *r, hone_rope_spec *s)
{
    const json_t *truncate = get(r, "truncate");

    if (get(r, "attention_factor"))
        s->attention_factor = required(r, "attention_factor");
    s->beta_fast = number(r, "beta_fast", 0);
    s->beta_slow = number(r, "beta_slow", 0);
    s->beta_fast = s->beta_fast != 0 ? s->beta_fast : 32;      /* a zero counts as absent, as in the reference */
    s->beta_slow = s->beta_slow != 0 ? s->beta_slow : 1;
    s->mscale = number(r, "mscale", 0);
    s->mscale_all_dim = number(r, "mscale_all_dim", 0);
    s->truncate = truncate ? json_is_true(truncate) : true;
    if (truncate && !json_is_boolean(truncate) && r->c->status == HONE_OK)
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rope setting \"truncate\" must be true or false, not %s",
                                 hone_json_type_name(truncate));
    if (s->base == 1 && r->c->status == HONE_OK)
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rope type \"yarn\" needs a rope_theta other than 1");
}

static void read_type(reader *r, hone_rope_spec *s, int64_t max_positions)
{
    if (strcmp(r->type, "default") == 0) {
        s->type = HONE_ROPE_DEFAULT;
        return;
    }
    s->type = strcmp(r->type, "linear") == 0    ? HONE_ROPE_LINEAR
              : strcmp(r->type, "dynamic") == 0 ? HONE_ROPE_DYNAMIC
              : strcmp(r->type, "yarn") == 0    ? HONE_ROPE_YARN
              : strcmp(r->type, "llama3") == 0  ? HONE_ROPE_LLAMA3
                                                : HONE_ROPE_DEFAULT;
    if (s->type == HONE_ROPE_DEFAULT) {
        hone_config_refuse(r->c, "rope type \"%s\" is not implemented for %s; hone has default, linear, dynamic, yarn and llama3",
                           r->type, r->c->family);
        return;
    }
    if (get(r, "original_max_position_embeddings"))
        s->original_max_positions = required(r, "original_max_position_embeddings");
    if (s->type == HONE_ROPE_YARN && !get(r, "factor"))
        s->factor = (double)max_positions / s->original_max_positions;
    else
        s->factor = required(r, "factor");
    if (s->type == HONE_ROPE_LLAMA3) {
        s->low_freq_factor = required(r, "low_freq_factor");
        s->high_freq_factor = required(r, "high_freq_factor");
        if (s->low_freq_factor == s->high_freq_factor)
            hone_config_refuse(r->c, "rope type \"llama3\" with equal low_freq_factor and high_freq_factor has no meaning");
    }
    if (s->type == HONE_ROPE_YARN)
        read_yarn(r, s);
}

static void refuse_unread(reader *r)
{
    const char *key;
    json_t     *value;

    json_object_foreach((json_t *)r->dict, key, value) {
        /* "original_max_position_embeddings" is carried along by some writers for types that do not use it */
        if (hone_map_get(r->read, key, strlen(key), 0) == 0 && !json_is_null(value)
            && strcmp(key, "original_max_position_embeddings") != 0)
            hone_config_refuse(r->c, "rope setting \"%s\" is not implemented for rope type \"%s\"", key, r->type);
    }
}

void hone_config_rope(hone_config *c, hone_rope_spec *out, int64_t dim, int64_t max_positions, double theta)
{
    const json_t *scaling = hone_config_raw(c, "rope_scaling"), *parameters = hone_config_raw(c, "rope_parameters");
    double        top_theta = hone_config_number(c, "rope_theta", theta);
    reader        r = { .c = c };
    const json_t *given = scaling ? scaling : parameters;

    *out = (hone_rope_spec){ .dim = dim, .base = top_theta, .factor = 1, .max_positions = (double)max_positions,
                             .original_max_positions = (double)max_positions, .attention_factor = -1, .truncate = true };
    r.dict = json_is_object(scaling) && json_object_size(scaling) == 0 ? parameters : given;
    if (hone_config_number(c, "partial_rotary_factor", 1) != 1)
        hone_config_refuse(c, "\"partial_rotary_factor\" is not implemented for %s", c->family);
    if (c->status != HONE_OK || !r.dict)
        goto check;
    if (!json_is_object(r.dict)) {
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rope settings must be an object, not %s", hone_json_type_name(r.dict));
        return;
    }
    c->status = hone_map_create(&r.read);
    if (c->status != HONE_OK)
        return;
    r.type = rope_type(&r);
    out->base = number(&r, "rope_theta", top_theta);
    if (number(&r, "partial_rotary_factor", 1) != 1)
        hone_config_refuse(c, "\"partial_rotary_factor\" is not implemented for %s", c->family);
    read_type(&r, out, max_positions);
    refuse_unread(&r);
    hone_map_destroy(&r.read);
check:
    if (c->status == HONE_OK && (dim % 2 != 0 || out->base <= 0))
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rotary positions need an even head size and a positive rope_theta "
                              "(head size %lld, rope_theta %g)", (long long)dim, out->base);
    if (out->type == HONE_ROPE_DYNAMIC && dim == 2)
        hone_config_refuse(c, "rope type \"dynamic\" has no meaning for a head size of 2");
}
