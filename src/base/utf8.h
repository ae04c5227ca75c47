/*
 * base/utf8.h -- strict UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF).
 */
#ifndef HONE_BASE_UTF8_H
#define HONE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

/* Length of the well-formed prefix of s[0..n): n when all of it is well-formed, else the offset of the first bad byte. */
size_t hone_utf8_valid_prefix(const char *s, size_t n);
/* Decode the code point at s (well-formed text) and its length in bytes. */
uint32_t hone_utf8_decode(const char *s, size_t *len);
/* Decode the code point that ends at s[at] (at > 0) and its length in bytes. */
uint32_t hone_utf8_decode_before(const char *s, size_t at, size_t *len);
/* Encode `cp` into out[4]; returns the number of bytes. */
size_t hone_utf8_encode(uint32_t cp, char out[4]);
/*
 * Text for people without what a terminal would act on: control characters (U+0000..1F but newline and tab, U+007F..9F) and
 * bytes that are not well-formed UTF-8 become \xNN. Appended to a string, or written to a file.
 */
void hone_utf8_append_clean(hone_str *out, const char *s, size_t n);
void hone_utf8_print_clean(FILE *file, const char *s, size_t n);
/* Bytes of the sequence that starts with this lead byte of well-formed text. */
static inline size_t hone_utf8_len(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

#endif /* HONE_BASE_UTF8_H */
