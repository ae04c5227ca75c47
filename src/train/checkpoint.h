/*
 * train/checkpoint.h -- what a run leaves in output_dir, and how it finds it again.
 *
 * output_dir/checkpoint-<step>/ is a loadable model directory plus state/: state/optimizer.safetensors (f32 masters and both
 * moments, "master.<name>", "moment1.<name>", "moment2.<name>") and state/run.json (the step, what the run is, and the hash
 * of each file of the checkpoint). A checkpoint is built in a folder beside, and appears under its name when it is whole; so
 * one that is there is complete, and the one before it stays until then.
 */
#ifndef HONE_TRAIN_CHECKPOINT_H
#define HONE_TRAIN_CHECKPOINT_H

#include "train/run.h"

/* Write checkpoint-<run.step>, then remove the oldest ones beyond save_total_limit. Without `state` there is no state/, and
 * no run can go on from it. */
hone_status hone_checkpoint_save(hone_run *run, bool state) HONE_MUST_CHECK;
/* Put masters, moments, step and update count of a checkpoint into the run. Every hash is checked. Errors: E_FORMAT, E_IO;
 * E_EXISTS if the checkpoint is of another run (data or options differ: says which). */
hone_status hone_checkpoint_restore(hone_run *run, const char *path) HONE_MUST_CHECK;
/*
 * Settle what output_dir holds before training: *resume is the checkpoint to go on from, or NULL to start anew.
 * Errors: E_EXISTS with what was found and the ways out. Owns: hone_free(*resume).
 */
hone_status hone_checkpoint_prepare(hone_run *run, char **resume) HONE_MUST_CHECK;
/* Write the run's weights as a model directory into the existing folder `out`. */
hone_status hone_checkpoint_export(hone_run *run, const char *out) HONE_MUST_CHECK;

#endif /* HONE_TRAIN_CHECKPOINT_H */
