/* Case mapping as Python's str has it: Unicode's simple mappings (utf8proc) and the unconditional ones of SpecialCasing.txt
 * that change the number of characters; the final sigma of lower(). */
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/template/value.h"

typedef struct special { uint16_t from, to[3]; } special;

static const special upper_special[] = {
    { 0x00DF, { 0x0053, 0x0053 } }, { 0x0149, { 0x02BC, 0x004E } }, { 0x01F0, { 0x004A, 0x030C } },
    { 0x0390, { 0x0399, 0x0308, 0x0301 } }, { 0x03B0, { 0x03A5, 0x0308, 0x0301 } }, { 0x0587, { 0x0535, 0x0552 } },
    { 0x1E96, { 0x0048, 0x0331 } }, { 0x1E97, { 0x0054, 0x0308 } }, { 0x1E98, { 0x0057, 0x030A } },
    { 0x1E99, { 0x0059, 0x030A } }, { 0x1E9A, { 0x0041, 0x02BE } }, { 0x1F50, { 0x03A5, 0x0313 } },
    { 0x1F52, { 0x03A5, 0x0313, 0x0300 } }, { 0x1F54, { 0x03A5, 0x0313, 0x0301 } },
    { 0x1F56, { 0x03A5, 0x0313, 0x0342 } }, { 0x1F80, { 0x1F08, 0x0399 } }, { 0x1F81, { 0x1F09, 0x0399 } },
    { 0x1F82, { 0x1F0A, 0x0399 } }, { 0x1F83, { 0x1F0B, 0x0399 } }, { 0x1F84, { 0x1F0C, 0x0399 } },
    { 0x1F85, { 0x1F0D, 0x0399 } }, { 0x1F86, { 0x1F0E, 0x0399 } }, { 0x1F87, { 0x1F0F, 0x0399 } },
    { 0x1F88, { 0x1F08, 0x0399 } }, { 0x1F89, { 0x1F09, 0x0399 } }, { 0x1F8A, { 0x1F0A, 0x0399 } },
    { 0x1F8B, { 0x1F0B, 0x0399 } }, { 0x1F8C, { 0x1F0C, 0x0399 } }, { 0x1F8D, { 0x1F0D, 0x0399 } },
    { 0x1F8E, { 0x1F0E, 0x0399 } }, { 0x1F8F, { 0x1F0F, 0x0399 } }, { 0x1F90, { 0x1F28, 0x0399 } },
    { 0x1F91, { 0x1F29, 0x0399 } }, { 0x1F92, { 0x1F2A, 0x0399 } }, { 0x1F93, { 0x1F2B, 0x0399 } },
    { 0x1F94, { 0x1F2C, 0x0399 } }, { 0x1F95, { 0x1F2D, 0x0399 } }, { 0x1F96, { 0x1F2E, 0x0399 } },
    { 0x1F97, { 0x1F2F, 0x0399 } }, { 0x1F98, { 0x1F28, 0x0399 } }, { 0x1F99, { 0x1F29, 0x0399 } },
    { 0x1F9A, { 0x1F2A, 0x0399 } }, { 0x1F9B, { 0x1F2B, 0x0399 } }, { 0x1F9C, { 0x1F2C, 0x0399 } },
    { 0x1F9D, { 0x1F2D, 0x0399 } }, { 0x1F9E, { 0x1F2E, 0x0399 } }, { 0x1F9F, { 0x1F2F, 0x0399 } },
    { 0x1FA0, { 0x1F68, 0x0399 } }, { 0x1FA1, { 0x1F69, 0x0399 } }, { 0x1FA2, { 0x1F6A, 0x0399 } },
    { 0x1FA3, { 0x1F6B, 0x0399 } }, { 0x1FA4, { 0x1F6C, 0x0399 } }, { 0x1FA5, { 0x1F6D, 0x0399 } },
    { 0x1FA6, { 0x1F6E, 0x0399 } }, { 0x1FA7, { 0x1F6F, 0x0399 } }, { 0x1FA8, { 0x1F68, 0x0399 } },
    { 0x1FA9, { 0x1F69, 0x0399 } }, { 0x1FAA, { 0x1F6A, 0x0399 } }, { 0x1FAB, { 0x1F6B, 0x0399 } },
    { 0x1FAC, { 0x1F6C, 0x0399 } }, { 0x1FAD, { 0x1F6D, 0x0399 } }, { 0x1FAE, { 0x1F6E, 0x0399 } },
    { 0x1FAF, { 0x1F6F, 0x0399 } }, { 0x1FB2, { 0x1FBA, 0x0399 } }, { 0x1FB3, { 0x0391, 0x0399 } },
    { 0x1FB4, { 0x0386, 0x0399 } }, { 0x1FB6, { 0x0391, 0x0342 } }, { 0x1FB7, { 0x0391, 0x0342, 0x0399 } },
    { 0x1FBC, { 0x0391, 0x0399 } }, { 0x1FC2, { 0x1FCA, 0x0399 } }, { 0x1FC3, { 0x0397, 0x0399 } },
    { 0x1FC4, { 0x0389, 0x0399 } }, { 0x1FC6, { 0x0397, 0x0342 } }, { 0x1FC7, { 0x0397, 0x0342, 0x0399 } },
    { 0x1FCC, { 0x0397, 0x0399 } }, { 0x1FD2, { 0x0399, 0x0308, 0x0300 } }, { 0x1FD3, { 0x0399, 0x0308, 0x0301 } },
    { 0x1FD6, { 0x0399, 0x0342 } }, { 0x1FD7, { 0x0399, 0x0308, 0x0342 } }, { 0x1FE2, { 0x03A5, 0x0308, 0x0300 } },
    { 0x1FE3, { 0x03A5, 0x0308, 0x0301 } }, { 0x1FE4, { 0x03A1, 0x0313 } }, { 0x1FE6, { 0x03A5, 0x0342 } },
    { 0x1FE7, { 0x03A5, 0x0308, 0x0342 } }, { 0x1FF2, { 0x1FFA, 0x0399 } }, { 0x1FF3, { 0x03A9, 0x0399 } },
    { 0x1FF4, { 0x038F, 0x0399 } }, { 0x1FF6, { 0x03A9, 0x0342 } }, { 0x1FF7, { 0x03A9, 0x0342, 0x0399 } },
    { 0x1FFC, { 0x03A9, 0x0399 } }, { 0xFB00, { 0x0046, 0x0046 } }, { 0xFB01, { 0x0046, 0x0049 } },
    { 0xFB02, { 0x0046, 0x004C } }, { 0xFB03, { 0x0046, 0x0046, 0x0049 } }, { 0xFB04, { 0x0046, 0x0046, 0x004C } },
    { 0xFB05, { 0x0053, 0x0054 } }, { 0xFB06, { 0x0053, 0x0054 } }, { 0xFB13, { 0x0544, 0x0546 } },
    { 0xFB14, { 0x0544, 0x0535 } }, { 0xFB15, { 0x0544, 0x053B } }, { 0xFB16, { 0x054E, 0x0546 } },
    { 0xFB17, { 0x0544, 0x053D } },
};
static const special title_special[] = {
    { 0x00DF, { 0x0053, 0x0073 } }, { 0x0149, { 0x02BC, 0x004E } }, { 0x01F0, { 0x004A, 0x030C } },
    { 0x0390, { 0x0399, 0x0308, 0x0301 } }, { 0x03B0, { 0x03A5, 0x0308, 0x0301 } }, { 0x0587, { 0x0535, 0x0582 } },
    { 0x1E96, { 0x0048, 0x0331 } }, { 0x1E97, { 0x0054, 0x0308 } }, { 0x1E98, { 0x0057, 0x030A } },
    { 0x1E99, { 0x0059, 0x030A } }, { 0x1E9A, { 0x0041, 0x02BE } }, { 0x1F50, { 0x03A5, 0x0313 } },
    { 0x1F52, { 0x03A5, 0x0313, 0x0300 } }, { 0x1F54, { 0x03A5, 0x0313, 0x0301 } },
    { 0x1F56, { 0x03A5, 0x0313, 0x0342 } }, { 0x1FB2, { 0x1FBA, 0x0345 } }, { 0x1FB4, { 0x0386, 0x0345 } },
    { 0x1FB6, { 0x0391, 0x0342 } }, { 0x1FB7, { 0x0391, 0x0342, 0x0345 } }, { 0x1FC2, { 0x1FCA, 0x0345 } },
    { 0x1FC4, { 0x0389, 0x0345 } }, { 0x1FC6, { 0x0397, 0x0342 } }, { 0x1FC7, { 0x0397, 0x0342, 0x0345 } },
    { 0x1FD2, { 0x0399, 0x0308, 0x0300 } }, { 0x1FD3, { 0x0399, 0x0308, 0x0301 } }, { 0x1FD6, { 0x0399, 0x0342 } },
    { 0x1FD7, { 0x0399, 0x0308, 0x0342 } }, { 0x1FE2, { 0x03A5, 0x0308, 0x0300 } },
    { 0x1FE3, { 0x03A5, 0x0308, 0x0301 } }, { 0x1FE4, { 0x03A1, 0x0313 } }, { 0x1FE6, { 0x03A5, 0x0342 } },
    { 0x1FE7, { 0x03A5, 0x0308, 0x0342 } }, { 0x1FF2, { 0x1FFA, 0x0345 } }, { 0x1FF4, { 0x038F, 0x0345 } },
    { 0x1FF6, { 0x03A9, 0x0342 } }, { 0x1FF7, { 0x03A9, 0x0342, 0x0345 } }, { 0xFB00, { 0x0046, 0x0066 } },
    { 0xFB01, { 0x0046, 0x0069 } }, { 0xFB02, { 0x0046, 0x006C } }, { 0xFB03, { 0x0046, 0x0066, 0x0069 } },
    { 0xFB04, { 0x0046, 0x0066, 0x006C } }, { 0xFB05, { 0x0053, 0x0074 } }, { 0xFB06, { 0x0053, 0x0074 } },
    { 0xFB13, { 0x0544, 0x0576 } }, { 0xFB14, { 0x0544, 0x0565 } }, { 0xFB15, { 0x0544, 0x056B } },
    { 0xFB16, { 0x054E, 0x0576 } }, { 0xFB17, { 0x0544, 0x056D } },
};

