/*
 * data/conversation.h -- a row's conversation, whatever format it came in: what the row formats make, and what the
 * encoders (the model's chat template, or a named slot template) turn into ids and labels.
 */
#ifndef HONE_DATA_CONVERSATION_H
#define HONE_DATA_CONVERSATION_H

#include "base/json.h"
#include "base/vec.h"

/*
 * Owned by the caller of a row format; zeros are an empty one.
 *
 * `messages` is in the spelling of chat templates: objects with "role" (system, user, assistant, tool), "content" (a
 * text or a list of parts), and what else the row has ("tool_calls", "reasoning_content", "loss", …).
 * Preference and feedback rows: `messages` is the prompt alone, `chosen` and `rejected` are the messages that continue it.
 */
typedef struct hone_conversation {
    json_t *messages;           /* array */
    json_t *chosen, *rejected;  /* arrays, or NULL */
    int     desirable;          /* feedback (KTO) rows: 1 or 0, the answer is in `chosen`; else -1 */
    double  margin;             /* reward rows: how much better `chosen` is; NaN = not said */
    json_t *tools;              /* array, or NULL */
    json_t *template_kwargs;    /* object: further variables of the chat template, or NULL */
    /* The tool call of message i as the row has it, where the row spells it as a text (ShareGPT's function_call); NULL or
     * beyond the end otherwise. Borrowed from the row. */
    HONE_VEC(const char *) call_text;
} hone_conversation;

void hone_conversation_deinit(hone_conversation *c);

#endif /* HONE_DATA_CONVERSATION_H */
