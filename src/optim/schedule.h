/*
 * optim/schedule.h -- learning rates. As in the Hugging Face trainer: the rate of an update is a function of the number of
 * completed ones, so the first update of a warm-up has rate 0. The formulas are those of transformers' optimization.py.
 */
#ifndef HONE_OPTIM_SCHEDULE_H
#define HONE_OPTIM_SCHEDULE_H

#include "option/option.h"

/* How a warm-up rises and a decay falls (warmup_stable_decay). */
typedef enum hone_ramp { HONE_RAMP_LINEAR, HONE_RAMP_COSINE, HONE_RAMP_SQRT } hone_ramp;

typedef struct hone_lr_schedule {
    hone_schedule kind;
    double        peak;
    int64_t       warmup, total;    /* steps */
    double        cycles;           /* cosines: half-waves are 2 · cycles (0.5 = down to the end); restarts: how many */
    double        floor;            /* the lowest rate, as a share of the peak */
    double        power;            /* polynomial */
    double        timescale;        /* inverse_sqrt, in steps */
    double        stable, decay;    /* warmup_stable_decay, in steps */
    hone_ramp     rise, fall;       /* … */
} hone_lr_schedule;

/* warmup_steps if above 0 (a share of all steps if below 1), else ceil(total · warmup_ratio). Errors: E_USAGE for
 * lr_scheduler_kwargs that the schedule does not take, with those that it takes. */
hone_status hone_lr_schedule_make(hone_lr_schedule *out, const hone_options *options, int64_t total_steps) HONE_MUST_CHECK;
/* The rate of the step after `done` completed ones. */
double      hone_lr_at(const hone_lr_schedule *s, int64_t done);

#endif /* HONE_OPTIM_SCHEDULE_H */
