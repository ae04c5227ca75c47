/*
 * Regular expressions of tokenizer files. PCRE2 follows another Unicode version than the reference and is slow with large
 * classes, so it never sees text: code points that no set of the pattern tells apart are one class, a byte; text is written in
 * classes, and the pattern, in classes too, is matched on that. Few patterns tell more than some dozens of classes apart.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/utf8.h"
#include "text/tokenizer/regex.h"

enum { MATCH_LIMIT = 10000000, MAX_CLASSES = 256, BLOCK = 128, N_BLOCKS = 0x110000 / BLOCK };

struct tok_regex {
    uint16_t             index[N_BLOCKS];
    HONE_VEC(uint8_t)    values;        /* classes of the code points of a block */
    pcre2_code          *code;
    pcre2_match_context *limits;        /* backtracking steps of one search */
    bool                 jit;
    char                 shown[80];     /* start of the pattern, for errors */
};

/* ---- classes ---- */

/* A place where membership in a set changes. */
typedef struct event { uint32_t at, set; } event;

typedef struct partition {
    size_t              words;              /* of a signature: a bit for each set */
    HONE_VEC(uint64_t)  signatures;         /* of each class */
    size_t              n;                  /* classes */
    HONE_VEC(event)     events;
} partition;

static int by_place(const void *a, const void *b)
{
    const event *x = a, *y = b;

    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->set > y->set) - (x->set < y->set);
}

/* The class of code points in the sets that `now` says; -1 if there are too many. */
static hone_status class_of(int *out, partition *p, const uint64_t *now)
{
    size_t c = 0;

    while (c < p->n && memcmp(p->signatures.data + c * p->words, now, p->words * sizeof *now) != 0)
        c++;
    *out = c < MAX_CLASSES ? (int)c : -1;
    if (c < p->n || *out < 0)
        return HONE_OK;
    HONE_TRY(HONE_VEC_RESERVE(&p->signatures, p->words));
    memcpy(p->signatures.data + p->signatures.len, now, p->words * sizeof *now);
    p->signatures.len += p->words;
    p->n++;
    return HONE_OK;
}

/* first..end-1 are of class c. `uniform`: for each class, the number of its block + 1. */
static hone_status fill(tok_regex *re, uint16_t uniform[MAX_CLASSES], uint32_t first, uint32_t end, int c)
{
    while (first < end) {
        uint32_t block = first / BLOCK, next = HONE_MIN(end, (block + 1) * BLOCK);

        if (first % BLOCK == 0 && next - first == BLOCK && uniform[c]) {
            re->index[block] = (uint16_t)(uniform[c] - 1);
            first = next;
            continue;
        }
        if (first % BLOCK == 0) {
            HONE_TRY(HONE_VEC_RESERVE(&re->values, BLOCK));
            re->index[block] = (uint16_t)(re->values.len / BLOCK);
            re->values.len += BLOCK;
            if (next - first == BLOCK)
                uniform[c] = (uint16_t)(re->index[block] + 1);
        }
        memset(&re->values.data[(size_t)re->index[block] * BLOCK + first % BLOCK], c, next - first);
        first = next;
    }
    return HONE_OK;
}

/* Tell all code points apart that the sets tell apart. */
static hone_status divide(tok_regex *re, partition *p, const tok_set_vec *sets, const char *where)
{
    uint16_t    uniform[MAX_CLASSES] = { 0 };
    uint64_t   *now;
    uint32_t    at = 0;
    hone_status st = HONE_OK;

    p->words = (sets->len + 63) / 64 + !sets->len;
    now = hone_calloc(p->words, sizeof *now);
    HONE_GO_CHECK(now, HONE_E_NOMEM, "out of memory");
    for (size_t k = 0; k < sets->len; k++)
        for (size_t i = 0; i < sets->data[k].len; i++)
            HONE_GO(HONE_VEC_PUSH(&p->events, (event){ sets->data[k].data[i], (uint32_t)k }));
    HONE_GO(HONE_VEC_PUSH(&p->events, (event){ 0x110000, 0 }));
    qsort(p->events.data, p->events.len, sizeof *p->events.data, by_place);
    for (size_t i = 0; i < p->events.len; i++) {
        event e = p->events.data[i];

        if (e.at > at) {
            int c;

            HONE_GO(class_of(&c, p, now));
            HONE_GO_CHECK(c >= 0, HONE_E_UNSUPPORTED, "%s: regular expression \"%s\" tells more than %d kinds of characters apart",
                          where, re->shown, MAX_CLASSES);
            HONE_GO(fill(re, uniform, at, e.at, c));
            at = e.at;
        }
        now[e.set / 64] ^= UINT64_C(1) << e.set % 64;
    }
out:
    hone_free(now);
    return st;
}

