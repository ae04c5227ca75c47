/*
 * text/tokenizer/legacy.h -- folders without tokenizer.json: what transformers makes of their vocabulary files for the class
 * that they name; private to src/text/tokenizer/.
 */
#ifndef HONE_TEXT_TOKENIZER_LEGACY_H
#define HONE_TEXT_TOKENIZER_LEGACY_H

#include "text/tokenizer/parts.h"

/* The named special tokens, in transformers' order. */
enum { TOK_BOS, TOK_EOS, TOK_UNK, TOK_SEP, TOK_PAD, TOK_CLS, TOK_MASK, TOK_NAMES };
extern const char *const tok_names[TOK_NAMES];

/* What a class brings where the folder's files do not say otherwise. */
typedef struct tok_legacy {
    char *named[TOK_NAMES];         /* owned; contents of special tokens, NULL: none */
    HONE_VEC(tok_added) extra;      /* contents owned; used unless tokenizer_config.json lists extra special tokens */
    int   before, after;            /* TOK_…: always around a text; -1: nothing; TOK_ASKED: as add_bos_token, add_eos_token say */
    bool  add_bos, add_eos;         /* defaults of these */
    bool  added_match_raw;          /* added_tokens_decoder is matched on the text before the normalizer */
    bool  readd_special;            /* all special tokens are added again, plainly */
} tok_legacy;

enum { TOK_ASKED = -2 };

/* Whether the folder has vocabulary files that tok_legacy_read knows. */
bool        tok_legacy_is(const char *dir);
/* Read them into t, but for the added tokens. Errors: E_UNSUPPORTED (a class that is not implemented, by its name), E_FORMAT. The
 * caller calls tok_legacy_deinit in any case. */
hone_status tok_legacy_read(hone_tokenizer *t, tok_legacy *legacy, const char *dir) HONE_MUST_CHECK;
void        tok_legacy_deinit(tok_legacy *legacy);

/* ---- between legacy.c and legacy_spm.c ---- */

typedef struct tok_legacy_in {
    const char   *dir, *class;      /* the class of transformers; "TokenizersBackend": none of its own */
    const json_t *config;           /* tokenizer_config.json; an empty object if absent */
} tok_legacy_in;

/* A component from its JSON; NULL: none. */
hone_status tok_legacy_normalizer(hone_tokenizer *t, const char *json) HONE_MUST_CHECK;
hone_status tok_legacy_pretokenizer(hone_tokenizer *t, const char *json) HONE_MUST_CHECK;
hone_status tok_legacy_decoder(hone_tokenizer *t, const char *json) HONE_MUST_CHECK;
/* A key of tokenizer_config.json that is true, false or null. */
hone_status tok_legacy_bool(bool *out, const tok_legacy_in *in, const char *key, bool absent, bool null) HONE_MUST_CHECK;
hone_status tok_legacy_name(tok_legacy *legacy, int name, const char *content, size_t n) HONE_MUST_CHECK;
/* The defaults of a class; NULL: none. */
hone_status tok_legacy_name_all(tok_legacy *legacy, const char *const named[TOK_NAMES]) HONE_MUST_CHECK;
/* From a SentencePiece model at `path`. */
hone_status tok_legacy_read_spm(hone_tokenizer *t, tok_legacy *legacy, const tok_legacy_in *in, const char *path) HONE_MUST_CHECK;

#endif /* HONE_TEXT_TOKENIZER_LEGACY_H */
