/* `hone chat --ids` against transformers: sixteen greedy tokens after a prompt of ids, for one model of each family. */
#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

/* What hone prints, as JSON. */
static json_t *chat(const char *model, const json_t *prompt, int threads)
{
    char     command[2048], line[4096];
    hone_str ids = HONE_STR_INIT;
    json_t  *got = NULL;
    FILE    *out;

    hone_json_dump(&ids, prompt, false);
    snprintf(command, sizeof command,
             "\"$HONE\" chat '%s' --ids --prompt '%s' --max-new-tokens 16 --dtype f32 --threads %d", model,
             hone_str_c(&ids), threads);
    hone_str_deinit(&ids);
    out = popen(command, "r");
    assert_non_null(out);
    if (!fgets(line, sizeof line, out))
        line[0] = '\0';
    if (pclose(out) != 0)
        fail_msg("hone chat failed for %s", model);
    T_OK(hone_json_parse(&got, line, strlen(line), "the output of hone chat"));
    return got;
}

static void greedy_tokens(void **state)
{
    char **names;
    size_t n, models = 0;

    (void)state;
    T_OK(hone_dir_list(&names, &n, TEST_DATA "/data/models"));
    for (size_t i = 0; i < n; i++) {
        char   *dir = hone_path_join(TEST_DATA "/data/models", names[i]), *path = hone_path_join(dir, "expected.json");
        json_t *record = NULL, *generate;

        T_OK(hone_json_read(&record, path));
        generate = json_object_get(record, "generate");
        for (int threads = 1; generate && threads <= 2; threads++) {
            json_t *got = chat(dir, json_object_get(generate, "prompt"), threads);

            if (!json_equal(got, json_object_get(generate, "ids")))
                fail_msg("%s, %d threads: %s", names[i], threads, json_dumps(got, JSON_COMPACT));
            json_decref(got);
        }
        models += generate != NULL;
        json_decref(record);
        hone_free(path);
        hone_free(dir);
    }
    hone_dir_list_free(names, n);
    assert_true(models >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(greedy_tokens) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
