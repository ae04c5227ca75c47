/*
 * Matrix products of bf16 with AMX: tiles of 32 x 32 in four accumulators, two tile registers for each operand.
 *
 * A step takes 32 p's: c = c + (E + O), where E and O are FMA chains from zero over the even and the odd p's, with
 * denormals taken as zero (TDPBF16PS). A block of p goes on from the sums of the blocks before it. Rows, columns and
 * p's that are not there are packed as zeros, so every tile is a whole one and one configuration serves all.
 *
 * The operations on tiles are macros, so that a test can put plain C in their place (tests/support/amx_emulated.c).
 */
#if defined(__x86_64__)
#include <immintrin.h>

#include "kernel/cpu/pack.h"
#include "kernel/cpu/pairs_avx512.h"

#ifndef AMX_SET
#define AMX_SET hone_mm_amx
#define AMX_ISA HONE_ISA_AMX
#define AMX_CONFIGURE(config) _tile_loadconfig(config)
#define AMX_RELEASE() _tile_release()
#define AMX_ZERO(t) _tile_zero(t)
#define AMX_LOAD(t, base, stride) _tile_loadd(t, base, stride)
#define AMX_STREAM(t, base, stride) _tile_stream_loadd(t, base, stride)     /* passes by the first-level cache */
#define AMX_STORE(t, base, stride) _tile_stored(t, base, stride)
#define AMX_DOT(c, a, b) _tile_dpbf16ps(c, a, b)
#endif

enum { MR = 32, NR = 32, SIDE = 16, DEPTH = 32, ROW_BYTES = 64, TILE_BYTES = SIDE * ROW_BYTES };

/* The operand of LDTILECFG (Intel 64 and IA-32 Software Developer's Manual, volume 2, LDTILECFG). */
typedef struct tile_config {
    uint8_t  palette, start_row, reserved[14];
    uint16_t bytes[16];             /* of a row */
    uint8_t  rows[16];
} tile_config;

static void enter(void)
{
    tile_config config = { .palette = 1 };

    for (int t = 0; t < 8; t++) {
        config.bytes[t] = ROW_BYTES;
        config.rows[t] = SIDE;
    }
    __asm__ volatile("" : "+m"(config));
    AMX_CONFIGURE(&config);
}

static void leave(void) { AMX_RELEASE(); }

/* Tile registers: 0 … 3 sums (row half · 2 + column half), 4 and 5 rows of A, 6 and 7 columns of B. A strip of A stays
 * in the first-level cache while the panels of B stream past. */
PACK_INLINE void multiply(float *c, const char *a, const char *b, int64_t steps, const bool two_rows,
                          const bool two_cols, bool add)
{
    enum { C_ROW = NR * sizeof(float) };
    float *lower = c + SIDE * NR;

    __asm__ volatile("" ::: "memory");          /* the loads below do not tell the compiler what they read */
    if (add) {
        AMX_LOAD(0, c, C_ROW);
        if (two_cols) AMX_LOAD(1, c + SIDE, C_ROW);
        if (two_rows) AMX_LOAD(2, lower, C_ROW);
        if (two_rows && two_cols) AMX_LOAD(3, lower + SIDE, C_ROW);
    } else {
        AMX_ZERO(0);
        if (two_cols) AMX_ZERO(1);
        if (two_rows) AMX_ZERO(2);
        if (two_rows && two_cols) AMX_ZERO(3);
    }
    for (int64_t s = 0; s < steps; s++) {
        AMX_LOAD(4, a, ROW_BYTES);
        AMX_STREAM(6, b, ROW_BYTES);
        AMX_DOT(0, 4, 6);
        if (two_cols) {
            AMX_STREAM(7, b + TILE_BYTES, ROW_BYTES);
            AMX_DOT(1, 4, 7);
        }
        if (two_rows) {
            AMX_LOAD(5, a + TILE_BYTES, ROW_BYTES);
            AMX_DOT(2, 5, 6);
            if (two_cols) AMX_DOT(3, 5, 7);
        }
        a += MR / SIDE * TILE_BYTES;
        b += (two_cols ? 2 : 1) * TILE_BYTES;
    }
    AMX_STORE(0, c, C_ROW);
    if (two_cols) AMX_STORE(1, c + SIDE, C_ROW);
    if (two_rows) AMX_STORE(2, lower, C_ROW);
    if (two_rows && two_cols) AMX_STORE(3, lower + SIDE, C_ROW);
}

