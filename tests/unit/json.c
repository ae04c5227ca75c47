/* Integers that 64 bits cannot hold, as tokenizer_config.json has them. */
#include "base/json.h"
#include "hone_test.h"

static void integers_beyond_64_bits_are_reals(void **state)
{
    static const char text[] = "{\"a\": 1000000000000000019884624838656, \"b\": [-9223372036854775809, 7], "
                               "\"c\": \"1000000000000000019884624838656 \\\" 99999999999999999999\", \"d\": 1.00000000000000000000005}";
    json_t *j;

    (void)state;
    T_OK(hone_json_parse(&j, text, sizeof text - 1, "x"));
    assert_true(json_real_value(json_object_get(j, "a")) == 1e30);
    assert_true(json_real_value(json_array_get(json_object_get(j, "b"), 0)) == -9223372036854775808.0);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(j, "b"), 1)), 7);
    assert_string_equal(json_string_value(json_object_get(j, "c")), "1000000000000000019884624838656 \" 99999999999999999999");
    json_decref(j);
    T_OK(hone_json_parse(&j, "9223372036854775807", 19, "x"));
    assert_true(json_integer_value(j) == INT64_MAX);
    json_decref(j);
    T_STATUS(hone_json_parse(&j, "\xef\xbb\xbf{}", 5, "x"), HONE_E_FORMAT);
    T_ERROR_HAS("byte order mark");
    T_STATUS(hone_json_parse(&j, "[1, 1000000000000000019884624838656", 35, "x"), HONE_E_FORMAT);
    T_ERROR_HAS("x: broken JSON at column");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(integers_beyond_64_bits_are_reals) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
