/* Python's string formatting: "%s" % args, str.format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/ast.h"

/* One conversion, as both notations give it. */
typedef struct spec {
    char           fill[5];         /* a UTF-8 character */
    char           align;           /* '<' '>' '^' '=' or 0 */
    char           sign;            /* '+' ' ' or 0 */
    bool           alternate, comma;
    int64_t        width, precision;    /* -1 = none */
    char           type;            /* 0 = none given */
} spec;

enum { MAX_WIDTH = 1 << 20, MAX_PRECISION = 300 };

/* A piece of the result with padding. `digits_at`: where '=' puts the padding (after the sign). */
static hone_status padded(tpl_rt *rt, tpl_buf *b, const tpl_str *s, const spec *sp, char usual, size_t digits_at)
{
    int64_t gap = sp->width > (int64_t)s->chars ? sp->width - (int64_t)s->chars : 0;
    char    align = sp->align ? sp->align : usual;
    int64_t left = align == '<' ? 0 : align == '^' ? gap / 2 : gap;

    HONE_TRY(tpl_step(rt, (uint64_t)gap));
    if (align == '=')
        HONE_TRY(tpl_buf_sub(rt, b, s, 0, digits_at));
    for (int64_t i = 0; i < left; i++)
        HONE_TRY(tpl_buf_puts(rt, b, sp->fill));
    HONE_TRY(tpl_buf_sub(rt, b, s, align == '=' ? digits_at : 0, s->len));
    for (int64_t i = left; i < gap; i++)
        HONE_TRY(tpl_buf_puts(rt, b, sp->fill));
    return HONE_OK;
}

/* Digits grouped by thousands: from text[from..) up to the first character that is not a digit. */
static void group(char *text, size_t size, size_t from)
{
    size_t end = from, n = strlen(text);

    while (text[end] >= '0' && text[end] <= '9')
        end++;
    for (size_t i = end; i > from + 3 && n + 1 < size; ) {
        i -= 3;
        memmove(text + i + 1, text + i, n - i + 1);
        text[i] = ',';
        n++;
    }
}

