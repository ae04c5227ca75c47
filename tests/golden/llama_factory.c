/* hone and LLaMA-Factory give the same ids and labels: the cases that tools/golden/llama_factory.py made. */
#include <stdio.h>

#include "base/file.h"
#include "data/dataset.h"
#include "data/reader.h"
#include "hone_test.h"

#define FOLDER TEST_DATA "/data/llamafactory"

/* The options of a case, and those that every case has. */
static void load_options(hone_options **out, const json_t *test)
{
    char       *argv[32];
    int         argc = 0;
    const char *key;
    json_t     *value;

    argv[argc++] = hone_asprintf("model_name_or_path=" FOLDER "/tokenizers/%s", json_string_value(json_object_get(test, "tokenizer")));
    argv[argc++] = hone_strdup("dataset_dir=" FOLDER "/data");
    argv[argc++] = hone_strdup("tool_date=29 Nov 2026");
    argv[argc++] = hone_strdup("bad_rows=drop");
    json_object_foreach(json_object_get(test, "config"), key, value) {
        hone_str text = HONE_STR_INIT;

        hone_str_printf(&text, "%s=", key);
        if (json_is_string(value))
            hone_str_puts(&text, json_string_value(value));
        else
            hone_json_dump(&text, value, false);
        argv[argc++] = hone_str_take(&text);
    }
    T_OK(hone_options_load_data(out, argc, argv));
    while (argc > 0)
        hone_free(argv[--argc]);
}

static bool same_ids(const int32_t *got, int64_t n, const json_t *want)
{
    bool same = n == (int64_t)json_array_size(want);

    for (int64_t i = 0; same && i < n; i++)
        same = got[i] == json_integer_value(json_array_get(want, (size_t)i));
    return same;
}

/* Labels are given as the spans of ids that are their own labels, and the others by their place. */
static bool same_labels(const int32_t *ids, const int32_t *got, int64_t n, const json_t *spans, const json_t *others)
{
    size_t span = 0;

    for (int64_t t = 0; t < n; t++) {
        const json_t *s = json_array_get(spans, span);
        char          place[24];
        int64_t       want = -100;
        const json_t *other;

        snprintf(place, sizeof place, "%lld", (long long)t);
        other = json_object_get(others, place);
        if (s && t >= json_integer_value(json_array_get(s, 0)))
            want = ids[t];
        if (other)
            want = json_integer_value(other);
        if (got[t] != want)
            return false;
        if (s && t + 1 == json_integer_value(json_array_get(s, 1)))
            span++;
    }
    return true;
}

static bool same_sequence(const json_t *want, const char *kind, const int32_t *ids, const int32_t *labels, int64_t n)
{
    char          key[64];
    const json_t *list, *spans;

    snprintf(key, sizeof key, "%sids", kind);
    list = json_object_get(want, key);
    snprintf(key, sizeof key, "%slabels", kind);
    spans = json_object_get(want, key);
    snprintf(key, sizeof key, "%slabels_other", kind);
    return same_ids(ids, n, list) && (!spans || same_labels(ids, labels, n, spans, json_object_get(want, key)));
}

static bool same_sample(const json_t *want, hone_sample s)
{
    const json_t *desirable = json_object_get(want, "desirable");

    if (s.rejected_ids)
        return same_sequence(want, "chosen_", s.ids, s.labels, s.n) &&
               same_sequence(want, "rejected_", s.rejected_ids, s.rejected_labels, s.rejected_n);
    return same_sequence(want, "", s.ids, s.labels, s.n) && (desirable ? s.desirable == json_is_true(desirable) : s.desirable < 0);
}

/* Rows that LLaMA-Factory drops, fails at, or learns nothing from are null; they are no samples here. */
static int compare(const json_t *test, const hone_dataset *d)
{
    const json_t *row;
    size_t        i;
    int64_t       next = 0;
    int           bad = 0;

    json_array_foreach(json_object_get(test, "rows"), i, row) {
        if (json_is_null(row))
            continue;
        if (next >= hone_dataset_len(d) || !same_sample(row, hone_dataset_at(d, next)))
            bad++;
        next++;
    }
    return bad + (next != hone_dataset_len(d));
}

static int run_case(const json_t *test)
{
    hone_options        *options;
    hone_tokenizer      *tokenizer;
    hone_chat           *chat;
    hone_slots          *slots;
    hone_dataset        *train, *eval;
    hone_dataset_context c = { .listing = true, .documents = true };
    int                  bad;

    load_options(&options, test);
    T_OK(hone_dataset_open_text(&tokenizer, &chat, &slots, options->model_name_or_path, options));
    c.options = options;
    c.tokenizer = tokenizer;
    c.slots = slots;
    T_OK(hone_dataset_load(&train, &eval, &c));
    bad = compare(test, train);
    if (bad) {
        char *text = json_dumps(json_object_get(test, "config"), JSON_COMPACT);

        fprintf(stderr, "%s %s: %d rows differ\n", json_string_value(json_object_get(test, "tokenizer")), text, bad);
        free(text);
    }
    hone_dataset_destroy(&train);
    hone_dataset_destroy(&eval);
    hone_slots_destroy(&slots);
    hone_chat_destroy(&chat);
    hone_tokenizer_destroy(&tokenizer);
    hone_options_destroy(&options);
    return bad;
}

static void every_case(void **state)
{
    hone_reader   *reader;
    hone_row_block block = { 0 };
    int            bad = 0, cases = 0;

    (void)state;
    T_OK(hone_reader_open(&reader, FOLDER "/cases.jsonl.gz"));
    do {
        T_OK(hone_reader_next(reader, &block, 64, 1 << 20));
        for (size_t i = 0; i < block.rows.len; i++, cases++) {
            json_t *test;

            T_OK(hone_reader_parse(&test, reader, &block, i));
            bad += run_case(test) != 0;
            json_decref(test);
        }
    } while (block.rows.len);
    hone_row_block_deinit(&block);
    hone_reader_close(&reader);
    assert_true(cases > 300);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_case) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
