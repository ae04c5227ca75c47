/* Tests of src/base: strings, numbers, maps, files, threads, random numbers, UTF-8, JSON. */
#include "hone_test.h"

#include <sched.h>
#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "base/thread.h"
#include "base/utf8.h"

static void numbers_round_trip(void **state)
{
    char     buf[32];
    hone_rng r = hone_rng_make(1, 1);

    (void)state;
    assert_string_equal(hone_format_f64(buf, 0.1), "0.1");
    assert_string_equal(hone_format_f64(buf, 1.0), "1.0");
    assert_string_equal(hone_format_f64(buf, -500.0), "-500.0");
    assert_string_equal(hone_format_f64(buf, 1.25e15), "1250000000000000.0");
    assert_string_equal(hone_format_f64(buf, 1e16), "1e+16");
    assert_string_equal(hone_format_f32(buf, 3e9f), "3000000000.0");
    assert_string_equal(hone_format_f64(buf, 0.00001), "1e-05");
    assert_string_equal(hone_format_f32(buf, 0.1f), "0.1");
    assert_string_equal(hone_format_f64(buf, NAN), "NaN");
    for (int i = 0; i < 10000; i++) {
        double v = (hone_rng_f64(&r) - 0.5) * pow(10, (double)hone_rng_below(&r, 60) - 30);

        assert_true(strtod(hone_format_f64(buf, v), NULL) == v);
        assert_true(strtof(hone_format_f32(buf, (float)v), NULL) == (float)v);
    }
}

static void philox_known_answer(void **state)
{
    uint32_t w[4];

    (void)state;
    /* Known-answer vectors of the Random123 distribution (philox4x32, 10 rounds). */
    hone_philox(w, 0, 0, 0);
    assert_int_equal(w[0], 0x6627e8d5u);
    assert_int_equal(w[1], 0xe169c58du);
    assert_int_equal(w[2], 0xbc57ac4cu);
    assert_int_equal(w[3], 0x9b00dbd8u);
}

static void maps_hold_what_was_put(void **state)
{
    hone_map *m;
    char      key[16];

    (void)state;
    T_OK(hone_map_create(&m));
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        T_OK(hone_map_put(m, key, strlen(key), i));
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        assert_int_equal(hone_map_get(m, key, strlen(key), -1), i);
    }
    assert_int_equal(hone_map_get(m, "absent", 6, -1), -1);
    assert_int_equal(hone_map_len(m), 5000);
    hone_map_destroy(&m);
}

static void files_are_whole_or_absent(void **state)
{
    char        *path = hone_path_join(t_temp_dir(), "f"), *data;
    hone_writer *w;
    size_t       n;

    (void)state;
    T_OK(hone_file_write_all(path, "one", 3));
    T_OK(hone_writer_create(&w, path));
    T_OK(hone_writer_write(w, "broken", 6));
    hone_writer_abandon(&w);
    T_OK(hone_file_read_all(&data, &n, path));
    assert_string_equal(data, "one");
    hone_free(data);
    T_STATUS(hone_file_read_all(&data, &n, "/nonexistent/x"), HONE_E_IO);
    T_ERROR_HAS("/nonexistent/x");
    hone_free(path);
}

static void count_task(void *arg, int64_t task, int worker)
{
    (void)worker;
    ((int *)arg)[task]++;
}

static void pools_run_each_task_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 8; threads++) {
        hone_pool *p;
        int        hits[1000] = { 0 };

        T_OK(hone_pool_create(&p, threads));
        for (int run = 1; run <= 20; run++) {
            hone_pool_run(p, 1000, count_task, hits);
            for (int i = 0; i < 1000; i++)
                assert_int_equal(hits[i], run);
        }
        hone_pool_destroy(&p);
    }
}

/* Likely to be interrupted in the middle. */
static void yield_and_count(void *arg, int64_t task, int worker)
{
    sched_yield();
    count_task(arg, task, worker);
}

/* Short runs one after another: no worker may stay in a run that is over, or come late into the next with the old tasks. */
static void pools_keep_runs_apart(void **state)
{
    static const int threads[] = { 2, 3, 8 };

    (void)state;
    for (size_t t = 0; t < HONE_COUNTOF(threads); t++) {
        hone_pool *p;

        T_OK(hone_pool_create(&p, threads[t]));
        for (int run = 0; run < 500; run++) {
            int hits[16] = { 0 }, n = 2 + run % 14;

            hone_pool_run(p, n, yield_and_count, hits);
            for (int i = 0; i < 16; i++)
                assert_int_equal(hits[i], i < n);
        }
        hone_pool_destroy(&p);
    }
}

static void text_for_people_has_no_controls(void **state)
{
    static const char dirty[] = "a\tb\n\x1b[2J\r\x7f\xc2\x9b\xc2\xa0\xc3\xa9\xff\xed\xa0\x80\xe2\x82\0z";
    static const char clean[] = "a\tb\n\\x1b[2J\\x0d\\x7f\\xc2\\x9b\xc2\xa0\xc3\xa9\\xff\\xed\\xa0\\x80\\xe2\\x82\\x00z";
    hone_str          out = HONE_STR_INIT;
    char              written[256] = { 0 };
    FILE             *file = fmemopen(written, sizeof written, "w");

    (void)state;
    hone_utf8_append_clean(&out, dirty, sizeof dirty - 1);
    assert_string_equal(hone_str_c(&out), clean);
    assert_non_null(file);
    hone_utf8_print_clean(file, dirty, sizeof dirty - 1);
    fclose(file);
    assert_string_equal(written, clean);
    hone_str_deinit(&out);
}

