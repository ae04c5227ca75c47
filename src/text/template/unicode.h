/*
 * text/template/unicode.h -- code points as Python's str methods see them (private to text/template).
 *
 * The tables are Python 3.12's (Unicode 15.0), read off its str methods by tools/golden/template_unicode.py.
 */
#ifndef HONE_TEXT_TEMPLATE_UNICODE_H
#define HONE_TEXT_TEMPLATE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TPL_UC_ALPHA = 1 << 0, TPL_UC_DECIMAL = 1 << 1, TPL_UC_DIGIT = 1 << 2, TPL_UC_NUMERIC = 1 << 3, TPL_UC_LOWER = 1 << 4,
    TPL_UC_UPPER = 1 << 5, TPL_UC_TITLE = 1 << 6, TPL_UC_CASED = 1 << 7,
    TPL_UC_IGNORED = 1 << 8,        /* what the final sigma looks past */
    TPL_UC_PRINT = 1 << 9, TPL_UC_ID_START = 1 << 10, TPL_UC_ID_NEXT = 1 << 11,
    TPL_UC_WORD = 1 << 12           /* \w of regular expressions */
};

enum { TPL_UC_LONGER = 0x200000 };  /* mappings from here on are numbers of tpl_uc_longers */

/* Mappings are differences to the code point itself. */
typedef struct tpl_uc_record { uint16_t flags; int32_t upper, lower, title, fold; } tpl_uc_record;
typedef struct tpl_uc_longer { uint16_t to[3]; } tpl_uc_longer;     /* up to three code points, then 0 */

extern const tpl_uc_record tpl_uc_records[];
extern const tpl_uc_longer tpl_uc_longers[];
extern const uint16_t      tpl_uc_index[];      /* block of 128 code points */
extern const uint16_t      tpl_uc_values[];     /* record of each code point of a block */

static inline const tpl_uc_record *tpl_uc_at(uint32_t cp)
{
    return &tpl_uc_records[tpl_uc_values[(size_t)tpl_uc_index[cp >> 7] * 128 + (cp & 127)]];
}

static inline bool tpl_uc_has(uint32_t cp, unsigned flags) { return (tpl_uc_at(cp)->flags & flags) != 0; }

#endif /* HONE_TEXT_TEMPLATE_UNICODE_H */
