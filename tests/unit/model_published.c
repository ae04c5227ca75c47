/* config.json files as they are published: every one is read, as the reference implementation reads it (tools/golden/configs.py), and
 * what hone does not do is refused by name. */
#include "hone_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "decoder_json.h"
#include "model/family.h"

#define CONFIGS TEST_DATA "/data/configs/"

/* As loading a model reads it; *out is the caller's to release. */
static hone_status read_config(json_t **out, const json_t *config)
{
    const hone_family  *family = hone_family_find(json_string_value(json_object_get(config, "model_type")));
    hone_decoder_config d = { 0 };
    hone_config         c;
    hone_status         st;

    *out = NULL;
    assert_non_null(family);
    if (hone_config_begin(&c, config, family->model_type) == HONE_OK)
        family->read(&c, &d);
    st = hone_config_end(&c);
    if (st == HONE_OK)
        *out = t_decoder_json(&d);
    hone_free(d.layer);
    return st;
}

/* Numbers within what f32 and a different order of the same operations may make of them. */
static bool same(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b)) {
        double x = json_number_value(a), y = json_number_value(b);

        return fabs(x - y) <= 2e-6 * fmax(fabs(x), fabs(y));
    }
    if (!json_is_array(a) || json_array_size(a) != json_array_size(b))
        return json_equal(a, b);
    for (size_t i = 0; i < json_array_size(a); i++)
        if (!same(json_array_get(a, i), json_array_get(b, i)))
            return false;
    return true;
}

/* 0, or 1 with what differs printed. */
static int compare(const char *name, const json_t *config, const json_t *expected)
{
    json_t     *have, *want;
    const char *key;
    int         bad = 0;

    if (read_config(&have, config) != HONE_OK) {
        print_error("%s: %s\n", name, hone_status_text());
        return 1;
    }
    json_object_foreach((json_t *)expected, key, want) {
        if (!same(json_object_get(have, key), want)) {
            char *h = json_dumps(json_object_get(have, key), JSON_ENCODE_ANY | JSON_COMPACT);
            char *w = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT);

            print_error("%s: \"%s\" is %s, the reference has %s\n", name, key, h ? h : "absent", w);
            free(h);
            free(w);
            bad = 1;
        }
    }
    if (json_object_size(have) != json_object_size(expected)) {
        print_error("%s: %zu facts, the reference has %zu\n", name, json_object_size(have), json_object_size(expected));
        bad = 1;
    }
    json_decref(have);
    return bad;
}

static void published_files_are_read_as_the_reference_reads_them(void **state)
{
    json_t     *all = NULL, *files, *expected, *config = NULL;
    const char *name;
    char        path[512];
    int         bad = 0;

    (void)state;
    T_OK(hone_json_read(&all, CONFIGS "expected.json"));
    files = json_object_get(all, "files");
    assert_true(json_object_size(files) > 60);
    json_object_foreach(files, name, expected) {
        snprintf(path, sizeof path, CONFIGS "%s.json", name);
        T_OK(hone_json_read(&config, path));
        bad += compare(name, config, expected);
        json_decref(config);
    }
    json_decref(all);
    assert_int_equal(bad, 0);
}

static void absent_keys_mean_what_the_config_class_says(void **state)
{
    json_t *all = NULL, *one;
    size_t  i;
    int     bad = 0;

    (void)state;
    T_OK(hone_json_read(&all, CONFIGS "expected.json"));
    json_array_foreach(json_object_get(all, "short"), i, one) {
        const json_t *config = json_object_get(one, "config");
        char         *text = json_dumps(config, JSON_COMPACT);

        bad += compare(text, config, json_object_get(one, "expected"));
        free(text);
    }
    assert_true(i > 50);
    json_decref(all);
    assert_int_equal(bad, 0);
}

typedef struct edit { const char *file, *keys; hone_status want; const char *named; } edit;

