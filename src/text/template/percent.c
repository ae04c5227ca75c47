/* "…%s…" % arguments */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/format.h"

typedef struct percent {
    const tpl_str *s;
    size_t         i;
    tpl_value      args;
    uint32_t       used;
    tpl_value      named;       /* the value of a "(name)"; TPL_MISSING = none */
} percent;

static hone_status next_argument(tpl_rt *rt, percent *p, tpl_value *out)
{
    if (p->named.kind != TPL_MISSING) {
        *out = p->named;
        p->named = (tpl_value){ .kind = TPL_MISSING };
        return HONE_OK;
    }
    TPL_CHECK(p->used < (p->args.kind == TPL_TUPLE ? p->args.u.l->len : 1), rt, "not enough arguments for format string");
    *out = p->args.kind == TPL_TUPLE ? p->args.u.l->items[p->used] : p->args;
    p->used++;
    return HONE_OK;
}

static hone_status put_value(tpl_rt *rt, tpl_buf *b, tpl_value v, tpl_spec *sp)
{
    const tpl_str *s;
    char           utf8[4];

    if (strchr("sra", sp->type)) {
        HONE_TRY(sp->type == 's' ? tpl_to_str(rt, &s, v) : tpl_repr_str(rt, &s, v, sp->type == 'a'));
        strcpy(sp->fill, " ");
        sp->align = sp->align == '<' ? '<' : '>';
        return tpl_format_str(rt, b, s, sp, '>');
    }
    if (sp->type == 'c') {
        tpl_str one = { .data = utf8, .chars = 1 };

        strcpy(sp->fill, " ");
        sp->align = sp->align == '<' ? '<' : '>';
        sp->precision = -1;
        if (v.kind == TPL_STR && v.u.s->chars == 1)
            return tpl_format_str(rt, b, v.u.s, sp, '>');
        TPL_CHECK(tpl_is_int(v), rt, "%%c requires int or char");
        TPL_CHECK(tpl_as_int(v) >= 0 && tpl_as_int(v) < 0x110000 && !(tpl_as_int(v) >= 0xD800 && tpl_as_int(v) < 0xE000), rt,
                  "%%c arg not in range(0x110000)");
        one.len = (uint32_t)hone_utf8_encode((uint32_t)tpl_as_int(v), utf8);
        return tpl_format_str(rt, b, &one, sp, '>');
    }
    TPL_CHECK(tpl_is_number(v), rt, "%%%c format: a real number is required, not %s", sp->type, tpl_type_name(v));
    if (strchr("eEfFgG", sp->type))
        return tpl_format_float(rt, b, tpl_as_float(v), sp);
    TPL_CHECK(tpl_is_int(v) || strchr("diu", sp->type), rt, "%%%c format: an integer is required, not float", sp->type);
    TPL_CHECK(tpl_is_int(v) || fabs(v.u.f) < 9e18, rt, "cannot convert this float to a 64-bit integer");
    return tpl_format_int(rt, b, tpl_is_int(v) ? tpl_as_int(v) : (int64_t)v.u.f, sp);
}

/* Digits or '*' at the place; -1 when there is neither. */
static hone_status read_number(tpl_rt *rt, int64_t *out, percent *p)
{
    *out = -1;
    if (p->i < p->s->len && p->s->data[p->i] == '*') {
        tpl_value v;

        p->i++;
        HONE_TRY(next_argument(rt, p, &v));
        TPL_CHECK(tpl_is_int(v), rt, "* wants int");
        *out = tpl_as_int(v);
        TPL_CHECK(*out <= TPL_MAX_WIDTH && *out >= -TPL_MAX_WIDTH, rt, "width or precision too big");
        return HONE_OK;
    }
    for (; p->i < p->s->len && p->s->data[p->i] >= '0' && p->s->data[p->i] <= '9'; p->i++) {
        *out = HONE_MAX(*out, (int64_t)0) * 10 + (p->s->data[p->i] - '0');
        TPL_CHECK(*out <= TPL_MAX_WIDTH, rt, "width or precision too big");
    }
    return HONE_OK;
}

