/*
 * From the syntax of the reference's engine (Oniguruma's Ruby syntax) to PCRE2's: every character, class and property becomes a
 * set of code points, numbered; what means something else in PCRE2 is rewritten; what has no translation is refused by name.
 */
#include "base/utf8.h"
#include "text/tokenizer/regex.h"

/* ---- sets ---- */

/* Write a character of the set (taken over), or with `others` one of none. */
static hone_status put_set(tok_rx *t, tok_set *set, bool others)
{
    size_t k = 0;
    char   mark[3];

    while (k < t->sets->len && (t->sets->data[k].len != set->len ||
                                (set->len && memcmp(t->sets->data[k].data, set->data, set->len * sizeof *set->data) != 0)))
        k++;
    if (k < t->sets->len) {
        tok_set_deinit(set);
    } else {
        HONE_CHECK(k < TOK_MAX_SETS, HONE_E_UNSUPPORTED, "%s: a regular expression with more than %d kinds of characters", t->where,
                   TOK_MAX_SETS);
        HONE_TRY(HONE_VEC_PUSH(t->sets, *set));
        *set = (tok_set){ 0 };
    }
    mark[0] = others ? TOK_NOT_SET_MARK : TOK_SET_MARK;
    mark[1] = (char)(k & 0xFF);
    mark[2] = (char)(k >> 8);
    hone_str_append(t->out, mark, sizeof mark);
    return HONE_OK;
}

static hone_status put_table(tok_rx *t, unsigned flags, bool others)
{
    tok_set     set = { 0 };
    hone_status st;

    HONE_GO(tok_set_from_table(&set, 0, flags));
    HONE_GO(put_set(t, &set, others));
out:
    tok_set_deinit(&set);
    return st;
}

static hone_status put_newline(tok_rx *t, bool others)
{
    tok_set     set = { 0 };
    hone_status st;

    HONE_GO(tok_set_add(&set, '\n', '\n'));
    HONE_GO(put_set(t, &set, others));
out:
    tok_set_deinit(&set);
    return st;
}

/* Two letters that, ignoring case, are also what a single code point folds to. */
static bool is_folded_string(uint32_t a, uint32_t b)
{
    return (a == 's' && (b == 's' || b == 't')) || (a == 'f' && (b == 'f' || b == 'i' || b == 'l'));
}

static bool is_repeated(const tok_rx *t) { return t->i < t->n && strchr("*+?{", t->s[t->i]) && t->s[t->i]; }

static hone_status put_character(tok_rx *t, uint32_t cp, size_t begin)
{
    uint32_t    low = cp | 0x20;
    bool        letter = low >= 'a' && low <= 'z';
    tok_set     set = { 0 };
    hone_status st = HONE_OK;

    HONE_GO(tok_set_add(&set, cp, cp));
    if (t->now->fold) {
        if (tok_rx_folds_to_string(cp) || (letter && !is_repeated(t) && is_folded_string(t->before, low))) {
            st = tok_rx_refuse(t, begin, "ignoring case, this is also a ligature or another string; write classes like [Ss][Tt]");
            goto out;
        }
        t->before = letter && !is_repeated(t) ? low : 0;
        if (cp >= 0x80)
            HONE_GO(tok_set_close_case(&set));
        else if (letter) {
            HONE_GO(tok_set_add(&set, low - 0x20, low - 0x20));
            HONE_GO(tok_set_add(&set, low, low));
            if (low == 's' || low == 'k')
                HONE_GO(tok_set_add(&set, low == 's' ? 0x17F : 0x212A, low == 's' ? 0x17F : 0x212A));
        }
    }
    HONE_GO(put_set(t, &set, false));
out:
    tok_set_deinit(&set);
    return st;
}

static hone_status class(tok_rx *t)
{
    tok_set     set = { 0 };
    bool        others = t->i + 1 < t->n && t->s[t->i + 1] == '^';
    hone_status st;

    t->i += 1 + others;
    HONE_GO(tok_rx_class(t, &set, 0));
    if (t->now->fold)
        HONE_GO(tok_set_close_case(&set));
    HONE_GO(put_set(t, &set, others));
out:
    tok_set_deinit(&set);
    return st;
}

/* ---- groups ---- */