static void tile(float *c, hone_mm_rows a, const void *panel, int64_t steps, int rows, int width, bool add)
{
    if (rows > SIDE && width > SIDE)
        multiply(c, a.data, panel, steps, true, true, add);
    else if (rows > SIDE)
        multiply(c, a.data, panel, steps, true, false, add);
    else if (width > SIDE)
        multiply(c, a.data, panel, steps, false, true, add);
    else
        multiply(c, a.data, panel, steps, false, false, add);
}

static bool rows_in_place(hone_mm_rows *out, const hone_mm_operand *a, int64_t i0, int64_t p0, int64_t kc)
{
    (void)out, (void)a, (void)i0, (void)p0, (void)kc;
    return false;
}

/* Strips [kc / 32][2] of tiles of 16 rows x 32 p's; the second tile is left out where no row falls into it. */
static void pack_a(hone_mm_rows *out, void *dst, const hone_mm_operand *a, int64_t i0, int64_t rows, int64_t p0,
                   int64_t kc)
{
    int64_t strip_bytes = (kc + DEPTH - 1) / DEPTH * (MR / SIDE) * TILE_BYTES;

    *out = (hone_mm_rows){ dst, ROW_BYTES, MR / SIDE * TILE_BYTES };
    for (int64_t p = 0; p < kc; p += DEPTH) {
        for (int64_t i = 0; i < rows; i += SIDE) {
            char   *to = (char *)dst + i / MR * strip_bytes + (p / DEPTH * (MR / SIDE) + i % MR / SIDE) * TILE_BYTES;
            __m512i r[16];

            pairs_by_x(r, a, i0 + i, (int)HONE_MIN(SIDE, rows - i), p0 + p, (int)HONE_MIN(DEPTH, kc - p));
            for (int q = 0; q < SIDE; q++)
                _mm512_store_si512(to + q * ROW_BYTES, r[q]);
        }
    }
}

/* A panel is [kc / 32][width / 16] tiles of 16 pairs of p's x 16 columns. */
static void pack_b(void *dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc)
{
    char *to = dst;

    for (int64_t p = 0; p < kc; p += DEPTH) {
        for (int j = 0; j < cols; j += SIDE) {
            __m512i r[16];

            pairs_by_p(r, b, j0 + j, HONE_MIN(SIDE, cols - j), p0 + p, (int)HONE_MIN(DEPTH, kc - p));
            for (int q = 0; q < SIDE; q++, to += ROW_BYTES)
                _mm512_store_si512(to, r[q]);
        }
    }
}

static void finish(const hone_mm_output *o, const float *tiles, int64_t i0, int rows, int64_t j0, int64_t cols)
{
    pack_finish(o, tiles, i0, rows, j0, cols, MR, NR);
}

static void column_sums(float *out, const void *a, int64_t ld, int64_t rows, int64_t j0, int64_t j1, bool accumulate)
{
    pack_column_sums(out, a, ld, rows, j0, j1, accumulate, true);
}

const hone_mm_set AMX_SET = {
    .name = "amx", .isa = AMX_ISA, .dtype = HONE_DTYPE_BF16,
    .mr = MR, .nr = NR, .vec = SIDE, .unit = DEPTH, .elem = 2,
    .kc = 18 * DEPTH, .mc = 512, .nc = 512, .strips = 4,
    .rows_in_place = rows_in_place, .pack_a = pack_a, .pack_b = pack_b,
    .tile = tile, .finish = finish, .column_sums = column_sums, .enter = enter, .leave = leave,
};
#endif
