#include "model/config.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

/* Keys of any config that say nothing about what is computed: provenance, generation defaults, labels, token ids, what trainers
 * and other libraries leave there, and numbers that mean something only beside a switch which has to be read. */
static const char *const neutral[] = {
    "_attn_implementation", "_attn_implementation_autoset", "_attn_implementation_internal", "_commit_hash",
    "_experts_implementation_internal", "_flash_attn_2_enabled", "_model_name_or_path", "_name_or_path",
    "_num_labels", "_sliding_window_pattern",
    "architectures", "assistant_confidence_threshold", "assistant_lookbehind", "attn_implementation", "auto_map",
    "bad_words_ids", "base_model_pp_plan", "base_model_tp_plan", "begin_suppress_tokens", "bos_token_id",
    "cache_implementation", "chunk_size_feed_forward", "custom_pipelines", "decoder_start_token_id", "diversity_penalty",
    "do_sample", "dtype", "early_stopping", "encoder_no_repeat_ngram_size", "encoder_repetition_penalty", "eos_token_id",
    "epsilon_cutoff", "eta_cutoff", "experts_implementation", "exponential_decay_length_penalty", "finetuning_task",
    "forced_bos_token_id", "forced_eos_token_id", "gradient_checkpointing", "hub_mixin", "id2label", "initializer_range",
    "is_decoder", "is_llama_config", "keys_to_ignore_at_inference", "label2id", "length_penalty", "low_memory", "max_length",
    "max_sequence_length", "max_window_layers", "min_length", "model_max_length", "model_type", "name_or_path",
    "neftune_noise_alpha", "no_repeat_ngram_size", "num_assistant_tokens", "num_assistant_tokens_schedule", "num_beam_groups",
    "num_beams", "num_labels", "num_return_sequences", "output_attentions", "output_hidden_states", "output_past",
    "output_scores", "pad_token_id", "penalty_alpha", "prefix", "pretraining_tp", "problem_type", "remove_invalid_values",
    "renormalize_logits", "repetition_penalty", "return_dict", "return_dict_in_generate", "sep_token_id", "suppress_tokens",
    "target_lookbehind", "task_specific_params", "temperature", "tf_legacy_loss", "tie_last_hidden_states", "tokenizer_class",
    "top_k", "top_p", "torch_dtype", "torchscript", "transformers.js_config", "transformers_version", "typical_p",
    "unk_token_id", "unsloth_fixed", "unsloth_version", "use_bfloat16", "use_cache", "vocab_file",
};

/* Features that some families have. Where one has none and its file says so (false, 0, an empty object or list), that is how it is. */
static const char *const features[] = {
    "attention_bias", "attention_dropout", "attention_probs_dropout_prob", "attn_pdrop", "bias", "embd_pdrop",
    "embedding_dropout", "hidden_dropout", "hidden_dropout_prob", "lm_head_bias", "mlp_bias", "pruned_heads", "qk_layernorm",
    "qkv_bias", "resid_pdrop", "residual_dropout", "rope_interleaved", "use_bias", "use_bidirectional_attention", "use_cla",
    "use_mrope", "use_parallel_residual", "use_qk_norm", "use_qkv_bias", "use_sliding_window",
};

hone_status hone_config_begin(hone_config *c, const json_t *root, const char *family)
{
    *c = (hone_config){ .root = root, .family = family };
    HONE_TRY(hone_map_create(&c->read));
    hone_config_ignore(c, neutral, HONE_COUNTOF(neutral));
    hone_config_only_bool(c, "is_encoder_decoder", false);
    hone_config_only_bool(c, "tie_encoder_decoder", false);
    hone_config_only_bool(c, "add_cross_attention", false);
    hone_config_only_bool(c, "is_causal", true);
    return c->status;
}

void hone_config_refuse(hone_config *c, const char *fmt, ...)
{
    char    text[512];
    va_list ap;

    if (c->status != HONE_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    c->status = HONE_FAIL(HONE_E_UNSUPPORTED, "config.json: %s", text);
}

const json_t *hone_config_raw(hone_config *c, const char *key)
{
    const json_t *v = json_object_get(c->root, key);

    if (c->status == HONE_OK)
        c->status = hone_map_put(c->read, key, strlen(key), 1);
    return json_is_null(v) ? NULL : v;
}

static void wrong_type(hone_config *c, const char *key, const char *wanted, const json_t *got)
{
    if (c->status == HONE_OK)
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"%s\" must be %s, not %s", key, wanted, hone_json_type_name(got));
}

int64_t hone_config_int(hone_config *c, const char *key, int64_t absent, int64_t least, int64_t most)
{
    const json_t *v = hone_config_raw(c, key);
    double        real = json_real_value(v);
    int64_t       n = absent;

    if (v && json_is_integer(v))
        n = json_integer_value(v);
    else if (v && json_is_real(v) && fabs(real) < 0x1p53 && real == floor(real))
        n = (int64_t)real;
    else if (v)
        wrong_type(c, key, "a whole number", v);
    if (c->status == HONE_OK && (n < least || n > most))
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"%s\" is %lld; it must be from %lld to %lld", key, (long long)n,
                              (long long)least, (long long)most);
    return HONE_MIN(HONE_MAX(n, least), most);      /* whoever divides by it before looking at the status is safe */
}

bool hone_config_fits_f32(double x) { return x == 0 || (fabs(x) >= FLT_MIN && fabs(x) <= FLT_MAX); }

double hone_config_number(hone_config *c, const char *key, double absent)
{
    const json_t *v = hone_config_raw(c, key);

    if (!v)
        return absent;
    if (!json_is_number(v))
        wrong_type(c, key, "a number", v);
    if (c->status == HONE_OK && !hone_config_fits_f32(json_number_value(v)))
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"%s\" is %g, which no 32-bit float holds", key, json_number_value(v));
    return json_number_value(v);
}

