/* data/reader/input.h -- the bytes of a file, read forward and unpacked on the way; for this folder only. */
#ifndef HONE_DATA_READER_INPUT_H
#define HONE_DATA_READER_INPUT_H

#include "base/status.h"

typedef enum input_packing { INPUT_PLAIN, INPUT_GZIP, INPUT_ZSTD } input_packing;

typedef struct reader_input reader_input;

/* `path` is borrowed. Errors: E_IO (what is not a regular file, too). Owns: input_close. */
hone_status input_open(reader_input **out, const char *path, input_packing packing) HONE_MUST_CHECK;
void        input_close(reader_input **in);
/* The next bytes: `cap` of them, fewer only at the end. Errors: E_IO, E_FORMAT (a broken archive, with the offset),
 * E_UNSUPPORTED (a zstd window beyond 128 MiB). */
hone_status input_read(reader_input *in, char *to, size_t cap, size_t *n) HONE_MUST_CHECK;
hone_status input_rewind(reader_input *in) HONE_MUST_CHECK;

#endif /* HONE_DATA_READER_INPUT_H */
