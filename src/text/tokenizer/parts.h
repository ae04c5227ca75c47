/*
 * text/tokenizer/parts.h -- the components of a tokenizer, private to src/text/tokenizer/.
 *
 * A text goes through: added tokens found in the raw text; the normalizer on what lies between; added tokens found in the
 * normalized text; the pre-tokenizers, which cut the rest into pieces; the model, which turns each piece into ids; the
 * post-processor, which adds special tokens. One file each; what is read from tokenizer.json is immutable, what changes
 * while encoding is in a tok_work.
 */
#ifndef HONE_TEXT_TOKENIZER_PARTS_H
#define HONE_TEXT_TOKENIZER_PARTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "text/tokenizer.h"
#include "text/unicode/unicode.h"

/* A text made by a component: bytes, and the input bytes each came from. */
typedef struct tok_text { hone_str s; hone_span_vec from; } tok_text;

/* A stretch of text on its way: borrowed bytes; byte i came from input bytes from[i], or from base + i without `from`. */
typedef struct tok_view { const char *s; size_t n; const hone_span *from; uint32_t base; } tok_view;

static inline tok_view tok_view_part(const tok_view *v, size_t begin, size_t end)
{
    return (tok_view){ v->s + begin, end - begin, v->from ? v->from + begin : NULL, v->base + (uint32_t)begin };
}

/* Input bytes of a non-empty stretch of the view. */
static inline hone_span tok_view_span(const tok_view *v, size_t begin, size_t end)
{
    if (!v->from)
        return (hone_span){ v->base + (uint32_t)begin, v->base + (uint32_t)end };
    return (hone_span){ v->from[begin].begin, v->from[end - 1].end };
}

/* Input bytes of the character that ends at byte `at` > 0. */
hone_span tok_view_char_before(const tok_view *v, size_t at);
/* Refuse a byte that came from nowhere (see Replace) where the reference cannot go on with one. */
hone_status tok_view_check_origin(const tok_view *v, size_t at) HONE_MUST_CHECK;

/* A stretch of a view found by a pattern (`match`) or between its matches. */
typedef struct tok_cut { uint32_t begin, end; bool match; } tok_cut;
typedef HONE_VEC(tok_cut) tok_cut_vec;

/* A stretch between added tokens (id -1), or an added token. */
typedef struct tok_stretch { uint32_t begin, end; int32_t id; } tok_stretch;
typedef HONE_VEC(tok_stretch) tok_stretch_vec;

/* ---- what changes while encoding ---- */

enum { TOK_CACHE_KEY = 32, TOK_CACHE_IDS = 6, TOK_CACHE_SLOTS = 1 << 14 };

/* Tokens of a word seen before, each beginning where the last one ended: one cache line. */
typedef struct tok_cached {
    uint8_t key_len, n;             /* key_len 0: free */
    uint8_t len[TOK_CACHE_IDS];     /* bytes of each token */
    char    key[TOK_CACHE_KEY];
    int32_t id[TOK_CACHE_IDS];
} tok_cached;

/* A token of a word, or a symbol on its way to be one: bytes [begin, end) of the word. The rest is for merging. */
typedef struct tok_symbol { int32_t id; uint32_t begin, end, rank; int32_t joined; uint32_t prev, next; } tok_symbol;

/* The best way to a place in a word: its last token began at `start`. */
typedef struct tok_path { double score; uint32_t start; int32_t id; } tok_path;

/* Memory of searches with a regular expression. */
typedef struct tok_scratch { hone_str classes; void *match; } tok_scratch;

void tok_scratch_deinit(tok_scratch *scratch);

typedef struct tok_work {
    struct tok_work *next;              /* in the pool */
    tok_text         normal[2], pre[2]; /* made by the normalizer, by pre-tokenizers; two each, used in turn */
    tok_stretch_vec  raw, added;
    tok_cut_vec      pieces, cuts, found;
    HONE_VEC(tok_symbol) symbols;
    HONE_VEC(uint64_t)   heap;
    HONE_VEC(tok_path)   path;
    hone_str         lookup;
    tok_scratch      scratch;
    tok_cached      *cache;             /* TOK_CACHE_SLOTS of them */
} tok_work;

