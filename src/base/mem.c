#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Thread_local int64_t fail_at = -1;
static _Thread_local bool    fail_hit;

void hone_mem_fail_at(int64_t n)
{
    fail_at = n;
    fail_hit = false;
}

bool hone_mem_fail_reached(void) { return fail_hit; }

static bool fail_now(void)
{
    if (fail_at < 0)
        return false;
    if (fail_at-- > 0)
        return false;
    fail_hit = true;
    return true;
}

/* Large tables are read at random: fewer, larger pages save most of the misses of address translation. Advice only; the memory
 * is fresh from the system and not touched yet. */
static void advise_huge(void *p, size_t bytes)
{
    enum { LEAST = 4 << 20 };
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)p + page - 1) / page * page;

    if (p && bytes >= LEAST)
        (void)madvise((void *)first, ((uintptr_t)p + bytes - first) / page * page, MADV_HUGEPAGE);
}

void *hone_calloc(size_t n, size_t size)
{
    void *p = fail_now() ? NULL : calloc(n ? n : 1, size ? size : 1);

    if (!p)
        (void)HONE_FAIL(HONE_E_NOMEM, "out of memory: wanted %zu objects of %zu bytes", n, size);
    advise_huge(p, n * size);
    return p;
}

void *hone_realloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    void  *q = NULL;

    if (!__builtin_mul_overflow(n ? n : 1, size ? size : 1, &bytes) && !fail_now())
        q = realloc(p, bytes);
    if (!q)
        (void)HONE_FAIL(HONE_E_NOMEM, "out of memory: wanted %zu objects of %zu bytes", n, size);
    return q;
}

char *hone_strndup(const char *s, size_t n)
{
    char *p = hone_calloc(n + 1, 1);

    if (p)
        memcpy(p, s, n);
    return p;
}

char *hone_strdup(const char *s) { return hone_strndup(s, strlen(s)); }

void hone_free(void *p) { free(p); }

size_t hone_mem_rss_anon(void)
{
    FILE  *f = fopen("/proc/self/status", "r");
    char   line[256];
    size_t kib = 0;

    if (!f)
        return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %zu kB", &kib) == 1)
            break;
    fclose(f);
    return kib * 1024;
}

size_t hone_mem_total(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size : 0;
}
