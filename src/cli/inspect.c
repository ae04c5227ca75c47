/* hone inspect KIND: one file inspect_<kind>.c each. */
#include <string.h>

#include "base/str.h"
#include "cli/cli.h"

hone_status hone_cmd_inspect(int argc, char **argv)
{
    static const char *const names[] = { "model", "data", "tokens", "render" };
    static const hone_cmd_fn kinds[] = { hone_inspect_model, hone_inspect_data, hone_inspect_tokens, hone_inspect_render };
    const char *near;

    HONE_CHECK(argc > 0, HONE_E_USAGE, "hone inspect what? One of: model, data, tokens, render (see hone inspect --help)");
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        if (strcmp(argv[0], names[i]) == 0)
            return kinds[i](argc - 1, argv + 1);
    near = hone_nearest_name(argv[0], names, HONE_COUNTOF(names));
    if (near)
        return HONE_FAIL(HONE_E_USAGE, "hone inspect %.100s: unknown; did you mean '%s'?", argv[0], near);
    return HONE_FAIL(HONE_E_USAGE, "hone inspect %.100s: unknown; one of: model, data, tokens, render", argv[0]);
}
