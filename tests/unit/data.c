/* Data sets: files and rows of ids, fates of rows, splits, streams, errors with their places. */
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "data_fixture.h"
#include "hone_test.h"

#define A "dataset: '@/a.jsonl'\n"

static const hone_dataset_report *report(const t_data *d) { return hone_dataset_get_report(d->train); }

static void conserved(const hone_dataset *d)
{
    const hone_dataset_report *r = hone_dataset_get_report(d);
    int64_t rows = 0, tokens = 0, supervised = 0;

    for (int f = 0; f < HONE_ROW_FATES; f++)
        rows += r->fates[f];
    for (int64_t i = 0; i < hone_dataset_len(d); i++) {
        tokens += hone_dataset_at(d, i).n;
        supervised += hone_dataset_at(d, i).supervised;
    }
    assert_int_equal(rows, r->rows);
    assert_int_equal(r->tokens_in, r->tokens_kept + r->tokens_cut + r->tokens_dropped);
    assert_int_equal(tokens, r->tokens_kept);
    assert_int_equal(supervised, r->supervised);
}

/* ---- files ---- */

static void jsonl_with_odd_ends(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl",
                 "\xEF\xBB\xBF{\"input_ids\": [1, 2]}\r\n\r\n   \n{\"id\": 7, \"input_ids\": [3, 4], \"x\": \"a\xE2\x80\xA8" "b\"}\n"
                 "{\"input_ids\": [5, 6, 7], \"labels\": [-100, -100, 7], \"tools\": null}", 0);
    T_OK(t_data_load(&d, A));
    assert_int_equal(hone_dataset_len(d.train), 3);
    assert_string_equal(t_data_ids(d.train, 0), "1 2");
    assert_string_equal(t_data_labels(d.train, 0), "1 2");
    assert_string_equal(t_data_ids(d.train, 2), "5 6 7");
    assert_string_equal(t_data_labels(d.train, 2), "-100 -100 7");
    assert_int_equal(hone_dataset_at(d.train, 1).line, 4);
    assert_int_equal(hone_dataset_at(d.train, 1).row, 1);
    assert_int_equal(hone_dataset_at(d.train, 2).line, 5);
    assert_int_equal(report(&d)->max_id, 7);
    conserved(d.train);
    t_data_close(&d);
}

static void json_arrays_objects_and_lines(void **state)
{
    static const char *const files[] = {
        "[{\"input_ids\": [1, 2]}, {\"input_ids\": [3, 4], \"s\": \"]},{\\\"\"}]",
        "\n[\n  {\n    \"input_ids\": [1,\n 2]},\n  {\"input_ids\": [3, 4]}\n]\n",
        "{\"input_ids\": [1, 2]}\n{\"input_ids\": [3, 4]}\n",
    };
    t_data d;

    (void)state;
    t_data_open(&d);
    for (size_t i = 0; i < HONE_COUNTOF(files); i++) {
        t_data_write(&d, "a.json", files[i], 0);
        T_OK(t_data_load(&d, "dataset: '@/a.json'\n"));
        assert_int_equal(hone_dataset_len(d.train), 2);
        assert_string_equal(t_data_ids(d.train, 0), "1 2");
        assert_string_equal(t_data_ids(d.train, 1), "3 4");
    }
    t_data_write(&d, "a.json", "{\n\"input_ids\":\n[1, 2, 3]}\n", 0);
    T_OK(t_data_load(&d, "dataset: '@/a.json'\n"));
    assert_int_equal(hone_dataset_len(d.train), 1);
    assert_int_equal(hone_dataset_at(d.train, 0).n, 3);
    t_data_close(&d);
}

typedef struct bad_file { const char *name, *text; hone_status status; const char *place, *reason; } bad_file;

