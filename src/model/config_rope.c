/* Rotary settings of a config.json, in the spellings of transformers 5 and 4. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/config.h"

/* One object of rotary settings under `key`; `dict` may be NULL. `original`: what takes the place of its original_max_position_embeddings, or 0. */
typedef struct reader { hone_config *c; const json_t *dict; const char *key; hone_map *read; const char *type; double original; } reader;

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
    if (v && r->c->status == HONE_OK && !hone_config_fits_f32(json_number_value(v)))
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rope setting \"%s\" is %g, which no 32-bit float holds", key,
                                 json_number_value(v));
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
    static const char *const unused[] = { "attn_factor", "extrapolation_factor", "finetuned" };    /* other libraries' settings */
    const json_t *truncate = get(r, "truncate");

    for (size_t i = 0; i < HONE_COUNTOF(unused); i++)
        (void)get(r, unused[i]);
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

static void read_factors(reader *r, float *out, const char *key, int64_t pairs)
{
    const json_t *list = get(r, key);

    if (r->c->status != HONE_OK)
        return;
    if (pairs > HONE_ROPE_PAIRS_MAX) {
        hone_config_refuse(r->c, "rope type \"longrope\" is implemented for up to %d rotated pairs, not %lld", HONE_ROPE_PAIRS_MAX,
                           (long long)pairs);
        return;
    }
    if (!json_is_array(list) || (int64_t)json_array_size(list) != pairs) {
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rope type \"longrope\" needs \"%s\", an array of %lld numbers", key,
                                 (long long)pairs);
        return;
    }
    for (int64_t i = 0; i < pairs && r->c->status == HONE_OK; i++) {
        out[i] = (float)json_number_value(json_array_get(list, (size_t)i));
        if (!(out[i] > 0) || !isfinite(out[i]))
            r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: entry %lld of rope setting \"%s\" must be a positive 32-bit number",
                                     (long long)i, key);
    }
}

static void read_longrope(reader *r, hone_rope_spec *s)
{
    read_factors(r, s->short_factor, "short_factor", hone_rope_pairs(s));
    read_factors(r, s->long_factor, "long_factor", hone_rope_pairs(s));
    if (get(r, "attention_factor"))
        s->attention_factor = required(r, "attention_factor");
    if (r->c->status == HONE_OK && s->original_max_positions <= 1)
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rope type \"longrope\" needs an original_max_position_embeddings "
                                 "beyond 1");
}

/* Hunyuan's stretched base, told apart from the type "dynamic" it is filed under by its key. The other keys do nothing then. */
static bool read_alpha(reader *r, hone_rope_spec *s)
{
    static const char *const unused[] = { "factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim" };
    double alpha = strcmp(r->type, "dynamic") == 0 ? number(r, "alpha", 0) : 0;

    if (alpha == 0)
        return false;
    for (size_t i = 0; i < HONE_COUNTOF(unused); i++)
        (void)get(r, unused[i]);
    if (s->dim == 2 || !(alpha > 0))
        hone_config_refuse(r->c, "rope setting \"alpha\" %g has no meaning for %lld rotated elements of a head", alpha, (long long)s->dim);
    s->base *= pow(alpha, (double)s->dim / (double)(s->dim - 2));
    return true;
}

static const struct { const char *name; hone_rope_type type; } type_names[] = {
    { "default", HONE_ROPE_DEFAULT }, { "linear", HONE_ROPE_LINEAR }, { "dynamic", HONE_ROPE_DYNAMIC }, { "yarn", HONE_ROPE_YARN },
    { "llama3", HONE_ROPE_LLAMA3 }, { "longrope", HONE_ROPE_LONGROPE },
};
static const char all_types[] = "default, linear, dynamic, yarn, llama3, longrope";

/* Whether a list of names, "a, b", has this one. */
static bool lists(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = list; n > 0 && (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == '\0' || at[n] == ','))
            return true;
    return false;
}