/* Clear and return the text of the pair that `v` does not lie in. */
tok_text *tok_text_other(tok_text pair[2], const tok_view *v);
/* Append bytes that all came from `from`. */
hone_status tok_text_add(tok_text *t, const char *s, size_t n, hone_span from) HONE_MUST_CHECK;
hone_status tok_text_add_char(tok_text *t, uint32_t cp, hone_span from) HONE_MUST_CHECK;
/* Append a stretch of a view. */
hone_status tok_text_add_view(tok_text *t, const tok_view *v, size_t begin, size_t end) HONE_MUST_CHECK;
static inline tok_view tok_text_view(const tok_text *t)
{
    return (tok_view){ hone_str_c(&t->s), t->s.len, t->from.data, 0 };
}

/* ---- byte-level alphabet (GPT-2): each byte has a printable character ---- */

uint32_t tok_byte_char(uint8_t byte);
/* The byte of a character, -1 if it stands for none. */
int      tok_char_byte(uint32_t cp);
/* Append the characters of s[0..n)'s bytes. */
void     tok_bytes_to_chars(hone_str *out, const char *s, size_t n);
/* Append the bytes that content[0..n) stands for, or itself if a character of it stands for no byte. */
void     tok_chars_to_bytes(hone_str *out, const char *content, size_t n);

/* ---- vocabulary: content <-> id ---- */

enum { TOK_MAX_ID = (1 << 24) - 1 };

typedef struct tok_vocab {
    hone_str  arena;                /* per token: length, id, bytes, NUL */
    uint32_t *at;                   /* by id: place in the arena + 1, 0 = none */
    size_t    at_cap;
    uint64_t *slots;                /* hash << 32 | place in the arena + 1 */
    size_t    n_slots, n;
    int32_t   end;                  /* largest id + 1 */
    bool      repeats;              /* contents may come twice: the last id is found, all have the content */
    bool      borrowed;             /* the tables are the cache's (cache.h) */
} tok_vocab;

typedef struct tok_tables tok_tables;       /* cache.h */

/* Errors: E_FORMAT (id out of range or used twice, content twice unless v->repeats), saying which. */
hone_status tok_vocab_add(tok_vocab *v, const char *content, size_t n, int64_t id) HONE_MUST_CHECK;
int32_t     tok_vocab_find(const tok_vocab *v, const char *content, size_t n);      /* -1 if absent */
void        tok_vocab_prefetch(const tok_vocab *v, const char *content, size_t n);  /* before a tok_vocab_find */
const char *tok_vocab_content(const tok_vocab *v, int32_t id, size_t *n);           /* NULL if absent */
void        tok_vocab_deinit(tok_vocab *v);
void        tok_vocab_save(const tok_vocab *v, tok_tables *to);
bool        tok_vocab_load(tok_vocab *v, tok_tables *from);     /* into an empty one */

/* ---- patterns of Split and Replace ---- */

typedef struct tok_pattern tok_pattern;

