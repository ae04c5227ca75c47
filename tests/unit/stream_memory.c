/* A stream's memory does not grow with its files. test: long */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "data_fixture.h"
#include "hone_test.h"

enum { ROWS = 120000, TOKENS = 200, LATE = ROWS / 10 };    /* some 100 MB of text, 190 MB of ids and labels */

static hone_status accept(void *arg, const hone_dataset *data)
{
    (void)arg;
    (void)data;
    return HONE_OK;
}

static void write_file(const t_data *d)
{
    char  path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/a.jsonl", d->dir);
    file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < ROWS; i++) {
        fprintf(file, "{\"input_ids\": [%d", i % 100);
        for (int t = 1; t < TOKENS; t++)
            fprintf(file, ", %d", (i + t) % 100);
        fputs("]}\n", file);
    }
    assert_int_equal(fclose(file), 0);
}

static void memory_does_not_grow(void **state)
{
    static const char *const configs[] = {
        "dataset: '@/a.jsonl'\nstreaming: true\nmax_steps: 1000000\nbuffer_size: 3000\nper_device_train_batch_size: 100\n",
        "dataset: '@/a.jsonl'\nstreaming: true\nmax_steps: 1000000\nbuffer_size: 3000\nstage: pt\n",
    };
    t_data d;

    (void)state;
    t_data_open(&d);
    write_file(&d);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        hone_stream   *stream;
        hone_loader   *loader;
        hone_step_plan p;
        size_t         before = hone_mem_rss_anon(), early = 0, most = 0;

        t_data_options(&d, configs[c]);
        T_OK(hone_stream_create(&stream, &d.eval, &d.context));
        T_OK(hone_loader_create_stream(&loader, stream, d.options, accept, NULL));
        for (int64_t s = 0; s == 0 || !p.ends_epoch; s++) {
            T_OK(hone_loader_step(loader, s, &p));
            most = HONE_MAX(most, hone_mem_rss_anon());
            if (hone_stream_tell(stream).rows < LATE)
                early = most;
        }
        assert_int_equal(hone_stream_tell(stream).tokens_kept, (int64_t)ROWS * TOKENS);
        assert_true(early > 0);
        assert_true(most < before + ((size_t)64 << 20));
        assert_true(most < early + ((size_t)16 << 20));
        printf("%zu MB before, %zu MB in the first tenth, %zu MB at most\n", before >> 20, early >> 20, most >> 20);
        hone_loader_destroy(&loader);
        hone_stream_destroy(&stream);
    }
    t_data_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(memory_does_not_grow) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
