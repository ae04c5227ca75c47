/*
 * text/tokenizer/regex.h -- regular expressions of tokenizer files: their syntax, private to regex*.c.
 */
#ifndef HONE_TEXT_TOKENIZER_REGEX_H
#define HONE_TEXT_TOKENIZER_REGEX_H

#include "text/tokenizer/parts.h"

/* ---- sets of code points ---- */

/* Where membership changes, ascending, from "not"; an even number of places, the last at most 0x110000. */
typedef HONE_VEC(uint32_t) tok_set;

void        tok_set_deinit(tok_set *s);
/* The set becomes: code points of these categories (bits) or with one of these flags; what `bounds` say; all that it lacked. */
hone_status tok_set_from_table(tok_set *out, uint32_t categories, unsigned flags) HONE_MUST_CHECK;
hone_status tok_set_from_bounds(tok_set *out, const uint32_t *bounds, size_t n) HONE_MUST_CHECK;
hone_status tok_set_complement(tok_set *s) HONE_MUST_CHECK;
hone_status tok_set_unite(tok_set *s, const tok_set *other) HONE_MUST_CHECK;
hone_status tok_set_intersect(tok_set *s, const tok_set *other) HONE_MUST_CHECK;
/* Add first..last. */
hone_status tok_set_add(tok_set *s, uint32_t first, uint32_t last) HONE_MUST_CHECK;
bool        tok_set_has(const tok_set *s, uint32_t cp);
/* Add what differs from a member by case alone (simple folding). */
hone_status tok_set_close_case(tok_set *s) HONE_MUST_CHECK;

/* ---- translation ---- */

typedef HONE_VEC(tok_set) tok_set_vec;

/* In a translated pattern, TOK_SET_MARK and two bytes (low, high) stand for a character of sets[number], or, with
 * TOK_NOT_SET_MARK, for one of none. The rest is PCRE2's syntax. */
enum { TOK_SET_MARK = 1, TOK_NOT_SET_MARK = 2, TOK_MAX_SETS = 4096 };

enum { TOK_RX_DEPTH = 64 };

/* Options of a group; `closes`: parentheses that its end closes besides its own; `begin`: where it begins in the output. */
typedef struct tok_rx_scope { bool fold, dot_all; int closes; size_t begin; } tok_rx_scope;

typedef struct tok_rx {
    const char  *s, *where;
    size_t       i, n;
    hone_str    *out;
    tok_set_vec *sets;
    tok_rx_scope stack[TOK_RX_DEPTH], *now;
    size_t       atom;          /* where in the output what a quantifier would repeat begins */
    uint32_t     before;        /* lower case of the letter just translated, which ignores case; 0 if none */
} tok_rx;

/* E_UNSUPPORTED for what stands at `begin`. */
hone_status tok_rx_refuse(const tok_rx *t, size_t begin, const char *why) HONE_MUST_CHECK;
/* Whether `text` stands at t->i. */
bool        tok_rx_stands(const tok_rx *t, const char *text);
/* If a set stands at t->i (\p{…}, \s, \w, \d, \h and their complements): pass it; `others`: the complement is meant. */
hone_status tok_rx_try_set(tok_rx *t, tok_set *out, bool *found, bool *others, bool in_class) HONE_MUST_CHECK;
/* The character that stands at t->i, escaped or not; passes it. */
hone_status tok_rx_character(tok_rx *t, uint32_t *cp, bool in_class) HONE_MUST_CHECK;
/* Code points that fold to a string of several when case is ignored. */
bool        tok_rx_folds_to_string(uint32_t cp);
/* What stands between the brackets of a class, up to and with the closing one. */
hone_status tok_rx_class(tok_rx *t, tok_set *out, int depth) HONE_MUST_CHECK;

/*
 * Translate a pattern from the syntax of the reference's engine. Errors: E_UNSUPPORTED and E_FORMAT, naming the construct and its
 * place.
 */
hone_status tok_regex_translate(hone_str *out, tok_set_vec *sets, const char *pattern, size_t n, const char *where)
    HONE_MUST_CHECK;

#endif /* HONE_TEXT_TOKENIZER_REGEX_H */
