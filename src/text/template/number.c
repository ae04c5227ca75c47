/* Numbers and texts with width, precision and sign, for "%" and str.format. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/format.h"

/* `digits_at`: where '=' puts the padding (after the sign). */
static hone_status padded(tpl_rt *rt, tpl_buf *b, const tpl_str *s, const tpl_spec *sp, char usual, size_t digits_at)
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

static hone_status put_text(tpl_rt *rt, tpl_buf *b, const char *text, const tpl_spec *sp, size_t lead)
{
    const tpl_str s = { .data = text, .len = (uint32_t)strlen(text), .chars = (uint32_t)strlen(text) };

    return padded(rt, b, &s, sp, '>', lead);
}

/* Length of n digits with a separator between every `every` of them. */
static int64_t grouped(int64_t n, int every) { return n > 0 ? n + (n - 1) / every : 0; }

/* The number text, with the separators that the format asks for in the digits [lead, lead + n); zeros that pad it are
 * grouped too. */
static hone_status put_grouped(tpl_rt *rt, tpl_buf *b, const char *text, const tpl_spec *sp, size_t lead)
{
    int       every = sp->type && strchr("boxX", sp->type) ? 4 : 3;
    size_t    n = 0, rest;
    int64_t   digits;
    tpl_buf   own = { 0 };
    tpl_value v;

    while (text[lead + n] && strchr("0123456789abcdefABCDEF", text[lead + n]) && (every == 4 || strchr("0123456789", text[lead + n])))
        n++;
    rest = strlen(text) - lead - n;
    digits = (int64_t)n;
    while (sp->align == '=' && strcmp(sp->fill, "0") == 0 && n && (int64_t)(lead + rest) + grouped(digits, every) < sp->width)
        digits++;
    HONE_TRY(tpl_step(rt, (uint64_t)digits));
    HONE_TRY(tpl_buf_put(rt, &own, text, lead));
    for (int64_t i = digits; i > 0; i--) {
        HONE_TRY(tpl_buf_put(rt, &own, i > (int64_t)n ? "0" : text + lead + ((int64_t)n - i), 1));
        if (i > 1 && (i - 1) % every == 0)
            HONE_TRY(tpl_buf_put(rt, &own, &sp->group, 1));
    }
    HONE_TRY(tpl_buf_puts(rt, &own, text + lead + n));
    HONE_TRY(tpl_buf_take(rt, &own, &v));
    return padded(rt, b, v.u.s, sp, '>', lead);
}

