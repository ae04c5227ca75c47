/* Readers of large files hold little memory. test: long */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "data/reader.h"
#include "hone_test.h"

static size_t resident(void)
{
    long  pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &all, &pages), 2);
    fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* 200 MB, read twice, in less than 20 MB. */
static void memory_is_bounded(void **state)
{
    static const char row[] = "{\"messages\": [{\"role\": \"user\", \"content\": \"0123456789 0123456789 0123456789\"}]}";
    const char    *names[] = { "big.jsonl", "big.json" };
    char           dir[64];
    hone_row_block block = { 0 };

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    for (size_t f = 0; f < 2; f++) {
        char        *path = hone_path_join(dir, names[f]);
        FILE        *out = path ? fopen(path, "w") : NULL;
        hone_reader *r;
        int64_t      rows, most = 200000000 / (int64_t)sizeof row, seen = 0;
        size_t       before, peak = 0;

        assert_non_null(out);
        for (int64_t i = 0; i < most; i++)
            fprintf(out, "%s%s\n", f ? (i ? "," : "[") : "", row);
        fprintf(out, "%s", f ? "]" : "");
        assert_int_equal(fclose(out), 0);
        before = resident();
        T_OK(hone_reader_open(&r, path));
        T_OK(hone_reader_count(r, -1, &rows));
        assert_int_equal(rows, most);
        do {
            T_OK(hone_reader_next(r, &block, 4096, 1 << 20));
            seen += (int64_t)block.rows.len;
            peak = HONE_MAX(peak, resident());
        } while (block.rows.len);
        assert_int_equal(seen, most);
        assert_true(peak < before + 20000000);
        hone_reader_close(&r);
        hone_free(path);
    }
    hone_row_block_deinit(&block);
    T_OK(hone_dir_remove(dir));
}

/* A small archive that unpacks to a line without end stops at the longest row. */
static void a_row_is_bounded(void **state)
{
    size_t       n = 1 << 24, cap = ZSTD_compressBound(n);
    char        *text = malloc(n), *frame = malloc(cap), dir[64], *path;
    hone_str     archive = HONE_STR_INIT;
    hone_reader *r;
    int64_t      rows;

    (void)state;
    assert_non_null(text);
    assert_non_null(frame);
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    path = hone_path_join(dir, "a.txt.zst");
    memset(text, 'x', n);
    n = ZSTD_compress(frame, cap, text, n, 3);
    for (int i = 0; i < 18; i++)
        hone_str_append(&archive, frame, n);
    assert_true(archive.len < 100000);
    T_OK(hone_file_write_all(path, archive.data, archive.len));
    T_OK(hone_reader_open(&r, path));
    T_STATUS(hone_reader_count(r, -1, &rows), HONE_E_FORMAT);
    T_ERROR_HAS("line 1: a row of more than 256 MiB");
    hone_reader_close(&r);
    hone_str_deinit(&archive);
    hone_free(path);
    free(text);
    free(frame);
    T_OK(hone_dir_remove(dir));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_is_bounded), cmocka_unit_test(a_row_is_bounded) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
