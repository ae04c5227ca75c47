/*
 * base/str.h -- a growable byte string, always NUL-terminated, and small helpers on C strings.
 *
 * Appending never returns a status: a failed allocation makes the string sticky-failed (`failed`), later appends are
 * no-ops, and the user checks once at the end with hone_str_ok.
 */
#ifndef HONE_BASE_STR_H
#define HONE_BASE_STR_H

#include "base/status.h"

typedef struct hone_str {
    char  *data;        /* never NULL after the first append; use hone_str_c for reading */
    size_t len, cap;
    bool   failed;
} hone_str;

#define HONE_STR_INIT { NULL, 0, 0, false }

void hone_str_append(hone_str *s, const void *bytes, size_t n);
void hone_str_puts(hone_str *s, const char *text);
void hone_str_putc(hone_str *s, char c);
void hone_str_printf(hone_str *s, const char *fmt, ...) HONE_PRINTF(2, 3);
/* Room for `n` more bytes without reallocation; false (and failed) when memory is out. */
bool hone_str_reserve(hone_str *s, size_t n);
void hone_str_clear(hone_str *s);                      /* keeps the memory */
void hone_str_deinit(hone_str *s);
const char *hone_str_c(const hone_str *s);             /* "" when empty */
hone_status hone_str_ok(const hone_str *s) HONE_MUST_CHECK;
/* Hand the buffer over (hone_free it); the string becomes empty. NULL with E_NOMEM raised if it had failed. */
char *hone_str_take(hone_str *s);

/* printf into fresh memory; NULL with E_NOMEM raised. */
char *hone_asprintf(const char *fmt, ...) HONE_PRINTF(1, 2);
bool  hone_starts_with(const char *s, const char *prefix);
bool  hone_ends_with(const char *s, const char *suffix);
/* Where the first line begins in which two texts that are not equal differ; the texts are the same up to there. */
size_t hone_first_different_line(const char *a, const char *b);
/* "*" in `pattern` matches any run of characters, "?" one; everything else itself. */
bool  hone_glob_match(const char *pattern, const char *s);
/* Edit distance (insert, delete, replace, swap of neighbours), for "did you mean". */
size_t hone_edit_distance(const char *a, const char *b);
/* The entry of `names[n]` nearest to `name`, or NULL when none is near enough to be worth offering. */
const char *hone_nearest_name(const char *name, const char *const *names, size_t n);

/* Shortest text that reads back as the same number; "NaN", "Infinity", "-Infinity" as Python's json writes them. `buf`
 * holds at least 32 bytes; returned for use in expressions. A number without fraction keeps ".0". */
char *hone_format_f64(char buf[32], double v);
char *hone_format_f32(char buf[32], float v);

#endif /* HONE_BASE_STR_H */
