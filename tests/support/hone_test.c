#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>

const char *t_temp_dir(void)
{
    static _Thread_local char path[64];

    snprintf(path, sizeof path, "/tmp/hone-test-XXXXXX");
    if (!mkdtemp(path))
        fail_msg("cannot make a temporary folder");
    return path;
}
