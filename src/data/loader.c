#include "data/loader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/vec.h"

/* A unit is what an epoch permutes: a sample, or a bin of samples. */
typedef struct unit { int64_t begin, n, tokens, supervised; } unit;

struct hone_loader {
    const hone_dataset *data;
    const hone_options *o;
    hone_vec_i64        members;        /* sample indices of the units, one after another */
    HONE_VEC(unit)      units;
    int64_t            *order;          /* [units] of the planned epoch */
    int64_t             epoch;          /* the planned one, -1 = none */
    hone_vec_i64        step_begin;     /* of the planned epoch: first unit of each step, and the end */
    hone_vec_i64 epoch_begin; /* first step of each epoch that was counted, and the end of the last; by tokens only,
                                 where an epoch's number of steps depends on its order */
    int64_t             first_epoch_steps, total;
    double              fill;
    hone_vec_i64        begin, samples; /* of the step handed out */
};

/* ---- units ---- */

static hone_status add_unit(hone_loader *l, const int64_t *members, int64_t n)
{
    unit u = { (int64_t)l->members.len, n, 0, 0 };

    for (int64_t i = 0; i < n; i++) {
        hone_sample s = hone_dataset_at(l->data, members[i]);

        u.tokens += s.n;
        u.supervised += s.supervised;
        HONE_TRY(HONE_VEC_PUSH(&l->members, members[i]));
    }
    return HONE_VEC_PUSH(&l->units, u);
}

typedef struct item { int64_t sample, n; } item;

static int longest_first(const void *a, const void *b)
{
    const item *x = a, *y = b;

    return x->n != y->n ? (x->n < y->n ? 1 : -1) : (x->sample > y->sample) - (x->sample < y->sample);
}

/* Bins under way. Those of equal room are a list; a bit per room tells which lists hold any. */
typedef struct bins {
    int64_t  *head, *next;      /* [samples] first sample of a bin; next sample in the same bin; -1 = none */
    int64_t  *by_room, *next_bin;   /* [capacity + 1] first bin with this room; [samples] next bin with the same room */
    uint64_t *some;             /* bits of by_room */
    int64_t   n, capacity;
} bins;

static void bins_deinit(bins *b)
{
    hone_free(b->head);
    hone_free(b->next);
    hone_free(b->by_room);
    hone_free(b->next_bin);
    hone_free(b->some);
}

static hone_status bins_init(bins *b, int64_t samples, int64_t capacity)
{
    size_t n = (size_t)samples, rooms = (size_t)capacity + 1;

    *b = (bins){ .head = hone_calloc(n, sizeof *b->head), .next = hone_calloc(n, sizeof *b->next),
                 .by_room = hone_calloc(rooms, sizeof *b->by_room), .next_bin = hone_calloc(n, sizeof *b->next_bin),
                 .some = hone_calloc(rooms / 64 + 1, sizeof *b->some),
                 .capacity = capacity };
    for (size_t i = 0; b->by_room && i < rooms; i++)
        b->by_room[i] = -1;
    return b->head && b->next && b->by_room && b->next_bin && b->some ? HONE_OK : HONE_E_NOMEM;
}

/* The smallest room of at least `size` that a bin has, or -1. */
static int64_t find_room(const bins *b, int64_t size)
{
    int64_t  word = size / 64, words = b->capacity / 64 + 1;
    uint64_t bits = b->some[word] & ~0ull << (size % 64);

    while (!bits && ++word < words)
        bits = b->some[word];
    return bits ? word * 64 + __builtin_ctzll(bits) : -1;
}

/* Into the fullest bin that still holds the sample, or a new one. */
static void bins_add(bins *b, item it)
{
    int64_t room = find_room(b, it.n), k;

    if (room >= 0) {
        k = b->by_room[room];
        b->by_room[room] = b->next_bin[k];
        if (b->by_room[room] < 0)
            b->some[room / 64] &= ~(1ull << (room % 64));
    } else {
        k = b->n++;
        room = b->capacity;
        b->head[k] = -1;
    }
    b->next[it.sample] = b->head[k];
    b->head[k] = it.sample;
    room -= it.n;
    b->next_bin[k] = b->by_room[room];
    b->by_room[room] = k;
    b->some[room / 64] |= 1ull << (room % 64);
}

