/*
 * text/slots.h -- named templates: LLaMA-Factory's way of writing conversations, id for id.
 *
 * A named template is a table of slots, one for each kind of turn ("<|im_start|>user\n…<|im_end|>\n"). Each slot is
 * tokenised on its own and the ids are joined, so no token crosses the border of two slots; that, and what becomes of
 * reasoning, tools and tool calls, is why ids differ from those of the checkpoint's own chat template (text/chat.h).
 *
 * A template is bound to a tokenizer once, which may add tokens to it and change its EOS; then both are immutable and
 * shared by threads.
 */
#ifndef HONE_TEXT_SLOTS_H
#define HONE_TEXT_SLOTS_H

#include "text/tokenizer.h"

typedef struct hone_slots hone_slots;

typedef struct hone_slots_options {
    const char *name;               /* of the template */
    const char *tool_format;        /* NULL: the template's own */
    const char *default_system;     /* NULL: the template's own */
    int         enable_thinking;    /* 1, 0, or -1: an empty thought where an answer has none is trained (1), or is part of
                                       the prompt (0, -1); 0 also removes the thoughts there are. Reasoning templates only */
    bool        preserve_thinking;  /* keep the thoughts of earlier answers. Reasoning templates only */
    const char *date;               /* today, as "29 Nov 2026", for tool texts that carry it; NULL: ask the clock */
} hone_slots_options;

/*
 * Find the template and bind it: where it asks for that, EOS becomes its first stop word; its stop words become special
 * tokens; tokens that the vocabulary lacks are added; a tokenizer without EOS gets "<|endoftext|>"; without PAD, EOS.
 * The tokenizer must not be shared yet, and outlives the result.
 * Errors: E_USAGE (no such template or tool format; the nearest name is offered), E_UNSUPPORTED (a template of images),
 * E_DATA (a token that the template names by itself is not in the vocabulary).
 */
hone_status hone_slots_create(hone_slots **out, hone_tokenizer *tok, const hone_slots_options *options) HONE_MUST_CHECK;
void        hone_slots_destroy(hone_slots **slots);

const char *hone_slots_name(const hone_slots *s);
/* Answers have no end token of their own: EOS is appended once, and is the label of the first token of later turns. */
bool        hone_slots_efficient_eos(const hone_slots *s);
/* The model also takes images, videos or sounds, whose places "<image>", "<video>" and "<audio>" mark. */
bool        hone_slots_media(const hone_slots *s);
/* The date that tool texts carry, or NULL where the result does not depend on it. */
const char *hone_slots_date(const hone_slots *s);
/* Tokens that binding added to the vocabulary, in order of their ids. Borrowed. */
const int32_t *hone_slots_added(const hone_slots *s, size_t *n);
/* Ids that end an answer: EOS and the stop words. Borrowed. */
const int32_t *hone_slots_stops(const hone_slots *s, size_t *n);

/*
 * Append a chat template that writes system, user, assistant and tool turns as the slots do (no tools, no calls, thoughts as
 * they come), for a model that brings none of its own. A user's or tool's turn ends with the head of the answer.
 */
hone_status hone_slots_chat_template(const hone_slots *s, hone_str *out) HONE_MUST_CHECK;

typedef enum hone_turn_role { HONE_TURN_USER, HONE_TURN_ASSISTANT, HONE_TURN_OBSERVATION, HONE_TURN_FUNCTION } hone_turn_role;

/* A turn; a function turn's text is the JSON of one call or a list of them: {"name": …, "arguments": …}. */
typedef struct hone_turn { hone_turn_role role; const char *text; size_t n; } hone_turn;

typedef struct hone_slots_input {
    const hone_turn *turns;         /* an even number: prompt, answer, prompt, answer, … */
    size_t           n;
    const char      *system;        /* NULL or "": the default */
    size_t           n_system;
    const char      *tools;         /* JSON text; NULL or "": none */
    size_t           n_tools;
} hone_slots_input;

typedef enum hone_slots_way {
    HONE_SLOTS_ALL,         /* every answer is trained, with its thought */
    HONE_SLOTS_LAST,        /* only the last answer is (mask_history): thoughts of the others are removed */
    HONE_SLOTS_ONE          /* prompt and one answer, as in preference data: likewise, unless preserve_thinking */
} hone_slots_way;

/* ids of turn i: ids[ends[i - 1] .. ends[i]). Reusable; starts as zeros. */
typedef struct hone_slots_ids { hone_vec_i32 ids; hone_vec_i64 ends; } hone_slots_ids;

/* Errors: E_DATA, saying what cannot be written (tools or calls that are not as the tool format needs them, …). */
hone_status hone_slots_encode(const hone_slots *s, hone_slots_ids *out, const hone_slots_input *in,
                              hone_slots_way way) HONE_MUST_CHECK;
void        hone_slots_ids_deinit(hone_slots_ids *ids);

#endif /* HONE_TEXT_SLOTS_H */