static void broken_files_name_the_line(void **state)
{
    static const bad_file files[] = {
        { "a.jsonl", "{\"input_ids\": [1, 2]}\n\n{\"input_ids\": [1, 2}\n", HONE_E_FORMAT, "a.jsonl: line 3:", "broken JSON at column" },
        { "a.jsonl", "{\"input_ids\": [1, 2]}\n[1]\n", HONE_E_FORMAT, "a.jsonl: line 2:", "must be an object, not array" },
        { "a.jsonl", "{\"input_ids\": [1, 2]}\n{\"input_ids\": 4}\n", HONE_E_FORMAT, "a.jsonl: line 2:", "an array of token ids, not integer" },
        { "a.jsonl", "{\"input_ids\": [1, 2]}\n{\"input_ids\": [1, 2.5]}\n", HONE_E_FORMAT, "a.jsonl: line 2:", "\"input_ids\"[1]" },
        { "a.jsonl", "{\"input_ids\": [1, -100]}\n", HONE_E_FORMAT, "a.jsonl: line 1:", "\"input_ids\"[1]" },
        { "a.jsonl", "{\"input_ids\": [1, 2], \"labels\": [1, -1]}\n", HONE_E_FORMAT, "a.jsonl: line 1:", "\"labels\"[1]" },
        { "a.jsonl", "{\"input_ids\": [1, 2], \"labels\": [1]}\n", HONE_E_FORMAT, "a.jsonl: line 1:", "1 labels for 2 input_ids" },
        { "a.jsonl", "{\"input_ids\": [1, 2], \"attention_mask\": [1, 0]}\n", HONE_E_DATA, "a.jsonl, line 1:", "\"attention_mask\"[1] is not 1" },
        { "a.jsonl", "{\"input_ids\": [1, 2], \"attention_mask\": [1]}\n", HONE_E_FORMAT, "a.jsonl: line 1:", "1 numbers for 2 input_ids" },
        { "a.jsonl", "{\"input_ids\": [1, 2], \"position_ids\": [0, 0]}\n", HONE_E_DATA, "a.jsonl, line 1:", "several samples in the row" },
        { "a.jsonl", "{\"input_ids\": [1, 2], \"seq_lengths\": [1, 1]}\n", HONE_E_DATA, "a.jsonl, line 1:", "several samples in the row" },
        { "a.jsonl", "{\"input_ids\": [1, 2], \"completion_mask\": [1, 2]}\n", HONE_E_FORMAT, "a.jsonl: line 1:", "neither 0 nor 1" },
        { "a.jsonl", "{\"input_ids\": [1, 2], \"assistant_masks\": 1}\n", HONE_E_FORMAT, "a.jsonl: line 1:", "an array of numbers" },
        { "a.jsonl", "{\"input_ids\": [1, 4294967297]}\n", HONE_E_FORMAT, "a.jsonl: line 1:", "\"input_ids\"[1]" },
        { "a.jsonl", "{\"input_ids\": [1, 2]}\n{\"b\": \"\xFF\"}\n", HONE_E_FORMAT, "a.jsonl: line 2:", "invalid UTF-8: byte 0xff" },
        { "a.jsonl", "{\"left\": 1, \"right\": 2}\n", HONE_E_FORMAT, "a.jsonl: line 1:", "left, right" },
        { "a.jsonl", "{\"input_ids\": [1, 2]}\n{\"input_ids\": [3, 4], \"input_ids\": []}\n", HONE_E_FORMAT, "a.jsonl: line 2:", "duplicate" },
        { "a.json", "[\n{\"input_ids\": [1, 2]},\n{\"input_ids\": [1\n 2]}]\n", HONE_E_FORMAT, "a.json: line 4:", "broken JSON" },
        { "a.json", "[{\"input_ids\": [1, 2]},\n{\"input_ids\": [1, 2]}\n", HONE_E_FORMAT, "a.json: line 3:", "cut short" },
        { "a.json", "[{\"input_ids\": [1, 2]}\n{\"input_ids\": [1, 2]}]\n", HONE_E_FORMAT, "a.json: line 2:", "expected \",\"" },
        { "a.json", "[{\"input_ids\": [1, 2]},\n]\n", HONE_E_FORMAT, "a.json: line 2:", "a row is missing" },
        { "a.json", "[{\"input_ids\": [1, 2]}]\nx", HONE_E_FORMAT, "a.json: line 2:", "more text" },
        { "a.json", "[]", HONE_E_DATA, "dataset has no rows", "/a.json" },
        { "a.jsonl", "\n\n", HONE_E_DATA, "dataset", "has no rows" },
        { "a.jsonl", "{\"input_ids\": []}\n{\"input_ids\": [1, 2], \"labels\": [5, -100]}\n", HONE_E_DATA, "nothing is left of dataset",
          "2 have no token with a loss" },
        { "a.jsonl", "{\"text\": \"a\"}\n", HONE_E_USAGE, "a.jsonl", "stage: pt" },
        { "a.jsonl", "{\"messages\": []}\n", HONE_E_DATA, "a.jsonl", "no tokenizer" },
        { "a.txt", "one\n", HONE_E_USAGE, "a.txt", "stage: pt" },
    };
    t_data d;
    char   yaml[64];

    (void)state;
    t_data_open(&d);
    for (size_t i = 0; i < HONE_COUNTOF(files); i++) {
        t_data_write(&d, files[i].name, files[i].text, 0);
        snprintf(yaml, sizeof yaml, "dataset: '@/%s'\n", files[i].name);
        T_STATUS(t_data_load(&d, yaml), files[i].status);
        T_ERROR_HAS(files[i].place);
        T_ERROR_HAS(files[i].reason);
        assert_null(d.train);
    }
    T_STATUS(t_data_load(&d, "dataset: '@/none.jsonl'\n"), HONE_E_IO);
    T_ERROR_HAS("none.jsonl");
    T_STATUS(t_data_load(&d, ""), HONE_E_USAGE);
    T_ERROR_HAS("dataset is missing");
    t_data_close(&d);
}

