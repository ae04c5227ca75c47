#include "tensor/dtype.h"

#include <math.h>

#include "base/status.h"

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
    uint32_t sign = (uint32_t)(v & 0x8000) << 16, u = (uint32_t)(v & 0x7FFF) << 13;
    float    f;

    if (u >= 0x1Fu << 23)               /* infinity, NaN: the widest exponent; a NaN made quiet */
        u += 0x70000000u | (u > 0x1Fu << 23 ? 0x400000u & ~u : 0);
    else if (u >= 1u << 23)             /* normal: another bias, 127 for 15 */
        u += 112u << 23;
    else {                              /* subnormal: steps of 2^-24, exact in f32 */
        f = (float)(v & 0x7FFF) * 0x1p-24f;
        memcpy(&u, &f, 4);
    }
    u |= sign;
    memcpy(&f, &u, 4);
    return f;
}

uint16_t hone_f32_to_f16(float f)
{
    uint32_t u, sign;

    memcpy(&u, &f, 4);
    sign = u >> 16 & 0x8000;
    u &= 0x7FFFFFFFu;
    if (u > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00);
    if (u >= 0x477FF000u)               /* 65520: halfway to the number after the largest */
        return (uint16_t)(sign | 0x7C00);
    if (u < 0x38800000u) {              /* below 2^-14: the sum has steps of 2^-24, so the addition rounds as f16 does */
        memcpy(&f, &u, 4);
        f += 0.5f;
        memcpy(&u, &f, 4);
        return (uint16_t)(sign | (u - 0x3F000000u));
    }
    return (uint16_t)(sign | (u - (112u << 23) + 0xFFFu + (u >> 13 & 1)) >> 13);
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

static inline float  same(float v) { return v; }
static inline float  to_f32(double v) { return (float)v; }
static inline double to_f64(float v) { return (double)v; }
static inline uint16_t f64_to_bf16(double v) { return hone_f32_to_bf16(to_f32_odd(v)); }
static inline uint16_t f64_to_f16(double v) { return hone_f32_to_f16(to_f32_odd(v)); }

/* X(to, its C type, from, its C type, last step of, first step): element = last(first(bits)). */
#define PAIRS(X)                                                    \
    X(F32,  float,    BF16, uint16_t, same,             hone_bf16_to_f32) \
    X(F32,  float,    F16,  uint16_t, same,             hone_f16_to_f32)  \
    X(F32,  float,    F64,  double,   to_f32,           )                 \
    X(BF16, uint16_t, F32,  float,    hone_f32_to_bf16, same)             \
    X(BF16, uint16_t, F16,  uint16_t, hone_f32_to_bf16, hone_f16_to_f32)  \
    X(BF16, uint16_t, F64,  double,   f64_to_bf16,      )                 \
    X(F16,  uint16_t, F32,  float,    hone_f32_to_f16,  same)             \
    X(F16,  uint16_t, BF16, uint16_t, hone_f32_to_f16,  hone_bf16_to_f32) \
    X(F16,  uint16_t, F64,  double,   f64_to_f16,       )                 \
    X(F64,  double,   F32,  float,    to_f64,           same)             \
    X(F64,  double,   BF16, uint16_t, to_f64,           hone_bf16_to_f32) \
    X(F64,  double,   F16,  uint16_t, to_f64,           hone_f16_to_f32)

/* Elements move through memcpy, which any alignment suits and compilers turn into plain loads. */
#define DEFINE_(to, to_c, from, from_c, last, first)                                      \
    static void convert_##to##_##from(char *d, const char *s, int64_t n)                  \
    {                                                                                     \
        for (int64_t i = 0; i < n; i++) {                                                 \
            from_c v;                                                                     \
            to_c   r;                                                                     \
                                                                                          \
            memcpy(&v, s + i * (int64_t)sizeof v, sizeof v);                              \
            r = last(first(v));                                                           \
            memcpy(d + i * (int64_t)sizeof r, &r, sizeof r);                              \
        }                                                                                 \
    }
PAIRS(DEFINE_)

bool hone_dtype_is_floating(hone_dtype d)
{
    return d == HONE_DTYPE_F32 || d == HONE_DTYPE_BF16 || d == HONE_DTYPE_F16 || d == HONE_DTYPE_F64;
}

bool hone_dtype_convert(void *to, hone_dtype to_type, const void *from, hone_dtype from_type, int64_t n)
{
    static void (*const convert[HONE_DTYPE_COUNT][HONE_DTYPE_COUNT])(char *, const char *, int64_t) = {
#define ENTRY_(to, to_c, from, from_c, last, first) [HONE_DTYPE_##to][HONE_DTYPE_##from] = convert_##to##_##from,
        PAIRS(ENTRY_)
    };

    if (to_type == from_type)
        memcpy(to, from, (size_t)n * hone_dtype_bytes(to_type));
    else if (convert[to_type][from_type])
        convert[to_type][from_type](to, from, n);
    else
        return false;
    return true;
}

#define DEFINE_NONFINITE_(name, type, exponent)                         \
    static int64_t name(const char *p, int64_t n)                       \
    {                                                                   \
        for (int64_t i = 0; i < n;) {                                   \
            int64_t end = HONE_MIN(n, i + 1024), k = i;                 \
            int     bad = 0;                                            \
            type    v;                                                  \
                                                                        \
            for (; k < end; k++) {  /* no early end: a vector loop */   \
                memcpy(&v, p + k * (int64_t)sizeof v, sizeof v);        \
                bad |= (v & (exponent)) == (exponent);                  \
            }                                                           \
            for (k = i; bad && k < end; k++) {                          \
                memcpy(&v, p + k * (int64_t)sizeof v, sizeof v);        \
                if ((v & (exponent)) == (exponent))                     \
                    return k;                                           \
            }                                                           \
            i = end;                                                    \
        }                                                               \
        return n;                                                       \
    }
DEFINE_NONFINITE_(nonfinite_f32, uint32_t, 0x7F800000u)
DEFINE_NONFINITE_(nonfinite_f64, uint64_t, 0x7FF0000000000000u)
DEFINE_NONFINITE_(nonfinite_bf16, uint16_t, 0x7F80u)
DEFINE_NONFINITE_(nonfinite_f16, uint16_t, 0x7C00u)

int64_t hone_dtype_first_nonfinite(const void *data, hone_dtype d, int64_t n)
{
    switch (d) {
    case HONE_DTYPE_F32:  return nonfinite_f32(data, n);
    case HONE_DTYPE_F64:  return nonfinite_f64(data, n);
    case HONE_DTYPE_BF16: return nonfinite_bf16(data, n);
    case HONE_DTYPE_F16:  return nonfinite_f16(data, n);
    default:              return n;
    }
}
