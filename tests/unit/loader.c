/* Loaders: each sample once per epoch, sizes of steps, seeking. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "data_fixture.h"
#include "hone_test.h"

#define A "dataset: '@/a.jsonl'\n"

/* A data set of n samples; sample i has 2 + (i * 7) % 9 tokens, or `lengths`. */
static hone_loader *load(t_data *d, int n, const int *lengths, const char *yaml)
{
    hone_loader *l;
    hone_str     rows = HONE_STR_INIT;

    for (int i = 0; i < n; i++) {
        hone_str_printf(&rows, "{\"input_ids\": [%d", i);
        for (int t = 1; t < (lengths ? lengths[i] : 2 + i * 7 % 9); t++)
            hone_str_puts(&rows, ", 1");
        hone_str_puts(&rows, "]}\n");
    }
    t_data_write(d, "a.jsonl", hone_str_c(&rows), 0);
    hone_str_deinit(&rows);
    T_OK(t_data_load(d, yaml));
    T_OK(hone_loader_create(&l, d->train, d->options));
    return l;
}

/* The samples of the steps [first, last), one after another; checks the plan's own sums. */
static void collect(hone_loader *l, const hone_dataset *d, int64_t first, int64_t last, hone_vec_i64 *out)
{
    out->len = 0;
    for (int64_t s = first; s < last; s++) {
        hone_step_plan p;
        int64_t        tokens = 0, supervised = 0;

        T_OK(hone_loader_step(l, s, &p));
        assert_int_equal(p.begin[0], 0);
        for (int64_t k = 0; k < p.micro_batches; k++)
            assert_true(p.begin[k] < p.begin[k + 1]);
        for (int64_t i = 0; i < p.begin[p.micro_batches]; i++) {
            hone_sample x = hone_dataset_at(d, p.sample[i].id);

            assert_ptr_equal(x.ids, p.sample[i].ids);
            tokens += x.n;
            supervised += x.supervised;
            T_OK(HONE_VEC_PUSH(out, p.sample[i].id));
        }
        assert_int_equal(tokens, p.tokens);
        assert_int_equal(supervised, p.supervised);
    }
}

static void each_once(const hone_vec_i64 *v, int64_t n)
{
    uint8_t seen[4096] = { 0 };

    assert_int_equal(v->len, n);
    for (size_t i = 0; i < v->len; i++) {
        assert_in_range(v->data[i], 0, n - 1);
        assert_int_equal(seen[v->data[i]]++, 0);
    }
}

static bool same(const hone_vec_i64 *a, const hone_vec_i64 *b)
{
    return a->len == b->len && memcmp(a->data, b->data, a->len * sizeof *a->data) == 0;
}

static void each_sample_once_per_epoch(void **state)
{
    static const char *const configs[] = {
        A "per_device_train_batch_size: 2\ngradient_accumulation_steps: 3\n",
        A "per_device_train_batch_size: 1\nglobal_batch_size: 7\n",
        A "per_device_train_batch_size: 4\nglobal_batch_tokens: 40\n",
        A "per_device_train_batch_size: 2\npacking: true\ncutoff_len: 16\n",
        A "per_device_train_batch_size: 1\npacking: true\ncutoff_len: 16\nglobal_batch_tokens: 50\n",
    };
    hone_vec_i64 one = { 0 }, two = { 0 }, again = { 0 };
    t_data       d;

    (void)state;
    t_data_open(&d);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        hone_loader   *l = load(&d, 50, NULL, configs[c]), *m;
        hone_step_plan p;
        int64_t        steps = hone_loader_epoch_steps(l), next = steps;

        collect(l, d.train, 0, steps, &one);
        each_once(&one, 50);
        T_OK(hone_loader_step(l, steps - 1, &p));
        assert_int_equal(p.epoch, 0);
        assert_true(p.epoch_end == 1.0);
        do
            T_OK(hone_loader_step(l, next++, &p));
        while (p.epoch_end < 2);
        collect(l, d.train, steps, next, &two);
        each_once(&two, 50);
        assert_false(same(&one, &two));
        T_OK(hone_loader_create(&m, d.train, d.options));       /* a second loader seeks straight to the second epoch */
        collect(m, d.train, steps, next, &again);
        assert_true(same(&two, &again));
        collect(m, d.train, 0, steps, &again);
        assert_true(same(&one, &again));
        hone_loader_destroy(&m);
        hone_loader_destroy(&l);
    }
    HONE_VEC_DEINIT(&one);
    HONE_VEC_DEINIT(&two);
    HONE_VEC_DEINIT(&again);
    t_data_close(&d);
}

