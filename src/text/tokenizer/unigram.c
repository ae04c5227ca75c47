/*
 * Unigram language model (Kudo 2018, "Subword regularization"): of all ways to cut a word into tokens, the one with the
 * greatest sum of scores. Sums are made from the left in double precision and compared as the reference does, so that near ties
 * fall alike.
 */
#include <math.h>

#include "base/utf8.h"
#include "text/tokenizer/cache.h"

#define NO_START UINT32_MAX

static const double unknown_penalty = 10.0;     /* below the lowest score */

typedef struct unigram {
    tok_model m;
    tok_trie  trie;
    double   *scores;           /* by id */
    double    unknown_score;
    int32_t   unk_id;           /* -1: none */
    bool      byte_fallback;
    int32_t   fallback[256];
} unigram;

static void destroy(tok_model *m)
{
    unigram *u = (unigram *)m;

    tok_trie_deinit(&u->trie);
    hone_free(u->scores);
    hone_free(u);
}

static bool improves(const tok_path *to, double score) { return to->start == NO_START || score > to->score; }

/* Best paths to every place of s[0..n). */
static hone_status find_paths(const unigram *u, tok_path *path, const char *s, size_t n)
{
    for (size_t at = 0, len; at < n; at += len) {
        double   here = path[at].score;
        bool     alone = false;         /* a token is just this character */
        uint32_t node = TOK_TRIE_ROOT;

        len = hone_utf8_len((unsigned char)s[at]);
        for (size_t end = at; end < n && tok_trie_step(&u->trie, &node, (uint8_t)s[end]);) {
            int32_t id = u->trie.nodes[node].id;

            if (++end, id < 0)
                continue;
            if (improves(&path[end], u->scores[id] + here))
                path[end] = (tok_path){ u->scores[id] + here, (uint32_t)at, id };
            alone = alone || end - at == len;
        }
        if (!alone && improves(&path[at + len], u->unknown_score + here)) {
            if (u->unk_id < 0)
                return tok_no_unknown(NULL, s + at, len);
            path[at + len] = (tok_path){ u->unknown_score + here, (uint32_t)at, u->unk_id };
        }
    }
    return HONE_OK;
}

/* A run of unknown characters: itself a token after all, or bytes, or one unknown token. Pushed back to front. */
static hone_status push_unknown(const unigram *u, tok_work *w, const char *s, size_t begin, size_t end)
{
    int32_t id = tok_vocab_find(u->m.vocab, s + begin, end - begin);
    bool    bytes = u->byte_fallback && id < 0;
    size_t  last = end;

    for (size_t i = begin; i < end && bytes; i++)
        bytes = u->fallback[(uint8_t)s[i]] >= 0;
    if (!bytes)
        return tok_push_symbol(w, id >= 0 ? id : u->unk_id, begin, end);
    while (last > begin) {
        size_t first = last - 1;

        while (((unsigned char)s[first] & 0xC0) == 0x80)
            first--;
        for (size_t i = last; i > first; i--)       /* all bytes of a character come from all of it */
            HONE_TRY(tok_push_symbol(w, u->fallback[(uint8_t)s[i - 1]], first, last));
        last = first;
    }
    return HONE_OK;
}

static hone_status encode(const tok_model *m, tok_work *w, const char *s, size_t n)
{
    const unigram *u = (const unigram *)m;
    size_t         end = n;

    w->path.len = 0;
    HONE_TRY(HONE_VEC_RESERVE(&w->path, n + 1));
    for (size_t i = 0; i <= n; i++)
        w->path.data[i] = (tok_path){ 0, NO_START, -1 };
    HONE_TRY(find_paths(u, w->path.data, s, n));
    while (end > 0) {
        size_t  begin = w->path.data[end].start;
        int32_t id = w->path.data[end].id;

        if (id == u->unk_id) {
            while (begin > 0 && w->path.data[begin].id == u->unk_id)
                begin = w->path.data[begin].start;
            HONE_TRY(push_unknown(u, w, s, begin, end));
        } else {
            HONE_TRY(tok_push_symbol(w, id, begin, end));
        }
        end = begin;
    }
    for (size_t i = 0, k = w->symbols.len; i + 1 < k; i++) {
        tok_symbol last = w->symbols.data[--k];

        w->symbols.data[k] = w->symbols.data[i];
        w->symbols.data[i] = last;
    }
    return HONE_OK;
}

static void save(const tok_model *m, tok_tables *to)
{
    const unigram *u = (const unigram *)m;

    tok_tables_put(to, u->scores, (size_t)m->vocab->end, sizeof *u->scores);
    tok_tables_put(to, u->trie.nodes, u->trie.n, sizeof *u->trie.nodes);
}

static hone_status load(unigram *u, tok_tables *from)
{
    const void *scores, *nodes;
    size_t      n;

    HONE_CHECK(tok_tables_get(from, &scores, &n, sizeof *u->scores) && n == (size_t)u->m.vocab->end &&
               tok_tables_get(from, &nodes, &u->trie.n, sizeof *u->trie.nodes), HONE_E_FORMAT, "the tables do not fit");
    u->trie.nodes = (tok_trie_node *)(uintptr_t)nodes;
    u->trie.borrowed = true;
    u->scores = hone_calloc(n, sizeof *u->scores);
    if (!u->scores)
        return HONE_E_NOMEM;
    memcpy(u->scores, scores, n * sizeof *u->scores);
    return HONE_OK;
}

hone_status tok_unigram_create_take(tok_model **out, const tok_vocab *vocab, double *scores, int32_t unk_id, bool byte_fallback,
                                    tok_tables *from)
{
    static const tok_model_kind kind = { encode, NULL, NULL, destroy, save };
    unigram    *u = hone_calloc(1, sizeof *u);
    double      lowest = INFINITY;
    hone_status st;

    *out = NULL;
    if (!u)
        return HONE_E_NOMEM;
    u->m = (tok_model){ &kind, vocab, false };
    u->unk_id = unk_id;
    u->byte_fallback = byte_fallback;
    tok_find_fallback(u->fallback, vocab);
    if (from)
        HONE_GO(load(u, from));
    else
        HONE_GO(tok_trie_create(&u->trie, vocab));
    u->scores = from ? u->scores : scores;
    for (int32_t i = 0; i < vocab->end; i++)
        lowest = u->scores[i] < lowest ? u->scores[i] : lowest;
    u->unknown_score = lowest - unknown_penalty;
    *out = &u->m;
out:
    if (st != HONE_OK)
        destroy(&u->m);
    return st;
}
