/* Where characters as people see them end, and which script they are of. */
#include "base/utf8.h"
#include "text/unicode/unicode.h"

int hone_unicode_script(uint32_t cp)
{
    size_t lo = 0, hi = hone_unicode_n_scripts;

    while (lo < hi) {       /* the last run that starts at or before cp */
        size_t mid = (lo + hi) / 2;

        if (hone_unicode_scripts[mid].first <= cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && cp <= hone_unicode_scripts[lo - 1].last ? hone_unicode_scripts[lo - 1].script : -1;
}

/* What the cluster so far allows beyond its last code point. */
typedef struct cluster {
    hone_unicode_grapheme last;
    bool                  pictograph;   /* a pictograph and then marks (GB11) */
    bool                  conjunct;     /* a consonant and then marks of conjuncts (GB9c) */
    bool                  linked;       /* with a linker among these marks */
    bool                  joined;       /* that pictograph, these marks and a joiner */
} cluster;

static bool extends(hone_unicode_grapheme g)
{
    return g == HONE_GB_EXTEND || g == HONE_GB_INCB_EXTEND || g == HONE_GB_LINKER || g == HONE_GB_ZWJ;
}

/* Whether `g` goes on with the cluster; names of rules as in the annex. */
static bool goes_on(const cluster *c, hone_unicode_grapheme g)
{
    if (c->last == HONE_GB_CONTROL || g == HONE_GB_CONTROL)                                             /* GB4, GB5 */
        return false;
    if (extends(g) || g == HONE_GB_SPACING || c->last == HONE_GB_PREPEND)                              /* GB9, GB9a, GB9b */
        return true;
    switch (g) {
    case HONE_GB_L: case HONE_GB_LV: case HONE_GB_LVT:
        return c->last == HONE_GB_L;                                                                    /* GB6 */
    case HONE_GB_V:
        return c->last == HONE_GB_L || c->last == HONE_GB_LV || c->last == HONE_GB_V;                  /* GB6, GB7 */
    case HONE_GB_T:
        return c->last == HONE_GB_LV || c->last == HONE_GB_V || c->last == HONE_GB_LVT || c->last == HONE_GB_T; /* GB7, GB8 */
    case HONE_GB_CONSONANT:
        return c->conjunct && c->linked;                                                                /* GB9c */
    case HONE_GB_PICTOGRAPH:
        return c->joined;                                                                               /* GB11 */
    default:
        return false;
    }
}

static void take(cluster *c, hone_unicode_grapheme g)
{
    c->joined = c->pictograph && g == HONE_GB_ZWJ;
    c->pictograph = g == HONE_GB_PICTOGRAPH || (c->pictograph && extends(g) && g != HONE_GB_ZWJ);
    if (g == HONE_GB_CONSONANT) {
        c->conjunct = true;
        c->linked = false;
    } else if (g == HONE_GB_LINKER) {
        c->linked = true;
    } else if (g != HONE_GB_INCB_EXTEND && g != HONE_GB_ZWJ) {
        c->conjunct = false;
    }
    c->last = g;
}

size_t hone_unicode_grapheme_end(const char *s, size_t n, size_t i)
{
    cluster  c = { HONE_GB_OTHER, false, false, false, false };
    size_t   len;
    uint32_t cp = hone_utf8_decode(s + i, &len);

    if (cp == '\r' && i + 1 < n && s[i + 1] == '\n')        /* GB3 */
        return i + 2;
    take(&c, (hone_unicode_grapheme)hone_unicode_at(cp)->grapheme);
    for (i += len; i < n; i += len) {
        hone_unicode_grapheme g = (hone_unicode_grapheme)hone_unicode_at(hone_utf8_decode(s + i, &len))->grapheme;

        if (!goes_on(&c, g))
            break;
        take(&c, g);
    }
    return i;
}
