/*
 * text/unicode/unicode.h -- what the reference tokenizers library takes each code point to be.
 *
 * The library mixes Unicode versions (16 in its regular expressions, 17 in its standard library's numbers and lower case,
 * an older one in its normalizer), so the tables are read off the library: tools/golden/tokenizer_unicode.py.
 */
#ifndef HONE_TEXT_UNICODE_H
#define HONE_TEXT_UNICODE_H

#include "base/str.h"
#include "base/vec.h"

/* General categories in the order of the table. */
#define HONE_UNICODE_CATEGORIES(X) \
    X(Cn) X(Cc) X(Cf) X(Co) X(Cs) X(Lu) X(Ll) X(Lt) X(Lm) X(Lo) X(Mn) X(Mc) X(Me) X(Nd) X(Nl) X(No) \
    X(Pc) X(Pd) X(Ps) X(Pe) X(Pi) X(Pf) X(Po) X(Sm) X(Sc) X(Sk) X(So) X(Zs) X(Zl) X(Zp)

typedef enum hone_unicode_category {
#define HONE_UNICODE_ENUM_(name) HONE_GC_##name,
    HONE_UNICODE_CATEGORIES(HONE_UNICODE_ENUM_)
#undef HONE_UNICODE_ENUM_
    HONE_GC_COUNT
} hone_unicode_category;

enum {
    HONE_UC_WORD_REGEX    = 1 << 0,     /* \w in patterns of a tokenizer file */
    HONE_UC_WORD          = 1 << 1,     /* \w of single_word tokens and the Whitespace pre-tokenizer */
    HONE_UC_NUMERIC       = 1 << 2,     /* the Digits pre-tokenizer */
    HONE_UC_PUNCT         = 1 << 3,     /* the Punctuation pre-tokenizer */
    HONE_UC_DECOMP        = 1 << 4,     /* has a canonical decomposition */
    HONE_UC_DECOMP_COMPAT = 1 << 5,     /* has a compatibility decomposition */
    HONE_UC_CCC           = 1 << 6,     /* canonical combining class not 0 */
    HONE_UC_NFC_ACTIVE    = 1 << 7,     /* NFC may change it or join it with what is before it */
    HONE_UC_SPACE         = 1 << 8,     /* White_Space */
    HONE_UC_CONTROL       = 1 << 9,     /* clean_text of BertNormalizer takes it away */
    HONE_UC_NONSPACING    = 1 << 10,    /* a mark that strip_accents of BertNormalizer takes away */
    HONE_UC_MARK          = 1 << 11     /* a mark that StripAccents takes away */
};

/* Classes of the breaking of extended grapheme clusters (Unicode Standard Annex 29, table 2), with the values of
 * Indic_Conjunct_Break and Extended_Pictographic among them. Regional indicators are not told apart: see
 * hone_unicode_grapheme_end. */
typedef enum hone_unicode_grapheme {
    HONE_GB_OTHER, HONE_GB_CONTROL, HONE_GB_EXTEND, HONE_GB_INCB_EXTEND, HONE_GB_LINKER, HONE_GB_ZWJ, HONE_GB_SPACING,
    HONE_GB_PREPEND, HONE_GB_CONSONANT, HONE_GB_PICTOGRAPH, HONE_GB_L, HONE_GB_V, HONE_GB_T, HONE_GB_LV, HONE_GB_LVT
} hone_unicode_grapheme;

typedef struct hone_unicode_record { uint8_t category, grapheme; uint16_t flags; } hone_unicode_record;
typedef struct hone_unicode_lower_run { uint32_t first, last; int32_t step, delta; } hone_unicode_lower_run;
typedef struct hone_unicode_script_run { uint32_t first, last; uint8_t script; } hone_unicode_script_run;

extern const size_t                 hone_unicode_n_records;
extern const hone_unicode_record    hone_unicode_records[];
extern const uint16_t               hone_unicode_index[];       /* block of 128 code points */
extern const uint8_t                hone_unicode_values[];      /* record of each code point of a block */
extern const size_t                 hone_unicode_n_lower;
extern const hone_unicode_lower_run hone_unicode_lower[];
extern const size_t                  hone_unicode_n_scripts;
extern const hone_unicode_script_run hone_unicode_scripts[];

/* Category and flags of a code point below 0x110000. */
static inline const hone_unicode_record *hone_unicode_at(uint32_t cp)
{
    return &hone_unicode_records[hone_unicode_values[(size_t)hone_unicode_index[cp >> 7] * 128 + (cp & 127)]];
}

static inline bool hone_unicode_has(uint32_t cp, unsigned flags) { return (hone_unicode_at(cp)->flags & flags) != 0; }

/* Set of categories (bits 1 << HONE_GC_x) named as in \p{name}: "L", "Lu", "Letter", …; 0 if there is no such name. */
uint32_t hone_unicode_category_set(const char *name, size_t n);

/* A set of \p{name} that is none of categories: hone_unicode_set_bounds[first .. first + n), where membership changes. */
typedef struct hone_unicode_named_set { const char *name; uint16_t first, n; } hone_unicode_named_set;
extern const uint32_t               hone_unicode_set_bounds[];
extern const size_t                 hone_unicode_n_sets;
extern const hone_unicode_named_set hone_unicode_sets[];

/* The set of a script or property by its name; NULL if there is none. Case, spaces, '-' and '_' do not count. */
const hone_unicode_named_set *hone_unicode_set(const char *name, size_t n);

/* Lower case of `cp` without context: one or two code points; returns their number. */
int hone_unicode_to_lower(uint32_t cp, uint32_t out[2]);

/* Script of a code point as the UnicodeScripts pre-tokenizer sees it (kana are Han); -1 if it goes with any. */
int hone_unicode_script(uint32_t cp);

/*
 * End of the extended grapheme cluster at s[i]. Flags (pairs of regional indicators) count as two: their only use is to look
 * up clusters of fewer than six bytes.
 */
size_t hone_unicode_grapheme_end(const char *s, size_t n, size_t i);

typedef enum hone_unicode_form { HONE_NFC, HONE_NFD, HONE_NFKC, HONE_NFKD } hone_unicode_form;

/* Bytes [begin, end) of a source text. */
typedef struct hone_span { uint32_t begin, end; } hone_span;
typedef HONE_VEC(hone_span) hone_span_vec;

/* Length of the prefix of s[0..n) that NFC leaves as it is whatever follows; n for most texts. */
size_t hone_unicode_nfc_inert(const char *s, size_t n);

/*
 * Append the normal form of well-formed s[0..n) to `out`, and for each byte of it the bytes of s that it came from to
 * `from`.
 */
hone_status hone_unicode_normalize(hone_str *out, hone_span_vec *from, const char *s, size_t n, hone_unicode_form form)
    HONE_MUST_CHECK;

#endif /* HONE_TEXT_UNICODE_H */
