/*
 * Byte pair encoding (Sennrich et al. 2016, "Neural machine translation of rare words with subword units"): of all
 * neighbours that may merge, the pair of lowest rank does, the leftmost first, until none may.
 */
#include "base/utf8.h"
#include "text/tokenizer/cache.h"

enum { SHORT_WORD = 48 };       /* symbols up to which scanning for the lowest rank beats a heap */

#define NO_RANK UINT32_MAX
#define NO_POS  UINT32_MAX

typedef struct merge { uint64_t pair; uint32_t rank; int32_t id; } merge;   /* pair: left << 32 | right + 1; 0 = free */

/* Ids of the tokens that are one character, by code point: pages of 256, page 0 for the characters without. */
typedef struct char_ids { uint16_t page[0x110000 / 256]; int32_t *ids; size_t n_pages; } char_ids;

/*
 * Pairs of characters between which a merge may join: the last of its left token, the first of its right one. Where two
 * characters of the vocabulary meet and are no such pair, no merge ever joins across, so a piece may be cut there. A text that
 * no pre-tokenizer cuts falls so into words.
 */
typedef struct char_pairs {
    uint64_t  ascii[128][2];        /* a bit for each pair below 128 */
    uint64_t *slots;                /* first << 32 | second + 1; 0 = free */
    size_t    n_slots, n;
} char_pairs;

typedef struct bpe {
    tok_model   m;
    merge      *merges;
    size_t      n_slots, n;
    hone_str    prefix, suffix;     /* continuing_subword_prefix, end_of_word_suffix */
    hone_str    unk_token;
    bool        has_unk, fuse_unk, ignore_merges, byte_fallback;
    bool        affixes;            /* prefix or suffix is not empty */
    int32_t     next_joined;        /* id that the next merge gives if ids follow the order of merges */
    int32_t     unk_id;             /* -1: the vocabulary lacks it */
    int32_t     byte_char[256];     /* id of the character of a byte in the byte-level alphabet, or -1 */
    int32_t     fallback[256];      /* id of "<0x41>" */
    char_ids    chars;              /* unless reads_bytes */
    char_pairs  joins;
    bool        borrowed;           /* merges and joins.slots are the cache's */
} bpe;

static const bpe *of(const tok_model *m) { return (const bpe *)m; }

/* ---- tables ---- */

static uint64_t pair_key(int32_t a, int32_t b) { return (uint64_t)(uint32_t)a << 32 | ((uint32_t)b + 1); }

static size_t pair_hash(uint64_t pair) { return (size_t)((pair * UINT64_C(0x9E3779B97F4A7C15)) >> 24); }

static const merge *find_merge(const bpe *m, int32_t a, int32_t b)
{
    uint64_t key = pair_key(a, b);
    size_t   mask = m->n_slots - 1, i = pair_hash(key) & mask;

    for (; m->merges[i].pair; i = (i + 1) & mask)
        if (m->merges[i].pair == key)
            return &m->merges[i];
    return NULL;
}

static hone_status grow_merges(bpe *m, size_t n)
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

static hone_status grow_pairs(char_pairs *p)
{
    size_t    n = p->n_slots ? 2 * p->n_slots : 1024;
    uint64_t *slots = hone_calloc(n, sizeof *slots);

    if (!slots)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < p->n_slots; i++) {
        size_t j;

        if (!p->slots[i])
            continue;
        for (j = pair_hash(p->slots[i]) & (n - 1); slots[j]; j = (j + 1) & (n - 1))
            ;
        slots[j] = p->slots[i];
    }
    hone_free(p->slots);
    p->slots = slots;
    p->n_slots = n;
    return HONE_OK;
}

