/* Readers: the first byte chooses the kind of file, the rest is its content. Reading ends with rows or an error that names
 * the file; neither depends on the size of the buffer or of the blocks, and counting agrees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/reader/reader_int.h"

enum { ROWS_MAX = 20000, TEXT_MAX = 1 << 24 };      /* a small archive may hold far more */

static const char *const endings[] = { "json", "jsonl", "csv", "tsv", "txt", "jsonl.gz", "csv.gz", "json.zst", "txt.zst" };

typedef struct result { hone_status status; int64_t rows; size_t bytes; hone_str values; char error[512]; } result;

static void must(bool ok)
{
    if (!ok)
        abort();
}

static bool within(const result *r) { return r->rows < ROWS_MAX && r->bytes < TEXT_MAX; }

static hone_status take(result *out, const hone_reader *r, const hone_row_block *block)
{
    for (size_t i = 0; i < block->rows.len; i++) {
        const hone_row_span *row = &block->rows.data[i];
        json_t              *value;

        must(row->row == out->rows + (int64_t)i && row->line >= 1 && row->begin <= row->end && row->end <= block->text.len);
        HONE_TRY(hone_reader_parse(&value, r, block, i));
        hone_str_printf(&out->values, "%lld ", (long long)row->line);
        hone_json_dump(&out->values, value, false);
        json_decref(value);
    }
    out->rows += (int64_t)block->rows.len;
    out->bytes += block->text.len;
    return HONE_OK;
}

static void read_all(result *out, const char *path, size_t buffer, size_t max_rows, size_t max_bytes)
{
    hone_row_block block = { 0 };
    hone_reader   *r = NULL;
    int64_t        rows;
    bool           more = true;

    memset(out, 0, sizeof *out);
    out->status = reader_open(&r, path, buffer);
    while (out->status == HONE_OK && more && within(out)) {
        out->status = hone_reader_next(r, &block, max_rows, max_bytes);
        if (out->status == HONE_OK)
            out->status = take(out, r, &block);
        more = block.rows.len > 0;
    }
    if (out->status != HONE_OK)
        snprintf(out->error, sizeof out->error, "%s", hone_status_text());
    must(out->status == HONE_OK || strstr(out->error, path));
    if (out->status == HONE_OK && !more) {
        must(hone_reader_count(r, -1, &rows) == HONE_OK && rows == out->rows);
        must(hone_reader_count(r, 1, &rows) == HONE_OK && rows == HONE_MIN(out->rows, 1));
    }
    hone_reader_close(&r);
    hone_row_block_deinit(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *ending = endings[size ? data[0] % HONE_COUNTOF(endings) : 0];
    char        path[64];
    FILE       *f;
    result      large, small;

    snprintf(path, sizeof path, "fuzz_reader.%ld.%s", (long)getpid(), ending);
    f = fopen(path, "wb");
    must(f && (size < 2 || fwrite(data + 1, 1, size - 1, f) == size - 1) && fclose(f) == 0);
    read_all(&large, path, 1 << 18, 1000, 1 << 20);
    read_all(&small, path, 16, 3, 100);
    if (within(&large) && within(&small)) {
        must(!large.values.failed && !small.values.failed);
        if (!strchr(ending, '.'))
            must(large.status == small.status && strcmp(large.error, small.error) == 0);
        if (large.status == HONE_OK && small.status == HONE_OK)
            must(large.rows == small.rows && strcmp(hone_str_c(&large.values), hone_str_c(&small.values)) == 0);
    }
    hone_str_deinit(&large.values);
    hone_str_deinit(&small.values);
    unlink(path);
    return 0;
}
