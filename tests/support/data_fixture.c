#include "data_fixture.h"

#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "hone_test.h"

void t_data_open(t_data *d)
{
    memset(d, 0, sizeof *d);
    snprintf(d->dir, sizeof d->dir, "%s", t_temp_dir());
}

static void unload(t_data *d)
{
    hone_dataset_destroy(&d->train);
    hone_dataset_destroy(&d->eval);
    hone_options_destroy(&d->options);
}

void t_data_close(t_data *d)
{
    unload(d);
    T_OK(hone_dir_remove(d->dir));
}

void t_data_write(const t_data *d, const char *name, const char *text, size_t n)
{
    char *path = hone_path_join(d->dir, name);

    assert_non_null(path);
    T_OK(hone_file_write_all(path, text, n ? n : strlen(text)));
    hone_free(path);
}

void t_data_options(t_data *d, const char *yaml)
{
    hone_str text = HONE_STR_INIT;

    unload(d);
    hone_str_puts(&text, strstr(yaml, "threads:") ? "finetuning_type: full\n" : "finetuning_type: full\nthreads: 2\n");
    for (; *yaml; yaml++)
        *yaml == '@' ? hone_str_puts(&text, d->dir) : hone_str_putc(&text, *yaml);
    T_OK(hone_str_ok(&text));
    T_OK(hone_options_load_text(&d->options, text.data, text.len, "test"));
    hone_str_deinit(&text);
    d->context.options = d->options;
}

hone_status t_data_load(t_data *d, const char *yaml)
{
    t_data_options(d, yaml);
    return hone_dataset_load(&d->train, &d->eval, &d->context);
}

static const char *numbers(const int32_t *v, int64_t n)
{
    static char texts[4][2048];
    static int  turn;
    char       *text = texts[turn++ % 4];
    size_t      len = 0;

    text[0] = '\0';
    for (int64_t i = 0; i < n && len < sizeof texts[0] - 16; i++)
        len += (size_t)snprintf(text + len, sizeof texts[0] - len, i ? " %d" : "%d", v[i]);
    return text;
}

const char *t_data_ids(const hone_dataset *d, int64_t i)
{
    hone_sample s = hone_dataset_at(d, i);

    return numbers(s.ids, s.n);
}

const char *t_data_labels(const hone_dataset *d, int64_t i)
{
    hone_sample s = hone_dataset_at(d, i);

    return numbers(s.labels, s.n);
}
