/* str.format, as the sandbox runs it: string.Formatter, with attributes and items looked up as templates do. */
#include "text/template/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

typedef struct fields {
    const tpl_call *call;
    const tpl_dict *map;        /* format_map: of the fields with names */
    int64_t         next;       /* number of the next field without a name; -1 = fields are numbered by hand */
    bool            escape;     /* Markup: what is put in is escaped */
} fields;

/* [[fill]align][sign][#][0][width][group][.precision][type] */
static hone_status parse_spec(tpl_rt *rt, tpl_spec *sp, const char *p, const char *end)
{
    size_t n = p < end ? hone_utf8_len((unsigned char)*p) : 0;
    bool   filled = n && p + n < end && p[n] && strchr("<>^=", p[n]);

    *sp = (tpl_spec){ .fill = " ", .width = -1, .precision = -1 };
    if (filled) {
        memcpy(sp->fill, p, n);
        sp->fill[n] = '\0';
        sp->align = p[n];
        p += n + 1;
    } else if (p < end && *p && strchr("<>^=", *p)) {
        sp->align = *p++;
    }
    if (p < end && *p && strchr("+- ", *p))
        sp->sign = *p++;
    if (p < end && *p == '#')
        sp->alternate = true, p++;
    if (!filled && p < end && *p == '0') {
        strcpy(sp->fill, "0");
        if (!sp->align)
            sp->align = '0';        /* '=' for numbers, '<' for texts */
        p++;
    }
    for (; p < end && *p >= '0' && *p <= '9' && sp->width < TPL_MAX_WIDTH; p++)
        sp->width = HONE_MAX(sp->width, (int64_t)0) * 10 + (*p - '0');
    TPL_CHECK(sp->width < TPL_MAX_WIDTH, rt, "Too many decimal digits in format string");
    if (p < end && (*p == ',' || *p == '_'))
        sp->group = *p++;
    if (p < end && *p == '.') {
        TPL_CHECK(p + 1 < end && p[1] >= '0' && p[1] <= '9', rt, "Format specifier missing precision");
        for (p++; p < end && *p >= '0' && *p <= '9' && sp->precision < TPL_MAX_WIDTH; p++)
            sp->precision = HONE_MAX(sp->precision, (int64_t)0) * 10 + (*p - '0');
        TPL_CHECK(sp->precision < TPL_MAX_WIDTH, rt, "Too many decimal digits in format string");
    }
    if (p < end)
        sp->type = *p++;
    TPL_CHECK(p == end, rt, "Invalid format specifier");
    return HONE_OK;
}

static hone_status wrong_code(tpl_rt *rt, const tpl_spec *sp, tpl_value v)
{
    return TPL_FAIL(rt, "Unknown format code '%c' for object of type '%s'", sp->type, tpl_type_name(v));
}

static hone_status format_number(tpl_rt *rt, tpl_buf *b, tpl_value v, tpl_spec *sp)
{
    bool integer = tpl_is_int(v) && (!sp->type || strchr("bcdoxXn", sp->type));

    sp->align = sp->align == '0' ? '=' : sp->align;
    if (sp->type && !strchr(integer ? "bcdoxXn" : "eEfFgGn%", sp->type))
        return wrong_code(rt, sp, v);
    TPL_CHECK(!sp->group || !sp->type || strchr(sp->group == ',' ? "deEfFgG%" : "bdoxXeEfFgG%", sp->type), rt,
              "Cannot specify '%c' with '%c'.", sp->group, sp->type);
    if (integer && sp->type == 'c') {
        int64_t cp = tpl_as_int(v);
        char    utf8[4];
        tpl_str one = { .data = utf8, .chars = 1 };

        TPL_CHECK(sp->precision < 0 && !sp->sign && !sp->alternate, rt, "Sign, precision or alternate form not allowed with "
                  "integer format specifier 'c'");
        TPL_CHECK(cp >= 0 && cp < 0x110000 && !(cp >= 0xD800 && cp < 0xE000), rt, "%%c arg not in range(0x110000)");
        one.len = (uint32_t)hone_utf8_encode((uint32_t)cp, utf8);
        return tpl_format_str(rt, b, &one, sp, '>');
    }
    sp->sign = sp->sign == '-' ? 0 : sp->sign;
    TPL_CHECK(!integer || sp->precision < 0, rt, "Precision not allowed in integer format specifier");
    return integer ? tpl_format_int(rt, b, tpl_as_int(v), sp) : tpl_format_float(rt, b, tpl_as_float(v), sp);
}

