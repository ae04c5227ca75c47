/*
 * Byte pair encoding (Sennrich et al. 2016, "Neural machine translation of rare words with subword units"): of all
 * neighbours that may merge, the pair of lowest rank does, the leftmost first, until none may.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/utf8.h"
#include "text/tokenizer/parts.h"

enum { SHORT_WORD = 48 };       /* symbols up to which scanning for the lowest rank beats a heap */

#define NO_RANK UINT32_MAX
#define NO_POS  UINT32_MAX

typedef struct merge { uint64_t pair; uint32_t rank; int32_t id; } merge;   /* pair: left << 32 | right + 1; 0 = free */

struct tok_bpe {
    const tok_vocab *vocab;
    merge           *merges;
    size_t           n_slots, n;
    hone_str         prefix, suffix;        /* continuing_subword_prefix, end_of_word_suffix */
    hone_str         unk_token;
    bool             has_unk, fuse_unk, ignore_merges, bytes;
    bool             byte_fallback;
    int32_t          next_joined;           /* id that the next merge gives if ids follow the order of merges */
    int32_t          unk_id;                /* -1: the vocabulary lacks it */
    int32_t          byte_char[256];        /* id of the character of a byte in the byte-level alphabet, or -1 */
    int32_t          fallback[256];         /* id of "<0x41>" */
};

static uint64_t pair_key(int32_t a, int32_t b) { return (uint64_t)(uint32_t)a << 32 | ((uint32_t)b + 1); }

static size_t pair_hash(uint64_t pair) { return (size_t)((pair * UINT64_C(0x9E3779B97F4A7C15)) >> 24); }

static const merge *find_merge(const tok_bpe *m, int32_t a, int32_t b)
{
    uint64_t key = pair_key(a, b);
    size_t   mask = m->n_slots - 1, i = pair_hash(key) & mask;

    for (; m->merges[i].pair; i = (i + 1) & mask)
        if (m->merges[i].pair == key)
            return &m->merges[i];
    return NULL;
}

static hone_status grow_merges(tok_bpe *m, size_t n)
{
    merge *slots = hone_calloc(n, sizeof *slots);

    if (!slots)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < m->n_slots; i++) {
        size_t j;

        if (!m->merges[i].pair)
            continue;
        for (j = pair_hash(m->merges[i].pair) & (n - 1); slots[j].pair; j = (j + 1) & (n - 1))
            ;
        slots[j] = m->merges[i];
    }
    hone_free(m->merges);
    m->merges = slots;
    m->n_slots = n;
    return HONE_OK;
}

hone_status tok_bpe_create(tok_bpe **out, const tok_vocab *vocab, const tok_bpe_options *o)
{
    tok_bpe *m = *out = hone_calloc(1, sizeof *m);

    if (!m)
        return HONE_E_NOMEM;
    m->vocab = vocab;
    m->fuse_unk = o->fuse_unk;
    m->byte_fallback = o->byte_fallback;
    m->ignore_merges = o->ignore_merges;
    m->has_unk = o->unk_token != NULL;
    hone_str_puts(&m->unk_token, o->unk_token ? o->unk_token : "");
    hone_str_puts(&m->prefix, o->prefix ? o->prefix : "");
    hone_str_puts(&m->suffix, o->suffix ? o->suffix : "");
    m->unk_id = o->unk_token ? tok_vocab_find(vocab, o->unk_token, strlen(o->unk_token)) : -1;
    for (int b = 0; b < 256; b++) {
        char name[8], c[4];

        m->byte_char[b] = tok_vocab_find(vocab, c, hone_utf8_encode(tok_byte_char((uint8_t)b), c));
        m->fallback[b] = tok_vocab_find(vocab, name, (size_t)snprintf(name, sizeof name, "<0x%02X>", (unsigned)b));
    }
    if (grow_merges(m, 1024) != HONE_OK || hone_str_ok(&m->unk_token) != HONE_OK || hone_str_ok(&m->prefix) != HONE_OK ||
        hone_str_ok(&m->suffix) != HONE_OK) {
        tok_bpe_destroy(out);
        return HONE_E_NOMEM;
    }
    return HONE_OK;
}

void tok_bpe_destroy(tok_bpe **bpe)
{
    tok_bpe *m = *bpe;

    if (!m)
        return;
    hone_free(m->merges);
    hone_str_deinit(&m->prefix);
    hone_str_deinit(&m->suffix);
    hone_str_deinit(&m->unk_token);
    hone_free(m);
    *bpe = NULL;
}

