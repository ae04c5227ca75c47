#include "data/pack.h"

#include <string.h>

#include "base/mem.h"

#define NONE UINT32_MAX

/* Work on one stretch of samples; numbers of samples and rows count from its start. */
typedef struct packer {
    const hone_dataset *data;
    int64_t   length;           /* room of a row */
    int64_t   n;                /* samples of the stretch */
    uint32_t  longest, rows;
    int64_t   tokens;
    uint32_t *lengths, *row_of; /* [n] of each sample */
    uint32_t *order, *number;   /* [n] scratch */
    int64_t  *filled;           /* [n] tokens of each row */
    /* Rows under way, for best fit. Those of equal room are a list; a bit per room tells which lists hold any. */
    int64_t   capacity;
    uint32_t *by_room, *next;   /* [capacity + 1] a row with this room; [n] the next row with the same room */
    uint64_t *some;             /* bits of by_room */
} packer;

static void packer_deinit(packer *p)
{
    hone_free(p->lengths);
    hone_free(p->row_of);
    hone_free(p->order);
    hone_free(p->number);
    hone_free(p->filled);
    hone_free(p->next);
    hone_free(p->by_room);
    hone_free(p->some);
}

static hone_status packer_init(packer *p, const hone_dataset *data, int64_t length)
{
    size_t n = (size_t)HONE_MIN(hone_dataset_len(data), (int64_t)HONE_PACKING_STRETCH);

    *p = (packer){ .data = data, .length = length, .lengths = hone_calloc(n, sizeof *p->lengths),
                   .row_of = hone_calloc(n, sizeof *p->row_of), .order = hone_calloc(n, sizeof *p->order),
                   .number = hone_calloc(n, sizeof *p->number), .filled = hone_calloc(n, sizeof *p->filled),
                   .next = hone_calloc(n, sizeof *p->next) };
    return p->lengths && p->row_of && p->order && p->number && p->filled && p->next ? HONE_OK : HONE_E_NOMEM;
}

static hone_status read_stretch(packer *p, int64_t first)
{
    p->n = HONE_MIN(hone_dataset_len(p->data) - first, (int64_t)HONE_PACKING_STRETCH);
    p->longest = 0;
    p->tokens = 0;
    for (int64_t i = 0; i < p->n; i++) {
        int64_t n = hone_dataset_at(p->data, first + i).n;

        HONE_CHECK(n <= p->length && n < NONE, HONE_E_USAGE,
                   "a sample of %lld tokens does not fit into pack_length %lld; pack_length must "
                   "not be below cutoff_len",
                   (long long)n, (long long)p->length);
        p->lengths[i] = (uint32_t)n;
        p->tokens += n;
        p->longest = HONE_MAX(p->longest, p->lengths[i]);
    }
    return HONE_OK;
}

/* ---- best fit ---- */

/* Samples in the order of falling length; those of one length in the order of the data. A counting sort. */
static hone_status longest_first(packer *p)
{
    uint32_t *place = hone_calloc((size_t)p->longest + 1, sizeof *place), before = 0;

    if (!place)
        return HONE_E_NOMEM;
    for (int64_t i = 0; i < p->n; i++)
        place[p->lengths[i]]++;
    for (int64_t length = p->longest; length >= 0; length--) {
        uint32_t count = place[length];

        place[length] = before;
        before += count;
    }
    for (int64_t i = 0; i < p->n; i++)
        p->order[place[p->lengths[i]]++] = (uint32_t)i;
    hone_free(place);
    return HONE_OK;
}

/* More room than there are tokens is never used. */
static hone_status clear_rooms(packer *p)
{
    size_t rooms;

    p->capacity = HONE_MIN(p->length, p->tokens);
    rooms = (size_t)p->capacity + 1;
    hone_free(p->by_room);
    hone_free(p->some);
    p->by_room = hone_calloc(rooms, sizeof *p->by_room);
    p->some = hone_calloc(rooms / 64 + 1, sizeof *p->some);
    if (!p->by_room || !p->some)
        return HONE_E_NOMEM;
    memset(p->by_room, 0xFF, rooms * sizeof *p->by_room);
    return HONE_OK;
}

/* The smallest room of at least `size` that a row has, or -1. */
static int64_t find_room(const packer *p, int64_t size)
{
    int64_t  word = size / 64, words = p->capacity / 64 + 1;
    uint64_t bits = p->some[word] & ~0ull << (size % 64);

    while (!bits && ++word < words)
        bits = p->some[word];
    return bits ? word * 64 + __builtin_ctzll(bits) : -1;
}

