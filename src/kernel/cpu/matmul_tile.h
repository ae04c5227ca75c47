/*
 * kernel/cpu/matmul_tile.h -- the micro-kernel of every set whose steps multiply vectors by one broadcast element.
 *
 * Included by matmul_<isa>.c after it has defined
 *   TILE_NAME                     name of the function to define (a hone_mm_tile_fn)
 *   TILE_MR, TILE_NV              rows (1 … 8) and vectors (1 … 4) of the full tile
 *   TILE_VEC, TILE_LANES          type of an accumulator and its floats
 *   TILE_OP                       type of an operand vector
 *   TILE_SPLAT(ptr)               operand vector with the element at ptr in all lanes
 *   TILE_MADD(a, b, c)            a·b + c
 *
 * Accumulators are named variables: arrays of vectors end up in memory with gcc 12.
 */
#define TILE_CAT_(a, b) a##b
#define TILE_CAT(a, b) TILE_CAT_(a, b)

#define TILE_ROWS1(M) M(0)
#define TILE_ROWS2(M) TILE_ROWS1(M) M(1)
#define TILE_ROWS3(M) TILE_ROWS2(M) M(2)
#define TILE_ROWS4(M) TILE_ROWS3(M) M(3)
#define TILE_ROWS5(M) TILE_ROWS4(M) M(4)
#define TILE_ROWS6(M) TILE_ROWS5(M) M(5)
#define TILE_ROWS7(M) TILE_ROWS6(M) M(6)
#define TILE_ROWS8(M) TILE_ROWS7(M) M(7)

#define TILE_COLS1(M, r) M(r, 0)
#define TILE_COLS2(M, r) TILE_COLS1(M, r) M(r, 1)
#define TILE_COLS3(M, r) TILE_COLS2(M, r) M(r, 2)
#define TILE_COLS4(M, r) TILE_COLS3(M, r) M(r, 3)

#define TILE_ZERO(r, v)  TILE_VEC c##r##v = { 0 };
#define TILE_LOADB(r, v) TILE_OP b##v = ((const TILE_OP *)b)[v];
#define TILE_FMA(r, v)   c##r##v = TILE_MADD(a##r, b##v, c##r##v);
#define TILE_PUT(r, v)   { TILE_VEC *o = (TILE_VEC *)(c + r * TILE_NR) + v; if (add) c##r##v += *o; *o = c##r##v; }

#define TILE_DECLARE1(r) TILE_COLS1(TILE_ZERO, r)
#define TILE_DECLARE2(r) TILE_COLS2(TILE_ZERO, r)
#define TILE_DECLARE3(r) TILE_COLS3(TILE_ZERO, r)
#define TILE_DECLARE4(r) TILE_COLS4(TILE_ZERO, r)
#define TILE_STEP1(r) { TILE_OP a##r = TILE_SPLAT(pa + r * a.row); TILE_COLS1(TILE_FMA, r) }
#define TILE_STEP2(r) { TILE_OP a##r = TILE_SPLAT(pa + r * a.row); TILE_COLS2(TILE_FMA, r) }
#define TILE_STEP3(r) { TILE_OP a##r = TILE_SPLAT(pa + r * a.row); TILE_COLS3(TILE_FMA, r) }
#define TILE_STEP4(r) { TILE_OP a##r = TILE_SPLAT(pa + r * a.row); TILE_COLS4(TILE_FMA, r) }
#define TILE_STORE1(r) TILE_COLS1(TILE_PUT, r)
#define TILE_STORE2(r) TILE_COLS2(TILE_PUT, r)
#define TILE_STORE3(r) TILE_COLS3(TILE_PUT, r)
#define TILE_STORE4(r) TILE_COLS4(TILE_PUT, r)

#define TILE_NR (TILE_NV * TILE_LANES)

#define TILE_CASE(R, V)                                             \
    case (V - 1) * 8 + R: {                                         \
        TILE_ROWS##R(TILE_DECLARE##V)                               \
        for (int64_t s = 0; s < steps; s++) {                       \
            TILE_COLS##V(TILE_LOADB, 0)                             \
            TILE_ROWS##R(TILE_STEP##V)                              \
            pa += a.step;                                           \
            b += V * sizeof(TILE_OP);                               \
        }                                                           \
        TILE_ROWS##R(TILE_STORE##V)                                 \
        return;                                                     \
    }

#if TILE_MR == 4
#define TILE_CASES(V) TILE_CASE(1, V) TILE_CASE(2, V) TILE_CASE(3, V) TILE_CASE(4, V)
#elif TILE_MR == 6
#define TILE_CASES(V) TILE_CASE(1, V) TILE_CASE(2, V) TILE_CASE(3, V) TILE_CASE(4, V) TILE_CASE(5, V) TILE_CASE(6, V)
#else
#error "write the list of cases for this number of rows"
#endif

static void TILE_NAME(float *c, hone_mm_rows a, const void *panel, int64_t steps, int rows, int width, bool add)
{
    const char *pa = a.data, *b = panel;

    switch ((width / TILE_LANES - 1) * 8 + rows) {
    TILE_CASES(1)
#if TILE_NV >= 2
    TILE_CASES(2)
#endif
#if TILE_NV >= 4
    TILE_CASES(3)
    TILE_CASES(4)
#endif
    }
}
