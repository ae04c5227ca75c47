#include "io/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "io/safetensors_private.h"

/* The reference implementation's limit. */
#define MAX_HEADER 100000000u
#define METADATA "__metadata__"

static const char lfs_mark[] = "version https://git-lfs.github.com/spec/";

/* Say what the file is when it cannot be a safetensors file at all. */
static hone_status check_kind(const unsigned char *data, size_t size, const char *where)
{
    static const char again[] = "download it again, for example with `hf download`";

    HONE_CHECK(size > 0, HONE_E_FORMAT, "%s: the file is empty; %s", where, again);
    if (size >= sizeof lfs_mark - 1 && memcmp(data, lfs_mark, sizeof lfs_mark - 1) == 0)
        return HONE_FAIL(HONE_E_FORMAT, "%s: this is a Git LFS pointer (a few lines of text in place of the weights); run "
                         "`git lfs install && git lfs pull` in its repository, or download the model with `hf download`",
                         where);
    HONE_CHECK(size >= 10, HONE_E_FORMAT, "%s: %zu bytes are too few for a safetensors file; %s", where, size, again);
    HONE_CHECK(memcmp(data, "PK\3\4", 4) != 0, HONE_E_FORMAT, "%s: this is a PyTorch (zip) file under another name; save "
               "the model as safetensors, for example with transformers' save_pretrained", where);
    return HONE_OK;
}

/* Find the header: *header is its length with the length field. */
static hone_status check_header(size_t *header, const unsigned char *data, size_t size, const char *where)
{
    uint64_t len = 0;

    HONE_TRY(check_kind(data, size, where));
    for (int i = 7; i >= 0; i--)
        len = len << 8 | data[i];
    HONE_CHECK(len <= size - 8, HONE_E_FORMAT, "%s: its header should have %llu bytes, but the file has only %zu; it is cut "
               "off or not a safetensors file: download it again", where, (unsigned long long)len, size);
    HONE_CHECK(len <= MAX_HEADER, HONE_E_FORMAT, "%s: a header of %llu bytes is over the format's limit of %u", where,
               (unsigned long long)len, MAX_HEADER);
    HONE_CHECK(len >= 2 && data[8] == '{', HONE_E_FORMAT, "%s: its header does not start with '{'; it is not a safetensors "
               "file", where);
    *header = (size_t)len + 8;
    return HONE_OK;
}

static hone_status check_metadata(const json_t *meta, const char *where)
{
    const char *key;
    json_t     *value;

    HONE_CHECK(json_is_object(meta), HONE_E_FORMAT, "%s: " METADATA " is %s instead of an object", where,
               hone_json_type_name(meta));
    json_object_foreach((json_t *)meta, key, value)
        HONE_CHECK(json_is_string(value), HONE_E_FORMAT, "%s: " METADATA " '%s' is %s instead of a string", where, key,
                   hone_json_type_name(value));
    return HONE_OK;
}

static hone_status read_dtype(hone_dtype *out, const json_t *v, const char *name, const char *where)
{
    static const char *const others[] = { "U16", "U32", "U64", "C64", "F4", "F6_E2M3", "F6_E3M2", "F8_E4M3", "F8_E5M2",
                                          "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ" };
    const char *text = json_string_value(v);

    HONE_CHECK(text, HONE_E_FORMAT, "%s: tensor '%s' has no \"dtype\"", where, name);
    for (int d = 0; d < HONE_DTYPE_COUNT; d++)
        if (strcmp(text, hone_dtype_file_name((hone_dtype)d)) == 0) {
            *out = (hone_dtype)d;
            return HONE_OK;
        }
    for (size_t i = 0; i < HONE_COUNTOF(others); i++)
        HONE_CHECK(strcmp(text, others[i]) != 0, HONE_E_UNSUPPORTED, "%s: tensor '%s' has dtype %s, which hone does not "
                   "implement; convert the model to BF16 or F32 first", where, name, text);
    return HONE_FAIL(HONE_E_FORMAT, "%s: tensor '%s' has the unknown dtype \"%s\"", where, name, text);
}

