/* Edits of good config.json files: which are refused, with what status and naming what, and which are not. */
#include "hone_test.h"

#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/load.h"
#include "runtime/ctx.h"

#define ROPE(settings) "{'rope_parameters': {" settings "}}"

typedef struct edit { const char *variant, *keys; hone_status want; const char *named; } edit;

static const edit edits[] = {
    /* features that are not there */
    { "llama-base", "{'hidden_act': 'quick_gelu'}", HONE_E_UNSUPPORTED, "quick_gelu" },
    { "gpt2-base", "{'activation_function': 'tanh'}", HONE_E_UNSUPPORTED, "tanh" },
    { "llama-base", "{'embedding_multiplier': 2.0}", HONE_E_UNSUPPORTED, "embedding_multiplier" },
    { "llama-base", "{'quantization_config': {'quant_method': 'fp8'}}", HONE_E_UNSUPPORTED, "the weights are quantised" },
    { "llama-base", "{'sliding_window': 8}", HONE_E_UNSUPPORTED, "sliding_window" },
    { "qwen3-base", "{'mlp_bias': true}", HONE_E_UNSUPPORTED, "mlp_bias" },
    { "qwen2-base", "{'layer_types': ['full_attention', 'chunked_attention']}",
      HONE_E_UNSUPPORTED, "chunked_attention" },
    { "gpt2-base", "{'add_cross_attention': true}", HONE_E_UNSUPPORTED, "add_cross_attention" },
    { "llama-base", "{'architectures': ['LlamaForSequenceClassification']}",
      HONE_E_UNSUPPORTED, "SequenceClassification" },
    { "llama-base", "{'num_key_value_heads': 2}", HONE_E_UNSUPPORTED, "num_key_value_heads" },
    { "gpt2-base", "{'n_head': 5}", HONE_E_UNSUPPORTED, "n_head" },
    /* numbers that no model has */
    { "llama-base", "{'num_attention_heads': 0}", HONE_E_FORMAT, "num_attention_heads" },
    { "gpt2-base", "{'n_head': 0}", HONE_E_FORMAT, "n_head" },
    { "llama-base", "{'hidden_size': 'many', 'num_attention_heads': 0}", HONE_E_FORMAT, "hidden_size" },
    { "llama-base", "{'hidden_size': 1e300}", HONE_E_FORMAT, "hidden_size" },
    { "llama-base", "{'head_dim': 7}", HONE_E_FORMAT, "even" },
    { "llama-base", "{'rms_norm_eps': -1.0}", HONE_E_FORMAT, "rms_norm_eps" },
    { "gpt2-base", "{'layer_norm_epsilon': -1e-5}", HONE_E_FORMAT, "layer_norm_epsilon" },
    { "llama-base", "{'hidden_size': 27}", HONE_E_SHAPE, "shape" },
    /* rotary settings */
    { "llama-base", ROPE("'rope_type': 'longrope', 'factor': 2.0"), HONE_E_FORMAT, "short_factor" },
    { "llama-base", ROPE("'rope_type': 'proportional'"), HONE_E_UNSUPPORTED, "proportional" },
    { "llama-base", ROPE("'rope_type': 'default', 'wobble': 1"), HONE_E_UNSUPPORTED, "wobble" },
    { "llama-base", ROPE("'rope_type': 7"), HONE_E_FORMAT, "rope type" },
    { "llama-base", ROPE("'rope_type': 'linear'"), HONE_E_FORMAT, "factor" },
    { "llama-base", ROPE("'rope_type': 'default', 'rope_theta': 0"), HONE_E_FORMAT, "rope_theta" },
    { "llama-base", "{'rope_parameters': null, 'rope_scaling': 'linear'}", HONE_E_FORMAT, "rope settings" },
    { "llama-base", ROPE("'rope_type': 'yarn', 'factor': 2.0, 'truncate': 'no'"), HONE_E_FORMAT, "truncate" },
    { "llama-base", ROPE("'rope_type': 'yarn', 'factor': 2.0, 'attention_factor': -1"), HONE_E_FORMAT,
      "attention_factor" },
    { "llama-base", ROPE("'rope_type': 'yarn', 'factor': 2.0, 'rope_theta': 1"), HONE_E_FORMAT, "rope_theta" },
    { "llama-base", ROPE("'rope_type': 'yarn', 'factor': 2.0, 'original_max_position_embeddings': 0"), HONE_E_FORMAT,
      "original_max_position_embeddings" },
    { "llama-base", ROPE("'rope_type': 'llama3', 'factor': 8.0, 'low_freq_factor': 1.0"), HONE_E_FORMAT, "high_freq" },
    { "llama-base", ROPE("'rope_type': ''"), HONE_E_UNSUPPORTED, "rope type \"\"" },
    { "llama-base", "{'rope_parameters': null, 'rope_scaling': 'linear'}", HONE_E_FORMAT, "rope_scaling" },
    { "gemma3_text-base", "{'rope_parameters': {'full_attention': 5}}", HONE_E_FORMAT, "full_attention" },
    /* numbers of which a float makes zero or infinity, and numbers that come to such */
    { "llama-base", ROPE("'rope_type': 'default', 'rope_theta': 1e-320"), HONE_E_FORMAT, "rope_theta" },
    { "llama-base", "{'rope_parameters': null, 'rope_theta': 1e300}", HONE_E_FORMAT, "rope_theta" },
    { "llama-base", ROPE("'rope_type': 'linear', 'factor': 1e-37"), HONE_E_FORMAT, "angles" },
    { "llama-base", ROPE("'rope_type': 'linear', 'factor': 1e-320"), HONE_E_FORMAT, "factor" },
    { "llama-base", ROPE("'rope_type': 'yarn', 'factor': 2, 'attention_factor': 1e300"), HONE_E_FORMAT, "attention_factor" },
    { "llama-base", ROPE("'rope_type': 'yarn', 'factor': 2, 'attention_factor': 1e30"), HONE_E_FORMAT, "scores" },
    { "cohere-base", "{'logit_scale': 1e300}", HONE_E_FORMAT, "logit_scale" },
    { "gemma2-base", "{'attn_logit_softcapping': 1e300}", HONE_E_FORMAT, "attn_logit_softcapping" },
    { "gemma2-base", "{'final_logit_softcapping': 1e-320}", HONE_E_FORMAT, "final_logit_softcapping" },
    { "granite-base", "{'logits_scaling': 1e-320}", HONE_E_FORMAT, "logits_scaling" },
    { "phi-base", ROPE("'rope_type': 'default', 'partial_rotary_factor': 1e30"), HONE_E_FORMAT, "partial_rotary_factor" },
    { "phi-base", ROPE("'rope_type': 'default', 'partial_rotary_factor': -1e30"), HONE_E_FORMAT, "partial_rotary_factor" },
    { "llama-base", "{'attention_dropout': 0.99999999999}", HONE_E_FORMAT, "attention_dropout" },
    { "smollm3-base", "{'no_rope_layers': [1, 0, 2, 0]}", HONE_E_FORMAT, "no_rope_layers" },
    /* what is read and changes nothing */
    { "llama-base", "{'initializer_range': 0.5, 'use_cache': false, 'rope_scaling': {}}", HONE_OK, NULL },
    { "llama-base", "{'rope_parameters': null, 'rope_theta': 10000, 'rope_scaling': null}", HONE_OK, NULL },
    { "qwen2-base", "{'use_sliding_window': true, 'sliding_window': null, 'layer_types': null}", HONE_OK, NULL },
    { "qwen3-base", "{'hidden_size': 24.0}", HONE_OK, NULL },
};

