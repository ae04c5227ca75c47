/* The filter pprint: Python's pprint.pformat with its usual width of 80. */
#include <string.h>

#include "base/utf8.h"
#include "text/template/format.h"
#include "text/template/seq.h"

enum { WIDTH = 80, MAX_LEVEL = 200 };

/* Keys of one type in their order, others by the names of their types. */
static hone_status key_before(tpl_rt *rt, bool *out, tpl_value a, tpl_value b)
{
    bool numbers = tpl_is_number(a) && tpl_is_number(b);

    if (numbers || (a.kind == TPL_STR && b.kind == TPL_STR))
        return tpl_compare(rt, out, '<', a, b);
    *out = strcmp(tpl_type_name(a), tpl_type_name(b)) < 0;
    return HONE_OK;
}

/* The dict with its entries in the order of their keys (insertion sort: stable, and such dicts are small). */
static hone_status sorted(tpl_rt *rt, tpl_dict *out, const tpl_dict *d)
{
    *out = *d;
    TPL_ALLOC(out->keys, rt, d->len);
    TPL_ALLOC(out->values, rt, d->len);
    for (uint32_t i = 0; i < d->len; i++) {
        uint32_t k = i;

        for (; k > 0; k--) {
            bool before;

            HONE_TRY(tpl_step(rt, 1));
            HONE_TRY(key_before(rt, &before, d->keys[i], out->keys[k - 1]));
            if (!before)
                break;
            out->keys[k] = out->keys[k - 1];
            out->values[k] = out->values[k - 1];
        }
        out->keys[k] = d->keys[i];
        out->values[k] = d->values[i];
    }
    return HONE_OK;
}

/* The value with all dicts in it sorted. */
static hone_status ordered(tpl_rt *rt, tpl_value *out, tpl_value v, int level)
{
    TPL_CHECK(level < MAX_LEVEL, rt, "values are nested too deep");
    HONE_TRY(tpl_step(rt, 1));
    *out = v;
    if (v.kind == TPL_DICT) {
        tpl_dict *d;

        TPL_ALLOC(d, rt, 1);
        HONE_TRY(sorted(rt, d, v.u.d));
        for (uint32_t i = 0; i < d->len; i++)
            HONE_TRY(ordered(rt, &d->values[i], d->values[i], level + 1));
        *out = tpl_dict_value(d);
    } else if (v.kind == TPL_LIST || v.kind == TPL_TUPLE) {
        tpl_list *l;

        HONE_TRY(tpl_new_list(rt, &l, v.u.l->len));
        for (uint32_t i = 0; i < v.u.l->len; i++)
            HONE_TRY(ordered(rt, &l->items[l->len++], v.u.l->items[i], level + 1));
        out->u.l = l;
    }
    return HONE_OK;
}

static hone_status new_line(tpl_rt *rt, tpl_buf *b, const char *before, int64_t indent)
{
    HONE_TRY(tpl_buf_puts(rt, b, before));
    HONE_TRY(tpl_buf_puts(rt, b, "\n"));
    for (int64_t i = 0; i < indent; i++)
        HONE_TRY(tpl_buf_puts(rt, b, " "));
    return tpl_step(rt, (uint64_t)indent);
}

/* The end of the run of non-blanks and blanks at s->data + i. */
static size_t part_end(const tpl_str *s, size_t i)
{
    size_t n;

    while (i < s->len && !tpl_is_space(hone_utf8_decode(s->data + i, &n)))
        i += n;
    while (i < s->len && tpl_is_space(hone_utf8_decode(s->data + i, &n)))
        i += n;
    return i;
}

typedef struct pieces { tpl_list *list; int64_t width, allowance; } pieces;

static hone_status push_piece(tpl_rt *rt, pieces *p, const tpl_str *s, size_t from, size_t to)
{
    tpl_value      v;
    const tpl_str *r;

    HONE_TRY(tpl_sub_str(rt, &v, s, from, to));
    HONE_TRY(tpl_repr_str(rt, &r, v, false));
    return tpl_push(rt, p->list, tpl_string(r));
}

static hone_status fits(tpl_rt *rt, bool *out, const tpl_str *s, size_t from, size_t to, int64_t width)
{
    tpl_value      v;
    const tpl_str *r;

    HONE_TRY(tpl_sub_str(rt, &v, s, from, to));
    HONE_TRY(tpl_repr_str(rt, &r, v, false));
    HONE_TRY(tpl_step(rt, r->len / 16));
    *out = (int64_t)r->chars <= width;
    return HONE_OK;
}