/* TRL's tokenised rows. */
static void masks_say_which_ids_are_learned(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl",
                 "{\"input_ids\": [1, 2, 3], \"completion_mask\": [0, 0, 1], \"attention_mask\": [1, 1, 1], \"position_ids\": [0, 1, 2]}\n"
                 "{\"input_ids\": [1, 2, 3], \"completion_mask\": [0, 1, 1], \"assistant_masks\": [1, 1, 0], \"seq_lengths\": [3]}\n", 0);
    T_OK(t_data_load(&d, A));
    assert_int_equal(hone_dataset_len(d.train), 2);
    assert_memory_equal(hone_dataset_at(d.train, 0).labels, ((int32_t[]){ -100, -100, 3 }), 12);
    assert_memory_equal(hone_dataset_at(d.train, 1).labels, ((int32_t[]){ -100, 2, -100 }), 12);
    t_data_close(&d);
}

static void nul_bytes_are_no_json(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2]}\n{\"input_ids\": [1, 2\0]}\n", 44);
    T_STATUS(t_data_load(&d, A), HONE_E_FORMAT);
    T_ERROR_HAS("a.jsonl: line 2:");
    t_data_close(&d);
}

/* ---- fates of rows ---- */

static void truncation_policies(void **state)
{
    t_data   d;
    hone_str row = HONE_STR_INIT;

    (void)state;
    t_data_open(&d);
    hone_str_puts(&row, "{\"input_ids\": [1, 2]}\n{\"input_ids\": [100");
    for (int i = 101; i < 200; i++)
        hone_str_printf(&row, ", %d", i);
    hone_str_puts(&row, "]}\n");
    t_data_write(&d, "a.jsonl", hone_str_c(&row), 0);
    hone_str_deinit(&row);
    T_STATUS(t_data_load(&d, A "cutoff_len: 60\ntruncation: error\n"), HONE_E_DATA);
    T_ERROR_HAS("1 row longer than cutoff_len");
    T_ERROR_HAS("a.jsonl, line 2: 100 tokens, cutoff_len is 60");
    T_OK(t_data_load(&d, A "cutoff_len: 60\ntruncation: drop\n"));
    assert_int_equal(hone_dataset_len(d.train), 1);
    assert_int_equal(report(&d)->fates[HONE_ROW_TOO_LONG], 1);
    assert_int_equal(report(&d)->tokens_dropped, 100);
    conserved(d.train);
    T_OK(t_data_load(&d, A "cutoff_len: 60\ntruncation: cut-right\n"));
    assert_int_equal(hone_dataset_at(d.train, 1).n, 60);
    assert_int_equal(hone_dataset_at(d.train, 1).ids[0], 100);
    assert_int_equal(hone_dataset_at(d.train, 1).ids[59], 159);
    assert_int_equal(report(&d)->fates[HONE_ROW_CUT], 1);
    assert_int_equal(report(&d)->tokens_cut, 40);
    conserved(d.train);
    T_OK(t_data_load(&d, A "cutoff_len: 60\ntruncation: cut-left\n"));
    assert_int_equal(hone_dataset_at(d.train, 1).ids[0], 140);
    assert_int_equal(hone_dataset_at(d.train, 1).ids[59], 199);
    conserved(d.train);
    T_OK(t_data_load(&d, A "cutoff_len: 100\ntruncation: error\n"));
    assert_int_equal(report(&d)->fates[HONE_ROW_KEPT], 2);
    t_data_close(&d);
}

