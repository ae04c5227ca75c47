/* hone doctor: what this machine has, what hone chose, what would help. */
#include <cairo.h>
#include <jansson.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utf8proc.h>
#include <xxhash.h>
#include <yajl/yajl_version.h>
#include <yaml.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/thread.h"
#include "cli/cli.h"
#include "kernel/cpu/isa.h"
#include "kernel/tables.h"

/* Collected while the facts are printed; shown at the end. */
typedef struct advice { const char *text[8]; size_t n; } advice;

static void advise(advice *a, const char *text)
{
    if (a->n < HONE_COUNTOF(a->text))
        a->text[a->n++] = text;
}

static void line(const char *what, const char *fmt, ...) HONE_PRINTF(2, 3);
static void line(const char *what, const char *fmt, ...)
{
    va_list ap;

    printf("%-14s ", what);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

/* What follows the first `key` and a separator in a /proc or /sys text, up to the line's end; "" if it is not there. */
static const char *value_in(char buf[256], const char *path, const char *key)
{
    FILE *f = fopen(path, "r");
    bool  found = false;

    while (f && !found && fgets(buf, 256, f))
        found = strncmp(buf, key, strlen(key)) == 0;
    if (f)
        fclose(f);
    if (!found)
        return "";
    buf[strcspn(buf, "\n")] = '\0';
    return buf + strlen(key) + strspn(buf + strlen(key), " \t:");
}

static double gib(double bytes) { return bytes / (double)(1 << 30); }

static hone_status show_processor(advice *a)
{
    char        buf[256];
    const char *forced = getenv("HONE_ISA"), *model = value_in(buf, "/proc/cpuinfo", "model name");
    hone_isa    best = hone_isa_detect(), chosen;
    long        online = sysconf(_SC_NPROCESSORS_ONLN);

    HONE_TRY(hone_isa_choose(&chosen, forced));
    line("processor", "%s", *model ? model : "unknown");
    line("cores", "%d allowed of %ld online", hone_cpu_count(), online);
    if (forced && *forced)
        line("kernels", "%s (forced by HONE_ISA; the best here is %s)", hone_isa_name(chosen), hone_isa_name(best));
    else
        line("kernels", "%s", hone_isa_name(chosen));
    if (hone_cpu_count() < online)
        advise(a, "This process may not use every core: look at taskset, cpusets or the container's limits.");
    if (chosen < best)
        advise(a, "HONE_ISA forces slower kernels than this processor allows; unset it for the best.");
    if (best == HONE_ISA_PORTABLE)
        advise(a, "Only portable kernels run here: training is slow without AVX2.");
    return HONE_OK;
}

static hone_status show_kernels(void)
{
    hone_kernel_table *t = hone_calloc(1, sizeof *t);
    hone_status        st = HONE_OK;
    hone_isa           isa;
    const char        *sep = "";

    HONE_CHECK(t, HONE_E_NOMEM, "out of memory");
    HONE_GO(hone_isa_choose(&isa, getenv("HONE_ISA")));
    hone_kernel_table_ref(t);
    hone_kernel_table_cpu(t, isa);
    printf("%-14s ", "reference ops");
    for (int op = 0; op < HONE_OP_COUNT; op++) {
        bool slow = false;

        for (int pass = 0; pass < HONE_PASS_COUNT; pass++)
            slow |= t->fn[op][pass][HONE_TARGET_REF][HONE_DTYPE_F32] && !t->fn[op][pass][HONE_TARGET_CPU][HONE_DTYPE_F32];
        if (slow) {
            printf("%s%s", sep, hone_op_name((hone_op)op));
            sep = ", ";
        }
    }
    puts(*sep ? " (no optimised kernel here, or not for every pass)" : "none: every op has optimised kernels");
out:
    hone_free(t);
    return st;
}

static void show_memory(advice *a)
{
    char        buf[256], thp[256];
    const char *available = value_in(buf, "/proc/meminfo", "MemAvailable");
    const char *huge = value_in(thp, "/sys/kernel/mm/transparent_hugepage/enabled", "");
    char        limit[256];
    const char *cgroup = value_in(limit, "/sys/fs/cgroup/memory.max", "");

    line("memory", "%.1f GiB, %.1f GiB available", gib((double)hone_mem_total()), gib(strtod(available, NULL) * 1024));
    if (*cgroup && strncmp(cgroup, "max", 3) != 0)
        line("memory limit", "%.1f GiB (of this control group)", gib(strtod(cgroup, NULL)));
    line("pages", "%ld bytes; transparent huge pages: %s", sysconf(_SC_PAGESIZE), *huge ? huge : "unknown");
    if (strstr(huge, "[never]"))
        advise(a, "Transparent huge pages are off; as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

static void show_limit(const char *name, int resource, const char *unit, double scale)
{
    struct rlimit r;

    if (getrlimit((__rlimit_resource_t)resource, &r) != 0)
        return;
    if (r.rlim_cur == RLIM_INFINITY)
        line(name, "unlimited");
    else
        line(name, "%.0f%s", (double)r.rlim_cur / scale, unit);
}

static void show_limits(advice *a)
{
    struct rlimit r;

    show_limit("open files", RLIMIT_NOFILE, "", 1);
    show_limit("address space", RLIMIT_AS, " MiB", 1 << 20);
    show_limit("file size", RLIMIT_FSIZE, " MiB", 1 << 20);
    if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
        advise(a, "The address space is limited (ulimit -v): model files are mapped and count against it.");
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
        advise(a, "The file size is limited (ulimit -f): checkpoints may not fit.");
}

static void show_libraries(void)
{
    char pcre[64] = "?";
    int  major, minor, patch;
    unsigned xx = XXH_versionNumber();

    if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) < (int)sizeof pcre)
        pcre2_config(PCRE2_CONFIG_VERSION, pcre);
    yaml_get_version(&major, &minor, &patch);
    line("libraries", "jansson %s, yajl %d.%d.%d, libyaml %d.%d.%d, pcre2 %s, utf8proc %s, cairo %s, xxhash %u.%u.%u",
         jansson_version_str(), yajl_version() / 10000, yajl_version() / 100 % 100, yajl_version() % 100, major, minor, patch,
         pcre, utf8proc_version(), cairo_version_string(), xx / 10000, xx / 100 % 100, xx % 100);
}

static void show_hub(void)
{
    const char *cache = getenv("HF_HUB_CACHE"), *home = getenv("HF_HOME"), *user = getenv("HOME");
    char        path[4096];

    if (cache)
        snprintf(path, sizeof path, "%s", cache);
    else if (home)
        snprintf(path, sizeof path, "%s/hub", home);
    else
        snprintf(path, sizeof path, "%s/.cache/huggingface/hub", user ? user : "~");
    line("model cache", "%s%s", path, hone_path_is_dir(path) ? "" : " (not there)");
}

hone_status hone_cmd_doctor(int argc, char **argv)
{
    advice a = { .n = 0 };

    HONE_CHECK(argc == 0, HONE_E_USAGE, "hone doctor takes no arguments, found '%.100s'", argv[0]);
    line("hone", "%s", HONE_VERSION);
#ifdef __clang__
    line("compiler", "%s", __VERSION__);
#else
    line("compiler", "gcc %s", __VERSION__);
#endif
    HONE_TRY(show_processor(&a));
    HONE_TRY(show_kernels());
    show_memory(&a);
    show_limits(&a);
    show_libraries();
    show_hub();
    for (size_t i = 0; i < a.n; i++)
        printf("%s%s\n", i ? "" : "\n", a.text[i]);
    return HONE_OK;
}
