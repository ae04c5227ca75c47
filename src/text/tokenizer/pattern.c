/*
 * Patterns of Split and Replace: literal strings, the regular expressions of the well-known tokenizers matched by hand
 * (they take most of the time of encoding otherwise), and any other through tok_regex.
 */
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

#define GPT2_PATTERN "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/* Qwen2 takes digits one by one, Llama 3 (cl100k) up to three at a time; else they are the same. */
#define WORDS_PATTERN(digits) \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

typedef enum pattern_kind { PATTERN_LITERAL, PATTERN_GPT2, PATTERN_WORDS, PATTERN_REGEX } pattern_kind;

struct tok_pattern {
    pattern_kind kind;
    int          max_digits;    /* PATTERN_WORDS */
    hone_str     literal;
    tok_regex   *regex;
};

/* ---- classes of code points ---- */

enum { C_OTHER = 0, C_LETTER = 1, C_NUMBER = 2, C_SPACE = 4, C_NEWLINE = 8 };     /* a newline (CR, LF) is a space too */

static unsigned class_of(uint32_t cp)
{
    const hone_unicode_record *r = hone_unicode_at(cp);

    if (r->category >= HONE_GC_Lu && r->category <= HONE_GC_Lo)
        return C_LETTER;
    if (r->category >= HONE_GC_Nd && r->category <= HONE_GC_No)
        return C_NUMBER;
    if (r->flags & HONE_UC_SPACE)
        return cp == '\n' || cp == '\r' ? C_SPACE | C_NEWLINE : C_SPACE;
    return C_OTHER;
}

/* Class of the code point at s, and its length. */
static inline unsigned class_at(const char *s, size_t *len)
{
    static const uint8_t ascii[128] = {
        ['\t'] = C_SPACE, ['\n'] = C_SPACE | C_NEWLINE, ['\v'] = C_SPACE, ['\f'] = C_SPACE, ['\r'] = C_SPACE | C_NEWLINE,
        [' '] = C_SPACE, ['0' ... '9'] = C_NUMBER, ['A' ... 'Z'] = C_LETTER, ['a' ... 'z'] = C_LETTER
    };
    unsigned char c = (unsigned char)s[0];

    if (c < 0x80) {
        *len = 1;
        return ascii[c];
    }
    return class_of(hone_utf8_decode(s, len));
}

/* End of the run of class `c` that starts at or before i. */
static inline size_t run_end(const char *s, size_t n, size_t i, unsigned c)
{
    size_t len;

    while (i < n && (class_at(s + i, &len) & (C_LETTER | C_NUMBER | C_SPACE)) == c)
        i += len;
    return i;
}

/* End of a match of \s+(?!\S)|\s+ at i: all white space, but one left for the word that follows if there is more. */
static size_t space_end(const char *s, size_t n, size_t i)
{
    size_t last = i, end = i, len;

    while (end < n && (class_at(s + end, &len) & C_SPACE)) {
        last = end;
        end += len;
    }
    return end < n && last > i ? last : end;
}

static size_t gpt2_end(const char *s, size_t n, size_t i)
{
    size_t   len, k = i;
    unsigned c;

    if (s[i] == '\'' && i + 1 < n) {
        char a = s[i + 1], b = i + 2 < n ? s[i + 2] : '\0';

        if (a == 's' || a == 't' || a == 'm' || a == 'd')
            return i + 2;
        if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
            return i + 3;
    }
    if (s[i] == ' ' && i + 1 < n)
        k = i + 1;
    c = class_at(s + k, &len);
    if (c & C_SPACE)
        return space_end(s, n, i);
    return run_end(s, n, k + len, c);
}

/* Length of (?i:'s|'t|'re|'ve|'m|'ll|'d) at s, 0 if none. U+017F folds to s. */
static size_t contraction(const char *s, size_t n)
{
    char a, b;

    if (s[0] != '\'' || n < 2)
        return 0;
    a = (char)(s[1] | 0x20);
    b = n > 2 ? (char)(s[2] | 0x20) : '\0';
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l'))
        return 3;
    return n > 2 && s[1] == '\xC5' && s[2] == '\xBF' ? 3 : 0;
}

static size_t words_end(const char *s, size_t n, size_t i, int max_digits)
{
    size_t   len, next_len, end = i, newline = 0, k;
    unsigned c, next;

    if ((k = contraction(s + i, n - i)))
        return i + k;
    c = class_at(s + i, &len);
    next = i + len < n ? class_at(s + i + len, &next_len) : C_SPACE;
    if (c == C_LETTER || (c != C_NUMBER && !(c & C_NEWLINE) && next == C_LETTER))
        return run_end(s, n, i + len, C_LETTER);
    if (c == C_NUMBER) {
        for (int d = 0; d < max_digits && end < n && class_at(s + end, &len) == C_NUMBER; d++)
            end += len;
        return end;
    }
    if (c == C_OTHER || (s[i] == ' ' && next == C_OTHER)) {
        end = run_end(s, n, i + len, C_OTHER);
        while (end < n && (s[end] == '\n' || s[end] == '\r'))
            end++;
        return end;
    }
    for (; end < n && (c = class_at(s + end, &len)) & C_SPACE; end += len)
        if (c & C_NEWLINE)
            newline = end + 1;
    return newline ? newline : space_end(s, n, i);
}