hone_status tpl_format_int(tpl_rt *rt, tpl_buf *b, int64_t v, const tpl_spec *sp)
{
    char     text[TPL_MAX_PRECISION + 80], digits[TPL_MAX_PRECISION + 72];
    uint64_t mag = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    int      base = sp->type == 'x' || sp->type == 'X' ? 16 : sp->type == 'o' ? 8 : sp->type == 'b' ? 2 : 10;
    size_t   n = sizeof digits - 1, lead;

    TPL_CHECK(sp->precision <= TPL_MAX_PRECISION, rt, "a precision of more than %d", TPL_MAX_PRECISION);
    digits[n] = '\0';
    do {
        digits[--n] = (sp->type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[mag % (unsigned)base];
        mag /= (unsigned)base;
    } while (mag);
    while ((int64_t)(sizeof digits - 1 - n) < sp->precision)
        digits[--n] = '0';
    lead = (size_t)snprintf(text, sizeof text, "%s%s", v < 0 ? "-" : sp->sign == '+' ? "+" : sp->sign == ' ' ? " " : "",
                            !sp->alternate ? "" : base == 16 ? (sp->type == 'X' ? "0X" : "0x") : base == 8 ? "0o"
                            : base == 2 ? "0b" : "");
    snprintf(text + lead, sizeof text - lead, "%s", digits + n);
    return sp->group ? put_grouped(rt, b, text, sp, lead) : put_text(rt, b, text, sp, lead);
}

/* "%.{precision}g" as Python's format has it without a type: with ".0", and with an exponent one digit earlier. */
static void general(char *out, size_t size, double v, int precision, bool alternate)
{
    char digits[TPL_MAX_PRECISION + 40];
    int  exponent;

    precision = HONE_MAX(precision, 1);
    snprintf(digits, sizeof digits, "%.*e", precision - 1, v);
    exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent < -4 || exponent >= precision - 1) {
        char *end = strchr(digits, 'e');

        *end = '\0';
        if (strchr(digits, '.') && !alternate)
            while (end[-1] == '0' || end[-1] == '.') {
                bool point = *--end == '.';

                *end = '\0';
                if (point)
                    break;
            }
        snprintf(out, size, "%s%se%c%02d", digits, alternate && precision == 1 ? "." : "", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    snprintf(out, size, "%#.*g", precision, v);
    if (!alternate)
        for (char *end = out + strlen(out); end[-1] == '0' && end[-2] != '.'; )
            *--end = '\0';
}

hone_status tpl_format_float(tpl_rt *rt, tpl_buf *b, double v, const tpl_spec *sp)
{
    char   text[TPL_MAX_PRECISION + 400], how[8];
    int    precision = sp->precision < 0 ? 6 : (int)HONE_MIN(sp->precision, (int64_t)TPL_MAX_PRECISION);
    char   type = sp->type == 'n' ? 'g' : sp->type == '%' ? 'f' : sp->type;
    size_t lead = 0;

    TPL_CHECK(sp->precision <= TPL_MAX_PRECISION, rt, "a precision of more than %d", TPL_MAX_PRECISION);
    if (sp->type == '%')
        v *= 100;
    if ((signbit(v) && !isnan(v)) || sp->sign)
        text[lead++] = signbit(v) && !isnan(v) ? '-' : sp->sign;
    v = fabs(v);
    if (!isfinite(v)) {
        strcpy(text + lead, type && strchr("EFG", type) ? (isnan(v) ? "NAN" : "INF") : isnan(v) ? "nan" : "inf");
    } else if (!type && sp->precision < 0) {
        tpl_float_repr(text + lead, v);
    } else if (!type) {
        general(text + lead, sizeof text - lead, v, precision, sp->alternate);
    } else {
        snprintf(how, sizeof how, "%%%s.*%c", sp->alternate ? "#" : "", type);
        snprintf(text + lead, sizeof text - lead - 2, how, precision, v);
    }
    if (sp->type == '%')
        strcat(text, "%");
    return sp->group && isfinite(v) ? put_grouped(rt, b, text, sp, lead) : put_text(rt, b, text, sp, lead);
}

hone_status tpl_format_str(tpl_rt *rt, tpl_buf *b, const tpl_str *s, const tpl_spec *sp, char usual)
{
    tpl_value v = tpl_string(s);

    if (sp->precision >= 0)
        HONE_TRY(tpl_sub_str(rt, &v, s, 0, tpl_str_offset(s, (size_t)sp->precision)));
    return padded(rt, b, v.u.s, sp, usual, 0);
}

hone_status tpl_repr_str(tpl_rt *rt, const tpl_str **out, tpl_value v, bool ascii)
{
    tpl_buf   b = { 0 }, plain = { 0 };
    tpl_value s;
    size_t    n;

    HONE_TRY(tpl_repr(rt, &b, v));
    HONE_TRY(tpl_buf_take(rt, &b, &s));
    *out = s.u.s;
    if (!ascii || s.u.s->len == s.u.s->chars)
        return HONE_OK;
    for (size_t i = 0; i < s.u.s->len; i += n) {
        uint32_t cp = hone_utf8_decode(s.u.s->data + i, &n);
        char     text[12];

        snprintf(text, sizeof text, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
        if (cp < 0x80)
            HONE_TRY(tpl_buf_sub(rt, &plain, s.u.s, i, i + n));
        else
            HONE_TRY(tpl_buf_as(rt, &plain, text, strlen(text), s.u.s, i));
    }
    HONE_TRY(tpl_buf_take(rt, &plain, &s));
    *out = s.u.s;
    return HONE_OK;
}
