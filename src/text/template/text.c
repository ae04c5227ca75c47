/* Values as text: str(), repr() and json.dumps() as Python writes them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/ast.h"
#include "text/template/unicode.h"

enum { MAX_NESTING = 900 };     /* of containers in one text */

const char *tpl_float_repr(char buf[32], double v)
{
    char  digits[32], *p = buf;
    int   n, exponent;

    if (!isfinite(v)) {
        strcpy(buf, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return buf;
    }
    for (n = 1; n <= 17; n++) {     /* the fewest digits that read back as v */
        snprintf(digits, sizeof digits, "%.*e", n - 1, fabs(v));
        if (strtod(digits, NULL) == fabs(v))
            break;
    }
    n = HONE_MIN(n, 17);
    exponent = atoi(strchr(digits, 'e') + 1);
    memmove(digits + 1, digits + 2, (size_t)n - 1);     /* without the point */
    if (signbit(v))
        *p++ = '-';
    if (exponent < -4 || exponent >= 16) {
        *p++ = digits[0];
        if (n > 1)
            *p++ = '.';
        memcpy(p, digits + 1, (size_t)n - 1);
        snprintf(p + n - 1, 8, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent) % 1000);
        return buf;
    }
    for (int at = HONE_MIN(exponent, 0); at < HONE_MAX(n, exponent + 2); at++) {
        if (at == exponent + 1)
            *p++ = '.';
        *p++ = at >= 0 && at < n ? digits[at] : '0';
    }
    *p = '\0';
    return buf;
}

const char *tpl_type_name(tpl_value v)
{
    static const char *const views[] = { "dict_keys", "dict_values", "dict_items" };

    switch ((tpl_kind)v.kind) {
    case TPL_MISSING: case TPL_UNDEF: return "Undefined";
    case TPL_NONE:      return "NoneType";
    case TPL_BOOL:      return "bool";
    case TPL_INT:       return "int";
    case TPL_FLOAT:     return "float";
    case TPL_STR:       return "str";
    case TPL_LIST:      return "list";
    case TPL_TUPLE:     return "tuple";
    case TPL_DICT:      return "dict";
    case TPL_VIEW:      return views[v.sub];
    case TPL_RANGE:     return "range";
    case TPL_ITER:      return v.u.it->type;
    case TPL_NAMESPACE: return "TemplateNamespace";
    case TPL_MACRO:     return "Macro";
    case TPL_METHOD: case TPL_FUNC: return "builtin_function_or_method";
    case TPL_LOOP:      return "LoopContext";
    case TPL_CYCLER:    return "Cycler";
    case TPL_JOINER:    return "Joiner";
    case TPL_SELF:      return v.u.block ? "BlockReference" : "TemplateReference";
    }
    return "object";
}

const char *tpl_undef_text(char buf[256], tpl_value v)
{
    const char *name = v.u.s ? v.u.s->data : "";
    int         n = v.u.s ? (int)HONE_MIN(v.u.s->len, 120u) : 0;
    tpl_value   of = { .kind = v.of };
    const char *type = v.of == TPL_ITER ? "generator" : v.of == TPL_NONE ? "None" : tpl_type_name(of);

    switch ((tpl_undef)v.sub) {
    case TPL_UNDEF_NAME: snprintf(buf, 256, "'%.*s' is undefined", n, name); break;
    case TPL_UNDEF_ATTR:
        snprintf(buf, 256, "'%s%s' has no attribute '%.*s'", type, v.of == TPL_NONE ? "" : " object", n, name);
        break;
    case TPL_UNDEF_ITEM:
        snprintf(buf, 256, "%s%s has no element %.*s", type, v.of == TPL_NONE ? "" : " object", n, name);
        break;
    case TPL_UNDEF_HINT: snprintf(buf, 256, "%.*s", n, name); break;
    }
    return buf;
}

