/*
 * base/json.h -- glue around jansson: strict parsing with the place of each fault, typed access that names the key, text
 * out with shortest round-trip numbers. json_t is jansson's; references follow its rules.
 */
#ifndef HONE_BASE_JSON_H
#define HONE_BASE_JSON_H

#include <jansson.h>

#include "base/str.h"

/*
 * Parse one JSON value that fills text[0..n) (white space around it is fine). `where` names the source in errors
 * ("data.jsonl:7"), which say line and column, or the offset of ill-formed UTF-8. Duplicate keys are errors.
 * Integers beyond 64 bits become reals.
 * Errors: E_FORMAT. Owns: json_decref(*out).
 */
hone_status hone_json_parse(json_t **out, const char *text, size_t n, const char *where) HONE_MUST_CHECK;
hone_status hone_json_read(json_t **out, const char *path) HONE_MUST_CHECK;
/* The object in dir/name; NULL if there is no such file. Errors: E_FORMAT also for a value that is no object. */
hone_status hone_json_read_if_there(json_t **out, const char *dir, const char *name) HONE_MUST_CHECK;

/* Append compact JSON (", " and ": " separators when `spaced`), key order kept, UTF-8 raw, reals in shortest form. */
void hone_json_dump(hone_str *out, const json_t *value, bool spaced);
/* Append a quoted JSON string of n bytes of UTF-8. */
void hone_json_quote(hone_str *out, const char *text, size_t n);
/* "object", "array", "string", "integer", "real", "true", "false", "null". */
const char *hone_json_type_name(const json_t *value);

#endif /* HONE_BASE_JSON_H */
