/* Model directories: what belongs to one, and each way in which one can be broken. */
#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/model_dir.h"
#include "model_fixture.h"

#define ONE "model-00001-of-00002.safetensors"
#define TWO "model-00002-of-00002.safetensors"
#define INDEX "model.safetensors.index.json"

/* A fresh folder with a model; the test removes it with drop(). */
static char *fresh(bool sharded)
{
    char *dir = hone_strdup(t_temp_dir());

    t_model(dir, sharded);
    return dir;
}

static void drop(char *dir)
{
    T_OK(hone_dir_remove(dir));
    hone_free(dir);
}

static void erase(const char *dir, const char *name)
{
    char *path = hone_path_join(dir, name);

    T_OK(hone_dir_remove(path));
    hone_free(path);
}

static void refused(const char *dir, hone_status want, const char *why, const char *file)
{
    hone_model_dir *d = (hone_model_dir *)1;

    T_STATUS(hone_model_dir_open(&d, dir), want);
    assert_null(d);
    T_ERROR_HAS(why);
    T_ERROR_HAS(file);
    T_ERROR_HAS(dir);
}

static void models_are_read(void **state)
{
    (void)state;
    for (int sharded = 0; sharded < 2; sharded++) {
        static const char *const order[2][4] = { { "embed.weight", "norm.weight", "steps", "head.weight" },
                                                 { "embed.weight", "steps", "norm.weight", "head.weight" } };
        static const char *const companions[] = { "LICENSE", "generation_config.json", "tokenizer.json" };
        char           *dir = fresh(sharded);
        hone_model_dir *d;

        T_OK(hone_model_dir_open(&d, dir));
        assert_int_equal(hone_model_dir_len(d), 4);
        for (size_t i = 0; i < 4; i++) {
            assert_string_equal(hone_model_dir_at(d, i)->name, order[sharded][i]);
            assert_ptr_equal(hone_model_dir_find(d, order[sharded][i]), hone_model_dir_at(d, i));
        }
        assert_null(hone_model_dir_find(d, "embed"));
        assert_int_equal(hone_model_dir_find(d, "head.weight")->shape[1], 5);
        assert_true(hone_ends_with(hone_model_dir_file_of(d, hone_model_dir_find(d, "head.weight")),
                                   sharded ? "/" TWO : "/model.safetensors"));
        assert_int_equal(hone_model_dir_shards(d), 1 + sharded);
        assert_int_equal(hone_model_dir_indexed(d), sharded);
        assert_string_equal(json_string_value(json_object_get(hone_model_dir_config(d), "model_type")), "llama");
        assert_int_equal(hone_model_dir_companions(d), 3);
        for (size_t i = 0; i < 3; i++)
            assert_string_equal(hone_model_dir_companion(d, i), companions[i]);
        hone_model_dir_close(&d);
        drop(dir);
    }
}

/* A trailing slash, extra templates one folder down, a weight file beside the index's. */
static void less_usual_folders_are_read(void **state)
{
    char           *dir = fresh(true), *more = hone_path_join(dir, "additional_chat_templates"), *slashed;
    hone_model_dir *d;

    (void)state;
    T_OK(hone_dir_make(more));
    t_put(more, "rag.jinja", "x");
    t_put(more, "rag.txt", "x");
    t_put(dir, "consolidated.safetensors", "not read");
    slashed = hone_asprintf("%s//", dir);
    T_OK(hone_model_dir_open(&d, slashed));
    assert_string_equal(hone_model_dir_path(d), dir);
    assert_int_equal(hone_model_dir_companions(d), 4);
    assert_string_equal(hone_model_dir_companion(d, 1), "additional_chat_templates/rag.jinja");
    hone_model_dir_close(&d);
    hone_free(slashed);
    hone_free(more);
    drop(dir);
}

