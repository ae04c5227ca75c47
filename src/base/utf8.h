/*
 * base/utf8.h -- strict UTF-8 (no overlong forms, no surrogates, nothing past U+10FFFF).
 */
#ifndef HONE_BASE_UTF8_H
#define HONE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed prefix of s[0..n): n when all of it is well-formed, else the offset of the first bad byte. */
size_t hone_utf8_valid_prefix(const char *s, size_t n);
/* Decode the code point at s (well-formed text) and its length in bytes. */
uint32_t hone_utf8_decode(const char *s, size_t *len);
/* Decode the code point that ends at s[at] (at > 0) and its length in bytes. */
uint32_t hone_utf8_decode_before(const char *s, size_t at, size_t *len);
/* Encode `cp` into out[4]; returns the number of bytes. */
size_t hone_utf8_encode(uint32_t cp, char out[4]);
/* Bytes of the sequence that starts with this lead byte of well-formed text. */
static inline size_t hone_utf8_len(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

#endif /* HONE_BASE_UTF8_H */