static hone_status read_shape(hone_safetensor *t, const json_t *shape, const char *where)
{
    HONE_CHECK(json_is_array(shape), HONE_E_FORMAT, "%s: tensor '%s' has no \"shape\" list", where, t->name);
    HONE_CHECK(json_array_size(shape) <= HONE_SAFETENSORS_MAX_RANK, HONE_E_UNSUPPORTED,
               "%s: tensor '%s' has %zu dimensions; hone reads at most %d", where, t->name, json_array_size(shape),
               HONE_SAFETENSORS_MAX_RANK);
    t->rank = (int)json_array_size(shape);
    t->numel = 1;
    for (int i = 0; i < t->rank; i++) {
        const json_t *d = json_array_get(shape, (size_t)i);

        HONE_CHECK(json_is_integer(d) && json_integer_value(d) >= 0, HONE_E_FORMAT,
                   "%s: tensor '%s': dimension %d of its shape is not a size", where, t->name, i);
        t->shape[i] = json_integer_value(d);
        HONE_CHECK(!__builtin_mul_overflow(t->numel, t->shape[i], &t->numel), HONE_E_FORMAT,
                   "%s: tensor '%s': its shape overflows", where, t->name);
    }
    HONE_CHECK(!__builtin_mul_overflow((size_t)t->numel, hone_dtype_bytes(t->dtype), &t->bytes), HONE_E_FORMAT,
               "%s: tensor '%s': its shape overflows", where, t->name);
    return HONE_OK;
}

/* A tensor with its byte range in the data, before the ranges are held against each other. */
typedef struct entry { hone_safetensor t; size_t begin, end, place; } entry;

static hone_status read_entry(entry *e, const char *name, const json_t *info, const char *where)
{
    const json_t *range, *begin, *end;

    e->t.name = name;
    HONE_CHECK(json_is_object(info), HONE_E_FORMAT, "%s: tensor '%s' is described by %s instead of an object", where, name,
               hone_json_type_name(info));
    HONE_TRY(read_dtype(&e->t.dtype, json_object_get(info, "dtype"), name, where));
    HONE_TRY(read_shape(&e->t, json_object_get(info, "shape"), where));
    range = json_object_get(info, "data_offsets");
    begin = json_array_get(range, 0);
    end = json_array_get(range, 1);
    HONE_CHECK(json_array_size(range) == 2 && json_is_integer(begin) && json_is_integer(end) &&
               json_integer_value(begin) >= 0 && json_integer_value(end) >= json_integer_value(begin), HONE_E_FORMAT,
               "%s: tensor '%s': \"data_offsets\" is not [begin, end]", where, name);
    e->begin = (size_t)json_integer_value(begin);
    e->end = (size_t)json_integer_value(end);
    HONE_CHECK(e->end - e->begin == e->t.bytes, HONE_E_FORMAT, "%s: tensor '%s': its shape and dtype need %zu bytes, but "
               "its data_offsets span %zu", where, name, e->t.bytes, e->end - e->begin);
    return HONE_OK;
}

static int by_offset(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The ranges must cover the data exactly. */
static hone_status check_ranges(const entry *e, size_t n, size_t size, const char *where)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        HONE_CHECK(e[i].begin >= at, HONE_E_FORMAT, "%s: tensors '%s' and '%s' overlap: the data of the second begins at "
                   "%zu, before the first ends at %zu", where, e[i - 1].t.name, e[i].t.name, e[i].begin, at);
        HONE_CHECK(e[i].begin == at, HONE_E_FORMAT, "%s: bytes %zu to %zu of the data, before tensor '%s', belong to no "
                   "tensor", where, at, e[i].begin, e[i].t.name);
        at = e[i].end;
        HONE_CHECK(at <= size, HONE_E_FORMAT, "%s: the file is cut off: the data of tensor '%s' ends at byte %zu, but only "
                   "%zu are there; download it again", where, e[i].t.name, at, size);
    }
    HONE_CHECK(at == size, HONE_E_FORMAT, "%s: %zu bytes follow the last tensor's data and belong to none; download it again",
               where, size - at);
    return HONE_OK;
}

