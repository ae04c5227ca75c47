/* Export: equal files from an untouched model, dtypes and texts that agree, and targets that no failure harms. */
#include "hone_test.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/export.h"
#include "io/json_edit.h"
#include "model_fixture.h"

#define INDEX "model.safetensors.index.json"

typedef struct fixture { char *root, *src, *out; hone_model_dir *model; } fixture;

static fixture make(bool sharded)
{
    fixture f = { .root = hone_strdup(t_temp_dir()) };

    f.src = hone_path_join(f.root, "src");
    f.out = hone_path_join(f.root, "out");
    T_OK(hone_dir_make(f.src));
    t_model(f.src, sharded);
    T_OK(hone_model_dir_open(&f.model, f.src));
    return f;
}

static void drop(fixture *f)
{
    hone_model_dir_close(&f->model);
    T_OK(hone_dir_remove(f->root));
    hone_free(f->root);
    hone_free(f->src);
    hone_free(f->out);
}

/* The names in a folder, joined with spaces; static storage. */
static const char *names_in(const char *dir)
{
    static char text[4096];
    char      **names;
    size_t      n;

    T_OK(hone_dir_list(&names, &n, dir));
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        strcat(text, i ? " " : "");
        strcat(text, names[i]);
    }
    hone_dir_list_free(names, n);
    return text;
}

static void an_untouched_model_gives_equal_files(void **state)
{
    static const char *const files[2] = {
        "LICENSE README.md config.json generation_config.json model.safetensors tokenizer.json",
        "LICENSE README.md config.json generation_config.json model-00001-of-00002.safetensors "
        "model-00002-of-00002.safetensors model.safetensors.index.json tokenizer.json",
    };

    (void)state;
    for (int sharded = 0; sharded < 2; sharded++) {
        fixture f = make(sharded);
        char  **names;
        size_t  n;

        T_OK(hone_model_dir_export(f.model, f.out, NULL));
        assert_string_equal(names_in(f.out), files[sharded]);
        T_OK(hone_dir_list(&names, &n, f.out));
        for (size_t i = 0; i < n; i++)
            assert_true(t_same_file(f.src, f.out, names[i]));
        hone_dir_list_free(names, n);
        assert_string_equal(names_in(f.root), "out src");
        drop(&f);
    }
}

static int64_t count_weights(const hone_model_dir *d)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < hone_model_dir_len(d); i++)
        bytes += (int64_t)hone_model_dir_at(d, i)->bytes;
    return bytes;
}

/* Each tensor's dtype, its values, config.json, the index and the file's size say the same. */
static void dtypes_agree_everywhere(void **state)
{
    (void)state;
    for (int sharded = 0; sharded < 2; sharded++)
        for (int to = HONE_EXPORT_F32; to <= HONE_EXPORT_BF16; to++) {
            hone_export_options options = { .dtype = (hone_export_dtype)to };
            hone_dtype          want = to == HONE_EXPORT_F32 ? HONE_DTYPE_F32 : HONE_DTYPE_BF16;
            fixture             f = make(sharded);
            hone_model_dir     *d;
            char                expect[32];

            T_OK(hone_model_dir_export(f.model, f.out, &options));
            T_OK(hone_model_dir_open(&d, f.out));
            assert_int_equal(hone_model_dir_len(d), 4);
            for (size_t i = 0; i < 4; i++) {
                const hone_safetensor *a = hone_model_dir_at(f.model, i), *b = hone_model_dir_at(d, i);
                double                 x[24], y[24];

                assert_string_equal(a->name, b->name);
                assert_memory_equal(a->shape, b->shape, sizeof a->shape);
                if (a->dtype == HONE_DTYPE_I64) {
                    assert_int_equal(b->dtype, HONE_DTYPE_I64);
                    assert_memory_equal(a->data, b->data, a->bytes);
                    continue;
                }
                assert_int_equal(b->dtype, want);
                assert_true(hone_dtype_convert(x, HONE_DTYPE_F64, a->data, a->dtype, a->numel));
                assert_true(hone_dtype_convert(y, HONE_DTYPE_F64, b->data, b->dtype, b->numel));
                assert_memory_equal(x, y, (size_t)a->numel * 8);    /* quarters below 16 are exact in all of them */
            }
            assert_true(json_equal(hone_safetensors_metadata(hone_model_dir_shard(d, 0)),
                                   hone_safetensors_metadata(hone_model_dir_shard(f.model, 0))));
            assert_string_equal(json_string_value(json_object_get(hone_model_dir_config(d), "torch_dtype")),
                                hone_dtype_config_name(want));
            if (sharded) {
                snprintf(expect, sizeof expect, "\"total_size\": %d\n", (int)count_weights(d));
                assert_non_null(strstr(t_get(f.out, INDEX), expect));
                assert_non_null(strstr(t_get(f.out, INDEX), "\"total_parameters\": 45,\n"));
            }
            assert_true(t_same_file(f.src, f.out, "tokenizer.json"));
            if (to == HONE_EXPORT_BF16)
                assert_true(t_same_file(f.src, f.out, "config.json"));
            hone_model_dir_close(&d);
            drop(&f);
        }
}

