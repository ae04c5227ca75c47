/*
 * train/stops.h -- where the trained model is to stop: a named template ends answers in its own way, and the tools that will
 * run the model go by the eos_token_id of generation_config.json.
 */
#ifndef HONE_TRAIN_STOPS_H
#define HONE_TRAIN_STOPS_H

#include "train/run.h"

/*
 * Append the text of a generation_config.json that also lists the ids at which answers of the run's named template end;
 * nothing where there is no such template, or the model's own file (else config.json) lists them all. What else that file
 * says is kept. Errors: E_FORMAT (the model's file is broken), E_IO, E_NOMEM.
 */
hone_status hone_run_generation_config(const hone_run *run, hone_str *out) HONE_MUST_CHECK;

#endif /* HONE_TRAIN_STOPS_H */
