/* Configurations: whatever the text, loading ends with options or an error; what loads is written back and loads to the
 * same. Input that begins with "--" is a command line, one argument a line. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "option/option.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void write_and_load(hone_options *o)
{
    hone_str      first = HONE_STR_INIT, second = HONE_STR_INIT;
    hone_options *again;

    hone_options_dump(o, &first, false);
    must(hone_options_load_text(&again, hone_str_c(&first), first.len, "again") == HONE_OK);
    hone_options_dump(again, &second, false);
    must(strcmp(hone_str_c(&first), hone_str_c(&second)) == 0);
    hone_options_destroy(&again);
    hone_str_deinit(&first);
    hone_str_deinit(&second);
}

static hone_status load_arguments(hone_options **out, const uint8_t *data, size_t size)
{
    char       *text = hone_strndup((const char *)data, size), *argv[64], *p = text;
    int         argc = 0;
    hone_status st;

    must(text != NULL);
    for (; argc < 64 && p; argc++)
        argv[argc] = strsep(&p, "\n");
    st = hone_options_load(out, NULL, argc, argv);
    hone_free(text);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hone_options *o;
    hone_status   st = size >= 2 && memcmp(data, "--", 2) == 0 && (size == 2 || data[2] != '-')
                           ? load_arguments(&o, data, size)
                           : hone_options_load_text(&o, (const char *)data, size, "fuzz");

    must((st == HONE_OK) == (o != NULL));
    if (o)
        write_and_load(o);
    hone_options_destroy(&o);
    return 0;
}