/* A provider that doubles norm.weight and gives head.weight, an F16 tensor, from f32. */
typedef struct trained { float buffer[64]; float head; int calls; } trained;

static hone_status get_trained(void *arg, const hone_safetensor *t, const void **data, hone_dtype *dtype)
{
    trained *p = arg;

    p->calls++;
    if (strcmp(t->name, "norm.weight") != 0 && strcmp(t->name, "head.weight") != 0)
        return HONE_OK;
    (void)hone_dtype_convert(p->buffer, HONE_DTYPE_F32, t->data, t->dtype, t->numel);
    for (int64_t i = 0; i < t->numel; i++)
        p->buffer[i] *= 2;
    if (strcmp(t->name, "head.weight") == 0)
        p->buffer[7] = p->head;
    *data = p->buffer;
    *dtype = HONE_DTYPE_F32;
    return HONE_OK;
}

static void note_file(void *arg, const char *name, int64_t size, const hone_hash *hash)
{
    hone_str_printf(arg, "%s %d %d\n", name, (int)size, (int)strlen(hash->hex));
}

static void trained_tensors_are_written_and_others_kept(void **state)
{
    trained                   p = { .head = 99 };
    hone_tensor_provider      provider = { get_trained, &p };
    hone_export_file          extra[] = { { "config.resolved.yaml", "a: 1\n", 5 }, { "generation_config.json", "{\"x\":1}", 7 } };
    hone_str                  told = HONE_STR_INIT;
    hone_export_options       options = { .provider = &provider, .extra = extra, .n_extra = 2, .written = note_file,
                                          .written_arg = &told };
    fixture                   f = make(true);
    hone_model_dir           *d;
    const hone_safetensor    *t;

    (void)state;
    T_OK(hone_model_dir_export(f.model, f.out, &options));
    assert_int_equal(p.calls, 4);
    assert_string_equal(names_in(f.out), "LICENSE config.json config.resolved.yaml generation_config.json "
                        "model-00001-of-00002.safetensors model-00002-of-00002.safetensors model.safetensors.index.json "
                        "tokenizer.json");     /* no README.md: it described other weights */
    assert_true(t_same_file(f.src, f.out, "model-00001-of-00002.safetensors"));
    assert_false(t_same_file(f.src, f.out, "model-00002-of-00002.safetensors"));
    assert_true(t_same_file(f.src, f.out, INDEX));
    assert_string_equal(t_get(f.out, "generation_config.json"), "{\"x\":1}");
    assert_string_equal(t_get(f.out, "config.resolved.yaml"), "a: 1\n");
    assert_non_null(strstr(told.data, "config.resolved.yaml 5 32\n"));
    assert_true(hone_ends_with(told.data, "\nconfig.json 78 32\n"));
    T_OK(hone_model_dir_open(&d, f.out));
    t = hone_model_dir_find(d, "head.weight");
    assert_int_equal(t->dtype, HONE_DTYPE_F16);
    for (int i = 0; i < 15; i++)
        assert_true(hone_f16_to_f32(((const uint16_t *)t->data)[i]) == (i == 7 ? 99 : (3 + (float)i / 4) * 2));
    hone_model_dir_close(&d);
    hone_str_deinit(&told);
    drop(&f);
}