static const special *find(const special *table, size_t n, uint32_t cp)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (table[mid].from == cp)
            return &table[mid];
        if (table[mid].from < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

typedef enum letter { OTHER, IGNORED, CASED } letter;

/* For the final sigma: cased letters, and characters that it looks past (marks, format characters, some punctuation). */
static letter letter_of(uint32_t cp)
{
    utf8proc_int32_t c = (utf8proc_int32_t)cp;

    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LL: case UTF8PROC_CATEGORY_LT:
        return CASED;
    case UTF8PROC_CATEGORY_MN: case UTF8PROC_CATEGORY_ME: case UTF8PROC_CATEGORY_CF: case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return IGNORED;
    default:
        return cp == '\'' || cp == '.' || cp == ':' || cp == 0xB7 || cp == 0x2018 || cp == 0x2019 || cp == 0x2024 ||
               cp == 0x2027 ? IGNORED : OTHER;
    }
}

/* Whether the sigma at s[at .. at+len) ends a word of s[from..). */
static bool final_sigma(const tpl_str *s, size_t from, size_t at, size_t len)
{
    letter kind = IGNORED;
    size_t n;

    for (size_t i = at; i > from && kind == IGNORED; ) {
        do
            i--;
        while (((unsigned char)s->data[i] & 0xC0) == 0x80);
        kind = letter_of(hone_utf8_decode(s->data + i, &n));
    }
    if (kind != CASED)
        return false;
    kind = IGNORED;
    for (size_t i = at + len; i < s->len && kind == IGNORED; i += n)
        kind = letter_of(hone_utf8_decode(s->data + i, &n));
    return kind != CASED;
}