static hone_status add_pair(char_pairs *p, uint32_t a, uint32_t b)
{
    uint64_t key = pair_key((int32_t)a, (int32_t)b);
    size_t   i;

    if (a < 128 && b < 128) {
        p->ascii[a][b / 64] |= UINT64_C(1) << b % 64;
        return HONE_OK;
    }
    if (2 * (p->n + 1) > p->n_slots)
        HONE_TRY(grow_pairs(p));
    for (i = pair_hash(key) & (p->n_slots - 1); p->slots[i]; i = (i + 1) & (p->n_slots - 1))
        if (p->slots[i] == key)
            return HONE_OK;
    p->slots[i] = key;
    p->n++;
    return HONE_OK;
}

static bool may_join(const char_pairs *p, uint32_t a, uint32_t b)
{
    uint64_t key = pair_key((int32_t)a, (int32_t)b);

    if (a < 128 && b < 128)
        return p->ascii[a][b / 64] >> b % 64 & 1;
    if (p->n_slots)
        for (size_t i = pair_hash(key) & (p->n_slots - 1); p->slots[i]; i = (i + 1) & (p->n_slots - 1))
            if (p->slots[i] == key)
                return true;
    return false;
}

static int32_t char_id(const char_ids *c, uint32_t cp) { return c->ids[(size_t)c->page[cp / 256] * 256 + cp % 256] - 1; }

/* The ids are one more than they are, so that fresh pages say "none". */
static hone_status find_chars(char_ids *c, const tok_vocab *vocab)
{
    size_t n_pages = 1, n, len;

    for (int32_t id = 0; id < vocab->end; id++) {
        const char *s = tok_vocab_content(vocab, id, &n);

        if (s && n && n == hone_utf8_len((unsigned char)*s)) {
            uint16_t *page = &c->page[hone_utf8_decode(s, &len) / 256];

            if (!*page)
                *page = (uint16_t)n_pages++;
        }
    }
    c->ids = hone_calloc(n_pages * 256, sizeof *c->ids);
    if (!c->ids)
        return HONE_E_NOMEM;
    for (int32_t id = 0; id < vocab->end; id++) {
        const char *s = tok_vocab_content(vocab, id, &n);
        uint32_t    cp;

        if (s && n && n == hone_utf8_len((unsigned char)*s)) {
            cp = hone_utf8_decode(s, &len);
            c->ids[(size_t)c->page[cp / 256] * 256 + cp % 256] = tok_vocab_find(vocab, s, n) + 1;
        }
    }
    return HONE_OK;
}

static void destroy(tok_model *model)
{
    bpe *m = (bpe *)model;

    if (!m->borrowed) {
        hone_free(m->merges);
        hone_free(m->joins.slots);
    }
    hone_free(m->chars.ids);
    hone_str_deinit(&m->prefix);
    hone_str_deinit(&m->suffix);
    hone_str_deinit(&m->unk_token);
    hone_free(m);
}

static hone_status start(bpe *m, const tok_bpe_options *o)
{
    const tok_vocab *vocab = m->m.vocab;

    m->fuse_unk = o->fuse_unk;
    m->byte_fallback = o->byte_fallback;
    m->ignore_merges = o->ignore_merges;
    m->has_unk = o->unk_token != NULL;
    hone_str_puts(&m->unk_token, o->unk_token ? o->unk_token : "");
    hone_str_puts(&m->prefix, o->prefix ? o->prefix : "");
    hone_str_puts(&m->suffix, o->suffix ? o->suffix : "");
    HONE_TRY(hone_str_ok(&m->unk_token));
    HONE_TRY(hone_str_ok(&m->prefix));
    HONE_TRY(hone_str_ok(&m->suffix));
    m->affixes = m->prefix.len || m->suffix.len;
    m->unk_id = o->unk_token ? tok_vocab_find(vocab, o->unk_token, strlen(o->unk_token)) : -1;
    m->m.reads_bytes = o->bytes && !m->affixes;
    for (int b = 0; b < 256; b++) {
        char c[4];

        m->byte_char[b] = tok_vocab_find(vocab, c, hone_utf8_encode(tok_byte_char((uint8_t)b), c));
        m->m.reads_bytes = m->m.reads_bytes && m->byte_char[b] >= 0;
    }
    tok_find_fallback(m->fallback, vocab);
    if (!m->m.reads_bytes)
        HONE_TRY(find_chars(&m->chars, vocab));
    return grow_merges(m, 1024);
}