/* From {"String": …} or {"Regex": …}. Errors: E_FORMAT; E_UNSUPPORTED, naming the construct. */
hone_status tok_pattern_create(tok_pattern **out, const json_t *spec, const char *where) HONE_MUST_CHECK;
/* The pattern of GPT-2, which ByteLevel uses. */
hone_status tok_pattern_create_gpt2(tok_pattern **out) HONE_MUST_CHECK;
void        tok_pattern_destroy(tok_pattern **p);
/* Append the matches and what lies between them; together they cover s[0..n), shifted by `shift`. */
hone_status tok_pattern_cut(const tok_pattern *p, tok_scratch *scratch, tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
    HONE_MUST_CHECK;

typedef struct tok_regex tok_regex;
hone_status tok_regex_create(tok_regex **out, const char *pattern, size_t n, const char *where) HONE_MUST_CHECK;
void        tok_regex_destroy(tok_regex **re);
/* Append the matches and what lies between them, as tok_pattern_cut. Errors: E_DATA (too much backtracking). */
hone_status tok_regex_cut(const tok_regex *re, tok_scratch *scratch, tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
    HONE_MUST_CHECK;

/* ---- normalizer ---- */

/* SentencePiece's rules of replacement (Precompiled): a double array of byte strings and what they become. */
typedef struct tok_charsmap tok_charsmap;

/* From base64. Errors: E_FORMAT. */
hone_status tok_charsmap_create(tok_charsmap **out, const char *base64, size_t n, const char *where) HONE_MUST_CHECK;
void        tok_charsmap_destroy(tok_charsmap **map);
/* Append what becomes of the view. Errors: E_FORMAT (rules that point outside themselves). */
hone_status tok_charsmap_apply(const tok_charsmap *map, tok_text *out, const tok_view *v) HONE_MUST_CHECK;

typedef struct tok_normalizer tok_normalizer;

hone_status tok_normalizer_create(tok_normalizer **out, const json_t *spec, const char *where) HONE_MUST_CHECK;
void        tok_normalizer_destroy(tok_normalizer **nz);
/* Replace `v` by its normal form (unchanged, or a text in pair). A NULL normalizer changes nothing. */
hone_status tok_normalize(const tok_normalizer *nz, tok_text pair[2], tok_view *v) HONE_MUST_CHECK;

/* ---- pre-tokenizers ---- */

typedef struct tok_pretokenizer tok_pretokenizer;

hone_status tok_pretokenizer_create(tok_pretokenizer **out, const json_t *spec, const char *where) HONE_MUST_CHECK;
void        tok_pretokenizer_destroy(tok_pretokenizer **pt);
/* Whether the last step, and only it, writes bytes as characters: then it may be left out for a model that reads bytes. */
bool        tok_pretokenizer_ends_in_bytes(const tok_pretokenizer *pt);
/* Cut `v` into w->pieces (of the changed `v`). `as_bytes`: leave that last writing out. NULL: one piece. */
hone_status tok_pretokenize(const tok_pretokenizer *pt, tok_work *w, tok_view *v, bool as_bytes) HONE_MUST_CHECK;

/* ---- model ---- */

/* A model turns a word into tokens. Its kind's functions take the words of one text after another. */
typedef struct tok_model tok_model;

typedef struct tok_model_kind {
    /* Set w->symbols to the tokens of the word s[0..n), n > 0. */
    hone_status (*encode)(const tok_model *m, tok_work *w, const char *s, size_t n);
    /* May be NULL: bytes of s[0..n) whose tokens do not depend on what follows; at least 1. */
    size_t (*part)(const tok_model *m, const char *s, size_t n);
    /* May be NULL: the one token that a whole piece is, -1 if it is none; parts are not asked. */
    int32_t (*whole)(const tok_model *m, const char *s, size_t n);
    void (*destroy)(tok_model *m);      /* accepts a half-built one */
    /* May be NULL: put the large tables into a cache. */
    void (*save)(const tok_model *m, tok_tables *to);
} tok_model_kind;

struct tok_model {
    const tok_model_kind *kind;
    const tok_vocab      *vocab;        /* borrowed; outlives it */
    bool                  reads_bytes;  /* pieces come as bytes, not as characters of the byte-level alphabet */
};

void        tok_model_destroy(tok_model **m);
/* Append the tokens of the piece v[begin..end). */
hone_status tok_model_encode(const tok_model *m, tok_work *w, hone_encoding *out, const tok_view *v, uint32_t begin,
                             uint32_t end) HONE_MUST_CHECK;
static inline hone_status tok_push_symbol(tok_work *w, int32_t id, size_t begin, size_t end)
{
    return HONE_VEC_PUSH(&w->symbols, (tok_symbol){ .id = id, .begin = (uint32_t)begin, .end = (uint32_t)end });
}
/* E_DATA: a text needs the unknown token, which the vocabulary lacks (or the model does not name: NULL). */
hone_status tok_no_unknown(const char *token, const char *s, size_t n);

/* Ids of the tokens "<0x00>" to "<0xFF>", -1 where absent. */
void        tok_find_fallback(int32_t ids[256], const tok_vocab *vocab);

/* Options as tokenizer.json has them; strings are borrowed, NULL where null. `bytes`: the pre-tokenizer ends by writing bytes
 * as characters; the model may then ask for bytes (reads_bytes), if its vocabulary has them all. */
typedef struct tok_bpe_options {
    const char *unk_token, *prefix, *suffix;
    bool        fuse_unk, byte_fallback, ignore_merges, bytes;
} tok_bpe_options;

/* The whole vocabulary must be there before; add the merges after. */
hone_status tok_bpe_create(tok_model **out, const tok_vocab *vocab, const tok_bpe_options *o) HONE_MUST_CHECK;
/* Add the next merge. Errors: E_FORMAT, naming the token that the vocabulary lacks. */
hone_status tok_bpe_add_merge(tok_model *bpe, uint32_t rank, const char *a, size_t na, const char *b, size_t nb)
    HONE_MUST_CHECK;

/* Instead of the merges: those of a model with the same options. False if they are not there. */
bool        tok_bpe_load(tok_model *bpe, tok_tables *from);

/* `scores` [vocab->end], by id; taken over when it succeeds. unk_id -1: none. `from`: NULL, or tables of a model with this
 * vocabulary, which have the scores too (`scores` is NULL). Errors: E_FORMAT (tables that do not fit). */
hone_status tok_unigram_create_take(tok_model **out, const tok_vocab *vocab, double *scores, int32_t unk_id, bool byte_fallback,
                                    tok_tables *from) HONE_MUST_CHECK;

/* Words of more than max_chars characters are unknown. */
hone_status tok_wordpiece_create(tok_model **out, const tok_vocab *vocab, const char *unk_token, const char *prefix,
                                 uint64_t max_chars) HONE_MUST_CHECK;
hone_status tok_wordlevel_create(tok_model **out, const tok_vocab *vocab, const char *unk_token) HONE_MUST_CHECK;

/* ---- trie of a vocabulary's contents, by bytes ---- */

/* A double array (Aoe 1989): the child of node p for byte b is node base[p] + b if parent[that] is p. */
typedef struct tok_trie_node { uint32_t base, parent; int32_t id; } tok_trie_node;
typedef struct tok_trie { tok_trie_node *nodes; size_t n; bool borrowed; } tok_trie;

enum { TOK_TRIE_ROOT = 0 };

hone_status tok_trie_create(tok_trie *out, const tok_vocab *vocab) HONE_MUST_CHECK;
void        tok_trie_deinit(tok_trie *t);
/* Go from a node along a byte; false if there is no way. */
static inline bool tok_trie_step(const tok_trie *t, uint32_t *node, uint8_t byte)
{
    size_t to = (size_t)t->nodes[*node].base + byte;

    if (to >= t->n || t->nodes[to].parent != *node)
        return false;
    *node = (uint32_t)to;
    return true;
}

/* ---- added tokens ---- */

typedef struct tok_added {
    char  *content;         /* owned; as in the file */
    size_t n;
    char  *normal;          /* owned; content after the normalizer, NULL if the same or not normalized */
    size_t n_normal;
    int32_t id;
    bool   special, normalized, lstrip, rstrip, single_word;
} tok_added;

typedef struct tok_added_set tok_added_set;

hone_status tok_added_set_create(tok_added_set **out) HONE_MUST_CHECK;
void        tok_added_set_destroy(tok_added_set **set);
/* Add tokens[0..n), or change the flags of those already there; ids are given here as the reference gives them: the
 * model's own, else the next free one. `content` is copied. */
hone_status tok_added_set_add(tok_added_set *set, const tok_added *tokens, size_t n, const tok_vocab *vocab)
    HONE_MUST_CHECK;
/* After the last (and again after further ones): normalize the contents and build what finds them. `split_special`: special tokens are not to be found. */
hone_status tok_added_set_finish(tok_added_set *set, const tok_normalizer *nz, bool split_special) HONE_MUST_CHECK;
const tok_added *tok_added_find(const tok_added_set *set, const char *content, size_t n);   /* NULL if absent */
const tok_added *tok_added_at(const tok_added_set *set, int32_t id);                        /* NULL if absent */
int32_t     tok_added_end(const tok_added_set *set);    /* largest id + 1, 0 if empty */
/* Cut the view at the added tokens: those that match raw text, or those that match normalized text. */
hone_status tok_added_cut(const tok_added_set *set, tok_stretch_vec *out, const tok_view *v, bool normalized)
    HONE_MUST_CHECK;

/* ---- post-processor ---- */

/* What goes before and after the tokens of a text; `repeat` copies of the text (1 but for odd templates). */
typedef struct tok_template_piece { int32_t id; } tok_template_piece;     /* -1: the text */
typedef HONE_VEC(tok_template_piece) tok_template;

/* Append the pieces of tokenizer.json's post_processor for a single text. */
hone_status tok_template_read(tok_template *out, const json_t *spec, const char *where) HONE_MUST_CHECK;

/* ---- decoder ---- */

typedef enum tok_decoder_kind {
    TOK_DECODE_BYTE_LEVEL, TOK_DECODE_FUSE, TOK_DECODE_METASPACE, TOK_DECODE_WORD_PIECE, TOK_DECODE_SUFFIX,
    TOK_DECODE_BYTE_FALLBACK, TOK_DECODE_STRIP, TOK_DECODE_REPLACE, TOK_DECODE_CTC
} tok_decoder_kind;

typedef struct tok_decoder_step {
    tok_decoder_kind kind;
    hone_str         text;          /* Metaspace: the mark; prefix; suffix; Strip: the character; Replace: content; CTC: pad */
    hone_str         delimiter;     /* CTC */
    bool             flag;          /* WordPiece, CTC: clean up; Metaspace: marks of the first token are not spaces */
    size_t           start, stop;   /* Strip */
    tok_pattern     *pattern;       /* Replace */
} tok_decoder_step;

typedef struct tok_decoder { bool present; HONE_VEC(tok_decoder_step) steps; } tok_decoder;

hone_status tok_decoder_read(tok_decoder *out, const json_t *spec, const char *where) HONE_MUST_CHECK;
void        tok_decoder_deinit(tok_decoder *d);
/* Decode tokens (n strings laid end to end in `tokens`, ending at ends[i]; both are changed) and append the text to `out`. */
hone_status tok_decode(const tok_decoder *d, hone_str *out, hone_str *tokens, hone_vec_i64 *ends) HONE_MUST_CHECK;
/* Append the bytes that one token stands for amid others. */
hone_status tok_decode_one(const tok_decoder *d, hone_str *out, const char *content, size_t n) HONE_MUST_CHECK;

/* ---- the whole ---- */

struct tok_pool;

struct hone_tokenizer {
    tok_vocab         vocab;
    tok_normalizer   *normalizer;
    tok_pretokenizer *pretokenizer;
    tok_model        *model;
    tok_added_set    *added;
    tok_template      post;
    tok_decoder       decoder;
    int32_t           bos, eos, pad;
    bool              split_special;
    tok_tables       *kept;     /* of the cache, or NULL */
    struct tok_pool  *pool;
};

/* Read the text of a tokenizer.json into `t` (zeroed but for `kept`; on failure the caller destroys it). `rest`: gets the text
 * without what tables keep; may be NULL. With t->kept, `text` is such a one, and the tables are used. */
hone_status tok_file_read(hone_tokenizer *t, const char *text, size_t n, const char *name, hone_str *rest) HONE_MUST_CHECK;
/* Then what dir's tokenizer_config.json, special_tokens_map.json and added_tokens.json say. `legacy`: what was read instead of a
 * tokenizer.json (legacy.h), or NULL. */
struct tok_legacy;
hone_status tok_config_read(hone_tokenizer *t, const char *dir, const struct tok_legacy *legacy) HONE_MUST_CHECK;

/* Typed access to a component's fields; `where` names the component. An absent key gives the default; a missing one
 * without default is E_FORMAT. tok_json_keys refuses keys that are not in the list "a b c" by name. */
hone_status tok_json_bool(bool *out, const json_t *o, const char *key, int absent, const char *where) HONE_MUST_CHECK;
hone_status tok_json_string(const char **out, size_t *n, const json_t *o, const char *key, const char *where)
    HONE_MUST_CHECK;
hone_status tok_json_keys(const json_t *o, const char *allowed, const char *where) HONE_MUST_CHECK;
/* The component's "type". */
hone_status tok_json_type(const char **out, const json_t *o, const char *where) HONE_MUST_CHECK;

#endif /* HONE_TEXT_TOKENIZER_PARTS_H */
