#include "cli/start_log.h"

#include <stdlib.h>

hone_log hone_start_log(const hone_options *options)
{
    hone_log log = hone_log_stderr(HONE_LOG_INFO);

    if (options->verbose)
        setenv("HONE_VERBOSE", "1", 1);     /* where main looks when an error ends the program */
    for (size_t i = 0; i < hone_options_notes(options)->n; i++)
        hone_info(&log, "note: %s", hone_options_notes(options)->v[i]);
    return log;
}
