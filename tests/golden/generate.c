/* `hone chat --ids` against transformers: sixteen greedy tokens after a prompt of ids, for one model of each family. With
 * --report it prints a line of JSON for each (tools/fidelity). */
#include "hone_test.h"

#include <stdio.h>

#include "base/json.h"
#include "base/str.h"

#include "model_families.h"

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
    const t_family *f = *state;
    json_t         *record = NULL, *generate;
    const char     *dir = t_variant_with(f, "generate", &record);

    generate = json_object_get(record, "generate");
    for (int threads = 1; threads <= 2; threads++) {
        json_t *got = chat(dir, json_object_get(generate, "prompt"), threads), *want = json_object_get(generate, "ids");
        size_t  n = json_array_size(want), agree = 0;

        while (agree < n && json_equal(json_array_get(got, agree), json_array_get(want, agree)))
            agree++;
        if (f->report && threads == 1)
            print_message("{\"family\": \"%s\", \"tokens\": %zu, \"of\": %zu}\n", f->name, agree, n);
        if (!json_equal(got, want))
            fail_msg("%s, %d threads: %s", t_variant_name(dir), threads, json_dumps(got, JSON_COMPACT));
        json_decref(got);
    }
    json_decref(record);
}

int main(int argc, char **argv)
{
    return t_run_families("generate", greedy_tokens, argc, argv);
}
