/* hone eval CONFIG.yaml [--key value]: loss and perplexity on eval_dataset, on the rows that val_size holds out, or on dataset. */
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/data_progress.h"
#include "cli/start_log.h"
#include "option/option.h"
#include "train/run.h"

hone_status hone_cmd_eval(int argc, char **argv)
{
    hone_status   st = HONE_OK;
    hone_options *options = NULL;
    hone_data_progress progress = { 0 };
    hone_run      run = { .data_progress = hone_data_progress_show, .data_progress_arg = &progress };
    hone_log      log;
    hone_str      line = HONE_STR_INIT;
    char          a[32], b[32];
    double        loss;
    int64_t       tokens;

    HONE_GO_CHECK(argc > 0, HONE_E_USAGE, "hone eval needs a config: hone eval CONFIG.yaml [--key value]; hone train --help shows a "
                  "small one");
    HONE_GO(hone_options_load_no_train(&options, argc, argv));
    log = hone_start_log(options);
    HONE_GO(hone_run_open_eval(&run, options, &log));
    HONE_GO(hone_run_evaluate(&run, run.eval ? run.eval : run.train, &loss, &tokens));
    HONE_GO_CHECK(isfinite(loss), HONE_E_NUMERIC, "the loss is not finite: the weights or the data are broken");
    hone_str_printf(&line, "{\"loss\":%s,\"tokens\":%lld,\"perplexity\":%s", hone_format_f64(a, loss), (long long)tokens,
                    isfinite(exp(loss)) ? hone_format_f64(b, exp(loss)) : "null");
    for (size_t i = 0; i < run.n_eval_parts; i++)
        hone_eval_part_write(&line, &run.eval_parts[i]);
    HONE_GO(hone_str_ok(&line));
    printf("%s}\n", line.data);
out:
    hone_str_deinit(&line);
    hone_run_close(&run);
    hone_options_destroy(&options);
    return st;
}
