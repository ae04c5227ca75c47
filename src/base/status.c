#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local hone_error error_;

enum { TEXT_BYTES = sizeof error_.text, TRAIL_BYTES = sizeof error_.trail };

static const struct { const char *name; int exit_code; const char *meaning; } statuses[HONE_STATUS_COUNT] = {
#define ROW_(name, exit_code, text) [HONE_##name] = { #name, exit_code, text },
    HONE_STATUS_LIST(ROW_)
#undef ROW_
};

static bool known(hone_status st) { return (unsigned)st < HONE_STATUS_COUNT; }

const char *hone_status_name(hone_status st) { return known(st) ? statuses[st].name : "E_UNKNOWN"; }

int hone_status_exit_code(hone_status st) { return known(st) ? statuses[st].exit_code : 13; }

const char *hone_status_meaning(hone_status st) { return known(st) ? statuses[st].meaning : "unknown status"; }

/* Append to one of the fixed buffers; what does not fit is cut, never overflows. */
static void append(char *buf, size_t cap, size_t *len, const char *fmt, va_list ap)
{
    int n = vsnprintf(buf + *len, cap - *len, fmt, ap);

    if (n > 0)
        *len = HONE_MIN(*len + (size_t)n, cap - 1);
}

hone_status hone_status_trace(hone_status st, const char *fn, const char *file, int line)
{
    const char *src = strstr(file, "src/");
    int n = snprintf(error_.trail + error_.trail_len, TRAIL_BYTES - error_.trail_len, "  at %s (%s:%d)\n", fn,
                     src ? src : file, line);

    if (n > 0)
        error_.trail_len = HONE_MIN(error_.trail_len + (size_t)n, (size_t)TRAIL_BYTES - 1);
    return st;
}

hone_status hone_status_raise(hone_status st, const char *fn, const char *file, int line, const char *fmt, ...)
{
    char    text[TEXT_BYTES];   /* the arguments may point into the old text */
    size_t  len = 0;
    va_list ap;

    va_start(ap, fmt);
    append(text, sizeof text, &len, fmt, ap);
    va_end(ap);
    error_.st = st;
    memcpy(error_.text, text, len);
    error_.text[len] = '\0';
    error_.text_len = len;
    error_.trail[0] = '\0';
    error_.trail_len = 0;
    return hone_status_trace(st, fn, file, line);
}

hone_status hone_status_context(hone_status st, const char *fmt, ...)
{
    va_list ap;

    if (error_.text_len + 3 < TEXT_BYTES) {
        memcpy(error_.text + error_.text_len, "\n  ", 4);
        error_.text_len += 3;
        va_start(ap, fmt);
        append(error_.text, TEXT_BYTES, &error_.text_len, fmt, ap);
        va_end(ap);
    }
    return st;
}

const char *hone_status_text(void) { return error_.text; }
const char *hone_status_trail(void) { return error_.trail; }
hone_status hone_status_last(void) { return error_.st; }

void hone_status_clear(void)
{
    error_.st = HONE_OK;
    error_.text[0] = error_.trail[0] = '\0';
    error_.text_len = error_.trail_len = 0;
}

void hone_error_save(hone_error *e) { *e = error_; }
void hone_error_restore(const hone_error *e) { error_ = *e; }

void hone_assert_failed(const char *cond, const char *fn, const char *file, int line)
{
    fprintf(stderr, "hone: internal fault: %s does not hold in %s (%s:%d)\n", cond, fn, file, line);
    abort();
}
