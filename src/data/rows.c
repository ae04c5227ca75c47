#include "data/rows.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "data/dataset.h"
#include "data/format.h"

enum { AHEAD = 1 << 20, AHEAD_ROWS = 4096 };    /* bytes and rows of a file read at once */

/* One data set: its files, and how far they were read. */
typedef struct stream {
    const char    *name;        /* borrowed */
    size_t         first, n;    /* its sources */
    int64_t        samples;     /* rows to draw, -1 = all */
    int64_t        limit;       /* of them the first so many, -1 = all */
    int64_t        count;       /* rows of a pass, -1 = not known yet */
    hone_pick     *pick;        /* which rows a pass takes; NULL = all up to the limit */
    size_t         file;        /* the open one, from 0 */
    hone_reader   *reader;      /* of the open file, borrowed; NULL: none is open */
    hone_row_block block;       /* read ahead */
    size_t         at;          /* next row of the block */
    int64_t        row;         /* its number in the data set */
} stream;

struct hone_rows {
    const struct hone_dataset_context *context;
    hone_sources         sources;
    HONE_VEC(hone_row_format) formats;      /* of each source; HONE_ROWS_AUTO = not known yet */
    HONE_VEC(hone_reader *)   readers;      /* of each source, from its first row on: rows are parsed with it */
    stream              *streams;
    size_t               n;
    hone_mix            *mix;
    bool                 joined;
};

void hone_row_batch_clear(hone_row_batch *b)
{
    b->origins.len = b->block.rows.len = 0;
    hone_str_clear(&b->block.text);
}

void hone_row_batch_deinit(hone_row_batch *b)
{
    HONE_VEC_DEINIT(&b->origins);
    hone_row_block_deinit(&b->block);
}

/* ---- the files ---- */

static hone_status find_sources(hone_rows *r, const hone_strings *names)
{
    HONE_TRY(hone_sources_find(&r->sources, names, r->context->options));
    for (size_t i = 0; i < r->sources.len; i++) {
        const hone_source *source = &r->sources.data[i];
        stream            *s = &r->streams[source->set];

        if (s->n++ == 0)
            *s = (stream){ .name = source->name, .first = i, .n = 1, .count = -1, .samples = source->num_samples,
                           .limit = source->max_rows };
        if (HONE_VEC_PUSH(&r->formats, HONE_ROWS_AUTO) != HONE_OK || HONE_VEC_PUSH(&r->readers, NULL) != HONE_OK)
            return HONE_E_NOMEM;
    }
    return HONE_OK;
}

static hone_status count_file(int64_t *count, const char *path, int64_t limit)
{
    hone_reader *reader;
    hone_status  st;

    HONE_TRY(hone_reader_open(&reader, path));
    st = hone_reader_count(reader, limit, count);
    hone_reader_close(&reader);
    return st;
}

/* How many rows a pass over the data set gives. */
static hone_status count_stream(const hone_rows *r, stream *s)
{
    int64_t limit = s->samples >= 0 ? -1 : s->limit, rows = 0, want = s->samples;

    if (s->count >= 0)
        return HONE_OK;
    for (size_t i = 0; i < s->n && (limit < 0 || rows < limit); i++) {
        int64_t count;

        HONE_TRY(count_file(&count, r->sources.data[s->first + i].path, limit < 0 ? -1 : limit - rows));
        rows += count;
    }
    s->count = rows;
    if (want < 0 || rows == 0)
        return HONE_OK;
    s->count = s->limit >= 0 ? HONE_MIN(want, s->limit) : want;
    return hone_pick_create(&s->pick, rows, s->count, (uint64_t)r->context->options->seed,
                            XXH3_64bits(s->name, strlen(s->name)) ^ (uint64_t)(s - r->streams));
}

