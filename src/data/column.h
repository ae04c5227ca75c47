/*
 * data/column.h -- an array that is written once, from its beginning to its end, and then read: in memory while it is
 * short, in a temporary file beyond that, or in a file of a name. What lies in a file is mapped for reading.
 */
#ifndef HONE_DATA_COLUMN_H
#define HONE_DATA_COLUMN_H

#include "base/file.h"

/* Zeros are an empty column. */
typedef struct hone_column {
    const void    *data;        /* [len], once finished or opened */
    int64_t        len;
    size_t         width;       /* bytes of an element */
    /* private */
    unsigned char *buffer;
    size_t         used, room, limit;   /* bytes of the buffer; it is written out when `limit` is reached */
    int            fd;          /* 0 = no file so far */
    char          *dir, *path;  /* of the temporary file; of the file in messages */
    hone_mapped    map;
} hone_column;

/* Elements go to memory, and from `limit` bytes on to a file without name in `dir` (borrowed for the call). */
hone_status hone_column_temporary(hone_column *c, size_t width, size_t limit, const char *dir) HONE_MUST_CHECK;
/* Elements go to a new file of this name. */
hone_status hone_column_create(hone_column *c, size_t width, const char *path) HONE_MUST_CHECK;
/* Errors: E_IO (a full disk, say), E_NOMEM. */
hone_status hone_column_append(hone_column *c, const void *items, size_t n) HONE_MUST_CHECK;
/* End of writing: `data` is valid from here on. A file of a name is synced. */
hone_status hone_column_finish(hone_column *c) HONE_MUST_CHECK;
/* Map a file that has exactly `len` elements. Errors: E_IO; E_FORMAT (another length). */
hone_status hone_column_open(hone_column *c, size_t width, int64_t len, const char *path) HONE_MUST_CHECK;
void        hone_column_close(hone_column *c);

#endif /* HONE_DATA_COLUMN_H */
