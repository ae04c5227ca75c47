/* text/chat_parts.h -- the inside of a chat object (private to text/chat*.c). */
#ifndef HONE_TEXT_CHAT_PARTS_H
#define HONE_TEXT_CHAT_PARTS_H

#include "text/chat.h"
#include "text/template.h"

struct hone_chat {
    const hone_tokenizer *tok;
    hone_template        *main, *with_tools;    /* with_tools: NULL = main serves both; main may be NULL beside it */
    json_t               *special;              /* bos_token, eos_token, …: variables of every render */
    hone_chat_arguments   arguments;
};

/* A range of bytes of the text that is supervised, and its message. */
typedef struct chat_span { size_t begin, end; int32_t message; } chat_span;
typedef HONE_VEC(chat_span) chat_spans;

/* What one call renders again and again, with fewer messages or another prompt flag. */
typedef struct chat_job {
    const hone_chat         *chat;
    const hone_template     *t;
    const json_t            *messages;      /* as the template sees them */
    const hone_chat_options *options;
} chat_job;

/* Find out which arguments of tool calls the template takes. E_NOMEM only: a template that refuses the trial takes none. */
hone_status chat_try_arguments(hone_chat *chat) HONE_MUST_CHECK;
/* An object without templates. */
hone_status chat_new(hone_chat **out, const hone_tokenizer *tok) HONE_MUST_CHECK;
/* Render the first n messages. */
hone_status chat_render_text(const chat_job *job, hone_template_output *out, size_t n, bool prompt) HONE_MUST_CHECK;
/* Whether the text begins with this prompt. A prompt that a template refused is empty, and tells nothing. */
bool        chat_begins_with(const hone_str *text, const hone_str *prompt);
/* The spans of a render of all messages (with or without prompt, as the job's options say) and its tokens, in order. */
hone_status chat_find_spans(const chat_job *job, chat_spans *out, bool *prompt_differs, const hone_template_output *full,
                            const hone_encoding *tokens) HONE_MUST_CHECK;

#endif /* HONE_TEXT_CHAT_PARTS_H */
