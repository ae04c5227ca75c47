/* Conversions between floating formats: every 16-bit pattern round-trips, ties go to even, nothing is rounded twice. */
#include "hone_test.h"

#include <math.h>

#include "tensor/dtype.h"

static void halves_round_trip(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 0x10000; i++) {
        float h = hone_f16_to_f32((uint16_t)i), b = hone_bf16_to_f32((uint16_t)i);

        if (!isnan(h))
            assert_int_equal(hone_f32_to_f16(h), i);
        if (!isnan(b))
            assert_int_equal(hone_f32_to_bf16(b), i);
    }
    assert_true(hone_f16_to_f32(0x3C00) == 1.0f);
    assert_true(hone_f16_to_f32(0x0001) == 0x1p-24f);
    assert_int_equal(hone_f32_to_f16(65520.0f), 0x7C00);
    assert_int_equal(hone_f32_to_f16(1.0f + 0x1p-11f), 0x3C00);             /* tie to even */
    assert_int_equal(hone_f32_to_f16(1.0f + 0x3p-11f), 0x3C02);
    assert_int_equal(hone_f32_to_bf16(1.0f + 0x1p-8f), 0x3F80);
    assert_true(isnan(hone_bf16_to_f32(hone_f32_to_bf16(NAN))));
}

static void doubles_round_once(void **state)
{
    double   v = 1.0 + 0x1p-8 + 0x1p-40;    /* just above the tie of bf16; f32 would drop the last bit */
    uint16_t b;

    (void)state;
    assert_true(hone_dtype_convert(&b, HONE_DTYPE_BF16, &v, HONE_DTYPE_F64, 1));
    assert_int_equal(b, 0x3F81);
    v = -v;
    assert_true(hone_dtype_convert(&b, HONE_DTYPE_BF16, &v, HONE_DTYPE_F64, 1));
    assert_int_equal(b, 0xBF81);
    assert_false(hone_dtype_convert(&b, HONE_DTYPE_I32, &v, HONE_DTYPE_F64, 1));
}

/* Every boundary between two neighbouring halves: the middle goes to the even one, what is beside it to the nearer. */
static void f16_rounds_at_every_boundary(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 0x7C00; i++) {
        float a = hone_f16_to_f32((uint16_t)i), b = i == 0x7BFF ? 65536.0f : hone_f16_to_f32((uint16_t)(i + 1));
        float middle = (a + b) / 2;     /* exact */

        assert_int_equal(hone_f32_to_f16(middle), i + (i & 1));
        assert_int_equal(hone_f32_to_f16(nextafterf(middle, 0.0f)), i);
        assert_int_equal(hone_f32_to_f16(-nextafterf(middle, INFINITY)), 0x8000 | (i + 1));
    }
}

static void unaligned_data_converts(void **state)
{
    static const hone_dtype types[] = { HONE_DTYPE_F32, HONE_DTYPE_BF16, HONE_DTYPE_F16, HONE_DTYPE_F64 };
    unsigned char           from[8 * 37 + 1], to[8 * 37 + 1];
    double                  value, want;

    (void)state;
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++) {
            for (int i = 0; i < 37; i++) {
                want = i * 0.25 - 3;    /* exact in all four */
                assert_true(hone_dtype_convert(from + 1 + (size_t)i * hone_dtype_bytes(types[a]), types[a], &want,
                                               HONE_DTYPE_F64, 1));
            }
            assert_true(hone_dtype_convert(to + 1, types[b], from + 1, types[a], 37));
            for (int i = 0; i < 37; i++) {
                assert_true(hone_dtype_convert(&value, HONE_DTYPE_F64, to + 1 + (size_t)i * hone_dtype_bytes(types[b]),
                                               types[b], 1));
                assert_true(value == i * 0.25 - 3);
            }
        }
}

static void nonfinite_values_are_found(void **state)
{
    static const hone_dtype types[] = { HONE_DTYPE_F32, HONE_DTYPE_BF16, HONE_DTYPE_F16, HONE_DTYPE_F64 };
    static const double     bad[] = { NAN, INFINITY, -INFINITY };
    static double           values[3000];
    static unsigned char    data[8 * 3000];

    (void)state;
    for (size_t t = 0; t < 4; t++)
        for (int at = 0; at < 3000; at += 333)
            for (int k = 0; k < 3; k++) {
                for (int i = 0; i < 3000; i++)
                    values[i] = i - 1500;
                assert_true(hone_dtype_convert(data, types[t], values, HONE_DTYPE_F64, 3000));
                assert_int_equal(hone_dtype_first_nonfinite(data, types[t], 3000), 3000);
                values[at] = values[2999] = bad[k];
                assert_true(hone_dtype_convert(data, types[t], values, HONE_DTYPE_F64, 3000));
                assert_int_equal(hone_dtype_first_nonfinite(data, types[t], 3000), at);
            }
    memset(data, 0xFF, sizeof data);
    assert_int_equal(hone_dtype_first_nonfinite(data, HONE_DTYPE_I32, 10), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_round_trip),        cmocka_unit_test(doubles_round_once),
        cmocka_unit_test(f16_rounds_at_every_boundary), cmocka_unit_test(unaligned_data_converts),
        cmocka_unit_test(nonfinite_values_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
