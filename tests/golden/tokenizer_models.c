/* Every kind of model, and folders without tokenizer.json, give the ids that the tokenizers library and transformers' AutoTokenizer
 * give. Goldens are made by tools/golden/tokenizer_models.py. */
#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/tokenizer.h"

#define DATA TEST_DATA "/data/tokenizer/"

typedef struct checked { const hone_tokenizer *tok; const json_t *want; const char *name; hone_vec_i32 ids; } checked;

static json_t *read_json(const char *path)
{
    json_t *v;

    T_OK(hone_json_read(&v, path));
    return v;
}

/* Append the ids of a text and the -1 that ends it. */
static void add_ids(checked *c, const char *text, size_t n, bool special)
{
    static hone_encoding e;

    e.len = 0;
    T_OK(hone_tokenizer_encode(c->tok, &e, text, n, special));
    for (size_t i = 0; i < e.len; i++) {
        assert_true(e.data[i].begin <= e.data[i].end && e.data[i].end <= n);
        T_OK(HONE_VEC_PUSH(&c->ids, e.data[i].id));
    }
    T_OK(HONE_VEC_PUSH(&c->ids, -1));
}

static void check_hash(const char *got, const json_t *want, const char *name, const char *what)
{
    if (strcmp(got, json_string_value(want)) != 0)
        fail_msg("%s: %s: not what the reference gives", name, what);
}

static void check_ids(checked *c, const char *what)
{
    check_hash(hone_hash_bytes(c->ids.data, c->ids.len * sizeof(int32_t)).hex, json_object_get(c->want, what), c->name, what);
    c->ids.len = 0;
}

/* All code points of a plane, each in "a@b@ ". */
static void check_planes(checked *c)
{
    const json_t *want;
    size_t        p;

    json_array_foreach(json_object_get(c->want, "planes"), p, want) {
        for (uint32_t cp = (uint32_t)p << 16; cp < (uint32_t)(p + 1) << 16; cp++) {
            char   text[16] = "a";
            size_t n;

            if (cp >= 0xD800 && cp < 0xE000)
                continue;
            n = 1 + hone_utf8_encode(cp, text + 1);
            text[n++] = 'b';
            n += hone_utf8_encode(cp, text + n);
            text[n++] = ' ';
            add_ids(c, text, n, false);
        }
        check_hash(hone_hash_bytes(c->ids.data, c->ids.len * sizeof(int32_t)).hex, want, c->name, "a plane");
        c->ids.len = 0;
    }
}

static void check(const hone_tokenizer *tok, const json_t *want, const json_t *texts, const hone_mapped *mixed)
{
    checked       c = { tok, want, json_string_value(json_object_get(want, "name")), { 0 } };
    const char   *s = (const char *)mixed->data;
    const json_t *text;
    size_t        k, n = mixed->size;
    hone_str      decoded = HONE_STR_INIT;

    json_array_foreach(texts, k, text)
        add_ids(&c, json_string_value(text), json_string_length(text), true);
    check_ids(&c, "texts");
    for (size_t at = 0, len; at <= n; at += len + 1) {
        const char *lf = memchr(s + at, '\n', n - at);

        len = lf ? (size_t)(lf - (s + at)) : n - at;
        add_ids(&c, s + at, len, false);
    }
    check_ids(&c, "lines");
    add_ids(&c, s, n, true);
    T_OK(hone_tokenizer_decode(tok, &decoded, c.ids.data, c.ids.len - 1, true));
    check_ids(&c, "mixed");
    check_hash(hone_hash_bytes(hone_str_c(&decoded), decoded.len).hex, json_object_get(want, "decoded"), c.name, "decoded");
    check_planes(&c);
    HONE_VEC_DEINIT(&c.ids);
    hone_str_deinit(&decoded);
}

static void write_json(const char *dir, const char *name, const json_t *v)
{
    hone_str text = HONE_STR_INIT;
    char     path[512];

    hone_json_dump(&text, v, false);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    T_OK(hone_file_write_all(path, text.data, text.len));
    hone_str_deinit(&text);
}

/* The case's folder: a tokenizer.json, or a SentencePiece model with configs. */
static void load(hone_tokenizer **tok, const char *dir, const json_t *c)
{
    const char *file = json_string_value(json_object_get(c, "file")), *model = json_string_value(json_object_get(c, "model"));
    const char *as = json_string_value(json_object_get(c, "as"));
    char        from[512], to[512];
    json_t     *config = json_pack("{s:O}", "model_type", json_object_get(c, "model_type"));

    snprintf(from, sizeof from, DATA "models/%s", file ? file : model);
    snprintf(to, sizeof to, "%s/%s", dir, file ? "tokenizer.json" : as);
    T_OK(hone_file_copy(from, to));
    if (!file) {
        write_json(dir, "tokenizer_config.json", json_object_get(c, "config"));
        write_json(dir, "config.json", config);
    }
    json_decref(config);
    T_OK(hone_tokenizer_load(tok, dir));
    T_OK(hone_dir_remove(dir));
    T_OK(hone_dir_make(dir));
}

static void ids_equal_the_reference(void **state)
{
    json_t      *file = read_json(DATA "models/cases.json"), *c;
    hone_mapped  mixed;
    char         dir[128];
    size_t       i;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    T_OK(hone_file_map(&mixed, DATA "mixed.txt"));
    assert_true(json_array_size(json_object_get(file, "cases")) > 10);
    json_array_foreach(json_object_get(file, "cases"), i, c) {
        const json_t   *named = json_object_get(c, "named");
        hone_tokenizer *tok;

        load(&tok, dir, c);
        check(tok, c, json_object_get(file, "texts"), &mixed);
        if (named) {
            assert_int_equal(hone_tokenizer_bos(tok), json_integer_value(json_array_get(named, 0)));
            assert_int_equal(hone_tokenizer_eos(tok), json_integer_value(json_array_get(named, 1)));
            assert_int_equal(hone_tokenizer_pad(tok), json_integer_value(json_array_get(named, 2)));
        }
        hone_tokenizer_destroy(&tok);
    }
    hone_file_unmap(&mixed);
    json_decref(file);
    T_OK(hone_dir_remove(dir));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ids_equal_the_reference) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
