/* What every test program includes: cmocka with its prerequisites, and checks on statuses. */
#ifndef HONE_TEST_H
#define HONE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"

#define T_OK(call) \
    do { hone_status t_st = (call); if (t_st != HONE_OK) fail_msg("%s: %s: %s", #call, hone_status_name(t_st), hone_status_text()); } while (0)
#define T_STATUS(call, want) \
    do { hone_status t_st = (call); if (t_st != (want)) fail_msg("%s: got %s, wanted %s: %s", #call, hone_status_name(t_st), hone_status_name(want), hone_status_text()); } while (0)
/* The newest error's text holds `part`. */
#define T_ERROR_HAS(part) \
    do { if (!strstr(hone_status_text(), (part))) fail_msg("\"%s\" is not in the error: %s", (part), hone_status_text()); } while (0)

/* A fresh empty folder, removed by the operating system's temporary cleaning or the test; the path is static storage of
 * the calling thread, valid until the next call. */
const char *t_temp_dir(void);

#endif /* HONE_TEST_H */
