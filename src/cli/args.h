/*
 * cli/args.h -- the few flags of commands that take no training config: --name VALUE, --name=VALUE, --flag, and plain words.
 */
#ifndef HONE_CLI_ARGS_H
#define HONE_CLI_ARGS_H

#include "base/status.h"

typedef enum hone_arg_type { HONE_ARG_STRING, HONE_ARG_FLAG, HONE_ARG_INT, HONE_ARG_NUMBER } hone_arg_type;

typedef struct hone_arg {
    const char   *name;         /* without dashes; '-' and '_' are the same */
    hone_arg_type type;
    void         *value;        /* const char **, bool *, int64_t *, double * */
    const char   *help;
} hone_arg;

/*
 * Parse argv into `args` and up to `max_words` plain words (absent ones stay NULL). `usage` is the command's first help line.
 * --help prints it with the flags and exits with success. Errors: E_USAGE, with the nearest name for an unknown flag.
 */
hone_status hone_args_parse(const hone_arg *args, size_t n, const char **words, size_t max_words, const char *usage, int argc,
                            char **argv) HONE_MUST_CHECK;

#endif /* HONE_CLI_ARGS_H */
