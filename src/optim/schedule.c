#include "optim/schedule.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

static const double pi = 3.14159265358979323846;

/* ---- lr_scheduler_kwargs ----------------------------------------------------------------------------------------------- */

#define KIND(name) (1u << HONE_SCHEDULE_##name)

/* The numbers a schedule takes beside the options; null leaves the default. */
static const struct { const char *name; unsigned kinds; size_t field; double least; } numbers[] = {
    { "num_cycles", KIND(COSINE) | KIND(COSINE_WITH_RESTARTS) | KIND(COSINE_WITH_MIN_LR) | KIND(WARMUP_STABLE_DECAY),
      offsetof(hone_lr_schedule, cycles), 0 },
    { "lr_end", KIND(POLYNOMIAL), offsetof(hone_lr_schedule, floor), 0 },
    { "power", KIND(POLYNOMIAL), offsetof(hone_lr_schedule, power), 0 },
    { "timescale", KIND(INVERSE_SQRT), offsetof(hone_lr_schedule, timescale), 1 },
    { "min_lr", KIND(COSINE_WITH_MIN_LR), offsetof(hone_lr_schedule, floor), 0 },
    { "min_lr_rate", KIND(COSINE_WITH_MIN_LR), offsetof(hone_lr_schedule, floor), 0 },
    { "min_lr_ratio", KIND(WARMUP_STABLE_DECAY), offsetof(hone_lr_schedule, floor), 0 },
    { "num_stable_steps", KIND(WARMUP_STABLE_DECAY), offsetof(hone_lr_schedule, stable), 0 },
    { "num_decay_steps", KIND(WARMUP_STABLE_DECAY), offsetof(hone_lr_schedule, decay), 0 },
};
static const char *const ramps[] = { "linear", "cosine", "1-sqrt" };

static hone_status refuse(const char *key, const hone_lr_schedule *s)
{
    hone_str    names = HONE_STR_INIT;
    hone_status st;

    for (size_t i = 0; i < HONE_COUNTOF(numbers); i++)
        if (numbers[i].kinds >> s->kind & 1)
            hone_str_printf(&names, "%s%s", names.len ? ", " : "", numbers[i].name);
    if (s->kind == HONE_SCHEDULE_WARMUP_STABLE_DECAY)
        hone_str_puts(&names, ", warmup_type, decay_type (linear, cosine, 1-sqrt)");
    st = HONE_FAIL(HONE_E_USAGE, "lr_scheduler_kwargs: \"%s\" with this value is no argument of lr_scheduler_type: %s, which takes %s",
                   key, hone_option_choice("lr_scheduler_type", s->kind), names.len ? hone_str_c(&names) : "none");
    hone_str_deinit(&names);
    return st;
}

static hone_status set_argument(hone_lr_schedule *s, const char *key, const json_t *value)
{
    hone_ramp *ramp = strcmp(key, "warmup_type") == 0 ? &s->rise : strcmp(key, "decay_type") == 0 ? &s->fall : NULL;

    for (size_t i = 0; i < HONE_COUNTOF(numbers); i++) {
        if (strcmp(numbers[i].name, key) != 0 || !(numbers[i].kinds >> s->kind & 1))
            continue;
        if (json_is_null(value))
            return HONE_OK;
        if (!json_is_number(value) || !(json_number_value(value) >= numbers[i].least))
            return refuse(key, s);
        *(double *)((char *)s + numbers[i].field) = json_number_value(value);
        return HONE_OK;
    }
    for (size_t i = 0; ramp && s->kind == HONE_SCHEDULE_WARMUP_STABLE_DECAY && i < HONE_COUNTOF(ramps); i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), ramps[i]) == 0) {
            *ramp = (hone_ramp)i;
            return HONE_OK;
        }
    }
    return refuse(key, s);
}

static bool given(const json_t *kwargs, const char *key)
{
    const json_t *v = json_object_get(kwargs, key);

    return v && !json_is_null(v);
}

/* What follows from the arguments together. */
static hone_status settle(hone_lr_schedule *s, const json_t *kwargs)
{
    if (s->kind == HONE_SCHEDULE_COSINE_WITH_MIN_LR)
        HONE_CHECK(given(kwargs, "min_lr") != given(kwargs, "min_lr_rate"), HONE_E_USAGE, "lr_scheduler_type: cosine_with_min_lr "
                   "needs either min_lr or min_lr_rate in lr_scheduler_kwargs, such as {min_lr_rate: 0.1}");
    if (s->kind == HONE_SCHEDULE_POLYNOMIAL)
        HONE_CHECK(s->peak > s->floor, HONE_E_USAGE, "lr_scheduler_type: polynomial needs a learning_rate above lr_end, %g", s->floor);
    if (s->kind == HONE_SCHEDULE_POLYNOMIAL || (given(kwargs, "min_lr") && s->peak > 0))
        s->floor = s->floor / s->peak;      /* both are rates, not shares */
    return HONE_OK;
}