static hone_status unknown_in_merge(const char *a, size_t na, const char *b, size_t nb, const char *which, size_t n)
{
    return HONE_FAIL(HONE_E_FORMAT, "merge \"%.*s %.*s\": the vocabulary has no token \"%.*s\"",
                     (int)HONE_MIN(na, (size_t)80), a, (int)HONE_MIN(nb, (size_t)80), b, (int)HONE_MIN(n, (size_t)160),
                     which);
}

/* Id of a merge's result. Vocabularies mostly number them in the order of the merges, which saves a search. */
static int32_t find_joined(bpe *m, const char *joined, size_t n)
{
    size_t      len = 0;
    const char *guess = tok_vocab_content(m->m.vocab, m->next_joined, &len);
    int32_t     id = m->next_joined;

    if (!guess || len != n || memcmp(guess, joined, n) != 0)
        id = tok_vocab_find(m->m.vocab, joined, n);
    if (id >= 0)
        m->next_joined = id + 1;
    return id;
}

/* Note between which characters the merge of a and b joins. */
static hone_status note_join(bpe *m, const char *a, size_t na, const char *b)
{
    size_t last = na - 1, len;

    while (last > 0 && ((unsigned char)a[last] & 0xC0) == 0x80)
        last--;
    return add_pair(&m->joins, hone_utf8_decode(a + last, &len), hone_utf8_decode(b, &len));
}

hone_status tok_bpe_add_merge(tok_model *model, uint32_t rank, const char *a, size_t na, const char *b, size_t nb)
{
    bpe     *m = (bpe *)model;
    size_t   skip = m->prefix.len, i;
    int32_t  left, right, id;
    uint64_t key;
    char     both[256], *joined = both;

    tok_vocab_prefetch(m->m.vocab, b, nb);
    left = tok_vocab_find(m->m.vocab, a, na);
    right = tok_vocab_find(m->m.vocab, b, nb);
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
    return m->m.reads_bytes || m->affixes || na == 0 || nb == 0 ? HONE_OK : note_join(m, a, na, b);
}

static void save(const tok_model *model, tok_tables *to)
{
    const bpe *m = of(model);
    uint64_t   numbers[] = { m->n, m->joins.n, m->m.reads_bytes };

    tok_tables_put(to, numbers, HONE_COUNTOF(numbers), sizeof *numbers);
    tok_tables_put(to, m->merges, m->n_slots, sizeof *m->merges);
    tok_tables_put(to, m->joins.ascii, HONE_COUNTOF(m->joins.ascii), sizeof *m->joins.ascii);
    tok_tables_put(to, m->joins.slots, m->joins.n_slots, sizeof *m->joins.slots);
}

bool tok_bpe_load(tok_model *model, tok_tables *from)
{
    bpe        *m = (bpe *)model;
    const void *numbers, *merges, *ascii, *slots;
    size_t      n, n_ascii, n_merges, n_slots;
    uint64_t    x[3];

    if (!tok_tables_get(from, &numbers, &n, sizeof *x) || n != HONE_COUNTOF(x) ||
        !tok_tables_get(from, &merges, &n_merges, sizeof *m->merges) || n_merges == 0 ||
        !tok_tables_get(from, &ascii, &n_ascii, sizeof *m->joins.ascii) || n_ascii != HONE_COUNTOF(m->joins.ascii) ||
        !tok_tables_get(from, &slots, &n_slots, sizeof *m->joins.slots))
        return false;
    memcpy(x, numbers, sizeof x);
    if (x[2] != m->m.reads_bytes)
        return false;
    hone_free(m->merges);
    m->merges = (merge *)(uintptr_t)merges;
    m->n_slots = n_merges;
    m->n = (size_t)x[0];
    m->joins.n = (size_t)x[1];
    m->joins.slots = (uint64_t *)(uintptr_t)slots;
    m->joins.n_slots = n_slots;
    memcpy(m->joins.ascii, ascii, sizeof m->joins.ascii);
    m->borrowed = true;
    return true;
}

