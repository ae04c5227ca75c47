#include "base/utf8.h"

#include <string.h>

/* Length of the well-formed sequence at s, or 0 (Unicode 15, table 3-7). */
static size_t sequence(const unsigned char *s, size_t n)
{
    unsigned char lo = 0x80, hi = 0xBF;
    size_t        len;

    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    len = hone_utf8_len(s[0]);
    if (n < len)
        return 0;
    if (s[0] == 0xE0) lo = 0xA0;
    if (s[0] == 0xED) hi = 0x9F;
    if (s[0] == 0xF0) lo = 0x90;
    if (s[0] == 0xF4) hi = 0x8F;
    if (s[1] < lo || s[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if (s[i] < 0x80 || s[i] > 0xBF)
            return 0;
    return len;
}

size_t hone_utf8_valid_prefix(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t i = 0;

    while (i < n) {
        uint64_t w;
        size_t   len;

        if (i + 8 <= n && (memcpy(&w, s + i, 8), (w & 0x8080808080808080u) == 0)) {
            i += 8;
            continue;
        }
        len = sequence(s + i, n - i);
        if (!len)
            break;
        i += len;
    }
    return i;
}

uint32_t hone_utf8_decode(const char *text, size_t *len)
{
    const unsigned char *s = (const unsigned char *)text;

    *len = hone_utf8_len(s[0]);
    switch (*len) {
    case 1:  return s[0];
    case 2:  return (uint32_t)(s[0] & 0x1F) << 6 | (s[1] & 0x3F);
    case 3:  return (uint32_t)(s[0] & 0x0F) << 12 | (uint32_t)(s[1] & 0x3F) << 6 | (s[2] & 0x3F);
    default: return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3F) << 12 | (uint32_t)(s[2] & 0x3F) << 6 | (s[3] & 0x3F);
    }
}

uint32_t hone_utf8_decode_before(const char *s, size_t at, size_t *len)
{
    size_t i = at - 1;

    while (((unsigned char)s[i] & 0xC0) == 0x80)
        i--;
    return hone_utf8_decode(s + i, len);
}

size_t hone_utf8_encode(uint32_t cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

/* The character at s, n > 0: its bytes, and whether a terminal would print it. */
static size_t character(const char *s, size_t n, bool *printable)
{
    unsigned char c = (unsigned char)s[0];
    size_t        len = sequence((const unsigned char *)s, n);

    *printable = len == 1 ? (c >= 0x20 && c != 0x7F) || c == '\n' || c == '\t'
                          : len != 0 && (c != 0xC2 || (unsigned char)s[1] >= 0xA0);
    return len ? len : 1;
}

void hone_utf8_append_clean(hone_str *out, const char *s, size_t n)
{
    bool printable;

    for (size_t i = 0, len; i < n; i += len) {
        len = character(s + i, n - i, &printable);
        if (printable)
            hone_str_append(out, s + i, len);
        for (size_t k = 0; !printable && k < len; k++)
            hone_str_printf(out, "\\x%02x", (unsigned char)s[i + k]);
    }
}

void hone_utf8_print_clean(FILE *file, const char *s, size_t n)
{
    bool   printable;
    size_t from = 0;        /* of the run of printable characters that is not written yet */

    for (size_t i = 0, len; i < n; i += len) {
        len = character(s + i, n - i, &printable);
        if (printable)
            continue;
        fwrite(s + from, 1, i - from, file);
        for (size_t k = 0; k < len; k++)
            fprintf(file, "\\x%02x", (unsigned char)s[i + k]);
        from = i + len;
    }
    fwrite(s + from, 1, n - from, file);
}
