#include "text/unicode/unicode.h"

#include <string.h>

typedef struct set_name { const char *name; uint32_t set; } set_name;

#define BIT(c) (UINT32_C(1) << HONE_GC_##c)
#define SET_L  (BIT(Lu) | BIT(Ll) | BIT(Lt) | BIT(Lm) | BIT(Lo))
#define SET_M  (BIT(Mn) | BIT(Mc) | BIT(Me))
#define SET_N  (BIT(Nd) | BIT(Nl) | BIT(No))
#define SET_P  (BIT(Pc) | BIT(Pd) | BIT(Ps) | BIT(Pe) | BIT(Pi) | BIT(Pf) | BIT(Po))
#define SET_S  (BIT(Sm) | BIT(Sc) | BIT(Sk) | BIT(So))
#define SET_Z  (BIT(Zs) | BIT(Zl) | BIT(Zp))
#define SET_C  (BIT(Cn) | BIT(Cc) | BIT(Cf) | BIT(Co) | BIT(Cs))

static const set_name set_names[] = {
    { "L", SET_L }, { "M", SET_M }, { "N", SET_N }, { "P", SET_P }, { "S", SET_S }, { "Z", SET_Z }, { "C", SET_C },
    { "Letter", SET_L }, { "Mark", SET_M }, { "Number", SET_N }, { "Punctuation", SET_P }, { "Symbol", SET_S },
    { "UppercaseLetter", BIT(Lu) }, { "LowercaseLetter", BIT(Ll) }, { "TitlecaseLetter", BIT(Lt) }, { "ModifierLetter", BIT(Lm) },
    { "OtherLetter", BIT(Lo) }, { "CasedLetter", BIT(Lu) | BIT(Ll) | BIT(Lt) }, { "NonspacingMark", BIT(Mn) },
    { "SpacingMark", BIT(Mc) }, { "EnclosingMark", BIT(Me) }, { "DecimalNumber", BIT(Nd) }, { "LetterNumber", BIT(Nl) },
    { "OtherNumber", BIT(No) }, { "ConnectorPunctuation", BIT(Pc) }, { "DashPunctuation", BIT(Pd) }, { "OpenPunctuation", BIT(Ps) },
    { "ClosePunctuation", BIT(Pe) }, { "InitialPunctuation", BIT(Pi) }, { "FinalPunctuation", BIT(Pf) },
    { "OtherPunctuation", BIT(Po) }, { "MathSymbol", BIT(Sm) }, { "CurrencySymbol", BIT(Sc) }, { "ModifierSymbol", BIT(Sk) },
    { "OtherSymbol", BIT(So) }, { "SpaceSeparator", BIT(Zs) }, { "LineSeparator", BIT(Zl) }, { "ParagraphSeparator", BIT(Zp) },
    { "Control", BIT(Cc) }, { "Format", BIT(Cf) }, { "PrivateUse", BIT(Co) }, { "Unassigned", BIT(Cn) },
    { "Separator", SET_Z }, { "Other", SET_C }, { "LC", BIT(Lu) | BIT(Ll) | BIT(Lt) },
#define NAME(c) { #c, BIT(c) },
    HONE_UNICODE_CATEGORIES(NAME)
#undef NAME
};

/* Write a property's name in lower case without what does not count in it; false if it is longer than any. */
static bool plain_name(char out[48], const char *name, size_t n)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        if (name[i] == ' ' || name[i] == '-' || name[i] == '_')
            continue;
        if (len + 1 == 48)
            return false;
        out[len++] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i]);
    }
    out[len] = '\0';
    return true;
}

uint32_t hone_unicode_category_set(const char *name, size_t n)
{
    char plain[48];

    for (size_t i = 0; plain_name(plain, name, n) && i < HONE_COUNTOF(set_names); i++)
        if (strcasecmp(set_names[i].name, plain) == 0)
            return set_names[i].set;
    return 0;
}

const hone_unicode_named_set *hone_unicode_set(const char *name, size_t n)
{
    char   plain[48];
    size_t lo = 0, hi = hone_unicode_n_sets;

    if (!plain_name(plain, name, n))
        return NULL;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int    order = strcmp(plain, hone_unicode_sets[mid].name);

        if (order == 0)
            return &hone_unicode_sets[mid];
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

int hone_unicode_to_lower(uint32_t cp, uint32_t out[2])
{
    size_t lo = 0, hi = hone_unicode_n_lower;

    out[0] = cp;
    if (cp == 0x130) {      /* the only one that gives two: i and a dot above */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    while (lo < hi) {       /* the last run that starts at or before cp */
        size_t mid = (lo + hi) / 2;

        if (hone_unicode_lower[mid].first <= cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo > 0) {
        const hone_unicode_lower_run *r = &hone_unicode_lower[lo - 1];

        if (cp <= r->last && (cp - r->first) % (uint32_t)r->step == 0)
            out[0] = (uint32_t)((int32_t)cp + r->delta);
    }
    return 1;
}