static void read_type(reader *r, hone_rope_spec *s, int64_t max_positions, const char *types)
{
    const json_t *original = get(r, "original_max_position_embeddings");

    if (!lists(types, r->type)) {
        hone_config_refuse(r->c, "rope type \"%s\" is not implemented for %s; hone has %s", r->type, r->c->family, types);
        return;
    }
    for (size_t i = 0; i < HONE_COUNTOF(type_names); i++)
        if (strcmp(r->type, type_names[i].name) == 0)
            s->type = type_names[i].type;
    if (s->type == HONE_ROPE_DEFAULT)
        return;
    if (r->original > 0)
        s->original_max_positions = r->original;
    else if (original)
        s->original_max_positions = required(r, "original_max_position_embeddings");
    if ((s->type == HONE_ROPE_YARN || s->type == HONE_ROPE_LONGROPE) && !get(r, "factor"))
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
    if (s->type == HONE_ROPE_LONGROPE)
        read_longrope(r, s);
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

/* The rotated part of a head. */
static void read_partial(reader *r, hone_rope_spec *out, int64_t head_dim, double top, bool may)
{
    double partial = number(r, "partial_rotary_factor", top);
    bool   sane = partial > 0 && partial <= 1;

    out->dim = may && sane ? (int64_t)((double)head_dim * partial) : head_dim;
    if (r->c->status == HONE_OK && !sane)
        r->c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"partial_rotary_factor\" is %g; it must be above 0 and at most 1", partial);
    if (!may && partial != 1)
        hone_config_refuse(r->c, "\"partial_rotary_factor\" is not implemented for %s", r->c->family);
}

static void check(hone_config *c, const hone_rope_spec *s, int64_t head_dim)
{
    if (c->status == HONE_OK && (s->dim < 1 || 2 * hone_rope_pairs(s) > head_dim || s->base <= 0))
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: rotary positions need an even head size and a positive rope_theta "
                              "(head size %lld, rotated %lld, rope_theta %g)", (long long)head_dim, (long long)s->dim, s->base);
    if (s->type == HONE_ROPE_DYNAMIC && s->dim == 2)
        hone_config_refuse(c, "rope type \"dynamic\" has no meaning for a head size of 2");
}

/* Settings that are numbers each may come to what is none: every angle up to the last position, and what scales the scores, must be finite. */
static void check_finite(hone_config *c, const hone_rope_spec *s, const char *type)
{
    static const int64_t lengths[] = { 1, INT32_MAX };
    float               *inv_freq = hone_calloc((size_t)hone_rope_pairs(s), sizeof *inv_freq);
    bool                 finite = true;

    if (!inv_freq)
        c->status = HONE_E_NOMEM;
    for (size_t k = 0; inv_freq && k < HONE_COUNTOF(lengths); k++) {
        double scale = hone_rope_frequencies(inv_freq, s, lengths[k]);

        finite &= isfinite((float)(scale * scale));     /* queries and keys both have it */
        for (int64_t i = 0; i < hone_rope_pairs(s); i++)
            finite &= isfinite(inv_freq[i] * (float)INT32_MAX);
    }
    hone_free(inv_freq);
    if (c->status == HONE_OK && !finite)
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: the settings of rope type \"%s\" (rope_theta %g, factor %g) give angles "
                              "or scores that are no finite numbers", type, s->base, s->factor);
}

/* How queries grow with their position. */
static void read_growth(reader *r, hone_rope_spec *s)
{
    (void)get(r, "max_position_embeddings");        /* written beside it, and read from the top level alone */
    if (r->original > 0)
        s->original_max_positions = r->original;
    else if (get(r, "original_max_position_embeddings"))
        s->original_max_positions = required(r, "original_max_position_embeddings");
    s->growth = required(r, "llama_4_scaling_beta");
}

static void read_settings(reader *r, hone_rope_spec *out, int64_t head_dim, int64_t max_positions, double theta, double partial,
                          const hone_rope_defaults *def)
{
    hone_config *c = r->c;

    *out = (hone_rope_spec){ .factor = 1, .max_positions = (double)max_positions, .original_max_positions = (double)max_positions,
                             .attention_factor = -1, .truncate = true };
    if (r->dict && !json_is_object(r->dict) && c->status == HONE_OK)
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"%s\": rope settings must be an object, not %s", r->key,
                              hone_json_type_name(r->dict));
    if (c->status == HONE_OK)
        c->status = hone_map_create(&r->read);
    if (c->status != HONE_OK)
        return;
    r->type = rope_type(r);
    if (def->types && (strcmp(r->type, "su") == 0 || strcmp(r->type, "yarn") == 0) && lists(def->types, "longrope"))
        r->type = "longrope";           /* what the first Phi-3 files called it */
    out->base = number(r, "rope_theta", theta);
    read_partial(r, out, head_dim, partial, def->partial > 0);
    check(c, out, head_dim);
    if (c->status == HONE_OK && !(def->alpha && read_alpha(r, out)))
        read_type(r, out, max_positions, def->types ? def->types : all_types);
    if (def->growth)
        read_growth(r, out);
    if (r->dict)
        refuse_unread(r);
    hone_map_destroy(&r->read);
    check(c, out, head_dim);
    if (c->status == HONE_OK)
        check_finite(c, out, r->type);
}

