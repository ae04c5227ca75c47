/*
 * kernel/cpu/matmul_set.h -- the two sets, f32 and bf16 widened to f32, of an instruction set that multiplies floats.
 *
 * Included by matmul_<isa>.c after it has defined MR, NR, VEC, tile(), pack_b() with a last argument `bool bf16`, and
 * SET (the isa's name), SET_ISA, SET_KC, SET_MC, SET_NC.
 */
#define SET_CAT3_(a, b, c) a##b##c
#define SET_CAT3(a, b, c) SET_CAT3_(a, b, c)
#define SET_TEXT_(x) #x
#define SET_TEXT(x) SET_TEXT_(x)

static bool rows_in_place_f32(hone_mm_rows *out, const hone_mm_operand *a, int64_t i0, int64_t p0, int64_t kc)
{
    (void)kc;
    return pack_rows_in_place_f32(out, a, i0, p0);
}

static bool rows_in_place_bf16(hone_mm_rows *out, const hone_mm_operand *a, int64_t i0, int64_t p0, int64_t kc)
{
    (void)out, (void)a, (void)i0, (void)p0, (void)kc;
    return false;
}

static void pack_a_from_f32(hone_mm_rows *out, void *dst, const hone_mm_operand *a, int64_t i0, int64_t rows,
                            int64_t p0, int64_t kc)
{
    pack_a_f32(out, dst, a, i0, rows, p0, kc, MR, false);
}

static void pack_a_from_bf16(hone_mm_rows *out, void *dst, const hone_mm_operand *a, int64_t i0, int64_t rows,
                            int64_t p0, int64_t kc)
{
    pack_a_f32(out, dst, a, i0, rows, p0, kc, MR, true);
}

static void pack_b_from_f32(void *dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc)
{
    pack_b(dst, b, j0, cols, p0, kc, false);
}

static void pack_b_from_bf16(void *dst, const hone_mm_operand *b, int64_t j0, int cols, int64_t p0, int64_t kc)
{
    pack_b(dst, b, j0, cols, p0, kc, true);
}

static void finish(const hone_mm_output *o, const float *tiles, int64_t i0, int rows, int64_t j0, int64_t cols)
{
    pack_finish(o, tiles, i0, rows, j0, cols, MR, NR);
}

static void column_sums_f32(float *out, const void *a, int64_t ld, int64_t rows, int64_t j0, int64_t j1,
                            bool accumulate)
{
    pack_column_sums(out, a, ld, rows, j0, j1, accumulate, false);
}

static void column_sums_bf16(float *out, const void *a, int64_t ld, int64_t rows, int64_t j0, int64_t j1,
                            bool accumulate)
{
    pack_column_sums(out, a, ld, rows, j0, j1, accumulate, true);
}

#define SET_DEFINE(suffix, type)                                                                              \
    const hone_mm_set SET_CAT3(hone_mm_, SET, suffix) = {                                                     \
        .name = SET_TEXT(SET) #suffix, .isa = SET_ISA, .dtype = type,                                         \
        .mr = MR, .nr = NR, .vec = VEC, .unit = 1, .elem = 4,                                                 \
        .kc = SET_KC, .mc = SET_MC / MR * MR, .nc = SET_NC, .strips = PACK_STRIPS,                                     \
        .rows_in_place = rows_in_place##suffix, .pack_a = pack_a_from##suffix, .pack_b = pack_b_from##suffix, \
        .tile = tile, .finish = finish, .column_sums = column_sums##suffix,                                   \
    }

SET_DEFINE(_f32, HONE_DTYPE_F32);
SET_DEFINE(_bf16, HONE_DTYPE_BF16);