static void broken_shards_are_refused(void **state)
{
    char *dir = fresh(true), *two = hone_path_join(dir, TWO);

    (void)state;
    assert_int_equal(truncate(two, (off_t)hone_file_size(two) - 1), 0);
    refused(dir, HONE_E_FORMAT, "cut off", TWO);
    t_put(dir, TWO, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
    refused(dir, HONE_E_FORMAT, "git lfs pull", TWO);
    t_put(dir, TWO, "\xff\xff\xff\x7f");
    refused(dir, HONE_E_FORMAT, "too few", TWO);
    erase(dir, TWO);
    refused(dir, HONE_E_FORMAT, "is missing", TWO);
    T_ERROR_HAS("'head.weight'");
    assert_int_equal(symlink("/nowhere/blob", two), 0);     /* a cache whose download was broken off */
    refused(dir, HONE_E_FORMAT, "is missing", TWO);
    hone_free(two);
    drop(dir);
}

static void wrong_indexes_are_refused(void **state)
{
    static const struct { const char *index; const char *why; } cases[] = {
        { "{\"weight_map\": {\"embed.weight\": \"" ONE "\", \"extra\": \"" TWO "\"}}", "no tensor 'extra'" },
        { "{\"weight_map\": {\"embed.weight\": \"" TWO "\", \"steps\": \"" ONE "\"}}", "but it is in " ONE },
        { "{\"weight_map\": {\"embed.weight\": \"../" ONE "\"}}", "same folder" },
        { "{\"weight_map\": {\"embed.weight\": \"/etc/passwd\"}}", "same folder" },
        { "{\"weight_map\": {\"embed.weight\": \"sub/x.safetensors\"}}", "same folder" },
        { "{\"weight_map\": {\"embed.weight\": \"..safetensors\"}}", "same folder" },
        { "{\"weight_map\": {\"embed.weight\": \"config.json\"}}", "same folder" },
        { "{\"weight_map\": {\"embed.weight\": \"" ONE "\\u0000.safetensors\"}}", "same folder" },
        { "{\"weight_map\": {\"embed.weight\": \"\"}}", "same folder" },
        { "{\"weight_map\": {\"embed.weight\": 1}}", "integer instead of a string" },
        { "{\"weight_map\": {}}", "names no tensor" },
        { "{\"weight_map\": []}", "no \"weight_map\" object" },
        { "{}", "no \"weight_map\" object" },
        { "[]", "expected a JSON object" },
        { "{\"weight_map\": {\"a\": \"x\", \"a\": \"x\"}}", "duplicate" },
        { "{\"weight_map\": {", "broken JSON at column" },
    };
    char *dir = fresh(true);

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        t_put(dir, INDEX, cases[i].index);
        refused(dir, HONE_E_FORMAT, cases[i].why, INDEX);
    }
    drop(dir);
}

static void a_tensor_in_two_files_is_refused(void **state)
{
    char *dir = fresh(true), *one = hone_path_join(dir, ONE), *copy = hone_path_join(dir, "more.safetensors");

    (void)state;
    T_OK(hone_file_copy(one, copy));
    t_put(dir, INDEX, "{\"weight_map\": {\"embed.weight\": \"" ONE "\", \"steps\": \"more.safetensors\"}}");
    refused(dir, HONE_E_FORMAT, "'embed.weight' is in two files", ONE);
    hone_free(one);
    hone_free(copy);
    drop(dir);
}

static void folders_without_a_model_are_named(void **state)
{
    char *dir = fresh(false), *empty = hone_strdup(t_temp_dir()), *checkpoint = hone_path_join(empty, "checkpoint-20");

    (void)state;
    erase(dir, "model.safetensors");
    refused(dir, HONE_E_FORMAT, "has no weights", "model.safetensors");
    t_put(dir, "pytorch_model.bin", "x");
    refused(dir, HONE_E_UNSUPPORTED, "save_pretrained", "pytorch_model.bin");
    t_put(dir, "config.json", "{\"a\":\n 1,}");
    refused(dir, HONE_E_FORMAT, "line 2", "config.json");
    t_put(dir, "config.json", "7");
    refused(dir, HONE_E_FORMAT, "found integer", "config.json");
    refused(empty, HONE_E_FORMAT, "no config.json", "");
    T_OK(hone_dir_make(checkpoint));
    refused(empty, HONE_E_FORMAT, "give one of them", "checkpoint-20");
    t_put(empty, "adapter_config.json", "{}");
    refused(empty, HONE_E_UNSUPPORTED, "adapter", "merge");
    refused("/nowhere/model", HONE_E_IO, "not a folder", "");
    hone_free(checkpoint);
    drop(empty);
    drop(dir);
}

static void locate(const char *name, const char *revision, const char *want)
{
    char *path;

    T_OK(hone_model_dir_locate(&path, name, revision));
    assert_string_equal(path, want);
    hone_free(path);
}