static hone_status read_entries(hone_safetensors *f, const json_t *root, size_t data_size)
{
    hone_status st = HONE_OK;
    size_t      n = 0;
    const char *key;
    json_t     *info;
    entry      *e = hone_calloc(json_object_size(root), sizeof *e);

    f->tensors = hone_calloc(json_object_size(root), sizeof *f->tensors);
    if (!e || !f->tensors) {
        st = HONE_E_NOMEM;
        goto out;
    }
    json_object_foreach((json_t *)root, key, info) {
        if (strcmp(key, METADATA) == 0) {
            HONE_GO(check_metadata(info, f->where));
            f->metadata = json_incref(info);
            continue;
        }
        HONE_GO(hone_map_put(f->names, key, strlen(key), 0));
        e[n].place = n;
        HONE_GO(read_entry(&e[n], key, info, f->where));
        n++;
    }
    if (n)
        qsort(e, n, sizeof *e, by_offset);
    HONE_GO(check_ranges(e, n, data_size, f->where));
    for (size_t i = 0; i < n; i++) {
        hone_safetensor *t = &f->tensors[i];
        size_t           len;
        int64_t          unused;

        *t = e[i].t;
        t->name = hone_map_entry(f->names, e[i].place, &len, &unused);  /* the JSON tree goes away, the map stays */
        t->data = f->bytes + f->header + e[i].begin;
        HONE_GO(hone_map_put(f->names, t->name, len, (int64_t)i));
    }
    f->n = n;
out:
    hone_free(e);
    return st;
}

/* Takes over what `map` holds, also on failure. */
static hone_status parse(hone_safetensors **out, hone_mapped map, const void *data, size_t size, const char *where)
{
    hone_safetensors *f = hone_calloc(1, sizeof *f);
    json_t           *root = NULL;
    hone_status       st = HONE_OK;
    char             *place = NULL;

    *out = NULL;
    if (!f) {
        hone_file_unmap(&map);
        return HONE_E_NOMEM;
    }
    f->map = map;
    f->bytes = data;
    f->where = hone_strdup(where);
    place = hone_asprintf("%s: header", where);
    if (!f->where || !place) {
        st = HONE_E_NOMEM;
        goto out;
    }
    HONE_GO(hone_map_create(&f->names));
    HONE_GO(check_header(&f->header, f->bytes, size, where));
    HONE_GO(hone_json_parse(&root, (const char *)f->bytes + 8, f->header - 8, place));
    HONE_GO(read_entries(f, root, size - f->header));
out:
    json_decref(root);
    hone_free(place);
    if (st != HONE_OK)
        hone_safetensors_close(&f);
    *out = f;
    return st;
}

hone_status hone_safetensors_open(hone_safetensors **out, const char *path)
{
    hone_mapped map;

    *out = NULL;
    HONE_TRY(hone_file_map(&map, path));
    HONE_TRY(parse(out, map, map.data, map.size, path));
    return HONE_OK;
}

hone_status hone_safetensors_parse(hone_safetensors **out, const void *data, size_t size, const char *where)
{
    HONE_TRY(parse(out, (hone_mapped){ NULL, 0, NULL }, data, size, where));
    return HONE_OK;
}

void hone_safetensors_close(hone_safetensors **file)
{
    hone_safetensors *f = *file;

    if (!f)
        return;
    json_decref(f->metadata);
    hone_map_destroy(&f->names);
    hone_free(f->tensors);
    hone_free(f->where);
    hone_file_unmap(&f->map);
    hone_free(f);
    *file = NULL;
}

size_t hone_safetensors_len(const hone_safetensors *f) { return f->n; }
const hone_safetensor *hone_safetensors_at(const hone_safetensors *f, size_t i) { return &f->tensors[i]; }
const json_t *hone_safetensors_metadata(const hone_safetensors *f) { return f->metadata; }

const hone_safetensor *hone_safetensors_find(const hone_safetensors *f, const char *name)
{
    int64_t i = hone_map_get(f->names, name, strlen(name), -1);

    return i < 0 ? NULL : &f->tensors[i];
}
