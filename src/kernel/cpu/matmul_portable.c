/* Matrix products in plain C for any processor: vectors of four floats by the compilers' vector extension. */
#include "kernel/cpu/pack.h"

typedef float vec4 __attribute__((vector_size(16), aligned(4), may_alias));

enum { MR = 4, NR = 8, VEC = 4 };

static inline vec4 splat(const char *p)
{
    float f;

    memcpy(&f, p, 4);
    return (vec4){ f, f, f, f };
}

#define TILE_NAME tile
#define TILE_MR 4
#define TILE_NV 2
#define TILE_VEC vec4
#define TILE_OP vec4
#define TILE_LANES VEC
#define TILE_SPLAT(p) splat(p)
#define TILE_MADD(a, b, c) ((a) * (b) + (c))
#include "kernel/cpu/matmul_tile.h"

PACK_INLINE void pack_b(float *dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc, bool bf16)
{
    if (b->along_p)
        pack_b_transpose_f32(dst, b, j0, cols, p0, kc, VEC, bf16);
    else
        pack_b_runs_f32(dst, b, j0, cols, p0, kc, NR, VEC, bf16);
}

#define SET portable
#define SET_ISA HONE_ISA_PORTABLE
#define SET_KC 256
#define SET_MC 256
#define SET_NC 256
#include "kernel/cpu/matmul_set.h"