static void the_seed_orders(void **state)
{
    static const char *const configs[] = { A, A "data_seed: 43\n", A "seed: 43\n", A "data_seed: 42\nseed: 43\n",
                                           A "disable_shuffling: true\n" };
    static const int groups[] = { 0, 1, 1, 0, 2 };      /* configs of one group have one order */
    hone_vec_i64     order[HONE_COUNTOF(configs)] = { { 0 } };
    t_data           d;

    (void)state;
    t_data_open(&d);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        hone_loader *l = load(&d, 50, NULL, configs[c]);

        collect(l, d.train, 0, hone_loader_epoch_steps(l), &order[c]);
        hone_loader_destroy(&l);
        for (size_t k = 0; k < c; k++)
            assert_int_equal(same(&order[c], &order[k]), groups[c] == groups[k]);
    }
    for (size_t i = 0; i < order[4].len; i++)
        assert_int_equal(order[4].data[i], i);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++)
        HONE_VEC_DEINIT(&order[c]);
    t_data_close(&d);
}

static void steps_have_the_size_asked_for(void **state)
{
    hone_loader   *l;
    hone_step_plan p;
    t_data         d;

    (void)state;
    t_data_open(&d);
    l = load(&d, 23, NULL, A "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nnum_train_epochs: 2\n");
    assert_int_equal(hone_loader_epoch_steps(l), 3);    /* 8, 8, 7 */
    assert_int_equal(hone_loader_total_steps(l), 6);
    T_OK(hone_loader_step(l, 0, &p));
    assert_int_equal(p.micro_batches, 4);
    assert_int_equal(p.begin[4], 8);
    assert_true(fabs(p.epoch_end - 8.0 / 23) < 1e-12);
    T_OK(hone_loader_step(l, 2, &p));
    assert_int_equal(p.micro_batches, 4);
    assert_int_equal(p.begin[3], 6);
    assert_int_equal(p.begin[4], 7);
    T_OK(hone_loader_step(l, 3, &p));
    assert_int_equal(p.epoch, 1);
    hone_loader_destroy(&l);

    l = load(&d, 23, NULL, A "per_device_train_batch_size: 3\nglobal_batch_size: 6\n");
    T_OK(hone_loader_step(l, 0, &p));
    assert_int_equal(p.micro_batches, 2);
    assert_int_equal(p.begin[2], 6);
    hone_loader_destroy(&l);

    l = load(&d, 23, NULL, A "per_device_train_batch_size: 2\nglobal_batch_tokens: 20\n");
    for (int64_t s = 0; s < hone_loader_epoch_steps(l); s++) {
        T_OK(hone_loader_step(l, s, &p));
        assert_true(p.tokens <= 20);
    }
    hone_loader_destroy(&l);
    l = load(&d, 5, (const int[]){ 30, 4, 30, 4, 4 }, A "global_batch_tokens: 8\ndisable_shuffling: true\n");
    assert_int_equal(hone_loader_epoch_steps(l),
                     4); /* a sample longer than that is a step of its own: 30 | 4 | 30 | 4 4 */
    hone_loader_destroy(&l);
    t_data_close(&d);
}

static void runs_have_the_length_asked_for(void **state)
{
    static const struct { const char *yaml; int64_t steps; } runs[] = {
        { A "per_device_train_batch_size: 2\nnum_train_epochs: 1\n", 4 },
        { A "per_device_train_batch_size: 2\nnum_train_epochs: 2.5\n", 10 },
        { A "per_device_train_batch_size: 2\nnum_train_epochs: 0.1\n", 1 },
        { A "per_device_train_batch_size: 2\nnum_train_epochs: 1.01\n", 5 },
        { A "per_device_train_batch_size: 2\nnum_train_epochs: 9\nmax_steps: 3\n", 3 },
        { A "per_device_train_batch_size: 2\nmax_steps: 33\n", 33 },
        { A "global_batch_tokens: 8\nnum_train_epochs: 2\n", 8 },
        { A "global_batch_tokens: 8\nnum_train_epochs: 1.5\n", 6 },
    };
    t_data d;

    (void)state;
    t_data_open(&d);
    for (size_t i = 0; i < HONE_COUNTOF(runs); i++) {
        hone_loader *l = load(&d, 7, (const int[]){ 4, 4, 4, 4, 4, 4, 4 }, runs[i].yaml);

        assert_int_equal(hone_loader_total_steps(l), runs[i].steps);
        hone_loader_destroy(&l);
    }
    t_data_close(&d);
}