/* ---- merging ---- */

static void rank_pair(const bpe *m, tok_symbol *left, const tok_symbol *right)
{
    const merge *p = find_merge(m, left->id, right->id);

    left->rank = p ? p->rank : NO_RANK;
    left->joined = p ? p->id : -1;
}

/* Merge s[0..n) in place by scanning; returns how many are left. */
static size_t merge_short(const bpe *m, tok_symbol *s, size_t n)
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
        s[best].end = HONE_MAX(s[best].end, s[best + 1].end);
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

static hone_status rank_and_push(const bpe *m, tok_work *w, uint32_t left)
{
    tok_symbol *s = w->symbols.data;

    rank_pair(m, &s[left], &s[s[left].next]);
    return s[left].rank == NO_RANK ? HONE_OK : heap_push(w, (uint64_t)s[left].rank << 32 | left);
}

/* Merge w->symbols with a heap of (rank, place); an entry is stale when its symbol's pair has changed since. */
static hone_status merge_long(const bpe *m, tok_work *w)
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

        if (s[at].id < 0 || s[at].rank != top >> 32)
            continue;
        gone = s[at].next;
        s[at].id = s[at].joined;
        s[at].end = HONE_MAX(s[at].end, s[gone].end);
        s[at].next = s[gone].next;
        s[at].rank = NO_RANK;
        s[gone].id = -1;
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

/* Unknown characters that are not yet a symbol: bytes [begin, end) of the word. */
typedef struct pending { bool there; size_t begin, end; } pending;

static hone_status flush_unk(const bpe *m, tok_work *w, pending *unk)
{
    if (unk->there)
        HONE_TRY(tok_push_symbol(w, m->unk_id, unk->begin, unk->end));
    unk->there = false;
    return HONE_OK;
}

/* A character that the vocabulary lacks, s[begin..end) of the word, as c[0..n) with its affixes. Without unk_token it vanishes,
 * as in the reference; the bytes of the fallback go before an unknown one that is pending, as there too. */
static hone_status push_unknown(const bpe *m, tok_work *w, pending *unk, const char *c, size_t n, size_t begin, size_t end)
{
    if (m->byte_fallback) {
        size_t have = 0;

        while (have < n && m->fallback[(uint8_t)c[have]] >= 0)
            have++;
        if (have == n) {
            for (size_t i = 0; i < n; i++)      /* all come from the whole character */
                HONE_TRY(tok_push_symbol(w, m->fallback[(uint8_t)c[i]], begin, end));
            return HONE_OK;
        }
    }
    if (!m->has_unk)
        return HONE_OK;
    if (m->unk_id < 0)
        return tok_no_unknown(hone_str_c(&m->unk_token), c, n);
    if (unk->there && !m->fuse_unk)
        HONE_TRY(flush_unk(m, w, unk));
    unk->begin = unk->there ? unk->begin : begin;
    unk->end = end;
    unk->there = true;
    return HONE_OK;
}

/* Look a character up with the affixes that it has at its place; *c and *n become what was looked up. */
static hone_status find_affixed(const bpe *m, tok_work *w, const char **c, size_t *n, bool first, bool last, int32_t *id)
{
    hone_str_clear(&w->lookup);
    if (!first)
        hone_str_append(&w->lookup, hone_str_c(&m->prefix), m->prefix.len);
    hone_str_append(&w->lookup, *c, *n);
    if (last)
        hone_str_append(&w->lookup, hone_str_c(&m->suffix), m->suffix.len);
    HONE_TRY(hone_str_ok(&w->lookup));
    *c = w->lookup.data;
    *n = w->lookup.len;
    *id = tok_vocab_find(m->m.vocab, *c, *n);
    return HONE_OK;
}

