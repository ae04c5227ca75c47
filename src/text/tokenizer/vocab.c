/* A model's vocabulary, held compactly: one arena of contents, an index by id and a hash index by content. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/utf8.h"
#include "text/tokenizer/cache.h"

/* What stands before a content in the arena. */
typedef struct head { uint32_t len; int32_t id; } head;

static head head_at(const tok_vocab *v, uint32_t at)
{
    head h;

    memcpy(&h, v->arena.data + at, sizeof h);
    return h;
}

static const char *content_at(const tok_vocab *v, uint32_t at) { return v->arena.data + at + sizeof(head); }

static uint32_t hash_of(const char *content, size_t n) { return (uint32_t)XXH3_64bits(content, n); }

/* Slot that holds `content`, or the free one where it belongs. */
static size_t slot_of(const tok_vocab *v, const char *content, size_t n, uint32_t hash)
{
    size_t mask = v->n_slots - 1, i = hash & mask;

    for (; v->slots[i]; i = (i + 1) & mask) {
        uint32_t at = (uint32_t)v->slots[i] - 1;

        if ((uint32_t)(v->slots[i] >> 32) == hash && head_at(v, at).len == n && memcmp(content_at(v, at), content, n) == 0)
            break;
    }
    return i;
}

static hone_status grow_slots(tok_vocab *v)
{
    size_t    n = v->n_slots ? 2 * v->n_slots : 1024;
    uint64_t *slots = hone_calloc(n, sizeof *slots);

    if (!slots)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < v->n_slots; i++) {
        size_t j;

        if (!v->slots[i])
            continue;
        for (j = (v->slots[i] >> 32) & (n - 1); slots[j]; j = (j + 1) & (n - 1))
            ;
        slots[j] = v->slots[i];
    }
    hone_free(v->slots);
    v->slots = slots;
    v->n_slots = n;
    return HONE_OK;
}

static hone_status grow_ids(tok_vocab *v, size_t want)
{
    size_t    cap = HONE_MAX(want, v->at_cap + v->at_cap / 2 + 1024);
    uint32_t *at = hone_realloc(v->at, cap, sizeof *at);

    if (!at)
        return HONE_E_NOMEM;
    memset(at + v->at_cap, 0, (cap - v->at_cap) * sizeof *at);
    v->at = at;
    v->at_cap = cap;
    return HONE_OK;
}

hone_status tok_vocab_add(tok_vocab *v, const char *content, size_t n, int64_t id)
{
    uint32_t hash = hash_of(content, n);
    size_t   at = v->arena.len, slot;
    head     h = { (uint32_t)n, (int32_t)id };

    HONE_CHECK(id >= 0 && id <= TOK_MAX_ID, HONE_E_FORMAT, "token \"%.*s\" has id %lld; ids go from 0 to %d",
               (int)HONE_MIN(n, (size_t)80), content, (long long)id, TOK_MAX_ID);
    HONE_CHECK(n + at < UINT32_MAX - 16, HONE_E_FORMAT, "the vocabulary is larger than 4 GiB");
    if (2 * (v->n + 1) > v->n_slots)
        HONE_TRY(grow_slots(v));
    if ((size_t)id >= v->at_cap)
        HONE_TRY(grow_ids(v, (size_t)id + 1));
    HONE_CHECK(!v->at[id], HONE_E_FORMAT, "tokens \"%.80s\" and \"%.*s\" have the same id %lld",
               content_at(v, v->at[id] - 1), (int)HONE_MIN(n, (size_t)80), content, (long long)id);
    slot = slot_of(v, content, n, hash);
    HONE_CHECK(!v->slots[slot] || v->repeats, HONE_E_FORMAT, "token \"%.*s\" is there twice", (int)HONE_MIN(n, (size_t)80), content);
    hone_str_append(&v->arena, &h, sizeof h);
    hone_str_append(&v->arena, content, n);
    hone_str_putc(&v->arena, '\0');
    HONE_TRY(hone_str_ok(&v->arena));
    v->at[id] = (uint32_t)at + 1;
    v->n += v->slots[slot] == 0;
    v->slots[slot] = (uint64_t)hash << 32 | ((uint32_t)at + 1);
    v->end = HONE_MAX(v->end, (int32_t)id + 1);
    return HONE_OK;
}

