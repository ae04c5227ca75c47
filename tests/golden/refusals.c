/*
 * What hone does not compute, it refuses by name: the config of one variant of each family, with a value that hone does not know in
 * each place that has a choice, with each key of a type that it cannot have, and with keys of features that the family lacks. hone
 * must say which, exit with "malformed" or "not implemented", and write nothing.
 */
#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

#include "model_families.h"

enum { MALFORMED = 3, NOT_IMPLEMENTED = 4 };    /* exit codes (docs/errors.md) */

typedef struct suite {
    const char   *variant, *temp;
    const json_t *config;       /* as it was */
    int           tried, failures;
} suite;

static void complain(suite *s, const char *edit, const char *why, int code)
{
    char *log = t_read_text(s->temp, "log");

    print_error("%s with %s: %s (exit %d): %s\n", s->variant, edit, why, code, log);
    hone_free(log);
    s->failures++;
}

/* hone must refuse `config` (taken over) and name one of the two words. */
static void refuse(suite *s, json_t *config, const char *edit, const char *word, const char *or_word)
{
    hone_str text = HONE_STR_INIT;
    char     command[2048], *path = t_path(s->temp, "config.json"), *output = t_path(s->temp, "output.safetensors");

    hone_json_dump(&text, config, true);
    json_decref(config);
    T_OK(hone_file_write_all(path, hone_str_c(&text), strlen(hone_str_c(&text))));
    hone_str_deinit(&text);
    snprintf(command, sizeof command, "\"$HONE\" forward '%s' --input '%s/input.safetensors' --output '%s' >'%s/log' 2>&1", s->temp,
             s->temp, output, s->temp);

    int   status = system(command), code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    char *log = t_read_text(s->temp, "log");

    if (code != MALFORMED && code != NOT_IMPLEMENTED)
        complain(s, edit, code == 0 ? "accepted" : "another failure", code);
    else if (!strstr(log, word) && !(or_word && strstr(log, or_word)))
        complain(s, edit, "refused without its name", code);
    if (hone_path_exists(output)) {
        complain(s, edit, "an output is there", code);
        (void)remove(output);
    }
    s->tried++;
    hone_free(log);
    hone_free(path);
    hone_free(output);
}

/* A copy of the config with key = value, which is taken over. */
static json_t *with(const suite *s, const char *key, json_t *value)
{
    json_t *config = json_deep_copy(s->config);

    assert_int_equal(json_object_set_new(config, key, value), 0);
    return config;
}

static void refuse_value(suite *s, const char *key, json_t *value)
{
    char edit[160], *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    snprintf(edit, sizeof edit, "%s: %s", key, text);
    free(text);
    refuse(s, with(s, key, value), edit, key, NULL);
}

static void activations(suite *s)
{
    static const char *const keys[] = {"hidden_act", "hidden_activation", "activation_function"};
    bool                     any = false;

    for (size_t i = 0; i < HONE_COUNTOF(keys); i++)
        if (json_object_get(s->config, keys[i])) {
            refuse_value(s, keys[i], json_string("quick_gelu"));
            refuse_value(s, keys[i], json_string("no_such_act"));
            any = true;
        }
    assert_true(any);
}

/* An unknown kind where transformers 5 has it, in each dictionary of settings by layer type, and where transformers 4 had it. */
static void rope_kinds(suite *s)
{
    json_t     *rope = json_object_get(s->config, "rope_parameters"), *by_layer;
    const char *key;

    if (!rope) {
        refuse_value(s, "rope_parameters", json_pack("{s:s}", "rope_type", "default"));
        refuse_value(s, "rope_scaling", json_pack("{s:s, s:f}", "rope_type", "linear", "factor", 2.0));
        return;
    }
    if (json_object_get(rope, "rope_type")) {
        refuse(s, with(s, "rope_parameters", json_pack("{s:s, s:f}", "rope_type", "no_such_rope", "rope_theta", 1e4)),
               "an unknown rope_type", "no_such_rope", NULL);
        json_t *more = json_deep_copy(rope);

        json_object_set_new(more, "wobble", json_integer(2));
        refuse(s, with(s, "rope_parameters", more), "an unknown rope setting", "wobble", NULL);
    } else {
        json_object_foreach(rope, key, by_layer) {
            json_t *config = json_deep_copy(s->config);
            json_t *place = json_object_get(json_object_get(config, "rope_parameters"), key);

            json_object_set_new(place, "rope_type", json_string("no_such_rope"));
            refuse(s, config, key, "no_such_rope", NULL);
        }
    }
    for (int old = 0; old < 2; old++) {
        json_t *config = with(s, "rope_scaling", json_pack("{s:s, s:f}", old ? "type" : "rope_type", "no_such_rope", "factor", 2.0));

        json_object_del(config, "rope_parameters");
        refuse(s, config, old ? "rope_scaling.type" : "rope_scaling.rope_type", "no_such_rope",
               "rope_scaling");
    }
    refuse(s, with(s, "rope_parameters", json_integer(3)), "rope_parameters: 3", "rope", NULL);
}

