#include "data/shuffle.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/rng.h"
#include "data/dataset.h"

enum { AHEAD_ROWS = 1024, AHEAD_BYTES = 1 << 20 };      /* rows of the mixture that are taken at once */

typedef struct slot { char *text; hone_row_span span; hone_row_origin origin; } slot;

struct hone_shuffle {
    const hone_options *o;
    hone_rows          *rows;
    hone_row_batch      ahead;
    size_t              at;             /* next row of `ahead` */
    HONE_VEC(slot)      buffer;
    size_t              size;           /* rows that it holds while there are more */
    bool                filled;
    hone_rng            rng;
    uint64_t            hash;
    hone_row_key       *left_out;       /* sorted */
    size_t              n_left_out;
};

static void clear_buffer(hone_shuffle *s)
{
    for (size_t i = 0; i < s->buffer.len; i++)
        hone_free(s->buffer.data[i].text);
    s->buffer.len = 0;
}

hone_status hone_shuffle_create(hone_shuffle **out, const struct hone_dataset_context *c)
{
    hone_shuffle *s = hone_calloc(1, sizeof *s);
    hone_status   st;

    *out = NULL;
    if (!s)
        return HONE_E_NOMEM;
    s->o = c->options;
    s->size = s->o->disable_shuffling ? 1 : (size_t)s->o->buffer_size;
    st = hone_rows_create(&s->rows, &s->o->dataset, c, false);
    if (st != HONE_OK)
        hone_shuffle_destroy(&s);
    *out = s;
    return st;
}

void hone_shuffle_destroy(hone_shuffle **shuffle)
{
    hone_shuffle *s = *shuffle;

    if (!s)
        return;
    clear_buffer(s);
    HONE_VEC_DEINIT(&s->buffer);
    hone_row_batch_deinit(&s->ahead);
    hone_rows_destroy(&s->rows);
    hone_free(s->left_out);
    hone_free(s);
    *shuffle = NULL;
}

void hone_shuffle_begin(hone_shuffle *s, int64_t epoch)
{
    clear_buffer(s);
    s->at = s->ahead.origins.len = 0;
    s->rng = hone_rng_make((uint64_t)s->o->data_seed, 0x73747265616d0000u + (uint64_t)epoch);
    s->hash = 0;
    s->filled = false;
    hone_rows_rewind(s->rows);
}

static int compare_keys(const void *a, const void *b)
{
    const hone_row_key *x = a, *y = b;

    return x->file != y->file ? (x->file > y->file) - (x->file < y->file) : (x->row > y->row) - (x->row < y->row);
}

void hone_shuffle_leave_out(hone_shuffle *s, hone_row_key *rows, size_t n)
{
    qsort(rows, n, sizeof *rows, compare_keys);
    hone_free(s->left_out);
    s->left_out = rows;
    s->n_left_out = n;
}

static bool is_left_out(const hone_shuffle *s, size_t i)
{
    hone_row_key key = { s->ahead.origins.data[i].file, s->ahead.block.rows.data[i].row };

    return s->n_left_out && bsearch(&key, s->left_out, s->n_left_out, sizeof key, compare_keys);
}

/* The next row of the mixture; *got is false at its end. Owns: out->text. */
static hone_status read_row(hone_shuffle *s, slot *out, bool *got)
{
    const char *text;
    size_t      n;

    do {
        if (s->at == s->ahead.origins.len) {
            HONE_TRY(hone_rows_next(s->rows, &s->ahead, AHEAD_ROWS, AHEAD_BYTES));
            s->at = 0;
        }
        *got = s->at < s->ahead.origins.len;
        if (!*got)
            return HONE_OK;
    } while (is_left_out(s, s->at++));
    out->origin = s->ahead.origins.data[s->at - 1];
    out->span = s->ahead.block.rows.data[s->at - 1];
    text = hone_str_c(&s->ahead.block.text) + out->span.begin;
    n = out->span.end - out->span.begin;
    s->hash = XXH3_64bits_withSeed(text, n, s->hash);
    out->text = hone_calloc(n, 1);
    if (!out->text)
        return HONE_E_NOMEM;
    memcpy(out->text, text, n);
    return HONE_OK;
}

static hone_status fill_buffer(hone_shuffle *s)
{
    while (s->buffer.len < s->size) {
        slot row;
        bool got;

        HONE_TRY(read_row(s, &row, &got));
        if (!got)
            return HONE_OK;
        if (HONE_VEC_PUSH(&s->buffer, row) != HONE_OK) {
            hone_free(row.text);
            return HONE_E_NOMEM;
        }
    }
    return HONE_OK;
}

static hone_status append(hone_row_batch *b, const slot *row)
{
    hone_row_span span = row->span;

    span.begin = b->block.text.len;
    span.end = span.begin + (row->span.end - row->span.begin);
    hone_str_append(&b->block.text, row->text, span.end - span.begin);
    HONE_TRY(hone_str_ok(&b->block.text));
    HONE_TRY(HONE_VEC_PUSH(&b->origins, row->origin));
    return HONE_VEC_PUSH(&b->block.rows, span);
}

hone_status hone_shuffle_next(hone_shuffle *s, hone_row_batch *out, bool *got)
{
    slot *drawn, next;
    bool  more;

    if (!s->filled)
        HONE_TRY(fill_buffer(s));
    s->filled = true;
    *got = s->buffer.len > 0;
    if (!*got)
        return HONE_OK;
    drawn = &s->buffer.data[hone_rng_below(&s->rng, s->buffer.len)];
    if (out)
        HONE_TRY(append(out, drawn));
    HONE_TRY(read_row(s, &next, &more));
    hone_free(drawn->text);
    *drawn = more ? next : s->buffer.data[--s->buffer.len];
    return HONE_OK;
}

uint64_t hone_shuffle_hash(const hone_shuffle *s) { return s->hash; }
const hone_rows *hone_shuffle_rows(const hone_shuffle *s) { return s->rows; }