/* A row is a unit of the batch. */
static void packed_rows_make_the_batch(void **state)
{
    static const int lengths[] = { 5, 3, 7, 2, 16, 9, 6 };      /* 48 tokens: 16 | 9 7 | 6 5 3 2 */
    hone_loader     *l;
    hone_step_plan   p;
    t_data           d;

    (void)state;
    t_data_open(&d);
    l = load(&d, 7, lengths, A "packing: true\ncutoff_len: 16\nper_device_train_batch_size: 1\ndisable_shuffling: true\n");
    assert_int_equal(hone_loader_epoch_steps(l), 3);
    for (int64_t s = 0; s < 3; s++) {
        T_OK(hone_loader_step(l, s, &p));
        assert_int_equal(p.micro_batches, 1);
        assert_int_equal(p.tokens, 16);
        assert_int_equal(p.supervised, 16 - p.begin[1]);    /* no sample predicts the next one's first token */
        assert_int_equal(p.ends_epoch, s == 2);
    }
    hone_loader_destroy(&l);
    t_data_close(&d);
}

/* Any step is found at once: the millionth as the first, in any order, the same as when all steps before it were taken. */
static void any_step_is_found(void **state)
{
    static const char *const configs[] = {
        A "per_device_train_batch_size: 2\ngradient_accumulation_steps: 3\nmax_steps: 9000000000\n",
        A "per_device_train_batch_size: 2\npacking: true\ncutoff_len: 16\nmax_steps: 9000000000\n",
        A "global_batch_tokens: 40\n",
    };
    static const int64_t far[] = { 1000000, 0, 8999999999, 1000001 };
    hone_vec_i64 one = { 0 }, all = { 0 };
    t_data       d;

    (void)state;
    t_data_open(&d);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        hone_loader   *l = load(&d, 50, NULL, configs[c]);
        hone_step_plan p;
        int64_t        n;

        collect(l, d.train, 0, 40, &all);
        n = (int64_t)all.len;
        for (int64_t s = 39; s >= 0; s--) {
            collect(l, d.train, s, s + 1, &one);
            n -= (int64_t)one.len;
            assert_memory_equal(one.data, all.data + n, one.len * sizeof *one.data);
        }
        for (size_t i = 0; c < 2 && i < HONE_COUNTOF(far); i++) {
            T_OK(hone_loader_step(l, far[i], &p));
            assert_int_equal(p.epoch, far[i] / hone_loader_epoch_steps(l));
        }
        hone_loader_destroy(&l);
    }
    HONE_VEC_DEINIT(&one);
    HONE_VEC_DEINIT(&all);
    t_data_close(&d);
}

static void running_out_of_memory_is_an_error(void **state)
{
    static const char *const configs[] = { A "packing: true\ncutoff_len: 16\n", A "global_batch_tokens: 20\n" };
    t_data d;

    (void)state;
    t_data_open(&d);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        hone_loader *l = load(&d, 30, NULL, configs[c]);

        hone_loader_destroy(&l);
        for (int64_t n = 0;; n++) {
            hone_status st;
            bool        reached;

            hone_mem_fail_at(n);
            st = hone_loader_create(&l, d.train, d.options);
            reached = hone_mem_fail_reached();
            hone_mem_fail_at(-1);
            assert_int_equal(st, reached ? HONE_E_NOMEM : HONE_OK);
            assert_true((l == NULL) == reached);
            hone_loader_destroy(&l);
            if (!reached)
                break;
        }
    }
    t_data_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_once_per_epoch),
        cmocka_unit_test(the_seed_orders),
        cmocka_unit_test(steps_have_the_size_asked_for),
        cmocka_unit_test(runs_have_the_length_asked_for),
        cmocka_unit_test(packed_rows_make_the_batch),
        cmocka_unit_test(any_step_is_found),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
