/*
 * WordPiece (Wu et al. 2016, "Google's neural machine translation system"): from the left, the longest token that fits; those
 * after the first carry a prefix. A word that cannot be spelled, or is too long, is unknown as a whole.
 */
#include "text/tokenizer/parts.h"

typedef struct wordpiece {
    tok_model m;
    tok_trie  trie;
    hone_str  unk_token;
    int32_t   unk_id;           /* -1: the vocabulary lacks it */
    bool      continues;        /* tokens with the prefix exist: they begin at `inner` */
    uint32_t  inner;
    uint64_t  max_chars;
} wordpiece;

static void destroy(tok_model *m)
{
    wordpiece *p = (wordpiece *)m;

    tok_trie_deinit(&p->trie);
    hone_str_deinit(&p->unk_token);
    hone_free(p);
}

/* The longest token at s[0..n) from `node` on; its length, 0 if there is none. */
static size_t longest(const wordpiece *p, uint32_t node, const char *s, size_t n, int32_t *id)
{
    size_t best = 0;

    for (size_t i = 0; i < n && tok_trie_step(&p->trie, &node, (uint8_t)s[i]); i++)
        if (p->trie.nodes[node].id >= 0) {
            best = i + 1;
            *id = p->trie.nodes[node].id;
        }
    return best;
}

static bool too_long(const wordpiece *p, const char *s, size_t n)
{
    uint64_t chars = 0;

    for (size_t i = 0; i < n && n > p->max_chars; i++)
        chars += ((unsigned char)s[i] & 0xC0) != 0x80;
    return chars > p->max_chars;
}

static hone_status encode(const tok_model *m, tok_work *w, const char *s, size_t n)
{
    const wordpiece *p = (const wordpiece *)m;
    bool             known = !too_long(p, s, n);
    int32_t          id = -1;

    for (size_t at = 0, len; known && at < n; at += len) {
        len = at == 0 || p->continues ? longest(p, at ? p->inner : TOK_TRIE_ROOT, s + at, n - at, &id) : 0;
        known = len > 0;
        if (known)
            HONE_TRY(tok_push_symbol(w, id, at, at + len));
    }
    if (known)
        return HONE_OK;
    w->symbols.len = 0;
    return p->unk_id < 0 ? tok_no_unknown(hone_str_c(&p->unk_token), s, n) : tok_push_symbol(w, p->unk_id, 0, n);
}

hone_status tok_wordpiece_create(tok_model **out, const tok_vocab *vocab, const char *unk_token, const char *prefix,
                                 uint64_t max_chars)
{
    static const tok_model_kind kind = { encode, NULL, NULL, destroy, NULL };
    wordpiece  *p = hone_calloc(1, sizeof *p);
    hone_status st;

    *out = NULL;
    if (!p)
        return HONE_E_NOMEM;
    p->m = (tok_model){ &kind, vocab, false };
    p->max_chars = max_chars;
    p->unk_id = tok_vocab_find(vocab, unk_token, strlen(unk_token));
    hone_str_puts(&p->unk_token, unk_token);
    HONE_GO(hone_str_ok(&p->unk_token));
    HONE_GO(tok_trie_create(&p->trie, vocab));
    p->inner = TOK_TRIE_ROOT;
    p->continues = true;
    for (; *prefix && p->continues; prefix++)
        p->continues = tok_trie_step(&p->trie, &p->inner, (uint8_t)*prefix);
    *out = &p->m;
out:
    if (st != HONE_OK)
        destroy(&p->m);
    return st;
}
