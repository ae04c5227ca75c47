/* Prepared data: the manifest, and the arrays that it speaks of. */
#include <stdlib.h>
#include <string.h>

#include "data/prepared_int.h"

/* Of what the files hold; samples of another version are made anew. */
#define FORMAT  "hone prepared data"
#define VERSION 1

/* X(field): the counts of a report, all int64 but max_id and end_label. */
#define REPORT_COUNTS(X)                                                                                               \
    X(rows) X(tokens_in) X(tokens_kept) X(tokens_cut) X(tokens_dropped) X(supervised) X(longest) X(reasoning_removed)  \
    X(lists_printed) X(prompts_differ) X(max_id) X(end_label) X(end_count) X(n_notes)

/* ---- writing ---- */

/* Sets object[key] to a new value; remembers a failure in *ok. */
static void put(bool *ok, json_t *object, const char *key, json_t *value)
{
    *ok &= value && json_object_set_new(object, key, value) == 0;
}

static json_t *describe_report(bool *ok, const hone_dataset_report *r)
{
    json_t *out = json_object(), *fates = json_array();

#define PUT_(field) put(ok, out, #field, json_integer(r->field));
    REPORT_COUNTS(PUT_)
#undef PUT_
    for (int i = 0; i < HONE_ROW_FATES; i++)
        *ok &= json_array_append_new(fates, json_integer(r->fates[i])) == 0;
    put(ok, out, "fates", fates);
    return out;
}

static json_t *describe_part(bool *ok, const hone_dataset *d)
{
    json_t *out = json_object(), *arrays = json_object(), *sets = json_array(), *files = json_array();

    for (size_t i = 0; i < d->sets.len; i++)
        *ok &= json_array_append_new(sets, json_string(d->sets.data[i])) == 0;
    for (size_t i = 0; i < d->files.len; i++)
        *ok &= json_array_append_new(files, json_pack("{s:s, s:i}", "path", d->files.data[i].path, "set",
                                                      (int)d->files.data[i].set)) == 0;
#define PUT_(name, type) put(ok, arrays, #name, json_integer(d->name.len));
    DATASET_COLUMNS(PUT_)
#undef PUT_
    put(ok, out, "fingerprint", json_string(d->fingerprint.hex));
    put(ok, out, "index", json_string(d->index.hex));
    put(ok, out, "sets", sets);
    put(ok, out, "files", files);
    put(ok, out, "report", describe_report(ok, &d->report));
    put(ok, out, "arrays", arrays);
    return out;
}

/* The checksum is that of the manifest's text without it. */
static hone_status checksum(hone_hash *out, const json_t *manifest)
{
    json_t *copy = json_copy((json_t *)manifest);
    char   *text;

    (void)json_object_del(copy, "checksum");
    text = json_dumps(copy, JSON_COMPACT);
    json_decref(copy);
    HONE_CHECK(text, HONE_E_NOMEM, "out of memory");
    *out = hone_hash_bytes(text, strlen(text));
    free(text);
    return HONE_OK;
}

hone_status prepared_write_manifest(const char *dir, const json_t *key, const hone_dataset *train, const hone_dataset *eval)
{
    hone_status st = HONE_OK;
    bool        ok = true;
    hone_hash   hash;
    json_t     *manifest = json_object(), *parts = json_object();
    char       *path = hone_path_join(dir, PREPARED_MANIFEST), *text = NULL;

    if (train)
        put(&ok, parts, "train", describe_part(&ok, train));
    if (eval)
        put(&ok, parts, "eval", describe_part(&ok, eval));
    put(&ok, manifest, "format", json_string(FORMAT));
    put(&ok, manifest, "version", json_integer(VERSION));
    put(&ok, manifest, "hone", json_string(HONE_VERSION));
    put(&ok, manifest, "key", json_deep_copy(key));
    put(&ok, manifest, "parts", parts);
    HONE_GO_CHECK(ok && path, HONE_E_NOMEM, "out of memory");
    HONE_GO(checksum(&hash, manifest));
    put(&ok, manifest, "checksum", json_string(hash.hex));
    text = json_dumps(manifest, JSON_INDENT(1));
    HONE_GO_CHECK(ok && text, HONE_E_NOMEM, "out of memory");
    HONE_GO(hone_file_write_all(path, text, strlen(text)));
out:
    free(text);
    hone_free(path);
    json_decref(manifest);
    return st;
}

