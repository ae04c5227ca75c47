#include "data/loader.h"

#include <math.h>

#include "base/rng.h"
#include "base/vec.h"

/* Where a step begins: the first row of it that is left, in the order of the epoch. */
typedef struct place { int64_t step, epoch, row; } place;

struct hone_loader {
    const hone_dataset *data;
    const hone_options *o;
    hone_packing        packing;
    hone_permutation    order;          /* of the epoch `ordered` */
    int64_t             ordered;        /* -1 = none */
    place               at;
    int64_t             first_epoch_steps, total;
    hone_vec_i64        begin;          /* of the step handed out */
    HONE_VEC(hone_sample) samples;
};

/* ---- rows ---- */

/* The number of the row that epoch `epoch` has in place i. */
static int64_t row_at(hone_loader *l, int64_t epoch, int64_t i)
{
    if (l->o->disable_shuffling)
        return i;
    if (l->ordered != epoch) {
        l->order = hone_permutation_make((uint64_t)l->o->data_seed, (uint64_t)epoch, l->packing.rows);
        l->ordered = epoch;
    }
    return hone_permutation_at(&l->order, i);
}

static int64_t row_tokens(const hone_loader *l, int64_t row)
{
    int64_t tokens = 0;

    for (int64_t k = 0; k < hone_packing_count(&l->packing, row); k++)
        tokens += hone_dataset_at(l->data, hone_packing_sample(&l->packing, row, k)).n;
    return tokens;
}

static hone_status take_row(hone_loader *l, hone_step_plan *plan, int64_t row)
{
    for (int64_t k = 0; k < hone_packing_count(&l->packing, row); k++) {
        hone_sample s = hone_dataset_at(l->data, hone_packing_sample(&l->packing, row, k));

        plan->tokens += s.n;
        plan->supervised += s.supervised;
        HONE_TRY(HONE_VEC_PUSH(&l->samples, s));
    }
    return HONE_OK;
}

/* ---- steps ---- */

static bool by_tokens(const hone_loader *l) { return l->o->global_batch_tokens != HONE_INT_NULL; }

static int64_t rows_per_step(const hone_options *o)
{
    return o->global_batch_size != HONE_INT_NULL ? o->global_batch_size
                                                 : o->per_device_train_batch_size * o->gradient_accumulation_steps;
}

/* Past the end of an epoch, the next one begins. */
static void go_on(place *p, int64_t rows, int64_t epoch_rows)
{
    p->row += rows;
    p->step++;
    if (p->row == epoch_rows) {
        p->epoch++;
        p->row = 0;
    }
}

/* Rows of the step that begins at `p`. */
static int64_t count_rows(hone_loader *l, const place *p)
{
    int64_t left = l->packing.rows - p->row, n = 0, tokens = 0;

    if (!by_tokens(l))
        return HONE_MIN(left, rows_per_step(l->o));
    for (; n < left; n++) {
        tokens += row_tokens(l, row_at(l, p->epoch, p->row + n));
        if (n > 0 && tokens > l->o->global_batch_tokens)
            break;
    }
    return n;
}

/* Stand at the beginning of a step. */
static void seek(hone_loader *l, int64_t step)
{
    if (!by_tokens(l)) {
        l->at = (place){ step, step / l->first_epoch_steps, step % l->first_epoch_steps * rows_per_step(l->o) };
        return;
    }
    if (step < l->at.step)
        l->at = (place){ 0, 0, 0 };
    while (l->at.step < step)
        go_on(&l->at, count_rows(l, &l->at), l->packing.rows);
}

/* Steps of an epoch that begins at `p`, which moves to its end. */
static int64_t count_epoch(hone_loader *l, place *p)
{
    int64_t epoch = p->epoch, first = p->step;

    while (p->epoch == epoch)
        go_on(p, count_rows(l, p), l->packing.rows);
    return p->step - first;
}

static hone_status count_steps(hone_loader *l)
{
    double  epochs = l->o->num_train_epochs, whole = floor(epochs);
    int64_t limit = rows_per_step(l->o);
    place   p = { 0, 0, 0 };

    l->first_epoch_steps = by_tokens(l) ? count_epoch(l, &p) : (l->packing.rows + limit - 1) / limit;
    if (l->o->max_steps > 0) {
        l->total = l->o->max_steps;
        return HONE_OK;
    }
    if (!by_tokens(l)) {
        l->total = (int64_t)ceil(epochs * (double)l->first_epoch_steps);
        return HONE_OK;
    }
    HONE_CHECK(epochs <= 100000, HONE_E_USAGE,
               "num_train_epochs %g with global_batch_tokens: each epoch is counted at the start; set "
               "max_steps instead",
               epochs);
    for (p = (place){ 0, 0, 0 }; p.epoch < (int64_t)whole;)
        (void)count_epoch(l, &p);
    l->total = p.step;
    if (epochs > whole)
        l->total += (int64_t)ceil((epochs - whole) * (double)count_epoch(l, &p));
    return HONE_OK;
}

/* ---- the object ---- */

hone_status hone_loader_create(hone_loader **out, const hone_dataset *data, const hone_options *o)
{
    hone_status  st = HONE_OK;
    hone_loader *l = hone_calloc(1, sizeof *l);

    *out = NULL;
    if (!l)
        return HONE_E_NOMEM;
    l->data = data;
    l->o = o;
    l->ordered = -1;
    HONE_GO_CHECK(hone_dataset_len(data) > 0, HONE_E_DATA, "the data set has no samples");
    HONE_GO(hone_packing_make(&l->packing, data, o));
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
    hone_packing_deinit(&l->packing);
    HONE_VEC_DEINIT(&l->begin);
    HONE_VEC_DEINIT(&l->samples);
    hone_free(l);
    *loader = NULL;
}

int64_t hone_loader_total_steps(const hone_loader *l) { return l->total; }
int64_t hone_loader_epoch_steps(const hone_loader *l) { return l->first_epoch_steps; }
const hone_packing *hone_loader_packing(const hone_loader *l) { return &l->packing; }

hone_status hone_loader_step(hone_loader *l, int64_t step, hone_step_plan *out)
{
    int64_t rows, micro = l->o->per_device_train_batch_size;

    HONE_CHECK(step >= 0, HONE_E_INTERNAL, "step %lld", (long long)step);
    seek(l, step);
    rows = count_rows(l, &l->at);
    *out = (hone_step_plan){ .epoch = l->at.epoch };
    l->begin.len = l->samples.len = 0;
    for (int64_t i = 0; i < rows; i++) {
        if (i % micro == 0)
            HONE_TRY(HONE_VEC_PUSH(&l->begin, (int64_t)l->samples.len));
        HONE_TRY(take_row(l, out, row_at(l, l->at.epoch, l->at.row + i)));
    }
    HONE_TRY(HONE_VEC_PUSH(&l->begin, (int64_t)l->samples.len));
    go_on(&l->at, rows, l->packing.rows);
    out->ends_epoch = l->at.row == 0;
    out->epoch_end = (double)l->at.epoch + (double)l->at.row / (double)l->packing.rows;
    out->micro_batches = (int64_t)l->begin.len - 1;
    out->begin = l->begin.data;
    out->sample = l->samples.data;
    return HONE_OK;
}
