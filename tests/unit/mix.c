/* Mixtures of data sets: the order of rows, draws, and what the loading makes of them. */
#include <stdio.h>

#include "base/mem.h"
#include "data/mix.h"
#include "data_fixture.h"
#include "hone_test.h"

/* The rows that a mixture takes, numbered through over all data sets: "0 3 7 1 ...". */
static const char *order(hone_mix_strategy strategy, const int64_t *rows, int32_t n)
{
    static char text[512];
    size_t      len = 0;
    int64_t     taken[8] = { 0 }, count = 0, all;
    hone_mix   *m;

    T_OK(hone_mix_create(&m, strategy, rows, NULL, n, 1));
    all = hone_mix_count(m);
    text[0] = '\0';
    for (int32_t i; (i = hone_mix_next(m)) >= 0; count++) {
        int64_t at = taken[i]++ % rows[i];

        for (int32_t k = 0; k < i; k++)
            at += rows[k];
        len += (size_t)snprintf(text + len, sizeof text - len, len ? " %lld" : "%lld", (long long)at);
    }
    assert_int_equal(hone_mix_next(m), -1);
    assert_int_equal(count, all);
    hone_mix_destroy(&m);
    return text;
}

/* The examples in the documentation of the library datasets. */
static void in_turn_as_datasets_does(void **state)
{
    static const int64_t rows[] = { 3, 4, 5 }, other[] = { 3, 4, 3 }, first_longer[] = { 4, 1, 2 };

    (void)state;
    assert_string_equal(order(HONE_MIX_INTERLEAVE_UNDER, rows, 3), "0 3 7 1 4 8 2 5 9");
    assert_string_equal(order(HONE_MIX_INTERLEAVE_OVER, rows, 3), "0 3 7 1 4 8 2 5 9 0 6 10 1 3 11");
    assert_string_equal(order(HONE_MIX_INTERLEAVE_ONCE, other, 3), "0 3 7 1 4 8 2 5 9 6");
    assert_string_equal(order(HONE_MIX_INTERLEAVE_ONCE, first_longer, 3), "0 4 5 1 6 2 3");
    assert_string_equal(order(HONE_MIX_CONCAT, rows, 3), "0 1 2 3 4 5 6 7 8 9 10 11");
}

static void concat_need_not_know_the_rows(void **state)
{
    static const int64_t rows[] = { -1, 0, -1 };
    hone_mix *m;

    (void)state;
    T_OK(hone_mix_create(&m, HONE_MIX_CONCAT, rows, NULL, 3, 1));
    assert_int_equal(hone_mix_next(m), 0);
    assert_int_equal(hone_mix_next(m), 0);
    hone_mix_end(m, 0);
    assert_int_equal(hone_mix_next(m), 2);
    hone_mix_end(m, 2);
    assert_int_equal(hone_mix_next(m), -1);
    hone_mix_destroy(&m);
}

/* C043: shares within 1 % over 10,000 rows, the same order with the same seed, another with another. */
static void probabilities_are_kept(void **state)
{
    static const int64_t rows[] = { 1000000, 1000000 };
    static const double  probs[] = { 0.7, 0.3 };
    hone_mix *a, *b, *c;
    int       first = 0, equal = 0, other = 0;

    (void)state;
    T_OK(hone_mix_create(&a, HONE_MIX_INTERLEAVE_UNDER, rows, probs, 2, 7));
    T_OK(hone_mix_create(&b, HONE_MIX_INTERLEAVE_UNDER, rows, probs, 2, 7));
    T_OK(hone_mix_create(&c, HONE_MIX_INTERLEAVE_UNDER, rows, probs, 2, 8));
    for (int i = 0; i < 10000; i++) {
        int32_t x = hone_mix_next(a);

        first += x == 0;
        equal += x == hone_mix_next(b);
        other += x == hone_mix_next(c);
    }
    assert_in_range(first, 6900, 7100);
    assert_int_equal(equal, 10000);
    assert_in_range(other, 5000, 6600);         /* 0.58 of independent draws agree */
    hone_mix_destroy(&a);
    hone_mix_destroy(&b);
    hone_mix_destroy(&c);
}