/* ---- reading ---- */

static hone_status check_manifest(const json_t *m, const char *path)
{
    const char   *format = json_string_value(json_object_get(m, "format"));
    const char   *sum = json_string_value(json_object_get(m, "checksum"));
    const json_t *version = json_object_get(m, "version"), *key = json_object_get(m, "key");
    hone_hash     hash;

    HONE_CHECK(format && strcmp(format, FORMAT) == 0, HONE_E_FORMAT, "%s is no manifest of data that hone prepared; give another "
               "tokenized_path", path);
    HONE_CHECK(json_is_integer(version) && json_integer_value(version) == VERSION, HONE_E_FORMAT,
               "%s is of version %lld, and this hone makes version %d; remove the folder, or set overwrite_cache: true, to prepare "
               "anew", path, (long long)json_integer_value(version), VERSION);
    HONE_TRY(checksum(&hash, m));
    HONE_CHECK(sum && strcmp(sum, hash.hex) == 0, HONE_E_FORMAT, "%s was changed or damaged: its checksum is not its own; remove the "
               "folder to prepare anew", path);
    HONE_CHECK(json_is_string(json_object_get(m, "hone")) && json_is_object(json_object_get(m, "parts")) && json_is_string(json_object_get(key, "options"))
               && json_is_object(json_object_get(key, "text")) && json_is_array(json_object_get(key, "sources")), HONE_E_FORMAT,
               "%s lacks the fields of a manifest", path);
    return HONE_OK;
}