static void utf8_is_strict(void **state)
{
    (void)state;
    assert_int_equal(hone_utf8_valid_prefix("h\xc3\xa9llo", 6), 6);
    assert_int_equal(hone_utf8_valid_prefix("ab\xc0\xaf", 4), 2);          /* overlong */
    assert_int_equal(hone_utf8_valid_prefix("ab\xed\xa0\x80", 5), 2);      /* surrogate */
    assert_int_equal(hone_utf8_valid_prefix("ab\xf4\x90\x80\x80", 6), 2);  /* past U+10FFFF */
    assert_int_equal(hone_utf8_valid_prefix("abcdefgh\xe2\x82", 10), 8);   /* cut */
    for (uint32_t cp = 1; cp < 0x110000; cp += 7) {
        char   s[4];
        size_t n = hone_utf8_encode(cp, s), len;

        if (cp >= 0xD800 && cp < 0xE000)
            continue;
        assert_int_equal(hone_utf8_valid_prefix(s, n), n);
        assert_int_equal(hone_utf8_decode(s, &len), cp);
        assert_int_equal(len, n);
    }
}

static void json_says_where(void **state)
{
    json_t  *v;
    hone_str s = HONE_STR_INIT;

    (void)state;
    T_STATUS(hone_json_parse(&v, "{\"a\":\n1,}", 9, "x.json"), HONE_E_FORMAT);
    T_ERROR_HAS("x.json: broken JSON at line 2");
    T_STATUS(hone_json_parse(&v, "\"\xff\"", 3, "x.json"), HONE_E_FORMAT);
    T_ERROR_HAS("invalid UTF-8");
    T_STATUS(hone_json_parse(&v, "[1\0]", 4, "x.json"), HONE_E_FORMAT);
    T_ERROR_HAS("NUL byte at offset 2");
    T_OK(hone_json_parse(&v, "{\"b\":[1,0.1,null,\"\\u00e9\\n\"],\"a\":{}}", 36, "x.json"));
    hone_json_dump(&s, v, false);
    assert_string_equal(hone_str_c(&s), "{\"b\":[1,0.1,null,\"\xc3\xa9\\n\"],\"a\":{}}");
    hone_str_deinit(&s);
    json_decref(v);
}

static void names_near(void **state)
{
    static const char *const names[] = { "learning_rate", "output_dir", "dataset" };

    (void)state;
    assert_string_equal(hone_nearest_name("learning_rat", names, 3), "learning_rate");
    assert_null(hone_nearest_name("zzzz", names, 3));
    assert_int_equal(hone_first_different_line("a: 1\nb: 2\n", "a: 1\nb: 3\n"), 5);
    assert_int_equal(hone_first_different_line("a: 1", "b: 1"), 0);
    assert_int_equal(hone_first_different_line("a\n", "a\nb"), 2);
    assert_true(hone_glob_match("model.layers.*.mlp.*", "model.layers.12.mlp.up"));
    assert_false(hone_glob_match("model.layers.?.mlp", "model.layers.12.mlp"));
}

/* Every n: each value once. Small n: all permutations are equally likely over the keys. */
static void permutations(void **state)
{
    static const int64_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 4096, 4097, 99999 };
    uint8_t             *seen = hone_calloc(100000, 1);
    int                  counts[625] = { 0 };
    double               chi = 0;

    (void)state;
    assert_non_null(seen);
    for (size_t i = 0; i < HONE_COUNTOF(sizes); i++) {
        hone_permutation p = hone_permutation_make(42, i, sizes[i]);

        memset(seen, 0, 100000);
        for (int64_t k = 0; k < sizes[i]; k++) {
            int64_t v = hone_permutation_at(&p, k);

            assert_in_range(v, 0, sizes[i] - 1);
            assert_int_equal(seen[v]++, 0);
        }
    }
    for (uint64_t stream = 0; stream < 24000; stream++) {
        hone_permutation p = hone_permutation_make(7, stream, 4);
        int              code = 0;

        for (int64_t k = 0; k < 4; k++)
            code = code * 5 + (int)hone_permutation_at(&p, k);
        counts[code]++;
    }
    for (int code = 0; code < 625; code++)
        chi += counts[code] ? (counts[code] - 1000.0) * (counts[code] - 1000.0) / 1000 : 0;
    assert_true(chi < 60);      /* 24 kinds: 23 on average, above 60 once in 30,000 draws (the draw here is fixed) */
    hone_free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_round_trip),       cmocka_unit_test(philox_known_answer),
        cmocka_unit_test(maps_hold_what_was_put),   cmocka_unit_test(files_are_whole_or_absent),
        cmocka_unit_test(pools_run_each_task_once), cmocka_unit_test(pools_keep_runs_apart),
        cmocka_unit_test(utf8_is_strict), cmocka_unit_test(text_for_people_has_no_controls),           cmocka_unit_test(json_says_where),
        cmocka_unit_test(names_near),
        cmocka_unit_test(permutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