static hone_status make_mix(hone_rows *r, bool count)
{
    const hone_options *o = r->context->options;
    hone_mix_strategy   strategy = r->joined || r->n == 1 ? HONE_MIX_CONCAT : (hone_mix_strategy)o->mix_strategy;
    int64_t            *rows = hone_calloc(r->n, sizeof *rows);
    double             *probs = hone_calloc(r->n, sizeof *probs);
    bool                drawn = strategy != HONE_MIX_CONCAT && o->interleave_probs.n == r->n;
    hone_status         st = HONE_OK;

    HONE_GO(rows && probs ? HONE_OK : HONE_E_NOMEM);
    for (size_t i = 0; i < r->n; i++) {
        if (count || strategy != HONE_MIX_CONCAT || r->streams[i].samples >= 0)
            HONE_GO(count_stream(r, &r->streams[i]));
        rows[i] = r->streams[i].count;
        HONE_GO_CHECK(rows[i] != 0 || strategy == HONE_MIX_CONCAT || strategy == HONE_MIX_INTERLEAVE_ONCE, HONE_E_DATA,
                      "data set %s has no rows, and mix_strategy: %s takes rows of each in turn; leave it out",
                      r->streams[i].name, hone_option_choice("mix_strategy", (int)strategy));
        if (drawn)
            probs[i] = strtod(o->interleave_probs.v[i], NULL);
    }
    hone_mix_destroy(&r->mix);
    HONE_GO(hone_mix_create(&r->mix, strategy, rows, drawn ? probs : NULL, (int32_t)r->n, (uint64_t)o->seed));
out:
    hone_free(rows);
    hone_free(probs);
    return st;
}

hone_status hone_rows_create(hone_rows **out, const hone_strings *names, const struct hone_dataset_context *c, bool joined)
{
    hone_status st = HONE_OK;
    hone_rows  *r = hone_calloc(1, sizeof *r);

    *out = NULL;
    if (!r)
        return HONE_E_NOMEM;
    r->context = c;
    r->joined = joined;
    r->streams = hone_calloc(names->n, sizeof *r->streams);
    HONE_GO(r->streams ? HONE_OK : HONE_E_NOMEM);
    r->n = names->n;
    HONE_GO(find_sources(r, names));
    HONE_GO(make_mix(r, false));
out:
    if (st != HONE_OK)
        hone_rows_destroy(&r);
    *out = r;
    return st;
}

void hone_rows_destroy(hone_rows **rows)
{
    hone_rows *r = *rows;

    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++) {
        hone_pick_destroy(&r->streams[i].pick);
        hone_row_block_deinit(&r->streams[i].block);
    }
    hone_free(r->streams);
    hone_mix_destroy(&r->mix);
    for (size_t i = 0; i < r->readers.len; i++)
        hone_reader_close(&r->readers.data[i]);
    HONE_VEC_DEINIT(&r->readers);
    HONE_VEC_DEINIT(&r->formats);
    hone_sources_deinit(&r->sources);
    hone_free(r);
    *rows = NULL;
}

hone_status hone_rows_count(hone_rows *r, int64_t *count)
{
    HONE_TRY(make_mix(r, true));
    *count = hone_mix_count(r->mix);
    return HONE_OK;
}

int64_t hone_rows_bytes(const hone_rows *r)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < r->n; i++)
        if (r->streams[i].limit >= 0 || r->streams[i].pick)
            return -1;
    for (size_t i = 0; i < r->sources.len; i++) {
        const char *path = r->sources.data[i].path;

        if (hone_ends_with(path, ".gz") || hone_ends_with(path, ".zst"))
            return -1;
        bytes += HONE_MAX(hone_file_size(path), (int64_t)0);
    }
    return r->joined || r->context->options->mix_strategy == HONE_MIX_CONCAT ? bytes : -1;
}

const hone_sources *hone_rows_sources(const hone_rows *r) { return &r->sources; }

/* ---- reading ---- */

/* What the rows of a file hold, by its first one; checked once. */
static hone_status settle_format(hone_rows *r, size_t file, const stream *s)
{
    const hone_source *source = &r->sources.data[file];
    hone_row_format    format = hone_reader_is_text(s->reader) ? HONE_ROWS_TEXT : source->format;
    json_t            *first = NULL;
    char              *where = NULL;
    hone_status        st = HONE_OK;

    if (r->formats.data[file] != HONE_ROWS_AUTO)
        return HONE_OK;
    if (format == HONE_ROWS_AUTO) {
        HONE_GO(hone_reader_parse(&first, s->reader, &s->block, 0));
        where = hone_asprintf("%s: line %lld", source->path, (long long)s->block.rows.data[0].line);
        HONE_GO(where ? hone_row_format_detect(&format, first, source, where) : HONE_E_NOMEM);
    }
    HONE_GO(hone_row_format_check(format, source, r->context));
    r->formats.data[file] = format;
out:
    json_decref(first);
    hone_free(where);
    return st;
}

