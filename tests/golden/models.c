/*
 * `hone forward` against transformers, on the model directories of tests/data/models (tools/golden/README.md says what they
 * hold): every variant, in both spellings of config.json, in f32, bf16 and f64. A test per family; each prints every measure
 * that is out of bounds, not just the first.
 */
#include "hone_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "io/safetensors.h"

typedef enum mode { F32, BF16, F64 } mode;
static const char *const MODE_NAMES[] = {"f32", "bf16", "f64"};

/* One run of hone and what it is held against. */
typedef struct run {
    const char             *variant, *spelling;
    mode                    mode;
    bool                    exact_math;     /* the reference has no step in f32: gpt2 */
    const json_t           *record;         /* expected.json */
    const hone_safetensors *want, *got;
    int                     failures;
} run;

static void complain(run *r, const char *what, double value, double limit)
{
    print_error("%s, config %s, %s: %s is %.3g, limit %.3g\n", r->variant, r->spelling, MODE_NAMES[r->mode], what, value, limit);
    r->failures++;
}

/* `!(value <= limit)`, so that a NaN fails. */
static void check_at_most(run *r, const char *what, double value, double limit)
{
    if (!(value <= limit))
        complain(r, what, value, limit);
}

static double record_number(const run *r, const char *key)
{
    const json_t *value = json_object_get(r->record, key);

    assert_true(json_is_number(value));
    return json_number_value(value);
}

static double element(const hone_safetensor *t, int64_t i)
{
    double d;
    float  f;

    if (t->dtype == HONE_DTYPE_F64) {
        memcpy(&d, (const char *)t->data + 8 * i, 8);
        return d;
    }
    memcpy(&f, (const char *)t->data + 4 * i, 4);
    return f;
}

/* hone's output `name`, or NULL with the failure counted: it must be there, in the mode's dtype and the shape of `like`. */
static const hone_safetensor *output(run *r, const char *name, const hone_safetensor *like)
{
    const hone_safetensor *t = hone_safetensors_find(r->got, name);
    hone_dtype             dtype = r->mode == F64 ? HONE_DTYPE_F64 : HONE_DTYPE_F32;

    if (t && t->dtype == dtype && t->rank == like->rank && !memcmp(t->shape, like->shape, sizeof *t->shape * (size_t)t->rank))
        return t;
    print_error("%s, config %s, %s: output %s %s\n", r->variant, r->spelling, MODE_NAMES[r->mode], name,
                t ? "has another dtype or shape" : "is missing");
    r->failures++;
    return NULL;
}

static double norm(const hone_safetensor *t)
{
    double sum = 0;

    for (int64_t i = 0; i < t->numel; i++)
        sum += element(t, i) * element(t, i);
    return sqrt(sum);
}

static double distance(const hone_safetensor *a, const hone_safetensor *b)
{
    double sum = 0;

    for (int64_t i = 0; i < a->numel; i++)
        sum += (element(a, i) - element(b, i)) * (element(a, i) - element(b, i));
    return sqrt(sum);
}

/* NaN if one of them is. */
static double larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

static double max_abs_difference(const hone_safetensor *a, const hone_safetensor *b)
{
    double worst = 0;

    for (int64_t i = 0; i < a->numel; i++)
        worst = larger(worst, fabs(element(a, i) - element(b, i)));
    return worst;
}

/* Largest |a - b| in f32 and f64; in bf16 the distance over all logits of all samples. The f64 limit of a family with rotary
 * embeddings leaves room for a last bit in frequencies, cosines and sines, which are f32 in the reference. */
static void check_logits(run *r)
{
    double std = record_number(r, "logits_std"), worst = 0, squares = 0;
    char   name[64], reference[64];
    int    k = 0;

    for (;; k++) {
        const hone_safetensor *want, *got;

        snprintf(name, sizeof name, "logits.%d", k);
        snprintf(reference, sizeof reference, "%s.%d", r->mode == F64 ? "exact" : "logits", k);
        want = hone_safetensors_find(r->want, reference);
        if (!want)
            break;
        got = output(r, name, want);
        if (!got)
            continue;
        worst = larger(worst, max_abs_difference(got, want));
        squares += pow(distance(got, want), 2);
    }
    assert_true(k >= 4);
    if (r->mode == BF16)
        check_at_most(r, "L2 distance of the logits", sqrt(squares), 1.25 * record_number(r, "logits_l2_bf16"));
    else
        check_at_most(r, "error of the logits", worst, std * (r->mode == F32 ? 2e-5 : r->exact_math ? 1e-11 : 1e-6));
}

static void check_loss(run *r)
{
    const hone_safetensor *got = output(r, "loss", hone_safetensors_find(r->want, "loss"));
    double                 want = record_number(r, r->mode == F64 ? "exact_loss" : "loss");
    const double           limits[] = {1e-6, 1e-2, r->exact_math ? 1e-12 : 1e-8};

    if (got)
        check_at_most(r, "relative error of the loss", fabs(element(got, 0) / want - 1), limits[r->mode]);
}

/* The bound on one gradient in f32 and f64: `largest` is the largest norm of a gradient of the model. */
static double gradient_limit(const run *r, double reference, double pytorch, double largest)
{
    if (r->mode == F64 && r->exact_math)
        return 1e-10 * reference + 1e-12 * largest;
    return fmax(1e-5 * reference, 2 * pytorch) + 1e-7 * largest;
}

