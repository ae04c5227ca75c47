/*
 * tensor/dtype.h -- element types: what tensors hold and what safetensors files name.
 */
#ifndef HONE_TENSOR_DTYPE_H
#define HONE_TENSOR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* X(name, bytes per element, name in safetensors files, name in config.json) */
#define HONE_DTYPE_LIST(X)            \
    X(F32,  4, "F32",  "float32")     \
    X(BF16, 2, "BF16", "bfloat16")    \
    X(F64,  8, "F64",  "float64")     \
    X(F16,  2, "F16",  "float16")     \
    X(I64,  8, "I64",  "int64")       \
    X(I32,  4, "I32",  "int32")       \
    X(I16,  2, "I16",  "int16")       \
    X(I8,   1, "I8",   "int8")        \
    X(U8,   1, "U8",   "uint8")       \
    X(BOOL, 1, "BOOL", "bool")

typedef enum hone_dtype {
#define HONE_DTYPE_ENUM_(name, bytes, file, config) HONE_DTYPE_##name,
    HONE_DTYPE_LIST(HONE_DTYPE_ENUM_)
#undef HONE_DTYPE_ENUM_
    HONE_DTYPE_COUNT
} hone_dtype;

size_t      hone_dtype_bytes(hone_dtype d);
const char *hone_dtype_file_name(hone_dtype d);     /* "BF16" */
const char *hone_dtype_config_name(hone_dtype d);   /* "bfloat16" */
/* Accepts both spellings; false if unknown. */
bool        hone_dtype_parse(hone_dtype *out, const char *name);

/* bfloat16 is the upper half of a float. Rounding is to nearest, ties to even; a NaN stays a (quiet) NaN. */
static inline float hone_bf16_to_f32(uint16_t v)
{
    uint32_t u = (uint32_t)v << 16;
    float    f;

    memcpy(&f, &u, 4);
    return f;
}

static inline uint16_t hone_f32_to_bf16(float f)
{
    uint32_t u;

    memcpy(&u, &f, 4);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u)
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7FFFu + (u >> 16 & 1)) >> 16);
}

float    hone_f16_to_f32(uint16_t v);
uint16_t hone_f32_to_f16(float f);      /* to nearest, ties to even; overflow gives infinity */

/* F32, BF16, F16 or F64. */
bool hone_dtype_is_floating(hone_dtype d);
/* Convert n elements between floating dtypes, rounding once, to nearest even; equal dtypes of any kind are copied. `to` and
 * `from` do not overlap and may be unaligned (tensors in a mapped file can be). Returns false if a conversion is asked for
 * and one of the dtypes is not floating. */
bool hone_dtype_convert(void *to, hone_dtype to_type, const void *from, hone_dtype from_type, int64_t n);
/* Index of the first NaN or infinity among n elements (may be unaligned), or n; dtypes that are not floating have none. */
int64_t hone_dtype_first_nonfinite(const void *data, hone_dtype d, int64_t n);

#endif /* HONE_TENSOR_DTYPE_H */
