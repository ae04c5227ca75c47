/* What Python's str methods do, with the origins of the bytes kept. */
#include <string.h>

#include "base/utf8.h"
#include "text/template/value.h"

/* Whether the code point at data[0..n) is one that strip removes. */
static bool strips(const char *data, size_t n, const tpl_str *chars)
{
    if (!chars)
        return tpl_is_space(hone_utf8_decode(data, &n));
    for (size_t i = 0; i < chars->len; i += hone_utf8_len((unsigned char)chars->data[i]))
        if (hone_utf8_len((unsigned char)chars->data[i]) == n && memcmp(chars->data + i, data, n) == 0)
            return true;
    return false;
}

static size_t char_before(const tpl_str *s, size_t at)
{
    do
        at--;
    while (((unsigned char)s->data[at] & 0xC0) == 0x80);
    return at;
}

hone_status tpl_strip(tpl_rt *rt, tpl_value *out, const tpl_str *s, tpl_value chars, bool left, bool right)
{
    const tpl_str *set = chars.kind == TPL_STR ? chars.u.s : NULL;
    size_t         from = 0, to = s->len;

    TPL_CHECK(set || chars.kind == TPL_MISSING || chars.kind == TPL_NONE, rt, "strip arg must be None or str");
    while (left && from < to) {
        size_t n = hone_utf8_len((unsigned char)s->data[from]);

        HONE_TRY(tpl_step(rt, set ? set->len / 16 : 0));
        if (!strips(s->data + from, n, set))
            break;
        from += n;
    }
    while (right && to > from) {
        size_t at = char_before(s, to);

        HONE_TRY(tpl_step(rt, set ? set->len / 16 : 0));
        if (!strips(s->data + at, to - at, set))
            break;
        to = at;
    }
    HONE_TRY(tpl_step(rt, (s->len - (to - from)) / 16));
    return tpl_sub_str(rt, out, s, from, to);
}

hone_status tpl_replace(tpl_rt *rt, tpl_value *out, const tpl_str *s, const tpl_str *old, const tpl_str *by, int64_t count)
{
    tpl_buf b = { 0 };
    size_t  at = 0;

    if (old->len == 0) {        /* before every character and at the end */
        for (; count != 0 && at < s->len; count--) {
            size_t n = hone_utf8_len((unsigned char)s->data[at]);

            HONE_TRY(tpl_step(rt, 1));
            HONE_TRY(tpl_buf_str(rt, &b, by));
            HONE_TRY(tpl_buf_sub(rt, &b, s, at, at + n));
            at += n;
        }
        if (count != 0)
            HONE_TRY(tpl_buf_str(rt, &b, by));
        HONE_TRY(tpl_buf_sub(rt, &b, s, at, s->len));
        return tpl_buf_take(rt, &b, out);
    }
    for (; count != 0; count--) {
        int64_t found = tpl_str_find(rt, s, old, at, s->len, false);

        if (found < 0)
            break;
        HONE_TRY(tpl_step(rt, 1));
        HONE_TRY(tpl_buf_sub(rt, &b, s, at, (size_t)found));
        HONE_TRY(tpl_buf_str(rt, &b, by));
        at = (size_t)found + old->len;
    }
    if (at == 0)
        return tpl_sub_str(rt, out, s, 0, s->len);
    HONE_TRY(tpl_buf_sub(rt, &b, s, at, s->len));
    return tpl_buf_take(rt, &b, out);
}

static hone_status push_sub(tpl_rt *rt, tpl_list *l, const tpl_str *s, size_t from, size_t to)
{
    tpl_value v;

    HONE_TRY(tpl_step(rt, 1));
    HONE_TRY(tpl_sub_str(rt, &v, s, from, to));
    return tpl_push(rt, l, v);
}

/* Split at runs of white space. */
static hone_status split_space(tpl_rt *rt, tpl_list *l, const tpl_str *s, int64_t max)
{
    size_t at = 0, n;

    for (;;) {
        size_t from;

        while (at < s->len && tpl_is_space(hone_utf8_decode(s->data + at, &n)))
            at += n;
        if (at == s->len)
            return HONE_OK;
        from = at;
        if (max >= 0 && (int64_t)l->len >= max)
            return push_sub(rt, l, s, from, s->len);
        while (at < s->len && !tpl_is_space(hone_utf8_decode(s->data + at, &n)))
            at += n;
        HONE_TRY(push_sub(rt, l, s, from, at));
    }
}

