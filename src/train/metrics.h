/*
 * train/metrics.h -- what a person and a program see of a run: the progress line, metrics.jsonl, the loss curve.
 */
#ifndef HONE_TRAIN_METRICS_H
#define HONE_TRAIN_METRICS_H

#include "base/log.h"
#include "base/status.h"
#include "base/str.h"

/* The loss on one of several evaluation data sets; NaN if none of its tokens has a label. */
typedef struct hone_eval_part { const char *name; double loss; int64_t tokens; } hone_eval_part;

/* One optimizer step. */
typedef struct hone_step_metrics {
    int64_t step;               /* from 1 */
    double  epoch, loss, learning_rate, grad_norm;
    bool    ends_epoch;
    int64_t tokens, supervised_tokens;
    bool    skipped;            /* not finite, or without labels: the weights stayed */
    bool    has_eval;
    double  eval_loss;
    int64_t eval_tokens;
    const hone_eval_part *eval_parts;   /* [n_eval_parts] with eval_on_each_dataset; borrowed */
    size_t  n_eval_parts;
    double  seconds;            /* of the step, evaluation and saving left out */
    double  flops;              /* of the step */
    int64_t rows, rows_left_out; /* of a stream: read so far, and of them those that are no sample; else 0 */
    size_t  memory;             /* accounted peak so far, bytes */
    size_t  rss_anon;           /* the process's resident anonymous memory after the step, bytes */
} hone_step_metrics;

typedef struct hone_metrics hone_metrics;

/*
 * Append to dir/metrics.jsonl. Lines of steps after `done` (of a run that is repeated from a checkpoint) are cut off first.
 * `keep_every`: progress lines that stay on the screen; `peak_flops`: what the machine reaches in a product, for "% of peak".
 */
hone_status hone_metrics_create(hone_metrics **out, const char *dir, int64_t done, int64_t total_steps, double keep_every,
                                double peak_flops, const hone_log *log) HONE_MUST_CHECK;
void        hone_metrics_destroy(hone_metrics **metrics);
/* Write the step's line (flushed) and show it. */
hone_status hone_metrics_step(hone_metrics *m, const hone_step_metrics *s) HONE_MUST_CHECK;
/* Append ,"eval_NAME_loss":x to the text of a JSON object. */
void        hone_eval_part_write(hone_str *out, const hone_eval_part *part);
/* Draw dir/training_loss.png from all lines of metrics.jsonl: loss, its moving average, evaluation losses. */
hone_status hone_metrics_plot(const char *dir) HONE_MUST_CHECK;

#endif /* HONE_TRAIN_METRICS_H */
