/* hone train CONFIG.yaml [--key value]: train a model as the options say. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/data_progress.h"
#include "cli/start_log.h"
#include "option/option.h"
#include "train/run.h"

/* The one thing a signal handler may touch. */
static volatile sig_atomic_t stop_signal;

/* The first signal asks for a save; the second ends the program at once, as an impatient user expects. */
static void on_signal(int number)
{
    static const char note[] = "\nsaving after this step; once more ends at once, without saving\n";

    if (stop_signal)
        _exit(128 + number);
    stop_signal = number;
    if (write(STDERR_FILENO, note, sizeof note - 1) < 0)
        return;     /* nobody is there to read it */
}

static void catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };     /* a save goes on undisturbed */

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

hone_status hone_cmd_train(int argc, char **argv)
{
    hone_status   st = HONE_OK;
    hone_options *options = NULL;
    hone_data_progress progress = { 0 };
    hone_run      run = { .stop = &stop_signal, .data_progress = hone_data_progress_show, .data_progress_arg = &progress };
    hone_log      log;

    HONE_GO_CHECK(argc > 0, HONE_E_USAGE, "hone train needs a config: hone train CONFIG.yaml [--key value]; hone train --help shows a "
                  "small one");
    HONE_GO(hone_options_load(&options, NULL, argc, argv));
    HONE_GO(hone_options_check_train(options));
    log = hone_start_log(options);
    HONE_GO(hone_run_open(&run, options, &log));
    catch_signals();
    HONE_GO(hone_run_train(&run));
out:
    if (st == HONE_E_NOMEM && options && options->model_name_or_path)
        st = hone_status_context(st, "fewer samples at once (per_device_train_batch_size) and shorter ones (cutoff_len) need less: hone "
                                     "inspect model %s with these options says how much", options->model_name_or_path);
    hone_run_close(&run);
    hone_options_destroy(&options);
    return st;
}