static hone_status open_scope(tok_rx *t, size_t begin)
{
    if (t->now + 1 == t->stack + TOK_RX_DEPTH)
        return tok_rx_refuse(t, begin, "groups nested too deeply");
    t->now[1] = *t->now;
    t->now++;
    t->now->closes = 0;
    t->now->begin = t->atom;
    return HONE_OK;
}

/* (?im-im:…) or (?im-im), which holds up to the end of the group around it, alternatives included. */
static hone_status options(tok_rx *t)
{
    size_t begin = t->i;
    bool   on = true;
    tok_rx_scope set = *t->now;

    for (t->i += 2; t->i < t->n && strchr("im-", t->s[t->i]) && t->s[t->i]; t->i++) {
        if (t->s[t->i] == 'i')
            set.fold = on;
        else if (t->s[t->i] == 'm')
            set.dot_all = on;
        else
            on = false;
    }
    if (t->i >= t->n || (t->s[t->i] != ':' && t->s[t->i] != ')'))
        return tok_rx_refuse(t, begin, "this kind of group is not implemented");
    hone_str_puts(t->out, "(?:");
    if (t->s[t->i++] == ':') {
        HONE_TRY(open_scope(t, begin));
        set.closes = 0;
        set.begin = t->now->begin;
    } else {
        set.closes = t->now->closes + 1;
    }
    *t->now = set;
    return HONE_OK;
}

static hone_status group(tok_rx *t)
{
    static const char *const kinds[] = { "(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!" };
    size_t      begin = t->i;
    const char *end;

    for (size_t k = 0; k < HONE_COUNTOF(kinds); k++)
        if (tok_rx_stands(t, kinds[k])) {
            hone_str_puts(t->out, kinds[k]);
            t->i += strlen(kinds[k]);
            return open_scope(t, begin);
        }
    if (tok_rx_stands(t, "(?#")) {
        end = memchr(t->s + t->i, ')', t->n - t->i);
        if (!end)
            return tok_rx_refuse(t, begin, "')' is missing");
        t->i = (size_t)(end - t->s) + 1;
        return HONE_OK;
    }
    if (tok_rx_stands(t, "(?<")) {
        end = memchr(t->s + t->i, '>', t->n - t->i);
        if (!end)
            return tok_rx_refuse(t, begin, "'>' is missing");
        t->i = (size_t)(end - t->s) + 1;
    } else if (tok_rx_stands(t, "(?")) {
        return options(t);
    } else {
        t->i++;
    }
    hone_str_puts(t->out, "(?:");       /* nothing refers to what a group captured */
    return open_scope(t, begin);
}

static hone_status close_group(tok_rx *t)
{
    if (t->now == t->stack)
        return tok_rx_refuse(t, t->i, "no group is open here");
    for (int k = 0; k <= t->now->closes; k++)
        hone_str_putc(t->out, ')');
    t->atom = t->now->begin;
    t->now--;
    t->i++;
    return HONE_OK;
}

/* ---- the rest ---- */

/* \b and \B by the reference's own \w; \A, \z and \Z (whose last line feed is found by its set). */
static hone_status assertion(tok_rx *t, bool *found)
{
    char c = t->i + 1 < t->n && t->s[t->i] == '\\' ? t->s[t->i + 1] : '\0';

    *found = c && strchr("bBAzZ", c);
    if (!*found)
        return HONE_OK;
    t->i += 2;
    if (c == 'A' || c == 'z') {
        hone_str_puts(t->out, c == 'A' ? "\\A" : "\\z");
        return HONE_OK;
    }
    if (c == 'Z') {
        hone_str_puts(t->out, "(?:\\z|(?=");
        HONE_TRY(put_newline(t, false));
        hone_str_puts(t->out, "\\z))");
        return HONE_OK;
    }
    for (int side = 0; side < 2; side++) {
        hone_str_puts(t->out, side ? "|(?<!" : "(?:(?<=");
        HONE_TRY(put_table(t, HONE_UC_WORD_REGEX, false));
        hone_str_puts(t->out, (side == 0) == (c == 'b') ? ")(?!" : ")(?=");
        HONE_TRY(put_table(t, HONE_UC_WORD_REGEX, false));
        hone_str_putc(t->out, ')');
    }
    hone_str_putc(t->out, ')');
    return HONE_OK;
}