static void a_cut_can_leave_nothing_to_learn(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2, 3, 4], \"labels\": [-100, -100, -100, 4]}\n{\"input_ids\": [5, 6]}\n", 0);
    T_OK(t_data_load(&d, A "cutoff_len: 3\n"));
    assert_int_equal(hone_dataset_len(d.train), 1);
    assert_int_equal(report(&d)->fates[HONE_ROW_UNSUPERVISED], 1);
    assert_non_null(strstr(hone_dataset_note(d.train, 0).why, "after the cut"));
    assert_int_equal(hone_dataset_note(d.train, 0).line, 1);
    conserved(d.train);
    T_OK(t_data_load(&d, A "cutoff_len: 3\ntruncation: cut-left\n"));
    assert_string_equal(t_data_ids(d.train, 0), "2 3 4");
    t_data_close(&d);
}

static void bad_rows_are_all_listed_or_dropped(void **state)
{
    t_data   d;
    hone_str rows = HONE_STR_INIT;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2]}\n{\"x\": 1}\n{\"input_ids\": [3, 4]}\n{\"y\": 1}\n", 0);
    T_STATUS(t_data_load(&d, A), HONE_E_DATA);
    T_ERROR_HAS("2 rows cannot be used");
    T_ERROR_HAS("a.jsonl, line 2: the row has no \"input_ids\" (it has: ");
    T_ERROR_HAS("a.jsonl, line 4: the row has no \"input_ids\" (it has: ");
    T_ERROR_HAS("bad_rows: drop");
    T_STATUS(t_data_load(&d, A "val_size: 1\n"), HONE_E_DATA);      /* wherever the split puts them */
    T_ERROR_HAS("2 rows cannot be used");
    T_OK(t_data_load(&d, A "bad_rows: drop\n"));
    assert_int_equal(hone_dataset_len(d.train), 2);
    assert_int_equal(report(&d)->n_notes, 2);
    assert_string_equal(hone_dataset_note(d.train, 1).why, "the row has no \"input_ids\" (it has: y)");
    assert_int_equal(hone_dataset_note(d.train, 1).line, 4);
    conserved(d.train);
    hone_str_puts(&rows, "{\"input_ids\": [1, 2]}\n");
    for (int i = 0; i < 30; i++)
        hone_str_puts(&rows, "{}\n");
    t_data_write(&d, "a.jsonl", hone_str_c(&rows), 0);
    hone_str_deinit(&rows);
    T_STATUS(t_data_load(&d, A), HONE_E_DATA);
    T_ERROR_HAS("30 rows cannot be used");
    T_ERROR_HAS("line 21:");
    T_ERROR_HAS("and 10 more");
    T_ERROR_HAS("bad_rows: drop to leave them out");
    t_data_close(&d);
}

static void ids_beyond_the_vocabulary(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2]}\n\n{\"input_ids\": [3, 9, 4]}\n{\"input_ids\": [1, 2], \"labels\": [0, 12]}\n", 0);
    T_OK(t_data_load(&d, A));
    assert_int_equal(report(&d)->max_id, 12);
    T_OK(hone_dataset_check_ids(d.train, &(hone_dataset_context){ 0 }, 13));
    T_STATUS(hone_dataset_check_ids(d.train, &(hone_dataset_context){ 0 }, 12), HONE_E_DATA);
    T_ERROR_HAS("a.jsonl, line 4: label 12 of token 1");
    T_STATUS(hone_dataset_check_ids(d.train, &(hone_dataset_context){ 0 }, 9), HONE_E_DATA);
    T_ERROR_HAS("a.jsonl, line 3: id 9 of token 1 is beyond the model's vocabulary of 9");
    t_data_close(&d);
}