/* Write the classes of set k, or of all else, as a class of bytes. */
static void put_classes(hone_str *out, const partition *p, size_t k, bool others)
{
    size_t count = 0, only = 0;

    for (size_t c = 0; c < p->n; c++)
        if ((p->signatures.data[c * p->words + k / 64] >> k % 64 & 1) != others) {
            only = c;
            count++;
        }
    if (count == 0) {
        hone_str_puts(out, "(?!)");
        return;
    }
    if (count == 1) {
        hone_str_printf(out, "\\x%02x", (unsigned)only);
        return;
    }
    hone_str_putc(out, '[');
    for (size_t c = 0; c < p->n; c++)
        if ((p->signatures.data[c * p->words + k / 64] >> k % 64 & 1) != others)
            hone_str_printf(out, "\\x%02x", (unsigned)c);
    hone_str_putc(out, ']');
}

static void write_in_classes(hone_str *out, const hone_str *translated, const partition *p)
{
    for (size_t i = 0; i < translated->len; i++) {
        const unsigned char *s = (const unsigned char *)translated->data + i;

        if (*s != TOK_SET_MARK && *s != TOK_NOT_SET_MARK) {
            hone_str_putc(out, (char)*s);
            continue;
        }
        put_classes(out, p, s[1] | (size_t)s[2] << 8, *s == TOK_NOT_SET_MARK);
        i += 2;
    }
}

/* ---- compiling ---- */

static hone_status compile(tok_regex *re, const hone_str *pattern, const char *where)
{
    PCRE2_SIZE at;
    int        error;

    re->limits = pcre2_match_context_create(NULL);
    HONE_CHECK(re->limits, HONE_E_NOMEM, "out of memory");
    pcre2_set_match_limit(re->limits, MATCH_LIMIT);
    re->code = pcre2_compile((PCRE2_SPTR)hone_str_c(pattern), pattern->len, 0, &error, &at, NULL);
    if (!re->code) {
        PCRE2_UCHAR text[128] = "";

        pcre2_get_error_message(error, text, sizeof text);
        return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: regular expression \"%s\": %s", where, re->shown, (char *)text);
    }
    re->jit = pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE) == 0;      /* without it, matching is only slower */
    return HONE_OK;
}

hone_status tok_regex_create(tok_regex **out, const char *pattern, size_t n, const char *where)
{
    hone_str    translated = HONE_STR_INIT, written = HONE_STR_INIT;
    tok_set_vec sets = { 0 };
    partition   classes = { 0 };
    tok_regex  *re = *out = hone_calloc(1, sizeof *re);
    hone_status st = HONE_OK;

    HONE_GO_CHECK(re, HONE_E_NOMEM, "out of memory");
    snprintf(re->shown, sizeof re->shown, "%.*s", (int)HONE_MIN(n, sizeof re->shown - 1), pattern);
    HONE_GO(tok_regex_translate(&translated, &sets, pattern, n, where));
    HONE_GO(divide(re, &classes, &sets, where));
    write_in_classes(&written, &translated, &classes);
    HONE_GO(hone_str_ok(&written));
    HONE_GO(compile(re, &written, where));
out:
    for (size_t i = 0; i < sets.len; i++)
        tok_set_deinit(&sets.data[i]);
    HONE_VEC_DEINIT(&sets);
    HONE_VEC_DEINIT(&classes.signatures);
    HONE_VEC_DEINIT(&classes.events);
    hone_str_deinit(&translated);
    hone_str_deinit(&written);
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
    HONE_VEC_DEINIT(&re->values);
    hone_free(re);
    *regex = NULL;
}

