/* Tokens of the template language: text between tags, and the words inside them. White space around tags is dealt with
 * here, as jinja2's lexer does with trim_blocks and lstrip_blocks on. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/ast.h"
#include "text/template/unicode.h"

typedef struct lexer {
    hone_template *t;
    tpl_tokens    *out;
    size_t         pos;
    char           open[TPL_MAX_NESTING];   /* brackets not yet closed in this tag */
    int            depth;
    bool           line_start;              /* the previous piece ended with a newline, or there is none */
} lexer;

hone_status tpl_syntax(const hone_template *t, hone_status code, uint32_t pos, const char *fmt, ...)
{
    char     text[400];
    va_list  ap;
    unsigned line = 1, column = 1;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < pos && i < t->len; i++) {
        if (t->source[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)t->source[i] & 0xC0) != 0x80) {
            column++;
        }
    }
    return HONE_FAIL(code, "%s:%u:%u: %s", t->name, line, column, text);
}

static hone_status push(lexer *lx, tpl_token tok)
{
    return HONE_VEC_PUSH(lx->out, tok);
}

/* A string in the template's own memory. */
static hone_status keep(hone_template *t, const tpl_str **out, const char *data, size_t n)
{
    tpl_str *s = tpl_arena_alloc(&t->arena, sizeof *s);

    *out = s;
    if (!s)
        return HONE_E_NOMEM;
    *s = (tpl_str){ .data = data, .len = (uint32_t)n, .chars = tpl_count_chars(data, n) };
    return HONE_OK;
}

static bool at(const lexer *lx, size_t pos, const char *what)
{
    size_t n = strlen(what);

    return pos + n <= lx->t->len && memcmp(lx->t->source + pos, what, n) == 0;
}

static size_t skip_space(const lexer *lx, size_t pos)
{
    while (pos < lx->t->len) {
        size_t n;

        if (!tpl_is_space(hone_utf8_decode(lx->t->source + pos, &n)))
            break;
        pos += n;
    }
    return pos;
}

/* Start of the white space that ends at `to`, not before `from`. */
static size_t space_before(const lexer *lx, size_t from, size_t to)
{
    while (to > from) {
        size_t i = to - 1, n;

        while (i > from && ((unsigned char)lx->t->source[i] & 0xC0) == 0x80)
            i--;
        if (!tpl_is_space(hone_utf8_decode(lx->t->source + i, &n)))
            break;
        to = i;
    }
    return to;
}

/* The text [from, to) before a tag whose sign is '-', '+' or 0; `block`: a tag that lstrip_blocks applies to. */
static hone_status data_before(lexer *lx, size_t from, size_t to, char sign, bool block)
{
    tpl_token tok = { .type = TPL_TOK_DATA, .pos = (uint32_t)from };
    size_t    end = to;

    if (sign == '-') {
        end = space_before(lx, from, to);
    } else if (sign == 0 && block) {
        size_t line = to;

        while (line > from && lx->t->source[line - 1] != '\n')
            line--;
        if ((line > from || lx->line_start) && space_before(lx, line, to) == line)
            end = line;
    }
    if (end == from)
        return HONE_OK;
    HONE_TRY(keep(lx->t, &tok.text, lx->t->source + from, end - from));
    return push(lx, tok);
}

static void note_end(lexer *lx) { lx->line_start = lx->pos > 0 && lx->t->source[lx->pos - 1] == '\n'; }

static char take_sign(lexer *lx)
{
    char c = lx->pos < lx->t->len ? lx->t->source[lx->pos] : 0;

    if (c != '-' && c != '+')
        return 0;
    lx->pos++;
    return c;
}

/* At the end mark of a tag (with its sign)? If so, move past it and what it strips. */
static bool end_tag(lexer *lx, const char *mark, bool plus, bool trim)
{
    size_t p = lx->pos;
    char   sign = 0;

    if (p < lx->t->len && (lx->t->source[p] == '-' || (plus && lx->t->source[p] == '+')))
        sign = lx->t->source[p++];
    if (!at(lx, p, mark))
        return false;
    p += 2;
    if (sign == '-')
        p = skip_space(lx, p);
    else if (sign == 0 && trim && p < lx->t->len && lx->t->source[p] == '\n')
        p++;
    lx->pos = p;
    note_end(lx);
    return true;
}