int32_t tok_vocab_find(const tok_vocab *v, const char *content, size_t n)
{
    uint64_t s = v->n_slots ? v->slots[slot_of(v, content, n, hash_of(content, n))] : 0;

    return s ? head_at(v, (uint32_t)s - 1).id : -1;
}

void tok_vocab_prefetch(const tok_vocab *v, const char *content, size_t n)
{
    if (v->n_slots)
        __builtin_prefetch(&v->slots[hash_of(content, n) & (v->n_slots - 1)]);
}

const char *tok_vocab_content(const tok_vocab *v, int32_t id, size_t *n)
{
    if (id < 0 || (size_t)id >= v->at_cap || !v->at[id])
        return NULL;
    *n = head_at(v, v->at[id] - 1).len;
    return content_at(v, v->at[id] - 1);
}

void tok_vocab_deinit(tok_vocab *v)
{
    if (!v->borrowed) {
        hone_str_deinit(&v->arena);
        hone_free(v->at);
        hone_free(v->slots);
    }
    *v = (tok_vocab){ 0 };
}

void tok_vocab_save(const tok_vocab *v, tok_tables *to)
{
    uint64_t numbers[] = { v->n, (uint64_t)v->end, v->repeats };

    tok_tables_put(to, numbers, HONE_COUNTOF(numbers), sizeof *numbers);
    tok_tables_put(to, hone_str_c(&v->arena), v->arena.len, 1);
    tok_tables_put(to, v->at, v->at_cap, sizeof *v->at);
    tok_tables_put(to, v->slots, v->n_slots, sizeof *v->slots);
}

bool tok_vocab_load(tok_vocab *v, tok_tables *from)
{
    const void *numbers, *arena, *at, *slots;
    uint64_t    x[3];
    size_t      n;

    if (!tok_tables_get(from, &numbers, &n, sizeof *x) || n != HONE_COUNTOF(x) || !tok_tables_get(from, &arena, &v->arena.len, 1) ||
        !tok_tables_get(from, &at, &v->at_cap, sizeof *v->at) || !tok_tables_get(from, &slots, &v->n_slots, sizeof *v->slots)) {
        *v = (tok_vocab){ 0 };
        return false;
    }
    memcpy(x, numbers, sizeof x);
    v->arena.data = (char *)(uintptr_t)arena;
    v->at = (uint32_t *)(uintptr_t)at;
    v->slots = (uint64_t *)(uintptr_t)slots;
    v->n = (size_t)x[0];
    v->end = (int32_t)x[1];
    v->repeats = x[2] != 0;
    v->borrowed = true;
    return true;
}

/* ---- byte-level alphabet: printable Latin-1 stands for itself, the other 68 bytes are U+0100 … U+0143 in order ---- */

static bool printable(uint32_t b) { return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF); }

uint32_t tok_byte_char(uint8_t byte)
{
    if (printable(byte))
        return byte;
    if (byte <= 0x20)
        return 0x100u + byte;
    return byte < 0xAD ? 0x121u + (byte - 0x7Fu) : 0x143u;
}

int tok_char_byte(uint32_t cp)
{
    if (cp < 0x100)
        return printable(cp) ? (int)cp : -1;
    if (cp <= 0x120)
        return (int)(cp - 0x100);
    if (cp <= 0x142)
        return (int)(cp - 0x121 + 0x7F);
    return cp == 0x143 ? 0xAD : -1;
}

void tok_bytes_to_chars(hone_str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char   c[4];
        size_t len = hone_utf8_encode(tok_byte_char((uint8_t)s[i]), c);

        hone_str_append(out, c, len);
    }
}

void tok_chars_to_bytes(hone_str *out, const char *content, size_t n)
{
    size_t start = out->len, len;

    for (size_t i = 0; i < n; i += len) {
        int b = tok_char_byte(hone_utf8_decode(content + i, &len));

        if (b < 0) {
            if (!out->failed)
                out->len = start;
            hone_str_append(out, content, n);
            return;
        }
        hone_str_putc(out, (char)b);
    }
}