void tok_scratch_deinit(tok_scratch *scratch)
{
    hone_str_deinit(&scratch->classes);
    pcre2_match_data_free(scratch->match);
    scratch->match = NULL;
}

/* ---- matching ---- */

/* Write text in classes; returns how many characters it has. */
static size_t classify(const tok_regex *re, uint8_t *out, const char *s, size_t n)
{
    const uint8_t *ascii = &re->values.data[(size_t)re->index[0] * BLOCK];
    size_t         chars = 0, len;

    for (size_t i = 0; i < n;) {
        if ((unsigned char)s[i] < 0x80) {
            out[chars++] = ascii[(unsigned char)s[i++]];
        } else {
            uint32_t cp = hone_utf8_decode(s + i, &len);

            out[chars++] = re->values.data[(size_t)re->index[cp / BLOCK] * BLOCK + cp % BLOCK];
            i += len;
        }
    }
    return chars;
}

/* The next match from `from` on; `found` says whether there is one. */
static hone_status search(const tok_regex *re, pcre2_match_data *data, const uint8_t *s, size_t n, size_t from, bool *found)
{
    int rc = re->jit ? pcre2_jit_match(re->code, s, n, from, 0, data, re->limits) : PCRE2_ERROR_JIT_STACKLIMIT;

    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(re->code, s, n, from, PCRE2_NO_JIT, data, re->limits);
    *found = rc >= 0;
    HONE_CHECK(rc >= 0 || rc == PCRE2_ERROR_NOMATCH, rc == PCRE2_ERROR_NOMEMORY ? HONE_E_NOMEM : HONE_E_DATA,
               "the tokenizer's regular expression \"%s\" needs too much backtracking on this text (PCRE2 error %d)",
               re->shown, rc);
    return HONE_OK;
}

/* A place in the text: bytes and characters before it. */
typedef struct place { size_t byte, chars; } place;

static void advance(place *p, const char *s, size_t chars)
{
    for (; p->chars < chars; p->chars++)
        p->byte += hone_utf8_len((unsigned char)s[p->byte]);
}

static hone_status push_cut(tok_cut_vec *out, size_t begin, size_t end, bool match, uint32_t shift)
{
    return HONE_VEC_PUSH(out, (tok_cut){ (uint32_t)begin + shift, (uint32_t)end + shift, match });
}

hone_status tok_regex_cut(const tok_regex *re, tok_scratch *scratch, tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    size_t            chars, from = 0, last = SIZE_MAX;      /* last: end of the match before, in characters */
    place             at = { 0, 0 };
    bool              found;
    const uint8_t    *text;
    const PCRE2_SIZE *ends;

    hone_str_clear(&scratch->classes);
    if (!scratch->match)
        scratch->match = pcre2_match_data_create(1, NULL);
    HONE_CHECK(scratch->match && hone_str_reserve(&scratch->classes, n), HONE_E_NOMEM, "out of memory");
    text = (const uint8_t *)scratch->classes.data;
    chars = classify(re, (uint8_t *)scratch->classes.data, s, n);
    ends = pcre2_get_ovector_pointer(scratch->match);
    while (from <= chars) {
        size_t begin, done = at.byte;

        HONE_TRY(search(re, scratch->match, text, chars, from, &found));
        if (!found)
            break;
        HONE_CHECK(ends[0] <= ends[1] && ends[0] >= at.chars, HONE_E_DATA, "the regular expression \"%s\" matches backwards", re->shown);
        if (ends[0] == ends[1] && ends[1] == last) {    /* an empty match right after a match does not count */
            from++;
            continue;
        }
        if (chars == n) {       /* a byte each */
            begin = ends[0];
            at = (place){ ends[1], ends[1] };
        } else {
            advance(&at, s, ends[0]);
            begin = at.byte;
            advance(&at, s, ends[1]);
        }
        if (done < begin)
            HONE_TRY(push_cut(out, done, begin, false, shift));
        HONE_TRY(push_cut(out, begin, at.byte, true, shift));
        from = last = ends[1];
    }
    return at.byte < n ? push_cut(out, at.byte, n, false, shift) : HONE_OK;
}
