/* metrics.jsonl: the form of its lines, what is cut on resume; the picture. */
#include <math.h>
#include <stdio.h>

#include "hone_test.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "model_fixture.h"
#include "train/metrics.h"

static hone_log silent(void) { return (hone_log){ 0 }; }

static void write_steps(const char *dir, int64_t done, int64_t until)
{
    hone_log      log = silent();
    hone_metrics *m;

    T_OK(hone_metrics_create(&m, dir, done, 10, 1, 0, &log));
    for (int64_t s = done + 1; s <= until; s++) {
        hone_step_metrics step = { .step = s, .epoch = 0.1 * (double)s, .loss = 1 / (double)s, .learning_rate = 3e-4,
                                   .grad_norm = s == 2 ? (double)NAN : 1e21, .tokens = 12, .supervised_tokens = 7, .skipped = s == 2,
                                   .has_eval = s == 4, .eval_loss = 0.25, .eval_tokens = 5, .seconds = 0.5 };

        T_OK(hone_metrics_step(m, &step));
    }
    hone_metrics_destroy(&m);
}

static void lines_have_their_form(void **state)
{
    char        dir[256];
    const char *text;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    write_steps(dir, 0, 4);
    text = t_get(dir, "metrics.jsonl");
    assert_non_null(text);
    /* floats in the shortest form that reads back as the same double; null where there is none */
    assert_non_null(strstr(text, "{\"step\":3,\"epoch\":0.30000000000000004,\"loss\":0.3333333333333333,\"learning_rate\":0.0003,"
                                 "\"grad_norm\":1e+21,\"tokens\":12,\"supervised_tokens\":7,\"seconds\":0.5,"));
    assert_non_null(strstr(text, "\"grad_norm\":null,\"tokens\":12,\"supervised_tokens\":7,\"skipped\":true,"));
    assert_non_null(strstr(text, "\"eval_loss\":0.25,\"eval_tokens\":5,"));
    for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
        json_t *line = json_loadb(p, strcspn(p, "\n"), 0, NULL);

        assert_true(json_is_object(line));
        json_decref(line);
    }
}

static void later_and_broken_lines_are_cut(void **state)
{
    char   dir[256], path[300], before[4096];
    size_t n;
    FILE  *f;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    snprintf(path, sizeof path, "%s/metrics.jsonl", dir);
    write_steps(dir, 0, 4);
    snprintf(before, sizeof before, "%s", t_get(dir, "metrics.jsonl"));
    write_steps(dir, 2, 4);                     /* from a checkpoint of step 2 */
    assert_string_equal(t_get(dir, "metrics.jsonl"), before);
    write_steps(dir, 4, 4);                     /* nothing is lost */
    assert_string_equal(t_get(dir, "metrics.jsonl"), before);
    n = strlen(before);
    f = fopen(path, "w");                       /* a crash in the middle of the last line */
    fwrite(before, 1, n - 20, f);
    fclose(f);
    write_steps(dir, 4, 4);
    assert_memory_equal(t_get(dir, "metrics.jsonl"), before, strlen(t_get(dir, "metrics.jsonl")));
    assert_non_null(strstr(t_get(dir, "metrics.jsonl"), "\"step\":3"));
    assert_null(strstr(t_get(dir, "metrics.jsonl"), "\"step\":4"));
    write_steps(dir, 3, 4);
    assert_string_equal(t_get(dir, "metrics.jsonl"), before);
}

static void the_curve_is_a_png(void **state)
{
    char  dir[256], *path, *data;
    size_t n;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    for (int64_t steps = 1; steps <= 10; steps += 9) {       /* one point is a curve too */
        write_steps(dir, 0, steps);
        T_OK(hone_metrics_plot(dir));
        path = hone_path_join(dir, "training_loss.png");
        T_OK(hone_file_read_all(&data, &n, path));
        assert_true(n > 1000);
        assert_memory_equal(data, "\x89PNG\r\n\x1a\n", 8);
        hone_free(data);
        hone_free(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_their_form),
        cmocka_unit_test(later_and_broken_lines_are_cut),
        cmocka_unit_test(the_curve_is_a_png),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