/* ---- several files, parts of them ---- */

static void files_follow_one_another(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2]}\n{\"input_ids\": [3, 4]}\n{\"input_ids\": [5, 6]}\n", 0);
    t_data_write(&d, "b.json", "[{\"input_ids\": [7, 8]}, {\"input_ids\": [9, 10]}]", 0);
    T_OK(t_data_load(&d, "dataset: '@/a.jsonl, @/b.json'\n"));
    assert_int_equal(hone_dataset_len(d.train), 5);
    assert_string_equal(t_data_ids(d.train, 3), "7 8");
    assert_int_equal(hone_dataset_at(d.train, 3).source, 1);
    assert_non_null(strstr(hone_dataset_source_path(d.train, 1), "b.json"));
    T_OK(t_data_load(&d, "dataset: ['@/a.jsonl', '@/b.json']\nmax_samples: 1\n"));
    assert_int_equal(hone_dataset_len(d.train), 2);
    assert_string_equal(t_data_ids(d.train, 1), "7 8");
    T_OK(t_data_load(&d, "dataset: '@/a.jsonl'\neval_dataset: '@/b.json'\n"));
    assert_int_equal(hone_dataset_len(d.train), 3);
    assert_int_equal(hone_dataset_len(d.eval), 2);
    T_OK(t_data_load(&d, "eval_dataset: '@/b.json'\n"));
    assert_null(d.train);
    assert_int_equal(hone_dataset_len(d.eval), 2);
    t_data_write(&d, "b.json", "[]", 0);
    T_STATUS(t_data_load(&d, "dataset: '@/a.jsonl'\neval_dataset: '@/b.json'\n"), HONE_E_DATA);
    T_ERROR_HAS("eval_dataset has no rows");
    assert_null(d.train);
    t_data_close(&d);
}

static void write_rows(t_data *d, int n)
{
    hone_str rows = HONE_STR_INIT;

    for (int i = 0; i < n; i++)
        hone_str_printf(&rows, "{\"input_ids\": [%d, %d, %d]}\n", i, i + 1, i + 2);
    t_data_write(d, "a.jsonl", hone_str_c(&rows), 0);
    hone_str_deinit(&rows);
}

/* Bit i of the result: the row that starts with i is in the data set. */
static uint64_t rows_of(const hone_dataset *d)
{
    uint64_t bits = 0;

    for (int64_t i = 0; i < hone_dataset_len(d); i++) {
        uint64_t bit = 1ull << hone_dataset_at(d, i).ids[0];

        assert_false(bits & bit);
        bits |= bit;
    }
    return bits;
}

static void held_out_rows_are_a_draw_of_the_seed(void **state)
{
    t_data   d;
    uint64_t first;

    (void)state;
    t_data_open(&d);
    write_rows(&d, 40);
    T_OK(t_data_load(&d, A "val_size: 0.11\n"));
    assert_int_equal(hone_dataset_len(d.eval), 5);      /* rounded up */
    first = rows_of(d.eval);
    assert_int_equal(rows_of(d.train) & first, 0);
    assert_int_equal(rows_of(d.train) | first, (1ull << 40) - 1);
    assert_int_equal(report(&d)->rows, 35);
    T_OK(t_data_load(&d, A "val_size: 5\n"));
    assert_int_equal(rows_of(d.eval), first);
    T_OK(t_data_load(&d, A "val_size: 5\nseed: 43\n"));
    assert_int_not_equal(rows_of(d.eval), first);
    T_OK(t_data_load(&d, A "val_size: 1\n"));
    assert_int_equal(hone_dataset_len(d.eval), 1);
    T_OK(t_data_load(&d, "dataset: '@/a.jsonl, @/a.jsonl'\nval_size: 33\n"));      /* of all files together */
    assert_int_equal(hone_dataset_len(d.eval), 33);
    assert_int_equal(hone_dataset_len(d.train), 47);
    T_STATUS(t_data_load(&d, A "val_size: 40\n"), HONE_E_USAGE);
    T_ERROR_HAS("nothing is left to train on");
    t_data_close(&d);
}

