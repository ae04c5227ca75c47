/* cli/usage.h -- how each command is called, for `hone VERB --help`. */
#ifndef HONE_CLI_USAGE_H
#define HONE_CLI_USAGE_H

/* Text of `hone VERB --help` ("inspect model" and the like included), or NULL. */
const char *hone_usage(const char *verb);

#endif /* HONE_CLI_USAGE_H */