/* ---- repr ---- */
static hone_status repr_str(tpl_rt *rt, tpl_buf *b, const tpl_str *s)
{
    bool   single = s->len && memchr(s->data, '\'', s->len), dbl = s->len && memchr(s->data, '"', s->len);
    char   quote = single && !dbl ? '"' : '\'';
    size_t n;

    HONE_TRY(tpl_buf_puts(rt, b, s->markup ? "Markup(" : ""));
    HONE_TRY(tpl_buf_put(rt, b, &quote, 1));
    for (size_t i = 0; i < s->len; i += n) {
        uint32_t cp = hone_utf8_decode(s->data + i, &n);
        char     text[12];

        if (cp == (uint32_t)quote || cp == '\\')
            snprintf(text, sizeof text, "\\%c", (char)cp);
        else if (cp == '\n' || cp == '\r' || cp == '\t')
            snprintf(text, sizeof text, "\\%c", cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't');
        else if (tpl_uc_has(cp, TPL_UC_PRINT))
            text[0] = '\0';
        else
            snprintf(text, sizeof text, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
        if (text[0])
            HONE_TRY(tpl_buf_as(rt, b, text, strlen(text), s, i));
        else
            HONE_TRY(tpl_buf_sub(rt, b, s, i, i + n));
    }
    HONE_TRY(tpl_buf_put(rt, b, &quote, 1));
    return tpl_buf_puts(rt, b, s->markup ? ")" : "");
}

static hone_status repr_items(tpl_rt *rt, tpl_buf *b, const tpl_value *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            HONE_TRY(tpl_buf_puts(rt, b, ", "));
        HONE_TRY(tpl_repr(rt, b, items[i]));
    }
    return HONE_OK;
}

static hone_status repr_dict(tpl_rt *rt, tpl_buf *b, const tpl_dict *d)
{
    HONE_TRY(tpl_buf_puts(rt, b, "{"));
    for (uint32_t i = 0; i < d->len; i++) {
        if (i)
            HONE_TRY(tpl_buf_puts(rt, b, ", "));
        HONE_TRY(tpl_repr(rt, b, d->keys[i]));
        HONE_TRY(tpl_buf_puts(rt, b, ": "));
        HONE_TRY(tpl_repr(rt, b, d->values[i]));
    }
    return tpl_buf_puts(rt, b, "}");
}

static hone_status repr_view(tpl_rt *rt, tpl_buf *b, tpl_value v)
{
    const tpl_dict *d = v.u.d;

    HONE_TRY(tpl_buf_puts(rt, b, tpl_type_name(v)));
    HONE_TRY(tpl_buf_puts(rt, b, "(["));
    for (uint32_t i = 0; v.sub == TPL_VIEW_ITEMS && i < d->len; i++) {
        const tpl_value pair[2] = { d->keys[i], d->values[i] };

        HONE_TRY(tpl_buf_puts(rt, b, i ? ", (" : "("));
        HONE_TRY(repr_items(rt, b, pair, 2));
        HONE_TRY(tpl_buf_puts(rt, b, ")"));
    }
    if (v.sub != TPL_VIEW_ITEMS)
        HONE_TRY(repr_items(rt, b, v.sub == TPL_VIEW_KEYS ? d->keys : d->values, d->len));
    return tpl_buf_puts(rt, b, "])");
}

/* Values whose text is short and has no origin. */
static const char *plain_text(char buf[80], tpl_value v)
{
    switch ((tpl_kind)v.kind) {
    case TPL_NONE:  return "None";
    case TPL_BOOL:  return v.u.b ? "True" : "False";
    case TPL_INT:   snprintf(buf, 80, "%lld", (long long)v.u.i); return buf;
    case TPL_FLOAT: return tpl_float_repr(buf, v.u.f);
    case TPL_RANGE:
        snprintf(buf, 80, v.u.r->step == 1 ? "range(%lld, %lld)" : "range(%lld, %lld, %lld)", (long long)v.u.r->start,
                 (long long)v.u.r->stop, (long long)v.u.r->step);
        return buf;
    case TPL_MISSING: case TPL_UNDEF: return "Undefined";
    default:
        return NULL;
    }
}

