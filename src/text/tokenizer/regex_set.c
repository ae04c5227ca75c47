/* Sets of code points, as the places where membership changes. Surrogates are in or out at will: text has none. */
#include "text/tokenizer/regex.h"

enum { END = 0x110000 };

void tok_set_deinit(tok_set *s) { HONE_VEC_DEINIT(s); }

/* Append the set whose membership over all code points is given by their records. */
static hone_status from_records(tok_set *out, const bool member[256])
{
    bool in = false;

    for (uint32_t block = 0; block < END / 128; block++) {
        const uint8_t *values = &hone_unicode_values[(size_t)hone_unicode_index[block] * 128];

        if (block > 0 && hone_unicode_index[block] == hone_unicode_index[block - 1] && values[0] == values[127] &&
            memcmp(values, values + 1, 127) == 0)
            continue;       /* more of the same */
        for (uint32_t i = 0; i < 128; i++)
            if (member[values[i]] != in) {
                HONE_TRY(HONE_VEC_PUSH(out, block * 128 + i));
                in = !in;
            }
    }
    return in ? HONE_VEC_PUSH(out, END) : HONE_OK;
}

hone_status tok_set_from_table(tok_set *out, uint32_t categories, unsigned flags)
{
    bool member[256];

    out->len = 0;
    for (size_t r = 0; r < hone_unicode_n_records; r++)
        member[r] = (categories >> hone_unicode_records[r].category & 1) || (hone_unicode_records[r].flags & flags);
    return from_records(out, member);
}

hone_status tok_set_from_bounds(tok_set *out, const uint32_t *bounds, size_t n)
{
    out->len = 0;
    HONE_TRY(HONE_VEC_RESERVE(out, n));
    memcpy(out->data, bounds, n * sizeof *bounds);
    out->len = n;
    return HONE_OK;
}

hone_status tok_set_complement(tok_set *s)
{
    bool first = s->len > 0 && s->data[0] == 0, last = s->len > 0 && s->data[s->len - 1] == END;

    HONE_TRY(HONE_VEC_RESERVE(s, 2));
    if (last)
        s->len--;
    else
        s->data[s->len++] = END;
    if (first) {
        s->len--;
        memmove(s->data, s->data + 1, s->len * sizeof *s->data);
    } else {
        memmove(s->data + 1, s->data, s->len * sizeof *s->data);
        s->data[0] = 0;
        s->len++;
    }
    return HONE_OK;
}

/* s becomes its union, or its intersection, with other. */
static hone_status combine(tok_set *s, const tok_set *other, unsigned wanted)
{
    tok_set     made = { 0 };
    size_t      a = 0, b = 0;
    hone_status st = HONE_OK;

    while (a < s->len || b < other->len) {
        uint32_t at = a == s->len ? other->data[b] : b == other->len ? s->data[a] : HONE_MIN(s->data[a], other->data[b]);
        bool     in;

        while (a < s->len && s->data[a] == at)
            a++;
        while (b < other->len && other->data[b] == at)
            b++;
        in = (a & 1) + (b & 1) >= wanted;
        if (in != (made.len & 1))
            HONE_GO(HONE_VEC_PUSH(&made, at));
    }
    tok_set_deinit(s);
    *s = made;
    return HONE_OK;
out:
    tok_set_deinit(&made);
    return st;
}

hone_status tok_set_unite(tok_set *s, const tok_set *other) { return combine(s, other, 1); }
hone_status tok_set_intersect(tok_set *s, const tok_set *other) { return combine(s, other, 2); }

hone_status tok_set_add(tok_set *s, uint32_t first, uint32_t last)
{
    uint32_t      bounds[2] = { first, last + 1 };
    const tok_set range = { bounds, 2, 2 };

    if (s->len && s->data[s->len - 1] < first) {        /* the usual case */
        HONE_TRY(HONE_VEC_RESERVE(s, 2));
        s->data[s->len++] = first;
        s->data[s->len++] = last + 1;
        return HONE_OK;
    }
    return tok_set_unite(s, &range);
}

bool tok_set_has(const tok_set *s, uint32_t cp)
{
    size_t lo = 0, hi = s->len;

    while (lo < hi) {       /* how many bounds are at or before cp */
        size_t mid = (lo + hi) / 2;

        if (s->data[mid] <= cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo & 1;
}

/* ---- case ---- */

/* Simple case folding as a table of pairs (code point, what it folds to) beside the library's lower case: code points that fold
 * with a letter whose lower case they are not. From CaseFolding.txt of Unicode, status C and S. */
static const uint32_t folds[][2] = {
    { 0xB5, 0x3BC }, { 0x17F, 0x73 }, { 0x345, 0x3B9 }, { 0x3C2, 0x3C3 }, { 0x3D0, 0x3B2 }, { 0x3D1, 0x3B8 }, { 0x3D5, 0x3C6 },
    { 0x3D6, 0x3C0 }, { 0x3F0, 0x3BA }, { 0x3F1, 0x3C1 }, { 0x3F5, 0x3B5 }, { 0x1C80, 0x432 }, { 0x1C81, 0x434 }, { 0x1C82, 0x43E },
    { 0x1C83, 0x441 }, { 0x1C84, 0x442 }, { 0x1C85, 0x442 }, { 0x1C86, 0x44A }, { 0x1C87, 0x463 }, { 0x1C88, 0xA64B },
    { 0x1E9B, 0x1E61 }, { 0x1FBE, 0x3B9 }
};

static uint32_t folded(uint32_t cp)
{
    uint32_t low[2];

    if (cp == 0x130 || hone_unicode_at(cp)->category == HONE_GC_Cn)     /* a string; unknown to the reference's engine */
        return cp;
    for (size_t i = 0; i < HONE_COUNTOF(folds); i++)
        if (folds[i][0] == cp)
            return folds[i][1];
    if (cp >= 0x13F8 && cp <= 0x13FD)       /* Cherokee folds to upper case */
        return cp - 8;
    if (cp >= 0xAB70 && cp <= 0xABBF)
        return cp - 0xAB70 + 0x13A0;
    if (cp >= 0x13A0 && cp <= 0x13F5)
        return cp;
    (void)hone_unicode_to_lower(cp, low);
    return low[0];
}

hone_status tok_set_close_case(tok_set *s)
{
    tok_set     more = { 0 }, fold = { 0 };
    hone_status st = HONE_OK;

    /* What members fold to; then all that fold to these. Beyond these planes there is no case. */
    for (uint32_t cp = 0; cp < 0x20000; cp++)
        if (folded(cp) != cp && tok_set_has(s, cp))
            HONE_GO(tok_set_add(&fold, folded(cp), folded(cp)));
    HONE_GO(tok_set_unite(&fold, s));
    for (uint32_t cp = 0; cp < 0x20000; cp++)
        if (folded(cp) != cp && tok_set_has(&fold, folded(cp)))
            HONE_GO(tok_set_add(&more, cp, cp));
    HONE_GO(tok_set_unite(s, &fold));
    HONE_GO(tok_set_unite(s, &more));
out:
    tok_set_deinit(&more);
    tok_set_deinit(&fold);
    return st;
}
