/*
 * Precompiled: the rules that a SentencePiece model carries, a double array (Darts-clone) from byte strings to places in a pool
 * of NUL-terminated replacements.
 *
 * As the reference applies them, not as SentencePiece does: a grapheme cluster of fewer than six bytes is looked up as one
 * string, and the shortest rule that is a prefix of it replaces all of it; longer clusters, and those that no rule fits, go
 * code point by code point.
 */
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

enum { SHORT_CLUSTER = 6 };

struct tok_charsmap {
    uint32_t *units;        /* the double array */
    size_t    n_units;
    hone_str  pool;         /* well-formed UTF-8 */
    bool      starts[256];  /* whether some rule begins with this byte */
};

/* ---- reading ---- */

static int sextet(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 : c >= '0' && c <= '9' ? c - '0' + 52 :
           c == '+' ? 62 : c == '/' ? 63 : -1;
}

static hone_status decode_base64(hone_str *out, const char *s, size_t n, const char *where)
{
    size_t pad = n > 0 && s[n - 1] == '=' ? n > 1 && s[n - 2] == '=' ? 2 : 1 : 0;

    HONE_CHECK(n % 4 == 0, HONE_E_FORMAT, "%s: precompiled_charsmap is not base64: %zu characters, not a multiple of 4", where, n);
    for (size_t i = 0; i < n; i += 4) {
        size_t   bytes = i + 4 == n ? 3 - pad : 3;
        uint32_t word = 0;

        for (size_t k = 0; k < 4; k++) {
            int v = k > bytes ? 0 : sextet(s[i + k]);

            HONE_CHECK(v >= 0, HONE_E_FORMAT, "%s: precompiled_charsmap is not base64: character %zu", where, i + k + 1);
            word = word << 6 | (uint32_t)v;
        }
        HONE_CHECK((word & ((UINT32_C(1) << (8 * (3 - bytes))) - 1)) == 0, HONE_E_FORMAT,
                   "%s: precompiled_charsmap is not base64: bits after its end", where);
        for (size_t k = 0; k < bytes; k++)
            hone_str_putc(out, (char)(word >> (16 - 8 * k)));
    }
    return hone_str_ok(out);
}

static uint32_t u32_at(const char *s)
{
    const unsigned char *b = (const unsigned char *)s;

    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* What Darts-clone packs in a unit. */
static bool     has_leaf(uint32_t unit) { return unit >> 8 & 1; }
static uint32_t label(uint32_t unit) { return unit & (UINT32_C(1) << 31 | 0xFF); }
static size_t   offset(uint32_t unit) { return (size_t)(unit >> 10) << ((unit & UINT32_C(1) << 9) >> 6); }
static uint32_t value(uint32_t unit) { return unit & ~(UINT32_C(1) << 31); }

static hone_status read_rules(tok_charsmap *map, const hone_str *blob, const char *where)
{
    size_t size = blob->len >= 4 ? u32_at(blob->data) : 0, good, root;

    HONE_CHECK(size >= 4 && size <= blob->len - 4, HONE_E_FORMAT, "%s: precompiled_charsmap has %zu bytes and says that %zu of them are "
               "its array", where, blob->len, size);
    map->n_units = size / 4;
    map->units = hone_calloc(map->n_units, sizeof *map->units);
    if (!map->units)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < map->n_units; i++)
        map->units[i] = u32_at(blob->data + 4 + 4 * i);
    hone_str_append(&map->pool, blob->data + 4 + 4 * map->n_units, blob->len - 4 - 4 * map->n_units);
    HONE_TRY(hone_str_ok(&map->pool));
    good = hone_utf8_valid_prefix(hone_str_c(&map->pool), map->pool.len);
    HONE_CHECK(good == map->pool.len, HONE_E_FORMAT, "%s: precompiled_charsmap: invalid UTF-8 at byte %zu of the replacements", where,
               good);
    root = offset(map->units[0]);
    for (size_t c = 1; c < 256; c++)
        map->starts[c] = (root ^ c) < map->n_units && label(map->units[root ^ c]) == c;
    return HONE_OK;
}

hone_status tok_charsmap_create(tok_charsmap **out, const char *base64, size_t n, const char *where)
{
    hone_str    blob = HONE_STR_INIT;
    hone_status st = HONE_OK;

    *out = hone_calloc(1, sizeof **out);
    if (!*out)
        return HONE_E_NOMEM;
    HONE_GO(decode_base64(&blob, base64, n, where));
    HONE_GO(read_rules(*out, &blob, where));
out:
    hone_str_deinit(&blob);
    if (st != HONE_OK)
        tok_charsmap_destroy(out);
    return st;
}

void tok_charsmap_destroy(tok_charsmap **p)
{
    tok_charsmap *map = *p;

    if (!map)
        return;
    hone_free(map->units);
    hone_str_deinit(&map->pool);
    hone_free(map);
    *p = NULL;
}

/* ---- applying ---- */

