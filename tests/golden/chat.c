/* Ids and loss masks of whole conversations equal those of tools/golden/template.py. */
#include <stdio.h>

#include "base/file.h"
#include "hone_test.h"
#include "text/chat.h"

static int compare(const hone_tokenizer *tok, const json_t *row)
{
    const char       *name = json_string_value(json_object_get(row, "template"));
    const json_t     *ids = json_object_get(row, "ids"), *mask = json_object_get(row, "mask");
    const json_t     *tools = json_object_get(row, "tools");
    hone_chat_options options = { .tools = json_is_null(tools) ? NULL : tools,
                                  .template_kwargs = json_object_get(row, "chat_template_kwargs") };
    hone_chat_render  r = { 0 };
    hone_chat        *chat;
    char             *path = hone_path_join(TEST_DATA "/data/template", name), *source;
    size_t            n;
    int               bad = 0;

    T_OK(hone_file_read_all(&source, &n, path));
    T_OK(hone_chat_create(&chat, source, n, name, tok));
    T_OK(hone_chat_render_messages(chat, &r, json_object_get(row, "messages"), &options));
    bad += r.tokens.len != json_array_size(ids);
    for (size_t i = 0; !bad && i < r.tokens.len; i++)
        bad += r.tokens.data[i].id != json_integer_value(json_array_get(ids, i)) ||
               r.mask.data[i] != json_integer_value(json_array_get(mask, i)) || (r.message.data[i] >= 0) != r.mask.data[i];
    if (bad) {
        fprintf(stderr, "%s, %s: %s\n  got %zu tokens: ", name, json_string_value(json_object_get(row, "case")),
                hone_str_c(&r.text), r.tokens.len);
        for (size_t i = 0; i < r.tokens.len; i++)
            if (r.mask.data[i])
                fprintf(stderr, "[%.*s]", (int)(r.tokens.data[i].end - r.tokens.data[i].begin),
                        hone_str_c(&r.text) + r.tokens.data[i].begin);
        fprintf(stderr, "\n");
    }
    hone_chat_render_deinit(&r);
    hone_chat_destroy(&chat);
    hone_free(source);
    hone_free(path);
    return bad != 0;
}

static void masks(void **state)
{
    hone_tokenizer *tok;
    char           *data, *next;
    size_t          size;
    int             bad = 0, rows = 0;

    (void)state;
    T_OK(hone_tokenizer_load(&tok, TEST_DATA "/data/template/tokenizer"));
    T_OK(hone_file_read_all(&data, &size, TEST_DATA "/data/template/masks.jsonl"));
    for (char *p = data; *p; p = next, rows++) {
        char   *end = strchr(p, '\n');
        json_t *row;

        next = end + 1;
        T_OK(hone_json_parse(&row, p, (size_t)(end - p), "masks.jsonl"));
        bad += compare(tok, row);
        json_decref(row);
    }
    assert_true(rows > 50);
    assert_int_equal(bad, 0);
    hone_free(data);
    hone_tokenizer_destroy(&tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(masks) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
