/* cli/start_log.h -- what commands with a training config say first. */
#ifndef HONE_CLI_START_LOG_H
#define HONE_CLI_START_LOG_H

#include "base/log.h"
#include "option/option.h"

/* The log to stderr, with the options' notes written to it. `verbose` in a config counts as --verbose. */
hone_log hone_start_log(const hone_options *options);

#endif /* HONE_CLI_START_LOG_H */