/* Open the file that the data set is at. */
static hone_status open_file(hone_rows *r, stream *s)
{
    size_t        file = s->first + s->file;
    hone_reader **reader = &r->readers.data[file];

    HONE_TRY(*reader ? hone_reader_rewind(*reader) : hone_reader_open(reader, r->sources.data[file].path));
    s->reader = *reader;
    return HONE_OK;
}

static void close_file(stream *s)
{
    if (s->reader)
        hone_reader_rest(s->reader);
    s->reader = NULL;
}

/* Have a row in the block, from the next file if need be; *got is false behind the last file. */
static hone_status read_ahead(hone_rows *r, stream *s, bool *got)
{
    while (s->at == s->block.rows.len) {
        *got = false;
        if (s->file == s->n)
            return HONE_OK;
        if (!s->reader)
            HONE_TRY(open_file(r, s));
        HONE_TRY(hone_reader_next(s->reader, &s->block, AHEAD_ROWS, AHEAD));
        s->at = 0;
        if (s->block.rows.len) {
            HONE_TRY(settle_format(r, s->first + s->file, s));
            break;
        }
        close_file(s);
        s->file++;
    }
    *got = true;
    return HONE_OK;
}

/* Back to the first row: the pass is over. */
static void restart(stream *s)
{
    close_file(s);
    s->row = 0;
    s->at = s->block.rows.len = s->file = 0;
}

/* Skip to row number `row`; *got is false if there is none. */
static hone_status seek(hone_rows *r, stream *s, int64_t row, bool *got)
{
    if (row == s->row - 1 && s->at > 0) {       /* the one just taken, once more */
        s->row--;
        s->at--;
    }
    if (row < s->row)
        restart(s);
    for (;;) {
        int64_t here;

        HONE_TRY(read_ahead(r, s, got));
        if (!*got || s->row == row)
            return HONE_OK;
        here = HONE_MIN((int64_t)(s->block.rows.len - s->at), row - s->row);
        s->at += (size_t)here;
        s->row += here;
    }
}

/* The next row that a pass takes, from the first one again behind the last. */
static hone_status next_row(hone_rows *r, stream *s, bool *got)
{
    int64_t row = s->row;

    if (s->pick) {
        row = hone_pick_next(s->pick);
        if (row < 0)
            row = hone_pick_next(s->pick);
        return seek(r, s, row, got);
    }
    if (s->count >= 0 && row >= s->count)       /* how often, the mixture knows */
        return seek(r, s, 0, got);
    if (s->limit >= 0 && row >= s->limit) {
        *got = false;
        return HONE_OK;
    }
    return seek(r, s, row, got);
}

/* Append the stream's row to the batch. */
static hone_status take(hone_rows *r, stream *s, hone_row_batch *out)
{
    hone_row_span   span = s->block.rows.data[s->at++];
    hone_row_origin origin = { .reader = s->reader, .source = &r->sources.data[s->first + s->file],
                               .format = r->formats.data[s->first + s->file], .file = (int32_t)(s->first + s->file) };
    size_t          begin = out->block.text.len;

    s->row++;
    hone_str_append(&out->block.text, hone_str_c(&s->block.text) + span.begin, span.end - span.begin);
    HONE_TRY(hone_str_ok(&out->block.text));
    span.end = begin + (span.end - span.begin);
    span.begin = begin;
    HONE_TRY(HONE_VEC_PUSH(&out->block.rows, span));
    return HONE_VEC_PUSH(&out->origins, origin);
}

hone_status hone_rows_next(hone_rows *r, hone_row_batch *out, size_t max_rows, size_t max_bytes)
{
    hone_row_batch_clear(out);
    while (out->origins.len < max_rows && out->block.text.len < max_bytes) {
        int32_t i = hone_mix_next(r->mix);
        stream *s = i < 0 ? NULL : &r->streams[i];
        bool    got;

        if (!s)
            return HONE_OK;
        HONE_TRY(next_row(r, s, &got));
        if (got) {
            HONE_TRY(take(r, s, out));
            continue;
        }
        HONE_CHECK(s->count < 0, HONE_E_IO, "data set %s: rows are missing that were there when it was counted; its files "
                   "were changed while they were read", s->name);
        hone_mix_end(r->mix, i);
    }
    return HONE_OK;
}

void hone_rows_rewind(hone_rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        restart(&r->streams[i]);
        if (r->streams[i].pick)
            hone_pick_restart(r->streams[i].pick);
    }
    hone_mix_restart(r->mix);
}
