/* The filter wordwrap, which is Python's textwrap.wrap line by line. */
#include <string.h>

#include "base/utf8.h"
#include "text/template/seq.h"
#include "text/template/unicode.h"

/* One line of the text as code points, and what may stand on a line of its own: chunks of characters [from, to). */
typedef struct chunk { uint32_t from, to; } chunk;
typedef struct line {
    const tpl_str *s;
    uint32_t      *cp, *at;     /* at[n]: the end */
    uint32_t       n;
    chunk         *chunks;
    uint32_t       n_chunks;
} line;

typedef struct wrap {
    int64_t        width;
    bool           break_words, break_hyphens;
    const tpl_str *between;
    tpl_buf        b;
    bool           any;         /* a line has been written */
} wrap;

static bool blank(uint32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool word_at(const line *l, uint32_t i) { return i < l->n && tpl_uc_has(l->cp[i], TPL_UC_WORD); }

static bool letter_at(const line *l, uint32_t i) { return word_at(l, i) && !tpl_uc_has(l->cp[i], TPL_UC_DECIMAL); }

/* A word or one of the marks that an em-dash may follow. */
static bool dash_follows(const line *l, uint32_t i)
{
    return word_at(l, i) || (l->cp[i] && l->cp[i] < 0x80 && strchr("!\"'&.,?", (int)l->cp[i]));
}

/* The end of a run of two or more '-' at i that a word follows, or 0. */
static uint32_t em_dash(const line *l, uint32_t i)
{
    uint32_t end = i;

    while (end < l->n && l->cp[end] == '-')
        end++;
    return end >= i + 2 && word_at(l, end) ? end : 0;
}

/* Whether a word may be broken behind the '-' at j. */
static bool hyphen_breaks(const line *l, uint32_t j)
{
    bool before = j >= 2 && letter_at(l, j - 1) && (letter_at(l, j - 2) || (j >= 3 && l->cp[j - 2] == '-' && letter_at(l, j - 3)));

    return before && letter_at(l, j + 1) && (letter_at(l, j + 2) || (j + 2 < l->n && l->cp[j + 2] == '-' && letter_at(l, j + 3)));
}

static uint32_t chunk_end(const line *l, uint32_t i, bool hyphens)
{
    uint32_t j = i;

    if (blank(l->cp[i])) {
        while (j < l->n && blank(l->cp[j]))
            j++;
        return j;
    }
    if (hyphens && i > 0 && dash_follows(l, i - 1) && (j = em_dash(l, i)) > 0)
        return j;
    for (j = i + 1; j < l->n && !blank(l->cp[j]); j++) {
        if (hyphens && l->cp[j] == '-' && hyphen_breaks(l, j))
            return j + 1;
        if (hyphens && dash_follows(l, j - 1) && em_dash(l, j))
            return j;
    }
    return j;
}

static hone_status read_line(tpl_rt *rt, line *l, const tpl_str *s, bool hyphens)
{
    size_t n;

    *l = (line){ .s = s };
    TPL_ALLOC(l->cp, rt, s->chars + 1);
    TPL_ALLOC(l->at, rt, s->chars + 1);
    TPL_ALLOC(l->chunks, rt, s->chars + 1);
    for (size_t i = 0; i < s->len; i += n) {
        l->at[l->n] = (uint32_t)i;
        l->cp[l->n++] = hone_utf8_decode(s->data + i, &n);
    }
    l->at[l->n] = s->len;
    for (uint32_t i = 0; i < l->n; ) {
        uint32_t end = chunk_end(l, i, hyphens);

        l->chunks[l->n_chunks++] = (chunk){ i, end };
        i = end;
    }
    return tpl_step(rt, l->n);
}

static bool is_space(const line *l, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (!tpl_is_space(l->cp[i]))
            return false;
    return true;
}

/* Cut a chunk that fits on no line: how many characters of it still go on a line with `left` free. */
static uint32_t cut(const wrap *w, const line *l, const chunk *c, uint32_t left)
{
    bool other = false;

    if (!w->break_hyphens || c->to - c->from <= left)
        return left;
    for (uint32_t end = left; end > 0; end--) {        /* behind the last hyphen, if there is more than hyphens before it */
        if (l->cp[c->from + end - 1] != '-')
            continue;
        for (uint32_t i = 0; i + 1 < end; i++)
            other |= l->cp[c->from + i] != '-';
        return other ? end : left;
    }
    return left;
}

static hone_status put_line(tpl_rt *rt, wrap *w, const line *l, uint32_t from, uint32_t to)
{
    if (w->any)
        HONE_TRY(tpl_buf_str(rt, &w->b, w->between));
    w->any = true;
    return tpl_buf_sub(rt, &w->b, l->s, l->at[from], l->at[to]);
}

static hone_status wrap_line(tpl_rt *rt, wrap *w, const line *l)
{
    bool first = true;

    for (uint32_t k = 0; k < l->n_chunks; ) {
        uint32_t from, end, last, start;        /* the line's text and where the last chunk of it begins */

        if (!first && is_space(l, l->chunks[k].from, l->chunks[k].to))
            k++;
        start = k;
        from = last = end = k < l->n_chunks ? l->chunks[k].from : l->n;
        for (; k < l->n_chunks && l->chunks[k].to - from <= w->width; k++) {
            last = l->chunks[k].from;
            end = l->chunks[k].to;
        }
        if (k < l->n_chunks && l->chunks[k].to - l->chunks[k].from > w->width) {
            if (w->break_words) {
                last = end;
                end = l->chunks[k].from = last + cut(w, l, &l->chunks[k], (uint32_t)w->width - (end - from));
            } else if (k == start) {
                end = l->chunks[k++].to;
            }
        }
        HONE_TRY(tpl_step(rt, 1));
        if (is_space(l, last, end))
            end = last;
        if (end > from) {
            HONE_TRY(put_line(rt, w, l, from, end));
            first = false;
        }
    }
    return HONE_OK;
}

hone_status tpl_filter_wordwrap(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
{
    static const tpl_str newline = { .data = "\n", .len = 1, .chars = 1 };
    wrap      w = { .between = &newline };
    tpl_value lines;

    (void)call;
    TPL_CHECK(self.kind == TPL_STR, rt, "'%s' object has no attribute 'splitlines'", tpl_type_name(self));
    HONE_TRY(tpl_arg_int(rt, &w.width, a[0], 79, "width"));
    w.break_words = a[1].kind == TPL_MISSING || tpl_truthy(a[1]);
    if (a[2].kind != TPL_NONE)
        HONE_TRY(tpl_arg_str(rt, &w.between, a[2], &newline, "wrapstring"));
    w.break_hyphens = a[3].kind == TPL_MISSING || tpl_truthy(a[3]);
    HONE_TRY(tpl_split_lines(rt, &lines, self.u.s, false));
    TPL_CHECK(!lines.u.l->len || w.width > 0, rt, "invalid width %lld (must be > 0)", (long long)w.width);
    for (uint32_t i = 0; i < lines.u.l->len; i++) {
        line l;

        HONE_TRY(read_line(rt, &l, lines.u.l->items[i].u.s, w.break_hyphens));
        if (i)
            HONE_TRY(tpl_buf_str(rt, &w.b, w.between));
        w.any = false;
        HONE_TRY(wrap_line(rt, &w, &l));
    }
    return tpl_buf_take(rt, &w.b, out);
}
