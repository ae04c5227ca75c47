/* data/format_int.h -- the row formats, for format*.c only. */
#ifndef HONE_DATA_FORMAT_INT_H
#define HONE_DATA_FORMAT_INT_H

#include "data/conversation.h"
#include "data/format.h"

/* A row, and what is needed to read it and to speak about it. */
typedef struct format_row {
    const json_t               *json;
    const hone_source          *source;
    const hone_dataset_context *context;
    const char                 *where;
} format_row;

/* A text that is borrowed from a row; NULL where the row has none. */
typedef struct format_text { const char *s; size_t n; } format_text;

/* ---- shared by the formats (format.c) ---- */

/* Raises and returns E_FORMAT: "key" must be what `want` says. */
hone_status format_wrong_type(const format_row *r, const char *key, const char *want, const json_t *got);
/* The value of `key` (which may be NULL), or NULL if the row has none or it is null. */
const json_t *format_get(const format_row *r, const char *key);
/* A value that may be absent or null, but else is a string. */
hone_status format_get_text(const format_row *r, const char *key, format_text *out) HONE_MUST_CHECK;
/* Tools: an array, an object (a single tool), or the text of one of these. *out is owned, or NULL if there are none. */
hone_status format_get_tools(const format_row *r, const char *key, json_t **out) HONE_MUST_CHECK;
/* Append {"role": role, "content": text}. */
hone_status format_add_message(json_t *messages, const char *role, format_text text) HONE_MUST_CHECK;
/* Two texts, joined by a newline where both have something. */
hone_status format_join(hone_str *out, format_text first, format_text second) HONE_MUST_CHECK;
bool        format_is_role(const json_t *message, const char *role);

/* ---- rows that are no conversations (format_text.c) ---- */

hone_status format_ids_row(hone_row_result *out, const format_row *r) HONE_MUST_CHECK;
hone_status format_text_row(hone_row_result *out, const format_row *r) HONE_MUST_CHECK;

/* ---- rows to conversations; `out` is an empty one, the caller's to release also after a failure ---- */

hone_status format_alpaca_row(hone_conversation *out, const format_row *r) HONE_MUST_CHECK;
hone_status format_sharegpt_row(hone_conversation *out, const format_row *r) HONE_MUST_CHECK;
hone_status format_messages_row(hone_conversation *out, const format_row *r) HONE_MUST_CHECK;

/* Refuse messages that no encoder could use. */
hone_status format_check_messages(const json_t *messages, const char *where) HONE_MUST_CHECK;

#endif /* HONE_DATA_FORMAT_INT_H */
