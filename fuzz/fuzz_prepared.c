/*
 * A folder of prepared data of any bytes: refused, or every sample and note can be read. An input is a manifest, then after a
 * line "==" the bytes of each array of its training part, one after another, each as long as the manifest says (what is
 * missing is zeros). The checksums are put right, so that what is behind them is reached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "data/prepared.h"

enum { MAX_ARRAY = 1 << 16 };

static const struct { const char *name; size_t width; } arrays[] = {
    { "ids", 4 }, { "labels", 4 }, { "samples", 56 }, { "notes", 48 }, { "reasons", 1 },
};

/* Without the syncs of hone's own writing: there are many inputs. */
static void write_file(const char *dir, const char *name, const void *data, size_t n)
{
    char *path = hone_path_join(dir, name);
    FILE *f = path ? fopen(path, "wb") : NULL;

    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        abort();
    hone_free(path);
}

/* The file of an array from the next bytes of the input; its hash replaces part[key] if it has one. */
static void write_array(const char *dir, json_t *part, size_t i, const uint8_t **data, size_t *size)
{
    json_int_t len = json_integer_value(json_object_get(json_object_get(part, "arrays"), arrays[i].name));
    size_t     n = len < 0 || len > MAX_ARRAY ? 0 : (size_t)len * arrays[i].width, have = HONE_MIN(n, *size);
    uint8_t   *bytes = hone_calloc(n, 1);
    char       name[32];

    if (!bytes)
        abort();
    if (have)
        memcpy(bytes, *data, have);
    *data += have;
    *size -= have;
    snprintf(name, sizeof name, "train.%s", arrays[i].name);
    write_file(dir, name, bytes, n);
    if (strcmp(arrays[i].name, "samples") == 0 && json_object_get(part, "index"))
        json_object_set_new(part, "index", json_string(hone_hash_bytes(bytes, n).hex));
    hone_free(bytes);
}

static void write_folder(const char *dir, json_t *manifest, const uint8_t *data, size_t size)
{
    json_t *part = json_object_get(json_object_get(manifest, "parts"), "train");
    char   *text;

    for (size_t i = 0; i < HONE_COUNTOF(arrays); i++)
        write_array(dir, part, i, &data, &size);
    (void)json_object_del(manifest, "checksum");
    text = json_dumps(manifest, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text && json_is_object(manifest))
        json_object_set_new(manifest, "checksum", json_string(hone_hash_bytes(text, strlen(text)).hex));
    free(text);
    text = json_dumps(manifest, JSON_ENCODE_ANY);
    write_file(dir, "manifest.json", text ? text : "", text ? strlen(text) : 0);
    free(text);
}

static void read_all(const hone_dataset *d)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < hone_dataset_len(d); i++) {
        hone_sample s = hone_dataset_at(d, i);

        for (int64_t t = 0; t < s.n; t++)
            sum += s.ids[t] ^ s.labels[t];
        for (int64_t t = 0; t < s.rejected_n; t++)
            sum += s.rejected_ids[t] ^ s.rejected_labels[t];
        sum += hone_dataset_source_path(d, s.source)[0] + hone_dataset_set_name(d, hone_dataset_source_set(d, s.source))[0];
    }
    for (int64_t i = 0; i < hone_dataset_get_report(d)->n_notes; i++) {
        hone_row_note n = hone_dataset_note(d, i);

        sum += (int64_t)strlen(n.why) + hone_row_fate_text(n.fate)[0] + hone_dataset_source_path(d, n.source)[0];
    }
    __asm__ volatile("" : : "r"(sum));      /* the reads are what is tested */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char    dir[64];
    const uint8_t *border = memmem(data, size, "\n==\n", 4);
    size_t         n = border ? (size_t)(border - data) : size;
    json_t        *manifest;
    hone_dataset  *train, *eval;

    if (!dir[0])
        snprintf(dir, sizeof dir, "fuzz_prepared.dir-%ld", (long)getpid());
    if (hone_dir_make(dir) != HONE_OK)
        abort();
    manifest = json_loadb((const char *)data, n, JSON_DECODE_ANY, NULL);
    if (manifest)
        write_folder(dir, manifest, border ? border + 4 : data, border ? size - n - 4 : 0);
    else
        write_file(dir, "manifest.json", data, n);
    json_decref(manifest);
    if (hone_prepared_open(&train, &eval, dir) == HONE_OK) {
        if (train)
            read_all(train);
    } else if (train || eval || !hone_status_text()[0]) {
        abort();
    }
    hone_dataset_destroy(&train);
    hone_dataset_destroy(&eval);
    if (hone_dir_remove(dir) != HONE_OK)
        abort();
    return 0;
}