static hone_status cut_line(tpl_rt *rt, pieces *p, const tpl_str *line, bool last)
{
    size_t from = 0, to = 0;
    bool   fit;

    HONE_TRY(fits(rt, &fit, line, 0, line->len, p->width - (last ? p->allowance : 0)));
    if (fit)
        return push_piece(rt, p, line, 0, line->len);
    while (to < line->len) {
        size_t end = part_end(line, to);

        HONE_TRY(fits(rt, &fit, line, from, end, p->width - (last && end == line->len ? p->allowance : 0)));
        if (!fit) {
            if (to > from)
                HONE_TRY(push_piece(rt, p, line, from, to));
            from = to;
        }
        to = end;
    }
    return to > from ? push_piece(rt, p, line, from, to) : HONE_OK;
}

static hone_status put_str(tpl_rt *rt, tpl_buf *b, const tpl_str *s, int64_t indent, int64_t allowance, bool top)
{
    pieces    p = { .width = WIDTH - indent - top, .allowance = allowance + top };
    tpl_value lines;

    HONE_TRY(tpl_new_list(rt, &p.list, 0));
    HONE_TRY(tpl_split_lines(rt, &lines, s, true));
    for (uint32_t i = 0; i < lines.u.l->len; i++)
        HONE_TRY(cut_line(rt, &p, lines.u.l->items[i].u.s, i + 1 == lines.u.l->len));
    top = top && p.list->len != 1;
    HONE_TRY(tpl_buf_puts(rt, b, top ? "(" : ""));
    for (uint32_t i = 0; i < p.list->len; i++) {
        if (i)
            HONE_TRY(new_line(rt, b, "", indent + top));
        HONE_TRY(tpl_buf_str(rt, b, p.list->items[i].u.s));
    }
    return tpl_buf_puts(rt, b, top ? ")" : "");
}

static hone_status put(tpl_rt *rt, tpl_buf *b, tpl_value v, int64_t indent, int64_t allowance, bool top);

static hone_status put_items(tpl_rt *rt, tpl_buf *b, const tpl_list *l, int64_t indent, int64_t allowance)
{
    for (uint32_t i = 0; i < l->len; i++) {
        if (i)
            HONE_TRY(new_line(rt, b, ",", indent + 1));
        HONE_TRY(put(rt, b, l->items[i], indent + 1, i + 1 == l->len ? allowance : 1, false));
    }
    return HONE_OK;
}

static hone_status put_dict(tpl_rt *rt, tpl_buf *b, const tpl_dict *d, int64_t indent, int64_t allowance)
{
    HONE_TRY(tpl_buf_puts(rt, b, "{"));
    for (uint32_t i = 0; i < d->len; i++) {
        const tpl_str *key;

        if (i)
            HONE_TRY(new_line(rt, b, ",", indent + 1));
        HONE_TRY(tpl_repr_str(rt, &key, d->keys[i], false));
        HONE_TRY(tpl_buf_str(rt, b, key));
        HONE_TRY(tpl_buf_puts(rt, b, ": "));
        HONE_TRY(put(rt, b, d->values[i], indent + 1 + key->chars + 2, i + 1 == d->len ? allowance + 1 : 1, false));
    }
    return tpl_buf_puts(rt, b, "}");
}

static hone_status put(tpl_rt *rt, tpl_buf *b, tpl_value v, int64_t indent, int64_t allowance, bool top)
{
    const tpl_str *r;
    bool           one = v.kind == TPL_TUPLE && v.u.l->len == 1;

    HONE_TRY(tpl_repr_str(rt, &r, v, false));
    if ((int64_t)r->chars <= WIDTH - indent - allowance)
        return tpl_buf_str(rt, b, r);
    switch ((tpl_kind)v.kind) {
    case TPL_STR:  return v.u.s->markup ? tpl_buf_str(rt, b, r) : put_str(rt, b, v.u.s, indent, allowance, top);
    case TPL_DICT: return put_dict(rt, b, v.u.d, indent, allowance);
    case TPL_LIST:
        HONE_TRY(tpl_buf_puts(rt, b, "["));
        HONE_TRY(put_items(rt, b, v.u.l, indent, allowance + 1));
        return tpl_buf_puts(rt, b, "]");
    case TPL_TUPLE:
        HONE_TRY(tpl_buf_puts(rt, b, "("));
        HONE_TRY(put_items(rt, b, v.u.l, indent, allowance + 1 + one));
        return tpl_buf_puts(rt, b, one ? ",)" : ")");
    default:
        return tpl_buf_str(rt, b, r);
    }
}

hone_status tpl_filter_pprint(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
{
    tpl_buf b = { 0 };

    (void)a;
    (void)call;
    HONE_TRY(ordered(rt, &self, self, 0));
    HONE_TRY(put(rt, &b, self, 0, 0, true));
    return tpl_buf_take(rt, &b, out);
}