/* The variant's config with `keys` (single quotes for double ones) set, in a folder beside its weights. */
static void write_edited(const char *dir, const edit *e)
{
    char     from[512], to[512], *keys = hone_strdup(e->keys);
    json_t  *config = NULL, *change = NULL;
    hone_str text = HONE_STR_INIT;

    assert_non_null(keys);
    for (char *c = keys; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    snprintf(from, sizeof from, TEST_DATA "/data/models/%s/config.json", e->variant);
    T_OK(hone_json_read(&config, from));
    T_OK(hone_json_parse(&change, keys, strlen(keys), "edit"));
    assert_int_equal(json_object_update(config, change), 0);
    hone_json_dump(&text, config, true);
    snprintf(to, sizeof to, "%s/config.json", dir);
    T_OK(hone_file_write_all(to, hone_str_c(&text), strlen(hone_str_c(&text))));
    snprintf(from, sizeof from, TEST_DATA "/data/models/%s/model.safetensors", e->variant);
    snprintf(to, sizeof to, "%s/model.safetensors", dir);
    T_OK(hone_file_copy(from, to));
    hone_str_deinit(&text);
    json_decref(change);
    json_decref(config);
    hone_free(keys);
}

static void edited_configs(void **state)
{
    hone_ctx *ctx = NULL;
    int       failures = 0;

    (void)state;
    T_OK(hone_ctx_create(&ctx, &(hone_ctx_options){ .meta = true, .threads = 1 }));
    for (size_t i = 0; i < HONE_COUNTOF(edits); i++) {
        const edit  *e = &edits[i];
        const char  *dir = t_temp_dir();
        hone_loaded *loaded;
        hone_status  st;

        write_edited(dir, e);
        st = hone_model_load(&loaded, ctx, dir, &(hone_load_options){ HONE_DTYPE_F32, HONE_PARAMS_FROZEN, 0 });
        if (st != e->want || (e->named && !strstr(hone_status_text(), e->named))) {
            print_error("%s %s: %s, wanted %s: %s\n", e->variant, e->keys, hone_status_name(st),
                        hone_status_name(e->want), st == HONE_OK ? "" : hone_status_text());
            failures++;
        }
        hone_loaded_destroy(&loaded);
        T_OK(hone_dir_remove(dir));
    }
    hone_ctx_destroy(&ctx);
    assert_int_equal(failures, 0);
}

/* Edits of the header of good weights. */
typedef struct header_edit { const char *variant, *from, *to; hone_status want; const char *named; } header_edit;

static const header_edit header_edits[] = {
    { "stablelm-qk-norm-tied", "0.self_attn.q_layernorm.norms.1.", "0.self_attn.q_layernorm.norms.01.", HONE_E_UNSUPPORTED, "norms.01." },
    { "stablelm-qk-norm-tied", "0.self_attn.q_layernorm.norms.0.", "0.self_attn.q_layernorm.norms.*.", HONE_E_UNSUPPORTED, "norms.*." },
    { "stablelm-qk-norm-tied", "0.self_attn.q_layernorm.norms.1.", "0.self_attn.q_layernorm.norms.99999999999999999999.",
      HONE_E_UNSUPPORTED, "99999999999999999999" },
    { "llama-base", "model.layers.0.input_layernorm.weight", "norm.weight", HONE_E_FORMAT, "one parameter" },
    { "llama-base", "\"model.norm.weight\":{\"dtype\":\"F32\"", "\"model.norm.weight\":{\"dtype\":\"I32\"", HONE_E_UNSUPPORTED, "I32" },
};

static void write_header_edited(const char *dir, const header_edit *e)
{
    char                 from[512], to[512];
    const unsigned char *bytes;
    hone_mapped          map;
    hone_str             out = HONE_STR_INIT, header = HONE_STR_INIT;
    size_t               len, at;

    snprintf(from, sizeof from, TEST_DATA "/data/models/%s/config.json", e->variant);
    snprintf(to, sizeof to, "%s/config.json", dir);
    T_OK(hone_file_copy(from, to));
    snprintf(from, sizeof from, TEST_DATA "/data/models/%s/model.safetensors", e->variant);
    snprintf(to, sizeof to, "%s/model.safetensors", dir);
    T_OK(hone_file_map(&map, from));
    bytes = map.data;
    len = (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16;
    hone_str_append(&header, (const char *)bytes + 8, len);
    assert_non_null(strstr(hone_str_c(&header), e->from));
    at = (size_t)(strstr(hone_str_c(&header), e->from) - hone_str_c(&header));
    len += strlen(e->to) - strlen(e->from);
    for (int i = 0; i < 8; i++)
        hone_str_putc(&out, (char)(len >> 8 * i));
    hone_str_append(&out, header.data, at);
    hone_str_puts(&out, e->to);
    hone_str_append(&out, header.data + at + strlen(e->from), header.len - at - strlen(e->from));
    hone_str_append(&out, (const char *)bytes + 8 + header.len, map.size - 8 - header.len);
    T_OK(hone_file_write_all(to, out.data, out.len));
    hone_file_unmap(&map);
    hone_str_deinit(&header);
    hone_str_deinit(&out);
}

static void edited_headers(void **state)
{
    hone_ctx *ctx = NULL;

    (void)state;
    T_OK(hone_ctx_create(&ctx, &(hone_ctx_options){ .meta = true, .threads = 1 }));
    for (size_t i = 0; i < HONE_COUNTOF(header_edits); i++) {
        const char  *dir = t_temp_dir();
        hone_loaded *loaded;

        write_header_edited(dir, &header_edits[i]);
        assert_int_equal(hone_model_load(&loaded, ctx, dir, &(hone_load_options){ HONE_DTYPE_F32, HONE_PARAMS_FROZEN, 0 }),
                         header_edits[i].want);
        assert_non_null(strstr(hone_status_text(), header_edits[i].named));
        T_OK(hone_dir_remove(dir));
    }
    hone_ctx_destroy(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(edited_configs), cmocka_unit_test(edited_headers) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