static hone_status unknown_in_merge(const char *a, size_t na, const char *b, size_t nb, const char *which, size_t n)
{
    return HONE_FAIL(HONE_E_FORMAT, "merge \"%.*s %.*s\": the vocabulary has no token \"%.*s\"",
                     (int)HONE_MIN(na, (size_t)80), a, (int)HONE_MIN(nb, (size_t)80), b, (int)HONE_MIN(n, (size_t)160),
                     which);
}

/* Id of a merge's result. Vocabularies mostly number them in the order of the merges, which saves a search. */
static int32_t find_joined(tok_bpe *m, const char *joined, size_t n)
{
    size_t      len = 0;
    const char *guess = tok_vocab_content(m->vocab, m->next_joined, &len);
    int32_t     id = m->next_joined;

    if (!guess || len != n || memcmp(guess, joined, n) != 0)
        id = tok_vocab_find(m->vocab, joined, n);
    if (id >= 0)
        m->next_joined = id + 1;
    return id;
}

hone_status tok_bpe_add_merge(tok_bpe *m, uint32_t rank, const char *a, size_t na, const char *b, size_t nb)
{
    size_t   skip = m->prefix.len, i;
    int32_t  left, right, id;
    uint64_t key;
    char     both[256], *joined = both;

    tok_vocab_prefetch(m->vocab, b, nb);
    left = tok_vocab_find(m->vocab, a, na);
    right = tok_vocab_find(m->vocab, b, nb);
    if (left < 0)
        return unknown_in_merge(a, na, b, nb, a, na);
    if (right < 0)
        return unknown_in_merge(a, na, b, nb, b, nb);
    HONE_CHECK(nb >= skip, HONE_E_FORMAT, "merge \"%.*s %.*s\": the second token lacks the prefix \"%s\"",
               (int)HONE_MIN(na, (size_t)80), a, (int)nb, b, hone_str_c(&m->prefix));
    if (na + nb > sizeof both && !(joined = hone_calloc(na + nb, 1)))
        return HONE_E_NOMEM;
    memcpy(joined, a, na);
    memcpy(joined + na, b + skip, nb - skip);
    id = find_joined(m, joined, na + nb - skip);
    if (id < 0)
        (void)unknown_in_merge(a, na, b, nb, joined, na + nb - skip);
    if (joined != both)
        hone_free(joined);
    if (id < 0)
        return HONE_E_FORMAT;
    if (2 * (m->n + 1) > m->n_slots)
        HONE_TRY(grow_merges(m, 2 * m->n_slots));
    key = pair_key(left, right);
    for (i = pair_hash(key) & (m->n_slots - 1); m->merges[i].pair && m->merges[i].pair != key;)
        i = (i + 1) & (m->n_slots - 1);
    m->n += m->merges[i].pair == 0;
    m->merges[i] = (merge){ key, rank, id };        /* of a pair that is there twice, the last counts */
    return HONE_OK;
}

void tok_bpe_finish(tok_bpe *m, bool bytes)
{
    m->bytes = bytes && m->prefix.len == 0 && m->suffix.len == 0;
    for (int b = 0; b < 256; b++)
        m->bytes = m->bytes && m->byte_char[b] >= 0;
}

bool tok_bpe_reads_bytes(const tok_bpe *m) { return m->bytes; }

/* ---- merging ---- */

static void rank_pair(const tok_bpe *m, tok_symbol *left, const tok_symbol *right)
{
    const merge *p = find_merge(m, left->id, right->id);

    left->rank = p ? p->rank : NO_RANK;
    left->joined = p ? p->id : -1;
}

/* Merge s[0..n) in place by scanning; returns how many are left. */
static size_t merge_short(const tok_bpe *m, tok_symbol *s, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        rank_pair(m, &s[i], &s[i + 1]);
    while (n > 1) {
        size_t   best = 0;
        uint32_t rank = s[0].rank;

        for (size_t i = 1; i + 1 < n; i++)
            if (s[i].rank < rank) {
                rank = s[i].rank;
                best = i;
            }
        if (rank == NO_RANK)
            break;
        s[best].id = s[best].joined;
        s[best].len += s[best + 1].len;
        n--;
        memmove(&s[best + 1], &s[best + 2], (n - best - 1) * sizeof *s);
        if (best + 1 < n)
            rank_pair(m, &s[best], &s[best + 1]);
        else
            s[best].rank = NO_RANK;
        if (best > 0)
            rank_pair(m, &s[best - 1], &s[best]);
    }
    return n;
}

