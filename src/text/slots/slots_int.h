/* text/slots/slots_int.h -- the inside of named templates (private to src/text/slots/). */
#ifndef HONE_TEXT_SLOTS_SLOTS_INT_H
#define HONE_TEXT_SLOTS_SLOTS_INT_H

#include "text/slots.h"
#include "text/slots/pyjson.h"

/* Marks inside a slot: what the turn says; BOS; EOS; the end of one text where another follows that is tokenised apart;
 * begin and end of a token that is looked up by its content. */
#define SLOT_IN    "\1"
#define SLOT_BOS   "\2"
#define SLOT_EOS   "\3"
#define SLOT_CUT   "\4"
#define SLOT_TOK   "\5"
#define SLOT_END   "\6"

typedef enum slot_thoughts {
    SLOT_PLAIN,             /* answers are taken as they are */
    SLOT_THOUGHTS,          /* an answer without thought gets an empty one */
    SLOT_THOUGHTS_CLOSED    /* the same; an empty thought is its closing mark alone */
} slot_thoughts;

/* A template. NULL fields have the defaults in parentheses. */
typedef struct slot_row {
    const char   *name;
    const char   *prefix;               /* before everything (nothing) */
    const char   *user, *system;        /* (IN) */
    const char   *assistant;            /* (IN EOS; without EOS if efficient_eos) */
    const char   *observation;          /* a tool's answer (as user) */
    const char   *function;             /* calls (as assistant) */
    const char   *tools;                /* tool format ("default") */
    const char   *tools_raw;            /* the tools' own JSON in this slot, whatever their format */
    const char   *default_system;
    const char   *stop[3];
    const char   *thought[2];           /* ("<think>\n", "\n</think>\n\n") */
    const char   *call[2];              /* marks around calls in the data ("<tool_call>", "</tool_call>") */
    slot_thoughts thoughts;
    bool          efficient_eos;
    bool          replace_eos;          /* EOS becomes stop[0] */
    bool          fused_system;         /* the system text is the head of the first turn, tokenised with it */
    bool          media;                /* of a model that also takes images, videos or sounds */
} slot_row;

extern const slot_row slot_rows[];
extern const size_t   slot_row_count;

/* A call in an answer. */
typedef struct slot_call { const char *name; size_t n_name; const pyj_value *arguments; } slot_call;

/* How tools and calls are written. Both append; errors are E_DATA. */
typedef struct slot_tool_format {
    const char *name;
    hone_status (*write_tools)(hone_str *out, const pyj_value *tools, const char *date);
    hone_status (*write_calls)(hone_str *out, const slot_call *calls, size_t n);
} slot_tool_format;

extern const slot_tool_format slot_tool_formats[];
extern const size_t           slot_tool_format_count;

/* The writers of tools and of calls, by format. */
#define SLOT_TOOL_FORMATS(X) \
    X(default) X(gemma4) X(glm4) X(glm4_moe) X(lfm2) X(ling) X(llama3) X(minimax1) X(minimax2) X(mistral) X(qwen) \
    X(qwen3_5) X(seed_oss)
#define SLOT_DECLARE_(name) \
    hone_status slot_tools_##name(hone_str *out, const pyj_value *tools, const char *date) HONE_MUST_CHECK; \
    hone_status slot_calls_##name(hone_str *out, const slot_call *calls, size_t n) HONE_MUST_CHECK;
SLOT_TOOL_FORMATS(SLOT_DECLARE_)
#undef SLOT_DECLARE_

struct hone_slots {
    const hone_tokenizer   *tok;
    const slot_row         *row;
    const char             *prefix, *user, *system, *assistant, *observation, *function;
    const slot_tool_format *tools;
    const char             *tools_raw;          /* NULL: as the format says */
    char                   *default_system, *date;
    const char             *thought[2], *call[2];
    int                     enable_thinking;
    bool                    preserve_thinking;
    hone_vec_i32            added, stops, empty_thought;
};

/* Append the text of a function turn. `marks`: thoughts and marked calls in it are known. */
hone_status slot_write_function(const hone_slots *s, hone_str *out, const char *text, size_t n, bool marks) HONE_MUST_CHECK;
/* Append the tools' text. */
hone_status slot_write_tools(const hone_slots *s, hone_str *out, const char *tools, size_t n) HONE_MUST_CHECK;

#endif /* HONE_TEXT_SLOTS_SLOTS_INT_H */