static void not_located(const char *name, const char *revision, const char *why)
{
    char *path = (char *)1;

    T_STATUS(hone_model_dir_locate(&path, name, revision), HONE_E_IO);
    assert_null(path);
    T_ERROR_HAS(why);
}

static void hub_ids_are_found_in_the_cache(void **state)
{
    char *home = hone_strdup(t_temp_dir()), *hub = hone_path_join(home, "hub");
    char *model = hone_path_join(hub, "models--org--na.me"), *snap = hone_path_join(model, "snapshots/abc123");
    char *other = hone_path_join(model, "snapshots/def456"), *refs = hone_path_join(model, "refs/refs/pr");
    char *top = hone_path_join(hub, "models--gpt2"), *top_snap = hone_path_join(top, "snapshots/f00");

    (void)state;
    T_OK(hone_dir_make(snap));
    T_OK(hone_dir_make(other));
    T_OK(hone_dir_make(refs));
    T_OK(hone_dir_make(top_snap));
    t_put(model, "refs/main", "abc123");
    t_put(model, "refs/refs/pr/1", "def456\n");
    t_put(model, "refs/evil", "../../../..");
    t_put(model, "file", "abc123");
    unsetenv("HF_HUB_CACHE");
    unsetenv("HUGGINGFACE_HUB_CACHE");
    setenv("HF_HOME", home, 1);
    locate("org/na.me", NULL, snap);
    locate("org/na.me", "", snap);
    locate("org/na.me", "main", snap);
    locate("org/na.me", "refs/pr/1", other);
    locate("org/na.me", "def456", other);
    locate(snap, NULL, snap);
    not_located("org/na.me", "v2", "hf download org/na.me --revision v2");
    not_located("org/na.me", "evil", "hf download");
    not_located("org/na.me", "../file", "hf download");
    not_located("org/other", NULL, "`hf download org/other`");
    not_located("gpt2", NULL, "`hf download gpt2`");        /* no refs/main: never fetched whole */
    not_located("./missing", NULL, "there is no folder ./missing");
    not_located("a/b/c", NULL, "there is no folder a/b/c");
    not_located("org/..", NULL, "there is no folder");
    not_located("org--x", NULL, "there is no folder");
    assert_null(strstr(hone_status_text(), "hf download"));     /* no hub id can be spelt so */
    not_located("org/a..b", NULL, "there is no folder");
    assert_null(strstr(hone_status_text(), "hf download"));
    not_located("/etc/passwd", NULL, "is a file");
    not_located("", NULL, "empty name");

    unsetenv("HF_HOME");
    setenv("HF_HUB_CACHE", hub, 1);
    setenv("HF_HOME", "/nowhere", 1);
    locate("org/na.me", NULL, snap);
    setenv("HOME", home, 1);
    setenv("HF_HUB_CACHE", "~/hub", 1);
    locate("org/na.me", NULL, snap);
    unsetenv("HF_HUB_CACHE");
    unsetenv("HF_HOME");
    unsetenv("XDG_CACHE_HOME");
    not_located("org/na.me", NULL, "/.cache/huggingface/hub");
    hone_free(hub);
    hone_free(model);
    hone_free(snap);
    hone_free(other);
    hone_free(refs);
    hone_free(top);
    hone_free(top_snap);
    drop(home);
}

static void running_out_of_memory_is_clean(void **state)
{
    char           *dir = fresh(true);
    hone_model_dir *d;

    (void)state;
    for (int n = 0;; n++) {
        hone_status st;

        hone_mem_fail_at(n);
        st = hone_model_dir_open(&d, dir);
        if (!hone_mem_fail_reached()) {
            hone_mem_fail_at(-1);
            T_OK(st);
            assert_true(n > 20);
            break;
        }
        hone_mem_fail_at(-1);
        T_STATUS(st, HONE_E_NOMEM);
        assert_null(d);
    }
    hone_model_dir_close(&d);
    drop(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_read),
        cmocka_unit_test(less_usual_folders_are_read),
        cmocka_unit_test(broken_shards_are_refused),
        cmocka_unit_test(wrong_indexes_are_refused),
        cmocka_unit_test(a_tensor_in_two_files_is_refused),
        cmocka_unit_test(folders_without_a_model_are_named),
        cmocka_unit_test(hub_ids_are_found_in_the_cache),
        cmocka_unit_test(running_out_of_memory_is_clean),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
