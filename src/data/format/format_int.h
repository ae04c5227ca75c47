/* data/format/format_int.h -- the row formats, for this folder only. */
#ifndef HONE_DATA_FORMAT_INT_H
#define HONE_DATA_FORMAT_INT_H

#include "data/format/conversation.h"
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

/* ---- values of a row (format_value.c) ---- */

/* Raises and returns E_FORMAT: "key" must be what `want` says. */
hone_status format_wrong_type(const format_row *r, const char *key, const char *want, const json_t *got);
/* Raises and returns E_DATA: the row has no "key"; names the keys that it has. */
hone_status format_missing(const format_row *r, const char *key);
/* The value of `key` (which may be NULL), or NULL if the row has none or it is null. */
json_t     *format_get(const format_row *r, const char *key);
/* A value that may be absent or null, but else is a string. */
hone_status format_get_text(const format_row *r, const char *key, format_text *out) HONE_MUST_CHECK;
format_text format_text_of(const json_t *string);
/* An array, or the text of one (as the columns of a CSV file are); NULL if the row has none. Lives as long as `c`. */
hone_status format_get_list(const format_row *r, const char *key, const char *want, hone_conversation *c,
                            json_t **out) HONE_MUST_CHECK;
/* Tools: an array, an object (a single tool), or the text of one of these. *out is owned, or NULL if there are none. */
hone_status format_get_tools(const format_row *r, const char *key, hone_conversation *out) HONE_MUST_CHECK;
/* chat_template_kwargs of a row, and the margin of a pair. */
hone_status format_get_extras(const format_row *r, hone_conversation *c) HONE_MUST_CHECK;
/* Refuse images, video and audio, and what belongs to them. */
hone_status format_check_media(const format_row *r) HONE_MUST_CHECK;
/* Two texts, joined by a newline where both have something. */
hone_status format_join(hone_str *out, format_text first, format_text second) HONE_MUST_CHECK;

/* ---- JSON in the making; references to new values are taken over, also by a failure (E_NOMEM) ---- */

hone_status format_set(json_t *object, const char *key, json_t *value) HONE_MUST_CHECK;
hone_status format_append(json_t *array, json_t *value) HONE_MUST_CHECK;
/* Append {"role": role, "content": text}. */
hone_status format_add_message(json_t *messages, const char *role, format_text text) HONE_MUST_CHECK;
bool        format_is_role(const json_t *message, const char *role);

/* ---- messages of any spelling (format_messages.c), and the tool calls in them (format_calls.c) ---- */

/* Append the messages of `list`, which the row has under `key`, to `out` (c's messages, chosen or rejected), in the spelling
 * of chat templates. */
hone_status format_add_messages(const format_row *r, hone_conversation *c, json_t *out, const json_t *list,
                                const char *key) HONE_MUST_CHECK;
/* Append an answer: a text, a message, or a list of messages. */
hone_status format_add_answer(const format_row *r, hone_conversation *c, json_t *out, const json_t *answer,
                              const char *key) HONE_MUST_CHECK;
/* Put the row's system prompt in front, unless the messages begin with one. */
hone_status format_add_system(hone_conversation *c, format_text system) HONE_MUST_CHECK;

/* Append the calls that `content` holds (an object, a list of objects, or the text of one, which reasoning or <tool_call>
 * marks may surround) to `calls`, as objects of type function; `beside`: the text around them. `i` is the message's index. */
hone_status format_read_calls(const format_row *r, size_t i, const json_t *content, json_t *calls,
                              hone_str *beside) HONE_MUST_CHECK;
/* Whether a content of parts holds tool calls or their results (as Anthropic writes them). */
bool        format_has_call_blocks(const json_t *content);
/* Append the messages that such a content is; `loss` is what the message says of its loss, or -1. */
hone_status format_add_blocks(const format_row *r, size_t i, const char *role, const json_t *content, int loss,
                              json_t *out) HONE_MUST_CHECK;

/* ---- preferences (format_preference.c) ---- */

/* Move the answer, all that follows the last message of a user (or, `one`, the last message alone), to c->chosen. */
hone_status format_split_answer(hone_conversation *c, bool one) HONE_MUST_CHECK;
/* Both continuations start with the same messages: move these to the (empty) prompt. */
hone_status format_split_prompt(const format_row *r, hone_conversation *c) HONE_MUST_CHECK;
/* What a row of messages says about its answers: rejected ones (under any name), or a label. */
hone_status format_get_preference(const format_row *r, hone_conversation *c) HONE_MUST_CHECK;
/* The value of a column that says whether an answer is good; `*out` stays where the row has none. */
hone_status format_get_label(const format_row *r, const char *key, int *out) HONE_MUST_CHECK;
/* Whether the stage can use what the row says about its answers. E_USAGE or E_DATA if not. */
hone_status format_check_preference(const format_row *r, const hone_conversation *c) HONE_MUST_CHECK;

/* ---- rows that are no conversations (format_text.c) ---- */

hone_status format_ids_row(hone_row_result *out, const format_row *r) HONE_MUST_CHECK;
/* A document, of a row of any format. */
hone_status format_text_row(hone_row_result *out, hone_row_format format, const format_row *r) HONE_MUST_CHECK;

/* ---- rows to conversations; `out` is an empty one, the caller's to release also after a failure ---- */

hone_status format_alpaca_row(hone_conversation *out, const format_row *r) HONE_MUST_CHECK;
hone_status format_messages_row(hone_conversation *out, const format_row *r) HONE_MUST_CHECK;
hone_status format_swift_row(hone_conversation *out, const format_row *r) HONE_MUST_CHECK;
hone_status format_trl_row(hone_conversation *out, const format_row *r) HONE_MUST_CHECK;

/* ms-swift's name for a column ("query", "response", "system"), or NULL. */
const char *format_swift_name(const char *key);
/* The value of a column by ms-swift's name for it, under whichever name the row has it; NULL if it has none. E_DATA if it has
 * two. */
hone_status format_swift_get(const format_row *r, const char *name, json_t **out) HONE_MUST_CHECK;

/* Whether dataset_info.json says that a source is in OpenAI's dialect. */
bool format_is_openai(const hone_source *source);

#endif /* HONE_DATA_FORMAT_INT_H */