/* The replacement of the shortest rule that begins s[0..n); NULL without one. */
static hone_status look_up(const tok_charsmap *map, const char *s, size_t n, const char **to, size_t *to_len)
{
    size_t   at = offset(map->units[0]), i = 0;
    uint32_t unit = 0, place;

    *to = NULL;
    if (!map->starts[(uint8_t)s[0]])
        return HONE_OK;
    for (; i < n && s[i]; i++) {
        at ^= (uint8_t)s[i];
        if (at >= map->n_units || label(unit = map->units[at]) != (uint8_t)s[i])
            return HONE_OK;
        at ^= offset(unit);
        if (has_leaf(unit))
            break;
    }
    if (i == n || !s[i])
        return HONE_OK;
    HONE_CHECK(at < map->n_units, HONE_E_FORMAT, "the normalizer's precompiled_charsmap points outside itself");
    place = value(map->units[at]);
    HONE_CHECK(place <= map->pool.len && (hone_str_c(&map->pool)[place] & 0xC0) != 0x80, HONE_E_FORMAT,
               "the normalizer's precompiled_charsmap points outside its replacements");
    *to = hone_str_c(&map->pool) + place;
    *to_len = strlen(*to);
    return HONE_OK;
}

/*
 * Output on its way. The reference describes it as changes: 0, the character replaces one; 1, it comes besides; -k, it replaces
 * one and k more go. One character waits, since more may have to go with it. What is removed at the start of a text has no
 * character to go with: from there the reference's alignment lags behind, and so does this one's.
 */
typedef struct output {
    tok_text       *text;
    const tok_view *v;
    size_t          at;         /* the next character to be replaced */
    uint32_t        cp;         /* waiting */
    int             change;
    bool            waiting;
} output;

static size_t skip_char(const tok_view *v, size_t at) { return at < v->n ? at + hone_utf8_len((unsigned char)v->s[at]) : at; }

static hone_status flush(output *o)
{
    size_t begin = o->at;

    if (!o->waiting)
        return HONE_OK;
    o->waiting = false;
    if (o->change > 0)
        return tok_text_add_char(o->text, o->cp, tok_view_char_before(o->v, o->at));
    for (int k = 0; k <= -o->change; k++)
        o->at = skip_char(o->v, o->at);
    return tok_text_add_char(o->text, o->cp, tok_view_span(o->v, begin, skip_char(o->v, begin)));
}

static hone_status put(output *o, uint32_t cp, int change)
{
    HONE_TRY(flush(o));
    o->cp = cp;
    o->change = change;
    o->waiting = true;
    return HONE_OK;
}

static int count_chars(const char *s, size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        count += (s[i] & 0xC0) != 0x80;
    return count;
}

/* `old` characters become to[0..n). */
static hone_status replace(output *o, int old, const char *to, size_t n)
{
    int    made = 0;
    size_t len;

    for (size_t i = 0; i < n; i += len, made++)
        HONE_TRY(put(o, hone_utf8_decode(to + i, &len), made >= old));
    if (made < old && o->waiting)
        o->change -= old - made;
    return HONE_OK;
}

/* A cluster, s[begin..end) of the view. */
static hone_status apply_cluster(const tok_charsmap *map, output *o, size_t begin, size_t end)
{
    const char *to = NULL, *s = o->v->s;
    size_t      n = 0, len;

    if (end - begin < SHORT_CLUSTER)
        HONE_TRY(look_up(map, s + begin, end - begin, &to, &n));
    if (to)
        return replace(o, count_chars(s + begin, end - begin), to, n);
    for (size_t i = begin; i < end; i += len) {
        uint32_t cp = hone_utf8_decode(s + i, &len);

        HONE_TRY(look_up(map, s + i, len, &to, &n));
        if (to)
            HONE_TRY(replace(o, 1, to, n));
        else
            HONE_TRY(put(o, cp, 0));
    }
    return HONE_OK;
}

/* End of the printable ASCII from i on that no rule touches and that is clusters of its own. */
static size_t plain_end(const tok_charsmap *map, const tok_view *v, size_t i)
{
    size_t k = i;

    while (k < v->n && v->s[k] >= ' ' && v->s[k] < 0x7F && !map->starts[(uint8_t)v->s[k]])
        k++;
    return k < v->n && (uint8_t)v->s[k] >= 0x80 && k > i ? k - 1 : k;      /* the last may be joined by what follows */
}

hone_status tok_charsmap_apply(const tok_charsmap *map, tok_text *out, const tok_view *v)
{
    output o = { .text = out, .v = v };

    for (size_t i = 0, end; i < v->n; i = end) {
        end = plain_end(map, v, i);
        if (end > i)
            HONE_TRY(flush(&o));
        if (end > i && o.at == i) {
            HONE_TRY(tok_text_add_view(out, v, i, end - 1));
            o.at = end - 1;
            HONE_TRY(put(&o, (unsigned char)v->s[end - 1], 0));
            continue;
        }
        end = hone_unicode_grapheme_end(v->s, v->n, i);
        HONE_TRY(apply_cluster(map, &o, i, end));
    }
    return flush(&o);
}
