/*
 * Normal forms (Unicode Standard Annex 15). Decompositions and combining classes are utf8proc's, restricted to the code
 * points that the reference's normalizer knows: it follows an older Unicode version, and what was assigned later passes
 * through it unchanged. Unicode never changes the normal forms of assigned code points, so this is exact whatever the
 * version of utf8proc.
 */
#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/unicode/unicode.h"

enum { HANGUL_S = 0xAC00, HANGUL_L = 0x1100, HANGUL_V = 0x1161, HANGUL_T = 0x11A7, N_L = 19, N_V = 21, N_T = 28 };

typedef struct mark { uint32_t cp; uint8_t ccc; hone_span from; } mark;
typedef HONE_VEC(mark) mark_vec;

static uint8_t combining_class(uint32_t cp)
{
    if (!hone_unicode_has(cp, HONE_UC_CCC))
        return 0;
    return (uint8_t)utf8proc_get_property((utf8proc_int32_t)cp)->combining_class;
}

static hone_status decompose(mark_vec *out, uint32_t cp, hone_span from, bool compat)
{
    utf8proc_int32_t buf[32];
    utf8proc_ssize_t n = 1;

    buf[0] = (utf8proc_int32_t)cp;
    if (hone_unicode_has(cp, compat ? HONE_UC_DECOMP | HONE_UC_DECOMP_COMPAT : HONE_UC_DECOMP)) {
        int boundary = 0;

        n = utf8proc_decompose_char((utf8proc_int32_t)cp, buf, HONE_COUNTOF(buf),
                                    compat ? UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT : UTF8PROC_DECOMPOSE, &boundary);
        HONE_CHECK(n > 0 && n <= (utf8proc_ssize_t)HONE_COUNTOF(buf), HONE_E_INTERNAL,
                   "no decomposition of U+%04X", cp);
    }
    for (utf8proc_ssize_t i = 0; i < n; i++)
        HONE_TRY(HONE_VEC_PUSH(out, (mark){ (uint32_t)buf[i], combining_class((uint32_t)buf[i]), from }));
    return HONE_OK;
}

/* Canonical ordering: a stable sort of a run of marks by class. Runs are short in text but not in hostile text, hence
 * the counting sort for long ones. */
static hone_status order_run(mark *run, size_t n, mark_vec *scratch)
{
    size_t start[257] = { 0 };

    if (n < 2)
        return HONE_OK;
    if (n <= 16) {
        for (size_t i = 1; i < n; i++) {
            mark   m = run[i];
            size_t j = i;

            for (; j > 0 && run[j - 1].ccc > m.ccc; j--)
                run[j] = run[j - 1];
            run[j] = m;
        }
        return HONE_OK;
    }
    scratch->len = 0;
    HONE_TRY(HONE_VEC_RESERVE(scratch, n));
    for (size_t i = 0; i < n; i++)
        start[run[i].ccc + 1]++;
    for (size_t c = 1; c < 257; c++)
        start[c] += start[c - 1];
    for (size_t i = 0; i < n; i++)
        scratch->data[start[run[i].ccc]++] = run[i];
    memcpy(run, scratch->data, n * sizeof *run);
    return HONE_OK;
}

/* The code point that a and b compose to, 0 if none. */
static uint32_t compose_pair(uint32_t a, uint32_t b)
{
    utf8proc_int32_t pair[2] = { (utf8proc_int32_t)a, (utf8proc_int32_t)b };

    if (a >= HANGUL_L && a < HANGUL_L + N_L && b >= HANGUL_V && b < HANGUL_V + N_V)
        return HANGUL_S + ((a - HANGUL_L) * N_V + (b - HANGUL_V)) * N_T;
    if (a >= HANGUL_S && a < HANGUL_S + N_L * N_V * N_T && (a - HANGUL_S) % N_T == 0 && b > HANGUL_T && b < HANGUL_T + N_T)
        return a + (b - HANGUL_T);
    if (!hone_unicode_has(b, HONE_UC_NFC_ACTIVE))
        return 0;
    if (utf8proc_normalize_utf32(pair, 2, UTF8PROC_COMPOSE | UTF8PROC_STABLE) != 1)
        return 0;
    return hone_unicode_has((uint32_t)pair[0], HONE_UC_DECOMP) ? (uint32_t)pair[0] : 0;
}