/* format(v, text) */
static hone_status format_value(tpl_rt *rt, tpl_buf *b, tpl_value v, const tpl_str *text)
{
    const tpl_str *s;
    tpl_spec       sp;

    if (!text->len) {
        HONE_TRY(tpl_to_str(rt, &s, v));
        return tpl_buf_str(rt, b, s);
    }
    TPL_CHECK(tpl_is_number(v) || v.kind == TPL_STR, rt, "unsupported format string passed to %s.__format__", tpl_type_name(v));
    HONE_TRY(parse_spec(rt, &sp, text->data, text->data + text->len));
    if (v.kind != TPL_STR)
        return format_number(rt, b, v, &sp);
    if (sp.type && sp.type != 's')
        return wrong_code(rt, &sp, v);
    TPL_CHECK(!sp.sign, rt, "Sign not allowed in string format specifier");
    TPL_CHECK(!sp.alternate, rt, "Alternate form (#) not allowed in string format specifier");
    TPL_CHECK(!sp.group, rt, "Cannot specify '%c' with 's'.", sp.group);
    TPL_CHECK(sp.align != '=', rt, "'=' alignment not allowed in string format specifier");
    sp.align = sp.align == '0' ? '<' : sp.align;
    return tpl_format_str(rt, b, v.u.s, &sp, '<');
}

static bool all_digits(const tpl_str *s)
{
    for (uint32_t i = 0; i < s->len; i++)
        if (s->data[i] < '0' || s->data[i] > '9')
            return false;
    return s->len > 0;
}

static tpl_value number_of(const tpl_str *s)
{
    char text[20] = { 0 };

    memcpy(text, s->data, HONE_MIN(s->len, 18u));
    return tpl_int(strtoll(text, NULL, 10));
}

