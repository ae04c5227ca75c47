/* Prepared data: what is read back is what was made; damage behind right checksums; running out of memory. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "data/dataset_int.h"
#include "data/prepared.h"
#include "data/prepared_int.h"
#include "data_fixture.h"
#include "hone_test.h"

#define A "dataset: '@/a.jsonl'\ndata_format: ids\nbad_rows: drop\ncutoff_len: 6\n"
#define READY "tokenized_path: '@/ready'\n"

static void write_rows(const t_data *d, int n)
{
    hone_str text = HONE_STR_INIT;

    for (int i = 0; i < n; i++)
        if (i % 7 == 3)
            hone_str_puts(&text, "{\"other\": 1}\n");
        else if (i % 7 == 5)
            hone_str_puts(&text, "{\"input_ids\": [9]}\n");
        else
            hone_str_printf(&text, "{\"input_ids\": [%d, %d, %d%s]}\n", i, i + 1, i + 2, i % 7 == 6 ? ", 1, 2, 3, 4, 5" : "");
    t_data_write(d, "a.jsonl", text.data, text.len);
    hone_str_deinit(&text);
}

static void same_report(const hone_dataset_report *a, const hone_dataset_report *b)
{
    assert_memory_equal(a->fates, b->fates, sizeof a->fates);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->tokens_in, b->tokens_in);
    assert_int_equal(a->tokens_kept, b->tokens_kept);
    assert_int_equal(a->tokens_cut, b->tokens_cut);
    assert_int_equal(a->tokens_dropped, b->tokens_dropped);
    assert_int_equal(a->supervised, b->supervised);
    assert_int_equal(a->longest, b->longest);
    assert_int_equal(a->max_id, b->max_id);
    assert_int_equal(a->end_label, b->end_label);
    assert_int_equal(a->end_count, b->end_count);
    assert_int_equal(a->n_notes, b->n_notes);
}

static void same(const hone_dataset *a, const hone_dataset *b)
{
    char x[33], y[33];

    hone_dataset_fingerprint(a, x);
    hone_dataset_fingerprint(b, y);
    assert_string_equal(x, y);
    same_report(hone_dataset_get_report(a), hone_dataset_get_report(b));
    assert_int_equal(hone_dataset_len(a), hone_dataset_len(b));
    for (int64_t i = 0; i < hone_dataset_len(a); i++) {
        hone_sample s = hone_dataset_at(a, i), t = hone_dataset_at(b, i);

        assert_int_equal(s.n, t.n);
        assert_memory_equal(s.ids, t.ids, (size_t)s.n * sizeof *s.ids);
        assert_memory_equal(s.labels, t.labels, (size_t)s.n * sizeof *s.labels);
        assert_true(s.supervised == t.supervised && s.source == t.source && s.row == t.row && s.line == t.line);
        assert_true(s.rejected_n == t.rejected_n && s.desirable == t.desirable);
        assert_string_equal(hone_dataset_source_path(a, s.source), hone_dataset_source_path(b, t.source));
    }
    for (int64_t i = 0; i < hone_dataset_get_report(a)->n_notes; i++) {
        hone_row_note s = hone_dataset_note(a, i), t = hone_dataset_note(b, i);

        assert_string_equal(s.why, t.why);
        assert_true(s.fate == t.fate && s.row == t.row && s.line == t.line && s.before == t.before && s.tokens == t.tokens);
    }
}

/* With these options, samples are the same whether they are made, made and prepared, or prepared before. */
static void check_options(const char *yaml)
{
    t_data   plain, ready;
    hone_str with = HONE_STR_INIT;

    t_data_open(&plain);
    write_rows(&plain, 5000);
    T_OK(t_data_load(&plain, yaml));
    t_data_open(&ready);
    snprintf(ready.dir, sizeof ready.dir, "%s", plain.dir);     /* the same files */
    hone_str_printf(&with, "%s" READY, yaml);
    for (int i = 0; i < 2; i++) {
        T_OK(t_data_load(&ready, with.data));
        same(plain.train, ready.train);
        assert_int_equal(!plain.eval, !ready.eval);
        if (plain.eval)
            same(plain.eval, ready.eval);
    }
    hone_str_deinit(&with);
    t_data_close(&ready);
    t_data_close(&plain);
}

static void what_is_read_back_is_what_was_made(void **state)
{
    (void)state;
    check_options(A);
    check_options(A "val_size: 0.2\nthreads: 1\n");
    check_options(A "eval_dataset: '@/a.jsonl'\nmax_samples: 100\n");
    check_options("stage: pt\npack_length: 50\n" A);
    check_options("stage: pt\npacking: false\n" A);
}

/* ---- rows of two sequences, and of feedback: made by hand, as no format of ids has them ---- */

