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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(halves_round_trip), cmocka_unit_test(doubles_round_once) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
