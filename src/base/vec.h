/*
 * base/vec.h -- growable arrays: any struct with fields `data`, `len`, `cap`.
 *
 *     typedef struct ids { int32_t *data; size_t len, cap; } ids;
 *     HONE_TRY(HONE_VEC_PUSH(&v, 7));
 */
#ifndef HONE_BASE_VEC_H
#define HONE_BASE_VEC_H

#include "base/mem.h"

#define HONE_VEC(type) struct { type *data; size_t len, cap; }

/* Room for `n` more elements. */
#define HONE_VEC_RESERVE(v, n) \
    hone_vec_reserve_((void **)&(v)->data, (v)->len, &(v)->cap, (n), sizeof *(v)->data)
/* Append one element; E_NOMEM leaves the array as it was. */
#define HONE_VEC_PUSH(v, ...) \
    (HONE_VEC_RESERVE((v), 1) == HONE_OK ? ((v)->data[(v)->len++] = (__VA_ARGS__), HONE_OK) : HONE_E_NOMEM)
#define HONE_VEC_DEINIT(v) do { hone_free((v)->data); (v)->data = NULL; (v)->len = (v)->cap = 0; } while (0)

typedef HONE_VEC(int32_t) hone_vec_i32;
typedef HONE_VEC(int64_t) hone_vec_i64;

static inline hone_status hone_vec_reserve_(void **data, size_t len, size_t *cap, size_t n, size_t size)
{
    size_t want = len + n, grown = *cap + *cap / 2 + 8;
    void  *p;

    if (want <= *cap)
        return HONE_OK;
    if (grown < want)
        grown = want;
    p = hone_realloc(*data, grown, size);
    if (!p)
        return HONE_E_NOMEM;
    *data = p;
    *cap = grown;
    return HONE_OK;
}

#endif /* HONE_BASE_VEC_H */
