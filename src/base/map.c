#include "base/map.h"

#include <string.h>
#include <xxhash.h>

#include "base/vec.h"

typedef struct map_entry { char *key; size_t len; uint64_t hash; int64_t value; } map_entry;

struct hone_map {
    HONE_VEC(map_entry) entries;
    uint32_t *slots;            /* index + 1 into entries; 0 = free */
    size_t    n_slots;          /* a power of two, at least twice the entries */
};

static size_t find_slot(const hone_map *m, const void *key, size_t len, uint64_t hash)
{
    size_t i = hash & (m->n_slots - 1);

    for (; m->slots[i]; i = (i + 1) & (m->n_slots - 1)) {
        const map_entry *e = &m->entries.data[m->slots[i] - 1];

        if (e->hash == hash && e->len == len && memcmp(e->key, key, len) == 0)
            break;
    }
    return i;
}

static hone_status grow(hone_map *m, size_t n_slots)
{
    uint32_t *slots = hone_calloc(n_slots, sizeof *slots);

    if (!slots)
        return HONE_E_NOMEM;
    hone_free(m->slots);
    m->slots = slots;
    m->n_slots = n_slots;
    for (size_t i = 0; i < m->entries.len; i++) {
        const map_entry *e = &m->entries.data[i];

        m->slots[find_slot(m, e->key, e->len, e->hash)] = (uint32_t)i + 1;
    }
    return HONE_OK;
}

hone_status hone_map_create(hone_map **out)
{
    hone_map *m = hone_calloc(1, sizeof *m);

    *out = NULL;
    if (!m)
        return HONE_E_NOMEM;
    if (grow(m, 16) != HONE_OK) {
        hone_free(m);
        return HONE_E_NOMEM;
    }
    *out = m;
    return HONE_OK;
}

void hone_map_destroy(hone_map **map)
{
    hone_map *m = *map;

    if (!m)
        return;
    for (size_t i = 0; i < m->entries.len; i++)
        hone_free(m->entries.data[i].key);
    HONE_VEC_DEINIT(&m->entries);
    hone_free(m->slots);
    hone_free(m);
    *map = NULL;
}

hone_status hone_map_put(hone_map *m, const void *key, size_t len, int64_t value)
{
    uint64_t hash = XXH3_64bits(key, len);
    size_t   i = find_slot(m, key, len, hash);
    char    *copy;

    if (m->slots[i]) {
        m->entries.data[m->slots[i] - 1].value = value;
        return HONE_OK;
    }
    if (2 * (m->entries.len + 1) > m->n_slots) {
        HONE_TRY(grow(m, 2 * m->n_slots));
        i = find_slot(m, key, len, hash);
    }
    copy = hone_strndup(key, len);
    if (!copy)
        return HONE_E_NOMEM;
    if (HONE_VEC_PUSH(&m->entries, (map_entry){ copy, len, hash, value }) != HONE_OK) {
        hone_free(copy);
        return HONE_E_NOMEM;
    }
    m->slots[i] = (uint32_t)m->entries.len;
    return HONE_OK;
}

int64_t hone_map_get(const hone_map *m, const void *key, size_t len, int64_t absent)
{
    size_t i = find_slot(m, key, len, XXH3_64bits(key, len));

    return m->slots[i] ? m->entries.data[m->slots[i] - 1].value : absent;
}

size_t hone_map_len(const hone_map *m) { return m->entries.len; }

const char *hone_map_entry(const hone_map *m, size_t i, size_t *len, int64_t *value)
{
    const map_entry *e = &m->entries.data[i];

    if (len)
        *len = e->len;
    if (value)
        *value = e->value;
    return e->key;
}