static hone_row_result row(const int32_t *ids, size_t n, const int32_t *rejected, size_t m, int desirable)
{
    hone_row_result r = { .is_feedback = desirable >= 0, .desirable = desirable == 1 };

    for (size_t i = 0; i < n; i++) {
        T_OK(HONE_VEC_PUSH(&r.ids, ids[i]));
        T_OK(HONE_VEC_PUSH(&r.labels, i < 2 ? -100 : ids[i]));
    }
    for (size_t i = 0; i < m; i++) {
        T_OK(HONE_VEC_PUSH(&r.rejected_ids, rejected[i]));
        T_OK(HONE_VEC_PUSH(&r.rejected_labels, i < 2 ? -100 : rejected[i]));
    }
    return r;
}

static void place(hone_dataset *d, const hone_dataset_context *c, hone_row_result r, int64_t at)
{
    T_OK(dataset_place_row(d, c, &r, (dataset_place){ 0, at, at + 1 }));
    d->report.rows++;
    hone_row_result_deinit(&r);
}

/* A folder of a few pairs and feedback rows. */
static void make_pairs(const t_data *d)
{
    static const int32_t chosen[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, rejected[] = { 1, 2, 9, 10, 11, 12, 13 };
    hone_dataset *data;
    json_t       *key = json_pack("{s:s, s:{}, s:[]}", "options", "", "text", "sources");

    T_OK(dataset_create(&data, &(dataset_sink){ d->dir, "train" }));
    T_OK(dataset_add_set(data, "pairs"));
    T_OK(dataset_add_file(data, "pairs.jsonl", 0));
    place(data, &d->context, row(chosen, 5, rejected, 4, -1), 0);
    place(data, &d->context, row(chosen, 8, rejected, 7, -1), 1);   /* both are cut to 6 */
    place(data, &d->context, row(chosen, 5, rejected, 2, -1), 2);   /* nothing rejected to learn from */
    place(data, &d->context, row(chosen, 4, NULL, 0, 1), 3);
    place(data, &d->context, row(chosen, 3, NULL, 0, 0), 4);
    T_OK(dataset_finish(data));
    T_OK(prepared_write_manifest(d->dir, key, data, NULL));
    hone_dataset_destroy(&data);
    json_decref(key);
}

static void open_pairs(t_data *d)
{
    t_data_open(d);
    t_data_write(d, "a.jsonl", "{\"input_ids\": [1, 2]}\n", 0);
    T_OK(t_data_load(d, A));            /* for the options */
    make_pairs(d);
}

static void pairs_and_feedback(void **state)
{
    t_data        d;
    hone_dataset *train, *eval;
    hone_sample   s;

    (void)state;
    open_pairs(&d);
    T_OK(hone_prepared_open(&train, &eval, d.dir));
    assert_null(eval);
    assert_int_equal(hone_dataset_len(train), 4);
    s = hone_dataset_at(train, 0);
    assert_true(s.n == 5 && s.rejected_n == 4 && s.desirable == -1 && s.supervised == 3);
    assert_true(s.ids[4] == 5 && s.rejected_ids[0] == 1 && s.rejected_ids[3] == 10 && s.rejected_labels[1] == -100);
    s = hone_dataset_at(train, 1);
    assert_true(s.n == 6 && s.rejected_n == 6 && s.ids[5] == 6 && s.rejected_ids[5] == 12);
    s = hone_dataset_at(train, 2);
    assert_true(s.n == 4 && s.desirable == 1 && !s.rejected_ids && s.row == 3);
    assert_int_equal(hone_dataset_at(train, 3).desirable, 0);
    assert_int_equal(hone_dataset_get_report(train)->fates[HONE_ROW_CUT], 1);
    assert_int_equal(hone_dataset_get_report(train)->fates[HONE_ROW_UNSUPERVISED], 1);
    assert_int_equal(hone_dataset_get_report(train)->tokens_in, 9 + 15 + 7 + 4 + 3);
    assert_int_equal(hone_dataset_get_report(train)->tokens_kept, 9 + 12 + 4 + 3);
    assert_int_equal(hone_dataset_get_report(train)->longest, 6);
    hone_dataset_destroy(&train);
    t_data_close(&d);
}

/* ---- damage ---- */

/* Change the manifest, and give it the checksums that it should have. */
static void reseal(const t_data *d, const char *key, int64_t value)
{
    char   *path = hone_path_join(d->dir, "manifest.json"), *samples = hone_path_join(d->dir, "train.samples"), *text;
    json_t *m, *part;
    hone_hash hash;

    T_OK(hone_json_read(&m, path));
    part = json_object_get(json_object_get(m, "parts"), "train");
    T_OK(hone_hash_file(&hash, samples));
    json_object_set_new(part, "index", json_string(hash.hex));
    if (key)
        json_object_set_new(json_object_get(part, "arrays"), key, json_integer(value));
    json_object_del(m, "checksum");
    text = json_dumps(m, JSON_COMPACT);
    json_object_set_new(m, "checksum", json_string(hone_hash_bytes(text, strlen(text)).hex));
    free(text);
    text = json_dumps(m, JSON_COMPACT);
    T_OK(hone_file_write_all(path, text, strlen(text)));
    free(text);
    json_decref(m);
    hone_free(path);
    hone_free(samples);
}

static void refuse(const t_data *d, const char *text)
{
    hone_dataset *train, *eval;

    T_STATUS(hone_prepared_open(&train, &eval, d->dir), HONE_E_FORMAT);
    T_ERROR_HAS(text);
    assert_null(train);
}

static void an_index_that_leads_outside(void **state)
{
    static const struct { size_t offset; int64_t value; size_t width; } faults[] = {
        { offsetof(dataset_entry, begin), -1, 8 }, { offsetof(dataset_entry, begin), 1000, 8 },
        { offsetof(dataset_entry, begin), INT64_MAX - 3, 8 }, { offsetof(dataset_entry, n), 0, 8 },
        { offsetof(dataset_entry, n), 1000, 8 }, { offsetof(dataset_entry, n), INT64_MAX, 8 },
        { offsetof(dataset_entry, rejected_n), -4, 8 }, { offsetof(dataset_entry, rejected_n), INT64_MAX, 8 },
        { offsetof(dataset_entry, supervised), 9, 8 }, { offsetof(dataset_entry, source), 1, 4 },
        { offsetof(dataset_entry, source), -1, 4 }, { offsetof(dataset_entry, desirable), 2, 4 },
    };
    t_data d;

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(faults); i++) {
        char  *path, *data;
        size_t n;

        open_pairs(&d);
        path = hone_path_join(d.dir, "train.samples");
        T_OK(hone_file_read_all(&data, &n, path));
        memcpy(data + sizeof(dataset_entry) + faults[i].offset, &faults[i].value, faults[i].width);
        T_OK(hone_file_write_all(path, data, n));
        refuse(&d, "train.samples was changed");
        reseal(&d, NULL, 0);
        refuse(&d, "sample 1 is outside");
        hone_free(path);
        hone_free(data);
        t_data_close(&d);
    }
}

