/* Characters, properties and classes of regular expressions: sets of code points. */
#include <strings.h>

#include "base/utf8.h"
#include "text/tokenizer/regex.h"

enum { MAX_CLASS_DEPTH = 16 };

hone_status tok_rx_refuse(const tok_rx *t, size_t begin, const char *why)
{
    size_t n = HONE_MIN(t->n - begin, (size_t)16);

    while (n < t->n - begin && ((unsigned char)t->s[begin + n] & 0xC0) == 0x80)     /* whole characters */
        n++;
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: regular expression: \"%.*s\" at byte %zu: %s", t->where, (int)n, t->s + begin, begin + 1,
                     why);
}

bool tok_rx_stands(const tok_rx *t, const char *text)
{
    return t->n - t->i >= strlen(text) && memcmp(t->s + t->i, text, strlen(text)) == 0;
}

/* ---- properties ---- */

/* The set of a property: a category, a script or another. */
static hone_status named_set(const tok_rx *t, tok_set *out, size_t begin, const char *name, size_t n)
{
    uint32_t                      categories = hone_unicode_category_set(name, n);
    const hone_unicode_named_set *set = categories ? NULL : hone_unicode_set(name, n);

    if (categories)
        return tok_set_from_table(out, categories, 0);
    if (!set)
        return tok_rx_refuse(t, begin, "no general category, script or property that is known has this name");
    return tok_set_from_bounds(out, hone_unicode_set_bounds + set->first, set->n);
}

/* \p{Name}, \p{^Name}, \P{Name} at t->i (the backslash). */
static hone_status property(tok_rx *t, tok_set *out, bool *others, bool in_class)
{
    size_t      begin = t->i;
    const char *name, *end;

    *others = t->s[t->i + 1] == 'P';
    if (t->i + 2 >= t->n || t->s[t->i + 2] != '{')
        return tok_rx_refuse(t, begin, "wanted {name} after it");
    name = t->s + t->i + 3;
    end = memchr(name, '}', t->n - (t->i + 3));
    if (!end)
        return tok_rx_refuse(t, begin, "'}' is missing");
    t->i = (size_t)(end - t->s) + 1;
    if (name < end && *name == '^') {
        *others = !*others;
        name++;
    }
    if (!in_class && end - name == 4 && strncasecmp(name, "word", 4) == 0)
        return tok_set_from_table(out, 0, HONE_UC_WORD_REGEX);
    return named_set(t, out, begin, name, (size_t)(end - name));
}

/* \w alone takes in some fractions and superscripts of Latin-1 that it does not within a class. */
hone_status tok_rx_try_set(tok_rx *t, tok_set *out, bool *found, bool *others, bool in_class)
{
    char c = t->i + 1 < t->n ? t->s[t->i + 1] : '\0';

    *others = false;
    *found = t->s[t->i] == '\\' && c && strchr("pPsSwWdDhH", c);
    if (!*found)
        return HONE_OK;
    if (c == 'p' || c == 'P')
        return property(t, out, others, in_class);
    t->i += 2;
    *others = c < 'a';
    switch (c | 0x20) {
    case 's': return tok_set_from_table(out, 0, HONE_UC_SPACE);
    case 'w': return in_class ? named_set(t, out, t->i - 2, "word", 4) : tok_set_from_table(out, 0, HONE_UC_WORD_REGEX);
    case 'd': return tok_set_from_table(out, UINT32_C(1) << HONE_GC_Nd, 0);
    default:  return named_set(t, out, t->i - 2, "xdigit", 6);
    }
}

/* ---- single characters ---- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static hone_status hex_escape(tok_rx *t, uint32_t *cp)
{
    size_t begin = t->i, digits = 0, most;
    bool   braces = t->s[t->i + 1] == 'x' && t->i + 2 < t->n && t->s[t->i + 2] == '{';

    most = braces ? 8 : t->s[t->i + 1] == 'u' ? 4 : 2;
    t->i += braces ? 3 : 2;
    *cp = 0;
    for (; digits < most && t->i < t->n && hex_value(t->s[t->i]) >= 0; digits++, t->i++)
        *cp = *cp * 16 + (uint32_t)hex_value(t->s[t->i]);
    if (digits == 0 || (most == 4 && digits < 4) || *cp > 0x10FFFF || (*cp >= 0xD800 && *cp < 0xE000))
        return tok_rx_refuse(t, begin, "not a code point");
    if (!braces && most == 2 && *cp >= 0x80)
        return tok_rx_refuse(t, begin, "a single byte of a character");
    if (braces && (t->i >= t->n || t->s[t->i++] != '}'))
        return tok_rx_refuse(t, begin, "'}' is missing");
    return HONE_OK;
}

hone_status tok_rx_character(tok_rx *t, uint32_t *cp, bool in_class)
{
    static const char letters[] = "rntfvae", values[] = "\r\n\t\f\v\a\x1b";
    size_t      begin = t->i, len;
    const char *p;
    char        c;

    if (t->s[t->i] != '\\') {
        *cp = hone_utf8_decode(t->s + t->i, &len);
        t->i += len;
        return HONE_OK;
    }
    if (t->i + 1 >= t->n)
        return tok_rx_refuse(t, begin, "nothing follows the backslash");
    c = t->s[t->i + 1];
    if (c == 'x' || c == 'u')
        return hex_escape(t, cp);
    if (c && (p = strchr(letters, c))) {
        *cp = (unsigned char)values[p - letters];
        t->i += 2;
        return HONE_OK;
    }
    if (in_class && c == 'b') {
        *cp = '\b';
        t->i += 2;
        return HONE_OK;
    }
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return tok_rx_refuse(t, begin, "this escape is not implemented");
    *cp = hone_utf8_decode(t->s + t->i + 1, &len);
    t->i += 1 + len;
    return HONE_OK;
}

bool tok_rx_folds_to_string(uint32_t cp)
{
    return cp == 0xDF || cp == 0x130 || cp == 0x149 || cp == 0x1F0 || cp == 0x390 || cp == 0x3B0 || cp == 0x587 ||
           (cp >= 0x1E96 && cp <= 0x1E9A) || cp == 0x1E9E || (cp >= 0x1F50 && cp <= 0x1FFC) || (cp >= 0xFB00 && cp <= 0xFB17);
}

/* ---- classes ---- */