/* Best fit, longest first: bins depend on the lengths and the order of the samples alone. */
static hone_status pack(hone_loader *l, int64_t length)
{
    hone_status  st = HONE_OK;
    int64_t      n = hone_dataset_len(l->data), tokens = 0;
    item        *items = hone_calloc((size_t)n, sizeof *items);
    hone_vec_i64 members = { NULL, 0, 0 };
    bins         b = { 0 };

    HONE_GO(items ? HONE_OK : HONE_E_NOMEM);
    for (int64_t i = 0; i < n; i++) {
        items[i] = (item){ i, hone_dataset_at(l->data, i).n };
        HONE_GO_CHECK(items[i].n <= length, HONE_E_USAGE,
                      "a sample of %lld tokens does not fit into pack_length %lld; pack_length must "
                      "not be below cutoff_len",
                      (long long)items[i].n, (long long)length);
        tokens += items[i].n;
    }
    qsort(items, (size_t)n, sizeof *items, longest_first);
    HONE_GO(bins_init(&b, n, HONE_MIN(length, tokens)));    /* more room than there are tokens is never used */
    for (int64_t i = 0; i < n; i++)
        bins_add(&b, items[i]);
    for (int64_t k = 0; k < b.n; k++) {
        members.len = 0;
        for (int64_t s = b.head[k]; s >= 0; s = b.next[s])
            HONE_GO(HONE_VEC_PUSH(&members, s));
        HONE_GO(add_unit(l, members.data, (int64_t)members.len));
    }
    l->fill = (double)tokens / ((double)b.n * (double)length);
out:
    hone_free(items);
    bins_deinit(&b);
    HONE_VEC_DEINIT(&members);
    return st;
}

/* ---- epochs ---- */

static int64_t units_per_step(const hone_options *o)
{
    return o->global_batch_size != HONE_INT_NULL ? o->global_batch_size
                                                 : o->per_device_train_batch_size * o->gradient_accumulation_steps;
}

static hone_status plan_epoch(hone_loader *l, int64_t epoch)
{
    int64_t  n = (int64_t)l->units.len, in_step = 0, tokens = 0, limit = units_per_step(l->o);
    bool     by_tokens = l->o->global_batch_tokens != HONE_INT_NULL;
    hone_rng rng = hone_rng_make((uint64_t)l->o->data_seed, (uint64_t)epoch);

    if (l->epoch == epoch)
        return HONE_OK;
    if (l->o->disable_shuffling)
        for (int64_t i = 0; i < n; i++)
            l->order[i] = i;
    else
        hone_rng_permutation(&rng, l->order, n);
    l->step_begin.len = 0;
    l->epoch = -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t size = l->units.data[l->order[i]].tokens;
        bool    full = by_tokens ? in_step > 0 && tokens + size > l->o->global_batch_tokens : in_step == limit;

        if (i == 0 || full) {
            HONE_TRY(HONE_VEC_PUSH(&l->step_begin, i));
            in_step = tokens = 0;
        }
        in_step++;
        tokens += size;
    }
    HONE_TRY(HONE_VEC_PUSH(&l->step_begin, n));
    l->epoch = epoch;
    return HONE_OK;
}

static int64_t planned_steps(const hone_loader *l) { return (int64_t)l->step_begin.len - 1; }

/* By tokens: count epochs up to `epoch`, each by planning it once. */
static hone_status count_epochs(hone_loader *l, int64_t epoch)
{
    if (l->epoch_begin.len == 0)
        HONE_TRY(HONE_VEC_PUSH(&l->epoch_begin, (int64_t)0));
    while ((int64_t)l->epoch_begin.len - 1 <= epoch) {
        int64_t begin = l->epoch_begin.data[l->epoch_begin.len - 1];

        HONE_TRY(plan_epoch(l, (int64_t)l->epoch_begin.len - 1));
        HONE_TRY(HONE_VEC_PUSH(&l->epoch_begin, begin + planned_steps(l)));
    }
    return HONE_OK;
}

static hone_status count_steps(hone_loader *l)
{
    double  epochs = l->o->num_train_epochs, whole = floor(epochs);
    int64_t e = (int64_t)whole;

    HONE_TRY(plan_epoch(l, 0));
    l->first_epoch_steps = planned_steps(l);
    if (l->o->max_steps > 0) {
        l->total = l->o->max_steps;
        return HONE_OK;
    }
    if (l->o->global_batch_tokens == HONE_INT_NULL) {
        l->total = (int64_t)ceil(epochs * (double)l->first_epoch_steps);
        return HONE_OK;
    }
    HONE_CHECK(epochs <= 100000, HONE_E_USAGE,
               "num_train_epochs %g with global_batch_tokens: each epoch is counted at the start; set "
               "max_steps instead",
               epochs);
    HONE_TRY(count_epochs(l, epochs > whole ? e : e - 1));
    l->total = l->epoch_begin.data[e];
    if (epochs > whole)
        l->total += (int64_t)ceil((epochs - whole) * (double)(l->epoch_begin.data[e + 1] - l->epoch_begin.data[e]));
    return HONE_OK;
}

