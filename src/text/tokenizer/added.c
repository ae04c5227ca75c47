/*
 * Added tokens: found in the text before the model sees it, leftmost first and longest at one place. Those with
 * "normalized" are looked for, in normalized form, in normalized text; the others in the raw text.
 */
#include "base/map.h"
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

/* A byte trie; children of a node are a list. */
typedef struct trie_node { uint8_t byte; int32_t index; uint32_t child, next; } trie_node;    /* index -1: no token ends here */
typedef struct trie { HONE_VEC(trie_node) nodes; uint32_t first[256]; } trie;                 /* node 0 is unused */

struct tok_added_set {
    HONE_VEC(tok_added) tokens;
    hone_map *by_content;           /* index into tokens */
    hone_map *by_id;                /* key: the id's bytes */
    int32_t   end, next_id;         /* next_id: only while adding */
    trie      raw, normal;
    bool      split_special;
};

hone_status tok_added_set_create(tok_added_set **out)
{
    tok_added_set *set = *out = hone_calloc(1, sizeof *set);

    if (!set)
        return HONE_E_NOMEM;
    if (hone_map_create(&set->by_content) != HONE_OK || hone_map_create(&set->by_id) != HONE_OK) {
        tok_added_set_destroy(out);
        return HONE_E_NOMEM;
    }
    return HONE_OK;
}

void tok_added_set_destroy(tok_added_set **p)
{
    tok_added_set *set = *p;

    if (!set)
        return;
    for (size_t i = 0; i < set->tokens.len; i++) {
        hone_free(set->tokens.data[i].content);
        hone_free(set->tokens.data[i].normal);
    }
    HONE_VEC_DEINIT(&set->tokens);
    hone_map_destroy(&set->by_content);
    hone_map_destroy(&set->by_id);
    HONE_VEC_DEINIT(&set->raw.nodes);
    HONE_VEC_DEINIT(&set->normal.nodes);
    hone_free(set);
    *p = NULL;
}

static hone_status add_one(tok_added_set *set, const tok_added *t, const tok_vocab *vocab)
{
    int64_t   at = hone_map_get(set->by_content, t->content, t->n, -1);
    tok_added copy = *t;

    if (t->n == 0)
        return HONE_OK;                     /* ignored by the reference too */
    if (at >= 0) {
        tok_added *old = &set->tokens.data[at];

        copy.content = old->content;
        copy.normal = old->normal;
        copy.id = old->id;
        copy.special = t->special || old->special;      /* once special, always skipped in decoding */
        *old = copy;
        return hone_map_put(set->by_id, &copy.id, sizeof copy.id, at);
    }
    copy.id = tok_vocab_find(vocab, t->content, t->n);
    if (copy.id < 0) {
        HONE_CHECK(set->next_id <= TOK_MAX_ID, HONE_E_FORMAT, "added token \"%s\" gets id %d; ids go from 0 to %d",
                   t->content, set->next_id, TOK_MAX_ID);
        copy.id = set->next_id++;
    }
    copy.content = hone_strndup(t->content, t->n);
    if (!copy.content)
        return HONE_E_NOMEM;
    if (HONE_VEC_PUSH(&set->tokens, copy) != HONE_OK) {
        hone_free(copy.content);
        return HONE_E_NOMEM;
    }
    HONE_TRY(hone_map_put(set->by_content, t->content, t->n, (int64_t)set->tokens.len - 1));
    HONE_TRY(hone_map_put(set->by_id, &copy.id, sizeof copy.id, (int64_t)set->tokens.len - 1));
    set->end = HONE_MAX(set->end, copy.id + 1);
    return HONE_OK;
}

hone_status tok_added_set_add(tok_added_set *set, const tok_added *tokens, size_t n, const tok_vocab *vocab)
{
    /* The next free id as the reference counts it: by the number of tokens in the vocabulary, not by its largest id. */
    set->next_id = HONE_MAX((int32_t)vocab->n, set->end);
    for (size_t i = 0; i < n; i++)
        HONE_TRY(add_one(set, &tokens[i], vocab));
    return HONE_OK;
}

/* ---- finding ---- */

static hone_status trie_add(trie *t, const char *s, size_t n, int32_t index)
{
    uint32_t *link = &t->first[(uint8_t)s[0]], at = 0;

    if (t->nodes.len == 0)
        HONE_TRY(HONE_VEC_PUSH(&t->nodes, (trie_node){ 0, -1, 0, 0 }));
    for (size_t i = 0; i < n; i++) {
        while (*link && t->nodes.data[*link].byte != (uint8_t)s[i])
            link = &t->nodes.data[*link].next;
        if (!*link) {
            *link = (uint32_t)t->nodes.len;     /* before the push, which may move what link points at */
            at = *link;
            HONE_TRY(HONE_VEC_PUSH(&t->nodes, (trie_node){ (uint8_t)s[i], -1, 0, 0 }));
        } else {
            at = *link;
        }
        link = &t->nodes.data[at].child;
    }
    HONE_CHECK(t->nodes.data[at].index < 0, HONE_E_FORMAT, "two added tokens are both \"%.*s\" after normalization",
               (int)HONE_MIN(n, (size_t)80), s);
    t->nodes.data[at].index = index;
    return HONE_OK;
}

