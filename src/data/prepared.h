/*
 * data/prepared.h -- samples that are made once and used many times: a folder (`tokenized_path`) of mapped arrays, with a
 * manifest that says what they were made from.
 *
 *   manifest.json     format and version; the key (options, files of the tokenizer and template, source files); per part its
 *                     counts, files, and the length of each array; a checksum of all this
 *   train.ids         int32, of all samples one after another (eval.* likewise)
 *   train.labels      int32, -100 = none
 *   train.samples     per sample: begin, n, rejected_n, supervised, row, line (int64), source, desirable (int32)
 *   train.notes       per row that is not kept whole: row, line, tokens, before, why (int64), source, fate (int32)
 *   train.reasons     the texts that `why` points into, each ended by a NUL
 *
 * in the byte order of the machine (little endian). The folder appears whole or not at all.
 */
#ifndef HONE_DATA_PREPARED_H
#define HONE_DATA_PREPARED_H

#include "data/dataset.h"

/*
 * Make the samples of the context's options into options->tokenized_path, unless it holds just these; *made says which.
 * With overwrite_cache, a folder of other samples is replaced.
 * Errors: as hone_dataset_load; E_EXISTS (the folder holds something else, or samples of other options or files: what
 * differs is named; or another process is preparing it), E_UNSUPPORTED (LLaMA-Factory's arrow files), E_FORMAT (a damaged
 * folder), E_IO.
 */
hone_status hone_prepare(const hone_dataset_context *context, bool *made) HONE_MUST_CHECK;

/* The same, then map what is there; *train, *eval as in hone_dataset_load. */
hone_status hone_prepared_load(hone_dataset **train, hone_dataset **eval,
                               const hone_dataset_context *context) HONE_MUST_CHECK;

/* Map the parts of a folder, whatever they were made from. *train or *eval is NULL if there is none. Nothing of the tokens is
 * read. Errors: E_IO; E_FORMAT with the file (damaged, cut short, of another version or kind). */
hone_status hone_prepared_open(hone_dataset **train, hone_dataset **eval, const char *dir) HONE_MUST_CHECK;

#endif /* HONE_DATA_PREPARED_H */