static hone_status rsplit_space(tpl_rt *rt, tpl_list *l, const tpl_str *s, int64_t max)
{
    size_t to = s->len, n;

    for (;;) {
        size_t end;

        while (to > 0 && tpl_is_space(hone_utf8_decode(s->data + char_before(s, to), &n)))
            to = char_before(s, to);
        if (to == 0)
            return HONE_OK;
        end = to;
        if (max >= 0 && (int64_t)l->len >= max)
            return push_sub(rt, l, s, 0, end);
        while (to > 0 && !tpl_is_space(hone_utf8_decode(s->data + char_before(s, to), &n)))
            to = char_before(s, to);
        HONE_TRY(push_sub(rt, l, s, to, end));
    }
}

static void reverse_list(tpl_list *l)
{
    for (uint32_t i = 0; i < l->len / 2; i++) {
        tpl_value t = l->items[i];

        l->items[i] = l->items[l->len - 1 - i];
        l->items[l->len - 1 - i] = t;
    }
}

hone_status tpl_split(tpl_rt *rt, tpl_value *out, const tpl_str *s, tpl_value sep, int64_t max, bool from_right)
{
    const tpl_str *by = sep.kind == TPL_STR ? sep.u.s : NULL;
    size_t         from = 0, to = s->len;
    tpl_list      *l;

    TPL_CHECK(by || sep.kind == TPL_MISSING || sep.kind == TPL_NONE, rt, "must be str or None, not %s", tpl_type_name(sep));
    TPL_CHECK(!by || by->len, rt, "empty separator");
    HONE_TRY(tpl_new_list(rt, &l, 0));
    *out = tpl_list_value(l);
    HONE_TRY(tpl_step(rt, by ? 0 : s->len / 16));
    if (!by)
        HONE_TRY(from_right ? rsplit_space(rt, l, s, max) : split_space(rt, l, s, max));
    while (by && (max < 0 || (int64_t)l->len < max)) {
        int64_t at = tpl_str_find(rt, s, by, from, to, from_right);

        if (at < 0)
            break;
        if (from_right) {
            HONE_TRY(push_sub(rt, l, s, (size_t)at + by->len, to));
            to = (size_t)at;
        } else {
            HONE_TRY(push_sub(rt, l, s, from, (size_t)at));
            from = (size_t)at + by->len;
        }
    }
    if (by)
        HONE_TRY(push_sub(rt, l, s, from, to));
    if (from_right)
        reverse_list(l);
    return HONE_OK;
}

static bool ends_line(uint32_t c)
{
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

hone_status tpl_split_lines(tpl_rt *rt, tpl_value *out, const tpl_str *s, bool keep_ends)
{
    tpl_list *l;
    size_t    from = 0, n;

    HONE_TRY(tpl_new_list(rt, &l, 0));
    *out = tpl_list_value(l);
    HONE_TRY(tpl_step(rt, s->len / 16));
    for (size_t i = 0; i < s->len; i += n) {
        uint32_t c = hone_utf8_decode(s->data + i, &n);

        if (!ends_line(c))
            continue;
        if (c == '\r' && i + 1 < s->len && s->data[i + 1] == '\n')
            n = 2;
        HONE_TRY(push_sub(rt, l, s, from, keep_ends ? i + n : i));
        from = i + n;
    }
    return from < s->len ? push_sub(rt, l, s, from, s->len) : HONE_OK;
}

bool tpl_ends_line(const tpl_str *s)
{
    size_t n;

    return s->len && ends_line(hone_utf8_decode(s->data + char_before(s, s->len), &n));
}

hone_status tpl_join(tpl_rt *rt, tpl_value *out, const tpl_str *sep, tpl_value items, bool convert)
{
    tpl_buf   b = { 0 };
    tpl_iter *it;
    tpl_value v;
    bool      done;

    HONE_TRY(tpl_iterate(rt, &it, items));
    for (int64_t i = 0;; i++) {
        const tpl_str *text;

        HONE_TRY(tpl_next(rt, it, &v, &done));
        if (done)
            return tpl_buf_take(rt, &b, out);
        TPL_CHECK(convert || sep->markup || v.kind == TPL_STR, rt, "sequence item %lld: expected str instance, %s found",
                  (long long)i, tpl_type_name(v));
        HONE_TRY(tpl_to_str(rt, &text, v));
        if (!convert && sep->markup) {
            HONE_TRY(tpl_escape(rt, &v, text));
            text = v.u.s;
        }
        if (i)
            HONE_TRY(tpl_buf_str(rt, &b, sep));
        HONE_TRY(tpl_buf_str(rt, &b, text));
    }
}
