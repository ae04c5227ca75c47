/* Commands whose file is not there yet. Weak: the real one takes over by being linked. */
#include "cli/cli.h"
#include "option/option.h"

#define PENDING(fn, what)                                                               \
    __attribute__((weak)) hone_status fn(int argc, char **argv)                         \
    {                                                                                   \
        (void)argc;                                                                     \
        (void)argv;                                                                     \
        return HONE_FAIL(HONE_E_UNSUPPORTED, "this build has no '" what "'");           \
    }

PENDING(hone_cmd_eval, "eval")
PENDING(hone_cmd_chat, "chat")
PENDING(hone_cmd_export, "export")
PENDING(hone_cmd_forward, "forward")
PENDING(hone_inspect_model, "inspect model")
PENDING(hone_inspect_data, "inspect data")
PENDING(hone_inspect_tokens, "inspect tokens")
PENDING(hone_inspect_render, "inspect render")

__attribute__((weak)) hone_status hone_cmd_train(int argc, char **argv)
{
    hone_options *o;
    hone_status   st;

    HONE_TRY(hone_options_load(&o, NULL, argc, argv));
    st = hone_options_check_train(o);
    if (st == HONE_OK)
        st = HONE_FAIL(HONE_E_UNSUPPORTED, "this build has no 'train'");
    hone_options_destroy(&o);
    return st;
}
