#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

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
    fprintf(stderr, "%s%s\n", level == HONE_LOG_WARNING ? "warning: " : "", text);
}

hone_log hone_log_stderr(hone_log_level least) { return (hone_log){ to_stderr, NULL, least }; }
