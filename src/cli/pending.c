/* Commands whose file is not there yet. Weak: the real one takes over by being linked. */
#include "cli/cli.h"

#define PENDING(fn, what)                                                               \
    __attribute__((weak)) hone_status fn(int argc, char **argv)                         \
    {                                                                                   \
        (void)argc;                                                                     \
        (void)argv;                                                                     \
        return HONE_FAIL(HONE_E_UNSUPPORTED, "this build has no '" what "'");           \
    }

PENDING(hone_inspect_data, "inspect data")
PENDING(hone_inspect_render, "inspect render")
