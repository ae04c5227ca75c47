#include "model_fixture.h"

#include "base/file.h"
#include "base/mem.h"
#include "hone_test.h"
#include "io/safetensors.h"

void t_put(const char *dir, const char *name, const char *text)
{
    char *path = hone_path_join(dir, name);

    T_OK(hone_file_write_all(path, text, strlen(text)));
    hone_free(path);
}

const char *t_get(const char *dir, const char *name)
{
    static char text[65536];
    char       *path = hone_path_join(dir, name), *data;
    size_t      n;
    bool        there = hone_path_exists(path);

    if (there) {
        T_OK(hone_file_read_all(&data, &n, path));
        assert_true(n < sizeof text);
        memcpy(text, data, n + 1);
        hone_free(data);
    }
    hone_free(path);
    return there ? text : NULL;
}

bool t_same_file(const char *dir_a, const char *dir_b, const char *name)
{
    char       *a = hone_path_join(dir_a, name), *b = hone_path_join(dir_b, name);
    hone_mapped x, y;
    bool        same;

    T_OK(hone_file_map(&x, a));
    T_OK(hone_file_map(&y, b));
    same = x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
    hone_file_unmap(&x);
    hone_file_unmap(&y);
    hone_free(a);
    hone_free(b);
    return same;
}

static const hone_safetensor tensors[] = {
    { .name = "embed.weight", .dtype = HONE_DTYPE_BF16, .rank = 2, .shape = { 6, 4 } },
    { .name = "norm.weight", .dtype = HONE_DTYPE_F32, .rank = 1, .shape = { 4 } },
    { .name = "steps", .dtype = HONE_DTYPE_I64, .rank = 1, .shape = { 2 } },
    { .name = "head.weight", .dtype = HONE_DTYPE_F16, .rank = 2, .shape = { 3, 5 } },
};

/* One weight file with the tensors of the list. */
static void put_weights(const char *dir, const char *name, const int *list, size_t n)
{
    hone_safetensors_writer *w;
    hone_safetensor          specs[4];
    json_t                  *meta = json_pack("{s:s}", "format", "pt");
    char                    *path = hone_path_join(dir, name);

    for (size_t i = 0; i < n; i++)
        specs[i] = tensors[list[i]];
    T_OK(hone_safetensors_writer_create(&w, path, specs, n, meta));
    for (size_t i = 0; i < n; i++) {
        int64_t numel = specs[i].rank == 2 ? specs[i].shape[0] * specs[i].shape[1] : specs[i].shape[0];

        for (int64_t k = 0; k < numel; k++) {
            double  value = list[i] + (double)k / 4;
            int64_t whole = (int64_t)value;

            if (specs[i].dtype == HONE_DTYPE_I64)
                T_OK(hone_safetensors_writer_put(w, &whole, HONE_DTYPE_I64, 1, true));
            else
                T_OK(hone_safetensors_writer_put(w, &value, HONE_DTYPE_F64, 1, true));
        }
    }
    T_OK(hone_safetensors_writer_commit(&w, NULL, NULL));
    json_decref(meta);
    hone_free(path);
}

void t_model(const char *dir, bool sharded)
{
    char *state = hone_path_join(dir, "state");

    if (sharded) {
        put_weights(dir, "model-00001-of-00002.safetensors", (const int[]){ 0, 2 }, 2);
        put_weights(dir, "model-00002-of-00002.safetensors", (const int[]){ 1, 3 }, 2);
        t_put(dir, "model.safetensors.index.json",
              "{\n  \"metadata\": {\n    \"total_parameters\": 45,\n    \"total_size\": 110\n  },\n  \"weight_map\": {\n"
              "    \"embed.weight\": \"model-00001-of-00002.safetensors\",\n"
              "    \"head.weight\": \"model-00002-of-00002.safetensors\",\n"
              "    \"norm.weight\": \"model-00002-of-00002.safetensors\",\n"
              "    \"steps\": \"model-00001-of-00002.safetensors\"\n  }\n}\n");
    } else {
        put_weights(dir, "model.safetensors", (const int[]){ 0, 1, 2, 3 }, 4);
    }
    t_put(dir, "config.json", "{\n  \"model_type\": \"llama\",\n  \"torch_dtype\": \"bfloat16\",\n  \"x\": [1.0, 1e-06]\n}\n");
    t_put(dir, "generation_config.json", "{}\n");
    t_put(dir, "tokenizer.json", "{\"a\": 1}");
    t_put(dir, "LICENSE", "do\n");
    t_put(dir, "README.md", "# card\n");
    t_put(dir, "notes.bin", "x");
    T_OK(hone_dir_make(state));
    t_put(state, "x", "x");
    hone_free(state);
}
