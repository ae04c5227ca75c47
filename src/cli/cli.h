/*
 * cli/cli.h -- the commands of the program, one cmd_<verb>.c each.
 */
#ifndef HONE_CLI_CLI_H
#define HONE_CLI_CLI_H

#include "base/status.h"

/* argv[0] is the verb's first argument. The command prints its own output; `main` prints the error and picks the exit code. */
typedef hone_status (*hone_cmd_fn)(int argc, char **argv);

/* X(verb, function, one line of help): the only list of commands. */
#define HONE_CMD_LIST(X)                                                                              \
    X("train",   hone_cmd_train,   "train a model as CONFIG.yaml says")                               \
    X("eval",    hone_cmd_eval,    "loss and perplexity of a model on data")                          \
    X("prepare", hone_cmd_prepare, "tokenise data once, for runs that start at once")                 \
    X("chat",    hone_cmd_chat,    "talk to a model")                                                 \
    X("export",  hone_cmd_export,  "write a model or checkpoint as a Hugging Face directory")         \
    X("forward", hone_cmd_forward, "logits, loss and gradients of given tokens, for comparison")      \
    X("inspect", hone_cmd_inspect, "look at a model, data, tokens or rendered chats")                 \
    X("doctor",  hone_cmd_doctor,  "what this machine has and what hone chose")

#define HONE_CMD_DECLARE_(verb, fn, help) hone_status fn(int argc, char **argv) HONE_MUST_CHECK;
HONE_CMD_LIST(HONE_CMD_DECLARE_)
#undef HONE_CMD_DECLARE_

/* `hone inspect KIND …`: one file inspect_<kind>.c each. */
hone_status hone_inspect_model(int argc, char **argv) HONE_MUST_CHECK;
hone_status hone_inspect_data(int argc, char **argv) HONE_MUST_CHECK;
hone_status hone_inspect_tokens(int argc, char **argv) HONE_MUST_CHECK;
hone_status hone_inspect_render(int argc, char **argv) HONE_MUST_CHECK;

#endif /* HONE_CLI_CLI_H */