static const edit edits[] = {
    /* on, and not done */
    { "hy-mt2-7b", "{'use_cla': true}", HONE_E_UNSUPPORTED, "use_cla" },
    { "hy-mt2-7b", "{'use_qk_norm': false}", HONE_E_UNSUPPORTED, "use_qk_norm" },
    { "hy-mt2-7b", "{'num_experts': 16}", HONE_E_UNSUPPORTED, "num_experts" },
    { "hy-mt2-7b", "{'attention_head_dim': 64}", HONE_E_UNSUPPORTED, "attention_head_dim" },
    { "llama-3.1-8b", "{'attention_chunk_size': 8192}", HONE_E_UNSUPPORTED, "attention_chunk_size" },
    { "llama-3.1-8b", "{'quantization_config': {'quant_method': 'fp8'}}", HONE_E_UNSUPPORTED, "quantization_config" },
    { "llama-3.1-8b", "{'per_layer_config': {'0': {'head_dim': 64}}}", HONE_E_UNSUPPORTED, "per_layer_config" },
    { "llama-3.1-8b", "{'pruned_heads': {'0': [1]}}", HONE_E_UNSUPPORTED, "pruned_heads" },
    { "llama-3.1-8b", "{'layer_types': ['full_attention', 'sliding_attention']}", HONE_E_UNSUPPORTED, "layer_types" },
    { "smollm2-135m-instruct", "{'rope_interleaved': true}", HONE_E_UNSUPPORTED, "rope_interleaved" },
    { "mistral-7b-v0.1", "{'attention_bias': true}", HONE_E_UNSUPPORTED, "attention_bias" },
    { "qwen2.5-7b", "{'is_causal': false}", HONE_E_UNSUPPORTED, "is_causal" },
    { "qwen2.5-7b", "{'use_mrope': true}", HONE_E_UNSUPPORTED, "use_mrope" },
    { "gemma-3-270m", "{'use_bidirectional_attention': true}", HONE_E_UNSUPPORTED, "use_bidirectional_attention" },
    { "gemma-2-9b", "{'sliding_window_size': 512}", HONE_E_UNSUPPORTED, "sliding_window_size" },
    { "gemma-2-9b", "{'sliding_window': null, 'sliding_window_size': null}", HONE_E_UNSUPPORTED, "sliding_window" },
    { "gemma-3-270m", "{'rope_scaling': {'type': 'linear', 'factor': 8.0}}", HONE_E_UNSUPPORTED, "rope_type" },
    { "phi-3-mini-4k", "{'rope_scaling': {'type': 'linear', 'factor': 8.0}}", HONE_E_UNSUPPORTED, "linear" },
    { "phi-4-mini", "{'lm_head_bias': true}", HONE_E_UNSUPPORTED, "lm_head_bias" },
    { "phi-4-mini", "{'full_attn_mod': 2}", HONE_E_UNSUPPORTED, "full_attn_mod" },
    { "starcoder2-3b", "{'norm_type': 'rmsnorm'}", HONE_E_UNSUPPORTED, "norm_type" },
    { "starcoder2-3b", "{'mlp_type': 'gated'}", HONE_E_UNSUPPORTED, "mlp_type" },
    { "command-r7b", "{'rotary_pct': 0.5}", HONE_E_UNSUPPORTED, "rotary_pct" },
    { "command-r7b", "{'use_qk_norm': true}", HONE_E_UNSUPPORTED, "use_qk_norm" },
    { "command-r7b", "{'use_embedding_sharing': false}", HONE_E_UNSUPPORTED, "use_embedding_sharing" },
    { "apertus-8b-instruct", "{'post_norm': true}", HONE_E_UNSUPPORTED, "post_norm" },
    { "apertus-8b-instruct", "{'mlp_bias': true}", HONE_E_UNSUPPORTED, "mlp_bias" },
    { "pythia-70m", "{'rope_theta': 500000}", HONE_E_UNSUPPORTED, "rotary_emb_base" },
    { "stablelm-3b-4e1t", "{'head_dim': 64}", HONE_E_UNSUPPORTED, "head_dim" },
    { "exaone-4.0-32b", "{'layer_types': null}", HONE_E_FORMAT, "sliding_window_pattern" },
    { "glm-4-9b-chat", "{'use_moe_gate': true}", HONE_E_UNSUPPORTED, "use_moe_gate" },
    /* off, or without effect */
    { "mistral-7b-v0.1", "{'attention_bias': false, 'mlp_bias': false, 'use_sliding_window': false}", HONE_OK, NULL },
    { "llama-3.1-8b", "{'is_causal': true, 'pruned_heads': {}, 'use_qk_norm': false, 'hidden_dropout': 0.0}", HONE_OK, NULL },
    { "phi-2", "{'layer_types': []}", HONE_OK, NULL },
    { "gemma-3-270m", "{'attn_logit_softcapping': 50.0}", HONE_OK, NULL },
    { "command-r7b", "{'use_parallel_embedding': true}", HONE_OK, NULL },
    { "gemma-3-270m", "{'rope_scaling': {'rope_type': 'linear', 'factor': 8.0}}", HONE_OK, NULL },
};

static void what_is_not_done_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        const edit *e = &edits[i];
        char        path[512], *keys = hone_strdup(e->keys);
        json_t     *config = NULL, *change = NULL, *have;

        for (char *c = keys; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        snprintf(path, sizeof path, CONFIGS "%s.json", e->file);
        T_OK(hone_json_read(&config, path));
        T_OK(hone_json_parse(&change, keys, strlen(keys), "edit"));
        assert_int_equal(json_object_update(config, change), 0);
        hone_status_clear();
        if (read_config(&have, config) != e->want)
            fail_msg("%s with %s: wanted %s: %s", e->file, e->keys, hone_status_name(e->want), hone_status_text());
        if (e->named)
            T_ERROR_HAS(e->named);
        json_decref(have);
        json_decref(change);
        json_decref(config);
        hone_free(keys);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_files_are_read_as_the_reference_reads_them),
        cmocka_unit_test(absent_keys_mean_what_the_config_class_says),
        cmocka_unit_test(what_is_not_done_is_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
