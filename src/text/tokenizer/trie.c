/* The contents of a vocabulary as a trie in a double array, filled depth first. */
#include "text/tokenizer/parts.h"

#define FREE UINT32_MAX
#define USED (UINT32_MAX - 1)

/* A content; `first`: its first 8 bytes in the order of memcmp, which decides most comparisons. */
typedef struct key { uint64_t first; const char *s; uint32_t n; int32_t id; } key;

/* Keys [lo, hi) lie below `node` and agree in `depth` bytes. */
typedef struct range { uint32_t lo, hi, depth, node; } range;

typedef struct builder {
    tok_trie t;
    size_t   cap;
    uint32_t *next, *prev;          /* of free nodes, in a ring through node 0 */
    key      *keys;
    size_t    n_keys;
    HONE_VEC(range) todo;
} builder;

static int compare(const void *a, const void *b)
{
    const key *x = a, *y = b;
    int        c;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    c = memcmp(x->s, y->s, HONE_MIN(x->n, y->n));
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

static hone_status collect(builder *b, const tok_vocab *vocab)
{
    b->keys = hone_calloc(vocab->n, sizeof *b->keys);
    if (!b->keys)
        return HONE_E_NOMEM;
    for (int32_t id = 0; id < vocab->end; id++) {
        key         k = { .id = id };
        size_t      n = 0;

        k.s = tok_vocab_content(vocab, id, &n);
        if (!k.s || n == 0 || (vocab->repeats && tok_vocab_find(vocab, k.s, n) != id))
            continue;
        k.n = (uint32_t)n;
        for (size_t i = 0; i < 8; i++)
            k.first = k.first << 8 | (i < n ? (unsigned char)k.s[i] : 0u);
        b->keys[b->n_keys++] = k;
    }
    qsort(b->keys, b->n_keys, sizeof *b->keys, compare);
    return HONE_OK;
}

/* Room for nodes up to `want`. */
static hone_status grow(builder *b, size_t want)
{
    size_t         cap = HONE_MAX(want, b->cap + b->cap / 2 + 1024);
    tok_trie_node *nodes;
    uint32_t      *next, *prev;

    HONE_CHECK(cap < USED, HONE_E_FORMAT, "the vocabulary is too large");
    if (!(nodes = hone_realloc(b->t.nodes, cap, sizeof *nodes)))
        return HONE_E_NOMEM;
    b->t.nodes = nodes;
    if (!(next = hone_realloc(b->next, cap, sizeof *next)))
        return HONE_E_NOMEM;
    b->next = next;
    if (!(prev = hone_realloc(b->prev, cap, sizeof *prev)))
        return HONE_E_NOMEM;
    b->prev = prev;
    if (b->cap == 0) {
        nodes[0] = (tok_trie_node){ 0, USED, -1 };
        next[0] = prev[0] = 0;
        b->cap = 1;
    }
    for (size_t i = b->cap; i < cap; i++) {
        nodes[i] = (tok_trie_node){ 0, FREE, -1 };
        prev[i] = prev[0];
        next[i] = 0;
        next[prev[0]] = (uint32_t)i;
        prev[0] = (uint32_t)i;
    }
    b->cap = cap;
    return HONE_OK;
}

static void take(builder *b, size_t at, uint32_t parent)
{
    b->t.nodes[at].parent = parent;
    b->next[b->prev[at]] = b->next[at];
    b->prev[b->next[at]] = b->prev[at];
    b->t.n = HONE_MAX(b->t.n, at + 1);
}

static bool fits(const builder *b, size_t base, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (base + bytes[i] < b->cap && b->t.nodes[base + bytes[i]].parent != FREE)
            return false;
    return true;
}

/* A base, at least 1, where the children for bytes[0..n), ascending, are free. A few tries, then behind all others. */
static size_t find_base(const builder *b, const uint8_t *bytes, size_t n)
{
    uint32_t at = b->next[0];

    for (int tries = 0; at != 0 && tries < 32; at = b->next[at], tries++)
        if (at > bytes[0] && fits(b, at - bytes[0], bytes, n))
            return at - bytes[0];
    return b->t.n > bytes[0] ? b->t.n - bytes[0] : 1;
}

static hone_status place(builder *b, range r)
{
    uint8_t  bytes[256];
    uint32_t starts[257], n = 0, node = r.node;
    size_t   base;

    if (b->keys[r.lo].n == r.depth)
        b->t.nodes[node].id = b->keys[r.lo++].id;
    for (uint32_t i = r.lo; i < r.hi; i++) {
        uint8_t byte = (uint8_t)b->keys[i].s[r.depth];

        if (n == 0 || bytes[n - 1] != byte) {
            bytes[n] = byte;
            starts[n++] = i;
        }
    }
    if (n == 0)
        return HONE_OK;
    starts[n] = r.hi;
    base = find_base(b, bytes, n);
    if (base + bytes[n - 1] >= b->cap)
        HONE_TRY(grow(b, base + 256));
    b->t.nodes[node].base = (uint32_t)base;
    HONE_TRY(HONE_VEC_RESERVE(&b->todo, n));
    for (uint32_t i = 0; i < n; i++)
        take(b, base + bytes[i], node);
    for (uint32_t i = n; i-- > 0;)
        b->todo.data[b->todo.len++] = (range){ starts[i], starts[i + 1], r.depth + 1, (uint32_t)base + bytes[i] };
    return HONE_OK;
}

hone_status tok_trie_create(tok_trie *out, const tok_vocab *vocab)
{
    builder     b = { 0 };
    hone_status st;

    *out = (tok_trie){ 0 };
    HONE_GO(grow(&b, 1024));
    b.t.n = 1;
    HONE_GO(collect(&b, vocab));
    if (b.n_keys)
        HONE_GO(HONE_VEC_PUSH(&b.todo, (range){ 0, (uint32_t)b.n_keys, 0, TOK_TRIE_ROOT }));
    while (b.todo.len)
        HONE_GO(place(&b, b.todo.data[--b.todo.len]));
    *out = b.t;
    b.t.nodes = NULL;
out:
    hone_free(b.t.nodes);
    hone_free(b.next);
    hone_free(b.prev);
    hone_free(b.keys);
    HONE_VEC_DEINIT(&b.todo);
    return st;
}

void tok_trie_deinit(tok_trie *t)
{
    if (!t->borrowed)
        hone_free(t->nodes);
    *t = (tok_trie){ 0 };
}