static hone_status comment(lexer *lx, size_t begin)
{
    while (lx->pos < lx->t->len) {
        if (end_tag(lx, "#}", true, true))
            return HONE_OK;
        lx->pos++;
    }
    return tpl_syntax(lx->t, HONE_E_FORMAT, (uint32_t)begin, "comment without its end '#}'");
}

/* "{% raw %}" at `pos`: where its text begins, else 0. */
static size_t raw_begin(const lexer *lx, size_t pos)
{
    size_t p = pos + 2;

    if (p < lx->t->len && (lx->t->source[p] == '-' || lx->t->source[p] == '+'))
        p++;
    p = skip_space(lx, p);
    if (!at(lx, p, "raw"))
        return 0;
    p = skip_space(lx, p + 3);
    if (at(lx, p, "-%}"))
        return skip_space(lx, p + 3);
    return at(lx, p, "%}") ? p + 2 : 0;
}

static hone_status raw_block(lexer *lx, size_t begin, size_t text)
{
    lx->pos = text;
    note_end(lx);
    for (size_t p = text; p < lx->t->len; p++) {
        lexer  probe = *lx;
        char   sign;

        if (!at(lx, p, "{%"))
            continue;
        probe.pos = p + 2;
        sign = take_sign(&probe);
        probe.pos = skip_space(&probe, probe.pos);
        if (!at(&probe, probe.pos, "endraw"))
            continue;
        probe.pos = skip_space(&probe, probe.pos + 6);
        if (!end_tag(&probe, "%}", true, true))
            continue;
        HONE_TRY(data_before(lx, text, p, sign, true));
        lx->pos = probe.pos;
        lx->line_start = probe.line_start;
        return HONE_OK;
    }
    return tpl_syntax(lx->t, HONE_E_FORMAT, (uint32_t)begin, "raw block without its end '{%% endraw %%}'");
}

static bool is_word(uint32_t cp, bool first) { return tpl_uc_has(cp, first ? TPL_UC_ID_START : TPL_UC_ID_NEXT); }

static hone_status lex_name(lexer *lx, bool *found)
{
    size_t    p = lx->pos, n;
    tpl_token tok = { .type = TPL_TOK_NAME, .pos = (uint32_t)p };

    while (p < lx->t->len && is_word(hone_utf8_decode(lx->t->source + p, &n), p == lx->pos))
        p += n;
    *found = p > lx->pos;
    if (!*found)
        return HONE_OK;
    HONE_TRY(keep(lx->t, &tok.text, lx->t->source + lx->pos, p - lx->pos));
    lx->pos = p;
    return push(lx, tok);
}

static int digit_of(char c, int base)
{
    int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;

    return d < base ? d : -1;
}

/* Digits with single underscores between them, from `p`; returns their end (p when there are none). */
static size_t digits(const lexer *lx, size_t p, int base)
{
    size_t start = p;

    while (p < lx->t->len) {
        size_t q = p > start && lx->t->source[p] == '_' ? p + 1 : p;

        if (q >= lx->t->len || digit_of(lx->t->source[q], base) < 0)
            break;
        p = q + 1;
    }
    return p;
}

/* The end of a float literal at lx->pos, or lx->pos. */
static size_t float_end(const lexer *lx)
{
    const char *s = lx->t->source;
    size_t      whole = digits(lx, lx->pos, 10), end = whole, p;
    bool        is_float = false;

    if (whole == lx->pos || (lx->pos > 0 && s[lx->pos - 1] == '.'))
        return lx->pos;
    if (end < lx->t->len && s[end] == '.' && (p = digits(lx, end + 1, 10)) > end + 1) {
        end = p;
        is_float = true;
    }
    if (end < lx->t->len && (s[end] == 'e' || s[end] == 'E')) {
        size_t q = end + 1;

        if (q < lx->t->len && (s[q] == '+' || s[q] == '-'))
            q++;
        if ((p = digits(lx, q, 10)) > q) {
            end = p;
            is_float = true;
        }
    }
    return is_float ? end : lx->pos;
}

