/* Rotary frequencies, to two units in the last place, as transformers 5.24 with PyTorch 2.15 has them: heads of 16. */
#include "hone_test.h"

#include <math.h>

#include "nn/rope.h"

enum { PAIRS = 8 };

typedef struct known { const char *name; hone_rope_spec spec; int64_t length; double factor; float want[PAIRS]; } known;

static const known KNOWN[] = {
    { "dynamic, 113 tokens of 24",
      { .type = HONE_ROPE_DYNAMIC, .dim = 16, .base = 10000, .factor = 3, .max_positions = 24 }, 113, 1,
      { 1, 0x1.c57038p-3f, 0x1.91933p-5f, 0x1.63a4cp-7f, 0x1.3af736p-9f, 0x1.16f0c4p-11f, 0x1.ee1254p-14f, 0x1.b58f82p-16f } },
    { "llama3",
      { .type = HONE_ROPE_LLAMA3, .dim = 16, .base = 20000, .factor = 8, .low_freq_factor = 1, .high_freq_factor = 4,
        .original_max_positions = 24 }, 10, 1,
      { 0x1.e513f4p-1f, 0x1.738754p-5f, 0x1.586e62p-7f, 0x1.8f83fcp-9f, 0x1.cf68d6p-11f, 0x1.0cc2cep-12f, 0x1.37be56p-14f,
        0x1.6999a8p-16f } },
    { "yarn",
      { .type = HONE_ROPE_YARN, .dim = 16, .base = 1000, .factor = 4, .original_max_positions = 12, .attention_factor = -1,
        .beta_fast = 32, .beta_slow = 1, .truncate = true }, 10, 1.138629436111989,
      { 1, 0x1.afd136p-4f, 0x1.6c310ep-5f, 0x1.33281ap-6f, 0x1.030dc6p-7f, 0x1.b4f7e4p-9f, 0x1.708938p-10f, 0x1.36d21ap-11f } },
};

static void frequencies_are_the_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(KNOWN); i++) {
        float  got[PAIRS];
        double factor = hone_rope_frequencies(got, &KNOWN[i].spec, KNOWN[i].length);

        assert_true(fabs(factor - KNOWN[i].factor) < 1e-15);
        for (int k = 0; k < PAIRS; k++)
            if (!(fabs((double)got[k] / (double)KNOWN[i].want[k] - 1) < 1.8e-7))
                fail_msg("%s: frequency %d is %a, wanted %a", KNOWN[i].name, k, (double)got[k], (double)KNOWN[i].want[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(frequencies_are_the_references) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
