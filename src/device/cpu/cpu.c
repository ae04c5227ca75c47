/* Host memory: small blocks from the C library, large ones as anonymous pages that the system may back with huge pages. */
#include <stdlib.h>
#include <sys/mman.h>

#include "device/device.h"

static const size_t large = (size_t)1 << 20, huge = (size_t)2 << 20;

static void *cpu_alloc(size_t bytes)
{
    void *p;

    if (bytes < large)
        return aligned_alloc(64, (bytes + 63) / 64 * 64);
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (bytes >= huge)
        madvise(p, bytes, MADV_HUGEPAGE);   /* advice only: without it everything still works */
    return p;
}

static void cpu_free(void *p, size_t bytes)
{
    if (bytes < large)
        free(p);
    else
        munmap(p, bytes);
}

const hone_device_ops hone_device_cpu = { "cpu", true, cpu_alloc, cpu_free };