/* The mapping ('u', 'l' or 't') of the character at s[at .. at+n), with its origin; sigma looks no further than `from`. */
static hone_status map_char(tpl_rt *rt, tpl_buf *b, const tpl_str *s, size_t from, size_t at, uint32_t cp, size_t n, char how)
{
    const special *sp = how == 'u' ? find(upper_special, HONE_COUNTOF(upper_special), cp)
                      : how == 't' ? find(title_special, HONE_COUNTOF(title_special), cp) : NULL;
    char           text[12];
    size_t         len = 0;

    if (sp) {
        for (int i = 0; i < 3 && sp->to[i]; i++)
            len += hone_utf8_encode(sp->to[i], text + len);
    } else if (how == 'l' && cp == 0x130) {
        len = hone_utf8_encode('i', text);
        len += hone_utf8_encode(0x307, text + len);
    } else if (how == 'l' && cp == 0x3A3 && final_sigma(s, from, at, n)) {
        len = hone_utf8_encode(0x3C2, text);
    } else {
        utf8proc_int32_t c = (utf8proc_int32_t)cp;

        c = how == 'u' ? utf8proc_toupper(c) : how == 't' ? utf8proc_totitle(c) : utf8proc_tolower(c);
        len = hone_utf8_encode((uint32_t)c, text);
    }
    return tpl_buf_as(rt, b, text, len, s, at);
}

