/*
 * text/template.h -- chat templates: the Jinja language as transformers runs it, with the origin of every byte.
 *
 * Compiles the template language that published chat templates are written in, with jinja2's meaning to the byte in the
 * environment that transformers sets up (trim_blocks, lstrip_blocks, immutable sandbox, loop controls, {% generation %},
 * raise_exception, strftime_now, its own tojson). What is not implemented is refused by name with line and column.
 *
 * A render also tells where each byte of its output comes from: which element of `messages` it was copied from (through
 * concatenation, slicing, trimming, replacing, JSON …), which one the template was working on when it wrote the byte, and
 * whether it was written inside {% generation %}.
 *
 * A compiled template is immutable and may be rendered by many threads at once.
 */
#ifndef HONE_TEXT_TEMPLATE_H
#define HONE_TEXT_TEMPLATE_H

#include "base/json.h"
#include "base/vec.h"

typedef struct hone_template hone_template;

/* Bytes from the end of the previous span up to `end`. */
typedef struct hone_template_span {
    uint32_t end;
    int32_t  source;        /* message that the bytes were copied from, -1 = written by the template */
    int32_t  work;          /* message that the template was working on (loop variable), -1 = none */
    bool     role;          /* copied from the message's "role" */
    bool     generation;    /* written inside {% generation %} */
} hone_template_span;

typedef struct hone_template_output {
    hone_str text;
    HONE_VEC(hone_template_span) spans;     /* cover the text without gaps, in order */
} hone_template_output;

/* Bounds that end a hostile template with an error. Zeros mean the defaults in parentheses. */
typedef struct hone_template_limits {
    uint64_t steps;         /* expressions and statements evaluated (20 million) */
    size_t   memory;        /* bytes of values made while rendering (512 MiB) */
    size_t   output;        /* bytes of one string (64 MiB) */
} hone_template_limits;

/*
 * Compile source[0..n); `name` appears in errors.
 * Errors: E_FORMAT (syntax, ill-formed UTF-8), E_UNSUPPORTED (syntax, filter or test that is not implemented), each with
 * line and column. Owns: hone_template_destroy.
 */
hone_status hone_template_compile(hone_template **out, const char *source, size_t n, const char *name) HONE_MUST_CHECK;
void        hone_template_destroy(hone_template **t);
/* Whether the template has {% generation %} blocks. */
bool        hone_template_has_generation(const hone_template *t);

/*
 * Render with the variables of the objects vars[0..n_vars); a later one hides an earlier one's. The elements of a variable
 * named "messages" are the sources that spans speak of. `out` is initialised with zeros and reusable.
 * Errors: E_DATA with the template's name, line and column (it refuses, an operation fails, a limit is reached);
 * E_UNSUPPORTED (a method that is not implemented).
 */
hone_status hone_template_render(const hone_template *t, hone_template_output *out, const json_t *const *vars,
                                 size_t n_vars, const hone_template_limits *limits) HONE_MUST_CHECK;
void        hone_template_output_deinit(hone_template_output *out);

#endif /* HONE_TEXT_TEMPLATE_H */
