#include "nn/rope.h"

#include <math.h>

#include "op/scope.h"

static const double pi = 3.14159265358979323846;

/* base^(2i/dim) as the reference has it: the exponent and the power in f32. */
static float power(double base, int64_t i, int64_t dim) { return powf((float)base, (float)(2 * i) / (float)dim); }

static void plain(float *inv_freq, double base, int64_t dim)
{
    for (int64_t i = 0; i < (dim + 1) / 2; i++)
        inv_freq[i] = 1.0f / power(base, i, dim);
}

/* x / t as the reference has it for a number and an f32 array: by the reciprocal, rounded twice. */
static float over(double x, float t) { return (float)x * (1.0f / t); }

static void llama3(float *inv_freq, const hone_rope_spec *s)
{
    float low = (float)(s->original_max_positions / s->low_freq_factor);
    float high = (float)(s->original_max_positions / s->high_freq_factor);

    plain(inv_freq, s->base, s->dim);
    for (int64_t i = 0; i < hone_rope_pairs(s); i++) {
        float wavelength = over(2 * pi, inv_freq[i]);
        float smooth = (over(s->original_max_positions, wavelength) - (float)s->low_freq_factor)
                       / (float)(s->high_freq_factor - s->low_freq_factor);

        if (wavelength > low)
            inv_freq[i] /= (float)s->factor;
        else if (!(wavelength < high))
            inv_freq[i] = (1 - smooth) * inv_freq[i] / (float)s->factor + smooth * inv_freq[i];
    }
}

static double yarn_mscale(double scale, double mscale) { return scale <= 1 ? 1 : 0.1 * mscale * log(scale) + 1; }

/* The dimension whose wave turns `rotations` times over the original context. */
static double correction_dim(const hone_rope_spec *s, double rotations)
{
    return (double)s->dim * log(s->original_max_positions / (rotations * 2 * pi)) / (2 * log(s->base));
}

static double yarn(float *inv_freq, const hone_rope_spec *s)
{
    double low = correction_dim(s, s->beta_fast), high = correction_dim(s, s->beta_slow);

    if (s->truncate) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, (double)(s->dim - 1));
    if (low == high)
        high += 0.001;      /* a step instead of a ramp */
    for (int64_t i = 0; i < hone_rope_pairs(s); i++) {
        float p = power(s->base, i, s->dim);
        float ramp = fminf(fmaxf(((float)i - (float)low) / (float)(high - low), 0), 1);
        float keep = 1 - ramp;

        inv_freq[i] = 1.0f / ((float)s->factor * p) * (1 - keep) + 1.0f / p * keep;
    }
    if (s->attention_factor >= 0)
        return s->attention_factor;
    if (s->mscale != 0 && s->mscale_all_dim != 0)
        return yarn_mscale(s->factor, s->mscale) / yarn_mscale(s->factor, s->mscale_all_dim);
    return yarn_mscale(s->factor, 1);
}

static double longrope(float *inv_freq, const hone_rope_spec *s, int64_t length)
{
    const float *stretch = (double)length > s->original_max_positions ? s->long_factor : s->short_factor;

    for (int64_t i = 0; i < hone_rope_pairs(s); i++)
        inv_freq[i] = 1.0f / (stretch[i] * power(s->base, i, s->dim));
    if (s->attention_factor >= 0)
        return s->attention_factor;
    return s->factor <= 1 ? 1 : sqrt(1 + log(s->factor) / log(s->original_max_positions));
}

double hone_rope_frequencies(float *inv_freq, const hone_rope_spec *s, int64_t length)
{
    switch (s->type) {
    case HONE_ROPE_LINEAR:
        plain(inv_freq, s->base, s->dim);
        for (int64_t i = 0; i < hone_rope_pairs(s); i++)
            inv_freq[i] /= (float)s->factor;
        return 1;
    case HONE_ROPE_DYNAMIC: {       /* in f32, as the reference has it: there the length is a tensor */
        float grown = (float)s->factor * (float)length / (float)s->max_positions - (float)(s->factor - 1);
        float stretch = (float)pow((double)grown, (double)s->dim / (double)(s->dim - 2));

        plain(inv_freq, (double)length > s->max_positions ? (double)(stretch * (float)s->base) : s->base, s->dim);
        return 1;
    }
    case HONE_ROPE_YARN:
        return yarn(inv_freq, s);
    case HONE_ROPE_LLAMA3:
        llama3(inv_freq, s);
        return 1;
    case HONE_ROPE_LONGROPE:
        return longrope(inv_freq, s, length);
    default:
        plain(inv_freq, s->base, s->dim);
        return 1;
    }
}

static float growth(const hone_rope_spec *s, int32_t position)
{
    return s->growth == 0 ? 1 : 1 + (float)s->growth * logf(1 + floorf((float)position / (float)s->original_max_positions));
}

/* A row of cosines and sines: those of one position. */
static void fill_row(float *cosines, float *sines, const hone_rope_spec *s, const float *inv_freq, double factor, int32_t position)
{
    float scale = (float)factor * growth(s, position), sign = s->reversed ? -scale : scale;

    for (int64_t i = 0; i < hone_rope_pairs(s); i++) {
        float angle = (float)position * inv_freq[i];

        cosines[i] = (float)cos((double)angle) * scale;
        sines[i] = (float)sin((double)angle) * sign;
    }
}

static void fill(const hone_batch *b, const hone_rope_spec *s, float *inv_freq, hone_rope_table *table)
{
    float  *cosines = hone_tensor_data(table->cos), *sines = hone_tensor_data(table->sin);
    int64_t pairs = hone_rope_pairs(s);
    double  factor = 1;

    for (int64_t sample = 0; sample < b->samples; sample++) {
        if (sample == 0 || s->type == HONE_ROPE_DYNAMIC || s->type == HONE_ROPE_LONGROPE)
            factor = hone_rope_frequencies(inv_freq, s, hone_batch_sample_length(b, sample));
        for (int64_t t = b->cu[sample]; t < b->cu[sample + 1]; t++)
            fill_row(cosines + t * pairs, sines + t * pairs, s, inv_freq, factor, b->positions[t]);
    }
}

const hone_rope_table *hone_rope_tables(hone_ctx *ctx, hone_batch *b, const hone_rope_spec *spec)
{
    hone_rope_table table = { .spec = spec };
    int64_t         dims[2] = { b->tokens, hone_rope_pairs(spec) };
    float          *inv_freq;

    if (ctx->status != HONE_OK)
        return NULL;
    for (size_t i = 0; i < b->ropes.len; i++)
        if (b->ropes.data[i].spec == spec)
            return &b->ropes.data[i];
    table.cos = hone_tensor_create(ctx->device, HONE_DTYPE_F32, 2, dims);
    table.sin = hone_tensor_create(ctx->device, HONE_DTYPE_F32, 2, dims);
    inv_freq = hone_calloc((size_t)hone_rope_pairs(spec), sizeof *inv_freq);
    if (table.cos && table.sin && inv_freq && hone_device_has_data(ctx->device))
        fill(b, spec, inv_freq, &table);
    hone_free(inv_freq);
    if (!table.cos || !table.sin || !inv_freq || HONE_VEC_PUSH(&b->ropes, table) != HONE_OK) {
        hone_tensor_release(&table.cos);
        hone_tensor_release(&table.sin);
        hone_ctx_fail(ctx, HONE_E_NOMEM);
        return NULL;
    }
    return &b->ropes.data[b->ropes.len - 1];
}