/* The longest token at s[0..n): its length and index, 0 if none. */
static size_t trie_match(const trie *t, const char *s, size_t n, int32_t *index)
{
    uint32_t at = t->first[(uint8_t)s[0]];
    size_t   longest = 0;

    for (size_t i = 1; at; i++) {
        const trie_node *node = &t->nodes.data[at];

        if (node->index >= 0) {
            longest = i;
            *index = node->index;
        }
        if (i == n)
            break;
        for (at = node->child; at && t->nodes.data[at].byte != (uint8_t)s[i];)
            at = t->nodes.data[at].next;
    }
    return longest;
}

hone_status tok_added_set_finish(tok_added_set *set, const tok_normalizer *nz, bool split_special)
{
    tok_text    pair[2] = { { HONE_STR_INIT, { 0 } }, { HONE_STR_INIT, { 0 } } };
    hone_status st = HONE_OK;

    set->split_special = split_special;
    set->raw.nodes.len = set->normal.nodes.len = 0;
    memset(set->raw.first, 0, sizeof set->raw.first);
    memset(set->normal.first, 0, sizeof set->normal.first);
    for (size_t i = 0; i < set->tokens.len; i++) {
        tok_added *t = &set->tokens.data[i];
        tok_view   v = { t->content, t->n, NULL, 0 };

        hone_free(t->normal);
        t->normal = NULL;
        if (tok_added_at(set, t->id) != t)
            continue;           /* a later token has its id: the reference forgets this one */
        if (t->normalized)
            HONE_GO(tok_normalize(nz, pair, &v));
        if (v.n != t->n || memcmp(v.s, t->content, v.n) != 0) {
            t->normal = hone_strndup(v.s, v.n);
            t->n_normal = v.n;
            HONE_GO_CHECK(t->normal, HONE_E_NOMEM, "out of memory");
        }
        /* The reference finds it everywhere, for ever. */
        HONE_GO_CHECK(v.n, HONE_E_FORMAT, "added token \"%s\" is empty after normalization", t->content);
        HONE_GO(trie_add(t->normalized ? &set->normal : &set->raw, v.s, v.n, (int32_t)i));
    }
out:
    for (int i = 0; i < 2; i++) {
        hone_str_deinit(&pair[i].s);
        HONE_VEC_DEINIT(&pair[i].from);
    }
    return st;
}

const tok_added *tok_added_find(const tok_added_set *set, const char *content, size_t n)
{
    int64_t at = hone_map_get(set->by_content, content, n, -1);

    return at < 0 ? NULL : &set->tokens.data[at];
}

const tok_added *tok_added_at(const tok_added_set *set, int32_t id)
{
    int64_t at = hone_map_get(set->by_id, &id, sizeof id, -1);

    return at < 0 ? NULL : &set->tokens.data[at];
}

int32_t tok_added_end(const tok_added_set *set) { return set->end; }

static bool stands_alone(const char *s, size_t n, size_t begin, size_t end)
{
    size_t len;

    return (begin == 0 || !hone_unicode_has(hone_utf8_decode_before(s, begin, &len), HONE_UC_WORD)) &&
           (end == n || !hone_unicode_has(hone_utf8_decode(s + end, &len), HONE_UC_WORD));
}

hone_status tok_added_cut(const tok_added_set *set, tok_stretch_vec *out, const tok_view *v, bool normalized)
{
    const trie *t = normalized ? &set->normal : &set->raw;
    size_t      done = 0, i = 0, len, k;

    while (t->nodes.len && i < v->n) {
        const tok_added *tok;
        int32_t          index = -1;
        size_t           begin = i, end;

        if (!t->first[(uint8_t)v->s[i]] || (len = trie_match(t, v->s + i, v->n - i, &index)) == 0) {
            i++;
            continue;
        }
        i = end = begin + len;          /* matches do not overlap, those that are passed over included */
        tok = &set->tokens.data[index];
        if ((set->split_special && tok->special) || (tok->single_word && !stands_alone(v->s, v->n, begin, end)))
            continue;
        if (tok->lstrip) {
            while (begin > 0 && hone_unicode_has(hone_utf8_decode_before(v->s, begin, &k), HONE_UC_SPACE))
                begin -= k;
            begin = HONE_MAX(begin, done);
        }
        if (tok->rstrip)
            while (end < v->n && hone_unicode_has(hone_utf8_decode(v->s + end, &k), HONE_UC_SPACE))
                end += k;
        if (begin >= end)       /* within white space that the token before took */
            continue;
        if (done < begin)
            HONE_TRY(HONE_VEC_PUSH(out, (tok_stretch){ (uint32_t)done, (uint32_t)begin, -1 }));
        HONE_TRY(HONE_VEC_PUSH(out, (tok_stretch){ (uint32_t)begin, (uint32_t)end, tok->id }));
        done = end;
    }
    if (done < v->n)
        HONE_TRY(HONE_VEC_PUSH(out, (tok_stretch){ (uint32_t)done, (uint32_t)v->n, -1 }));
    return HONE_OK;
}
