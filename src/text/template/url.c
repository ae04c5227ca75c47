/* The filter urlize: addresses in a text as links. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/seq.h"

/* What jinja2 takes for the address of a page, in Python's regular expressions. */
static const char ADDRESS[] =
    "^((https?://|www\\.)(([\\w%-]+\\.)+)?([a-z]{2,63}|xn--[\\w%]{2,59})|([\\w%-]{2,63}\\.)+(com|net|int|edu|gov|org|info|mil)|"
    "(https?://)((([\\d]{1,3})(\\.[\\d]{1,3}){3})|(\\[([\\da-f]{0,4}:){2}([\\da-f]{0,4}:?){1,6}])))(?::[\\d]{1,5})?(?:[/?#]\\S*)?$";
static const char MAIL[] = "^\\S+@\\w[\\w.-]*\\.\\w+$";

typedef struct linker {
    tpl_buf     b;
    int64_t     limit;              /* characters of an address that are shown; -1 = all */
    const char *attributes;         /* of the links to pages */
    tpl_list   *schemes;
} linker;

/* A word cut in three: brackets and marks around it are no part of an address. */
typedef struct word { tpl_value head, middle, tail; } word;

static hone_status matches(tpl_rt *rt, bool *out, const char *pattern, const tpl_str *s)
{
    enum { LIMIT = 1000000 };
    int                  error = 0, found = PCRE2_ERROR_NOMEMORY;
    size_t               at;
    pcre2_code          *code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                                              PCRE2_UTF | PCRE2_UCP | PCRE2_CASELESS | PCRE2_NO_UTF_CHECK, &error, &at, NULL);
    pcre2_match_data    *data = code ? pcre2_match_data_create(1, NULL) : NULL;
    pcre2_match_context *context = data ? pcre2_match_context_create(NULL) : NULL;

    if (context) {
        pcre2_set_match_limit(context, LIMIT);
        pcre2_set_depth_limit(context, 10000);
        found = pcre2_match(code, (PCRE2_SPTR)s->data, s->len, 0, PCRE2_NO_UTF_CHECK, data, context);
    }
    pcre2_match_context_free(context);
    pcre2_match_data_free(data);
    pcre2_code_free(code);
    *out = found >= 0;
    TPL_CHECK(found >= 0 || found == PCRE2_ERROR_NOMATCH, rt, "a word is too long to tell whether it is an address");
    return tpl_step(rt, 1 + s->len);
}

static bool starts(const tpl_str *s, const char *with)
{
    size_t n = strlen(with);

    return s->len >= n && memcmp(s->data, with, n) == 0;
}

static size_t count(const tpl_str *s, const char *what)
{
    size_t n = 0, len = strlen(what);

    for (size_t i = 0; i + len <= s->len; ) {
        bool here = memcmp(s->data + i, what, len) == 0;

        n += here;
        i += here ? len : 1;
    }
    return n;
}

/* The length of what may stand before (after) an address at the start (end) of s[from..to). */
static size_t edge(const tpl_str *s, size_t from, size_t to, bool end)
{
    const char *single = end ? ")>.,\n" : "(<", *entity = end ? "&gt;" : "&lt;";

    if (from < to && s->data[end ? to - 1 : from] && strchr(single, s->data[end ? to - 1 : from]))
        return 1;
    return to - from >= 4 && memcmp(s->data + (end ? to - 4 : from), entity, 4) == 0 ? 4 : 0;
}

static hone_status cut_word(tpl_rt *rt, word *w, const tpl_str *s)
{
    static const char *const pairs[][2] = { { "(", ")" }, { "<", ">" }, { "&lt;", "&gt;" } };
    size_t from = 0, to = s->len, n;

    while ((n = edge(s, from, to, false)) > 0)
        from += n;
    while ((n = edge(s, from, to, true)) > 0)
        to -= n;
    HONE_TRY(tpl_sub_str(rt, &w->head, s, 0, from));
    HONE_TRY(tpl_sub_str(rt, &w->middle, s, from, to));
    HONE_TRY(tpl_sub_str(rt, &w->tail, s, to, s->len));
    for (size_t k = 0; k < HONE_COUNTOF(pairs); k++) {      /* brackets that are opened inside are closed inside */
        size_t open = count(w->middle.u.s, pairs[k][0]), close = strlen(pairs[k][1]);

        if (open <= count(w->middle.u.s, pairs[k][1]))
            continue;
        for (size_t i = HONE_MIN(open, count(w->tail.u.s, pairs[k][1])); i > 0; i--) {
            while (memcmp(s->data + to, pairs[k][1], close) != 0)
                to++;
            to += close;
        }
        HONE_TRY(tpl_sub_str(rt, &w->middle, s, from, to));
        HONE_TRY(tpl_sub_str(rt, &w->tail, s, to, s->len));
    }
    return HONE_OK;
}