/* Where a mixture by probabilities ends: counts[i] rows of data set i, `last` the last one. */
static void drawn(hone_mix_strategy strategy, const int64_t *rows, const double *probs, int64_t *counts, int32_t *last)
{
    hone_mix *m;
    int64_t   all, n = 0;

    T_OK(hone_mix_create(&m, strategy, rows, probs, 3, 3));
    all = hone_mix_count(m);
    memset(counts, 0, 3 * sizeof *counts);
    for (int32_t i; (i = hone_mix_next(m)) >= 0; n++) {
        counts[i]++;
        *last = i;
    }
    assert_int_equal(n, all);
    hone_mix_destroy(&m);
}

static void probabilities_end_as_datasets_does(void **state)
{
    static const int64_t rows[] = { 30, 40, 500 }, some[] = { 30, 0, 5 };
    static const double  probs[] = { 0.5, 0.25, 0.25 }, none[] = { 0.5, 0, 0.5 };
    int64_t counts[3];
    int32_t last = -1;

    (void)state;
    drawn(HONE_MIX_INTERLEAVE_UNDER, rows, probs, counts, &last);
    assert_int_equal(counts[last], rows[last]);     /* its last row ends it at once */
    assert_true(counts[0] <= 30 && counts[1] <= 40);
    drawn(HONE_MIX_INTERLEAVE_OVER, rows, probs, counts, &last);
    assert_int_equal(last, 2);
    assert_int_equal(counts[2], 500);
    assert_true(counts[0] > 800 && counts[1] > 350);
    drawn(HONE_MIX_INTERLEAVE_ONCE, rows, probs, counts, &last);
    assert_true(counts[0] == 30 && counts[1] == 40 && counts[2] == 500);
    drawn(HONE_MIX_INTERLEAVE_ONCE, some, probs, counts, &last);
    assert_true(counts[0] == 30 && counts[1] == 0 && counts[2] == 5);
    drawn(HONE_MIX_INTERLEAVE_UNDER, rows, none, counts, &last);
    assert_int_equal(counts[1], 0);
    assert_int_equal(counts[0], 30);
}

static void a_mixture_without_end_is_refused(void **state)
{
    static const int64_t rows[] = { 1000000, 10 };
    static const double  probs[] = { 1e-9, 1 };
    hone_mix *m;

    (void)state;
    T_STATUS(hone_mix_create(&m, HONE_MIX_INTERLEAVE_OVER, rows, probs, 2, 1), HONE_E_USAGE);
    T_ERROR_HAS("interleave_probs");
    assert_null(m);
}

static void draws_have_their_number(void **state)
{
    int64_t times[50] = { 0 };

    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        hone_draw d = hone_draw_make(seed, 9, 50, 20);
        int       n = 0;

        for (int i = 0; i < 50; i++)
            if (hone_draw_next(&d)) {
                times[i]++;
                n++;
            }
        assert_int_equal(n, 20);
    }
    for (int i = 0; i < 50; i++)
        assert_in_range(times[i], 680, 920);        /* 800 expected, 22 of them one standard deviation */
}

static void picks_are_a_draw_then_repeats(void **state)
{
    hone_pick *p;
    int64_t    seen[10] = { 0 }, first[25], row, n = 0;

    (void)state;
    T_OK(hone_pick_create(&p, 10, 25, 4, 1));
    while ((row = hone_pick_next(p)) >= 0) {
        if (n < 10)
            assert_int_equal(row, n);               /* every row once */
        first[n++] = row;
        seen[row]++;
    }
    assert_int_equal(n, 25);
    for (int i = 11; i < 25; i++)
        assert_true(first[i] >= first[i - 1]);
    for (int i = 0; i < 25; i++)                    /* the next pass is the same */
        assert_int_equal(hone_pick_next(p), first[i]);
    assert_int_equal(hone_pick_next(p), -1);
    hone_pick_destroy(&p);
    T_OK(hone_pick_create(&p, 1000, 3, 4, 1));
    for (n = 0; (row = hone_pick_next(p)) >= 0; n++)
        assert_in_range(row, 0, 999);
    assert_int_equal(n, 3);
    hone_pick_destroy(&p);
}

/* ---- through the loading ---- */

