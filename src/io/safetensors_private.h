/* io/safetensors_private.h -- what reader and writer share. */
#ifndef HONE_IO_SAFETENSORS_PRIVATE_H
#define HONE_IO_SAFETENSORS_PRIVATE_H

#include "base/file.h"
#include "base/map.h"
#include "io/safetensors.h"

struct hone_safetensors {
    char            *where;
    hone_mapped      map;       /* empty when the bytes are the caller's */
    const unsigned char *bytes;
    size_t           header;    /* bytes before the data: length field and JSON */
    json_t          *metadata;
    hone_map        *names;     /* name -> place in the header; holds the names' memory */
    hone_safetensor *tensors;   /* in data order */
    size_t           n;
};

#endif /* HONE_IO_SAFETENSORS_PRIVATE_H */