static hone_status char_symbols(const bpe *m, tok_work *w, const char *s, size_t n)
{
    pending unk = { 0 };
    size_t  len;

    for (size_t i = 0; i < n; i += len) {
        const char *c = s + i;
        size_t      nc;
        int32_t     id = char_id(&m->chars, hone_utf8_decode(c, &len));

        nc = len;
        if (m->affixes)
            HONE_TRY(find_affixed(m, w, &c, &nc, i == 0, i + len == n, &id));
        if (id < 0) {
            HONE_TRY(push_unknown(m, w, &unk, c, nc, i, i + len));
            continue;
        }
        HONE_TRY(flush_unk(m, w, &unk));
        HONE_TRY(tok_push_symbol(w, id, i, i + len));
    }
    return flush_unk(m, w, &unk);
}

/* With ignore_merges: a word that is a token, given as bytes. */
static hone_status find_bytes(const bpe *m, tok_work *w, const char *s, size_t n, int32_t *id)
{
    hone_str_clear(&w->lookup);
    tok_bytes_to_chars(&w->lookup, s, n);
    HONE_TRY(hone_str_ok(&w->lookup));
    *id = tok_vocab_find(m->m.vocab, w->lookup.data, w->lookup.len);
    return HONE_OK;
}

static hone_status encode(const tok_model *model, tok_work *w, const char *s, size_t n)
{
    const bpe *m = of(model);
    int32_t    id = -1;

    if (m->ignore_merges && m->m.reads_bytes)
        HONE_TRY(find_bytes(m, w, s, n, &id));
    if (id >= 0)
        return tok_push_symbol(w, id, 0, n);
    HONE_TRY(HONE_VEC_RESERVE(&w->symbols, n));
    if (m->m.reads_bytes)
        for (uint32_t i = 0; i < n; i++)
            w->symbols.data[w->symbols.len++] = (tok_symbol){ .id = m->byte_char[(uint8_t)s[i]], .begin = i, .end = i + 1 };
    else
        HONE_TRY(char_symbols(m, w, s, n));
    if (w->symbols.len > SHORT_WORD)
        HONE_TRY(merge_long(m, w));
    else
        w->symbols.len = merge_short(m, w->symbols.data, w->symbols.len);
    return HONE_OK;
}

/* Up to the first place where two characters of the vocabulary meet that no merge joins. */
static size_t part(const tok_model *model, const char *s, size_t n)
{
    const bpe *m = of(model);
    uint32_t   last = 0;
    bool       have_last = false;
    size_t     i = 0, len;

    if (m->m.reads_bytes || m->affixes)
        return n;
    for (; i < n; i += len) {
        uint32_t cp = hone_utf8_decode(s + i, &len);
        bool     have = char_id(&m->chars, cp) >= 0;

        if (have && have_last && !may_join(&m->joins, last, cp))
            return i;
        last = cp;
        have_last = have;
    }
    return n;
}

static int32_t whole(const tok_model *model, const char *s, size_t n)
{
    const bpe *m = of(model);

    return m->ignore_merges && !m->m.reads_bytes ? tok_vocab_find(m->m.vocab, s, n) : -1;
}

hone_status tok_bpe_create(tok_model **out, const tok_vocab *vocab, const tok_bpe_options *o)
{
    static const tok_model_kind kind = { encode, part, whole, destroy, save };
    bpe        *m = hone_calloc(1, sizeof *m);
    hone_status st;

    *out = NULL;
    if (!m)
        return HONE_E_NOMEM;
    m->m = (tok_model){ &kind, vocab, false };
    st = start(m, o);
    if (st == HONE_OK)
        *out = &m->m;
    else
        destroy(&m->m);
    return st;
}
