/* The program: finds the command, runs it, prints its error once and picks the exit code. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/usage.h"
#include "option/option.h"

static const struct { const char *verb; hone_cmd_fn fn; const char *help; } commands[] = {
#define ROW_(verb, fn, help) { verb, fn, help },
    HONE_CMD_LIST(ROW_)
#undef ROW_
};

static bool is_help(const char *arg) { return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0; }

static void print_help(void)
{
    printf("hone %s: post-training of language models, from one Hugging Face directory to another\n\nusage: hone VERB ...\n\n",
           HONE_VERSION);
    for (size_t i = 0; i < HONE_COUNTOF(commands); i++)
        printf("  %-9s %s\n", commands[i].verb, commands[i].help);
    printf("\n  hone VERB --help           how a command is called\n"
           "  hone help options [NAME]   the keys of CONFIG.yaml, or one of them\n"
           "  hone help config CONFIG    a config as it would be used, with the source of each value\n"
           "  hone --version\n");
}

/* docs/errors.md */
static void print_error_docs(void)
{
    printf("# Errors and exit codes\n\n(Made by `tools/gen-docs` from `src/base/status.h`; change it there.)\n\n"
           "An error is printed on stderr as `hone: error: ...`: the cause first, with the file, line, tensor or row and the way\n"
           "out, then lines of context. `--verbose` or `HONE_VERBOSE=1` adds the places in the program that it passed.\n\n"
           "| exit code | name | meaning |\n|---|---|---|\n");
    for (int i = 0; i < HONE_STATUS_COUNT; i++)
        printf("| %d | `%s` | %s |\n", hone_status_exit_code((hone_status)i), hone_status_name((hone_status)i),
               hone_status_meaning((hone_status)i));
}

static hone_status print_docs(const char *name)
{
    hone_str    out = HONE_STR_INIT;
    hone_status st = HONE_OK;

    if (strcmp(name, "errors") == 0) {
        print_error_docs();
        return HONE_OK;
    }
    HONE_CHECK(strcmp(name, "options") == 0, HONE_E_USAGE, "hone help docs %.100s: unknown; one of: options, errors", name);
    hone_option_docs(&out);
    st = hone_str_ok(&out);
    fputs(hone_str_c(&out), stdout);
    hone_str_deinit(&out);
    return st;
}

/* Shows the config as it is, then says what training would refuse. */
static hone_status print_config(int argc, char **argv)
{
    hone_options *o;
    hone_str      out = HONE_STR_INIT;
    hone_log      log = hone_log_stderr(HONE_LOG_INFO);
    hone_status   st;

    HONE_TRY(hone_options_load_shown(&o, argc, argv));
    hone_options_dump(o, &out, true);
    st = hone_str_ok(&out);
    fputs(hone_str_c(&out), stdout);
    for (size_t i = 0; i < hone_options_notes(o)->n; i++)
        hone_info(&log, "%s", hone_options_notes(o)->v[i]);
    if (st == HONE_OK)
        st = hone_options_check_implemented(o);
    hone_str_deinit(&out);
    hone_options_destroy(&o);
    return st;
}

static const char *nearest_verb(const char *verb)
{
    const char *names[HONE_COUNTOF(commands) + 1];

    for (size_t i = 0; i < HONE_COUNTOF(commands); i++)
        names[i] = commands[i].verb;
    names[HONE_COUNTOF(commands)] = "help";
    return hone_nearest_name(verb, names, HONE_COUNTOF(names));
}

static hone_status print_usage(const char *verb)
{
    const char *text = hone_usage(verb), *near = text ? NULL : nearest_verb(verb);

    HONE_CHECK(!near, HONE_E_USAGE, "hone help %.100s: there is no such command; did you mean '%s'? (hone --help lists them)", verb,
               near);
    HONE_CHECK(text, HONE_E_USAGE, "hone help %.100s: there is no such command (see hone --help)", verb);
    fputs(text, stdout);
    return HONE_OK;
}

/* `inspect KIND` */
static hone_status print_kind_usage(const char *kind)
{
    char name[64];

    snprintf(name, sizeof name, "inspect %.40s", kind);
    return print_usage(name);
}

