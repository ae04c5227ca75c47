#include "base/str.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool hone_str_reserve(hone_str *s, size_t n)
{
    size_t need = s->len + n + 1, cap = s->cap ? s->cap : 64;
    char  *p;

    if (s->failed)
        return false;
    if (need <= s->cap)
        return true;
    while (cap < need)
        cap += cap / 2 + 1;
    p = hone_realloc(s->data, cap, 1);
    if (!p) {
        s->failed = true;
        return false;
    }
    if (!s->data)
        p[0] = '\0';
    s->data = p;
    s->cap = cap;
    return true;
}

void hone_str_append(hone_str *s, const void *bytes, size_t n)
{
    if (!hone_str_reserve(s, n))
        return;
    if (n)
        memcpy(s->data + s->len, bytes, n);
    s->len += n;
    s->data[s->len] = '\0';
}

void hone_str_puts(hone_str *s, const char *text) { hone_str_append(s, text, strlen(text)); }

void hone_str_putc(hone_str *s, char c) { hone_str_append(s, &c, 1); }

static void str_vprintf(hone_str *s, const char *fmt, va_list ap)
{
    va_list again;
    int     n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0 || !hone_str_reserve(s, (size_t)n))
        return;
    vsnprintf(s->data + s->len, (size_t)n + 1, fmt, ap);
    s->len += (size_t)n;
}

void hone_str_printf(hone_str *s, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str_vprintf(s, fmt, ap);
    va_end(ap);
}

void hone_str_clear(hone_str *s)
{
    s->len = 0;
    if (s->data)
        s->data[0] = '\0';
}

void hone_str_deinit(hone_str *s)
{
    hone_free(s->data);
    *s = (hone_str)HONE_STR_INIT;
}

const char *hone_str_c(const hone_str *s) { return s->data ? s->data : ""; }

hone_status hone_str_ok(const hone_str *s)
{
    return s->failed ? HONE_FAIL(HONE_E_NOMEM, "out of memory while building a string of %zu bytes", s->len) : HONE_OK;
}

char *hone_str_take(hone_str *s)
{
    char *p;

    if (hone_str_ok(s) != HONE_OK || !hone_str_reserve(s, 0)) {
        hone_str_deinit(s);
        return NULL;
    }
    p = s->data;
    *s = (hone_str)HONE_STR_INIT;
    return p;
}

char *hone_asprintf(const char *fmt, ...)
{
    hone_str s = HONE_STR_INIT;
    va_list  ap;

    va_start(ap, fmt);
    str_vprintf(&s, fmt, ap);
    va_end(ap);
    return hone_str_take(&s);
}

bool hone_starts_with(const char *s, const char *prefix) { return strncmp(s, prefix, strlen(prefix)) == 0; }

bool hone_ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);

    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

size_t hone_first_different_line(const char *a, const char *b)
{
    size_t line = 0;

    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '\n')
            line = i + 1;
    return line;
}

bool hone_glob_match(const char *p, const char *s)
{
    const char *star = NULL, *mark = NULL;

    while (*s) {
        if (*p == '*') {
            star = p++;
            mark = s;
        } else if (*p == '?' || *p == *s) {
            p++;
            s++;
        } else if (star) {          /* let the last star swallow one more */
            p = star + 1;
            s = ++mark;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return *p == '\0';
}

size_t hone_edit_distance(const char *a, const char *b)
{
    enum { MAX = 63 };
    size_t n = HONE_MIN(strlen(a), (size_t)MAX), m = HONE_MIN(strlen(b), (size_t)MAX);
    size_t d[MAX + 1][MAX + 1];

    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            size_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

            best = HONE_MIN(best, d[i - 1][j] + 1);
            best = HONE_MIN(best, d[i][j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = HONE_MIN(best, d[i - 2][j - 2] + 1);
            d[i][j] = best;
        }
    return d[n][m];
}

const char *hone_nearest_name(const char *name, const char *const *names, size_t n)
{
    size_t      limit = strlen(name) / 3 + 1, best = limit + 1;
    const char *found = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t d = hone_edit_distance(name, names[i]);

        if (d < best) {
            best = d;
            found = names[i];
        }
    }
    return found;
}

static char *special_number(char *buf, double v)
{
    if (isnan(v))
        return strcpy(buf, "NaN");
    return strcpy(buf, v < 0 ? "-Infinity" : "Infinity");
}

/* "1e+01" is written out as "10", up to 16 digits as Python does; what has no fraction gets ".0". */
static char *with_fraction(char *buf)
{
    char *e = strchr(buf, 'e'), *p = buf, digits[24];
    int   places = e ? atoi(e + 1) + 1 : 0, n = 0;

    if (places > 0 && places <= 16) {
        for (; p < e; p++)
            if (*p >= '0' && *p <= '9')
                digits[n++] = *p;
        while (n < places)
            digits[n++] = '0';
        digits[n] = '\0';
        strcpy(buf + (buf[0] == '-'), digits);
    }
    if (!strpbrk(buf, ".e"))
        strcat(buf, ".0");
    return buf;
}

char *hone_format_f64(char buf[32], double v)
{
    if (!isfinite(v))
        return special_number(buf, v);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buf, 32, "%.*g", digits, v);
        if (strtod(buf, NULL) == v)
            break;
    }
    return with_fraction(buf);
}

char *hone_format_f32(char buf[32], float v)
{
    if (!isfinite(v))
        return special_number(buf, (double)v);
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(buf, 32, "%.*g", digits, (double)v);
        if (strtof(buf, NULL) == v)
            break;
    }
    return with_fraction(buf);
}
