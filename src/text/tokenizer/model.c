/* What all models share: words seen before, the places of tokens, the plainest model. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "text/tokenizer/parts.h"

void tok_model_destroy(tok_model **m)
{
    if (*m)
        (*m)->kind->destroy(*m);
    *m = NULL;
}

hone_status tok_no_unknown(const char *token, const char *s, size_t n)
{
    int shown = (int)HONE_MIN(n, (size_t)80);

    if (!token)
        return HONE_FAIL(HONE_E_DATA, "the text has \"%.*s\", which the vocabulary cannot spell, and the tokenizer has no unknown "
                         "token", shown, s);
    return HONE_FAIL(HONE_E_DATA, "the text has \"%.*s\", which needs the unknown token \"%s\", and the vocabulary lacks that", shown,
                     s, token);
}

void tok_find_fallback(int32_t ids[256], const tok_vocab *vocab)
{
    for (int b = 0; b < 256; b++) {
        char name[8];

        ids[b] = tok_vocab_find(vocab, name, (size_t)snprintf(name, sizeof name, "<0x%02X>", (unsigned)b));
    }
}

/* ---- words ---- */

static void remember(tok_cached *slot, const tok_work *w, const char *s, size_t n)
{
    size_t at = 0;

    if (w->symbols.len > TOK_CACHE_IDS || w->symbols.len == 0)
        return;
    for (size_t i = 0; i < w->symbols.len; at = w->symbols.data[i++].end)
        if (w->symbols.data[i].begin != at || w->symbols.data[i].end < at)
            return;
    slot->key_len = (uint8_t)n;
    slot->n = (uint8_t)w->symbols.len;
    memcpy(slot->key, s, n);
    for (size_t i = 0; i < w->symbols.len; i++) {
        slot->id[i] = w->symbols.data[i].id;
        slot->len[i] = (uint8_t)(w->symbols.data[i].end - w->symbols.data[i].begin);
    }
}

static void push_token(hone_encoding *out, int32_t id, const tok_view *v, size_t begin, size_t end)
{
    hone_span from = tok_view_span(v, begin, end);

    out->data[out->len++] = (hone_token){ id, from.begin, from.end };
}

static hone_status encode_word(const tok_model *m, tok_work *w, hone_encoding *out, const tok_view *v, size_t begin, size_t n)
{
    const char *s = v->s + begin;
    tok_cached *slot = n <= TOK_CACHE_KEY ? &w->cache[XXH3_64bits(s, n) & (TOK_CACHE_SLOTS - 1)] : NULL;

    if (slot && slot->key_len == n && memcmp(slot->key, s, n) == 0) {
        HONE_TRY(HONE_VEC_RESERVE(out, slot->n));
        for (size_t i = 0; i < slot->n; begin += slot->len[i++])
            push_token(out, slot->id[i], v, begin, begin + slot->len[i]);
        return HONE_OK;
    }
    w->symbols.len = 0;
    HONE_TRY(m->kind->encode(m, w, s, n));
    if (slot)
        remember(slot, w, s, n);
    HONE_TRY(HONE_VEC_RESERVE(out, w->symbols.len));
    for (size_t i = 0; i < w->symbols.len; i++)
        push_token(out, w->symbols.data[i].id, v, begin + w->symbols.data[i].begin, begin + w->symbols.data[i].end);
    return HONE_OK;
}

hone_status tok_model_encode(const tok_model *m, tok_work *w, hone_encoding *out, const tok_view *v, uint32_t begin, uint32_t end)
{
    int32_t id = m->kind->whole && begin < end ? m->kind->whole(m, v->s + begin, end - begin) : -1;

    if (id >= 0) {
        HONE_TRY(HONE_VEC_RESERVE(out, 1));
        push_token(out, id, v, begin, end);
        return HONE_OK;
    }
    for (size_t at = begin, n; at < end; at += n) {
        n = m->kind->part ? m->kind->part(m, v->s + at, end - at) : end - at;
        HONE_TRY(encode_word(m, w, out, v, at, n));
    }
    return HONE_OK;
}

/* ---- WordLevel: a word is a token, or unknown ---- */

typedef struct wordlevel { tok_model m; hone_str unk_token; } wordlevel;

static void wordlevel_destroy(tok_model *m)
{
    wordlevel *l = (wordlevel *)m;

    hone_str_deinit(&l->unk_token);
    hone_free(l);
}

static hone_status wordlevel_encode(const tok_model *m, tok_work *w, const char *s, size_t n)
{
    const wordlevel *l = (const wordlevel *)m;
    int32_t          id = tok_vocab_find(m->vocab, s, n);

    if (id < 0)
        id = tok_vocab_find(m->vocab, hone_str_c(&l->unk_token), l->unk_token.len);
    return id < 0 ? tok_no_unknown(hone_str_c(&l->unk_token), s, n) : tok_push_symbol(w, id, 0, n);
}

hone_status tok_wordlevel_create(tok_model **out, const tok_vocab *vocab, const char *unk_token)
{
    static const tok_model_kind kind = { wordlevel_encode, NULL, NULL, wordlevel_destroy, NULL };
    wordlevel *l = hone_calloc(1, sizeof *l);

    *out = NULL;
    if (!l)
        return HONE_E_NOMEM;
    l->m = (tok_model){ &kind, vocab, false };
    hone_str_puts(&l->unk_token, unk_token);
    if (hone_str_ok(&l->unk_token) != HONE_OK) {
        wordlevel_destroy(&l->m);
        return HONE_E_NOMEM;
    }
    *out = &l->m;
    return HONE_OK;
}