static bool cased(uint32_t cp) { return letter_of(cp) == CASED; }

/* Where Jinja's title filter begins a word: after one of "-({[<" or white space. */
static bool splits_words(uint32_t cp)
{
    return cp == '-' || cp == '(' || cp == '{' || cp == '[' || cp == '<' || tpl_is_space(cp);
}

hone_status tpl_recase(tpl_rt *rt, tpl_value *out, const tpl_str *s, char how)
{
    tpl_buf b = { 0 };
    bool    start = true;
    size_t  n, word = 0;        /* where the letters begin that the final sigma may look at */

    HONE_TRY(tpl_step(rt, s->len / 64));
    for (size_t i = 0; i < s->len; i += n) {
        uint32_t cp = hone_utf8_decode(s->data + i, &n);
        char     one = how;

        if (how == 'c')
            one = i ? 'l' : 't';
        else if (how == 't')
            one = start ? 't' : 'l';
        else if (how == 'T')
            one = start ? 'u' : 'l';
        HONE_TRY(map_char(rt, &b, s, word, i, cp, n, one));
        if (how == 'T' && start)
            word = i + n;       /* the filter lowers what follows a word's first letter on its own */
        start = how == 'T' ? splits_words(cp) : !cased(cp);
    }
    return tpl_buf_take(rt, &b, out);
}

/* What `which` says of one character: 1 yes, 0 no, -1 it does not matter. */
static int is_of(uint32_t cp, char which)
{
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    bool letter = c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;

    switch (which) {
    case 'l': return c == UTF8PROC_CATEGORY_LL ? 1 : c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LT ? 0 : -1;
    case 'u': return c == UTF8PROC_CATEGORY_LU ? 1 : c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_LT ? 0 : -1;
    case 'a': return letter;
    case 'd': return c == UTF8PROC_CATEGORY_ND;
    case 'n': return letter || c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
    default:  return tpl_is_space(cp);
    }
}

bool tpl_str_all(const tpl_str *s, char which)
{
    bool   seen = false;
    size_t n;

    for (size_t i = 0; i < s->len; i += n) {
        int is = is_of(hone_utf8_decode(s->data + i, &n), which);

        if (is == 0)
            return false;
        seen |= is > 0;
    }
    return seen;
}
