/*
 * text/chat.h -- conversations to text, ids and supervision, through the checkpoint's own chat template.
 */
#ifndef HONE_TEXT_CHAT_H
#define HONE_TEXT_CHAT_H

#include "base/json.h"
#include "text/tokenizer.h"

typedef struct hone_chat hone_chat;

/* One rendered conversation. */
typedef struct hone_chat_render {
    hone_str      text;         /* the prompt as the template writes it */
    hone_encoding tokens;       /* of `text`, no special tokens added (the template writes them) */
    HONE_VEC(uint8_t) mask;     /* per token: 1 = supervised */
    HONE_VEC(int32_t) message;  /* per token: index of the message whose supervision span it is in, else -1 */
    bool          prompt_differs;   /* what asks for the last answer (the messages before it, with a generation prompt) is not
                                       what `text` begins with */
} hone_chat_render;

typedef struct hone_chat_options {
    const json_t *tools;            /* array or NULL */
    const json_t *template_kwargs;  /* object or NULL: further variables (enable_thinking, …) */
    bool          generation_prompt;
} hone_chat_options;

/*
 * The chat template of a model directory: chat_template.jinja with those of additional_chat_templates/NAME.jinja, else
 * chat_template.json, else tokenizer_config.json's "chat_template" (a text, a list of named ones, or an object). Of several,
 * "default" is used, "tool_use" with tools, as transformers does.
 * Owns: `tok` is borrowed and must outlive it. Errors: E_IO / E_FORMAT / E_UNSUPPORTED with line and column;
 * E_DATA if the directory has no template.
 */
hone_status hone_chat_load(hone_chat **out, const char *dir, const hone_tokenizer *tok) HONE_MUST_CHECK;
/* The same with the template named `choice`, or that of the file `choice` if it ends in ".jinja"; NULL = as above. E_DATA
 * with the names that there are if it is none of them. */
hone_status hone_chat_load_named(hone_chat **out, const char *dir, const char *choice, const hone_tokenizer *tok)
    HONE_MUST_CHECK;
/* The same from a template's source; `name` appears in errors. */
hone_status hone_chat_create(hone_chat **out, const char *source, size_t n, const char *name,
                             const hone_tokenizer *tok) HONE_MUST_CHECK;
void        hone_chat_destroy(hone_chat **chat);

/* In which forms a template can write the arguments of a tool call. None: it writes no calls (or refuses the trial). */
typedef enum hone_chat_arguments {
    HONE_CHAT_NO_ARGUMENTS = 0,
    HONE_CHAT_TEXT_ARGUMENTS = 1,       /* a text that holds JSON stays that JSON (it may not be quoted once more) */
    HONE_CHAT_OBJECT_ARGUMENTS = 2      /* an object is written as JSON, or key by key (not as Python prints it) */
} hone_chat_arguments;

/* Found by rendering a small conversation when the template was loaded. Rendering itself changes no arguments, as
 * transformers does not; who has arguments in the other form can convert them. */
hone_chat_arguments hone_chat_get_arguments(const hone_chat *chat);

/*
 * Render `messages` (array of objects) into `out` (initialised with zeros; reusable: it is cleared first).
 *
 * Supervision: with {% generation %} blocks, exactly their bytes. Otherwise an assistant message's span starts after what
 * the template would emit there for a generation prompt (same arguments), and ends with the last special added token
 * emitted for the message after its last byte (but not before other bytes emitted for it, white space aside) or, if there is
 * none, with the first that follows; without any, with the last byte emitted for the message. A token is
 * supervised if it holds a byte of a span. What "there" and "emitted for" mean is taken from where the template was when it
 * wrote each byte (text/template.h), never from looking for the message's words.
 *   The header of message i is what add_generation_prompt adds to a render of the messages before it; if the template refuses
 * those, or adds nothing, what it adds after the whole conversation, or the header of an earlier turn, where the text has it.
 * Where the text has only a part of the header (a history without the empty reasoning that the prompt supplies, say), the
 * span starts after the last whole line or added token of the shared part, at the latest at the content's first byte.
 *   A later message's content (a tool's result) that a template writes on an assistant's turn ends that turn's span; content of
 * the assistant that follows it there has a span of its own.
 *   In long conversations the header is rendered for the first and the last of the turns that follow a message of one role; if
 * both have the same, so have those between.
 *   Messages reach the template as in transformers: keys with value null are left out; reasoning is found under
 * "reasoning_content" and "thinking", whether it came so or as "reasoning".
 * Errors: E_DATA (the template refuses, or a message is not renderable), with line and column of the template.
 * Thread-safe on distinct `out`.
 */
hone_status hone_chat_render_messages(const hone_chat *chat, hone_chat_render *out, const json_t *messages,
                                      const hone_chat_options *options) HONE_MUST_CHECK;
void        hone_chat_render_deinit(hone_chat_render *r);

#endif /* HONE_TEXT_CHAT_H */
