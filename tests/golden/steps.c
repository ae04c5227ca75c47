/*
 * `hone train` against PyTorch: twenty AdamW steps in f32 on the rows of train.jsonl, for one model of each family
 * (tools/golden/README.md). Every step takes all rows; the loss of each step is to be that of PyTorch in f64 within 1e-5, or within
 * twice the error of PyTorch in f32. What is written has the names, dtypes and shapes of what was read, and each parameter changed.
 */
#include "hone_test.h"

#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "io/safetensors.h"

#include "model_families.h"

static const char *const OPTIONS =
    "stage: sft\n"
    "finetuning_type: full\n"
    "disable_shuffling: true\n"
    "per_device_train_batch_size: 4\n"
    "max_steps: 20\n"
    "learning_rate: 1.0e-3\n"
    "lr_scheduler_type: constant\n"
    "weight_decay: 0.1\n"
    "max_grad_norm: 1.0\n"
    "save_strategy: \"no\"\n";

static void train(const char *data, const char *temp)
{
    hone_str config = HONE_STR_INIT;
    char     path[512], command[1024];

    hone_str_printf(&config,
                    "model_name_or_path: %s\n"
                    "dataset: %s/train.jsonl\n"
                    "output_dir: %s/out\n"
                    "%s",
                    data, data, temp, OPTIONS);
    T_OK(hone_str_ok(&config));
    snprintf(path, sizeof path, "%s/config.yaml", temp);
    T_OK(hone_file_write_all(path, hone_str_c(&config), strlen(hone_str_c(&config))));
    hone_str_deinit(&config);
    snprintf(command, sizeof command, "train '%s'", path);
    if (!t_hone(data, temp, command))
        fail();
}

/* The largest relative error of `key` over the steps. */
static double worst(const json_t *want, json_t *const *steps, const char *key)
{
    double largest = 0;

    for (size_t i = 0; i < 20; i++) {
        double a = json_number_value(json_object_get(steps[i], key));
        double b = json_number_value(json_array_get(json_object_get(want, key), i));

        assert_true(json_is_number(json_object_get(steps[i], key)) && b > 0);
        largest = fmax(largest, isnan(a) ? INFINITY : fabs(a / b - 1));
    }
    return largest;
}

static void open_weights(hone_safetensors **out, const char *dir)
{
    char *path = t_path(dir, "model.safetensors");

    T_OK(hone_safetensors_open(out, path));
    hone_free(path);
}

static void check_export(const char *data, const char *trained, const json_t *grads)
{
    hone_safetensors *before = NULL, *after = NULL;

    open_weights(&before, data);
    open_weights(&after, trained);
    assert_int_equal(hone_safetensors_len(before), hone_safetensors_len(after));
    for (size_t i = 0; i < hone_safetensors_len(before); i++) {
        const hone_safetensor *a = hone_safetensors_at(before, i), *b = hone_safetensors_find(after, a->name);
        bool                   parameter = json_object_get(grads, a->name) != NULL;

        if (!b || a->dtype != b->dtype || a->rank != b->rank || memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank))
            fail_msg("%s was not written as it was read", a->name);
        if ((memcmp(a->data, b->data, a->bytes) != 0) != parameter)
            fail_msg("%s %s", a->name, parameter ? "did not change" : "is no parameter, but changed");
    }
    hone_safetensors_close(&before);
    hone_safetensors_close(&after);
}

static void check_steps(void **state)
{
    json_t     *record = NULL, *steps[20];
    const char *data = t_variant_with(*state, "train", &record), *temp = t_temp_dir();
    char       *text, *rest = NULL;
    size_t      n = 0;

    train(data, temp);
    text = t_read_text(temp, "out/metrics.jsonl");
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        assert_true(n < 20);
        T_OK(hone_json_parse(&steps[n++], line, strlen(line), "metrics.jsonl"));
    }
    assert_int_equal(n, 20);
    hone_free(text);

    const json_t *want = json_object_get(record, "train");
    double        loss = worst(want, steps, "loss"), norm = worst(want, steps, "grad_norm");
    double        loss_limit = fmax(1e-5, 2 * json_number_value(json_object_get(want, "loss_error_f32")));
    double        norm_limit = fmax(1e-4, 2 * json_number_value(json_object_get(want, "grad_norm_error_f32")));

    if (!(loss <= loss_limit && norm <= norm_limit))
        fail_msg("relative error of the loss %.3g (limit %.3g), of the gradient norm %.3g (limit %.3g)", loss, loss_limit, norm,
                 norm_limit);
    char *trained = t_path(temp, "out");

    check_export(data, trained, json_object_get(record, "grads"));
    hone_free(trained);
    for (size_t i = 0; i < n; i++)
        json_decref(steps[i]);
    json_decref(record);
    T_OK(hone_dir_remove(temp));
}

int main(int argc, char **argv)
{
    return t_run_families("steps", check_steps, argc, argv);
}