/* ---- the object ---- */

hone_status hone_loader_create(hone_loader **out, const hone_dataset *data, const hone_options *o)
{
    hone_status  st = HONE_OK;
    hone_loader *l = hone_calloc(1, sizeof *l);
    bool         stream = o->stage == HONE_STAGE_PT;    /* its samples are full blocks already */

    *out = NULL;
    if (!l)
        return HONE_E_NOMEM;
    l->data = data;
    l->o = o;
    l->epoch = -1;
    l->fill = 1;
    HONE_GO_CHECK(hone_dataset_len(data) > 0, HONE_E_DATA, "the data set has no samples");
    if (o->packing == HONE_TRI_TRUE && !stream)
        HONE_GO(pack(l, o->pack_length));
    else
        for (int64_t i = 0; i < hone_dataset_len(data); i++)
            HONE_GO(add_unit(l, &i, 1));
    l->order = hone_calloc(l->units.len, sizeof *l->order);
    HONE_GO(l->order ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(count_steps(l));
    HONE_GO_CHECK(l->total > 0, HONE_E_USAGE, "num_train_epochs %g makes no step", o->num_train_epochs);
out:
    if (st != HONE_OK)
        hone_loader_destroy(&l);
    *out = l;
    return st;
}

void hone_loader_destroy(hone_loader **loader)
{
    hone_loader *l = *loader;

    if (!l)
        return;
    HONE_VEC_DEINIT(&l->members);
    HONE_VEC_DEINIT(&l->units);
    HONE_VEC_DEINIT(&l->step_begin);
    HONE_VEC_DEINIT(&l->epoch_begin);
    HONE_VEC_DEINIT(&l->begin);
    HONE_VEC_DEINIT(&l->samples);
    hone_free(l->order);
    hone_free(l);
    *loader = NULL;
}

int64_t hone_loader_total_steps(const hone_loader *l) { return l->total; }
int64_t hone_loader_epoch_steps(const hone_loader *l) { return l->first_epoch_steps; }
double hone_loader_fill(const hone_loader *l) { return l->fill; }

/* The epoch that holds a step, and the step's place in it. */
static hone_status find_epoch(hone_loader *l, int64_t step, int64_t *epoch, int64_t *inside)
{
    const hone_vec_i64 *begin = &l->epoch_begin;
    size_t              low = 0, high;

    if (l->o->global_batch_tokens == HONE_INT_NULL) {
        *epoch = step / l->first_epoch_steps;
        *inside = step % l->first_epoch_steps;
        return plan_epoch(l, *epoch);
    }
    while (begin->len == 0 || begin->data[begin->len - 1] <= step)
        HONE_TRY(count_epochs(l, HONE_MAX((int64_t)begin->len - 1, (int64_t)0)));
    for (high = begin->len - 1; high - low > 1;) {      /* begin[low] <= step < begin[high] */
        size_t middle = low + (high - low) / 2;

        *(begin->data[middle] <= step ? &low : &high) = middle;
    }
    *epoch = (int64_t)low;
    *inside = step - begin->data[low];
    return plan_epoch(l, *epoch);
}

hone_status hone_loader_step(hone_loader *l, int64_t step, hone_step_plan *out)
{
    int64_t epoch = 0, inside = 0, first, last, micro = l->o->per_device_train_batch_size;

    HONE_CHECK(step >= 0, HONE_E_INTERNAL, "step %lld", (long long)step);
    HONE_TRY(find_epoch(l, step, &epoch, &inside));
    first = l->step_begin.data[inside];
    last = l->step_begin.data[inside + 1];
    l->begin.len = l->samples.len = 0;
    *out = (hone_step_plan){ .epoch = epoch, .epoch_end = (double)epoch + (double)last / (double)l->units.len };
    for (int64_t i = first; i < last; i++) {
        const unit *u = &l->units.data[l->order[i]];

        if ((i - first) % micro == 0)
            HONE_TRY(HONE_VEC_PUSH(&l->begin, (int64_t)l->samples.len));
        for (int64_t k = 0; k < u->n; k++)
            HONE_TRY(HONE_VEC_PUSH(&l->samples, l->members.data[u->begin + k]));
        out->tokens += u->tokens;
        out->supervised += u->supervised;
    }
    HONE_TRY(HONE_VEC_PUSH(&l->begin, (int64_t)l->samples.len));
    out->micro_batches = (int64_t)l->begin.len - 1;
    out->begin = l->begin.data;
    out->sample = l->samples.data;
    return HONE_OK;
}
