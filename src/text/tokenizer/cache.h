/*
 * text/tokenizer/cache.h -- the tables of a large tokenizer.json, kept in a file that is mapped; private to src/text/tokenizer/.
 *
 * Scanning a vocabulary of 250,000 tokens and its merges takes a large part of a second; mapping their tables takes almost
 * nothing. The file is tokenizer-<hash of the tokenizer.json> in $HONE_CACHE, else $XDG_CACHE_HOME/hone, else ~/.cache/hone;
 * HONE_CACHE set to nothing turns it off. Whatever is wrong with it, the tokenizer.json is read instead.
 */
#ifndef HONE_TEXT_TOKENIZER_CACHE_H
#define HONE_TEXT_TOKENIZER_CACHE_H

#include "base/file.h"
#include "text/tokenizer/parts.h"

/* Tables one after another: being put together, or read in the same order. */
struct tok_tables {
    hone_str    out;                        /* written so far */
    hone_mapped map;                        /* read from */
    size_t      at;
};

/* Append n objects of `size` bytes. Failure is sticky (out.failed). */
void        tok_tables_put(tok_tables *t, const void *data, size_t n, size_t size);
/* Borrow the next table, aligned for any object; false if it is not there. */
bool        tok_tables_get(tok_tables *t, const void **data, size_t *n, size_t size);

/* The cache of the tokenizer.json text[0..n), open for reading; NULL if there is none that is whole. */
tok_tables *tok_cache_open(const char *text, size_t n);
void        tok_cache_close(tok_tables **t);
/* Keep tables for it. Failure is silent. */
void        tok_cache_write(const char *text, size_t n, const tok_tables *t);

#endif /* HONE_TEXT_TOKENIZER_CACHE_H */