/* The argument that a field's first part names. */
static hone_status field_base(tpl_rt *rt, tpl_value *out, const fields *f, const tpl_str *name)
{
    if (all_digits(name)) {
        int64_t i = number_of(name).u.i;

        TPL_CHECK(i < f->call->nargs, rt, "Replacement index %lld out of range for positional args tuple", (long long)i);
        *out = f->call->args[i];
        return HONE_OK;
    }
    if (f->map) {
        const tpl_value *v = tpl_dict_get(rt, f->map, tpl_string(name));

        TPL_CHECK(v, rt, "no key '%.*s' for format_map", (int)HONE_MIN(name->len, 80u), name->data);
        *out = *v;
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

/* "name.attr[item]" */
static hone_status field_value(tpl_rt *rt, tpl_value *out, fields *f, const tpl_str *s)
{
    size_t    at = 0;
    tpl_value name;
    char      number[24];

    while (at < s->len && s->data[at] != '.' && s->data[at] != '[')
        at++;
    HONE_TRY(tpl_sub_str(rt, &name, s, 0, at));
    if (!s->len) {
        TPL_CHECK(f->next >= 0, rt, "cannot switch from manual field specification to automatic field numbering");
        snprintf(number, sizeof number, "%lld", (long long)f->next++);
        HONE_TRY(tpl_new_str(rt, &name, number, strlen(number)));
    } else if (all_digits(s)) {
        TPL_CHECK(f->next <= 0, rt, "cannot switch from automatic field numbering to manual field specification");
        f->next = -1;
    }
    HONE_TRY(field_base(rt, out, f, name.u.s));
    while (at < s->len) {
        bool   item = s->data[at] == '[';
        size_t start = ++at;

        TPL_CHECK(item || s->data[start - 1] == '.', rt, "Only '.' or '[' may follow ']' in format field specifier");
        while (at < s->len && (item ? s->data[at] != ']' : s->data[at] != '.' && s->data[at] != '['))
            at++;
        TPL_CHECK(at > start, rt, "Empty attribute in format string");
        TPL_CHECK(!item || at < s->len, rt, "Missing ']' in format string");
        HONE_TRY(tpl_sub_str(rt, &name, s, start, at));
        if (item && all_digits(name.u.s))
            name = number_of(name.u.s);
        HONE_TRY(item ? tpl_get_item(rt, out, *out, name) : tpl_get_attr(rt, out, *out, name.u.s));
        at += item;
    }
    return HONE_OK;
}

static hone_status format_text(tpl_rt *rt, tpl_value *out, fields *f, const tpl_str *s, int depth);

/* The field that begins behind the '{' before s[*i]; *i moves past its '}'. */
static hone_status format_field(tpl_rt *rt, tpl_buf *b, fields *f, const tpl_str *s, size_t *i, int depth)
{
    size_t         p = *i, end;
    char           conversion = 0, c = 0;
    int            open = 1;
    tpl_value      name, v, spec;
    const tpl_str *text;
    tpl_buf        one = { 0 };

    while (p < s->len) {
        c = s->data[p++];
        TPL_CHECK(c != '{', rt, "unexpected '{' in field name");
        while (c == '[' && p < s->len && s->data[p] != ']')
            p++;
        if (c == '}' || c == ':' || c == '!')
            break;
        c = 0;
    }
    TPL_CHECK(c, rt, "expected '}' before end of string");
    HONE_TRY(tpl_sub_str(rt, &name, s, *i, p - 1));
    if (c == '!') {
        TPL_CHECK(p < s->len, rt, "end of string while looking for conversion specifier");
        conversion = s->data[p++];
        TPL_CHECK(p < s->len, rt, "unmatched '{' in format spec");
        c = s->data[p++];
        TPL_CHECK(c == '}' || c == ':', rt, "expected ':' after conversion specifier");
    }
    for (end = p; c == ':' && open > 0; end++) {
        TPL_CHECK(end < s->len, rt, "unmatched '{' in format spec");
        open += s->data[end] == '{' ? 1 : s->data[end] == '}' ? -1 : 0;
    }
    HONE_TRY(tpl_sub_str(rt, &spec, s, p, c == ':' ? end - 1 : p));
    *i = end;
    HONE_TRY(field_value(rt, &v, f, name.u.s));
    TPL_CHECK(!conversion || strchr("sra", conversion), rt, "Unknown conversion specifier %c", conversion);
    if (conversion) {
        HONE_TRY(conversion == 's' ? tpl_to_str(rt, &text, v) : tpl_repr_str(rt, &text, v, conversion == 'a'));
        HONE_TRY(tpl_as_markup(rt, &v, text, false));
    }
    HONE_TRY(format_text(rt, &spec, f, spec.u.s, depth - 1));
    HONE_TRY(format_value(rt, &one, v, spec.u.s));
    if (f->escape && v.kind == TPL_STR && v.u.s->markup)
        TPL_CHECK(!spec.u.s->len, rt, "Unsupported format specification for Markup.");
    HONE_TRY(tpl_buf_take(rt, &one, &name));
    if (f->escape && !(v.kind == TPL_STR && v.u.s->markup))
        HONE_TRY(tpl_escape(rt, &name, name.u.s));
    return tpl_buf_str(rt, b, name.u.s);
}

static hone_status format_text(tpl_rt *rt, tpl_value *out, fields *f, const tpl_str *s, int depth)
{
    tpl_buf b = { 0 };

    TPL_CHECK(depth >= 0, rt, "Max string recursion exceeded");
    for (size_t i = 0; i < s->len; ) {
        size_t from = i;
        char   c;

        HONE_TRY(tpl_step(rt, 1));
        while (i < s->len && s->data[i] != '{' && s->data[i] != '}')
            i++;
        HONE_TRY(tpl_buf_sub(rt, &b, s, from, i));
        if (i == s->len)
            break;
        c = s->data[i++];
        if (i < s->len && s->data[i] == c) {
            HONE_TRY(tpl_buf_sub(rt, &b, s, i, i + 1));
            i++;
            continue;
        }
        TPL_CHECK(c == '{' && i < s->len, rt, "Single '%c' encountered in format string", c);
        HONE_TRY(format_field(rt, &b, f, s, &i, depth));
    }
    return tpl_buf_take(rt, &b, out);
}

hone_status tpl_str_format(tpl_rt *rt, tpl_value *out, const tpl_str *s, const tpl_call *call, const tpl_dict *map)
{
    fields f = { .call = call, .map = map, .escape = s->markup };

    return format_text(rt, out, &f, s, 2);
}
