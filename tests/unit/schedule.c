/* Learning rates against those of transformers (tools/golden/schedules.py). */
#include <math.h>
#include <stdio.h>

#include "hone_test.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "optim/schedule.h"

static hone_status make(hone_lr_schedule *s, const char *type, const char *kwargs, double rate, int64_t warmup, int64_t total)
{
    hone_str      yaml = HONE_STR_INIT;
    hone_options *o = NULL;
    hone_status   st;

    hone_str_printf(&yaml, "model_name_or_path: m\nfinetuning_type: full\nlr_scheduler_type: %s\nlr_scheduler_kwargs: %s\n"
                    "learning_rate: %.17g\nwarmup_steps: %lld\n", type, kwargs, rate, (long long)warmup);
    T_OK(hone_options_load_text(&o, yaml.data, yaml.len, "test"));
    st = hone_lr_schedule_make(s, o, total);
    hone_options_destroy(&o);
    hone_str_deinit(&yaml);
    return st;
}

static void rates_are_those_of_transformers(void **state)
{
    FILE  *f = fopen(TEST_DATA "/data/schedule/rates.jsonl", "r");
    char  *line = NULL;
    size_t cap = 0;
    int    cases = 0;

    (void)state;
    assert_non_null(f);
    while (getline(&line, &cap, f) > 0) {
        json_t          *c = json_loads(line, 0, NULL), *rates = json_object_get(c, "rates");
        char            *kwargs = json_dumps(json_object_get(c, "kwargs"), 0);
        const char      *type = json_string_value(json_object_get(c, "type"));
        hone_lr_schedule s;

        T_OK(make(&s, type, kwargs, json_number_value(json_object_get(c, "peak")), json_integer_value(json_object_get(c, "warmup")),
                  json_integer_value(json_object_get(c, "total"))));
        assert_int_equal(json_array_size(rates), 100);
        for (size_t i = 0; i < json_array_size(rates); i++) {
            double want = json_number_value(json_array_get(rates, i)), have = hone_lr_at(&s, (int64_t)i);

            if (fabs(have - want) > 1e-12 * 3e-4)
                fail_msg("%s %s, step %zu: %.17g, wanted %.17g", type, kwargs, i, have, want);
        }
        free(kwargs);
        json_decref(c);
        cases++;
    }
    free(line);
    fclose(f);
    assert_int_equal(cases, 32);
}

static void arguments_are_checked(void **state)
{
    hone_lr_schedule s;

    (void)state;
    T_STATUS(make(&s, "linear", "{num_cycles: 2}", 1e-3, 0, 10), HONE_E_USAGE);
    T_ERROR_HAS("num_cycles");
    T_STATUS(make(&s, "cosine", "{num_cycle: 2}", 1e-3, 0, 10), HONE_E_USAGE);
    T_ERROR_HAS("takes num_cycles");
    T_STATUS(make(&s, "cosine", "{num_cycles: two}", 1e-3, 0, 10), HONE_E_USAGE);
    T_STATUS(make(&s, "inverse_sqrt", "{timescale: 0}", 1e-3, 0, 10), HONE_E_USAGE);
    T_STATUS(make(&s, "cosine_with_min_lr", "null", 1e-3, 0, 10), HONE_E_USAGE);
    T_ERROR_HAS("min_lr_rate");
    T_STATUS(make(&s, "cosine_with_min_lr", "{min_lr: 1e-5, min_lr_rate: 0.1}", 1e-3, 0, 10), HONE_E_USAGE);
    T_STATUS(make(&s, "polynomial", "{lr_end: 1e-2}", 1e-3, 0, 10), HONE_E_USAGE);
    T_STATUS(make(&s, "warmup_stable_decay", "{decay_type: square}", 1e-3, 0, 10), HONE_E_USAGE);
    T_ERROR_HAS("decay_type");
    T_OK(make(&s, "warmup_stable_decay", "{decay_type: cosine, num_decay_steps: null}", 1e-3, 0, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rates_are_those_of_transformers), cmocka_unit_test(arguments_are_checked) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
