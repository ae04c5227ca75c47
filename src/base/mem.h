/*
 * base/mem.h -- host memory for our own structures (tensor data comes from device buffers).
 */
#ifndef HONE_BASE_MEM_H
#define HONE_BASE_MEM_H

#include "base/status.h"

/*
 * Zeroed memory for `n` objects of `size` bytes; NULL with E_NOMEM raised if the product overflows or memory is out.
 * n == 0 gives a valid, freeable pointer. Owns: the caller frees with hone_free.
 */
void *hone_calloc(size_t n, size_t size);
/* Resize to `n` objects; new bytes are not zeroed. On failure returns NULL and `p` stays valid. */
void *hone_realloc(void *p, size_t n, size_t size);
char *hone_strdup(const char *s);
char *hone_strndup(const char *s, size_t n);
void  hone_free(void *p);

/* Tests: make the n-th next allocation of this thread fail (0 = the next one); -1 switches off. Says if it was reached. */
void hone_mem_fail_at(int64_t n);
bool hone_mem_fail_reached(void);

/* Resident anonymous memory of this process and its peak since the last reset, in bytes (0 where /proc lacks it). */
size_t hone_mem_rss_anon(void);
size_t hone_mem_total(void);

#endif /* HONE_BASE_MEM_H */
