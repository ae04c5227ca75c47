#include "tensor/dtype.h"

#include <math.h>

static const struct { size_t bytes; const char *file, *config; } dtypes[HONE_DTYPE_COUNT] = {
#define ROW_(name, bytes, file, config) [HONE_DTYPE_##name] = { bytes, file, config },
    HONE_DTYPE_LIST(ROW_)
#undef ROW_
};

size_t hone_dtype_bytes(hone_dtype d) { return dtypes[d].bytes; }
const char *hone_dtype_file_name(hone_dtype d) { return dtypes[d].file; }
const char *hone_dtype_config_name(hone_dtype d) { return dtypes[d].config; }

bool hone_dtype_parse(hone_dtype *out, const char *name)
{
    for (int d = 0; d < HONE_DTYPE_COUNT; d++)
        if (strcmp(name, dtypes[d].file) == 0 || strcmp(name, dtypes[d].config) == 0) {
            *out = (hone_dtype)d;
            return true;
        }
    return false;
}

float hone_f16_to_f32(uint16_t v)
{
    int   exponent = v >> 10 & 0x1F, fraction = v & 0x3FF;
    float f;

    if (exponent == 0x1F)
        f = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        f = ldexpf((float)fraction, -24);
    else
        f = ldexpf((float)(fraction | 0x400), exponent - 25);
    return v & 0x8000 ? -f : f;
}

uint16_t hone_f32_to_f16(float f)
{
    uint16_t sign = signbit(f) ? 0x8000 : 0;
    float    a = fabsf(f);
    int      e;

    if (isnan(f))
        return (uint16_t)(sign | 0x7E00);
    if (a >= 65520.0f)
        return (uint16_t)(sign | 0x7C00);
    if (a < 0x1p-14f)   /* subnormal: in steps of 2^-24; rounding up to the smallest normal falls out right */
        return (uint16_t)(sign | (uint16_t)nearbyintf(ldexpf(a, 24)));
    frexpf(a, &e);      /* a = m · 2^e, m in [0.5, 1) */
    return (uint16_t)(sign | (((uint32_t)(e + 14) << 10) + ((uint32_t)nearbyintf(ldexpf(a, 11 - e)) - 1024)));
}

static bool floating(hone_dtype d)
{
    return d == HONE_DTYPE_F32 || d == HONE_DTYPE_BF16 || d == HONE_DTYPE_F16 || d == HONE_DTYPE_F64;
}

static double load(const void *p, hone_dtype d, int64_t i)
{
    switch (d) {
    case HONE_DTYPE_F32:  return (double)((const float *)p)[i];
    case HONE_DTYPE_F64:  return ((const double *)p)[i];
    case HONE_DTYPE_BF16: return (double)hone_bf16_to_f32(((const uint16_t *)p)[i]);
    default:              return (double)hone_f16_to_f32(((const uint16_t *)p)[i]);
    }
}

/* A double on its way to a 16-bit type must not be rounded twice: round to odd in f32 keeps the second rounding right. */
static float to_f32_odd(double v)
{
    float    f = (float)v;
    uint32_t u;

    if (isfinite(v) && (double)f != v && isfinite(f)) {
        if (fabs((double)f) > fabs(v))
            f = nextafterf(f, 0.0f);
        memcpy(&u, &f, 4);
        u |= 1;
        memcpy(&f, &u, 4);
    }
    return f;
}

bool hone_dtype_convert(void *to, hone_dtype to_type, const void *from, hone_dtype from_type, int64_t n)
{
    if (to_type == from_type) {
        memcpy(to, from, (size_t)n * hone_dtype_bytes(to_type));
        return true;
    }
    if (!floating(to_type) || !floating(from_type))
        return false;
    if (to_type == HONE_DTYPE_F32 && from_type == HONE_DTYPE_BF16) {
        for (int64_t i = 0; i < n; i++)
            ((float *)to)[i] = hone_bf16_to_f32(((const uint16_t *)from)[i]);
        return true;
    }
    if (to_type == HONE_DTYPE_BF16 && from_type == HONE_DTYPE_F32) {
        for (int64_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = hone_f32_to_bf16(((const float *)from)[i]);
        return true;
    }
    for (int64_t i = 0; i < n; i++) {
        double v = load(from, from_type, i);

        switch (to_type) {
        case HONE_DTYPE_F32:  ((float *)to)[i] = (float)v; break;
        case HONE_DTYPE_F64:  ((double *)to)[i] = v; break;
        case HONE_DTYPE_BF16: ((uint16_t *)to)[i] = hone_f32_to_bf16(to_f32_odd(v)); break;
        default:              ((uint16_t *)to)[i] = hone_f32_to_f16(to_f32_odd(v)); break;
        }
    }
    return true;
}
