/* Sources: what `dataset` can name, and what dataset_info.json can say, in both of its forms. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "data/source/source_int.h"
#include "hone_test.h"

static char         dir[64];
static hone_sources found;

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    return chdir(dir);
}

static int tear_down(void **state)
{
    (void)state;
    hone_sources_deinit(&found);
    return chdir("/") == 0 && hone_dir_remove(dir) == HONE_OK ? 0 : -1;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void folder(const char *path) { assert_int_equal(mkdir(path, 0777), 0); }

/* Find what these options (YAML: dataset, dataset_dir, …) name. */
static hone_status find_at(hone_stage stage, const char *yaml)
{
    hone_str      text = HONE_STR_INIT;
    hone_options *o;
    hone_status   st;

    hone_sources_deinit(&found);
    hone_str_printf(&text, "finetuning_type: full\n%s", yaml);
    T_OK(hone_options_load_text(&o, hone_str_c(&text), text.len, "test"));
    hone_str_deinit(&text);
    o->stage = stage;
    st = hone_sources_find(&found, &o->dataset, o);
    hone_options_destroy(&o);
    return st;
}

static hone_status find(const char *yaml) { return find_at(HONE_STAGE_SFT, yaml); }

/* The paths found, and the number of each one's data set. */
static const char *paths(void)
{
    static char text[4096];
    size_t      n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < found.len; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%d", i ? " " : "", found.data[i].path, found.data[i].set);
    return text;
}

static hone_status find_entry(hone_stage stage, const char *entry)
{
    hone_str info = HONE_STR_INIT;

    hone_str_printf(&info, "{\"other\": {\"hf_hub_url\": \"x/y\"}, \"mine\": %s}", entry);
    put("dataset_info.json", hone_str_c(&info));
    hone_str_deinit(&info);
    return find_at(stage, "dataset: mine\ndataset_dir: .\n");
}

/* ---- paths ---- */

