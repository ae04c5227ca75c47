/* dataset_info.json: whatever it holds, finding the data sets that it may name ends with sources or an error. The file is
 * the input; the names looked for are those of its entries, and some that are not there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "data/source.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void write_file(const char *dir, const char *name, const void *bytes, size_t n)
{
    char *path = hone_path_join(dir, name);
    FILE *f = fopen(path, "wb");

    must(f && (n == 0 || fwrite(bytes, 1, n, f) == n) && fclose(f) == 0);
    hone_free(path);
}

static void find(hone_options *o, const char *name)
{
    char        *names[] = { (char *)name };
    hone_strings list = { names, 1 };
    hone_sources found = { NULL, 0, 0 };
    hone_status  st = hone_sources_find(&found, &list, o);

    must(st == HONE_OK ? found.len > 0 : *hone_status_text() != '\0');
    for (size_t i = 0; i < found.len; i++)
        must(found.data[i].path && strcmp(found.data[i].name, name) == 0 && (!found.data[i].info || !found.data[i].renames));
    hone_sources_deinit(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const hone_stage stages[] = { HONE_STAGE_PT, HONE_STAGE_SFT, HONE_STAGE_DPO, HONE_STAGE_KTO };
    hone_options *o;
    char          dir[64], yaml[160];
    json_t       *info = NULL, *value;
    const char   *key;
    size_t        i;

    snprintf(dir, sizeof dir, "fuzz_dataset_info.%ld", (long)getpid());
    must(mkdir(dir, 0777) == 0);
    write_file(dir, "a.jsonl", "{}\n", 3);
    write_file(dir, "dataset_info.json", data, size);
    snprintf(yaml, sizeof yaml, "finetuning_type: full\ndataset: x\ndataset_dir: %s\n", dir);
    must(hone_options_load_text(&o, yaml, strlen(yaml), "fuzz") == HONE_OK);
    if (hone_json_parse(&info, (const char *)data, size, "fuzz") != HONE_OK)
        hone_status_clear();
    o->stage = stages[size % HONE_COUNTOF(stages)];
    json_object_foreach(info, key, value)
        find(o, key);
    json_array_foreach(info, i, value) {
        key = json_string_value(json_object_get(value, "dataset_name"));
        find(o, key ? key : "x");
    }
    find(o, "none");
    find(o, "mine#3");
    json_decref(info);
    hone_options_destroy(&o);
    must(hone_dir_remove(dir) == HONE_OK);
    return 0;
}