static hone_status heap_push(tok_work *w, uint64_t key)
{
    size_t i = w->heap.len;

    HONE_TRY(HONE_VEC_PUSH(&w->heap, key));
    for (; i > 0 && w->heap.data[(i - 1) / 2] > key; i = (i - 1) / 2)
        w->heap.data[i] = w->heap.data[(i - 1) / 2];
    w->heap.data[i] = key;
    return HONE_OK;
}

static uint64_t heap_pop(tok_work *w)
{
    uint64_t *h = w->heap.data, top = h[0], last = h[--w->heap.len];
    size_t    n = w->heap.len, i = 0;

    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && h[child + 1] < h[child])
            child++;
        if (h[child] >= last)
            break;
        h[i] = h[child];
    }
    if (n)
        h[i] = last;
    return top;
}

static hone_status rank_and_push(const tok_bpe *m, tok_work *w, uint32_t left)
{
    tok_symbol *s = w->symbols.data;

    rank_pair(m, &s[left], &s[s[left].next]);
    return s[left].rank == NO_RANK ? HONE_OK : heap_push(w, (uint64_t)s[left].rank << 32 | left);
}

/* Merge w->symbols with a heap of (rank, place); an entry is stale when its symbol's pair has changed since. */
static hone_status merge_long(const tok_bpe *m, tok_work *w)
{
    tok_symbol *s = w->symbols.data;
    size_t      n = w->symbols.len, out = 0;

    w->heap.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        s[i].prev = i ? i - 1 : NO_POS;
        s[i].next = i + 1 < n ? i + 1 : NO_POS;
        s[i].rank = NO_RANK;
    }
    for (uint32_t i = 0; i + 1 < n; i++)
        HONE_TRY(rank_and_push(m, w, i));
    while (w->heap.len) {
        uint64_t top = heap_pop(w);
        uint32_t at = (uint32_t)top, gone;

        if (s[at].len == 0 || s[at].rank != top >> 32)
            continue;
        gone = s[at].next;
        s[at].id = s[at].joined;
        s[at].len += s[gone].len;
        s[at].next = s[gone].next;
        s[at].rank = NO_RANK;
        s[gone].len = 0;
        if (s[at].next != NO_POS) {
            s[s[at].next].prev = at;
            HONE_TRY(rank_and_push(m, w, at));
        }
        if (s[at].prev != NO_POS)
            HONE_TRY(rank_and_push(m, w, s[at].prev));
    }
    for (uint32_t i = 0; i != NO_POS && n; i = s[i].next)
        s[out++] = s[i];
    w->symbols.len = out;
    return HONE_OK;
}

/* ---- words to symbols ---- */

static hone_status push_symbol(tok_work *w, int32_t id, uint32_t len)
{
    return HONE_VEC_PUSH(&w->symbols, (tok_symbol){ .id = id, .len = len });
}

typedef struct pending_unk { bool there; uint32_t len; } pending_unk;

static hone_status flush_unk(const tok_bpe *m, tok_work *w, pending_unk *unk)
{
    if (unk->there)
        HONE_TRY(push_symbol(w, m->unk_id, unk->len));
    unk->there = false;
    return HONE_OK;
}

/* A character that the vocabulary lacks. Without unk_token it vanishes, as in the reference. */
static hone_status push_unknown(const tok_bpe *m, tok_work *w, pending_unk *unk, const char *c, size_t n, uint32_t len)
{
    if (m->byte_fallback) {
        size_t have = 0;

        while (have < n && m->fallback[(uint8_t)c[have]] >= 0)
            have++;
        if (have == n) {
            for (size_t i = 0; i < n; i++)
                HONE_TRY(push_symbol(w, m->fallback[(uint8_t)c[i]], 1));
            return HONE_OK;
        }
    }
    if (!m->has_unk)
        return HONE_OK;
    HONE_CHECK(m->unk_id >= 0, HONE_E_DATA, "the text has a character (\"%.*s\") that needs the unknown token \"%s\", "
               "which the vocabulary lacks", (int)n, c, hone_str_c(&m->unk_token));
    if (unk->there && !m->fuse_unk)
        HONE_TRY(flush_unk(m, w, unk));
    unk->len = unk->there ? unk->len + len : len;
    unk->there = true;
    return HONE_OK;
}

