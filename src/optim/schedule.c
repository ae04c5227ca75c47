#include "optim/schedule.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

hone_status hone_lr_schedule_make(hone_lr_schedule *out, const hone_options *o, int64_t total)
{
    const char *key;
    json_t     *value;

    *out = (hone_lr_schedule){ .kind = (hone_schedule)o->lr_scheduler_type, .peak = o->learning_rate, .total = total, .cycles = 0.5 };
    if (o->warmup_steps >= 1)
        out->warmup = (int64_t)o->warmup_steps;
    else
        out->warmup = (int64_t)ceil((double)total * (o->warmup_steps > 0 ? o->warmup_steps : o->warmup_ratio));
    if (out->kind == HONE_SCHEDULE_CONSTANT)
        out->warmup = 0;        /* constant_with_warmup is the one that warms up */
    if (!o->lr_scheduler_kwargs)
        return HONE_OK;
    json_object_foreach(o->lr_scheduler_kwargs, key, value) {
        HONE_CHECK(out->kind == HONE_SCHEDULE_COSINE && strcmp(key, "num_cycles") == 0 && json_is_number(value), HONE_E_USAGE,
                   "lr_scheduler_kwargs: \"%s\" is not an argument of lr_scheduler_type: %s; cosine takes num_cycles, a number",
                   key, hone_option_choice("lr_scheduler_type", o->lr_scheduler_type));
        out->cycles = json_number_value(value);
    }
    return HONE_OK;
}

double hone_lr_at(const hone_lr_schedule *s, int64_t done)
{
    const double pi = 3.14159265358979323846;
    double       left, progress;

    if (done < s->warmup)
        return s->peak * ((double)done / (double)HONE_MAX(s->warmup, (int64_t)1));
    left = (double)HONE_MAX(s->total - s->warmup, (int64_t)1);
    progress = (double)(done - s->warmup) / left;
    switch (s->kind) {
    case HONE_SCHEDULE_LINEAR:
        return s->peak * fmax(0, (double)(s->total - done) / left);
    case HONE_SCHEDULE_COSINE:
        return s->peak * fmax(0, 0.5 * (1 + cos(pi * s->cycles * 2 * progress)));
    default:
        return s->peak;
    }
}
