/*
 * text/slots/pyjson.h -- JSON as Python's json module reads and writes it (private to src/text/slots/).
 *
 * Tools and tool calls reach the model as text that Python made of them, so numbers, order and escapes must be Python's:
 * whole numbers of any size, the last of equal keys at the place of the first, NaN and Infinity, raw UTF-8.
 */
#ifndef HONE_TEXT_SLOTS_PYJSON_H
#define HONE_TEXT_SLOTS_PYJSON_H

#include "base/str.h"
#include "base/vec.h"

typedef enum pyj_kind { PYJ_NULL, PYJ_FALSE, PYJ_TRUE, PYJ_INT, PYJ_FLOAT, PYJ_STR, PYJ_LIST, PYJ_DICT } pyj_kind;

/* Zeros are null. The same struct serves a list's elements (without key) and a dict's. */
typedef struct pyj_value pyj_value;
struct pyj_value {
    char    *key;               /* of a dict's element; owned, as all below */
    size_t   n_key;
    pyj_kind kind;
    double   real;
    char    *text;              /* of a string, or the digits of a whole number; NUL-terminated */
    size_t   n_text;
    HONE_VEC(pyj_value) items;
};

/* Parse text[0..n), well-formed UTF-8, as json.loads does. Errors: E_DATA with the offset. On failure *out is null. */
hone_status pyj_parse(pyj_value *out, const char *text, size_t n) HONE_MUST_CHECK;
void        pyj_deinit(pyj_value *v);

/* The value of a key, NULL if there is none or `v` is no dict (or NULL). */
const pyj_value *pyj_get(const pyj_value *v, const char *key);
bool             pyj_is(const pyj_value *v, const char *text);          /* is this string */
bool             pyj_true(const pyj_value *v);                          /* Python's bool(v); false for NULL */

/* Append json.dumps(v, ensure_ascii=False), with `indent` spaces a level if that is not 0. */
void pyj_dump(hone_str *out, const pyj_value *v, int indent);
/* Append {"k": v, …}'s text of a string alone. */
void pyj_quote(hone_str *out, const char *text, size_t n);
/* Append str(v): a string as it is, anything else as repr() writes it. */
void pyj_str(hone_str *out, const pyj_value *v);

#endif /* HONE_TEXT_SLOTS_PYJSON_H */
