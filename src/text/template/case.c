/* Case mappings and character classes of Python's str. */
#include "base/utf8.h"
#include "text/template/unicode.h"
#include "text/template/value.h"

/* Whether the sigma at s[at .. at+len) ends a word of s[from..). */
static bool final_sigma(const tpl_str *s, size_t from, size_t at, size_t len)
{
    const tpl_uc_record *r = NULL;
    size_t               n;

    for (size_t i = at; i > from; ) {
        do
            i--;
        while (((unsigned char)s->data[i] & 0xC0) == 0x80);
        r = tpl_uc_at(hone_utf8_decode(s->data + i, &n));
        if (!(r->flags & TPL_UC_IGNORED))
            break;
        r = NULL;
    }
    if (!r || !(r->flags & TPL_UC_CASED))
        return false;
    for (size_t i = at + len; i < s->len; i += n) {
        r = tpl_uc_at(hone_utf8_decode(s->data + i, &n));
        if (!(r->flags & TPL_UC_IGNORED))
            return !(r->flags & TPL_UC_CASED);
    }
    return true;
}

/* The mapping ('u', 'l', 't' or 'f') of the character at s[at .. at+n), with its origin; sigma looks no further than `from`. */
static hone_status map_char(tpl_rt *rt, tpl_buf *b, const tpl_str *s, size_t from, size_t at, uint32_t cp, size_t n, char how)
{
    const tpl_uc_record *r = tpl_uc_at(cp);
    int32_t              to = how == 'u' ? r->upper : how == 't' ? r->title : how == 'f' ? r->fold : r->lower;
    char                 text[12];
    size_t               len = 0;

    if (to >= TPL_UC_LONGER) {
        const uint16_t *c = tpl_uc_longers[to - TPL_UC_LONGER].to;

        for (int i = 0; i < 3 && c[i]; i++)
            len += hone_utf8_encode(c[i], text + len);
    } else {
        if (how == 'l' && cp == 0x3A3 && final_sigma(s, from, at, n))
            to = 0x3C2 - 0x3A3;
        len = hone_utf8_encode((uint32_t)((int32_t)cp + to), text);
    }
    return tpl_buf_as(rt, b, text, len, s, at);
}

/* Where Jinja's title filter begins a word: after one of "-({[<" or white space. */
static bool splits_words(uint32_t cp)
{
    return cp == '-' || cp == '(' || cp == '{' || cp == '[' || cp == '<' || tpl_is_space(cp);
}

static char mapping_of(uint32_t cp, char how, bool start, bool first)
{
    switch (how) {
    case 'c': return first ? 't' : 'l';
    case 't': return start ? 't' : 'l';
    case 'T': return start ? 'u' : 'l';
    case 's': return tpl_uc_has(cp, TPL_UC_UPPER) ? 'l' : tpl_uc_has(cp, TPL_UC_LOWER) ? 'u' : 0;
    default:  return how;
    }
}

hone_status tpl_recase(tpl_rt *rt, tpl_value *out, const tpl_str *s, char how)
{
    tpl_buf b = { 0 };
    bool    start = true;
    size_t  n, word = 0;        /* where the letters begin that the final sigma may look at */

    HONE_TRY(tpl_step(rt, s->len / 64));
    for (size_t i = 0; i < s->len; i += n) {
        uint32_t cp = hone_utf8_decode(s->data + i, &n);
        char     one = mapping_of(cp, how, start, i == 0);

        if (one)
            HONE_TRY(map_char(rt, &b, s, word, i, cp, n, one));
        else
            HONE_TRY(tpl_buf_sub(rt, &b, s, i, i + n));
        if (how == 'T' && start)
            word = i + n;       /* the filter lowers what follows a word's first letter on its own */
        start = how == 'T' ? splits_words(cp) : !tpl_uc_has(cp, TPL_UC_CASED);
    }
    return tpl_buf_take(rt, &b, out);
}

/* What `which` says of one character: 1 yes, 0 no, -1 it does not matter. */
static int is_of(uint32_t cp, char which, bool first)
{
    unsigned flags = tpl_uc_at(cp)->flags;

    switch (which) {
    case 'l': return flags & TPL_UC_LOWER ? 1 : flags & (TPL_UC_UPPER | TPL_UC_TITLE) ? 0 : -1;
    case 'u': return flags & TPL_UC_UPPER ? 1 : flags & (TPL_UC_LOWER | TPL_UC_TITLE) ? 0 : -1;
    case 'a': return (flags & TPL_UC_ALPHA) != 0;
    case 'D': return (flags & TPL_UC_DECIMAL) != 0;
    case 'd': return (flags & TPL_UC_DIGIT) != 0;
    case 'N': return (flags & TPL_UC_NUMERIC) != 0;
    case 'n': return (flags & (TPL_UC_ALPHA | TPL_UC_DECIMAL | TPL_UC_DIGIT | TPL_UC_NUMERIC)) != 0;
    case 'p': return (flags & TPL_UC_PRINT) != 0;
    case 'A': return cp < 0x80;
    case 'i': return (flags & (first ? TPL_UC_ID_START : TPL_UC_ID_NEXT)) != 0;
    default:  return tpl_is_space(cp);
    }
}

bool tpl_str_all(const tpl_str *s, char which)
{
    bool   seen = which == 'p' || which == 'A';     /* true of "" */
    size_t n;

    for (size_t i = 0; i < s->len; i += n) {
        int is = is_of(hone_utf8_decode(s->data + i, &n), which, i == 0);

        if (is == 0)
            return false;
        seen |= is > 0;
    }
    return seen;
}

bool tpl_str_is_title(const tpl_str *s)
{
    bool   seen = false, inside = false;
    size_t n;

    for (size_t i = 0; i < s->len; i += n) {
        unsigned flags = tpl_uc_at(hone_utf8_decode(s->data + i, &n))->flags;

        if (flags & (TPL_UC_UPPER | TPL_UC_TITLE)) {
            if (inside)
                return false;
            seen = inside = true;
        } else if (flags & TPL_UC_LOWER) {
            if (!inside)
                return false;
            seen = true;
        } else {
            inside = false;
        }
    }
    return seen;
}