bool hone_config_bool(hone_config *c, const char *key, bool absent)
{
    const json_t *v = hone_config_raw(c, key);

    if (!v)
        return absent;
    if (!json_is_boolean(v))
        wrong_type(c, key, "true or false", v);
    return json_is_true(v);
}

const char *hone_config_string(hone_config *c, const char *key, const char *absent)
{
    const json_t *v = hone_config_raw(c, key);

    if (!v)
        return absent;
    if (!json_is_string(v))
        wrong_type(c, key, "a string", v);
    return json_is_string(v) ? json_string_value(v) : absent;
}

void hone_config_ignore(hone_config *c, const char *const *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)hone_config_raw(c, keys[i]);
}

void hone_config_only_bool(hone_config *c, const char *key, bool only)
{
    if (hone_config_bool(c, key, only) != only)
        hone_config_refuse(c, "\"%s\": %s is not implemented for %s", key, only ? "false" : "true", c->family);
}

static bool is_text(const json_t *v, const char *text)
{
    if (json_is_string(v))
        return strcmp(json_string_value(v), text) == 0;
    if (json_is_boolean(v))
        return strcmp(json_is_true(v) ? "true" : "false", text) == 0;
    return json_is_number(v) && json_number_value(v) == strtod(text, NULL);
}

void hone_config_fixed(hone_config *c, const hone_fixed_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *v = hone_config_raw(c, keys[i].key);

        if (v && !is_text(v, keys[i].only))
            hone_config_refuse(c, "\"%s\" is only implemented as %s for %s", keys[i].key, keys[i].only, c->family);
    }
}

hone_act hone_config_act(hone_config *c, const char *key, const char *absent)
{
    static const struct { const char *name; hone_act act; } acts[] = {
        { "silu", HONE_ACT_SILU }, { "swish", HONE_ACT_SILU }, { "gelu", HONE_ACT_GELU_ERF },
        { "gelu_new", HONE_ACT_GELU_TANH }, { "gelu_pytorch_tanh", HONE_ACT_GELU_TANH }, { "gelu_fast", HONE_ACT_GELU_TANH },
        { "relu", HONE_ACT_RELU }, { "relu2", HONE_ACT_RELU2 },
    };
    const char *name = hone_config_string(c, key, absent);

    for (size_t i = 0; name && i < HONE_COUNTOF(acts); i++)
        if (strcmp(name, acts[i].name) == 0)
            return acts[i].act;
    hone_config_refuse(c, "\"%s\": \"%s\" is not implemented; hone has silu, gelu, gelu_new, gelu_pytorch_tanh, relu and relu2", key,
                       name ? name : "");
    return HONE_ACT_SILU;
}

float hone_config_probability(hone_config *c, const char *key, double absent)
{
    double p = hone_config_number(c, key, absent);

    if (c->status == HONE_OK && !(p >= 0 && (float)p < 1))
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"%s\" is %g; a dropout probability is at least 0 and below 1", key, p);
    return (float)p;
}

double hone_config_epsilon(hone_config *c, const char *key, double absent)
{
    double eps = hone_config_number(c, key, absent);

    if (c->status == HONE_OK && !(eps >= 0))
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"%s\" is %g; it must not be negative", key, eps);
    return eps;
}

double hone_config_scale(hone_config *c, const char *key, double absent)
{
    double scale = hone_config_number(c, key, absent);

    if (c->status == HONE_OK && !(scale > 0 && isfinite(scale)))
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"%s\" is %g; it must be positive", key, scale);
    return scale;
}

double hone_config_limit(hone_config *c, const char *key, double absent)
{
    const json_t *v = json_object_get(c->root, key);
    double        limit = hone_config_number(c, key, absent);

    if (json_is_null(v))
        return 0;               /* here a null is no absent key: it says that there is none */
    if (v && c->status == HONE_OK && !(limit > 0))
        c->status = HONE_FAIL(HONE_E_FORMAT, "config.json: \"%s\" is %g; it must be positive, or null for none", key, limit);
    return limit;
}

static bool is_nothing(const json_t *v)
{
    return json_is_null(v) || json_is_false(v) || (json_is_number(v) && json_number_value(v) == 0)
           || (json_is_object(v) && json_object_size(v) == 0) || (json_is_array(v) && json_array_size(v) == 0);
}

/* "layer_types" of a family whose layers are all of one type. */
static bool all_full(const json_t *types)
{
    size_t  i;
    json_t *type;

    json_array_foreach(types, i, type)
        if (!is_text(type, "full_attention"))
            return false;
    return json_is_array(types);
}

/* Whether a key that no one read says no more than that a feature is off. */
static bool says_off(const char *key, const json_t *v)
{
    if (strcmp(key, "layer_types") == 0)
        return all_full(v);
    for (size_t i = 0; i < HONE_COUNTOF(features); i++)
        if (strcmp(key, features[i]) == 0)
            return is_nothing(v);
    return false;
}

hone_status hone_config_end(hone_config *c)
{
    const char *key;
    json_t     *value;

    json_object_foreach((json_t *)c->root, key, value) {
        if (c->status != HONE_OK || json_is_null(value) || hone_map_get(c->read, key, strlen(key), 0) != 0 || says_off(key, value))
            continue;
        if (strcmp(key, "quantization_config") == 0)
            hone_config_refuse(c, "key \"quantization_config\": the weights are quantised, and hone reads f32, f16 and bf16: give the "
                                  "model that they were made from");
        else
            hone_config_refuse(c, "key \"%s\" is not one that hone knows for %s, and it may change the computation; if it does "
                                  "not, remove it from the file", key, c->family);
    }
    hone_map_destroy(&c->read);
    return c->status;
}