static void values_that_are_not_finite_are_refused(void **state)
{
    static const float   bad[] = { NAN, INFINITY, 1e6f };
    static const char   *const why[] = { "is NaN", "is infinite", "too large for F16" };
    trained              p = { 0 };
    hone_tensor_provider provider = { get_trained, &p };
    hone_export_options  options = { .provider = &provider };
    fixture              f = make(false);

    (void)state;
    for (int i = 0; i < 3; i++) {
        p.head = bad[i];
        T_STATUS(hone_model_dir_export(f.model, f.out, &options), HONE_E_NUMERIC);
        T_ERROR_HAS("'head.weight', element 7");
        T_ERROR_HAS(why[i]);
        assert_string_equal(names_in(f.root), "src");
    }
    drop(&f);
}

static void targets_with_content_are_refused(void **state)
{
    hone_export_options replace = { .mode = HONE_EXPORT_REPLACE };
    fixture             f = make(false);

    (void)state;
    T_OK(hone_dir_make(f.out));
    T_OK(hone_model_dir_export(f.model, f.out, NULL));      /* an empty folder is fine */
    T_STATUS(hone_model_dir_export(f.model, f.out, NULL), HONE_E_EXISTS);
    T_ERROR_HAS("not empty");
    t_put(f.out, "stale", "x");
    T_OK(hone_model_dir_export(f.model, f.out, &replace));
    assert_null(t_get(f.out, "stale"));
    assert_non_null(t_get(f.out, "model.safetensors"));
    assert_string_equal(names_in(f.root), "out src");

    T_OK(hone_dir_remove(f.out));
    T_OK(hone_dir_make(f.out));
    t_put(f.out, "thesis.tex", "x");
    T_STATUS(hone_model_dir_export(f.model, f.out, &replace), HONE_E_EXISTS);
    T_ERROR_HAS("not a model directory");
    assert_string_equal(names_in(f.out), "thesis.tex");

    t_put(f.root, "file", "x");
    hone_free(f.out);
    f.out = hone_path_join(f.root, "file");
    T_STATUS(hone_model_dir_export(f.model, f.out, &replace), HONE_E_EXISTS);
    T_ERROR_HAS("not a folder");
    T_STATUS(hone_model_dir_export(f.model, "", NULL), HONE_E_USAGE);
    assert_string_equal(names_in(f.root), "file out src");
    drop(&f);
}

static void a_model_can_replace_itself_through_a_link(void **state)
{
    hone_export_options options = { .mode = HONE_EXPORT_REPLACE, .dtype = HONE_EXPORT_F32 };
    fixture             f = make(true);
    hone_model_dir     *d;

    (void)state;
    assert_int_equal(symlink("src", f.out), 0);
    T_OK(hone_model_dir_export(f.model, f.out, &options));
    T_OK(hone_model_dir_open(&d, f.src));
    assert_int_equal(hone_model_dir_find(d, "embed.weight")->dtype, HONE_DTYPE_F32);
    hone_model_dir_close(&d);
    assert_string_equal(names_in(f.root), "out src");
    drop(&f);
}

static void files_can_go_into_a_run_folder(void **state)
{
    hone_export_options options = { .mode = HONE_EXPORT_INTO };
    fixture             f = make(false), g = make(true);

    (void)state;
    T_OK(hone_dir_make(f.out));
    t_put(f.out, "metrics.jsonl", "x");
    t_put(f.out, "config.json", "old");
    T_OK(hone_model_dir_export(f.model, f.out, &options));
    T_OK(hone_model_dir_export(f.model, f.out, &options));
    assert_string_equal(names_in(f.out), "LICENSE README.md config.json generation_config.json metrics.jsonl model.safetensors "
                        "tokenizer.json");
    assert_true(t_same_file(f.src, f.out, "config.json"));
    assert_string_equal(t_get(f.out, "metrics.jsonl"), "x");
    T_STATUS(hone_model_dir_export(g.model, f.out, &options), HONE_E_EXISTS);
    T_ERROR_HAS("holds model.safetensors of another model");
    drop(&f);
    drop(&g);
}