/* <a href="PREFIX MIDDLE" ATTRIBUTES>TEXT</a> */
static hone_status put_link(tpl_rt *rt, linker *l, const char *prefix, const tpl_str *s, const char *attributes, size_t from,
                            bool shorten)
{
    bool   cut = shorten && l->limit >= 0 && (int64_t)s->chars > l->limit;
    size_t to = cut ? tpl_str_offset(s, (size_t)l->limit) : s->len;

    HONE_TRY(tpl_buf_puts(rt, &l->b, "<a href=\""));
    HONE_TRY(tpl_buf_puts(rt, &l->b, prefix));
    HONE_TRY(tpl_buf_str(rt, &l->b, s));
    HONE_TRY(tpl_buf_puts(rt, &l->b, "\""));
    HONE_TRY(tpl_buf_puts(rt, &l->b, attributes));
    HONE_TRY(tpl_buf_puts(rt, &l->b, ">"));
    HONE_TRY(tpl_buf_sub(rt, &l->b, s, from, to));
    return tpl_buf_puts(rt, &l->b, cut ? "...</a>" : "</a>");
}

static hone_status put_middle(tpl_rt *rt, linker *l, const tpl_str *s)
{
    bool      page, mail = false;
    tpl_value rest;

    HONE_TRY(matches(rt, &page, ADDRESS, s));
    if (page)
        return put_link(rt, l, starts(s, "https://") || starts(s, "http://") ? "" : "https://", s, l->attributes, 0, true);
    if (starts(s, "mailto:")) {
        HONE_TRY(tpl_sub_str(rt, &rest, s, 7, s->len));
        HONE_TRY(matches(rt, &mail, MAIL, rest.u.s));
        if (mail)
            return put_link(rt, l, "", s, "", 7, false);
    }
    if (count(s, "@") && !starts(s, "www.") && !starts(s, "@") && !count(s, ":"))
        HONE_TRY(matches(rt, &mail, MAIL, s));
    if (mail)
        return put_link(rt, l, "mailto:", s, "", 0, false);
    for (uint32_t i = 0; l->schemes && i < l->schemes->len; i++) {
        const tpl_str *scheme = l->schemes->items[i].u.s;

        if (s->len > scheme->len && memcmp(s->data, scheme->data, scheme->len) == 0)
            return put_link(rt, l, "", s, l->attributes, 0, false);
    }
    return tpl_buf_str(rt, &l->b, s);
}

static hone_status put_words(tpl_rt *rt, linker *l, const tpl_str *s)
{
    size_t n;

    for (size_t i = 0; i < s->len; ) {
        size_t    from = i;
        bool      space = tpl_is_space(hone_utf8_decode(s->data + i, &n));
        tpl_value text;
        word      w;

        while (i < s->len && tpl_is_space(hone_utf8_decode(s->data + i, &n)) == space)
            i += n;
        if (space) {
            HONE_TRY(tpl_buf_sub(rt, &l->b, s, from, i));
            continue;
        }
        HONE_TRY(tpl_sub_str(rt, &text, s, from, i));
        HONE_TRY(cut_word(rt, &w, text.u.s));
        HONE_TRY(tpl_buf_str(rt, &l->b, w.head.u.s));
        HONE_TRY(put_middle(rt, l, w.middle.u.s));
        HONE_TRY(tpl_buf_str(rt, &l->b, w.tail.u.s));
    }
    return HONE_OK;
}

