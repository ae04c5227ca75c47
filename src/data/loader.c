#include "data/loader.h"

#include <math.h>

#include "base/rng.h"
#include "base/vec.h"

/* Samples at hand: a whole data set, or a window of a stream; and the order of its rows. */
typedef struct part {
    const hone_dataset *data;
    hone_dataset       *owned;          /* a window */
    hone_packing        packing;
    hone_permutation    order;
    bool                ordered;        /* rows are taken as `order` says, else as they are */
    hone_stream_place   from;           /* of a window: where it begins */
    bool                last;           /* its epoch ends with it */
} part;

/* Where a step begins: the first row of it that is left, in the order of the part. */
typedef struct place { int64_t step, epoch, row; } place;

struct hone_loader {
    const hone_options *o;
    hone_stream        *stream;         /* NULL: the data is held */
    hone_data_check     check;
    void               *check_arg;
    part                now;
    HONE_VEC(part)      past;           /* windows that the last plan borrows from */
    place               at;
    int64_t             first_epoch_steps, total;
    hone_vec_i64        begin;          /* of the step handed out */
    HONE_VEC(hone_sample) samples;
};

/* ---- parts ---- */

static void part_deinit(part *p)
{
    hone_packing_deinit(&p->packing);
    hone_dataset_destroy(&p->owned);
    p->data = NULL;
}

/* An epoch of data that is held is an order of its own; the rows of a window have been shuffled already, but packing listed
 * them by their first samples. */
static void order_part(hone_loader *l, part *p)
{
    int64_t stream = l->stream ? (p->from.epoch << 40 ^ p->from.row) : l->at.epoch;

    p->ordered = !l->o->disable_shuffling && (!l->stream || p->packing.length > 0);
    if (p->ordered)
        p->order = hone_permutation_make((uint64_t)l->o->data_seed, (uint64_t)stream, p->packing.rows);
}

static hone_status next_window(hone_loader *l)
{
    part        p = { .from = hone_stream_tell(l->stream) };
    hone_status st = HONE_OK;

    HONE_GO(hone_stream_next(l->stream, &p.owned, &p.last));
    p.data = p.owned;
    HONE_GO(l->check(l->check_arg, p.data));
    HONE_GO(hone_packing_make(&p.packing, p.data, l->o));
    order_part(l, &p);
    if (l->now.data)
        HONE_GO(HONE_VEC_PUSH(&l->past, l->now));
    l->now = p;
    l->at.epoch = p.from.epoch;
    l->at.row = 0;
    return HONE_OK;
out:
    part_deinit(&p);
    return st;
}

static void forget_past(hone_loader *l)
{
    for (size_t i = 0; i < l->past.len; i++)
        part_deinit(&l->past.data[i]);
    l->past.len = 0;
}

/* No row of the epoch is left. */
static bool at_end(const hone_loader *l) { return l->at.row == l->now.packing.rows && (!l->stream || l->now.last); }

/* Have a row at hand, unless the epoch is at its end. */
static hone_status have_row(hone_loader *l)
{
    while (l->at.row == l->now.packing.rows && !at_end(l))
        HONE_TRY(next_window(l));
    return HONE_OK;
}

/* Have the row at hand that a step begins with. */
static hone_status have_first_row(hone_loader *l)
{
    HONE_TRY(have_row(l));
    while (at_end(l)) {
        if (l->stream)
            HONE_TRY(next_window(l));
        else
            l->at = (place){ l->at.step, l->at.epoch + 1, 0 };
        order_part(l, &l->now);
        HONE_TRY(have_row(l));
    }
    return HONE_OK;
}

/* Back to step 0. */
static hone_status restart(hone_loader *l)
{
    l->at = (place){ 0, 0, 0 };
    if (!l->stream) {
        order_part(l, &l->now);
        return HONE_OK;
    }
    part_deinit(&l->now);
    HONE_TRY(hone_stream_seek(l->stream, &(hone_stream_place){ 0 }));
    return next_window(l);
}

/* ---- rows ---- */

/* The number of the row that a part has in place i. */
static int64_t row_at(const part *p, int64_t i) { return p->ordered ? hone_permutation_at(&p->order, i) : i; }

static int64_t row_tokens(const part *p, int64_t row)
{
    int64_t tokens = 0;

    for (int64_t k = 0; k < hone_packing_count(&p->packing, row); k++)
        tokens += hone_dataset_at(p->data, hone_packing_sample(&p->packing, row, k)).n;
    return tokens;
}

