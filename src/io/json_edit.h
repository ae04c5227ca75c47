/*
 * io/json_edit.h -- changing single values in JSON text while every other byte stays. The text must have been parsed as an
 * object before; keys are compared as they are spelt, without resolving escapes.
 */
#ifndef HONE_IO_JSON_EDIT_H
#define HONE_IO_JSON_EDIT_H

#include "base/str.h"
#include "tensor/dtype.h"

/* Append the text of config.json `text` to `out` with each floating "dtype" or "torch_dtype" changed to `dtype`, at the top
 * and in sub-configs (keys that end in "_config", but quantization_config). Says if anything changed. */
bool hone_json_edit_dtype(hone_str *out, const char *text, hone_dtype dtype);
/* Append the text of an index with metadata.total_size, if it has one, set to `bytes`. */
void hone_json_edit_total_size(hone_str *out, const char *text, int64_t bytes);

#endif /* HONE_IO_JSON_EDIT_H */
