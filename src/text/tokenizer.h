/*
 * text/tokenizer.h -- tokenizers in Hugging Face's tokenizer.json form: ids equal to the tokenizers library's.
 *
 * A tokenizer is immutable after loading and may be used by many threads at once.
 */
#ifndef HONE_TEXT_TOKENIZER_H
#define HONE_TEXT_TOKENIZER_H

#include "base/str.h"
#include "base/thread.h"
#include "base/vec.h"

typedef struct hone_tokenizer hone_tokenizer;

/* Token ids with the bytes [begin, end) of the input text that each came from. Special tokens added by a post-processor
 * have begin == end. */
typedef struct hone_token { int32_t id; uint32_t begin, end; } hone_token;
typedef HONE_VEC(hone_token) hone_encoding;

/*
 * Load dir/tokenizer.json with what dir/tokenizer_config.json says, as transformers 5 does: names of special tokens and
 * further added tokens. Its add_bos_token and add_eos_token have no effect beside a tokenizer.json, whose post-processor
 * alone decides what is added.
 * Without a tokenizer.json, older vocabulary files are read for the class that tokenizer_config.json or config.json names, as
 * transformers 5 converts them: vocab.json with merges.txt, vocab.txt, or a SentencePiece model (tokenizer.model). There
 * add_bos_token and add_eos_token count.
 * Errors: E_IO (absent), E_FORMAT (broken), E_UNSUPPORTED (a component that is not implemented, by its name and place).
 */
hone_status hone_tokenizer_load(hone_tokenizer **out, const char *dir) HONE_MUST_CHECK;
/* Whether a directory has files that hone_tokenizer_load reads. */
bool        hone_tokenizer_is_in(const char *dir);
/* The same from the text of a tokenizer.json alone; `name` appears in errors. It has no named special tokens. */
hone_status hone_tokenizer_create(hone_tokenizer **out, const char *json, size_t n, const char *name) HONE_MUST_CHECK;
void        hone_tokenizer_destroy(hone_tokenizer **tok);

/*
 * Changes to a tokenizer that no other thread uses yet. Tokens that the vocabulary lacks get the next free ids, as the
 * reference's add_special_tokens (`special`: found in raw text) and add_tokens (else: in normalized text) give them; those
 * that it has become added tokens with these flags. Empty contents are ignored. An id of -1 means that there is none.
 */
hone_status hone_tokenizer_add(hone_tokenizer *tok, const char *const *contents, size_t n, bool special) HONE_MUST_CHECK;
void        hone_tokenizer_set_eos(hone_tokenizer *tok, int32_t id);
void        hone_tokenizer_set_pad(hone_tokenizer *tok, int32_t id);
/* Whether special tokens that stand in a text are split like any other text. */
hone_status hone_tokenizer_set_split_special(hone_tokenizer *tok, bool split) HONE_MUST_CHECK;

/*
 * Append the tokens of text[0..n) to `out` (it may hold tokens already; offsets count from this text's start).
 * `add_special`: also what the post-processor and tokenizer_config.json add (BOS, EOS).
 * Errors: E_DATA (ill-formed UTF-8, with the offset), E_NOMEM.
 */
hone_status hone_tokenizer_encode(const hone_tokenizer *tok, hone_encoding *out, const char *text, size_t n,
                                  bool add_special) HONE_MUST_CHECK;

typedef struct hone_text { const char *s; size_t n; } hone_text;

/*
 * Encode texts[0..n), each as hone_tokenizer_encode does into outs[i], over the threads of `pool` (NULL: none). The result does not
 * depend on their number.
 * Errors: that of the first text that fails, with its index; what outs[] then hold is not specified.
 */
hone_status hone_tokenizer_encode_batch(const hone_tokenizer *tok, hone_pool *pool, hone_encoding *outs, const hone_text *texts,
                                        size_t n, bool add_special) HONE_MUST_CHECK;

/* Append the text of ids; bytes that are not well-formed UTF-8 become U+FFFD, as the reference does. Ids without a token are
 * skipped. */
hone_status hone_tokenizer_decode(const hone_tokenizer *tok, hone_str *out, const int32_t *ids, size_t n,
                                  bool skip_special) HONE_MUST_CHECK;
/* Append the raw bytes that one token stands for (streaming output). */
hone_status hone_tokenizer_token_bytes(const hone_tokenizer *tok, hone_str *out, int32_t id) HONE_MUST_CHECK;

/* Id of a token by its content, -1 if absent. */
int32_t     hone_tokenizer_id(const hone_tokenizer *tok, const char *content);
/* Content as in the vocabulary ("Ġthe", "<|im_end|>"); NULL for an id without a token. Borrowed. */
const char *hone_tokenizer_content(const hone_tokenizer *tok, int32_t id);
/* An added token that tokenizer.json marks special. */
bool        hone_tokenizer_is_special(const hone_tokenizer *tok, int32_t id);
/* An added token (special or not). */
bool        hone_tokenizer_is_added(const hone_tokenizer *tok, int32_t id);
/* Largest id + 1. */
int32_t     hone_tokenizer_vocab_size(const hone_tokenizer *tok);
/* Ids of the named special tokens of tokenizer_config.json; -1 where there is none. */
int32_t     hone_tokenizer_bos(const hone_tokenizer *tok);
int32_t     hone_tokenizer_eos(const hone_tokenizer *tok);
int32_t     hone_tokenizer_pad(const hone_tokenizer *tok);
/* Whether encoding with add_special puts BOS first. */
bool        hone_tokenizer_adds_bos(const hone_tokenizer *tok);

#endif /* HONE_TEXT_TOKENIZER_H */