static const char info[] =
    "{\"a\": {\"file_name\": \"a.jsonl\"}, \"b\": {\"file_name\": \"b.jsonl\"}, \"c\": {\"file_name\": \"c.jsonl\"},\n"
    " \"few\": {\"file_name\": \"c.jsonl\", \"num_samples\": 2}, \"many\": {\"file_name\": \"a.jsonl\", \"num_samples\": 8},\n"
    " \"empty\": {\"file_name\": \"empty.jsonl\"}}";

#define OPTIONS "dataset_dir: '@'\ndata_format: ids\n"

/* Files of n rows, whose ids begin at 100, 200, 300. */
static void open_sets(t_data *d, const int *n)
{
    static const char *const names[] = { "a.jsonl", "b.jsonl", "c.jsonl" };

    t_data_open(d);
    t_data_write(d, "dataset_info.json", info, 0);
    t_data_write(d, "empty.jsonl", "\n", 0);
    for (int f = 0; f < 3; f++) {
        hone_str text = HONE_STR_INIT;

        for (int i = 0; i < n[f]; i++)
            hone_str_printf(&text, "{\"input_ids\": [%d, 1]}\n", 100 * (f + 1) + i);
        t_data_write(d, names[f], text.data, text.len);
        hone_str_deinit(&text);
    }
}

/* The first ids of all samples. */
static const char *firsts(const hone_dataset *d)
{
    static char text[1024];
    size_t      len = 0;

    text[0] = '\0';
    for (int64_t i = 0; i < hone_dataset_len(d); i++) {
        hone_sample s = hone_dataset_at(d, i);

        assert_int_equal(s.row, s.ids[0] % 100);
        assert_int_equal(s.line, s.row + 1);
        len += (size_t)snprintf(text + len, sizeof text - len, len ? " %d" : "%d", s.ids[0]);
    }
    return text;
}

static void rows_are_taken_in_the_order_of_the_mixture(void **state)
{
    static const int n[] = { 3, 4, 5 };
    t_data d;

    (void)state;
    open_sets(&d, n);
    T_OK(t_data_load(&d, OPTIONS "dataset: a, b, c\nmix_strategy: interleave_under\n"));
    assert_string_equal(firsts(d.train), "100 200 300 101 201 301 102 202 302");
    assert_int_equal(hone_dataset_set_count(d.train), 3);
    assert_string_equal(hone_dataset_set_name(d.train, 1), "b");
    assert_int_equal(hone_dataset_source_set(d.train, hone_dataset_at(d.train, 1).source), 1);
    T_OK(t_data_load(&d, OPTIONS "dataset: a, b, c\nmix_strategy: interleave_over\n"));
    assert_string_equal(firsts(d.train), "100 200 300 101 201 301 102 202 302 100 203 303 101 200 304");
    T_OK(t_data_load(&d, OPTIONS "dataset: a, b, c\nmix_strategy: interleave_once\n"));
    assert_string_equal(firsts(d.train), "100 200 300 101 201 301 102 202 302 203 303 304");
    T_OK(t_data_load(&d, OPTIONS "dataset: c, a\nmax_samples: 2\n"));
    assert_string_equal(firsts(d.train), "300 301 100 101");
    T_OK(t_data_load(&d, OPTIONS "dataset: c, a\nmax_samples: 2\nmix_strategy: interleave_over\n"));
    assert_string_equal(firsts(d.train), "300 100 301 101");
    t_data_close(&d);
}

static void num_samples_draws(void **state)
{
    static const int n[] = { 3, 4, 5 };
    t_data d;
    char   first[64];

    (void)state;
    open_sets(&d, n);
    T_OK(t_data_load(&d, OPTIONS "dataset: few\n"));
    assert_int_equal(hone_dataset_len(d.train), 2);
    snprintf(first, sizeof first, "%s", firsts(d.train));
    T_OK(t_data_load(&d, OPTIONS "dataset: few, few\nmix_strategy: interleave_over\n"));
    assert_int_equal(hone_dataset_len(d.train), 4);
    T_OK(t_data_load(&d, OPTIONS "dataset: many\n"));
    assert_true(hone_starts_with(firsts(d.train), "100 101 102 10"));
    assert_int_equal(hone_dataset_len(d.train), 8);
    T_OK(t_data_load(&d, OPTIONS "dataset: many, c\nmix_strategy: interleave_over\n"));
    assert_int_equal(hone_dataset_len(d.train), 16);
    T_OK(t_data_load(&d, OPTIONS "dataset: many\nmax_samples: 2\n"));
    assert_int_equal(hone_dataset_len(d.train), 2);
    T_OK(t_data_load(&d, OPTIONS "dataset: few\nthreads: 1\n"));
    assert_string_equal(firsts(d.train), first);
    t_data_close(&d);
}