static void threads_change_nothing(void **state)
{
    t_data d;
    char   one[33], many[33];

    (void)state;
    t_data_open(&d);
    write_rows(&d, 1200);       /* more than are parsed at once */
    T_OK(t_data_load(&d, A "threads: 1\ncutoff_len: 2\n"));
    hone_dataset_fingerprint(d.train, one);
    T_OK(t_data_load(&d, A "threads: 8\ncutoff_len: 2\n"));
    hone_dataset_fingerprint(d.train, many);
    assert_string_equal(one, many);
    for (int64_t i = 0; i < 1200; i++) {
        assert_int_equal(hone_dataset_at(d.train, i).ids[0], i);
        assert_int_equal(hone_dataset_note(d.train, i).line, i + 1);
    }
    T_OK(t_data_load(&d, A "threads: 8\ncutoff_len: 3\n"));
    hone_dataset_fingerprint(d.train, many);
    assert_string_not_equal(one, many);
    t_data_close(&d);
}

/* ---- streams ---- */

static void a_stream_keeps_every_token(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2, 3, 4, 5]}\n{\"input_ids\": [6, 7]}\n{\"input_ids\": [8, 9, 10]}\n"
                 "{\"input_ids\": [11]}\n", 0);
    T_OK(t_data_load(&d, A "stage: pt\ncutoff_len: 4\n"));
    assert_int_equal(hone_dataset_len(d.train), 3);
    assert_string_equal(t_data_ids(d.train, 0), "1 2 3 4");
    assert_string_equal(t_data_ids(d.train, 1), "5 6 7 8");
    assert_string_equal(t_data_ids(d.train, 2), "9 10 11");
    assert_int_equal(hone_dataset_at(d.train, 1).line, 1);      /* of the document that the block starts in */
    assert_int_equal(hone_dataset_at(d.train, 2).line, 3);
    assert_int_equal(report(&d)->tokens_kept, 11);
    assert_int_equal(report(&d)->longest, 4);
    conserved(d.train);
    T_OK(t_data_load(&d, A "stage: pt\ncutoff_len: 4\npack_length: 5\n"));
    assert_int_equal(hone_dataset_len(d.train), 2);             /* the last token has none before it */
    assert_int_equal(report(&d)->tokens_dropped, 1);
    conserved(d.train);
    T_OK(t_data_load(&d, A "stage: pt\ncutoff_len: 4\npacking: false\n"));
    assert_int_equal(hone_dataset_len(d.train), 3);
    assert_string_equal(t_data_ids(d.train, 0), "1 2 3 4");
    assert_int_equal(report(&d)->fates[HONE_ROW_CUT], 1);
    assert_int_equal(report(&d)->fates[HONE_ROW_UNSUPERVISED], 1);
    conserved(d.train);
    T_OK(t_data_load(&d, A "cutoff_len: 4\npacking: true\ntruncation: drop\n"));    /* sft: never a fragment */
    assert_int_equal(hone_dataset_len(d.train), 2);
    assert_int_equal(report(&d)->tokens_dropped, 6);
    conserved(d.train);
    T_STATUS(t_data_load(&d, A "stage: pt\ncutoff_len: 1\n"), HONE_E_DATA);
    T_ERROR_HAS("no token that another predicts");
    t_data_close(&d);
}

/* ---- dataset_info.json ---- */

typedef struct info_case { const char *entry; hone_status status; const char *text; } info_case;

