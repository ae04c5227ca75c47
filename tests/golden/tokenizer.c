/* Ids equal the reference tokenizers library's: every code point, mixed text, and many variations of the parts.
 * Goldens are made by tools/golden/tokenizer.py and tokenizer_suite.py. */
#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/utf8.h"
#include "text/tokenizer.h"

#define DATA TEST_DATA "/data/tokenizer/"

static json_t *read_json(const char *path)
{
    json_t *v;

    T_OK(hone_json_read(&v, path));
    return v;
}

/* Append the ids of a text and the -1 that ends it. */
static void add_ids(hone_vec_i32 *ids, const hone_tokenizer *tok, const char *text, size_t n, bool special)
{
    static hone_encoding e;

    e.len = 0;
    T_OK(hone_tokenizer_encode(tok, &e, text, n, special));
    for (size_t i = 0; i < e.len; i++) {
        assert_true(e.data[i].begin <= e.data[i].end && e.data[i].end <= n);
        T_OK(HONE_VEC_PUSH(ids, e.data[i].id));
    }
    T_OK(HONE_VEC_PUSH(ids, -1));
}

static bool same_hash(const hone_vec_i32 *ids, const json_t *want)
{
    return strcmp(hone_hash_bytes(ids->data, ids->len * sizeof(int32_t)).hex, json_string_value(want)) == 0;
}

/* Code points put into `format` where it has an x, hashed in blocks. */
static void check_code_points(const hone_tokenizer *tok, const json_t *want, const char *format, const char *what)
{
    enum { BLOCK = 4096 };
    hone_vec_i32 ids = { 0 };
    hone_str     text = HONE_STR_INIT;

    assert_int_equal(json_array_size(want), 0x110000 / BLOCK);
    for (uint32_t b = 0; b < 0x110000 / BLOCK; b++) {
        ids.len = 0;
        for (uint32_t cp = b * BLOCK; cp < (b + 1) * BLOCK; cp++) {
            char   c[4];
            size_t n;

            if (cp >= 0xD800 && cp < 0xE000)
                continue;
            n = hone_utf8_encode(cp, c);
            hone_str_clear(&text);
            for (const char *f = format; *f; f++)
                if (*f == '@')
                    hone_str_append(&text, c, n);
                else
                    hone_str_putc(&text, *f);
            add_ids(&ids, tok, text.data, text.len, false);
        }
        if (!same_hash(&ids, json_array_get(want, b)))
            fail_msg("%s: ids differ from the reference's for a code point in U+%04X..U+%04X", what, b * BLOCK, (b + 1) * BLOCK - 1);
    }
    HONE_VEC_DEINIT(&ids);
    hone_str_deinit(&text);
}

static void check_kind(const char *kind)
{
    char            path[512];
    json_t         *golden;
    hone_tokenizer *tok;
    hone_vec_i32    ids = { 0 };
    hone_mapped     text;

    snprintf(path, sizeof path, DATA "%s/golden.json", kind);
    golden = read_json(path);
    snprintf(path, sizeof path, DATA "%s", kind);
    T_OK(hone_tokenizer_load(&tok, path));
    check_code_points(tok, json_object_get(golden, "alone"), "@", "alone");
    check_code_points(tok, json_object_get(golden, "between"), "a@b", "between letters");
    check_code_points(tok, json_object_get(golden, "around"), "x1 @ \n@@'@'s", "among others");
    T_OK(hone_file_map(&text, DATA "mixed.txt"));
    add_ids(&ids, tok, (const char *)text.data, text.size, true);
    assert_true(same_hash(&ids, json_object_get(golden, "mixed")));
    ids.len = 0;
    for (size_t i = 0; i <= text.size;) {
        const char *line = (const char *)text.data + i, *lf = memchr(line, '\n', text.size - i);
        size_t      n = lf ? (size_t)(lf - line) : text.size - i;

        add_ids(&ids, tok, line, n, true);
        i += n + 1;
    }
    assert_true(same_hash(&ids, json_object_get(golden, "lines")));
    hone_file_unmap(&text);
    HONE_VEC_DEINIT(&ids);
    hone_tokenizer_destroy(&tok);
    json_decref(golden);
}

static void gpt2_ids(void **state) { (void)state; check_kind("gpt2"); }
static void qwen2_ids(void **state) { (void)state; check_kind("qwen2"); }
static void llama3_ids(void **state) { (void)state; check_kind("llama3"); }

/* The gpt2 tokenizer with some parts replaced. */
static hone_tokenizer *changed(const json_t *base, const json_t *change)
{
    json_t         *spec = json_copy((json_t *)base), *model = json_object_get(change, "model");
    hone_str        text = HONE_STR_INIT;
    hone_tokenizer *tok;

    json_object_update(spec, (json_t *)change);
    if (model) {
        json_t *both = json_copy(json_object_get(base, "model"));

        json_object_update(both, model);
        json_object_set_new(spec, "model", both);
    }
    hone_json_dump(&text, spec, false);
    T_OK(hone_tokenizer_create(&tok, text.data, text.len, "case"));
    hone_str_deinit(&text);
    json_decref(spec);
    return tok;
}

static void check_decoded(const hone_tokenizer *tok, const hone_vec_i32 *ids, const json_t *want, const char *name)
{
    hone_vec_i32 plain = { 0 };
    hone_str     text = HONE_STR_INIT;

    for (size_t i = 0; i < ids->len; i++)
        if (ids->data[i] >= 0)
            T_OK(HONE_VEC_PUSH(&plain, ids->data[i]));
    T_OK(hone_tokenizer_decode(tok, &text, plain.data, plain.len, true));
    if (strcmp(hone_hash_bytes(hone_str_c(&text), text.len).hex, json_string_value(want)) != 0)
        fail_msg("%s: decoded text differs from the reference's", name);
    HONE_VEC_DEINIT(&plain);
    hone_str_deinit(&text);
}