/* The row of a sample: the fullest one that still holds it, or a new one. */
static uint32_t fit(packer *p, uint32_t length)
{
    int64_t  room = find_room(p, length);
    uint32_t row;

    if (room >= 0) {
        row = p->by_room[room];
        p->by_room[room] = p->next[row];
        if (p->by_room[room] == NONE)
            p->some[room / 64] &= ~(1ull << (room % 64));
    } else {
        row = p->rows++;
        room = p->capacity;
    }
    room -= length;
    p->next[row] = p->by_room[room];
    p->by_room[room] = row;
    p->some[room / 64] |= 1ull << (room % 64);
    return row;
}

static hone_status best_fit(packer *p)
{
    HONE_TRY(longest_first(p));
    HONE_TRY(clear_rooms(p));
    p->rows = 0;
    for (int64_t i = 0; i < p->n; i++)
        p->row_of[p->order[i]] = fit(p, p->lengths[p->order[i]]);
    return HONE_OK;
}

/* ---- greedy ---- */

static void greedy(packer *p)
{
    int64_t room = -1;

    p->rows = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (p->lengths[i] > room) {
            p->rows++;
            room = p->length;
        }
        room -= p->lengths[i];
        p->row_of[i] = p->rows - 1;
    }
}

/* ---- rows as lists ---- */

/* Number the rows of the stretch by their first samples, and list the samples of each behind those of the rows before. */
static hone_status list_rows(packer *p, hone_packing *out, int64_t first)
{
    uint32_t next = 0;
    int64_t *begin, place = first;

    memset(p->number, 0xFF, p->rows * sizeof *p->number);
    memset(p->filled, 0, p->rows * sizeof *p->filled);
    HONE_TRY(HONE_VEC_RESERVE(&out->begin, p->rows + 1));
    begin = out->begin.data + out->rows;
    memset(begin, 0, (p->rows + 1) * sizeof *begin);
    for (int64_t i = 0; i < p->n; i++) {
        if (p->number[p->row_of[i]] == NONE)
            p->number[p->row_of[i]] = next++;
        p->row_of[i] = p->number[p->row_of[i]];
        p->filled[p->row_of[i]] += p->lengths[i];
        begin[p->row_of[i]]++;
    }
    for (uint32_t r = 0; r < p->rows; r++) {    /* counts become places; listing moves each to the end of its row … */
        int64_t count = begin[r];

        begin[r] = place;
        place += count;
        out->fullest = HONE_MAX(out->fullest, p->filled[r]);
        out->emptiest = out->rows + r ? HONE_MIN(out->emptiest, p->filled[r]) : p->filled[r];
    }
    for (int64_t i = 0; i < p->n; i++)
        out->members[begin[p->row_of[i]]++] = (uint32_t)(first + i);
    memmove(begin + 1, begin, p->rows * sizeof *begin);     /* … which is where the next one begins */
    begin[0] = first;
    out->rows += p->rows;
    out->tokens += p->tokens;
    out->begin.len = (size_t)out->rows;
    return HONE_OK;
}

hone_status hone_packing_make(hone_packing *out, const hone_dataset *data, const hone_options *o)
{
    int64_t     n = hone_dataset_len(data);
    packer      p = { 0 };
    hone_status st = HONE_OK;

    *out = (hone_packing){ .rows = n, .samples = n, .tokens = hone_dataset_get_report(data)->tokens_kept };
    if (o->packing != HONE_TRI_TRUE || o->stage == HONE_STAGE_PT)   /* its samples are full blocks already */
        return HONE_OK;
    *out = (hone_packing){ .samples = n, .length = o->pack_length };
    HONE_CHECK(n < NONE, HONE_E_UNSUPPORTED, "packing takes up to %u samples, and there are %lld; set "
               "packing: false, or train on the data in parts", NONE - 1, (long long)n);
    out->members = hone_calloc((size_t)n, sizeof *out->members);
    HONE_GO(out->members ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(packer_init(&p, data, o->pack_length));
    for (int64_t first = 0; first < n; first += p.n) {
        HONE_GO(read_stretch(&p, first));
        if (o->packing_strategy == HONE_PACKING_GREEDY)
            greedy(&p);
        else
            HONE_GO(best_fit(&p));
        HONE_GO(list_rows(&p, out, first));
    }
out:
    packer_deinit(&p);
    if (st != HONE_OK)
        hone_packing_deinit(out);
    return st;
}

void hone_packing_deinit(hone_packing *p)
{
    HONE_VEC_DEINIT(&p->begin);
    hone_free(p->members);
    *p = (hone_packing){ 0 };
}

double hone_packing_fill(const hone_packing *p)
{
    return p->length && p->rows ? (double)p->tokens / ((double)p->rows * (double)p->length) : 1;
}