static void files_and_folders(void **state)
{
    (void)state;
    folder("d");
    put("d/b.jsonl", "");
    put("d/a.json", "");
    put("d/c.jsonl.gz", "");
    put("d/.hidden.csv", "");
    put("d/dataset_info.json", "");
    put("one.csv", "");
    T_OK(find("dataset: one.csv, d, ./d/../one.csv\nmax_samples: 7\n"));
    assert_string_equal(paths(), "one.csv:0 d/a.json:1 d/b.jsonl:1 d/c.jsonl.gz:1 ./d/../one.csv:2");
    assert_string_equal(found.data[1].name, "d");
    assert_int_equal(found.data[1].max_rows, 7);
    assert_int_equal(found.data[1].num_samples, -1);
    assert_int_equal(found.data[1].format, HONE_ROWS_AUTO);
    assert_null(found.data[1].info);

    put("d/x.csv", "");
    T_STATUS(find("dataset: d\n"), HONE_E_USAGE);
    T_ERROR_HAS("d holds files of several types (.json and .csv); give a pattern as d/*.jsonl");
    unlink("d/x.csv");
    put("d/README.md", "");
    T_STATUS(find("dataset: d\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("d/README.md: hone reads .json");
    T_ERROR_HAS("every file of the folder d is read; take others out");
    unlink("d/README.md");
    folder("d/sub");
    T_STATUS(find("dataset: d\n"), HONE_E_USAGE);
    T_ERROR_HAS("d/sub: folders in a folder of data are not read");
    T_STATUS(find("dataset: d/sub\n"), HONE_E_USAGE);
    T_ERROR_HAS("the folder holds no data files");
}

static void patterns(void **state)
{
    (void)state;
    for (const char *d = "p\0p/a\0p/a/deep\0p/.h\0p/b[1]\0"; *d; d += strlen(d) + 1)
        folder(d);
    for (const char *f = "p/2.jsonl\0p/10.jsonl\0p/x.txt\0p/.h.jsonl\0p/a/1.jsonl\0p/a/deep/0.jsonl\0p/.h/1.jsonl\0p/b[1]/1.jsonl\0"; *f;
         f += strlen(f) + 1)
        put(f, "");
    assert_int_equal(symlink("..", "p/a/loop"), 0);
    T_OK(find("dataset: 'p/*.jsonl'\n"));
    assert_string_equal(paths(), "p/10.jsonl:0 p/2.jsonl:0");
    T_OK(find("dataset: ['p/?.jsonl', 'p/[1x]*']\n"));
    assert_string_equal(paths(), "p/2.jsonl:0 p/10.jsonl:1 p/x.txt:1");
    T_OK(find("dataset: 'p/**/*.jsonl'\n"));
    assert_string_equal(paths(), "p/10.jsonl:0 p/2.jsonl:0 p/a/1.jsonl:0 p/a/deep/0.jsonl:0 p/b[1]/1.jsonl:0");
    T_OK(find("dataset: '**/**/deep/*'\n"));
    assert_string_equal(paths(), "p/a/deep/0.jsonl:0");
    T_OK(find("dataset: '**/**/**/**/**/**/**/**/**/**/**/**/**/**/**/**/**//**/**/**/**/**/**/**/**/**/**/**/**/**/deep/*'\n"));
    assert_string_equal(paths(), "p/a/deep/0.jsonl:0");
    T_OK(find("dataset: 'p/a/**'\n"));
    assert_string_equal(paths(), "p/a/1.jsonl:0 p/a/deep/0.jsonl:0");
    T_OK(find("dataset: 'p/*/1.jsonl'\n"));
    assert_string_equal(paths(), "p/a/1.jsonl:0 p/b[1]/1.jsonl:0");
    T_OK(find("dataset: 'p/b[1]/1.jsonl'\n"));      /* there is a file of just this name */
    assert_string_equal(paths(), "p/b[1]/1.jsonl:0");
    T_STATUS(find("dataset: 'p/*.csv'\n"), HONE_E_USAGE);
    T_ERROR_HAS("no file matches the pattern p/*.csv");
    put("p/y.md", "");
    T_STATUS(find("dataset: 'p/*'\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("p/y.md");
}

static void paths_that_lead_nowhere(void **state)
{
    (void)state;
    T_STATUS(find("dataset: none.jsonl\n"), HONE_E_IO);
    T_ERROR_HAS("cannot open none.jsonl: No such file");
    T_STATUS(find("dataset: /none/such\n"), HONE_E_IO);
    put("one.csv", "");
    T_STATUS(find("dataset: one.csv/x.csv\n"), HONE_E_IO);
    assert_int_equal(symlink("loop", "loop"), 0);
    T_STATUS(find("dataset: loop\n"), HONE_E_IO);
    T_ERROR_HAS(strerror(ELOOP));
    T_STATUS(find("dataset: loop/a.jsonl\n"), HONE_E_IO);
    T_STATUS(find("dataset: \"new\\nline.jsonl\"\n"), HONE_E_IO);
    put("a.parquet", "");
    T_STATUS(find("dataset: a.parquet\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("pandas.read_parquet");
    T_STATUS(find("dataset: alpaca_en\n"), HONE_E_USAGE);
    T_ERROR_HAS("data set \"alpaca_en\" is neither a file nor a folder, and there is no data/dataset_info.json");
    T_STATUS(find("dataset: alpaca_en\ndataset_dir: ONLINE\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("hone downloads nothing");
    T_STATUS(find("dataset: alpaca_en\ndataset_dir: REMOTE:org/repo\n"), HONE_E_UNSUPPORTED);
    T_OK(find("dataset: one.csv\ndataset_dir: ONLINE\n"));
}

/* "path#count", "path:subset", "hf::id" of ms-swift's command line. */
static void swift_endings(void **state)
{
    (void)state;
    put("one.csv", "");
    put("odd#5", "");
    T_OK(find("dataset: 'one.csv#500'\n"));
    assert_string_equal(paths(), "one.csv:0");
    assert_string_equal(found.data[0].name, "one.csv#500");
    assert_int_equal(found.data[0].num_samples, 500);
    put("odd#5.csv", "");
    T_OK(find("dataset: 'odd#5.csv'\n"));
    assert_int_equal(found.data[0].num_samples, -1);
    T_OK(find("dataset: '*.csv#9'\n"));
    assert_string_equal(paths(), "odd#5.csv:0 one.csv:0");
    assert_int_equal(found.data[1].num_samples, 9);
    T_STATUS(find("dataset: 'one.csv#0'\n"), HONE_E_USAGE);
    T_ERROR_HAS("no row at all");
    T_STATUS(find("dataset: 'one.csv#x'\n"), HONE_E_USAGE);
    T_STATUS(find("dataset: 'none.csv#3'\n"), HONE_E_USAGE);
    T_STATUS(find("dataset: 'one.csv#99999999999999999999'\n"), HONE_E_USAGE);
    T_STATUS(find("dataset: 'one.csv:default'\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("\":default\" would be a subset");
    T_STATUS(find("dataset: 'hf::org/data'\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("download it");
    put("dataset_info.json", "{\"mine\": {\"file_name\": \"one.csv\", \"num_samples\": 3}}");
    T_OK(find("dataset: 'mine, mine#4'\ndataset_dir: .\n"));
    assert_int_equal(found.data[0].num_samples, 3);
    assert_int_equal(found.data[1].num_samples, 4);
}

/* ---- LLaMA-Factory's dataset_info.json ---- */

static void columns_and_tags(void **state)
{
    const hone_row_columns *c;

    (void)state;
    put("a.jsonl", "");
    T_OK(find_entry(HONE_STAGE_SFT, "{\"file_name\": \"a.jsonl\"}"));
    assert_string_equal(paths(), "./a.jsonl:0");
    c = &found.data[0].columns;
    assert_int_equal(found.data[0].format, HONE_ROWS_ALPACA);
    assert_string_equal(c->prompt, "instruction");
    assert_string_equal(c->query, "input");
    assert_string_equal(c->response, "output");
    assert_string_equal(c->messages, "conversations");
    for (size_t i = 0; i < 9; i++)
        assert_null(((const char *[]){ c->history, c->system, c->tools, c->chosen, c->rejected, c->kto_tag, c->images,
                                       c->videos, c->audios })[i]);
    assert_string_equal(c->function_tag, "function_call");

    T_OK(find_entry(HONE_STAGE_SFT, "{\"file_name\": \"a.jsonl\", \"formatting\": \"sharegpt\", \"subset\": \"x\", \"folder\": \"y\", \"split\": \"train\","
                    "\"columns\": {\"messages\": \"m\", \"chosen\": \"c\", \"rejected\": \"r\", \"kto_tag\": \"k\", \"images\": \"i\", \"videos\": \"v\","
                    "\"audios\": \"a\", \"tools\": \"t\", \"system\": null}, \"tags\": {\"role_tag\": \"role\", \"content_tag\": \"text\","
                    "\"user_tag\": \"u\", \"assistant_tag\": \"b\", \"function_tag\": \"f\"}}"));
    c = &found.data[0].columns;
    assert_int_equal(found.data[0].format, HONE_ROWS_SHAREGPT);
    assert_string_equal(c->messages, "m");
    assert_string_equal(c->chosen, "c");
    assert_string_equal(c->rejected, "r");
    assert_string_equal(c->kto_tag, "k");
    assert_string_equal(c->images, "i");
    assert_string_equal(c->videos, "v");
    assert_string_equal(c->audios, "a");
    assert_string_equal(c->tools, "t");
    assert_string_equal(c->content_tag, "text");
    assert_string_equal(c->function_tag, "f");
    assert_null(c->prompt);             /* what a given object leaves out has no default */
    assert_null(c->system);
    assert_null(c->observation_tag);
    assert_null(c->system_tag);
    assert_non_null(found.data[0].info);
}

static void entries_that_are_refused(void **state)
{
    static const struct { const char *entry; hone_status status; const char *message; } cases[] = {
        { "[]", HONE_E_FORMAT, "\"mine\" must be an object, not array" },
        { "{}", HONE_E_FORMAT, "\"mine\" has no \"file_name\"" },
        { "{\"file_name\": 3}", HONE_E_FORMAT, "\"file_name\" of \"mine\" must be a text, not integer" },
        { "{\"file_name\": \"a\\u0000b\"}", HONE_E_FORMAT, "NUL" },
        { "{\"file_name\": \"none.jsonl\"}", HONE_E_IO, "cannot open ./none.jsonl" },
        { "{\"file_name\": \"a.jsonl\", \"formating\": \"x\"}", HONE_E_FORMAT, "no key \"formating\" (of \"mine\"); did you mean \"formatting\"?" },
        { "{\"file_name\": \"a.jsonl\", \"columns\": {\"promt\": \"x\"}}", HONE_E_FORMAT, "no column \"promt\" (of \"mine\"); did you mean \"prompt\"?" },
        { "{\"file_name\": \"a.jsonl\", \"tags\": {\"role\": \"x\"}}", HONE_E_FORMAT, "no tag \"role\"" },
        { "{\"file_name\": \"a.jsonl\", \"columns\": []}", HONE_E_FORMAT, "\"columns\" of \"mine\" must be an object" },
        { "{\"file_name\": \"a.jsonl\", \"columns\": {\"prompt\": 1}}", HONE_E_FORMAT, "\"prompt\" of \"mine\" must be a text" },
        { "{\"file_name\": \"a.jsonl\", \"formatting\": \"sharegpt\", \"tags\": {\"role_tag\": \"r\", \"user_tag\": \"u\"}}", HONE_E_FORMAT, "without role_tag, content_tag" },
        { "{\"file_name\": \"a.jsonl\", \"formatting\": \"chatml\"}", HONE_E_UNSUPPORTED, "hone has alpaca, sharegpt and openai" },
        { "{\"file_name\": \"a.jsonl\", \"split\": \"test\"}", HONE_E_UNSUPPORTED, "split \"test\"" },
        { "{\"file_name\": \"a.jsonl\", \"num_samples\": 0}", HONE_E_FORMAT, "at least 1" },
        { "{\"file_name\": \"a.jsonl\", \"num_samples\": \"5\"}", HONE_E_FORMAT, "\"num_samples\"" },
        { "{\"file_name\": \"a.jsonl\", \"ranking\": \"yes\"}", HONE_E_FORMAT, "must be true or false" },
        { "{\"hf_hub_url\": \"x/y\"}", HONE_E_UNSUPPORTED, "\"hf_hub_url\" of \"mine\": hone downloads nothing; download the files" },
        { "{\"hf_hub_url\": \"x/y\", \"file_name\": \"a.jsonl\"}", HONE_E_UNSUPPORTED, "takes it before \"file_name\": if that file holds the same rows, remove this key" },
        { "{\"ms_hub_url\": \"x/y\"}", HONE_E_UNSUPPORTED, "\"ms_hub_url\"" },
        { "{\"om_hub_url\": \"x/y\"}", HONE_E_UNSUPPORTED, "\"om_hub_url\"" },
        { "{\"cloud_file_name\": \"s3://x\"}", HONE_E_UNSUPPORTED, "\"cloud_file_name\"" },
        { "{\"script_url\": \"x\"}", HONE_E_UNSUPPORTED, "a program in Python" },
        { "{\"file_name\": \"a.parquet\"}", HONE_E_UNSUPPORTED, ".parquet" },
    };

    (void)state;
    put("a.jsonl", "");
    put("a.parquet", "");
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        T_STATUS(find_entry(HONE_STAGE_SFT, cases[i].entry), cases[i].status);
        T_ERROR_HAS(cases[i].message);
        assert_int_equal(found.len, 0);
    }
    T_STATUS(find("dataset: mone\ndataset_dir: .\n"), HONE_E_USAGE);
    T_ERROR_HAS("did you mean mine?");
    put("dataset_info.json", "{");
    T_STATUS(find("dataset: mine\ndataset_dir: .\n"), HONE_E_FORMAT);
    put("dataset_info.json", "3");
    T_STATUS(find("dataset: mine\ndataset_dir: .\n"), HONE_E_FORMAT);
    T_ERROR_HAS("must be an object");
}

static void pairs_are_for_their_stages(void **state)
{
    static const struct { hone_stage stage; bool pairs; } stages[] = {
        { HONE_STAGE_PT, false }, { HONE_STAGE_SFT, false }, { HONE_STAGE_RM, true },
        { HONE_STAGE_PPO, false }, { HONE_STAGE_DPO, true }, { HONE_STAGE_KTO, false },
    };

    (void)state;
    put("a.jsonl", "");
    for (size_t i = 0; i < HONE_COUNTOF(stages); i++)
        for (int pairs = 0; pairs < 2; pairs++) {
            hone_status st = find_entry(stages[i].stage, pairs ? "{\"file_name\": \"a.jsonl\", \"ranking\": true}" : "{\"file_name\": \"a.jsonl\"}");

            assert_int_equal(st, pairs == stages[i].pairs ? HONE_OK : HONE_E_USAGE);
            if (st == HONE_OK)
                assert_int_equal(found.data[0].ranking, pairs);
            else
                T_ERROR_HAS(pairs ? "holds preference pairs" : "add \"ranking\": true");
        }
    T_OK(find_at(HONE_STAGE_DPO, "dataset: a.jsonl\n"));      /* a file that nothing describes: its rows will tell */
}

/* A folder as file_name, an absolute path, and a name that is also a path. */
static void files_of_entries(void **state)
{
    hone_str text = HONE_STR_INIT;

    (void)state;
    folder("d");
    put("d/b.jsonl", "");
    put("d/a.jsonl", "");
    T_OK(find_entry(HONE_STAGE_SFT, "{\"file_name\": \"d\"}"));
    assert_string_equal(paths(), "./d/a.jsonl:0 ./d/b.jsonl:0");
    hone_str_printf(&text, "{\"file_name\": \"%s/d/b.jsonl\"}", dir);
    T_OK(find_entry(HONE_STAGE_SFT, hone_str_c(&text)));
    hone_str_clear(&text);
    hone_str_printf(&text, "%s/d/b.jsonl:0", dir);
    assert_string_equal(paths(), hone_str_c(&text));
    hone_str_deinit(&text);
    folder("mine");
    T_OK(find_entry(HONE_STAGE_SFT, "{\"file_name\": \"d/../d/a.jsonl\"}"));
    assert_string_equal(paths(), "./d/../d/a.jsonl:0");
}

/* ---- ms-swift's dataset_info.json ---- */

static void swift_entries(void **state)
{
    static const char *const names[] = { "mine", "sub/a.jsonl", "./sub/a.jsonl", "org/data", "data" };

    (void)state;
    folder("sub");
    put("sub/a.jsonl", "");
    put("dataset_info.json",
        "[{\"ms_dataset_id\": \"org/hub\", \"hf_dataset_id\": \"Org/hub2\", \"subsets\": [\"a\"], \"tags\": [\"chat\"]},"
        " {\"dataset_path\": \"sub/a.jsonl\", \"dataset_name\": \"mine\", \"ms_dataset_id\": \"org/data\", \"subsets\": [\"default\"],"
        "  \"split\": [\"train\"], \"columns\": {\"question\": \"query\"}, \"help\": \"x\", \"tags\": [], \"huge_dataset\": false},"
        " {\"dataset_path\": \"sub/a.jsonl\", \"dataset_name\": \"s\", \"subsets\": [\"a\", \"b\"]},"
        " {\"dataset_path\": \"sub/a.jsonl\", \"dataset_name\": \"p\", \"split\": [\"test\"]},"
        " {\"dataset_path\": \"sub/a.jsonl\", \"dataset_name\": \"m\", \"messages\": {\"role_key\": \"r\"}},"
        " {\"dataset_path\": \"sub/a.jsonl\", \"dataset_name\": \"c\", \"columns\": {\"a\": 1}},"
        " {\"dataset_path\": \"sub/a.jsonl\", \"dataset_name\": \"k\", \"colums\": {}}]");
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        hone_str yaml = HONE_STR_INIT;

        hone_str_printf(&yaml, "dataset: '%s#3'\ndataset_dir: .\n", names[i]);
        T_OK(find(hone_str_c(&yaml)));
        hone_str_deinit(&yaml);
        assert_string_equal(paths(), "./sub/a.jsonl:0");
        assert_int_equal(found.data[0].num_samples, 3);
        assert_int_equal(found.data[0].format, HONE_ROWS_AUTO);
        assert_null(found.data[0].info);
        assert_string_equal(json_string_value(json_object_get(found.data[0].renames, "question")), "query");
    }
    T_STATUS(find("dataset: hub2\ndataset_dir: .\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("\"hub2\" is on a hub, and hone downloads nothing; download it and name its files in \"dataset_path\"");
    T_STATUS(find("dataset: s\ndataset_dir: .\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("\"subsets\"");
    T_STATUS(find("dataset: p\ndataset_dir: .\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("\"split\"");
    T_STATUS(find("dataset: m\ndataset_dir: .\n"), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("\"messages\"");
    T_STATUS(find("dataset: c\ndataset_dir: .\n"), HONE_E_FORMAT);
    T_ERROR_HAS("column \"a\"");
    T_STATUS(find("dataset: k\ndataset_dir: .\n"), HONE_E_FORMAT);
    T_ERROR_HAS("did you mean \"columns\"?");
    T_STATUS(find("dataset: mina\ndataset_dir: .\n"), HONE_E_USAGE);
    T_ERROR_HAS("did you mean mine?");
    put("dataset_info.json", "[3]");
    T_STATUS(find("dataset: mine\ndataset_dir: .\n"), HONE_E_FORMAT);
    T_ERROR_HAS("entry 0 must be an object");
}

/* ---- faults ---- */

static void running_out_of_memory_is_an_error(void **state)
{
    static const char yaml[] = "finetuning_type: full\ndataset: 'mine, d, d/**/*.jsonl, d/a.jsonl#3'\ndataset_dir: .\n";
    hone_options     *o;

    (void)state;
    folder("d");
    put("d/a.jsonl", "");
    put("dataset_info.json", "{\"mine\": {\"file_name\": \"d\"}}");
    T_OK(hone_options_load_text(&o, yaml, strlen(yaml), "test"));
    for (int64_t n = 0;; n++) {
        hone_status st;
        bool        reached;

        hone_sources_deinit(&found);
        hone_mem_fail_at(n);
        st = hone_sources_find(&found, &o->dataset, o);
        reached = hone_mem_fail_reached();
        hone_mem_fail_at(-1);
        if (!reached) {
            T_OK(st);
            assert_int_equal(found.len, 4);
            assert_true(n > 20);
            break;
        }
        T_STATUS(st, HONE_E_NOMEM);
    }
    hone_options_destroy(&o);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(files_and_folders), CASE(patterns), CASE(paths_that_lead_nowhere), CASE(swift_endings), CASE(columns_and_tags),
        CASE(entries_that_are_refused), CASE(pairs_are_for_their_stages), CASE(files_of_entries), CASE(swift_entries),
        CASE(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
