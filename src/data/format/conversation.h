/*
 * data/format/conversation.h -- a row's conversation, whatever format it came in: what the row formats make, and what the
 * encoders (the model's chat template, or a named slot template) turn into ids and labels.
 */
#ifndef HONE_DATA_CONVERSATION_H
#define HONE_DATA_CONVERSATION_H

#include <math.h>

#include "base/json.h"
#include "base/vec.h"

/*
 * `messages` is in the spelling of chat templates: objects with "role" (system, user, assistant, tool), "content" (a
 * text or a list of parts), and what else the row has ("tool_calls", "reasoning_content", "loss", …).
 * Where `chosen` is given, `messages` is the prompt alone, and `chosen` (and `rejected`) are the messages that continue it:
 * preference and feedback rows, and rows of a prompt and its completion.
 */
typedef struct hone_conversation {
    json_t *messages;           /* array */
    json_t *chosen, *rejected;  /* arrays, or NULL */
    int     desirable;          /* feedback (KTO) rows: 1 or 0, the answer is in `chosen`; else -1 */
    double  margin;             /* reward rows: how much better `chosen` is; NaN = not said */
    json_t *tools;              /* array, or NULL */
    const char *tools_text;     /* the tools as the row spells them where that is a text (for named templates, which read it
                                   themselves; `tools` is NULL then); borrowed from the row, or NULL */
    size_t      n_tools_text;
    json_t *template_kwargs;    /* object: further variables of the chat template, or NULL */
    bool    plain;              /* texts without turns: prompt and answer follow one another, no chat template is applied */
    bool    openai;             /* written in OpenAI's dialect, where tool results that follow one another are one turn */
    /* Tool calls that the row spells as a text (ShareGPT's function_call), by the index of their message, counted over
     * messages, chosen, rejected; NULL or beyond the end for all others. Borrowed from the row or from `kept`. */
    HONE_VEC(const char *) call_text;
    json_t *kept;               /* array: what the row had as the text of a JSON value; or NULL */
} hone_conversation;

#define HONE_CONVERSATION_INIT { .desirable = -1, .margin = NAN }

void hone_conversation_deinit(hone_conversation *c);

#endif /* HONE_DATA_CONVERSATION_H */