/* ` rel="…"`: the words given, "nofollow" and "noopener", sorted, each once. */
static hone_status put_rel(tpl_rt *rt, tpl_buf *b, tpl_value rel, bool nofollow)
{
    static const tpl_str names[] = { { .data = "noopener", .len = 8, .chars = 8 }, { .data = "nofollow", .len = 8, .chars = 8 } };
    static const tpl_str space = { .data = " ", .len = 1, .chars = 1 };
    tpl_value  words, joined;
    tpl_list  *kept;
    tpl_value *keys;

    HONE_TRY(tpl_new_list(rt, &kept, 2));
    HONE_TRY(tpl_push(rt, kept, tpl_string(&names[0])));
    if (nofollow)
        HONE_TRY(tpl_push(rt, kept, tpl_string(&names[1])));
    if (rel.kind == TPL_STR) {
        HONE_TRY(tpl_split(rt, &words, rel.u.s, tpl_none(), -1, false));
        for (uint32_t i = 0; i < words.u.l->len; i++) {
            bool in;

            HONE_TRY(tpl_contains(rt, &in, words.u.l->items[i], tpl_list_value(kept)));
            if (!in)
                HONE_TRY(tpl_push(rt, kept, words.u.l->items[i]));
        }
    }
    TPL_ALLOC(keys, rt, kept->len);
    memcpy(keys, kept->items, kept->len * sizeof *keys);
    HONE_TRY(tpl_sort(rt, kept->items, keys, kept->len, false));
    HONE_TRY(tpl_join(rt, &joined, &space, tpl_list_value(kept), false));
    HONE_TRY(tpl_escape(rt, &joined, joined.u.s));
    HONE_TRY(tpl_buf_puts(rt, b, " rel=\""));
    HONE_TRY(tpl_buf_str(rt, b, joined.u.s));
    return tpl_buf_puts(rt, b, "\"");
}

/* urlize(trim_url_limit, nofollow, target, rel, extra_schemes) */
hone_status tpl_filter_urlize(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
{
    linker         l = { .limit = -1 };
    tpl_buf        attributes = { 0 };
    const tpl_str *s;
    tpl_value      v;
    char          *text;

    (void)call;
    if (a[0].kind != TPL_NONE)
        HONE_TRY(tpl_arg_int(rt, &l.limit, a[0], -1, "trim_url_limit"));
    TPL_CHECK(l.limit >= -1, rt, "'trim_url_limit' must not be negative");
    TPL_CHECK(a[3].kind == TPL_MISSING || a[3].kind == TPL_STR || !tpl_truthy(a[3]), rt, "'rel' must be a string");
    HONE_TRY(put_rel(rt, &attributes, a[3], tpl_truthy(a[1])));
    if (a[2].kind != TPL_MISSING && tpl_truthy(a[2])) {
        HONE_TRY(tpl_to_str(rt, &s, a[2]));
        HONE_TRY(tpl_escape(rt, &v, s));
        HONE_TRY(tpl_buf_puts(rt, &attributes, " target=\""));
        HONE_TRY(tpl_buf_str(rt, &attributes, v.u.s));
        HONE_TRY(tpl_buf_puts(rt, &attributes, "\""));
    }
    TPL_ALLOC(text, rt, attributes.len + 1);
    memcpy(text, attributes.data, attributes.len);
    text[attributes.len] = '\0';
    l.attributes = text;
    if (a[4].kind != TPL_MISSING && a[4].kind != TPL_NONE) {
        HONE_TRY(tpl_to_list(rt, &l.schemes, a[4]));
        for (uint32_t i = 0; i < l.schemes->len; i++) {
            bool fine = false;

            if (l.schemes->items[i].kind == TPL_STR)
                HONE_TRY(matches(rt, &fine, "^([\\w.+-]{2,}:(/){0,2})\\z", l.schemes->items[i].u.s));
            TPL_CHECK(fine, rt, "item %u of 'extra_schemes' is not a valid URI scheme prefix", i);
        }
    }
    HONE_TRY(tpl_to_str(rt, &s, self));
    HONE_TRY(tpl_escape(rt, &v, s));
    HONE_TRY(put_words(rt, &l, v.u.s));
    return tpl_buf_take(rt, &l.b, out);
}