/* A write that fails after some bytes, as on a full disk, at every place where it can. */
static void a_failing_write_leaves_nothing(void **state)
{
    struct rlimit before, limit;
    fixture       f = make(true);
    bool          done = false;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    T_OK(hone_dir_make(f.out));
    t_put(f.out, "kept", "x");
    for (rlim_t bytes = 0; !done; bytes += 24) {
        hone_export_options options = { .mode = HONE_EXPORT_INTO };
        hone_status         st;

        limit = (struct rlimit){ bytes, before.rlim_max };
        setrlimit(RLIMIT_FSIZE, &limit);
        st = hone_model_dir_export(f.model, f.out, &options);
        setrlimit(RLIMIT_FSIZE, &before);
        done = st == HONE_OK;
        if (!done) {
            T_STATUS(st, HONE_E_IO);
            T_ERROR_HAS("cannot write");
            T_ERROR_HAS("stays as it was");
            assert_string_equal(names_in(f.out), "kept");
        }
        assert_true(done || bytes < 1024);
    }
    drop(&f);
}

/* The same on a real full disk, where this process may mount one. */
static void a_signal_leaves_nothing(void **state)
{
    volatile sig_atomic_t     number = SIGTERM;
    const hone_export_options options = { .stop = &number };
    fixture                   f = make(true);

    (void)state;
    T_STATUS(hone_model_dir_export(f.model, f.out, &options), HONE_E_INTERRUPT);
    T_ERROR_HAS("stays as it was");
    assert_string_equal(names_in(f.root), "src");
    number = 0;
    T_OK(hone_model_dir_export(f.model, f.out, &options));
    drop(&f);
}

static void a_full_disk_leaves_nothing(void **state)
{
    fixture f = make(false);
    char   *disk = hone_path_join(f.root, "disk"), *out = hone_path_join(disk, "out"), *fill = hone_path_join(disk, "fill");

    (void)state;
    T_OK(hone_dir_make(disk));
    if (mount("none", disk, "tmpfs", 0, "size=16k") != 0) {
        hone_free(disk);
        hone_free(out);
        hone_free(fill);
        drop(&f);
        skip();
    }
    t_put(disk, "fill", "12345678");
    assert_int_equal(truncate(fill, 8), 0);
    T_STATUS(hone_model_dir_export(f.model, out, NULL), HONE_E_IO);
    T_ERROR_HAS("No space left");
    assert_string_equal(names_in(disk), "fill");
    assert_int_equal(umount(disk), 0);
    hone_free(disk);
    hone_free(out);
    hone_free(fill);
    drop(&f);
}

static void folders_that_cannot_be_written_are_named(void **state)
{
    fixture f = make(false);

    (void)state;
    T_STATUS(hone_model_dir_export(f.model, "/proc/hone-export/x", NULL), HONE_E_IO);
    T_ERROR_HAS("cannot make the folder /proc/hone-export");
    T_STATUS(hone_model_dir_export(f.model, "/dev/null/x", NULL), HONE_E_IO);
    T_ERROR_HAS("/dev/null");
    if (geteuid() != 0) {   /* permissions do not stop root */
        T_OK(hone_dir_make(f.out));
        assert_int_equal(chmod(f.out, 0555), 0);
        T_STATUS(hone_model_dir_export(f.model, f.out, NULL), HONE_E_IO);
        T_ERROR_HAS("Permission denied");
        assert_string_equal(names_in(f.out), "");
    }
    drop(&f);
}