static hone_status char_symbols(const tok_bpe *m, tok_work *w, const char *s, size_t n)
{
    pending_unk unk = { 0 };
    size_t      len;

    for (size_t i = 0; i < n; i += len) {
        const char *c = s + i;
        size_t      nc;
        int32_t     id;

        nc = len = hone_utf8_len((unsigned char)s[i]);
        if ((i > 0 && m->prefix.len) || (i + len == n && m->suffix.len)) {
            hone_str_clear(&w->lookup);
            if (i > 0)
                hone_str_append(&w->lookup, m->prefix.data, m->prefix.len);
            hone_str_append(&w->lookup, c, len);
            if (i + len == n)
                hone_str_append(&w->lookup, m->suffix.data, m->suffix.len);
            HONE_TRY(hone_str_ok(&w->lookup));
            c = w->lookup.data;
            nc = w->lookup.len;
        }
        id = tok_vocab_find(m->vocab, c, nc);
        if (id < 0) {
            HONE_TRY(push_unknown(m, w, &unk, c, nc, (uint32_t)len));
            continue;
        }
        HONE_TRY(flush_unk(m, w, &unk));
        HONE_TRY(push_symbol(w, id, (uint32_t)len));
    }
    return flush_unk(m, w, &unk);
}

static hone_status encode_word(const tok_bpe *m, tok_work *w, const char *s, size_t n)
{
    w->symbols.len = 0;
    if (m->ignore_merges) {
        int32_t id;

        if (m->bytes) {
            hone_str_clear(&w->lookup);
            tok_bytes_to_chars(&w->lookup, s, n);
            HONE_TRY(hone_str_ok(&w->lookup));
            id = tok_vocab_find(m->vocab, w->lookup.data, w->lookup.len);
        } else {
            id = tok_vocab_find(m->vocab, s, n);
        }
        if (id >= 0)
            return push_symbol(w, id, (uint32_t)n);
    }
    HONE_TRY(HONE_VEC_RESERVE(&w->symbols, n));
    if (m->bytes)
        for (size_t i = 0; i < n; i++)
            w->symbols.data[w->symbols.len++] = (tok_symbol){ .id = m->byte_char[(uint8_t)s[i]], .len = 1 };
    else
        HONE_TRY(char_symbols(m, w, s, n));
    if (w->symbols.len > SHORT_WORD)
        return merge_long(m, w);
    w->symbols.len = merge_short(m, w->symbols.data, w->symbols.len);
    return HONE_OK;
}

static void remember(tok_cached *slot, const tok_work *w, const char *s, size_t n)
{
    if (n > TOK_CACHE_KEY || w->symbols.len > TOK_CACHE_IDS || w->symbols.len == 0)
        return;
    slot->key_len = (uint8_t)n;
    slot->n = (uint8_t)w->symbols.len;
    memcpy(slot->key, s, n);
    for (size_t i = 0; i < w->symbols.len; i++) {
        slot->id[i] = w->symbols.data[i].id;
        slot->len[i] = (uint8_t)w->symbols.data[i].len;
    }
}

hone_status tok_bpe_encode(const tok_bpe *m, tok_work *w, hone_encoding *out, const tok_view *v, uint32_t begin, uint32_t end)
{
    const char *s = v->s + begin;
    size_t      n = end - begin;
    tok_cached *slot = NULL;

    if (n <= TOK_CACHE_KEY) {
        slot = &w->cache[XXH3_64bits(s, n) & (TOK_CACHE_SLOTS - 1)];
        if (slot->key_len == n && memcmp(slot->key, s, n) == 0) {
            HONE_TRY(HONE_VEC_RESERVE(out, slot->n));
            for (size_t i = 0; i < slot->n; i++) {
                hone_span from = tok_view_span(v, begin, begin + slot->len[i]);

                out->data[out->len++] = (hone_token){ slot->id[i], from.begin, from.end };
                begin += slot->len[i];
            }
            return HONE_OK;
        }
    }
    HONE_TRY(encode_word(m, w, s, n));
    if (slot)
        remember(slot, w, s, n);
    HONE_TRY(HONE_VEC_RESERVE(out, w->symbols.len));
    for (size_t i = 0; i < w->symbols.len; i++) {
        hone_span from = tok_view_span(v, begin, begin + w->symbols.data[i].len);

        out->data[out->len++] = (hone_token){ w->symbols.data[i].id, from.begin, from.end };
        begin += w->symbols.data[i].len;
    }
    return HONE_OK;
}
