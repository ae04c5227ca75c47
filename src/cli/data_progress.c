#include "cli/data_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

/* The share that is done, 0 if it is not known. */
static double share(const hone_dataset_progress *p)
{
    if (p->all_rows > 0)
        return (double)p->rows / (double)p->all_rows;
    return p->all_bytes > 0 ? (double)p->bytes / (double)p->all_bytes : 0;
}

static void end(hone_data_progress *p)
{
    if (p->open)
        fputs("\r\033[K", stderr);
    *p = (hone_data_progress){ 0 };
}

void hone_data_progress_show(void *arg, const hone_dataset_progress *progress)
{
    hone_data_progress *p = arg;
    bool                terminal = isatty(STDERR_FILENO);
    double              t = hone_clock_now(), seconds, done;
    char                left[64] = "";

    if (!progress) {
        end(p);
        return;
    }
    if (p->start == 0)
        p->start = p->shown = t;
    seconds = t - p->start;
    done = share(progress);
    if (seconds < 2 || t - p->shown < (terminal ? 0.5 : 30))
        return;
    p->shown = t;
    if (done > 0 && done < 1)
        snprintf(left, sizeof left, "  %.0f %%, %.0f s left", 100 * done, seconds * (1 - done) / done);
    fprintf(stderr, "%s%lld rows  %.0f rows/s  %.1f MB/s%s%s", terminal ? "\r\033[K" : "", (long long)progress->rows,
            (double)progress->rows / seconds, (double)progress->bytes / 1e6 / seconds, left, terminal ? "" : "\n");
    p->open = terminal;
}