static hone_status repr_container(tpl_rt *rt, tpl_buf *b, tpl_value v)
{
    switch ((tpl_kind)v.kind) {
    case TPL_STR: return repr_str(rt, b, v.u.s);
    case TPL_DICT: return repr_dict(rt, b, v.u.d);
    case TPL_VIEW: return repr_view(rt, b, v);
    case TPL_LIST: case TPL_TUPLE:
        HONE_TRY(tpl_buf_puts(rt, b, v.kind == TPL_LIST ? "[" : "("));
        HONE_TRY(repr_items(rt, b, v.u.l->items, v.u.l->len));
        return tpl_buf_puts(rt, b, v.kind == TPL_LIST ? "]" : v.u.l->len == 1 ? ",)" : ")");
    case TPL_NAMESPACE:
        HONE_TRY(tpl_buf_puts(rt, b, "<Namespace "));
        HONE_TRY(repr_dict(rt, b, v.u.d));
        return tpl_buf_puts(rt, b, ">");
    case TPL_LOOP: {
        char    buf[80];
        int64_t n;

        HONE_TRY(tpl_loop_length(rt, &n, v.u.loop));
        snprintf(buf, sizeof buf, "<LoopContext %lld/%lld>", (long long)v.u.loop->index0 + 1, (long long)n);
        return tpl_buf_puts(rt, b, buf);
    }
    case TPL_MACRO: {
        const tpl_str *name = v.u.m->node->text;

        HONE_TRY(tpl_buf_puts(rt, b, name ? "<Macro '" : "<Macro anonymous"));
        if (name)
            HONE_TRY(tpl_buf_str(rt, b, name));
        return tpl_buf_puts(rt, b, name ? "'>" : ">");
    }
    default:        /* Python prints an address here; no template depends on it */
        HONE_TRY(tpl_buf_puts(rt, b, "<"));
        HONE_TRY(tpl_buf_puts(rt, b, tpl_type_name(v)));
        return tpl_buf_puts(rt, b, ">");
    }
}

hone_status tpl_repr(tpl_rt *rt, tpl_buf *b, tpl_value v)
{
    char        buf[80];
    const char *text = plain_text(buf, v);

    HONE_TRY(tpl_step(rt, 1));
    if (text)
        return tpl_buf_puts(rt, b, text);
    TPL_CHECK(rt->depth < TPL_MAX_DEPTH, rt, "values are nested too deep");
    rt->depth += 4;
    HONE_TRY(repr_container(rt, b, v));
    rt->depth -= 4;
    return HONE_OK;
}

hone_status tpl_to_str(tpl_rt *rt, const tpl_str **out, tpl_value v)
{
    static const tpl_str empty = { .data = "" };
    tpl_buf   b = { 0 };
    tpl_value s;

    *out = v.kind == TPL_STR ? v.u.s : &empty;
    if (v.kind == TPL_STR || v.kind == TPL_UNDEF || v.kind == TPL_MISSING)
        return HONE_OK;
    HONE_TRY(tpl_repr(rt, &b, v));
    HONE_TRY(tpl_buf_take(rt, &b, &s));
    *out = s.u.s;
    return HONE_OK;
}

/* ---- JSON out ---- */
static hone_status json_str(tpl_rt *rt, tpl_buf *b, const tpl_str *s, bool ascii)
{
    static const char special[] = "\"\\\n\r\t\b\f";
    size_t from = 0, n;

    HONE_TRY(tpl_buf_puts(rt, b, "\""));
    for (size_t i = 0; i < s->len; i += n) {
        uint32_t    cp = hone_utf8_decode(s->data + i, &n);
        const char *p = cp && cp < 0x80 ? strchr(special, (int)cp) : NULL;
        char        text[16];

        if (cp >= 0x20 && !p && (cp < 0x7F || !ascii || cp == 0x7F))
            continue;
        HONE_TRY(tpl_buf_sub(rt, b, s, from, i));
        if (p)
            snprintf(text, sizeof text, "\\%c", "\"\\nrtbf"[p - special]);
        else if (cp < 0x10000)
            snprintf(text, sizeof text, "\\u%04x", cp);
        else
            snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xD7C0 + (cp >> 10), 0xDC00 + (cp & 0x3FF));
        HONE_TRY(tpl_buf_as(rt, b, text, strlen(text), s, i));
        from = i + n;
    }
    HONE_TRY(tpl_buf_sub(rt, b, s, from, s->len));
    return tpl_buf_puts(rt, b, "\"");
}

static hone_status to_json(tpl_rt *rt, tpl_buf *b, tpl_value v, const tpl_json_style *st, int level);

static hone_status new_line(tpl_rt *rt, tpl_buf *b, const tpl_json_style *st, int level)
{
    if (!st->indent)
        return HONE_OK;
    HONE_TRY(tpl_buf_puts(rt, b, "\n"));
    for (int i = 0; i < level; i++)
        HONE_TRY(tpl_buf_put(rt, b, st->indent, st->indent_len));
    return HONE_OK;
}

