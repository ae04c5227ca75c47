/* text/tokenizer/file.h -- the text of a tokenizer.json cut into its parts; private to file.c and file_model.c. */
#ifndef HONE_TEXT_TOKENIZER_FILE_H
#define HONE_TEXT_TOKENIZER_FILE_H

#include "text/tokenizer/parts.h"

typedef struct tok_part { const char *s; size_t n; } tok_part;      /* s NULL: absent */

/* A cursor over the text of the file. What it skips it does not judge: each part is parsed strictly later. */
typedef struct tok_file { const char *path, *s; size_t i, n; } tok_file;

int         tok_file_line(const tok_file *f, size_t at);
/* Refuse the first key that is not known, if there is one. `what`: the object's place. */
hone_status tok_file_refuse(const tok_file *f, tok_part unknown, const char *what) HONE_MUST_CHECK;
/* Parse a small part; NULL if it is absent or null. `where` gets its place for later errors. */
hone_status tok_file_parse(json_t **out, char where[512], const tok_file *f, tok_part p, const char *name) HONE_MUST_CHECK;

/* Keys that models have; those from TOK_M_VOCAB on are large. */
enum { TOK_M_TYPE, TOK_M_DROPOUT, TOK_M_UNK, TOK_M_PREFIX, TOK_M_SUFFIX, TOK_M_FUSE, TOK_M_FALLBACK, TOK_M_IGNORE, TOK_M_UNK_ID,
       TOK_M_MAX_CHARS, TOK_M_VOCAB, TOK_M_MERGES, TOK_M_COUNT };
extern const char *const tok_model_keys[TOK_M_COUNT];

/* Read the vocabulary and the model. `unknown`: a key of "model" that is not among these. */
hone_status tok_file_read_model(hone_tokenizer *t, const tok_file *f, tok_part model, const tok_part parts[TOK_M_COUNT],
                                tok_part unknown) HONE_MUST_CHECK;

/* Read an object of token: id into t's vocabulary; `name` says in errors which part of the file it is. */
hone_status tok_file_stream_vocab(hone_tokenizer *t, const tok_file *f, tok_part p, const char *name) HONE_MUST_CHECK;

#endif /* HONE_TEXT_TOKENIZER_FILE_H */