static void check_gradients(run *r)
{
    json_t     *grads = json_object_get(r->record, "grads"), *entry;
    const char *key;
    double      largest = 0, squares = 0;
    char        name[256];

    json_object_foreach(grads, key, entry)
        largest = fmax(largest, json_number_value(json_object_get(entry, "norm")));
    json_object_foreach(grads, key, entry) {
        const hone_safetensor *want, *got;
        double                 pytorch = json_number_value(json_object_get(entry, "distance_f32"));

        snprintf(name, sizeof name, "grad.%s", key);
        want = hone_safetensors_find(r->want, name);
        assert_non_null(want);
        got = output(r, name, want);
        if (!got)
            continue;
        squares += pow(distance(got, want), 2);
        if (r->mode != BF16)
            check_at_most(r, name, distance(got, want), gradient_limit(r, norm(want), pytorch, largest));
    }
    if (r->mode == BF16)
        check_at_most(r, "L2 distance of the gradients", sqrt(squares), 1.5 * record_number(r, "grads_l2_bf16"));
}

/* Nothing beyond the outputs that were checked. */
static void check_count(run *r)
{
    size_t samples = 0, grads = json_object_size(json_object_get(r->record, "grads"));

    for (size_t i = 0; i < hone_safetensors_len(r->want); i++)
        samples += !strncmp(hone_safetensors_at(r->want, i)->name, "logits.", 7);
    if (hone_safetensors_len(r->got) != samples + grads + 1)
        complain(r, "number of outputs", (double)hone_safetensors_len(r->got), (double)(samples + grads + 1));
}

static void run_hone(run *r, const char *model, const char *data, const char *temp)
{
    char command[2048], out[512], log[512];

    snprintf(out, sizeof out, "%s/out.safetensors", temp);
    snprintf(log, sizeof log, "%s/log", temp);
    snprintf(command, sizeof command, "'%s' forward '%s' --input '%s/input.safetensors' --output '%s' --grads --dtype %s >'%s' 2>&1",
             getenv("HONE"), model, data, out, MODE_NAMES[r->mode], log);
    if (system(command) != 0) {
        char  *text = NULL;
        size_t size;

        T_OK(hone_file_read_all(&text, &size, log));
        print_error("%s, config %s, %s: hone forward failed: %s\n", r->variant, r->spelling, MODE_NAMES[r->mode], text);
        hone_free(text);
        r->failures++;
        return;
    }
    hone_safetensors *got = NULL;

    T_OK(hone_safetensors_open(&got, out));
    r->got = got;
    check_logits(r);
    check_loss(r);
    check_gradients(r);
    check_count(r);
    hone_safetensors_close(&got);
}

static char *in_dir(const char *dir, const char *name)
{
    char *path = hone_path_join(dir, name);

    assert_non_null(path);
    return path;
}

static void copy(const char *from_dir, const char *from, const char *to_dir, const char *to)
{
    char *source = in_dir(from_dir, from), *target = in_dir(to_dir, to);

    T_OK(hone_file_copy(source, target));
    hone_free(source);
    hone_free(target);
}

/* The number of failures of a variant, whose files are in `data`. */
static int check_variant(const char *variant, const char *data)
{
    const char       *temp = t_temp_dir();
    char             *path = in_dir(data, "expected.json");
    json_t           *record = NULL;
    hone_safetensors *want = NULL;
    int               failures = 0;

    T_OK(hone_json_read(&record, path));
    hone_free(path);
    path = in_dir(data, "expected.safetensors");
    T_OK(hone_safetensors_open(&want, path));
    hone_free(path);
    copy(data, "model.safetensors", temp, "model.safetensors");
    copy(data, "config.v4.json", temp, "config.json");
    for (int spelling = 5; spelling >= 4; spelling--)
        for (mode m = F32; m <= F64; m++) {
            run r = {.variant = variant, .spelling = spelling == 5 ? "v5" : "v4", .mode = m,
                     .exact_math = !strncmp(variant, "gpt2", 4), .record = record, .want = want};

            run_hone(&r, spelling == 5 ? data : temp, data, temp);
            failures += r.failures;
        }
    hone_safetensors_close(&want);
    json_decref(record);
    T_OK(hone_dir_remove(temp));
    return failures;
}

static void check_family(void **state)
{
    const char *family = *state, *hone = getenv("HONE");
    char      **names;
    size_t      n, variants = 0;
    int         failures = 0;

    assert_true(hone && hone_path_exists(hone));
    T_OK(hone_dir_list(&names, &n, TEST_DATA "/data/models"));
    for (size_t i = 0; i < n; i++) {
        if (strncmp(names[i], family, strlen(family)) || names[i][strlen(family)] != '-')
            continue;
        char *data = in_dir(TEST_DATA "/data/models", names[i]);

        failures += check_variant(names[i], data);
        variants++;
        hone_free(data);
    }
    hone_dir_list_free(names, n);
    assert_true(variants >= 4);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"gpt2", check_family, NULL, NULL, "gpt2"},
        {"llama", check_family, NULL, NULL, "llama"},
        {"qwen2", check_family, NULL, NULL, "qwen2"},
        {"qwen3", check_family, NULL, NULL, "qwen3"},
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