static hone_status lex_number(lexer *lx)
{
    const char *s = lx->t->source;
    tpl_token   tok = { .type = TPL_TOK_INT, .pos = (uint32_t)lx->pos };
    size_t      end = float_end(lx), from = lx->pos;
    int         base = 10;
    int64_t     v = 0;

    if (end > lx->pos) {
        char   text[64];
        size_t n = 0;

        for (size_t i = lx->pos; i < end && n + 1 < sizeof text; i++)
            if (s[i] != '_')
                text[n++] = s[i];
        text[n] = '\0';
        tok.type = TPL_TOK_FLOAT;
        tok.number = tpl_float(strtod(text, NULL));
        lx->pos = end;
        return push(lx, tok);
    }
    if (s[from] == '0' && from + 1 < lx->t->len && strchr("xXoObB", s[from + 1])) {
        base = strchr("xX", s[from + 1]) ? 16 : strchr("oO", s[from + 1]) ? 8 : 2;
        from += 2;
    }
    end = digits(lx, from, base);
    if (base == 10 && s[from] == '0')       /* "007" is 0, then 0 …: numbers do not begin with a zero */
        for (end = from + 1; end < lx->t->len && (s[end] == '0' || (s[end] == '_' && end + 1 < lx->t->len && s[end + 1] == '0')); )
            end++;
    for (size_t i = from; i < end; i++)
        if (s[i] != '_' && (__builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit_of(s[i], base), &v)))
            return tpl_syntax(lx->t, HONE_E_UNSUPPORTED, tok.pos, "an integer beyond 64 bits");
    if (end == from)
        return tpl_syntax(lx->t, HONE_E_FORMAT, tok.pos, "a number without digits");
    tok.number = tpl_int(v);
    lx->pos = end;
    return push(lx, tok);
}

/* One escape after the backslash at p; writes its text and returns its length in the source, 0 if malformed. */
static size_t unescape(const lexer *lx, size_t p, hone_str *out)
{
    static const char from[] = "nrtabfv\\'\"", to[] = "\n\r\t\a\b\f\v\\'\"";
    const char *s = lx->t->source;
    char        c = s[p + 1], utf8[4];
    const char *known = c ? strchr(from, c) : NULL;
    uint32_t    cp = 0;
    int         want = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    size_t      n = 2;

    if (known) {
        hone_str_putc(out, to[known - from]);
        return n;
    }
    if (c == '\n')
        return n;
    if (c >= '0' && c <= '7') {
        for (n = 1; n < 4 && p + n < lx->t->len && s[p + n] >= '0' && s[p + n] <= '7'; n++)
            cp = cp * 8 + (uint32_t)(s[p + n] - '0');
    } else if (want) {
        for (int i = 0; i < want; i++, n++) {
            int d = p + n < lx->t->len ? digit_of(s[p + n], 16) : -1;

            if (d < 0)
                return 0;
            cp = cp << 4 | (uint32_t)d;
        }
    } else if (c == 'N') {
        return 0;
    } else {
        hone_str_append(out, s + p, 1);     /* an unknown escape stands for itself */
        return 1;
    }
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000))
        return 0;
    hone_str_append(out, utf8, hone_utf8_encode(cp, utf8));
    return n;
}

static hone_status lex_string(lexer *lx)
{
    const char *s = lx->t->source;
    char        quote = s[lx->pos];
    tpl_token   tok = { .type = TPL_TOK_STRING, .pos = (uint32_t)lx->pos };
    hone_str    text = HONE_STR_INIT;
    hone_status st = HONE_OK;
    size_t      p = lx->pos + 1;
    char       *data;

    while (p < lx->t->len && s[p] != quote) {
        size_t n = 1;

        if (s[p] != '\\') {
            hone_str_putc(&text, s[p]);
        } else {
            n = p + 1 < lx->t->len ? unescape(lx, p, &text) : 0;
            if (!n) {
                st = tpl_syntax(lx->t, HONE_E_FORMAT, (uint32_t)p, "malformed escape in a string");
                goto out;
            }
        }
        p += n;
    }
    if (p >= lx->t->len) {
        st = tpl_syntax(lx->t, HONE_E_FORMAT, tok.pos, "string without its closing quote");
        goto out;
    }
    HONE_GO(hone_str_ok(&text));
    data = tpl_arena_alloc(&lx->t->arena, text.len + 1);
    HONE_GO_CHECK(data, HONE_E_NOMEM, "out of memory");
    memcpy(data, hone_str_c(&text), text.len + 1);
    HONE_GO(keep(lx->t, &tok.text, data, text.len));
    lx->pos = p + 1;
    HONE_GO(push(lx, tok));
out:
    hone_str_deinit(&text);
    return st;
}

