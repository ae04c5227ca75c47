/* Where parameters lie in a group's flat buffer. */
#include "nn/param.h"

enum { ALIGN = 16 };

static int64_t align_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

/* Whether every cut at a multiple of `slice` inside [start, start + numel) is a border between rows. */
static bool cuts_between_rows(int64_t start, int64_t numel, int64_t row, int64_t slice)
{
    for (int64_t cut = (start / slice + 1) * slice; cut < start + numel; cut += slice)
        if ((cut - start) % row != 0)
            return false;
    return true;
}

/* Place everything for one slice length; with `strict`, starts are moved until cuts fall between rows. Returns the end. */
static int64_t place(int64_t *offsets, const int64_t *numel, const int64_t *rows, size_t n, int64_t slice, bool strict)
{
    int64_t cursor = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t start = align_up(cursor, ALIGN);

        if (strict)
            for (int64_t tries = 0; tries <= rows[i] && !cuts_between_rows(start, numel[i], rows[i], slice); tries++)
                start += ALIGN;
        offsets[i] = start;
        cursor = start + numel[i];
    }
    return cursor;
}

int64_t hone_group_layout(int64_t *offsets, const int64_t *numel, const int64_t *rows, size_t n, int ranks)
{
    int64_t end = place(offsets, numel, rows, n, INT64_MAX / 2, false);
    int64_t slice = align_up((end + ranks - 1) / ranks, ALIGN), limit = slice + slice / 20;

    if (ranks <= 1)
        return align_up(HONE_MAX(end, (int64_t)1), ALIGN);
    /* Longer slices leave room for the padding that moves cuts to row borders. */
    for (int64_t s = slice; s <= limit; s += ALIGN) {
        bool clean = place(offsets, numel, rows, n, s, true) <= s * ranks;

        for (size_t i = 0; i < n && clean; i++)
            clean = cuts_between_rows(offsets[i], numel[i], rows[i], s);
        if (clean)
            return s;
    }
    place(offsets, numel, rows, n, slice, false);
    return slice;
}