static hone_status separator(tpl_rt *rt, tpl_buf *b, const tpl_str *given, const char *usual)
{
    return given ? tpl_buf_str(rt, b, given) : tpl_buf_puts(rt, b, usual);
}

static hone_status put_array(tpl_rt *rt, tpl_buf *b, const tpl_list *l, const tpl_json_style *st, int level)
{
    if (!l->len)
        return tpl_buf_puts(rt, b, "[]");
    HONE_TRY(tpl_buf_puts(rt, b, "["));
    for (uint32_t i = 0; i < l->len; i++) {
        if (i)
            HONE_TRY(separator(rt, b, st->item, st->indent ? "," : ", "));
        HONE_TRY(new_line(rt, b, st, level + 1));
        HONE_TRY(to_json(rt, b, l->items[i], st, level + 1));
    }
    HONE_TRY(new_line(rt, b, st, level));
    return tpl_buf_puts(rt, b, "]");
}

static const char *json_number(char buf[80], tpl_value v)
{
    if (v.kind == TPL_FLOAT && !isfinite(v.u.f))
        return isnan(v.u.f) ? "NaN" : v.u.f > 0 ? "Infinity" : "-Infinity";
    if (v.kind == TPL_BOOL)
        return v.u.b ? "true" : "false";
    return v.kind == TPL_NONE ? "null" : plain_text(buf, v);
}

static hone_status json_key(tpl_rt *rt, tpl_buf *b, tpl_value key, const tpl_json_style *st)
{
    char buf[80];

    if (key.kind == TPL_STR)
        return json_str(rt, b, key.u.s, st->ascii);
    TPL_CHECK(tpl_is_number(key) || key.kind == TPL_NONE, rt, "keys must be str, int, float, bool or None, not %s",
              tpl_type_name(key));
    HONE_TRY(tpl_buf_puts(rt, b, "\""));
    HONE_TRY(tpl_buf_puts(rt, b, json_number(buf, key)));
    return tpl_buf_puts(rt, b, "\"");
}

static hone_status put_object(tpl_rt *rt, tpl_buf *b, const tpl_dict *d, const tpl_json_style *st, int level)
{
    tpl_value *keys = d->keys, *values = d->values;

    if (!d->len)
        return tpl_buf_puts(rt, b, "{}");
    if (st->sort) {
        TPL_ALLOC(keys, rt, d->len);
        TPL_ALLOC(values, rt, d->len);
        memcpy(keys, d->keys, d->len * sizeof *keys);
        memcpy(values, d->values, d->len * sizeof *values);
        HONE_TRY(tpl_sort(rt, values, keys, d->len, false));
    }
    HONE_TRY(tpl_buf_puts(rt, b, "{"));
    for (uint32_t i = 0; i < d->len; i++) {
        if (i)
            HONE_TRY(separator(rt, b, st->item, st->indent ? "," : ", "));
        HONE_TRY(new_line(rt, b, st, level + 1));
        HONE_TRY(json_key(rt, b, keys[i], st));
        HONE_TRY(separator(rt, b, st->key, ": "));
        HONE_TRY(to_json(rt, b, values[i], st, level + 1));
    }
    HONE_TRY(new_line(rt, b, st, level));
    return tpl_buf_puts(rt, b, "}");
}

static hone_status to_json(tpl_rt *rt, tpl_buf *b, tpl_value v, const tpl_json_style *st, int level)
{
    char buf[80];

    HONE_TRY(tpl_step(rt, 1));
    TPL_CHECK(level < MAX_NESTING, rt, "a value is nested too deep for JSON");
    switch ((tpl_kind)v.kind) {
    case TPL_STR:  return json_str(rt, b, v.u.s, st->ascii);
    case TPL_LIST: case TPL_TUPLE: return put_array(rt, b, v.u.l, st, level);
    case TPL_DICT: return put_object(rt, b, v.u.d, st, level);
    case TPL_NONE: case TPL_BOOL: case TPL_INT: case TPL_FLOAT: return tpl_buf_puts(rt, b, json_number(buf, v));
    default:
        return TPL_FAIL(rt, "Object of type %s is not JSON serializable", tpl_type_name(v));
    }
}

hone_status tpl_to_json(tpl_rt *rt, tpl_buf *b, tpl_value v, const tpl_json_style *style)
{
    return to_json(rt, b, v, style, 0);
}