static hone_status read_spec(tpl_rt *rt, tpl_spec *sp, percent *p)
{
    const tpl_str *s = p->s;
    bool           zero = false, left = false;

    *sp = (tpl_spec){ .fill = " ", .width = -1, .precision = -1 };
    for (; p->i < s->len && s->data[p->i] && strchr("-+ #0", s->data[p->i]); p->i++) {
        char c = s->data[p->i];

        left |= c == '-';
        zero |= c == '0';
        sp->alternate |= c == '#';
        if (c == '+' || (c == ' ' && !sp->sign))
            sp->sign = c;
    }
    HONE_TRY(read_number(rt, &sp->width, p));
    if (sp->width < -1) {
        left = true;
        sp->width = -sp->width;
    }
    sp->align = left ? '<' : zero ? '=' : 0;
    if (zero && !left)
        strcpy(sp->fill, "0");
    if (p->i < s->len && s->data[p->i] == '.') {
        p->i++;
        HONE_TRY(read_number(rt, &sp->precision, p));
        sp->precision = HONE_MAX(sp->precision, (int64_t)0);
    }
    if (p->i < s->len && s->data[p->i] && strchr("hlL", s->data[p->i]))
        p->i++;
    TPL_CHECK(p->i < s->len, rt, "incomplete format");
    sp->type = s->data[p->i++];
    TPL_CHECK(sp->type && strchr("srdiuoxXeEfFgGca", sp->type), rt, "unsupported format character '%c'", sp->type);
    return HONE_OK;
}

/* "(name)" */
static hone_status read_name(tpl_rt *rt, percent *p)
{
    const tpl_value *v;
    size_t           end = p->i + 1;
    int              depth = 1;
    tpl_value        key;

    if (p->i >= p->s->len || p->s->data[p->i] != '(')
        return HONE_OK;
    for (; end < p->s->len && depth > 0; end++)
        depth += p->s->data[end] == '(' ? 1 : p->s->data[end] == ')' ? -1 : 0;
    TPL_CHECK(p->args.kind == TPL_DICT, rt, "format requires a mapping");
    TPL_CHECK(!depth, rt, "incomplete format key");
    HONE_TRY(tpl_sub_str(rt, &key, p->s, p->i + 1, end - 1));
    v = tpl_dict_get(rt, p->args.u.d, key);
    TPL_CHECK(v, rt, "no key '%.*s' for the format", (int)HONE_MIN(key.u.s->len, 80u), key.u.s->data);
    p->named = *v;
    p->i = end;
    return HONE_OK;
}

hone_status tpl_str_percent(tpl_rt *rt, tpl_value *out, const tpl_str *s, tpl_value args)
{
    percent p = { .s = s, .args = args };
    tpl_buf b = { 0 };

    while (p.i < s->len) {
        const char *next = memchr(s->data + p.i, '%', s->len - p.i);
        size_t      at = next ? (size_t)(next - s->data) : s->len;
        tpl_buf     one = { 0 };
        tpl_value   v;
        tpl_spec    sp;

        HONE_TRY(tpl_step(rt, 1));
        HONE_TRY(tpl_buf_sub(rt, &b, s, p.i, at));
        if (!next)
            break;
        p.i = at + 1;
        if (p.i < s->len && s->data[p.i] == '%') {
            p.i++;
            HONE_TRY(tpl_buf_sub(rt, &b, s, p.i - 1, p.i));
            continue;
        }
        p.named = (tpl_value){ .kind = TPL_MISSING };
        HONE_TRY(read_name(rt, &p));
        HONE_TRY(read_spec(rt, &sp, &p));
        HONE_TRY(next_argument(rt, &p, &v));
        if (s->markup && strchr("sra", sp.type)) {      /* Markup escapes what is put in, before it is cut or padded */
            const tpl_str *text;

            HONE_TRY(sp.type == 's' ? tpl_to_str(rt, &text, v) : tpl_repr_str(rt, &text, v, sp.type == 'a'));
            HONE_TRY(tpl_escape(rt, &v, text));
            sp.type = 's';
        }
        HONE_TRY(put_value(rt, &one, v, &sp));
        HONE_TRY(tpl_buf_take(rt, &one, &v));
        HONE_TRY(tpl_buf_str(rt, &b, v.u.s));
    }
    TPL_CHECK(p.used >= (args.kind == TPL_TUPLE ? args.u.l->len : 1) || args.kind == TPL_DICT || args.kind == TPL_LIST ||
              args.kind == TPL_UNDEF || args.kind == TPL_RANGE, rt, "not all arguments converted during string formatting");
    HONE_TRY(tpl_buf_take(rt, &b, out));
    return tpl_as_markup(rt, out, out->u.s, s->markup);
}