static hone_status take_row(hone_loader *l, hone_step_plan *plan, int64_t row)
{
    const part *p = &l->now;

    for (int64_t k = 0; k < hone_packing_count(&p->packing, row); k++) {
        hone_sample s = hone_dataset_at(p->data, hone_packing_sample(&p->packing, row, k));

        s.id += p->from.samples;
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

/* Take the rows of the next step, into the plan if there is one. */
static hone_status walk_step(hone_loader *l, hone_step_plan *plan)
{
    int64_t micro = l->o->per_device_train_batch_size, limit = rows_per_step(l->o), tokens = 0;

    HONE_TRY(have_first_row(l));
    for (int64_t n = 0; !at_end(l); n++) {
        int64_t row = row_at(&l->now, l->at.row), size = row_tokens(&l->now, row);

        if (by_tokens(l) ? n > 0 && tokens + size > l->o->global_batch_tokens : n == limit)
            break;
        tokens += size;
        if (plan && n % micro == 0)
            HONE_TRY(HONE_VEC_PUSH(&l->begin, (int64_t)l->samples.len));
        if (plan)
            HONE_TRY(take_row(l, plan, row));
        l->at.row++;
        HONE_TRY(have_row(l));
    }
    if (plan)
        plan->tokens = tokens;
    l->at.step++;
    return HONE_OK;
}

/* Stand at the beginning of a step. */
static hone_status seek_step(hone_loader *l, int64_t step)
{
    if (!l->stream && !by_tokens(l)) {
        l->at = (place){ step, step / l->first_epoch_steps, step % l->first_epoch_steps * rows_per_step(l->o) };
        order_part(l, &l->now);
        return HONE_OK;
    }
    if (step < l->at.step)
        HONE_TRY(restart(l));
    while (l->at.step < step) {
        forget_past(l);
        HONE_TRY(walk_step(l, NULL));
    }
    return HONE_OK;
}

/* Go through an epoch that begins here. */
static hone_status count_epoch(hone_loader *l, int64_t *steps)
{
    int64_t first = l->at.step;

    do
        HONE_TRY(walk_step(l, NULL));
    while (!at_end(l));
    *steps = l->at.step - first;
    return HONE_OK;
}

/* By tokens, epochs differ in their steps: each is counted. */
static hone_status count_all_epochs(hone_loader *l)
{
    double  epochs = l->o->num_train_epochs, whole = floor(epochs);
    int64_t steps = 0;

    HONE_CHECK(epochs <= 100000, HONE_E_USAGE,
               "num_train_epochs %g with global_batch_tokens: each epoch is counted at the start; set "
               "max_steps instead",
               epochs);
    for (int64_t e = 0; e < (int64_t)ceil(epochs); e++) {
        HONE_TRY(count_epoch(l, &steps));
        l->total += e < (int64_t)whole ? steps : (int64_t)ceil((epochs - whole) * (double)steps);
        if (e == 0)
            l->first_epoch_steps = steps;
    }
    return restart(l);
}

static hone_status count_steps(hone_loader *l)
{
    int64_t limit = rows_per_step(l->o);

    if (by_tokens(l) && l->o->max_steps <= 0)
        return count_all_epochs(l);
    if (by_tokens(l)) {
        HONE_TRY(count_epoch(l, &l->first_epoch_steps));
        HONE_TRY(restart(l));
    } else {
        l->first_epoch_steps = (l->now.packing.rows + limit - 1) / limit;
    }
    l->total = l->o->max_steps > 0 ? l->o->max_steps : (int64_t)ceil(l->o->num_train_epochs * (double)l->first_epoch_steps);
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
    l->o = o;
    l->now.data = data;
    HONE_GO_CHECK(hone_dataset_len(data) > 0, HONE_E_DATA, "the data set has no samples");
    HONE_GO(hone_packing_make(&l->now.packing, data, o));
    order_part(l, &l->now);
    HONE_GO(count_steps(l));
    HONE_GO_CHECK(l->total > 0, HONE_E_USAGE, "num_train_epochs %g makes no step", o->num_train_epochs);
out:
    if (st != HONE_OK)
        hone_loader_destroy(&l);
    *out = l;
    return st;
}

hone_status hone_loader_create_stream(hone_loader **out, hone_stream *stream, const hone_options *o, hone_data_check check,
                                      void *arg)
{
    hone_loader *l = hone_calloc(1, sizeof *l);
    hone_status  st;

    *out = NULL;
    if (!l)
        return HONE_E_NOMEM;
    *l = (hone_loader){ .o = o, .stream = stream, .check = check, .check_arg = arg, .first_epoch_steps = -1,
                        .total = o->max_steps };
    st = next_window(l);
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
    forget_past(l);
    HONE_VEC_DEINIT(&l->past);
    part_deinit(&l->now);
    HONE_VEC_DEINIT(&l->begin);
    HONE_VEC_DEINIT(&l->samples);
    hone_free(l);
    *loader = NULL;
}

int64_t hone_loader_total_steps(const hone_loader *l) { return l->total; }
int64_t hone_loader_epoch_steps(const hone_loader *l) { return l->first_epoch_steps; }
const hone_packing *hone_loader_packing(const hone_loader *l) { return &l->now.packing; }

/* Epochs done; of a stream, the share of the present one is known once the rows of an epoch have been counted. */
static double epochs_done(const hone_loader *l)
{
    double share = (double)l->at.row / (double)HONE_MAX(l->now.packing.rows, (int64_t)1);

    if (at_end(l))
        return (double)(l->at.epoch + 1);
    if (l->stream) {
        hone_stream_place next = hone_stream_tell(l->stream);
        int64_t           first = l->now.from.row, end = l->now.last ? next.epoch_rows : next.row;

        share = next.epoch_rows ? ((double)first + share * (double)(end - first)) / (double)next.epoch_rows : 0;
    }
    return (double)l->at.epoch + share;
}

hone_status hone_loader_step(hone_loader *l, int64_t step, hone_step_plan *out)
{
    HONE_CHECK(step >= 0, HONE_E_INTERNAL, "step %lld", (long long)step);
    forget_past(l);
    HONE_TRY(seek_step(l, step));
    l->begin.len = l->samples.len = 0;
    HONE_TRY(have_first_row(l));
    *out = (hone_step_plan){ .epoch = l->at.epoch };
    HONE_TRY(walk_step(l, out));
    HONE_TRY(HONE_VEC_PUSH(&l->begin, (int64_t)l->samples.len));
    out->ends_epoch = at_end(l);
    out->epoch_end = epochs_done(l);
    out->micro_batches = (int64_t)l->begin.len - 1;
    out->begin = l->begin.data;
    out->sample = l->samples.data;
    return HONE_OK;
}

/* ---- positions ---- */

void hone_loader_tell(const hone_loader *l, hone_str *out)
{
    bool              end = at_end(l);      /* the next step begins the next epoch */
    hone_stream_place from = l->stream && end ? hone_stream_tell(l->stream) : l->now.from;

    hone_str_printf(out, "{\"epoch\": %lld, \"row\": %lld", (long long)(end ? l->at.epoch + 1 : l->at.epoch),
                    (long long)(end ? 0 : l->at.row));
    if (l->stream) {
        hone_str_puts(out, ", \"window\": ");
        hone_stream_place_write(&from, out);
        if (!end)
            hone_str_printf(out, ", \"hash\": %lld", (long long)hone_stream_tell(l->stream).hash);
    }
    hone_str_putc(out, '}');
}

hone_status hone_loader_seek(hone_loader *l, int64_t step, const json_t *position)
{
    const json_t     *epoch = json_object_get(position, "epoch"), *row = json_object_get(position, "row");
    const json_t     *hash = json_object_get(position, "hash");     /* of what was read, the window included */
    hone_stream_place from;

    HONE_CHECK(json_is_integer(epoch) && json_is_integer(row) && json_integer_value(epoch) >= 0
               && json_integer_value(row) >= 0, HONE_E_FORMAT, "the checkpoint does not say where its data goes on; resume from "
               "another one");
    if (!l->stream && !by_tokens(l))
        return seek_step(l, step);
    forget_past(l);
    if (l->stream) {
        HONE_TRY(hone_stream_place_read(&from, json_object_get(position, "window")));
        part_deinit(&l->now);
        HONE_TRY(hone_stream_seek(l->stream, &from));
        HONE_TRY(next_window(l));
        HONE_CHECK(!hash || json_integer_value(hash) == hone_stream_tell(l->stream).hash, HONE_E_EXISTS, "the rows of the data "
                   "set are not those that the run was trained on so far; give another output_dir, or overwrite_output_dir: "
                   "true to start anew");
    }
    HONE_CHECK(json_integer_value(row) <= l->now.packing.rows, HONE_E_FORMAT, "the checkpoint goes on at row %lld of %lld of its "
               "data; it was changed: resume from another one", (long long)json_integer_value(row),
               (long long)l->now.packing.rows);
    l->at = (place){ step, json_integer_value(epoch), json_integer_value(row) };
    if (!l->stream)
        order_part(l, &l->now);
    return HONE_OK;
}
