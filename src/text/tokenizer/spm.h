/*
 * text/tokenizer/spm.h -- SentencePiece model files (sentencepiece_model.proto), the fields that conversion reads; private to
 * src/text/tokenizer/.
 */
#ifndef HONE_TEXT_TOKENIZER_SPM_H
#define HONE_TEXT_TOKENIZER_SPM_H

#include "text/tokenizer/parts.h"

typedef enum tok_spm_type { TOK_SPM_NORMAL = 1, TOK_SPM_UNKNOWN, TOK_SPM_CONTROL, TOK_SPM_USER, TOK_SPM_UNUSED, TOK_SPM_BYTE } tok_spm_type;
enum { TOK_SPM_UNIGRAM = 1, TOK_SPM_BPE = 2 };      /* model_type; 3 is words, 4 characters */

/* Bytes inside the file. */
typedef struct tok_bytes { const char *s; size_t n; } tok_bytes;

typedef struct tok_spm_piece { tok_bytes piece; float score; int32_t type; } tok_spm_piece;

typedef struct tok_spm {
    HONE_VEC(tok_spm_piece) pieces;
    int32_t   model_type, unk_id, bos_id, eos_id;
    bool      byte_fallback, add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces;
    tok_bytes unk_piece, bos_piece, eos_piece, charsmap;
} tok_spm;

/* Read data[0..n), which must outlive `out`. All strings are well-formed UTF-8 but `charsmap`. Errors: E_FORMAT; the caller
 * calls tok_spm_deinit in any case. */
hone_status tok_spm_read(tok_spm *out, const void *data, size_t n, const char *name) HONE_MUST_CHECK;
void        tok_spm_deinit(tok_spm *spm);

#endif /* HONE_TEXT_TOKENIZER_SPM_H */