hone_status hone_lr_schedule_make(hone_lr_schedule *out, const hone_options *o, int64_t total)
{
    const char *key;
    json_t     *value;

    *out = (hone_lr_schedule){ .kind = (hone_schedule)o->lr_scheduler_type, .peak = o->learning_rate, .total = total };
    if (o->warmup_steps >= 1)
        out->warmup = (int64_t)o->warmup_steps;
    else
        out->warmup = (int64_t)ceil((double)total * (o->warmup_steps > 0 ? o->warmup_steps : o->warmup_ratio));
    if (out->kind == HONE_SCHEDULE_CONSTANT)
        out->warmup = 0;        /* constant_with_warmup is the one that warms up */
    out->cycles = out->kind == HONE_SCHEDULE_COSINE_WITH_RESTARTS ? 1 : 0.5;
    out->floor = out->kind == HONE_SCHEDULE_POLYNOMIAL ? 1e-7 : 0;
    out->power = 1;
    out->fall = HONE_RAMP_COSINE;
    out->timescale = out->warmup > 0 ? (double)out->warmup : 10000;
    out->stable = (double)(HONE_MAX(total - out->warmup, (int64_t)0) / 3);
    out->decay = (double)(total - out->warmup) - out->stable;
    json_object_foreach(o->lr_scheduler_kwargs, key, value)
        HONE_TRY(set_argument(out, key, value));
    return settle(out, o->lr_scheduler_kwargs);
}

/* ---- rates ------------------------------------------------------------------------------------------------------------- */

/* Rise, plateau at 1, fall to the floor; rises from the floor too. */
static double stable_decay(const hone_lr_schedule *s, double done)
{
    double p, factor = 1;

    if (done < (double)s->warmup) {
        p = done / (double)HONE_MAX(s->warmup, (int64_t)1);
        factor = s->rise == HONE_RAMP_LINEAR ? p : s->rise == HONE_RAMP_COSINE ? 0.5 * (1 - cos(pi * p)) : 1 - sqrt(1 - p);
    } else if (done < (double)s->warmup + s->stable) {
        return 1;
    } else if (done < (double)s->warmup + s->stable + s->decay) {
        p = (done - (double)s->warmup - s->stable) / fmax(1, s->decay);
        factor = s->fall == HONE_RAMP_LINEAR ? 1 - p
               : s->fall == HONE_RAMP_COSINE ? 0.5 * (1 + cos(pi * s->cycles * 2 * p)) : 1 - sqrt(p);
    } else {
        return s->floor;
    }
    return fmax(0, factor * (1 - s->floor) + s->floor);
}

/* The share of the peak. */
static double factor_at(const hone_lr_schedule *s, int64_t done)
{
    double left = (double)HONE_MAX(s->total - s->warmup, (int64_t)1);
    double progress = (double)(done - s->warmup) / left;

    if (s->kind == HONE_SCHEDULE_WARMUP_STABLE_DECAY)
        return stable_decay(s, (double)done);
    if (done < s->warmup)
        return (double)done / (double)HONE_MAX(s->warmup, (int64_t)1);
    switch (s->kind) {
    case HONE_SCHEDULE_LINEAR:
        return fmax(0, (double)(s->total - done) / left);
    case HONE_SCHEDULE_COSINE:
        return fmax(0, 0.5 * (1 + cos(pi * s->cycles * 2 * progress)));
    case HONE_SCHEDULE_COSINE_WITH_RESTARTS:
        return progress >= 1 ? 0 : fmax(0, 0.5 * (1 + cos(pi * fmod(s->cycles * progress, 1))));
    case HONE_SCHEDULE_COSINE_WITH_MIN_LR:
        return fmax(0, 0.5 * (1 + cos(pi * s->cycles * 2 * progress)) * (1 - s->floor) + s->floor);
    case HONE_SCHEDULE_POLYNOMIAL:
        return done > s->total ? s->floor : (1 - s->floor) * pow(1 - progress, s->power) + s->floor;
    case HONE_SCHEDULE_INVERSE_SQRT:
        return 1 / sqrt(((double)(done - s->warmup) + s->timescale) / s->timescale);
    default:
        return 1;
    }
}

double hone_lr_at(const hone_lr_schedule *s, int64_t done) { return s->peak * factor_at(s, done); }