static void running_out_of_memory_is_clean(void **state)
{
    hone_export_options options = { .dtype = HONE_EXPORT_F32 };
    fixture             f = make(false);

    (void)state;
    for (int n = 0;; n += 1 + n % 2) {      /* two of three: each run syncs the disk */
        hone_status st;

        hone_mem_fail_at(n);
        st = hone_model_dir_export(f.model, f.out, &options);
        if (!hone_mem_fail_reached()) {
            hone_mem_fail_at(-1);
            T_OK(st);
            assert_true(n > 50);
            break;
        }
        hone_mem_fail_at(-1);
        T_STATUS(st, HONE_E_NOMEM);
        if (hone_path_exists(f.out)) {      /* complete, only not known to be on the disk yet */
            hone_model_dir *d;

            T_OK(hone_model_dir_open(&d, f.out));
            hone_model_dir_close(&d);
            T_OK(hone_dir_remove(f.out));
        }
        assert_string_equal(names_in(f.root), "src");
    }
    drop(&f);
}

static void edits(const char *text, hone_dtype dtype, const char *want)
{
    hone_str s = HONE_STR_INIT;

    assert_int_equal(hone_json_edit_dtype(&s, text, dtype), strcmp(text, want) != 0);
    assert_string_equal(hone_str_c(&s), want);
    hone_str_deinit(&s);
}

static void only_dtypes_change_in_a_config(void **state)
{
    (void)state;
    edits("{}", HONE_DTYPE_F32, "{}");
    edits(" {\"dtype\" : \"bfloat16\" }\n", HONE_DTYPE_F32, " {\"dtype\" : \"float32\" }\n");
    edits("{\"a\":{\"dtype\":\"float16\"},\"torch_dtype\":\"float16\"}", HONE_DTYPE_BF16,
          "{\"a\":{\"dtype\":\"float16\"},\"torch_dtype\":\"bfloat16\"}");
    edits("{\"text_config\":{\"n\":[{\"dtype\":\"float16\"}],\"dtype\":\"float16\"},\"dtype\":\"float16\"}", HONE_DTYPE_F32,
          "{\"text_config\":{\"n\":[{\"dtype\":\"float16\"}],\"dtype\":\"float32\"},\"dtype\":\"float32\"}");
    edits("{\"quantization_config\":{\"dtype\":\"float16\"}}", HONE_DTYPE_F32, "{\"quantization_config\":{\"dtype\":\"float16\"}}");
    edits("{\"x\":\"}\\\"{\",\"dtype\":\"float32\",\"y\":[\"]\",{}]}", HONE_DTYPE_BF16,
          "{\"x\":\"}\\\"{\",\"dtype\":\"bfloat16\",\"y\":[\"]\",{}]}");
    edits("{\"dtype\":null,\"torch_dtype\":\"auto\"}", HONE_DTYPE_BF16, "{\"dtype\":null,\"torch_dtype\":\"auto\"}");
    edits("{\"dtype\":\"bfloat16\"}", HONE_DTYPE_BF16, "{\"dtype\":\"bfloat16\"}");
}

static void dtype_names_are_checked(void **state)
{
    hone_export_dtype d;

    (void)state;
    T_OK(hone_export_dtype_parse(&d, "bf16"));
    assert_int_equal(d, HONE_EXPORT_BF16);
    T_STATUS(hone_export_dtype_parse(&d, "fp8"), HONE_E_USAGE);
    T_ERROR_HAS("'fp8'; use as-input, f32 or bf16");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_untouched_model_gives_equal_files),
        cmocka_unit_test(dtypes_agree_everywhere),
        cmocka_unit_test(trained_tensors_are_written_and_others_kept),
        cmocka_unit_test(values_that_are_not_finite_are_refused),
        cmocka_unit_test(targets_with_content_are_refused),
        cmocka_unit_test(a_model_can_replace_itself_through_a_link),
        cmocka_unit_test(files_can_go_into_a_run_folder),
        cmocka_unit_test(a_failing_write_leaves_nothing),
        cmocka_unit_test(a_signal_leaves_nothing), cmocka_unit_test(a_full_disk_leaves_nothing),
        cmocka_unit_test(folders_that_cannot_be_written_are_named),
        cmocka_unit_test(running_out_of_memory_is_clean),
        cmocka_unit_test(only_dtypes_change_in_a_config),
        cmocka_unit_test(dtype_names_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
