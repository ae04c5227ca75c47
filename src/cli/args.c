#include "cli/args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static bool same_name(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((a[i] == '_' ? '-' : a[i]) != (b[i] == '_' ? '-' : b[i]))
            return false;
    return a[n] == '\0';
}

static void print_help(const hone_arg *args, size_t n, const char *usage)
{
    printf("usage: %s\n\n", usage);
    for (size_t i = 0; i < n; i++)
        printf("  --%-18s %s\n", args[i].name, args[i].help);
}

static hone_status unknown(const hone_arg *args, size_t n, const char *flag)
{
    const char *names[64], *near;

    for (size_t i = 0; i < n && i < 64; i++)
        names[i] = args[i].name;
    near = hone_nearest_name(flag, names, HONE_MIN(n, (size_t)64));
    if (near)
        return HONE_FAIL(HONE_E_USAGE, "unknown flag --%.100s; did you mean '--%s'?", flag, near);
    return HONE_FAIL(HONE_E_USAGE, "unknown flag --%.100s; --help lists the flags", flag);
}

static hone_status set_value(const hone_arg *a, const char *text)
{
    char *end;

    errno = 0;
    switch (a->type) {
    case HONE_ARG_STRING:
        *(const char **)a->value = text;
        return HONE_OK;
    case HONE_ARG_INT:
        *(int64_t *)a->value = strtoll(text, &end, 10);
        break;
    default:
        *(double *)a->value = strtod(text, &end);
    }
    HONE_CHECK(*text && !*end && errno == 0, HONE_E_USAGE, "--%s takes a number, not \"%s\"", a->name, text);
    return HONE_OK;
}

hone_status hone_args_parse(const hone_arg *args, size_t n, const char **words, size_t max_words, const char *usage, int argc,
                            char **argv)
{
    size_t n_words = 0;

    for (int i = 0; i < argc; i++) {
        const char     *text = argv[i], *equals;
        const hone_arg *found = NULL;
        size_t          len;

        if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
            print_help(args, n, usage);
            exit(0);
        }
        HONE_CHECK(text[0] != '-' || text[1] == '-' || !text[1], HONE_E_USAGE, "unknown flag %.100s; --help lists the flags", text);
        if (strncmp(text, "--", 2) != 0) {
            HONE_CHECK(n_words < max_words, HONE_E_USAGE, "unexpected argument \"%s\"; usage: %s", text, usage);
            words[n_words++] = text;
            continue;
        }
        text += 2;
        equals = strchr(text, '=');
        len = equals ? (size_t)(equals - text) : strlen(text);
        for (size_t k = 0; k < n && !found; k++)
            if (same_name(args[k].name, text, len))
                found = &args[k];
        if (!found)
            return unknown(args, n, text);
        if (found->type == HONE_ARG_FLAG) {
            HONE_CHECK(!equals, HONE_E_USAGE, "--%s takes no value", found->name);
            *(bool *)found->value = true;
            continue;
        }
        HONE_CHECK(equals || i + 1 < argc, HONE_E_USAGE, "--%s needs a value", found->name);
        HONE_TRY(set_value(found, equals ? equals + 1 : argv[++i]));
    }
    return HONE_OK;
}