static hone_status unite_others(tok_set *s, tok_set *part, bool others)
{
    if (others)
        HONE_TRY(tok_set_complement(part));
    return tok_set_unite(s, part);
}

/* [:name:] or [:^name:] at t->i within a class. */
static hone_status posix_bracket(tok_rx *t, tok_set *part, bool *found, bool *others)
{
    static const char *const names[] = { "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
                                         "upper", "xdigit", "ascii", "word" };
    static const char *const properties[] = { "alnum", "alpha", "blank", "cntrl", "nd", "graph", "lower", "print", "posixpunct",
                                              "space", "upper", "xdigit", "ascii", "word" };
    const char *name = t->s + t->i + 2, *end = t->n - t->i > 2 ? memmem(name, t->n - t->i - 2, ":]", 2) : NULL;
    size_t      begin = t->i, k = 0;

    *found = tok_rx_stands(t, "[:") && end && end - name < 16;
    if (!*found)
        return HONE_OK;
    *others = *name == '^';
    name += *others;
    while (k < HONE_COUNTOF(names) && (strlen(names[k]) != (size_t)(end - name) || memcmp(names[k], name, strlen(names[k])) != 0))
        k++;
    if (k == HONE_COUNTOF(names))
        return tok_rx_refuse(t, begin, "there is no such bracket");
    t->i = (size_t)(end - t->s) + 2;
    return named_set(t, part, begin, properties[k], strlen(properties[k]));
}

/* A set within a class: \p{…}, [:…:], a class. */
static hone_status class_set(tok_rx *t, tok_set *s, bool *found, int depth)
{
    tok_set     part = { 0 };
    bool        others = false;
    size_t      begin = t->i;
    hone_status st;

    HONE_GO(posix_bracket(t, &part, found, &others));
    if (!*found)
        HONE_GO(tok_rx_try_set(t, &part, found, &others, true));
    if (!*found && t->s[t->i] == '[') {
        *found = true;
        others = t->i + 1 < t->n && t->s[t->i + 1] == '^';
        t->i += 1 + others;
        HONE_GO(tok_rx_class(t, &part, depth + 1));
    }
    if (*found)
        HONE_GO(unite_others(s, &part, others));
    if (*found && t->i + 1 < t->n && t->s[t->i] == '-' && t->s[t->i + 1] != ']')
        st = tok_rx_refuse(t, begin, "a range that begins with a set");
out:
    tok_set_deinit(&part);
    return st;
}

/* A character, or a range of them. */
static hone_status class_range(tok_rx *t, tok_set *s)
{
    size_t   begin = t->i;
    uint32_t first, last;

    HONE_TRY(tok_rx_character(t, &first, true));
    last = first;
    if (t->i + 1 < t->n && t->s[t->i] == '-' && t->s[t->i + 1] != ']') {
        t->i++;
        if (t->s[t->i] == '[' || (t->s[t->i] == '\\' && t->i + 1 < t->n && strchr("pPsSwWdDhH", t->s[t->i + 1])))
            return tok_rx_refuse(t, begin, "a range that ends in a set");
        HONE_TRY(tok_rx_character(t, &last, true));
        if (last < first)
            return tok_rx_refuse(t, begin, "a range that ends before it begins");
        if (t->i + 1 < t->n && t->s[t->i] == '-' && t->s[t->i + 1] != ']') {       /* after a range it is itself */
            HONE_TRY(tok_set_add(s, '-', '-'));
            t->i++;
        }
    } else if (t->now->fold && tok_rx_folds_to_string(first)) {
        return tok_rx_refuse(t, begin, "ignoring case, this is also a string of several characters");
    }
    return tok_set_add(s, first, last);
}

hone_status tok_rx_class(tok_rx *t, tok_set *out, int depth)
{
    size_t      begin = t->i;
    tok_set     part = { 0 };
    bool        narrowed = false, found;
    hone_status st = HONE_OK;

    HONE_GO_CHECK(depth < MAX_CLASS_DEPTH, HONE_E_UNSUPPORTED, "%s: regular expression: classes nested deeper than %d", t->where,
                  MAX_CLASS_DEPTH);
    if (t->i < t->n && t->s[t->i] == ']') {
        st = tok_rx_refuse(t, begin - 1, "']' at the start of a class; write \\]");
        goto out;
    }
    for (;;) {
        bool end = t->i >= t->n || t->s[t->i] == ']';

        if (t->i >= t->n) {
            st = tok_rx_refuse(t, begin - 1, "']' is missing");
            goto out;
        }
        if (end || tok_rx_stands(t, "&&")) {
            t->i += end ? 1 : 2;
            HONE_GO(narrowed ? tok_set_intersect(out, &part) : tok_set_unite(out, &part));
            narrowed = true;
            part.len = 0;
            if (end)
                break;
            continue;
        }
        HONE_GO(class_set(t, &part, &found, depth));
        if (!found)
            HONE_GO(class_range(t, &part));
    }
out:
    tok_set_deinit(&part);
    return st;
}