static void widen(hone_span *a, hone_span b)
{
    a->begin = HONE_MIN(a->begin, b.begin);
    a->end = HONE_MAX(a->end, b.end);
}

/* Compose in place; returns the new length. */
static size_t compose(mark *m, size_t n)
{
    size_t  out = 0, starter = SIZE_MAX;
    uint8_t last = 0;       /* class of the mark that stands between the starter and the next one; 0 = none */

    for (size_t i = 0; i < n; i++) {
        bool     blocked = starter != SIZE_MAX && out > starter + 1 && (last >= m[i].ccc);
        uint32_t joined = starter != SIZE_MAX && !blocked ? compose_pair(m[starter].cp, m[i].cp) : 0;

        if (joined) {
            m[starter].cp = joined;
            widen(&m[starter].from, m[i].from);
            continue;
        }
        if (m[i].ccc == 0)
            starter = out;
        last = m[i].ccc;
        m[out++] = m[i];
    }
    return out;
}

size_t hone_unicode_nfc_inert(const char *s, size_t n)
{
    size_t i = 0, before = 0, len;

    while (i < n) {
        uint64_t w;

        if (i + 8 <= n && (memcpy(&w, s + i, 8), (w & 0x8080808080808080u) == 0)) {
            before = i + 7;
            i += 8;
            continue;
        }
        if (hone_unicode_has(hone_utf8_decode(s + i, &len), HONE_UC_NFC_ACTIVE))
            return before;      /* it may join the code point before it */
        before = i;
        i += len;
    }
    return n;
}

/* Normalize s[begin..end), of which nothing joins what is outside. */
static hone_status normalize_part(hone_str *out, hone_span_vec *from, const char *s, size_t begin, size_t end,
                                  hone_unicode_form form)
{
    bool        compat = form == HONE_NFKC || form == HONE_NFKD;
    mark_vec    marks = { 0 }, scratch = { 0 };
    hone_status st = HONE_OK;
    size_t      len, total;

    for (size_t i = begin; i < end; i += len) {
        uint32_t cp = hone_utf8_decode(s + i, &len);

        HONE_GO(decompose(&marks, cp, (hone_span){ (uint32_t)i, (uint32_t)(i + len) }, compat));
    }
    for (size_t i = 0, j; i < marks.len; i = j + 1) {
        for (j = i; j < marks.len && marks.data[j].ccc; j++)
            ;
        HONE_GO(order_run(marks.data + i, j - i, &scratch));
    }
    total = form == HONE_NFC || form == HONE_NFKC ? compose(marks.data, marks.len) : marks.len;
    for (size_t i = 0; i < total; i++) {
        char   bytes[4];
        size_t k = hone_utf8_encode(marks.data[i].cp, bytes);

        hone_str_append(out, bytes, k);
        for (size_t b = 0; b < k; b++)
            HONE_GO(HONE_VEC_PUSH(from, marks.data[i].from));
    }
    HONE_GO(hone_str_ok(out));
out:
    HONE_VEC_DEINIT(&marks);
    HONE_VEC_DEINIT(&scratch);
    return st;
}

/* NFC changes few texts, and those in few places: only the stretches around active code points are taken apart. */
static hone_status normalize_nfc(hone_str *out, hone_span_vec *from, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t same = hone_unicode_nfc_inert(s + i, n - i), end, len;

        HONE_TRY(HONE_VEC_RESERVE(from, same));
        for (size_t b = i; b < i + same; b++)
            from->data[from->len++] = (hone_span){ (uint32_t)b, (uint32_t)b + 1 };
        hone_str_append(out, s + i, same);
        i += same;
        if (i == n)
            break;
        (void)hone_utf8_decode(s + i, &len);
        for (end = i + len; end < n; end += len)
            if (!hone_unicode_has(hone_utf8_decode(s + end, &len), HONE_UC_NFC_ACTIVE))
                break;
        HONE_TRY(normalize_part(out, from, s, i, end, HONE_NFC));
        i = end;
    }
    return hone_str_ok(out);
}

hone_status hone_unicode_normalize(hone_str *out, hone_span_vec *from, const char *s, size_t n, hone_unicode_form form)
{
    return form == HONE_NFC ? normalize_nfc(out, from, s, n) : normalize_part(out, from, s, 0, n, form);
}
