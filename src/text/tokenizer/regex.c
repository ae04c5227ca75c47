/*
 * Regular expressions of tokenizer files, as the reference's engine (Oniguruma, Ruby syntax) understands them, through
 * PCRE2. The pattern is translated: \p{L}, \s, \w and their like become explicit ranges from our own Unicode table, since
 * PCRE2 follows another Unicode version; what means something else in PCRE2 is rewritten; what has no translation is
 * refused by name.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/utf8.h"
#include "text/tokenizer/parts.h"

enum { MATCH_LIMIT = 10000000 };        /* backtracking steps of one search */

struct tok_regex {
    pcre2_code          *code;
    pcre2_match_context *limits;
    char                 shown[80];     /* start of the pattern, for errors */
};

typedef struct translation {
    const char *s, *where;
    size_t      i, n;
    hone_str    out;
} translation;

/* ---- sets of code points ---- */

static bool in_set(uint32_t cp, uint32_t categories, unsigned flags)
{
    const hone_unicode_record *r = hone_unicode_at(cp);

    return (categories >> r->category & 1) || (r->flags & flags);
}

/* The code points of a set, or all others, as the inside of a class. Surrogates, which text never has, fall in anywhere. */
static void put_ranges(hone_str *out, uint32_t categories, unsigned flags, bool others)
{
    uint32_t first = 0;
    bool     open = false;

    for (uint32_t cp = 0; cp <= 0x110000; cp++) {
        bool in;

        if (cp == 0xD800)
            cp = 0xE000;
        in = cp < 0x110000 && in_set(cp, categories, flags) != others;
        if (in && !open)
            first = cp;
        if (!in && open)
            hone_str_printf(out, "\\x{%x}-\\x{%x}", first, cp == 0xE000 ? 0xD7FFu : cp - 1);
        open = in;
    }
}

static hone_status refuse(const translation *t, size_t begin, const char *why)
{
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: regular expression: \"%.*s\" at byte %zu: %s", t->where,
                     (int)HONE_MIN(t->n - begin, (size_t)16), t->s + begin, begin + 1, why);
}

/* \p{Name}, \p{^Name}, \P{Name} at t->i (the backslash). */
static hone_status property(translation *t, uint32_t *categories, bool *others)
{
    size_t      begin = t->i, n;
    const char *name, *end;

    *others = t->s[t->i + 1] == 'P';
    if (t->i + 2 >= t->n || t->s[t->i + 2] != '{')
        return refuse(t, begin, "wanted {name} after it");
    name = t->s + t->i + 3;
    end = memchr(name, '}', t->n - (t->i + 3));
    if (!end)
        return refuse(t, begin, "'}' is missing");
    t->i = (size_t)(end - t->s) + 1;
    if (name < end && *name == '^') {
        *others = !*others;
        name++;
    }
    n = (size_t)(end - name);
    *categories = hone_unicode_category_set(name, n);
    return *categories ? HONE_OK : refuse(t, begin, "only general categories are implemented");
}

/* If a set stands at t->i (\p{…}, \s, \w, \d, \h and their complements): pass it and write its ranges. */
static hone_status try_set(translation *t, bool *found, bool in_class)
{
    uint32_t categories = 0;
    unsigned flags = 0;
    bool     others = false;
    char     c = t->i + 1 < t->n ? t->s[t->i + 1] : '\0';

    *found = t->s[t->i] == '\\' && c && strchr("pPsSwWdDhH", c);
    if (!*found)
        return HONE_OK;
    if (c == 'p' || c == 'P') {
        HONE_TRY(property(t, &categories, &others));
    } else {
        t->i += 2;
        others = c < 'a';
        if (c == 's' || c == 'S')
            flags = HONE_UC_SPACE;
        else if (c == 'w' || c == 'W')
            flags = HONE_UC_WORD_REGEX;
        else if (c == 'd' || c == 'D')
            categories = UINT32_C(1) << HONE_GC_Nd;
    }
    if (!in_class)
        hone_str_putc(&t->out, '[');
    if (c == 'h')
        hone_str_puts(&t->out, "0-9A-Fa-f");
    else if (c == 'H')
        hone_str_puts(&t->out, "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{47}-\\x{60}\\x{67}-\\x{10ffff}");
    else
        put_ranges(&t->out, categories, flags, others);
    if (!in_class)
        hone_str_putc(&t->out, ']');
    return HONE_OK;
}

