#include "text/tokenizer/cache.h"

#include "base/hash.h"

enum { ALIGN = 16, FORMAT = 1 };

/* Before the tables. Size and hash tell a damaged file, the format one of another version or byte order. */
typedef struct header {
    char     magic[8];
    uint64_t format, size;                  /* size: of all that follows */
    char     hash[40];                      /* of it */
} header;

static const char magic[8] = { 'h', 'o', 'n', 'e', 't', 'o', 'k', '\n' };

_Static_assert(sizeof(header) % ALIGN == 0, "tables begin aligned");

void tok_tables_put(tok_tables *t, const void *data, size_t n, size_t size)
{
    static const char zeros[ALIGN];
    uint64_t          head[2] = { n, size };

    hone_str_append(&t->out, head, sizeof head);
    hone_str_append(&t->out, data, n * size);
    hone_str_append(&t->out, zeros, (ALIGN - n * size % ALIGN) % ALIGN);
}

bool tok_tables_get(tok_tables *t, const void **data, size_t *n, size_t size)
{
    uint64_t head[2], bytes;

    if (t->map.size - t->at < sizeof head)
        return false;
    memcpy(head, t->map.data + t->at, sizeof head);
    if (head[1] != size || __builtin_mul_overflow(head[0], head[1], &bytes) || bytes > t->map.size - t->at - sizeof head)
        return false;
    *data = t->map.data + t->at + sizeof head;
    *n = (size_t)head[0];
    t->at += sizeof head + bytes + (ALIGN - bytes % ALIGN) % ALIGN;
    t->at = HONE_MIN(t->at, t->map.size);
    return true;
}

/* The folder; NULL if there is to be no cache. Owned. */
static char *cache_dir(void)
{
    const char *own = getenv("HONE_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (own)
        return *own ? hone_strdup(own) : NULL;
    if (xdg && *xdg == '/')
        return hone_path_join(xdg, "hone");
    return home && *home == '/' ? hone_path_join(home, ".cache/hone") : NULL;
}

static char *cache_path(const char *dir, const char *text, size_t n)
{
    char name[64];

    snprintf(name, sizeof name, "tokenizer-%s", hone_hash_bytes(text, n).hex);
    return hone_path_join(dir, name);
}

static bool is_whole(const hone_mapped *map)
{
    header h;

    if (map->size < sizeof h)
        return false;
    memcpy(&h, map->data, sizeof h);
    return memcmp(h.magic, magic, sizeof magic) == 0 && h.format == FORMAT && h.size == map->size - sizeof h &&
           memcmp(h.hash, hone_hash_bytes(map->data + sizeof h, h.size).hex, 32) == 0;
}

tok_tables *tok_cache_open(const char *text, size_t n)
{
    char       *dir = cache_dir(), *path = dir ? cache_path(dir, text, n) : NULL;
    tok_tables *t = path && hone_path_exists(path) ? hone_calloc(1, sizeof *t) : NULL;

    if (t && (hone_file_map(&t->map, path) != HONE_OK || !is_whole(&t->map)))
        tok_cache_close(&t);
    if (t)
        t->at = sizeof(header);
    hone_free(path);
    hone_free(dir);
    hone_status_clear();
    return t;
}

void tok_cache_close(tok_tables **t)
{
    if (!*t)
        return;
    hone_file_unmap(&(*t)->map);
    hone_str_deinit(&(*t)->out);
    hone_free(*t);
    *t = NULL;
}

void tok_cache_write(const char *text, size_t n, const tok_tables *t)
{
    header       h = { .format = FORMAT, .size = t->out.len };
    char        *dir = t->out.failed ? NULL : cache_dir(), *path = dir ? cache_path(dir, text, n) : NULL;
    hone_writer *w = NULL;

    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.hash, hone_hash_bytes(t->out.data, t->out.len).hex, 32);
    if (path && hone_dir_make(dir) == HONE_OK && hone_writer_create(&w, path) == HONE_OK &&
        hone_writer_write(w, &h, sizeof h) == HONE_OK && hone_writer_write(w, t->out.data, t->out.len) == HONE_OK)
        (void)!hone_writer_commit(&w);
    hone_writer_abandon(&w);
    hone_free(path);
    hone_free(dir);
    hone_status_clear();
}
