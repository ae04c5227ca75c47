/*
 * base/log.h -- where messages for people go. A library prints nothing by itself: the owner gives a sink.
 */
#ifndef HONE_BASE_LOG_H
#define HONE_BASE_LOG_H

#include "base/status.h"

typedef enum hone_log_level { HONE_LOG_INFO, HONE_LOG_WARNING } hone_log_level;

typedef struct hone_log {
    void (*write)(void *arg, hone_log_level level, const char *text);   /* one message, no newline; NULL drops it */
    void  *arg;
    hone_log_level least;                                               /* messages below are dropped */
} hone_log;

/* A NULL log drops the message. */
void hone_log_write(const hone_log *log, hone_log_level level, const char *fmt, ...) HONE_PRINTF(3, 4);
#define hone_info(log, ...) hone_log_write((log), HONE_LOG_INFO, __VA_ARGS__)
#define hone_warn(log, ...) hone_log_write((log), HONE_LOG_WARNING, __VA_ARGS__)

/* A sink that writes to stderr; warnings are prefixed with "warning: ". */
hone_log hone_log_stderr(hone_log_level least);

#endif /* HONE_BASE_LOG_H */
