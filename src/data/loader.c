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
    int64_t             first_epoch_steps, total;
    double              fill;
    hone_vec_i64        begin, samples; /* of the step handed out */
};

/* ---- units -------------------------------------------------------------------------------------------------------------- */

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

typedef struct bin { int64_t room, head; } bin;

/*
 * Best fit, longest first: each sample goes into the fullest bin that still holds it. Bins of equal room are kept in lists by
 * room, and a bit per room finds the smallest one that is enough.
 */
static hone_status pack(hone_loader *l, int64_t capacity)
{
    hone_status   st = HONE_OK;
    int64_t       n = hone_dataset_len(l->data), placed = 0;
    item         *items = hone_calloc((size_t)n, sizeof *items);
    int64_t      *next = hone_calloc((size_t)n, sizeof *next);              /* next sample in the same bin, -1 = end */
    int64_t      *by_room = hone_calloc((size_t)capacity + 1, sizeof *by_room); /* first bin with this room, -1 = none */
    int64_t      *next_bin = hone_calloc((size_t)n, sizeof *next_bin);
    bin          *bins = hone_calloc((size_t)n, sizeof *bins);
    hone_vec_i64  members = { NULL, 0, 0 };
    int64_t       n_bins = 0, tokens = 0;

    HONE_GO(items && next && by_room && next_bin && bins ? HONE_OK : HONE_E_NOMEM);
    for (int64_t i = 0; i <= capacity; i++)
        by_room[i] = -1;
    for (int64_t i = 0; i < n; i++)
        items[i] = (item){ i, hone_dataset_at(l->data, i).n };
    qsort(items, (size_t)n, sizeof *items, longest_first);
    for (int64_t i = 0; i < n; i++) {
        int64_t size = items[i].n, room = size, b;

        HONE_GO_CHECK(size <= capacity, HONE_E_USAGE, "a sample of %lld tokens does not fit into pack_length %lld; pack_length must not be "
                      "below cutoff_len", (long long)size, (long long)capacity);
        while (room <= capacity && by_room[room] < 0)
            room++;
        if (room <= capacity) {
            b = by_room[room];
            by_room[room] = next_bin[b];
        } else {
            b = n_bins++;
            bins[b] = (bin){ capacity, -1 };
        }
        next[items[i].sample] = bins[b].head;
        bins[b].head = items[i].sample;
        bins[b].room -= size;
        next_bin[b] = by_room[bins[b].room];
        by_room[bins[b].room] = b;
        tokens += size;
        placed++;
    }
    for (int64_t b = 0; b < n_bins; b++) {
        members.len = 0;
        for (int64_t s = bins[b].head; s >= 0; s = next[s])
            HONE_GO(HONE_VEC_PUSH(&members, s));
        HONE_GO(add_unit(l, members.data, (int64_t)members.len));
    }
    l->fill = (double)tokens / (double)(n_bins * capacity);
    HONE_ASSERT(placed == n);
out:
    hone_free(items);
    hone_free(next);
    hone_free(by_room);
    hone_free(next_bin);
    hone_free(bins);
    HONE_VEC_DEINIT(&members);
    return st;
}

/* ---- epochs ------------------------------------------------------------------------------------------------------------- */

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
    l->epoch = epoch;
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
    return HONE_VEC_PUSH(&l->step_begin, n);
}

static int64_t planned_steps(const hone_loader *l) { return (int64_t)l->step_begin.len - 1; }

static hone_status count_steps(hone_loader *l)
{
    double epochs = l->o->num_train_epochs, whole = floor(epochs);

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
    for (int64_t e = 0; e < (int64_t)whole; e++) {      /* by tokens, an epoch's number of steps depends on its order */
        HONE_TRY(plan_epoch(l, e));
        l->total += planned_steps(l);
    }
    HONE_TRY(plan_epoch(l, (int64_t)whole));
    l->total += (int64_t)ceil((epochs - whole) * (double)planned_steps(l));
    return HONE_OK;
}

/* ---- the object --------------------------------------------------------------------------------------------------------- */

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
    if (l->o->global_batch_tokens == HONE_INT_NULL) {
        *epoch = step / l->first_epoch_steps;
        *inside = step % l->first_epoch_steps;
        return plan_epoch(l, *epoch);
    }
    for (*epoch = 0, *inside = step;; (*epoch)++) {
        HONE_TRY(plan_epoch(l, *epoch));
        if (*inside < planned_steps(l))
            return HONE_OK;
        *inside -= planned_steps(l);
    }
}

hone_status hone_loader_step(hone_loader *l, int64_t step, hone_step_plan *out)
{
    int64_t epoch, inside, first, last, micro = l->o->per_device_train_batch_size;

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
