/* Commands whose file is not there yet. Weak: the real one takes over by being linked. */
#include "cli/cli.h"

#define PENDING(fn, what)                                                               \
    __attribute__((weak)) hone_status fn(int argc, char **argv)                         \
    {                                                                                   \
        (void)argc;                                                                     \
        (void)argv;                                                                     \
        return HONE_FAIL(HONE_E_UNSUPPORTED, "this build has no '" what "'");           \
    }

PENDING(hone_cmd_train, "train")
PENDING(hone_cmd_eval, "eval")
PENDING(hone_cmd_chat, "chat")
PENDING(hone_cmd_export, "export")
PENDING(hone_cmd_forward, "forward")
PENDING(hone_inspect_model, "inspect model")
PENDING(hone_inspect_data, "inspect data")
PENDING(hone_inspect_tokens, "inspect tokens")
PENDING(hone_inspect_render, "inspect render")
