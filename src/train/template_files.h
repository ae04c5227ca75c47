/*
 * train/template_files.h -- what a run with a named template writes beside the weights, so that tools that will run the model
 * write its prompts and stop where it was trained to.
 */
#ifndef HONE_TRAIN_TEMPLATE_FILES_H
#define HONE_TRAIN_TEMPLATE_FILES_H

#include "train/run.h"

/*
 * Append the text of a generation_config.json that also lists the ids at which answers of the run's named template end;
 * nothing where there is no such template, or the model's own file (else config.json) lists them all. What else that file
 * says is kept. Errors: E_FORMAT (the model's file is broken), E_IO, E_NOMEM.
 */
hone_status hone_run_generation_config(const hone_run *run, hone_str *out) HONE_MUST_CHECK;

/*
 * Append a chat template that writes turns as the run's named template does, where the model's directory has none; else nothing.
 * Errors: E_NOMEM.
 */
hone_status hone_run_chat_template(const hone_run *run, hone_str *out) HONE_MUST_CHECK;

#endif /* HONE_TRAIN_TEMPLATE_FILES_H */