hone_status prepared_read_manifest(json_t **out, const char *dir)
{
    char       *path = hone_path_join(dir, PREPARED_MANIFEST);
    hone_status st = HONE_OK;

    *out = NULL;
    HONE_GO(path ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(hone_json_read(out, path));
    HONE_GO(check_manifest(*out, path));
out:
    if (st != HONE_OK) {
        json_decref(*out);
        *out = NULL;
    }
    hone_free(path);
    return st;
}

/* A whole number from `low` on; in a file that was changed it may be anything. */
static hone_status get_int(int64_t *out, const json_t *object, const char *key, int64_t low, const char *dir)
{
    const json_t *value = json_object_get(object, key);

    *out = json_integer_value(value);
    HONE_CHECK(json_is_integer(value) && *out >= low && *out <= INT64_MAX / 64, HONE_E_FORMAT,
               "%s/" PREPARED_MANIFEST ": \"%s\" is missing or out of range", dir, key);
    return HONE_OK;
}

static hone_status read_report(hone_dataset_report *r, const json_t *report, const char *dir)
{
    const json_t *fates = json_object_get(report, "fates");
    int64_t       v;

#define GET_(field) HONE_TRY(get_int(&v, report, #field, -1, dir)); r->field = (__typeof__(r->field))v;
    REPORT_COUNTS(GET_)
#undef GET_
    HONE_CHECK(json_array_size(fates) == HONE_ROW_FATES, HONE_E_FORMAT, "%s/" PREPARED_MANIFEST ": \"fates\" is none of rows", dir);
    for (int i = 0; i < HONE_ROW_FATES; i++)
        r->fates[i] = json_integer_value(json_array_get(fates, (size_t)i));
    return HONE_OK;
}

static hone_status read_names(hone_dataset *d, const json_t *part, const char *dir)
{
    const json_t *value;
    size_t        i;

    json_array_foreach(json_object_get(part, "sets"), i, value) {
        HONE_CHECK(json_is_string(value), HONE_E_FORMAT, "%s/" PREPARED_MANIFEST ": a data set has no name", dir);
        HONE_TRY(dataset_add_set(d, json_string_value(value)));
    }
    json_array_foreach(json_object_get(part, "files"), i, value) {
        const char *path = json_string_value(json_object_get(value, "path"));
        json_int_t  set = json_integer_value(json_object_get(value, "set"));

        HONE_CHECK(path && set >= 0 && (size_t)set < d->sets.len, HONE_E_FORMAT, "%s/" PREPARED_MANIFEST ": file %zu of a part is "
                   "none of a data set", dir, i);
        HONE_TRY(dataset_add_file(d, path, (int32_t)set));
    }
    return HONE_OK;
}

static hone_status open_columns(hone_dataset *d, const json_t *arrays, const char *dir, const char *part)
{
    int64_t     len;
    char       *path;
    hone_status st;

#define OPEN_(name, type)                                                                                              \
    HONE_TRY(get_int(&len, arrays, #name, 0, dir));                                                                    \
    path = hone_asprintf("%s/%s." #name, dir, part);                                                                   \
    st = path ? hone_column_open(&d->name, sizeof(type), len, path) : HONE_E_NOMEM;                                    \
    hone_free(path);                                                                                                   \
    HONE_TRY(st);
    DATASET_COLUMNS(OPEN_)
#undef OPEN_
    return HONE_OK;
}

/* Nothing that an index of the arrays points to lies outside of them. */
static hone_status check_samples(const hone_dataset *d, const char *dir, const char *part)
{
    int64_t   tokens = d->ids.len;
    hone_hash hash = hone_hash_bytes(d->samples.data, (size_t)d->samples.len * sizeof(dataset_entry));

    HONE_CHECK(d->labels.len == tokens, HONE_E_FORMAT, "%s/%s.labels is not as long as %s.ids", dir, part, part);
    HONE_CHECK(strcmp(hash.hex, d->index.hex) == 0, HONE_E_FORMAT, "%s/%s.samples was changed or damaged: its checksum is not that of "
               "the manifest; remove the folder to prepare anew", dir, part);
    for (int64_t i = 0; i < d->samples.len; i++) {
        const dataset_entry *e = dataset_entry_at(d, i);

        HONE_CHECK(e->begin >= 0 && e->n > 0 && e->rejected_n >= 0 && e->begin <= tokens && e->n <= tokens - e->begin
                   && e->rejected_n <= tokens - e->begin - e->n && e->n <= d->report.longest && e->rejected_n <= d->report.longest
                   && e->supervised >= 0 && e->supervised < e->n && e->source >= 0 && (size_t)e->source < d->files.len
                   && e->desirable >= -1 && e->desirable <= 1, HONE_E_FORMAT,
                   "%s/%s.samples: sample %lld is outside of the data", dir, part, (long long)i);
    }
    return HONE_OK;
}

static hone_status check_notes(const hone_dataset *d, const char *dir, const char *part)
{
    const char *reasons = d->reasons.data;

    HONE_CHECK(d->notes.len == d->report.n_notes && (d->reasons.len == 0 || reasons[d->reasons.len - 1] == '\0'), HONE_E_FORMAT,
               "%s/%s.notes is not as the manifest says", dir, part);
    for (int64_t i = 0; i < d->notes.len; i++) {
        const dataset_note_entry *e = (const dataset_note_entry *)d->notes.data + i;

        HONE_CHECK(e->why >= 0 && e->why < d->reasons.len && e->source >= 0 && (size_t)e->source < d->files.len && e->fate > HONE_ROW_KEPT
                   && e->fate < HONE_ROW_FATES, HONE_E_FORMAT, "%s/%s.notes: note %lld is outside of the data", dir, part, (long long)i);
    }
    return HONE_OK;
}

static hone_status fill_part(hone_dataset *d, const json_t *part, const char *dir, const char *name)
{
    const char *fingerprint = json_string_value(json_object_get(part, "fingerprint"));
    const char *index = json_string_value(json_object_get(part, "index"));

    HONE_CHECK(fingerprint && strlen(fingerprint) == 32 && index && strlen(index) == 32, HONE_E_FORMAT,
               "%s/" PREPARED_MANIFEST ": part \"%s\" has no hashes", dir, name);
    memcpy(d->fingerprint.hex, fingerprint, 33);
    memcpy(d->index.hex, index, 33);
    HONE_TRY(read_report(&d->report, json_object_get(part, "report"), dir));
    HONE_TRY(read_names(d, part, dir));
    HONE_TRY(open_columns(d, json_object_get(part, "arrays"), dir, name));
    HONE_TRY(check_samples(d, dir, name));
    return check_notes(d, dir, name);
}

hone_status prepared_open_part(hone_dataset **out, const json_t *manifest, const char *dir, const char *name)
{
    const json_t *part = json_object_get(json_object_get(manifest, "parts"), name);
    hone_dataset *d;
    hone_status   st;

    *out = NULL;
    if (!part)
        return HONE_OK;
    d = hone_calloc(1, sizeof *d);
    if (!d)
        return HONE_E_NOMEM;
    st = fill_part(d, part, dir, name);
    if (st != HONE_OK)
        hone_dataset_destroy(&d);
    *out = d;
    return st;
}
