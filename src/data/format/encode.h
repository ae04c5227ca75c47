/*
 * data/format/encode.h -- a conversation to ids and labels, by one of two encoders: the checkpoint's own chat template, or the
 * slots of a named template (`template`).
 */
#ifndef HONE_DATA_ENCODE_H
#define HONE_DATA_ENCODE_H

#include "data/format/conversation.h"
#include "data/format.h"

/*
 * Fill ids and labels of `out` (and those of the rejected answer, and tokens_full) as the options say. `where` is the
 * row's place in its file. Thread-safe on distinct `out`. Errors: E_DATA (the conversation cannot be written with this
 * template), E_FORMAT, E_NOMEM.
 */
hone_status hone_encode_chat(hone_row_result *out, const hone_conversation *c, const hone_dataset_context *context,
                             const char *where) HONE_MUST_CHECK;
/* Conversations that are plain: prompt and answer as they are, and EOS. */
hone_status hone_encode_plain(hone_row_result *out, const hone_conversation *c, const hone_dataset_context *context,
                              const char *where) HONE_MUST_CHECK;
hone_status hone_encode_slots(hone_row_result *out, const hone_conversation *c, const hone_dataset_context *context,
                              const char *where) HONE_MUST_CHECK;

#endif /* HONE_DATA_ENCODE_H */
