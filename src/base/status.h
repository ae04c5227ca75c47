/*
 * base/status.h -- result codes and the per-thread error stack.
 *
 * Functions that touch the world return a hone_status and leave a frame on the calling thread's error stack: the first
 * frame is the cause, each caller may add context. Nothing here allocates, so running out of memory can be reported too.
 * A library never prints or exits; `main` prints the stack once.
 */
#ifndef HONE_BASE_STATUS_H
#define HONE_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(code, exit status of the program, meaning). The exit status is part of the public contract (docs/errors.md). */
#define HONE_STATUS_LIST(X)                                                                   \
    X(OK,          0,  "success")                                                             \
    X(E_USAGE,     2,  "command line, option or configuration is wrong")                      \
    X(E_FORMAT,    3,  "a file's content is not what its format asks for")                    \
    X(E_UNSUPPORTED, 4, "the input is valid, but asks for something hone does not implement") \
    X(E_IO,        5,  "the operating system refused a file operation")                       \
    X(E_DATA,      6,  "training data is unusable (a row, or nothing left to train on)")      \
    X(E_NOMEM,     7,  "out of memory")                                                       \
    X(E_NUMERIC,   8,  "a loss, gradient or weight became NaN or infinite")                   \
    X(E_EXISTS,    9,  "the output is already there and was not asked to be replaced")        \
    X(E_INTERRUPT, 10, "stopped by a signal, after saving if it trained")                     \
    X(E_SHAPE,     11, "tensor shapes do not fit together")                                   \
    X(E_NOKERNEL,  12, "no kernel for this operation, device and dtype")                      \
    X(E_INTERNAL,  13, "a fault in hone itself")

typedef enum hone_status {
#define HONE_STATUS_ENUM_(name, exit_code, text) HONE_##name,
    HONE_STATUS_LIST(HONE_STATUS_ENUM_)
#undef HONE_STATUS_ENUM_
    HONE_STATUS_COUNT
} hone_status;

#define HONE_MUST_CHECK __attribute__((warn_unused_result))
#define HONE_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Name of a code ("E_FORMAT"), the exit status it gives, its meaning. Never NULL. */
const char *hone_status_name(hone_status st);
int         hone_status_exit_code(hone_status st);
const char *hone_status_meaning(hone_status st);

/* Record a cause (clears the stack first) / a place / a line of context; each returns `st`. */
hone_status hone_status_raise(hone_status st, const char *fn, const char *file, int line, const char *fmt, ...)
    HONE_PRINTF(5, 6);
hone_status hone_status_trace(hone_status st, const char *fn, const char *file, int line);
hone_status hone_status_context(hone_status st, const char *fmt, ...) HONE_PRINTF(2, 3);

/* The cause's message, then each line of context, of the calling thread's newest error; "" if none. The string is valid
 * until the thread's next raise. */
const char *hone_status_text(void);
/* The places the error passed, innermost first, one per line ("at fn file:line\n"); for --verbose and bug reports. */
const char *hone_status_trail(void);
hone_status hone_status_last(void);
void        hone_status_clear(void);

/* Keep the error across clean-up that may fail too: save it, clean up, restore it. */
typedef struct hone_error { hone_status st; char text[4096], trail[2048]; size_t text_len, trail_len; } hone_error;
void hone_error_save(hone_error *e);
void hone_error_restore(const hone_error *e);

#define HONE_FAIL(st, ...) hone_status_raise((st), __func__, __FILE__, __LINE__, __VA_ARGS__)
#define HONE_TRACE(st)     hone_status_trace((st), __func__, __FILE__, __LINE__)
/* Return form: only while the function holds nothing that must be released. */
#define HONE_CHECK(cond, st, ...) do { if (!(cond)) return HONE_FAIL((st), __VA_ARGS__); } while (0)
#define HONE_TRY(call) \
    do { hone_status try_ = (call); if (try_ != HONE_OK) return HONE_TRACE(try_); } while (0)
/* Jump form: needs `hone_status st` and a label `out:`. */
#define HONE_GO(call) do { st = (call); if (st != HONE_OK) { HONE_TRACE(st); goto out; } } while (0)
#define HONE_GO_CHECK(cond, code, ...) \
    do { if (!(cond)) { st = HONE_FAIL((code), __VA_ARGS__); goto out; } } while (0)

/* Our own bugs only: prints and aborts in every build, since going on would train on a wrong state. */
#define HONE_ASSERT(cond) do { if (!(cond)) hone_assert_failed(#cond, __func__, __FILE__, __LINE__); } while (0)
void hone_assert_failed(const char *cond, const char *fn, const char *file, int line) __attribute__((noreturn));

#define HONE_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))
#define HONE_MIN(a, b) ((a) < (b) ? (a) : (b))
#define HONE_MAX(a, b) ((a) > (b) ? (a) : (b))

#endif /* HONE_BASE_STATUS_H */
