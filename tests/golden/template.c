/* Renders equal transformers' (tools/golden/template.py). Given files as arguments, compares those instead: one of
 * small templates (tools/golden/template_random.py), or one of chats and the folder of its templates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "hone_test.h"
#include "text/template.h"

/* The line that an error names: "NAME:line:column: …". */
static int64_t line_of_error(const char *name)
{
    const char *text = hone_status_text();

    return hone_starts_with(text, name) ? strtoll(text + strlen(name) + 1, NULL, 10) : -1;
}

/* Whether hone refuses by name what it leaves out: integers beyond 64 bits, chance, HTML names. */
static bool left_out(hone_status st)
{
    const char *text = hone_status_text();

    return (st == HONE_E_UNSUPPORTED && !strstr(text, "there is no ")) || strstr(text, "64-bit") || strstr(text, "64 bits") ||
           strstr(text, "complex");
}

/* One row; a row with the line of a run-time error wants it named. */
static int compare(const json_t *row, const char *source, size_t n, const json_t *vars, const char *name)
{
    const char          *want = json_string_value(json_object_get(row, "output"));
    const char          *error = json_string_value(json_object_get(row, "error"));
    int64_t              line = json_integer_value(json_object_get(row, "line"));
    hone_template       *t = NULL;
    hone_template_output out = { 0 };
    hone_status          st = hone_template_compile(&t, source, n, name);
    int                  bad = 0;

    if (st == HONE_OK)
        st = hone_template_render(t, &out, &vars, 1, NULL);
    if (st != HONE_OK && want)
        bad = left_out(st) ? 0 : fprintf(stderr, "%s: %s\n  wanted: %s\n  error: %s\n", name, source, want, hone_status_text());
    else if (st == HONE_OK && !want)
        bad = fprintf(stderr, "%s: %s\n  wanted an error: %s\n  got: %s\n", name, source, error, hone_str_c(&out.text));
    else if (want && strcmp(want, hone_str_c(&out.text)) != 0)
        bad = fprintf(stderr, "%s: %s\n  wanted: %s\n  got:    %s\n", name, source, want, hone_str_c(&out.text));
    else if (st != HONE_OK && line && strcmp(error, "TemplateSyntaxError") != 0 && line != line_of_error(name))
        bad = fprintf(stderr, "%s: %s\n  wanted line %lld: %s\n  error: %s\n", name, source, (long long)line, error,
                      hone_status_text());
    hone_template_output_deinit(&out);
    hone_template_destroy(&t);
    return bad != 0;
}

/* Compare all rows of a file; `dir`: the folder of template files that rows name, NULL where rows hold their template. */
static int compare_file(const char *path, const json_t *vars, const char *dir)
{
    char  *data, *next, *source;
    size_t size, n;
    int    bad = 0, line = 0;

    T_OK(hone_file_read_all(&data, &size, path));
    for (char *p = data; *p; p = next) {
        char       *end = strchr(p, '\n');
        char        name[300];
        json_t     *row;
        const char *template;

        next = end ? end + 1 : p + strlen(p);
        line++;
        T_OK(hone_json_parse(&row, p, (size_t)(next - p), path));
        template = json_string_value(json_object_get(row, "template"));
        snprintf(name, sizeof name, "%s %s", dir ? template : "language", dir ? json_string_value(json_object_get(row, "case")) : "");
        if (dir) {
            char *file = hone_path_join(dir, template);

            T_OK(hone_file_read_all(&source, &n, file));
            bad += compare(row, source, n, json_object_get(row, "variables"), name);
            hone_free(source);
            hone_free(file);
        } else {
            bad += compare(row, template, strlen(template), vars, name);
        }
        json_decref(row);
    }
    hone_free(data);
    assert_true(line > 0);
    if (bad)
        fprintf(stderr, "%d of %d differ\n", bad, line);
    return bad;
}

static int compare_language(const char *path)
{
    json_t *vars;
    int     bad;

    T_OK(hone_json_read(&vars, TEST_DATA "/data/template/variables.json"));
    bad = compare_file(path, vars, NULL);
    json_decref(vars);
    return bad;
}

static void language(void **state)
{
    (void)state;
    assert_int_equal(compare_language(TEST_DATA "/data/template/language.jsonl"), 0);
}

/* Random templates over the whole language. */
static void random_templates(void **state)
{
    (void)state;
    assert_int_equal(compare_language(TEST_DATA "/data/template/random.jsonl"), 0);
}

static void chats(void **state)
{
    (void)state;
    assert_int_equal(compare_file(TEST_DATA "/data/template/chats.jsonl", NULL, TEST_DATA "/data/template"), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(language), cmocka_unit_test(random_templates),
                                         cmocka_unit_test(chats) };

    if (argc == 3)
        return compare_file(argv[1], NULL, argv[2]) ? 1 : 0;
    if (argc == 2)
        return compare_language(argv[1]) ? 1 : 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