static hone_status help(int argc, char **argv)
{
    hone_str    out = HONE_STR_INIT;
    hone_status st;

    if (argc == 0 || is_help(argv[0])) {
        print_help();
        return HONE_OK;
    }
    if (strcmp(argv[0], "docs") == 0)       /* for tools/gen-docs */
        return print_docs(argc > 1 ? argv[1] : "");
    if (strcmp(argv[0], "config") == 0)
        return print_config(argc - 1, argv + 1);
    if (strcmp(argv[0], "options") != 0)
        return argc > 1 && strcmp(argv[0], "inspect") == 0 ? print_kind_usage(argv[1]) : print_usage(argv[0]);
    st = hone_option_help(&out, argc > 1 ? argv[1] : NULL);
    fputs(hone_str_c(&out), stdout);
    hone_str_deinit(&out);
    return st;
}

/* `hone VERB --help`, and `hone inspect KIND --help`. */
static bool wants_usage(int argc, char **argv)
{
    for (int i = 0; i < argc && i < 2; i++)
        if (is_help(argv[i]))
            return true;
    return false;
}

static hone_status command_usage(const char *verb, int argc, char **argv)
{
    if (argc > 1 && strcmp(verb, "inspect") == 0 && !is_help(argv[0]))
        return print_kind_usage(argv[0]);
    return print_usage(verb);
}

static hone_status unknown_verb(const char *verb)
{
    const char *near = nearest_verb(verb);

    if (near)
        return HONE_FAIL(HONE_E_USAGE, "unknown command '%.100s'; did you mean '%s'? (hone --help lists them)", verb, near);
    return HONE_FAIL(HONE_E_USAGE, "unknown command '%.100s'; hone --help lists the commands", verb);
}

static hone_status dispatch(int argc, char **argv)
{
    if (argc == 0) {
        print_help();
        return HONE_OK;
    }
    if (is_help(argv[0]) || strcmp(argv[0], "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(argv[0], "--version") == 0) {
        printf("hone %s\n", HONE_VERSION);
        return HONE_OK;
    }
    for (size_t i = 0; i < HONE_COUNTOF(commands); i++)
        if (strcmp(argv[0], commands[i].verb) == 0)
            return wants_usage(argc - 1, argv + 1) ? command_usage(argv[0], argc - 1, argv + 1)
                                                   : commands[i].fn(argc - 1, argv + 1);
    return unknown_verb(argv[0]);
}

/* --verbose goes with every command: it is taken out here, and the variable stands for it. Returns the new argc. */
static int take_verbose(int argc, char **argv)
{
    int n = 0;

    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--verbose") == 0)
            setenv("HONE_VERBOSE", "1", 1);
        else
            argv[n++] = argv[i];
    return n;
}

static bool verbose(void)
{
    const char *env = getenv("HONE_VERBOSE");

    return env && (strcmp(env, "1") == 0 || strcmp(env, "true") == 0 || strcmp(env, "yes") == 0);
}

int main(int argc, char **argv)
{
    hone_status st;
    const char *text;

    signal(SIGXFSZ, SIG_IGN);       /* a file that may not grow (ulimit -f) is an error with a message, not the end */
    st = dispatch(take_verbose(argc - 1, argv + 1), argv + 1);
    if (fflush(stdout) != 0 && st == HONE_OK)       /* a full disk or closed pipe behind stdout is a failure too */
        st = HONE_FAIL(HONE_E_IO, "cannot write to the standard output: %s", strerror(errno));
    if (st == HONE_OK)
        return 0;
    text = hone_status_text()[0] ? hone_status_text() : hone_status_meaning(st);
    fputs("hone: error: ", stderr);
    hone_utf8_print_clean(stderr, text, strlen(text));      /* it may quote paths and data */
    fputc('\n', stderr);
    if (verbose())
        fprintf(stderr, "%s (exit code %d)\n%s", hone_status_name(st), hone_status_exit_code(st), hone_status_trail());
    return hone_status_exit_code(st);
}