/* ---- patterns ---- */

static bool is(const char *re, size_t n, const char *known) { return strlen(known) == n && memcmp(re, known, n) == 0; }

static hone_status from_regex(tok_pattern *p, const char *re, size_t n, const char *where)
{
    if (is(re, n, GPT2_PATTERN)) {
        p->kind = PATTERN_GPT2;
    } else if (is(re, n, WORDS_PATTERN("\\p{N}"))) {
        p->kind = PATTERN_WORDS;
        p->max_digits = 1;
    } else if (is(re, n, WORDS_PATTERN("\\p{N}{1,3}"))) {
        p->kind = PATTERN_WORDS;
        p->max_digits = 3;
    } else {
        p->kind = PATTERN_REGEX;
        return tok_regex_create(&p->regex, re, n, where);
    }
    return HONE_OK;
}

hone_status tok_pattern_create(tok_pattern **out, const json_t *spec, const char *where)
{
    const json_t *string = json_object_get(spec, "String"), *regex = json_object_get(spec, "Regex");
    hone_status   st = HONE_OK;

    *out = NULL;
    HONE_CHECK(json_object_size(spec) == 1 && (json_is_string(string) || json_is_string(regex)), HONE_E_FORMAT,
               "%s: the pattern is not {\"String\": …} or {\"Regex\": …}", where);
    *out = hone_calloc(1, sizeof **out);
    if (!*out)
        return HONE_E_NOMEM;
    if (string) {
        hone_str_append(&(*out)->literal, json_string_value(string), json_string_length(string));
        st = hone_str_ok(&(*out)->literal);
    } else {
        st = from_regex(*out, json_string_value(regex), json_string_length(regex), where);
    }
    if (st != HONE_OK)
        tok_pattern_destroy(out);
    return st;
}

hone_status tok_pattern_create_gpt2(tok_pattern **out)
{
    *out = hone_calloc(1, sizeof **out);
    if (!*out)
        return HONE_E_NOMEM;
    (*out)->kind = PATTERN_GPT2;
    return HONE_OK;
}

void tok_pattern_destroy(tok_pattern **pattern)
{
    tok_pattern *p = *pattern;

    if (!p)
        return;
    hone_str_deinit(&p->literal);
    tok_regex_destroy(&p->regex);
    hone_free(p);
    *pattern = NULL;
}

static hone_status push_cut(tok_cut_vec *out, size_t begin, size_t end, bool match, uint32_t shift)
{
    return HONE_VEC_PUSH(out, (tok_cut){ (uint32_t)begin + shift, (uint32_t)end + shift, match });
}

/* An empty string matches before each character and at the end, as the reference's does. */
static hone_status cut_everywhere(tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    HONE_TRY(push_cut(out, 0, 0, true, shift));
    for (size_t i = 0, len; i < n; i += len) {
        len = hone_utf8_len((unsigned char)s[i]);
        HONE_TRY(push_cut(out, i, i + len, false, shift));
        HONE_TRY(push_cut(out, i + len, i + len, true, shift));
    }
    return HONE_OK;
}

static hone_status cut_literal(const tok_pattern *p, tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    size_t done = 0;

    if (p->literal.len == 0)
        return cut_everywhere(out, s, n, shift);
    while (done < n) {
        const char *at = memmem(s + done, n - done, p->literal.data, p->literal.len);
        size_t      begin = at ? (size_t)(at - s) : n;

        if (begin > done)
            HONE_TRY(push_cut(out, done, begin, false, shift));
        if (!at)
            break;
        done = begin + p->literal.len;
        HONE_TRY(push_cut(out, begin, done, true, shift));
    }
    return HONE_OK;
}

hone_status tok_pattern_cut(const tok_pattern *p, tok_scratch *scratch, tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    switch (p->kind) {
    case PATTERN_LITERAL:
        return cut_literal(p, out, s, n, shift);
    case PATTERN_GPT2:
        for (size_t i = 0, end; i < n; i = end) {
            end = gpt2_end(s, n, i);
            HONE_TRY(push_cut(out, i, end, true, shift));
        }
        return HONE_OK;
    case PATTERN_WORDS:
        for (size_t i = 0, end; i < n; i = end) {
            end = words_end(s, n, i, p->max_digits);
            HONE_TRY(push_cut(out, i, end, true, shift));
        }
        return HONE_OK;
    default:
        return tok_regex_cut(p->regex, scratch, out, s, n, shift);
    }
}
