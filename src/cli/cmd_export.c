/* hone export SRC OUT: a model or checkpoint as a Hugging Face directory, in the dtype asked for. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "io/export.h"

typedef struct totals { int64_t bytes, files; } totals;

static const char *human_size(char buf[32], int64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
    double v = (double)bytes;
    int    u = -1;

    if (bytes < 1024) {
        snprintf(buf, 32, "%" PRId64 " bytes", bytes);
        return buf;
    }
    while (v >= 1024 && u < 3) {
        v /= 1024;
        u++;
    }
    snprintf(buf, 32, "%.1f %s", v, units[u]);
    return buf;
}

static void show_file(void *arg, const char *name, int64_t size, const hone_hash *hash)
{
    totals *t = arg;
    char    buf[32];

    (void)hash;
    t->files++;
    t->bytes += size;
    printf("  %-40s %14s\n", name, human_size(buf, size));
    fflush(stdout);     /* large files take their time: show each when it is there */
}

/* The first signal gives up and cleans up; the second ends the program at once. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int number) { stop_signal = number; }

static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND };

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static hone_status export_to(const char *src, const char *out, hone_export_dtype dtype)
{
    totals              t = { 0, 0 };
    hone_export_options options = { .dtype = dtype, .written = show_file, .written_arg = &t, .stop = &stop_signal };
    hone_model_dir     *model = NULL;
    char               *path, buf[32];
    hone_status         st;

    HONE_TRY(hone_model_dir_locate(&path, src, NULL));
    HONE_GO(hone_model_dir_open(&model, path));
    catch_signals();
    HONE_GO(hone_model_dir_export(model, out, &options));
    printf("%s: %zu tensors in %" PRId64 " files, %s\n", out, hone_model_dir_len(model), t.files, human_size(buf, t.bytes));
out:
    hone_model_dir_close(&model);
    hone_free(path);
    return st;
}

hone_status hone_cmd_export(int argc, char **argv)
{
    const char       *paths[2], *dtype_name = "as-input";
    size_t            n = 0;
    hone_export_dtype dtype;

    for (int i = 0; i < argc; i++) {
        const char *a = argv[i];

        if (strcmp(a, "--dtype") == 0) {
            HONE_CHECK(++i < argc, HONE_E_USAGE, "--dtype needs a value: as-input, f32 or bf16");
            dtype_name = argv[i];
        } else if (hone_starts_with(a, "--dtype=")) {
            dtype_name = a + strlen("--dtype=");
        } else if (hone_starts_with(a, "--")) {
            HONE_CHECK(strcmp(a, "--verbose") == 0, HONE_E_USAGE, "hone export has no option '%.100s', only --dtype", a);
        } else {
            HONE_CHECK(n < 2, HONE_E_USAGE, "hone export takes SRC and OUT, and '%.100s' is one more", a);
            paths[n++] = a;
        }
    }
    HONE_CHECK(n == 2, HONE_E_USAGE, "hone export needs two folders: hone export SRC OUT [--dtype as-input|f32|bf16]");
    HONE_TRY(hone_export_dtype_parse(&dtype, dtype_name));
    HONE_TRY(export_to(paths[0], paths[1], dtype));
    return HONE_OK;
}