static hone_status format_int(tpl_rt *rt, tpl_buf *b, int64_t v, const spec *sp)
{
    char     text[200], digits[80];
    uint64_t mag = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    int      base = sp->type == 'x' || sp->type == 'X' ? 16 : sp->type == 'o' ? 8 : sp->type == 'b' ? 2 : 10;
    size_t   n = sizeof digits - 1, lead;
    tpl_str  s;

    digits[n] = '\0';
    do {
        digits[--n] = (sp->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[mag % (unsigned)base];
        mag /= (unsigned)base;
    } while (mag);
    while (sp->precision > 0 && n > 0 && (int64_t)(sizeof digits - 1 - n) < sp->precision)
        digits[--n] = '0';
    lead = (size_t)snprintf(text, sizeof text, "%s%s", v < 0 ? "-" : sp->sign == '+' ? "+" : sp->sign == ' ' ? " " : "",
                            !sp->alternate ? "" : base == 16 ? (sp->type == 'X' ? "0X" : "0x") : base == 8 ? "0o"
                            : base == 2 ? "0b" : "");
    snprintf(text + lead, sizeof text - lead, "%s", digits + n);
    if (sp->comma)
        group(text, sizeof text, lead);
    s = (tpl_str){ .data = text, .len = (uint32_t)strlen(text), .chars = (uint32_t)strlen(text) };
    return padded(rt, b, &s, sp, '>', lead);
}

static hone_status format_float(tpl_rt *rt, tpl_buf *b, double v, const spec *sp)
{
    char    text[800], how[8];
    int     precision = sp->precision < 0 ? 6 : (int)sp->precision;
    char    type = sp->type ? sp->type : 'r';
    size_t  lead = (size_t)(signbit(v) || sp->sign);
    tpl_str s;

    TPL_CHECK(precision <= MAX_PRECISION, rt, "a precision of more than %d", MAX_PRECISION);
    if (signbit(v) || sp->sign)
        text[0] = signbit(v) ? '-' : sp->sign;
    v = fabs(v);
    if (type == 'r' && sp->precision < 0) {
        tpl_float_repr(text + lead, v);
    } else {
        snprintf(how, sizeof how, "%%%s.*%c", sp->alternate ? "#" : "", type == 'r' ? 'g' : type == '%' ? 'f' : type);
        snprintf(text + lead, sizeof text - lead - 4, how, precision, type == '%' ? v * 100 : v);
        if (type == 'r' && !strpbrk(text + lead, ".en"))
            strcat(text, ".0");
        if (type == '%')
            strcat(text, "%");
    }
    if (sp->comma)
        group(text, sizeof text, lead);
    s = (tpl_str){ .data = text, .len = (uint32_t)strlen(text), .chars = (uint32_t)strlen(text) };
    return padded(rt, b, &s, sp, '>', lead);
}

static hone_status format_str(tpl_rt *rt, tpl_buf *b, const tpl_str *s, const spec *sp, char usual)
{
    tpl_value v = tpl_string(s);

    if (sp->precision >= 0)
        HONE_TRY(tpl_sub_str(rt, &v, s, 0, tpl_str_offset(s, (size_t)sp->precision)));
    return padded(rt, b, v.u.s, sp, usual, 0);
}

static hone_status repr_of(tpl_rt *rt, const tpl_str **out, tpl_value v)
{
    tpl_buf   b = { 0 };
    tpl_value s;

    HONE_TRY(tpl_repr(rt, &b, v));
    HONE_TRY(tpl_buf_take(rt, &b, &s));
    *out = s.u.s;
    return HONE_OK;
}

/* ---- "%…" % args ---- */
static hone_status percent_value(tpl_rt *rt, tpl_buf *b, tpl_value v, spec *sp)
{
    const tpl_str *s;
    char           utf8[4];

    if (sp->type == 's' || sp->type == 'r') {
        HONE_TRY(sp->type == 's' ? tpl_to_str(rt, &s, v) : repr_of(rt, &s, v));
        sp->fill[0] = ' ';
        return format_str(rt, b, s, sp, '>');
    }
    if (sp->type == 'c' && v.kind == TPL_STR && v.u.s->chars == 1)
        return format_str(rt, b, v.u.s, sp, '>');
    TPL_CHECK(tpl_is_number(v), rt, "%%%c format: a real number is required, not %s", sp->type, tpl_type_name(v));
    if (sp->type == 'c') {
        tpl_str one = { .data = utf8, .chars = 1 };

        TPL_CHECK(tpl_is_int(v) && tpl_as_int(v) >= 0 && tpl_as_int(v) < 0xD800, rt, "%%c arg not in range");
        one.len = (uint32_t)hone_utf8_encode((uint32_t)tpl_as_int(v), utf8);
        return format_str(rt, b, &one, sp, '>');
    }
    if (strchr("eEfFgG", sp->type))
        return format_float(rt, b, tpl_as_float(v), sp);
    TPL_CHECK(tpl_is_int(v) || strchr("diu", sp->type), rt, "%%%c format: an integer is required, not float", sp->type);
    TPL_CHECK(tpl_is_int(v) || fabs(v.u.f) < 9e18, rt, "cannot convert this float to integer");
    return format_int(rt, b, tpl_is_int(v) ? tpl_as_int(v) : (int64_t)v.u.f, sp);
}

/* Digits or '*' at s[*i]; -1 when there is neither. */
static hone_status percent_number(tpl_rt *rt, int64_t *out, const tpl_str *s, size_t *i, tpl_value args, uint32_t *used)
{
    *out = -1;
    if (*i < s->len && s->data[*i] == '*') {
        TPL_CHECK(args.kind == TPL_TUPLE && *used < args.u.l->len && tpl_is_int(args.u.l->items[*used]), rt, "* wants int");
        *out = tpl_as_int(args.u.l->items[(*used)++]);
        ++*i;
    }
    for (; *i < s->len && s->data[*i] >= '0' && s->data[*i] <= '9'; ++*i) {
        *out = HONE_MAX(*out, (int64_t)0) * 10 + (s->data[*i] - '0');
        TPL_CHECK(*out <= MAX_WIDTH, rt, "width or precision too big");
    }
    TPL_CHECK(*out <= MAX_WIDTH, rt, "width or precision too big");
    return HONE_OK;
}

static hone_status percent_spec(tpl_rt *rt, spec *sp, const tpl_str *s, size_t *i, tpl_value args, uint32_t *used)
{
    *sp = (spec){ .fill = " ", .width = -1, .precision = -1 };
    for (; *i < s->len && s->data[*i] && strchr("-+ #0", s->data[*i]); ++*i) {
        char c = s->data[*i];

        if (c == '-')
            sp->align = '<';
        else if (c == '0' && !sp->align) {
            sp->fill[0] = '0';
            sp->align = '=';
        } else if (c == '#')
            sp->alternate = true;
        else if (c == '+' || (c == ' ' && !sp->sign))
            sp->sign = c;
    }
    if (sp->align == '<')
        sp->fill[0] = ' ';
    HONE_TRY(percent_number(rt, &sp->width, s, i, args, used));
    if (*i < s->len && s->data[*i] == '.') {
        ++*i;
        HONE_TRY(percent_number(rt, &sp->precision, s, i, args, used));
        sp->precision = HONE_MAX(sp->precision, (int64_t)0);
    }
    while (*i < s->len && strchr("hlL", s->data[*i]) && s->data[*i])
        ++*i;
    TPL_CHECK(*i < s->len, rt, "incomplete format");
    sp->type = s->data[(*i)++];
    TPL_CHECK(sp->type && strchr("srdiuoxXeEfFgGc%", sp->type), rt, "unsupported format character '%c'", sp->type);
    return HONE_OK;
}

static hone_status percent_argument(tpl_rt *rt, tpl_value *out, const tpl_str *s, size_t *i, tpl_value args, uint32_t *used)
{
    const tpl_value *v;
    const char      *end;
    tpl_value        key;

    if (*i < s->len && s->data[*i] == '(') {
        end = memchr(s->data + *i, ')', s->len - *i);
        TPL_CHECK(args.kind == TPL_DICT && end, rt, "format requires a mapping");
        HONE_TRY(tpl_sub_str(rt, &key, s, *i + 1, (size_t)(end - s->data)));
        v = tpl_dict_get(args.u.d, key);
        TPL_CHECK(v, rt, "no key '%.*s' for the format", (int)HONE_MIN(key.u.s->len, 80u), key.u.s->data);
        *out = *v;
        *i = (size_t)(end - s->data) + 1;
    }
    (void)used;
    return HONE_OK;
}

hone_status tpl_str_percent(tpl_rt *rt, tpl_value *out, const tpl_str *s, tpl_value args)
{
    tpl_buf  b = { 0 };
    uint32_t used = 0, n = args.kind == TPL_TUPLE ? args.u.l->len : 1;

    for (size_t i = 0; i < s->len; ) {
        const char *next = memchr(s->data + i, '%', s->len - i);
        size_t      at = next ? (size_t)(next - s->data) : s->len;
        tpl_value   v = { .kind = TPL_MISSING };
        spec        sp;

        HONE_TRY(tpl_buf_sub(rt, &b, s, i, at));
        if (!next)
            break;
        i = at + 1;
        HONE_TRY(percent_argument(rt, &v, s, &i, args, &used));
        HONE_TRY(percent_spec(rt, &sp, s, &i, args, &used));
        if (sp.type == '%') {
            HONE_TRY(tpl_buf_puts(rt, &b, "%"));
            continue;
        }
        if (v.kind == TPL_MISSING) {
            TPL_CHECK(used < n, rt, "not enough arguments for format string");
            v = args.kind == TPL_TUPLE ? args.u.l->items[used] : args;
            used++;
        }
        HONE_TRY(percent_value(rt, &b, v, &sp));
    }
    TPL_CHECK(used >= n || args.kind == TPL_DICT || (args.kind == TPL_LIST && !used) , rt,
              "not all arguments converted during string formatting");
    return tpl_buf_take(rt, &b, out);
}

/* ---- str.format ---- */
typedef struct fields { const tpl_call *call; int64_t next; } fields;

/* [[fill]align][sign][#][0][width][,][.precision][type] */
static hone_status parse_spec(tpl_rt *rt, spec *sp, const char *p, const char *end)
{
    size_t n = p < end ? hone_utf8_len((unsigned char)*p) : 0;

    *sp = (spec){ .fill = " ", .width = -1, .precision = -1 };
    if (n && p + n < end && strchr("<>^=", p[n])) {
        memcpy(sp->fill, p, n);
        sp->fill[n] = '\0';
        sp->align = p[n];
        p += n + 1;
    } else if (p < end && strchr("<>^=", *p)) {
        sp->align = *p++;
    }
    if (p < end && strchr("+- ", *p))
        sp->sign = *p == '-' ? 0 : *p, p++;
    if (p < end && *p == '#')
        sp->alternate = true, p++;
    if (p < end && *p == '0' && !sp->align) {
        sp->align = '=';
        sp->fill[0] = '0';
        p++;
    }
    for (; p < end && *p >= '0' && *p <= '9' && sp->width < MAX_WIDTH; p++)
        sp->width = HONE_MAX(sp->width, (int64_t)0) * 10 + (*p - '0');
    if (p < end && *p == ',')
        sp->comma = true, p++;
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9' && sp->precision < MAX_WIDTH; p++)
            sp->precision = HONE_MAX(sp->precision, (int64_t)0) * 10 + (*p - '0');
    if (p < end)
        sp->type = *p++;
    TPL_CHECK(p == end, rt, "Invalid format specifier");
    TPL_CHECK(!sp->type || strchr("sdxXobeEfFgG%", sp->type), rt, "Unknown format code '%c'", sp->type);
    return HONE_OK;
}

static hone_status format_value(tpl_rt *rt, tpl_buf *b, tpl_value v, const spec *sp, bool plain)
{
    const tpl_str *s;

    if (!plain && tpl_is_number(v) && sp->type != 's') {
        if (tpl_is_int(v) && (!sp->type || strchr("dxXob", sp->type)))
            return format_int(rt, b, tpl_as_int(v), sp);
        TPL_CHECK(!sp->type || strchr("eEfFgG%", sp->type), rt, "Unknown format code '%c' for object of type 'float'",
                  sp->type);
        return format_float(rt, b, tpl_as_float(v), sp);
    }
    TPL_CHECK(plain || v.kind == TPL_STR, rt, "unsupported format string passed to %s.__format__",
              tpl_type_name(v));
    TPL_CHECK(plain || ((!sp->type || sp->type == 's') && sp->align != '='), rt,
              "Unknown format code '%c' for object of type 'str'", sp->type ? sp->type : '=');
    HONE_TRY(tpl_to_str(rt, &s, v));
    return plain ? tpl_buf_str(rt, b, s) : format_str(rt, b, s, sp, '<');
}

/* The argument that a field's first part names. */
static hone_status field_base(tpl_rt *rt, tpl_value *out, fields *f, const tpl_str *name)
{
    char   *end;
    char    text[24];
    int64_t i;

    if (!name->len || (name->data[0] >= '0' && name->data[0] <= '9')) {
        snprintf(text, sizeof text, "%.*s", (int)HONE_MIN(name->len, 20u), name->data);
        i = name->len ? strtoll(text, &end, 10) : f->next++;
        TPL_CHECK(i < f->call->nargs, rt, "Replacement index %lld out of range for positional args tuple", (long long)i);
        *out = f->call->args[i];
        return HONE_OK;
    }
    for (uint32_t k = 0; k < f->call->nkw; k++) {
        if (tpl_str_equal(f->call->names[k], name)) {
            *out = f->call->kwargs[k];
            return HONE_OK;
        }
    }
    return TPL_FAIL(rt, "no argument '%.*s' for format", (int)HONE_MIN(name->len, 80u), name->data);
}

/* "name.attr[item]" at [from, to) of s. */
static hone_status field_value(tpl_rt *rt, tpl_value *out, fields *f, const tpl_str *s, size_t from, size_t to)
{
    size_t    at = from;
    tpl_value name;

    while (at < to && s->data[at] != '.' && s->data[at] != '[')
        at++;
    HONE_TRY(tpl_sub_str(rt, &name, s, from, at));
    HONE_TRY(field_base(rt, out, f, name.u.s));
    while (at < to) {
        bool   item = s->data[at] == '[';
        size_t start = ++at;

        while (at < to && (item ? s->data[at] != ']' : s->data[at] != '.' && s->data[at] != '['))
            at++;
        HONE_TRY(tpl_sub_str(rt, &name, s, start, at));
        if (item && name.u.s->len && name.u.s->data[0] >= '0' && name.u.s->data[0] <= '9' && name.u.s->len < 10)
            name = tpl_int(strtoll(name.u.s->data, NULL, 10));
        HONE_TRY(item ? tpl_get_item(rt, out, *out, name) : tpl_get_attr(rt, out, *out, name.u.s));
        at += item;
    }
    return HONE_OK;
}

static hone_status format_field(tpl_rt *rt, tpl_buf *b, fields *f, const tpl_str *s, size_t from, size_t to)
{
    const char    *colon = memchr(s->data + from, ':', to - from), *bang;
    size_t         name_end = colon ? (size_t)(colon - s->data) : to;
    tpl_value      v;
    const tpl_str *text;
    spec           sp;

    bang = memchr(s->data + from, '!', name_end - from);
    HONE_TRY(field_value(rt, &v, f, s, from, bang ? (size_t)(bang - s->data) : name_end));
    if (bang) {
        TPL_CHECK(bang + 2 == s->data + name_end && (bang[1] == 'r' || bang[1] == 's'), rt, "Unknown conversion specifier");
        HONE_TRY(bang[1] == 's' ? tpl_to_str(rt, &text, v) : repr_of(rt, &text, v));
        v = tpl_string(text);
    }
    HONE_TRY(parse_spec(rt, &sp, s->data + name_end + (colon != NULL), s->data + to));
    return format_value(rt, b, v, &sp, !colon || name_end + 1 == to);
}

hone_status tpl_str_format(tpl_rt *rt, tpl_value *out, const tpl_str *s, const tpl_call *call)
{
    fields  f = { .call = call };
    tpl_buf b = { 0 };

    for (size_t i = 0; i < s->len; ) {
        char        c = s->data[i];
        const char *end;

        if ((c == '{' || c == '}') && i + 1 < s->len && s->data[i + 1] == c) {
            HONE_TRY(tpl_buf_sub(rt, &b, s, i, i + 1));
            i += 2;
            continue;
        }
        TPL_CHECK(c != '}', rt, "Single '}' encountered in format string");
        if (c != '{') {
            HONE_TRY(tpl_buf_sub(rt, &b, s, i, i + 1));
            i++;
            continue;
        }
        end = memchr(s->data + i, '}', s->len - i);
        TPL_CHECK(end, rt, "expected '}' before end of string");
        if (memchr(s->data + i + 1, '{', (size_t)(end - s->data) - i - 1))
            return tpl_fail(rt, HONE_E_UNSUPPORTED, "fields within the fields of a format string are not supported");
        HONE_TRY(format_field(rt, &b, &f, s, i + 1, (size_t)(end - s->data)));
        i = (size_t)(end - s->data) + 1;
    }
    return tpl_buf_take(rt, &b, out);
}