static void variations(void **state)
{
    json_t      *base = read_json(DATA "gpt2/tokenizer.json"), *file = read_json(DATA "cases.json"), *c, *t;
    hone_vec_i32 ids = { 0 };
    size_t       i, k;

    (void)state;
    assert_true(json_array_size(json_object_get(file, "cases")) > 100);
    json_array_foreach(json_object_get(file, "cases"), i, c) {
        const char     *name = json_string_value(json_object_get(c, "name"));
        json_t         *texts = json_object_get(c, "texts");
        hone_tokenizer *tok = changed(base, json_object_get(c, "change"));

        ids.len = 0;
        if (json_is_string(texts))
            texts = json_object_get(file, "all");
        json_array_foreach(texts, k, t)
            add_ids(&ids, tok, json_string_value(t), json_string_length(t), true);
        if (!same_hash(&ids, json_object_get(c, "hash")))
            fail_msg("%s: ids differ from the reference's", name);
        check_decoded(tok, &ids, json_object_get(c, "decoded"), name);
        hone_tokenizer_destroy(&tok);
    }
    HONE_VEC_DEINIT(&ids);
    json_decref(base);
    json_decref(file);
}

/* ---- every kind of component: tools/golden/tokenizer_suite.py ---- */

/* Replace the strings "TABLE" in a specification by the table of replacements. */
static void put_table(json_t *v, const json_t *table)
{
    const char *key;
    json_t     *item;
    size_t      i;

    json_object_foreach(v, key, item) {
        if (json_is_string(item) && strcmp(json_string_value(item), "TABLE") == 0)
            json_object_set(v, key, (json_t *)table);
        else
            put_table(item, table);
    }
    json_array_foreach(v, i, item)
        put_table(item, table);
}

static void check_texts(const hone_tokenizer *tok, const json_t *texts, const json_t *want)
{
    const char  *name = json_string_value(json_object_get(want, "name"));
    hone_vec_i32 ids = { 0 };
    hone_str     back[2] = { HONE_STR_INIT, HONE_STR_INIT };
    const json_t *t;
    size_t       i;

    json_array_foreach(texts, i, t) {
        size_t begin = ids.len;

        add_ids(&ids, tok, json_string_value(t), json_string_length(t), true);
        for (int full = 0; full < 2; full++) {
            T_OK(hone_tokenizer_decode(tok, &back[full], ids.data + begin, ids.len - 1 - begin, !full));
            hone_str_putc(&back[full], '\0');
        }
    }
    if (!same_hash(&ids, json_object_get(want, "ids")))
        fail_msg("%s: ids differ from the reference's", name);
    for (int full = 0; full < 2; full++) {
        if (strcmp(hone_hash_bytes(hone_str_c(&back[full]), back[full].len).hex,
                   json_string_value(json_object_get(want, full ? "full" : "plain"))) != 0)
            fail_msg("%s: decoded text differs from the reference's, %s special tokens", name, full ? "with" : "without");
        hone_str_deinit(&back[full]);
    }
    HONE_VEC_DEINIT(&ids);
}

static void check_planes(const hone_tokenizer *tok, const json_t *kind)
{
    hone_vec_i32 ids = { 0 };

    for (uint32_t plane = 0; plane < 17; plane++) {
        ids.len = 0;
        for (uint32_t cp = plane << 16; cp < (plane + 1) << 16; cp++) {
            char c[4];

            if (cp < 0xD800 || cp >= 0xE000)
                add_ids(&ids, tok, c, hone_utf8_encode(cp, c), true);
        }
        if (!same_hash(&ids, json_array_get(json_object_get(kind, "code_points"), plane)))
            fail_msg("%s: ids differ from the reference's for a code point of plane %u", json_string_value(json_object_get(kind, "name")),
                     plane);
    }
    HONE_VEC_DEINIT(&ids);
}

static void kinds(void **state)
{
    json_t *file = read_json(DATA "kinds.json"), *kind;
    size_t  i;

    (void)state;
    assert_true(json_array_size(json_object_get(file, "kinds")) > 10);
    json_array_foreach(json_object_get(file, "kinds"), i, kind) {
        const json_t   *spec = json_object_get(kind, "spec");
        hone_tokenizer *tok;

        T_OK(hone_tokenizer_create(&tok, json_string_value(spec), json_string_length(spec), json_string_value(json_object_get(kind, "name"))));
        check_texts(tok, json_object_get(kind, "texts"), kind);
        check_planes(tok, kind);
        hone_tokenizer_destroy(&tok);
    }
    json_decref(file);
}

static void parts(void **state)
{
    json_t *base = read_json(DATA "gpt2/tokenizer.json"), *file = read_json(DATA "kinds.json"), *c;
    size_t  i;

    (void)state;
    assert_true(json_array_size(json_object_get(file, "cases")) > 100);
    json_array_foreach(json_object_get(file, "cases"), i, c) {
        hone_tokenizer *tok;

        put_table(json_object_get(c, "change"), json_object_get(file, "table"));
        tok = changed(base, json_object_get(c, "change"));
        check_texts(tok, json_object_get(file, "texts"), c);
        hone_tokenizer_destroy(&tok);
    }
    json_decref(base);
    json_decref(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_ids), cmocka_unit_test(qwen2_ids), cmocka_unit_test(llama3_ids), cmocka_unit_test(variations),
        cmocka_unit_test(kinds), cmocka_unit_test(parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