static void layer_types(suite *s)
{
    json_t *given = json_object_get(s->config, "layer_types"), *types = given ? json_deep_copy(given) : json_array();

    if (given)
        json_array_set_new(types, 0, json_string("chunked_attention"));
    else
        json_array_append_new(types, json_string("chunked_attention"));
    refuse(s, with(s, "layer_types", types), "layer_types: chunked_attention", "layer_types", "chunked_attention");
    if (!given)
        return;
    types = json_deep_copy(given);
    json_array_set_new(types, 0, json_integer(1));
    refuse(s, with(s, "layer_types", types), "layer_types: 1", "layer", NULL);
    types = json_deep_copy(given);
    json_array_append_new(types, json_string("full_attention"));
    refuse(s, with(s, "layer_types", types), "layer_types: one more than layers", "layer_types", NULL);
}

static void features(suite *s)
{
    refuse(s, with(s, "architectures", json_pack("[s]", "SomeForSequenceClassification")), "another architecture",
           "SomeForSequenceClassification", NULL);
    refuse(s, with(s, "model_type", json_string("no_such_family")), "an unknown family", "no_such_family", NULL);
    refuse_value(s, "use_bidirectional_attention", json_true());
    refuse_value(s, "is_encoder_decoder", json_true());
    refuse_value(s, "add_cross_attention", json_true());
    refuse_value(s, "attention_chunk_size", json_integer(8));
    refuse_value(s, "quantization_config", json_pack("{s:s}", "quant_method", "fp8"));
    refuse_value(s, "num_experts", json_integer(4));
    refuse_value(s, "attn_output_gate", json_true());
    refuse_value(s, "wobble", json_integer(1));
    /* a head size that rotary positions cannot use, or that does not divide */
    if (json_object_get(s->config, "head_dim"))
        refuse_value(s, "head_dim", json_integer(0));
    if (json_object_get(s->config, "num_key_value_heads"))
        refuse_value(s, "num_key_value_heads", json_integer(0));
}

/* Keys that say nothing about what is computed; hone reads none of them. Nor does gemma 3 use its attention's soft cap, and phi 3
 * its embedding's dropout. */
static bool neutral(const suite *s, const char *key)
{
    static const char *const keys[] = {"architectures", "classifier_dropout", "dtype", "initializer_range", "is_decoder",
                                       "model_type", "pretraining_tp", "transformers_version", "use_cache", "reorder_and_upcast_attn",
                                       "sliding_window_pattern", "layer_types", "rope_parameters", "max_window_layers",
                                       "no_rope_layer_interval"};

    for (size_t i = 0; i < HONE_COUNTOF(keys); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    if ((hone_starts_with(s->variant, "gemma3_text-") && strcmp(key, "attn_logit_softcapping") == 0)
        || (hone_starts_with(s->variant, "phi3-") && strcmp(key, "embd_pdrop") == 0))
        return true;
    return key[0] == '_' || hone_ends_with(key, "_token_id") || hone_starts_with(key, "summary_");
}

/* Each key that the family reads, with a value of a type that it cannot have. */
static void types(suite *s)
{
    const char *key;
    json_t     *value;

    json_object_foreach((json_t *)s->config, key, value) {
        if (neutral(s, key))
            continue;
        refuse_value(s, key, json_is_string(value) ? json_integer(7) : json_string("wrong"));
        if (json_is_boolean(value))
            refuse_value(s, key, json_integer(1));
        else if (json_is_number(value))
            refuse_value(s, key, json_true());
    }
}

static void check_family(void **state)
{
    const t_family *f = *state;
    json_t         *config = t_read_json(f->variants[0], "config.json");
    suite           s = {.variant = t_variant_name(f->variants[0]), .temp = t_temp_dir(), .config = config};

    t_copy(f->variants[0], "model.safetensors", s.temp, "model.safetensors");
    t_copy(f->variants[0], "input.safetensors", s.temp, "input.safetensors");
    activations(&s);
    rope_kinds(&s);
    layer_types(&s);
    features(&s);
    types(&s);
    json_decref(config);
    T_OK(hone_dir_remove(s.temp));
    if (s.failures)
        fail_msg("%d of %d refusals of %s failed", s.failures, s.tried, f->name);
}

int main(int argc, char **argv)
{
    return t_run_families("refusals", check_family, argc, argv);
}