/* ---- single characters ---- */

static hone_status hex_escape(translation *t, uint32_t *cp)
{
    size_t begin = t->i, digits = 0, most;
    bool   braces = t->s[t->i + 1] == 'x' && t->i + 2 < t->n && t->s[t->i + 2] == '{';

    most = braces ? 8 : t->s[t->i + 1] == 'u' ? 4 : 2;
    t->i += braces ? 3 : 2;
    *cp = 0;
    for (; digits < most && t->i < t->n && strchr("0123456789abcdefABCDEF", t->s[t->i]) && t->s[t->i]; digits++, t->i++) {
        char c = t->s[t->i];

        *cp = *cp * 16 + (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    if (digits == 0 || (most == 4 && digits < 4) || *cp > 0x10FFFF || (*cp >= 0xD800 && *cp < 0xE000))
        return refuse(t, begin, "not a code point");
    if (!braces && most == 2 && *cp >= 0x80)
        return refuse(t, begin, "a single byte of a character");
    if (braces && (t->i >= t->n || t->s[t->i++] != '}'))
        return refuse(t, begin, "'}' is missing");
    return HONE_OK;
}

/* The character that stands at t->i, escaped or not; passes it. */
static hone_status character(translation *t, uint32_t *cp)
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
        return refuse(t, begin, "nothing follows the backslash");
    c = t->s[t->i + 1];
    if (c == 'x' || c == 'u')
        return hex_escape(t, cp);
    if (c && (p = strchr(letters, c))) {
        *cp = (unsigned char)values[p - letters];
        t->i += 2;
        return HONE_OK;
    }
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return refuse(t, begin, "this escape is not implemented");
    *cp = hone_utf8_decode(t->s + t->i + 1, &len);
    t->i += 1 + len;
    return HONE_OK;
}

static void put_character(hone_str *out, uint32_t cp)
{
    if (cp < 0x80 && !(cp >= '0' && cp <= '9') && !((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z')) {
        hone_str_printf(out, "\\x{%x}", cp);
    } else {
        char   c[4];
        size_t n = hone_utf8_encode(cp, c);

        hone_str_append(out, c, n);
    }
}

/* ---- classes and groups ---- */

static hone_status class(translation *t)
{
    size_t begin = t->i++, elements = 0;

    hone_str_putc(&t->out, '[');
    if (t->i < t->n && t->s[t->i] == '^') {
        hone_str_putc(&t->out, '^');
        t->i++;
    }
    for (;; elements++) {
        uint32_t cp;
        bool     set;

        if (t->i >= t->n)
            return refuse(t, begin, "']' is missing");
        if (t->s[t->i] == ']')
            break;
        if (t->s[t->i] == '[')
            return refuse(t, t->i, "a class within a class is not implemented");
        if (t->i + 1 < t->n && memcmp(t->s + t->i, "&&", 2) == 0)
            return refuse(t, t->i, "intersections are not implemented");
        HONE_TRY(try_set(t, &set, true));
        if (set)
            continue;
        HONE_TRY(character(t, &cp));
        put_character(&t->out, cp);
        if (t->i + 1 < t->n && t->s[t->i] == '-' && t->s[t->i + 1] != ']') {
            t->i++;
            HONE_TRY(try_set(t, &set, true));
            if (set || t->s[t->i] == '[')
                return refuse(t, begin, "a range that ends in a set");
            HONE_TRY(character(t, &cp));
            hone_str_putc(&t->out, '-');
            put_character(&t->out, cp);
        }
    }
    if (!elements)
        return refuse(t, begin, "an empty class");
    t->i++;
    hone_str_putc(&t->out, ']');
    return HONE_OK;
}

static hone_status group(translation *t)
{
    static const char *const kinds[] = { "(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?-i:" };

    for (size_t k = 0; k < HONE_COUNTOF(kinds); k++) {
        size_t n = strlen(kinds[k]);

        if (t->n - t->i >= n && memcmp(t->s + t->i, kinds[k], n) == 0) {
            hone_str_puts(&t->out, kinds[k]);
            t->i += n;
            return HONE_OK;
        }
    }
    if (t->i == 0 && t->n >= 4 && memcmp(t->s, "(?i)", 4) == 0) {      /* at the start it holds for all */
        hone_str_puts(&t->out, "(?i)");
        t->i = 4;
        return HONE_OK;
    }
    if (t->i + 1 < t->n && t->s[t->i + 1] == '?')
        return refuse(t, t->i, "this kind of group is not implemented");
    hone_str_puts(&t->out, "(?:");      /* nothing refers to what a group captured */
    t->i++;
    return HONE_OK;
}

/* \b and \B by the reference's own \w; \A, \z and \Z are the same in both. */
static hone_status assertion(translation *t, bool *found)
{
    char c = t->i + 1 < t->n && t->s[t->i] == '\\' ? t->s[t->i + 1] : '\0';

    *found = c && strchr("bBAzZ", c);
    if (!*found)
        return HONE_OK;
    t->i += 2;
    if (c != 'b' && c != 'B') {
        hone_str_putc(&t->out, '\\');
        hone_str_putc(&t->out, c);
        return HONE_OK;
    }
    for (int side = 0; side < 2; side++) {
        hone_str_puts(&t->out, side ? "|(?<![" : "(?:(?<=[");
        put_ranges(&t->out, 0, HONE_UC_WORD_REGEX, false);
        hone_str_puts(&t->out, (side == 0) == (c == 'b') ? "])(?![" : "])(?=[");
        put_ranges(&t->out, 0, HONE_UC_WORD_REGEX, false);
        hone_str_puts(&t->out, "])");
    }
    hone_str_putc(&t->out, ')');
    return HONE_OK;
}

/* {n}, {n,}, {n,m}, {,m}; anything else is a literal brace. */
static hone_status interval(translation *t)
{
    size_t      begin = t->i, i = t->i + 1, low = 0, high = 0;
    bool        comma = false;

    for (; i < t->n && t->s[i] >= '0' && t->s[i] <= '9'; i++)
        low++;
    if (i < t->n && t->s[i] == ',') {
        comma = true;
        for (i++; i < t->n && t->s[i] >= '0' && t->s[i] <= '9'; i++)
            high++;
    }
    if (i >= t->n || t->s[i] != '}' || low + high == 0) {
        hone_str_puts(&t->out, "\\{");
        t->i++;
        return HONE_OK;
    }
    hone_str_putc(&t->out, '{');
    if (!low)
        hone_str_putc(&t->out, '0');
    hone_str_append(&t->out, t->s + begin + 1, i - begin);
    t->i = i + 1;
    if (t->i < t->n && (t->s[t->i] == '+' || (t->s[t->i] == '?' && !comma)))
        return refuse(t, begin, "a repetition of a repetition");
    return HONE_OK;
}

static hone_status translate(translation *t)
{
    while (t->i < t->n) {
        uint32_t cp;
        bool     found;

        switch (t->s[t->i]) {
        case '[': HONE_TRY(class(t)); continue;
        case '(': HONE_TRY(group(t)); continue;
        case '{': HONE_TRY(interval(t)); continue;
        case '^': hone_str_puts(&t->out, "(?m:^)"); t->i++; continue;       /* Ruby's anchors are of lines */
        case '$': hone_str_puts(&t->out, "(?m:$)"); t->i++; continue;
        case ')': case '|': case '*': case '+': case '?': case '.':
            hone_str_putc(&t->out, t->s[t->i++]);
            continue;
        default: break;
        }
        HONE_TRY(try_set(t, &found, false));
        if (!found)
            HONE_TRY(assertion(t, &found));
        if (found)
            continue;
        HONE_TRY(character(t, &cp));
        put_character(&t->out, cp);
    }
    return hone_str_ok(&t->out);
}

hone_status tok_regex_create(tok_regex **out, const char *pattern, size_t n, const char *where)
{
    translation            t = { .s = pattern, .n = n, .where = where };
    pcre2_compile_context *how = NULL;
    tok_regex             *re = *out = hone_calloc(1, sizeof *re);
    hone_status            st = HONE_OK;
    PCRE2_SIZE             at;
    int                    error;

    HONE_GO_CHECK(re, HONE_E_NOMEM, "out of memory");
    snprintf(re->shown, sizeof re->shown, "%.*s", (int)HONE_MIN(n, sizeof re->shown - 1), pattern);
    HONE_GO(translate(&t));
    how = pcre2_compile_context_create(NULL);
    re->limits = pcre2_match_context_create(NULL);
    HONE_GO_CHECK(how && re->limits, HONE_E_NOMEM, "out of memory");
    pcre2_set_newline(how, PCRE2_NEWLINE_LF);
    pcre2_set_match_limit(re->limits, MATCH_LIMIT);
    re->code = pcre2_compile((PCRE2_SPTR)hone_str_c(&t.out), t.out.len, PCRE2_UTF | PCRE2_UCP, &error, &at, how);
    if (!re->code) {
        PCRE2_UCHAR text[128] = "";

        pcre2_get_error_message(error, text, sizeof text);
        st = HONE_FAIL(HONE_E_UNSUPPORTED, "%s: regular expression \"%s\": %s", where, re->shown, (char *)text);
        goto out;
    }
    (void)pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE);      /* without it, matching is only slower */
out:
    hone_str_deinit(&t.out);
    pcre2_compile_context_free(how);
    if (st != HONE_OK)
        tok_regex_destroy(out);
    return st;
}

void tok_regex_destroy(tok_regex **regex)
{
    tok_regex *re = *regex;

    if (!re)
        return;
    pcre2_code_free(re->code);
    pcre2_match_context_free(re->limits);
    hone_free(re);
    *regex = NULL;
}

static hone_status push_cut(tok_cut_vec *out, size_t begin, size_t end, bool match, uint32_t shift)
{
    return HONE_VEC_PUSH(out, (tok_cut){ (uint32_t)begin + shift, (uint32_t)end + shift, match });
}

/* The next match from `from` on; `found` says whether there is one. */
static hone_status search(const tok_regex *re, pcre2_match_data *data, const char *s, size_t n, size_t from, bool *found)
{
    int rc = pcre2_match(re->code, (PCRE2_SPTR)s, n, from, PCRE2_NO_UTF_CHECK, data, re->limits);

    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(re->code, (PCRE2_SPTR)s, n, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data, re->limits);
    *found = rc >= 0;
    HONE_CHECK(rc >= 0 || rc == PCRE2_ERROR_NOMATCH, rc == PCRE2_ERROR_NOMEMORY ? HONE_E_NOMEM : HONE_E_DATA,
               "the tokenizer's regular expression \"%s\" needs too much backtracking on this text (PCRE2 error %d)",
               re->shown, rc);
    return HONE_OK;
}

hone_status tok_regex_cut(const tok_regex *re, tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    pcre2_match_data *data = pcre2_match_data_create_from_pattern(re->code, NULL);
    size_t            done = 0, from = 0, last = SIZE_MAX;      /* last: end of the match before */
    hone_status       st = HONE_OK;

    HONE_GO_CHECK(data, HONE_E_NOMEM, "out of memory");
    while (from <= n) {
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(data);
        bool              found;

        HONE_GO(search(re, data, s, n, from, &found));
        if (!found)
            break;
        HONE_GO_CHECK(ends[0] <= ends[1] && ends[0] >= done, HONE_E_DATA, "the regular expression \"%s\" matches backwards",
                      re->shown);
        if (ends[0] == ends[1] && ends[1] == last) {    /* an empty match right after a match does not count */
            from += from < n ? hone_utf8_len((unsigned char)s[from]) : 1;
            continue;
        }
        if (done < ends[0])
            HONE_GO(push_cut(out, done, ends[0], false, shift));
        HONE_GO(push_cut(out, ends[0], ends[1], true, shift));
        done = from = last = ends[1];
    }
    if (done < n)
        HONE_GO(push_cut(out, done, n, false, shift));
out:
    pcre2_match_data_free(data);
    return st;
}