static void names_of_dataset_info(void **state)
{
    static const info_case cases[] = {
        { "{\"file_name\": \"a.jsonl\", \"ranking\": true}", HONE_E_USAGE, "preference pairs" },
        { "{\"hf_hub_url\": \"x/y\"}", HONE_E_UNSUPPORTED, "\"hf_hub_url\"" },
        { "{\"file_name\": \"a.jsonl\", \"formatting\": \"other\"}", HONE_E_UNSUPPORTED, "formatting \"other\"" },
        { "{\"file_name\": \"a.jsonl\", \"split\": \"test\"}", HONE_E_UNSUPPORTED, "split \"test\"" },
        { "{\"formatting\": \"alpaca\"}", HONE_E_FORMAT, "no \"file_name\"" },
        { "{\"file_name\": \"a.jsonl\", \"formatting\": \"sharegpt\", \"tags\": {\"role_tag\": \"role\"}}", HONE_E_FORMAT, "content_tag" },
        { "{\"file_name\": \"a.jsonl\"}", HONE_E_DATA, "no tokenizer" },
    };
    t_data d;
    char   info[256];

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2]}\n", 0);
    T_STATUS(t_data_load(&d, "dataset: mine\ndataset_dir: '@'\n"), HONE_E_USAGE);
    T_ERROR_HAS("there is no");
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        snprintf(info, sizeof info, "{\"mine\": %s}", cases[i].entry);
        t_data_write(&d, "dataset_info.json", info, 0);
        T_STATUS(t_data_load(&d, "dataset: mine\ndataset_dir: '@'\n"), cases[i].status);
        T_ERROR_HAS(cases[i].text);
    }
    T_STATUS(t_data_load(&d, "dataset: mone\ndataset_dir: '@'\n"), HONE_E_USAGE);
    T_ERROR_HAS("did you mean mine?");
    T_OK(t_data_load(&d, "dataset: mine\ndataset_dir: '@'\ndata_format: ids\n"));
    assert_string_equal(t_data_ids(d.train, 0), "1 2");
    t_data_close(&d);
}

/* ---- the report ---- */

static void collect(void *arg, hone_log_level level, const char *text)
{
    (void)level;
    hone_str_puts(arg, text);
    hone_str_putc(arg, '\n');
}

static void the_log_is_told(void **state)
{
    hone_str text = HONE_STR_INIT;
    hone_log log = { collect, &text, HONE_LOG_INFO };
    t_data   d;

    (void)state;
    t_data_open(&d);
    d.context.log = &log;
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2, 3]}\n{}\n{\"input_ids\": [4]}\n{\"input_ids\": [1, 2, 3, 4, 5]}\n", 0);
    T_OK(t_data_load(&d, A "bad_rows: drop\ncutoff_len: 4\neval_dataset: '@/a.jsonl'\n"));
    assert_non_null(strstr(text.data, "dataset: 4 rows: 1 kept, 1 cut, 0 too long, 1 bad, 1 without a token to learn; 2 samples\n"));
    assert_non_null(strstr(text.data, "dataset: 9 tokens: 7 kept, 1 cut, 1 dropped; 5 of them with a loss; longest sample 4\n"));
    assert_non_null(strstr(text.data, "a.jsonl, line 2: the row has no \"input_ids\" (it has: "));
    assert_non_null(strstr(text.data, "a.jsonl, line 3: no token has a loss\n"));
    assert_non_null(strstr(text.data, "\neval_dataset: 4 rows"));
    hone_str_deinit(&text);
    t_data_close(&d);
}

static void running_out_of_memory_is_an_error(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2, 3]}\n{\"input_ids\": [4]}\n", 0);
    T_OK(t_data_load(&d, A "threads: 1\n"));
    for (int64_t n = 0;; n++) {
        hone_dataset *train = NULL, *eval = NULL;
        hone_status   st;

        hone_mem_fail_at(n);
        st = hone_dataset_load(&train, &eval, &d.context);
        if (!hone_mem_fail_reached()) {
            hone_mem_fail_at(-1);
            T_OK(st);
            assert_true(n > 10);
            hone_dataset_destroy(&train);
            break;
        }
        hone_mem_fail_at(-1);
        assert_int_equal(st, HONE_E_NOMEM);
        assert_null(train);
    }
    t_data_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jsonl_with_odd_ends),
        cmocka_unit_test(json_arrays_objects_and_lines),
        cmocka_unit_test(broken_files_name_the_line),
        cmocka_unit_test(masks_say_which_ids_are_learned), cmocka_unit_test(nul_bytes_are_no_json),
        cmocka_unit_test(truncation_policies),
        cmocka_unit_test(a_cut_can_leave_nothing_to_learn),
        cmocka_unit_test(bad_rows_are_all_listed_or_dropped),
        cmocka_unit_test(ids_beyond_the_vocabulary),
        cmocka_unit_test(files_follow_one_another),
        cmocka_unit_test(held_out_rows_are_a_draw_of_the_seed),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_stream_keeps_every_token),
        cmocka_unit_test(names_of_dataset_info),
        cmocka_unit_test(the_log_is_told),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