static void notes_that_lead_outside(void **state)
{
    static const struct { size_t offset; int64_t value; size_t width; } faults[] = {
        { offsetof(dataset_note_entry, why), -1, 8 }, { offsetof(dataset_note_entry, why), 5000, 8 },
        { offsetof(dataset_note_entry, source), 7, 4 }, { offsetof(dataset_note_entry, fate), 0, 4 },
        { offsetof(dataset_note_entry, fate), HONE_ROW_FATES, 4 },
    };
    t_data d;

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(faults); i++) {
        char  *path, *data;
        size_t n;

        open_pairs(&d);
        path = hone_path_join(d.dir, "train.notes");
        T_OK(hone_file_read_all(&data, &n, path));
        assert_int_equal(n, 2 * sizeof(dataset_note_entry));
        memcpy(data + faults[i].offset, &faults[i].value, faults[i].width);
        T_OK(hone_file_write_all(path, data, n));
        refuse(&d, "note 0 is outside");
        hone_free(path);
        hone_free(data);
        t_data_close(&d);
    }
    open_pairs(&d);
    t_data_write(&d, "train.reasons", "no NUL at the end", 0);
    reseal(&d, "reasons", 17);
    refuse(&d, "train.notes");
    t_data_close(&d);
}

static void lengths_that_do_not_fit(void **state)
{
    t_data d;

    (void)state;
    open_pairs(&d);
    reseal(&d, "ids", 3);
    refuse(&d, "train.ids");
    reseal(&d, "ids", -1);
    refuse(&d, "\"ids\" is missing or out of range");
    reseal(&d, "ids", INT64_MAX);
    refuse(&d, "\"ids\" is missing or out of range");
    t_data_close(&d);
}

static void running_out_of_memory_is_an_error(void **state)
{
    t_data d;

    (void)state;
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2, 3]}\n{\"input_ids\": [4]}\n", 0);
    T_OK(t_data_load(&d, A READY "threads: 1\n"));
    for (int64_t n = 0, made = 0; made < 2; n++) {
        hone_dataset *train = NULL, *eval = NULL;
        hone_status   st;
        char         *ready = hone_path_join(d.dir, "ready");

        if (!made)      /* once to make it, once to use it */
            T_OK(hone_dir_remove(ready));
        hone_free(ready);
        hone_mem_fail_at(n);
        st = hone_dataset_load(&train, &eval, &d.context);
        if (!hone_mem_fail_reached()) {
            hone_mem_fail_at(-1);
            T_OK(st);
            assert_true(n > 10);
            hone_dataset_destroy(&train);
            made++;
            n = -1;
            continue;
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
        cmocka_unit_test(what_is_read_back_is_what_was_made),
        cmocka_unit_test(pairs_and_feedback),
        cmocka_unit_test(an_index_that_leads_outside),
        cmocka_unit_test(notes_that_lead_outside),
        cmocka_unit_test(lengths_that_do_not_fit),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
