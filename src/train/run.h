/*
 * train/run.h -- a training run: from options to a trained model directory.
 */
#ifndef HONE_TRAIN_RUN_H
#define HONE_TRAIN_RUN_H

#include <signal.h>

#include "base/file.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "model/load.h"
#include "optim/schedule.h"
#include "option/option.h"
#include "runtime/ctx.h"
#include "train/metrics.h"

typedef struct hone_run {
    const hone_options *options;        /* borrowed */
    hone_log            log;
    const volatile sig_atomic_t *stop;  /* borrowed: non-zero asks to save and end; may be NULL */
    hone_dataset_progress_fn data_progress;     /* told how far the making of samples is; may be NULL */
    void               *data_progress_arg;
    hone_ctx           *ctx;
    char               *model_path;
    hone_tokenizer     *tokenizer;
    hone_chat          *chat;
    hone_slots         *slots;
    hone_dataset_context data;          /* what rows are made into samples with */
    hone_dataset       *train, *eval;   /* `train` is NULL with `stream` */
    hone_stream        *stream;         /* the data is read while it is trained on */
    hone_eval_part     *eval_parts;     /* [n_eval_parts] the losses of the last evaluation, with eval_on_each_dataset */
    size_t              n_eval_parts;
    hone_loader        *loader;
    bool                judged;         /* how the data's answers end has been looked at */
    hone_loaded        *loaded;
    hone_lr_schedule    schedule;
    hone_metrics       *metrics;
    hone_dir_lock      *lock;           /* of output_dir */
    int64_t             step;           /* completed optimizer steps */
    int64_t             updates;        /* of them, those that changed the weights (a skipped step does not) */
    int64_t             total_steps;
    double              seconds;        /* of the steps of this process */
    char               *identity;       /* what the result depends on; two runs with equal text are the same run */
} hone_run;

/* Read data and model, check that they fit; nothing is written yet. Every fault of the input shows here. */
hone_status hone_run_open(hone_run *run, const hone_options *options, const hone_log *log) HONE_MUST_CHECK;
/* The same for evaluation alone: no optimizer state, no steps. */
hone_status hone_run_open_eval(hone_run *run, const hone_options *options, const hone_log *log) HONE_MUST_CHECK;
void        hone_run_close(hone_run *run);

/*
 * Train to the end, or to the first stop. Goes on from the newest complete checkpoint of the same run in output_dir, or from
 * resume_from_checkpoint. Writes checkpoints, metrics.jsonl, config.resolved.yaml, and at the end the model and the loss curve.
 * Errors: E_INTERRUPT (stopped and saved), E_NUMERIC (nonfinite: stop), E_EXISTS (output_dir holds something else), E_IO.
 */
hone_status hone_run_train(hone_run *run) HONE_MUST_CHECK;

/* Mean negative log-likelihood per predicted token of a data set, with the run's weights; *tokens is how many. Dropout off.
 * With eval_on_each_dataset `data` is run->eval, and run->eval_parts gets that of each of its data sets. */
hone_status hone_run_evaluate(hone_run *run, const hone_dataset *data, double *loss, int64_t *tokens) HONE_MUST_CHECK;

#endif /* HONE_TRAIN_RUN_H */