/* Anchors are of lines. */
static hone_status anchor(tok_rx *t)
{
    bool begin = t->s[t->i++] == '^';

    hone_str_puts(t->out, begin ? "(?:\\A|(?<=" : "(?:\\z|(?=");
    HONE_TRY(put_newline(t, false));
    hone_str_puts(t->out, begin ? ")(?!\\z))" : "))");
    return HONE_OK;
}

static void wrap_atom(tok_rx *t)
{
    size_t n = t->out->len - t->atom;

    if (!hone_str_reserve(t->out, 4))
        return;
    memmove(t->out->data + t->atom + 3, t->out->data + t->atom, n);
    memcpy(t->out->data + t->atom, "(?:", 3);
    t->out->len += 3;
    hone_str_putc(t->out, ')');
}

/* {n}, {n,}, {n,m}, {,m}; anything else is a literal brace. A '+' after it, or a '?' after {n}, repeats the repetition. */
static hone_status interval(tok_rx *t)
{
    size_t begin = t->i, i = t->i + 1, low = 0, high = 0;
    bool   comma = false;

    for (; i < t->n && t->s[i] >= '0' && t->s[i] <= '9'; i++)
        low++;
    if (i < t->n && t->s[i] == ',') {
        comma = true;
        for (i++; i < t->n && t->s[i] >= '0' && t->s[i] <= '9'; i++)
            high++;
    }
    if (i >= t->n || t->s[i] != '}' || low + high == 0) {
        t->i++;
        t->atom = t->out->len;
        return put_character(t, '{', begin);
    }
    hone_str_putc(t->out, '{');
    if (!low)
        hone_str_putc(t->out, '0');
    hone_str_append(t->out, t->s + begin + 1, i - begin);
    t->i = i + 1;
    if (t->i < t->n && (t->s[t->i] == '+' || (t->s[t->i] == '?' && !comma)))
        wrap_atom(t);
    return HONE_OK;
}

static hone_status dot(tok_rx *t)
{
    tok_set     all = { 0 };
    hone_status st;

    t->i++;
    if (!t->now->dot_all)
        return put_newline(t, true);
    HONE_GO(tok_set_add(&all, 0, 0x10FFFF));
    HONE_GO(put_set(t, &all, false));
out:
    tok_set_deinit(&all);
    return st;
}

/* A property or a character outside a class. */
static hone_status atom(tok_rx *t)
{
    tok_set     set = { 0 };
    bool        found, others;
    size_t      begin = t->i;
    uint32_t    cp;
    hone_status st;

    HONE_GO(tok_rx_try_set(t, &set, &found, &others, false));
    if (found) {        /* outside a class it never ignores case */
        HONE_GO(put_set(t, &set, others));
        goto out;
    }
    HONE_GO(assertion(t, &found));
    if (!found) {
        HONE_GO(tok_rx_character(t, &cp, false));
        HONE_GO(put_character(t, cp, begin));
    }
out:
    tok_set_deinit(&set);
    return st;
}

static hone_status next(tok_rx *t)
{
    static const char plain[] = "|*+?";
    char     c = t->s[t->i];
    uint32_t before = t->before;

    t->before = 0;
    if (!(c && strchr("|*+?{)", c)))
        t->atom = t->out->len;
    switch (c) {
    case '[': return class(t);
    case '(': return group(t);
    case ')': return close_group(t);
    case '{': return interval(t);
    case '.': return dot(t);
    case '^': case '$': return anchor(t);
    default:  break;
    }
    if (c && strchr(plain, c)) {
        hone_str_putc(t->out, c);
        t->i++;
        return HONE_OK;
    }
    t->before = before;
    if (c == '\\')
        t->before = 0;
    return atom(t);
}

hone_status tok_regex_translate(hone_str *out, tok_set_vec *sets, const char *pattern, size_t n, const char *where)
{
    tok_rx t = { .s = pattern, .n = n, .where = where, .out = out, .sets = sets };

    t.now = t.stack;
    while (t.i < n)
        HONE_TRY(next(&t));
    if (t.now > t.stack)
        return tok_rx_refuse(&t, n ? n - 1 : 0, "')' is missing at the end");
    for (int k = 0; k < t.now->closes; k++)
        hone_str_putc(out, ')');
    return hone_str_ok(out);
}