static hone_status lex_operator(lexer *lx)
{
    static const char pairs[][3] = { "//", "**", "==", "!=", ">=", "<=" };
    const char *s = lx->t->source;
    tpl_token   tok = { .type = TPL_TOK_OP, .pos = (uint32_t)lx->pos };
    char        c = s[lx->pos];

    for (size_t i = 0; i < HONE_COUNTOF(pairs) && !tok.op; i++)
        if (at(lx, lx->pos, pairs[i]))
            tok.op = TPL_OP2(pairs[i][0], pairs[i][1]);
    lx->pos += tok.op ? 2 : 1;
    if (tok.op)
        return push(lx, tok);
    if (c == 0 || !strchr("+-/*%~[](){}><=.:|,;", c))
        return tpl_syntax(lx->t, HONE_E_FORMAT, tok.pos, "unexpected character '%.*s'",
                          (int)hone_utf8_len((unsigned char)c), s + tok.pos);
    tok.op = c;
    if (strchr("([{", c)) {
        if (lx->depth == TPL_MAX_NESTING)
            return tpl_syntax(lx->t, HONE_E_FORMAT, tok.pos, "brackets are nested more than %d deep", TPL_MAX_NESTING);
        lx->open[lx->depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (strchr(")]}", c)) {
        if (lx->depth == 0)
            return tpl_syntax(lx->t, HONE_E_FORMAT, tok.pos, "unexpected '%c'", c);
        if (lx->open[--lx->depth] != c)
            return tpl_syntax(lx->t, HONE_E_FORMAT, tok.pos, "unexpected '%c', expected '%c'", c, lx->open[lx->depth]);
    }
    return push(lx, tok);
}

/* The inside of {% … %} or {{ … }}. */
static hone_status tag(lexer *lx, size_t begin, bool block)
{
    tpl_token tok = { .type = block ? TPL_TOK_BLOCK_BEGIN : TPL_TOK_VAR_BEGIN, .pos = (uint32_t)begin };

    HONE_TRY(push(lx, tok));
    lx->depth = 0;
    while (lx->pos < lx->t->len) {
        char   c = lx->t->source[lx->pos];
        size_t after = skip_space(lx, lx->pos);
        bool   found;

        tok = (tpl_token){ .type = block ? TPL_TOK_BLOCK_END : TPL_TOK_VAR_END, .pos = (uint32_t)lx->pos };
        if (lx->depth == 0 && end_tag(lx, block ? "%}" : "}}", block, block))
            return push(lx, tok);
        if (after > lx->pos) {
            lx->pos = after;
        } else if (c >= '0' && c <= '9') {
            HONE_TRY(lex_number(lx));
        } else if (c == '"' || c == '\'') {
            HONE_TRY(lex_string(lx));
        } else {
            HONE_TRY(lex_name(lx, &found));
            if (!found)
                HONE_TRY(lex_operator(lx));
        }
    }
    return tpl_syntax(lx->t, HONE_E_FORMAT, (uint32_t)begin, "tag without its end '%s'", block ? "%}" : "}}");
}

hone_status tpl_lex(hone_template *t, tpl_tokens *out)
{
    lexer     lx = { .t = t, .out = out, .line_start = true };
    tpl_token eof = { .type = TPL_TOK_EOF, .pos = (uint32_t)t->len };
    size_t    text = 0;

    while (lx.pos < t->len) {
        size_t begin = lx.pos, raw;
        char   kind = t->source[begin] == '{' && begin + 1 < t->len ? t->source[begin + 1] : 0, sign;

        if (kind != '%' && kind != '{' && kind != '#') {
            lx.pos++;
            continue;
        }
        raw = kind == '%' ? raw_begin(&lx, begin) : 0;
        lx.pos += 2;
        sign = take_sign(&lx);
        HONE_TRY(data_before(&lx, text, begin, sign, kind != '{'));
        if (raw)
            HONE_TRY(raw_block(&lx, begin, raw));
        else if (kind == '#')
            HONE_TRY(comment(&lx, begin));
        else
            HONE_TRY(tag(&lx, begin, kind == '%'));
        text = lx.pos;
    }
    HONE_TRY(data_before(&lx, text, t->len, '+', false));
    return push(&lx, eof);
}
