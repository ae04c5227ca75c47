/* Device memory: what is held never passes the live peak, blocks are used again, limits hold. */
#include "hone_test.h"

#include "base/rng.h"
#include "device/device.h"

static void freed_blocks_serve_again(void **state)
{
    hone_device      *d;
    size_t            a, b;
    void             *p, *q;
    hone_device_stats s;

    (void)state;
    T_OK(hone_device_create(&d, &hone_device_cpu));
    p = hone_device_alloc(d, 100000, &a);
    assert_non_null(p);
    assert_true(a >= 100000 && (uintptr_t)p % 64 == 0);
    memset(p, 1, a);
    hone_device_free(d, p, a);
    s = hone_device_get_stats(d);
    assert_int_equal(s.live, 0);
    assert_int_equal(s.reserved, a);
    q = hone_device_alloc(d, 99000, &b);
    assert_ptr_equal(q, p);
    hone_device_free(d, q, b);
    /* a much smaller one must not occupy it */
    q = hone_device_alloc(d, 1000, &b);
    assert_true(b < 2000);
    hone_device_free(d, q, b);
    hone_device_trim(d);
    assert_int_equal(hone_device_get_stats(d).reserved, 0);
    hone_device_destroy(&d);
    assert_null(d);
    hone_device_destroy(&d);
}

/* Any order of sizes: the sum of live and cached blocks stays within the largest sum of live ones so far. */
static void reserved_stays_within_the_live_peak(void **state)
{
    const hone_device_ops *kinds[] = { &hone_device_cpu, &hone_device_meta };

    (void)state;
    for (size_t k = 0; k < HONE_COUNTOF(kinds); k++) {
        enum { SLOTS = 40 };
        void       *p[SLOTS] = { NULL };
        size_t      bytes[SLOTS], peak = 0, live = 0;
        hone_rng    r = hone_rng_make(7, k);
        hone_device *d;

        T_OK(hone_device_create(&d, kinds[k]));
        for (int i = 0; i < 4000; i++) {
            int               slot = (int)(hone_rng_u64(&r) % SLOTS);
            hone_device_stats s;

            if (p[slot]) {
                hone_device_free(d, p[slot], bytes[slot]);
                live -= bytes[slot];
                p[slot] = NULL;
            } else {
                p[slot] = hone_device_alloc(d, (size_t)1 << hone_rng_u64(&r) % 23, &bytes[slot]);
                assert_non_null(p[slot]);
                live += bytes[slot];
            }
            peak = HONE_MAX(peak, live);
            s = hone_device_get_stats(d);
            assert_int_equal(s.live, live);
            assert_int_equal(s.live_peak, peak);
            assert_true(s.reserved <= peak && s.reserved_peak <= peak && s.reserved >= live);
        }
        for (int i = 0; i < SLOTS; i++)
            hone_device_free(d, p[i], p[i] ? bytes[i] : 0);
        assert_int_equal(hone_device_get_stats(d).live, 0);
        hone_device_reset_peak(d);
        assert_int_equal(hone_device_get_stats(d).live_peak, 0);
        hone_device_destroy(&d);
    }
}

static void a_limit_refuses_and_leaves_the_rest(void **state)
{
    hone_device *d;
    size_t       a, b;
    void        *p, *q;

    (void)state;
    T_OK(hone_device_create(&d, &hone_device_cpu));
    hone_device_set_limit(d, 1 << 20);
    p = hone_device_alloc(d, 700000, &a);
    assert_non_null(p);
    assert_null(hone_device_alloc(d, 700000, &b));
    assert_int_equal(hone_status_last(), HONE_E_NOMEM);
    T_ERROR_HAS("0.7 MB");
    q = hone_device_alloc(d, 200000, &b);
    assert_non_null(q);
    hone_device_free(d, p, a);
    /* the cached block gives way to one of another size */
    p = hone_device_alloc(d, 500000, &a);
    assert_non_null(p);
    assert_true(hone_device_get_stats(d).reserved <= 1 << 20);
    hone_device_free(d, p, a);
    hone_device_free(d, q, b);
    hone_device_destroy(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(freed_blocks_serve_again),
        cmocka_unit_test(reserved_stays_within_the_live_peak),
        cmocka_unit_test(a_limit_refuses_and_leaves_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