static void the_split_is_drawn_over_the_mixture(void **state)
{
    static const int n[] = { 30, 20, 50 };
    t_data d;
    int    sets[3] = { 0 };

    (void)state;
    open_sets(&d, n);
    T_OK(t_data_load(&d, OPTIONS "dataset: a, b, c\nmix_strategy: interleave_over\nval_size: 60\n"));
    assert_int_equal(hone_dataset_len(d.eval), 60);
    assert_int_equal(hone_dataset_len(d.train), 90);
    for (int64_t i = 0; i < 60; i++)
        sets[hone_dataset_source_set(d.eval, hone_dataset_at(d.eval, i).source)]++;
    for (int i = 0; i < 3; i++)
        assert_in_range(sets[i], 10, 30);           /* 20 expected of each */
    T_STATUS(t_data_load(&d, OPTIONS "dataset: a\nval_size: 30\n"), HONE_E_USAGE);
    T_OK(t_data_load(&d, OPTIONS "dataset: a\neval_dataset: b, c\neval_on_each_dataset: true\n"
                     "mix_strategy: interleave_under\n"));
    assert_int_equal(hone_dataset_len(d.eval), 70);     /* each as it is */
    t_data_close(&d);
}

static void an_empty_data_set_is_named(void **state)
{
    static const int n[] = { 3, 4, 5 };
    t_data d;

    (void)state;
    open_sets(&d, n);
    T_STATUS(t_data_load(&d, OPTIONS "dataset: a, empty\nmix_strategy: interleave_under\n"), HONE_E_DATA);
    T_ERROR_HAS("data set empty has no rows");
    T_OK(t_data_load(&d, OPTIONS "dataset: a, empty, b\nmix_strategy: interleave_once\n"));
    assert_string_equal(firsts(d.train), "100 200 101 201 102 202 203");
    T_OK(t_data_load(&d, OPTIONS "dataset: empty, a\n"));
    assert_string_equal(firsts(d.train), "100 101 102");
    t_data_close(&d);
}

/* Many small files: more than stay open at once. */
static void many_files(void **state)
{
    t_data   d;
    hone_str yaml = HONE_STR_INIT;

    (void)state;
    t_data_open(&d);
    for (int i = 0; i < 90; i++) {
        char name[32], row[64];

        snprintf(name, sizeof name, "%03d.jsonl", i);
        snprintf(row, sizeof row, "{\"input_ids\": [%d, 1]}\n", i);
        t_data_write(&d, name, i % 3 ? "\n" : row, 0);
        hone_str_printf(&yaml, "%s'@/%s'", i ? ", " : "dataset: [", name);
    }
    hone_str_puts(&yaml, "]\n");
    T_OK(t_data_load(&d, yaml.data));
    assert_int_equal(hone_dataset_len(d.train), 30);
    for (int i = 0; i < 30; i++)
        assert_int_equal(hone_dataset_at(d.train, i).ids[0], 3 * i);
    hone_str_deinit(&yaml);
    t_data_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_turn_as_datasets_does),
        cmocka_unit_test(concat_need_not_know_the_rows),
        cmocka_unit_test(probabilities_are_kept),
        cmocka_unit_test(probabilities_end_as_datasets_does),
        cmocka_unit_test(a_mixture_without_end_is_refused),
        cmocka_unit_test(draws_have_their_number),
        cmocka_unit_test(picks_are_a_draw_then_repeats),
        cmocka_unit_test(rows_are_taken_in_the_order_of_the_mixture),
        cmocka_unit_test(num_samples_draws),
        cmocka_unit_test(the_split_is_drawn_over_the_mixture),
        cmocka_unit_test(an_empty_data_set_is_named),
        cmocka_unit_test(many_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