/* The object that holds the settings, in either spelling. */
static reader settings(hone_config *c)
{
    const json_t *scaling = hone_config_raw(c, "rope_scaling"), *parameters = hone_config_raw(c, "rope_parameters");
    bool          old = scaling && !(json_is_object(scaling) && json_object_size(scaling) == 0);

    return (reader){ .c = c, .dict = old ? scaling : parameters, .key = old ? "rope_scaling" : "rope_parameters" };
}

void hone_config_rope(hone_config *c, hone_rope_spec *out, int64_t dim, int64_t max_positions, const hone_rope_defaults *def)
{
    reader r = settings(c);
    double theta = hone_config_number(c, "rope_theta", def->theta > 0 ? def->theta : 10000);
    bool   whole = json_is_null(json_object_get(c->root, "partial_rotary_factor"));   /* no default takes the place of a null */
    double partial = hone_config_number(c, "partial_rotary_factor", def->partial > 0 && !whole ? def->partial : 1);

    r.original = (double)hone_config_int(c, "original_max_position_embeddings", def->original, 0, INT32_MAX);
    read_settings(&r, out, dim, max_positions, theta, partial, def);
}

void hone_config_rope_by_type(hone_config *c, hone_rope_spec rope[2], int64_t dim, int64_t max_positions,
                              const hone_rope_defaults *full, const hone_rope_defaults *sliding, const char *sliding_key)
{
    const json_t *scaling = hone_config_raw(c, "rope_scaling"), *types = hone_config_raw(c, "rope_parameters");
    double        theta = hone_config_number(c, "rope_theta", full->theta);
    double        sliding_theta = sliding_key ? hone_config_number(c, sliding_key, sliding->theta) : sliding->theta;
    reader        of_full = { .c = c, .dict = json_object_get(types, "full_attention"), .key = "full_attention" };
    reader        of_sliding = { .c = c, .dict = json_object_get(types, "sliding_attention"), .key = "sliding_attention" };
    const char   *key;
    json_t       *value;

    if (types && !json_is_object(types) && c->status == HONE_OK)
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"rope_parameters\" must be an object, not %s",
                              hone_json_type_name(types));
    json_object_foreach((json_t *)types, key, value)
        if (strcmp(key, "full_attention") != 0 && strcmp(key, "sliding_attention") != 0)
            hone_config_refuse(c, "\"rope_parameters\": \"%s\" is no layer type of %s; the settings of each type stand in objects "
                                  "\"full_attention\" and \"sliding_attention\"", key, c->family);
    if (json_object_get(scaling, "type") && !json_object_get(scaling, "rope_type"))
        hone_config_refuse(c, "\"rope_scaling\" names its kind by \"type\", which the reference implementation of %s does not read; "
                           "name it by \"rope_type\"", c->family);
    if (scaling && of_full.dict)
        hone_config_refuse(c, "\"rope_scaling\" beside \"rope_parameters\" is not implemented for %s; keep one of them", c->family);
    if (!of_full.dict || json_is_null(of_full.dict)) {
        of_full.dict = scaling;
        of_full.key = "rope_scaling";
    }
    if (json_is_null(of_sliding.dict))
        of_sliding.dict = NULL;
    read_settings(&of_full, &rope[0], dim, max_positions, theta, 1, full);
    read_settings(&of_sliding, &rope[1], dim, max_positions, sliding_theta, 1, sliding);
    rope[0].truncate = rope[1].truncate = true;     /* not read from the settings of a type, as in the reference */
}
