#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void hone_log_write(const hone_log *log, hone_log_level level, const char *fmt, ...)
{
    char    text[4096];
    va_list ap;

    if (!log || !log->write || level < log->least)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log->write(log->arg, level, text);
}

static void to_stderr(void *arg, hone_log_level level, const char *text)
{
    (void)arg;
    fputs(level == HONE_LOG_WARNING ? "warning: " : "", stderr);
    hone_utf8_print_clean(stderr, text, strlen(text));
    fputc('\n', stderr);
}

hone_log hone_log_stderr(hone_log_level least) { return (hone_log){ to_stderr, NULL, least }; }
