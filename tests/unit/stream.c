/* Streams: the same samples as data that is held, each row once an epoch, any place found again exactly. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "data_fixture.h"
#include "hone_test.h"

#define A "dataset: '@/a.jsonl'\n"
#define STREAM "streaming: true\nmax_steps: 1000000\n"
#define TOKENIZER TEST_DATA "/data/tokenizer/gpt2"

enum { MANY = 5000 };       /* rows of more than two windows */

typedef struct opened { hone_stream *stream; hone_loader *loader; } opened;

static hone_status accept(void *arg, const hone_dataset *data)
{
    (void)arg;
    (void)data;
    return HONE_OK;
}

static void close_stream(opened *o)
{
    hone_loader_destroy(&o->loader);
    hone_stream_destroy(&o->stream);
}

static opened open_stream(t_data *d, const char *yaml)
{
    opened o;

    t_data_options(d, yaml);
    hone_dataset_destroy(&d->eval);
    T_OK(hone_stream_create(&o.stream, &d->eval, &d->context));
    T_OK(hone_loader_create_stream(&o.loader, o.stream, d->options, accept, NULL));
    return o;
}

/* Row i of a file has the ids i, i + 1, … (below 50000), 2 to 10 of them. */
static void write_rows(t_data *d, const char *name, int first, int n)
{
    hone_str rows = HONE_STR_INIT;

    for (int i = first; i < first + n; i++) {
        hone_str_printf(&rows, "{\"input_ids\": [%d", i);
        for (int t = 1; t < 2 + i * 7 % 9; t++)
            hone_str_printf(&rows, ", %d", (i + t) % 50000);
        hone_str_puts(&rows, "]}\n");
    }
    T_OK(hone_str_ok(&rows));
    t_data_write(d, name, rows.data, rows.len);
    hone_str_deinit(&rows);
}

/* Append a step as numbers: micro-batches, lengths, ids, labels, the numbers of the samples. */
static void flatten(const hone_step_plan *p, hone_vec_i32 *out)
{
    int64_t tokens = 0;

    T_OK(HONE_VEC_PUSH(out, (int32_t)p->micro_batches));
    T_OK(HONE_VEC_PUSH(out, p->ends_epoch));
    for (int64_t k = 0; k < p->micro_batches; k++) {
        assert_true(p->begin[k] < p->begin[k + 1]);
        T_OK(HONE_VEC_PUSH(out, (int32_t)p->begin[k]));
    }
    for (int64_t i = 0; i < p->begin[p->micro_batches]; i++) {
        const hone_sample *s = &p->sample[i];

        T_OK(HONE_VEC_PUSH(out, (int32_t)s->n));
        T_OK(HONE_VEC_PUSH(out, (int32_t)s->id));
        for (int64_t t = 0; t < s->n; t++) {
            T_OK(HONE_VEC_PUSH(out, s->ids[t]));
            T_OK(HONE_VEC_PUSH(out, s->labels[t]));
        }
        tokens += s->n;
    }
    assert_int_equal(tokens, p->tokens);
}

static void assert_same(const hone_vec_i32 *a, const hone_vec_i32 *b)
{
    assert_int_equal(a->len, b->len);
    assert_memory_equal(a->data, b->data, a->len * sizeof *a->data);
}

/* ---- content ---- */

/* In the order of the data a stream gives what data that is held gives, whatever the stage and the packing. */
static void a_stream_is_the_data(void **state)
{
    static const char *const configs[] = {
        A "per_device_train_batch_size: 3\ngradient_accumulation_steps: 2\n",
        A "global_batch_tokens: 40\n",
        A "packing: true\ncutoff_len: 16\nper_device_train_batch_size: 2\n",
        A "packing: true\npacking_strategy: greedy\ncutoff_len: 16\nper_device_train_batch_size: 2\n",
        A "cutoff_len: 5\ntruncation: drop\n",
        A "stage: pt\ncutoff_len: 16\n",
        A "stage: pt\ncutoff_len: 7\n",
        A "stage: pt\ncutoff_len: 1000\n",
        A "stage: pt\npacking: false\n",
        "dataset: '@/a.jsonl,@/b.jsonl'\nmix_strategy: interleave_over\ninterleave_probs: 0.7,0.3\n",
        "dataset: '@/b.jsonl,@/a.jsonl'\n",
    };
    hone_vec_i32 held = { 0 }, streamed = { 0 };
    t_data       d;
    char         yaml[512];

    (void)state;
    t_data_open(&d);
    write_rows(&d, "a.jsonl", 0, 300);
    write_rows(&d, "b.jsonl", 300, 40);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        hone_loader   *l;
        hone_step_plan p;
        opened         o;
        int64_t        steps;

        snprintf(yaml, sizeof yaml, "%sdisable_shuffling: true\nmax_steps: 1000000\n", configs[c]);
        T_OK(t_data_load(&d, yaml));
        T_OK(hone_loader_create(&l, d.train, d.options));
        steps = hone_loader_epoch_steps(l) * 5 / 2;
        held.len = streamed.len = 0;
        for (int64_t s = 0; s < steps; s++) {
            T_OK(hone_loader_step(l, s, &p));
            flatten(&p, &held);
        }
        hone_loader_destroy(&l);
        snprintf(yaml, sizeof yaml, "%sdisable_shuffling: true\n" STREAM, configs[c]);
        o = open_stream(&d, yaml);
        assert_int_equal(hone_loader_epoch_steps(o.loader), -1);
        for (int64_t s = 0; s < steps; s++) {
            T_OK(hone_loader_step(o.loader, s, &p));
            flatten(&p, &streamed);
        }
        assert_true(p.epoch_end >= 2 && p.epoch_end < 3);
        assert_same(&held, &streamed);
        streamed.len = 0;           /* and again, from the first step */
        for (int64_t s = 0; s < steps; s++) {
            T_OK(hone_loader_step(o.loader, s, &p));
            flatten(&p, &streamed);
        }
        assert_same(&held, &streamed);
        close_stream(&o);
    }
    HONE_VEC_DEINIT(&held);
    HONE_VEC_DEINIT(&streamed);
    t_data_close(&d);
}

/* The first ids of an epoch's samples, in order. Each sample has a number of its own, whatever window it came in. */
static void epoch_order(opened *o, int64_t *step, hone_vec_i64 *out)
{
    uint8_t       *seen = hone_calloc(MANY, 1);
    hone_step_plan p;

    assert_non_null(seen);
    out->len = 0;
    do {
        T_OK(hone_loader_step(o->loader, (*step)++, &p));
        for (int64_t i = 0; i < p.begin[p.micro_batches]; i++) {
            assert_in_range(p.sample[i].id, 0, MANY - 1);
            assert_int_equal(seen[p.sample[i].id]++, 0);
            T_OK(HONE_VEC_PUSH(out, p.sample[i].ids[0]));
        }
    } while (!p.ends_epoch);
    hone_free(seen);
}

static void each_row_once_per_epoch(void **state)
{
    static const char *const configs[] = {
        A STREAM, A STREAM "data_seed: 1\n", A STREAM "buffer_size: 100\n", A STREAM "buffer_size: 1\n",
        A STREAM "packing: true\ncutoff_len: 32\nbuffer_size: 64\n",
    };
    static const int64_t buffer[] = { 16384, 16384, 100, 1, 0 };
    hone_vec_i64         order[HONE_COUNTOF(configs)] = { { 0 } }, two = { 0 };
    uint8_t             *seen = hone_calloc(MANY, 1);
    t_data               d;

    (void)state;
    assert_non_null(seen);
    t_data_open(&d);
    write_rows(&d, "a.jsonl", 0, MANY);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        opened  o = open_stream(&d, configs[c]);
        int64_t step = 0, in_place = 0;

        epoch_order(&o, &step, &order[c]);
        epoch_order(&o, &step, &two);
        assert_int_equal(order[c].len, MANY);
        assert_int_equal(two.len, MANY);
        memset(seen, 0, MANY);
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(seen[order[c].data[i]] & 1, 0);
            seen[order[c].data[i]] |= 1;
            assert_int_equal(seen[two.data[i]] & 2, 0);
            seen[two.data[i]] |= 2;
            in_place += order[c].data[i] == i;
            assert_true(!buffer[c] || order[c].data[i] < i + buffer[c]);     /* no row comes before it is read */
        }
        assert_true(buffer[c] == 1 ? in_place == MANY : in_place < MANY / 10);
        assert_int_equal(memcmp(order[c].data, two.data, MANY * sizeof *two.data) == 0, buffer[c] == 1);
        close_stream(&o);
    }
    assert_memory_not_equal(order[0].data, order[1].data, MANY * sizeof *two.data);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++)
        HONE_VEC_DEINIT(&order[c]);
    HONE_VEC_DEINIT(&two);
    hone_free(seen);
    t_data_close(&d);
}

/* Tokens in = tokens trained on + cut + dropped, over windows and what is carried from one to the next. */
static void tokens_are_conserved(void **state)
{
    static const char *const configs[] = {
        A STREAM "cutoff_len: 6\n", A STREAM "cutoff_len: 6\ntruncation: drop\n", A STREAM "cutoff_len: 6\ntruncation: cut-left\n",
        A STREAM "stage: pt\ncutoff_len: 64\n", A STREAM "stage: pt\ncutoff_len: 2000\n", A STREAM "stage: pt\npacking: false\ncutoff_len: 3\n",
        A STREAM "packing: true\ncutoff_len: 6\n", A STREAM "packing: true\ncutoff_len: 32\npacking_strategy: greedy\n",
    };
    t_data  d;
    int64_t all = 0;

    (void)state;
    t_data_open(&d);
    write_rows(&d, "a.jsonl", 0, MANY);
    for (int i = 0; i < MANY; i++)
        all += 2 + i * 7 % 9;
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        opened            o = open_stream(&d, configs[c]);
        hone_step_plan    p;
        hone_stream_place at;
        int64_t           trained = 0, step = 0;

        do {
            T_OK(hone_loader_step(o.loader, step++, &p));
            trained += p.tokens;
        } while (!p.ends_epoch);
        at = hone_stream_tell(o.stream);
        assert_int_equal(at.rows, MANY);
        assert_int_equal(at.epoch_rows, MANY);
        assert_int_equal(at.kept + at.cut + at.too_long + at.bad + at.unsupervised, MANY);
        assert_int_equal(at.tokens_in, all);
        assert_int_equal(at.tokens_kept + at.tokens_cut + at.tokens_dropped, all);
        assert_int_equal(trained, at.tokens_kept);
        assert_int_equal(c == 1 || c == 3 ? at.tokens_cut : 0, 0);
        close_stream(&o);
    }
    t_data_close(&d);
}

/* ---- going on ---- */

static json_t *position(const hone_loader *l)
{
    hone_str text = HONE_STR_INIT;
    json_t  *json;

    hone_loader_tell(l, &text);
    T_OK(hone_str_ok(&text));
    T_OK(hone_json_parse(&json, text.data, text.len, "position"));
    hone_str_deinit(&text);
    return json;
}

/* From wherever the loader was told to go on, the steps are those of the run that was not stopped. */
static void any_place_is_found_again(void **state)
{
    static const char *const configs[] = {
        A STREAM "per_device_train_batch_size: 64\nbuffer_size: 300\n",
        A STREAM "global_batch_tokens: 400\nthreads: 4\n",
        A STREAM "packing: true\ncutoff_len: 32\nper_device_train_batch_size: 16\nbuffer_size: 1000\n",
        A STREAM "stage: pt\ncutoff_len: 50\nper_device_train_batch_size: 8\nbuffer_size: 300\n",
        A STREAM "stage: pt\ncutoff_len: 14000\nper_device_train_batch_size: 1\nbuffer_size: 300\n",     /* more than a window */
        A STREAM "per_device_train_batch_size: 64\nval_size: 30\ncutoff_len: 8\ntruncation: drop\n",
        "dataset: '@/a.jsonl,@/c.csv'\nstage: pt\nper_device_train_batch_size: 100\nmix_strategy: interleave_under\nbuffer_size: 40\n"
        "cutoff_len: 64\nappend_eos: false\n" STREAM,
    };
    hone_vec_i32 all = { 0 }, rest = { 0 };
    t_data       d;
    hone_str     csv = HONE_STR_INIT;

    (void)state;
    t_data_open(&d);
    write_rows(&d, "a.jsonl", 0, MANY);
    hone_str_puts(&csv, "id,text\n");
    for (int i = 0; i < 500; i++)
        hone_str_printf(&csv, "%d,\"a text, number\n%d\"\n", i, i);
    t_data_write(&d, "c.csv", hone_str_c(&csv), csv.len);
    hone_str_deinit(&csv);
    T_OK(hone_tokenizer_load((hone_tokenizer **)&d.context.tokenizer, TOKENIZER));
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++) {
        opened         o = open_stream(&d, configs[c]), again;
        hone_step_plan p;
        json_t        *at[1000];
        size_t         begin[1000], n = 0;

        all.len = 0;
        do {
            at[n] = position(o.loader);
            begin[n] = all.len;
            T_OK(hone_loader_step(o.loader, (int64_t)n++, &p));
            flatten(&p, &all);
            assert_true(n < HONE_COUNTOF(at));
        } while (p.epoch_end < 1.3);
        close_stream(&o);
        assert_true(n > 2);
        for (size_t from = 0; from < n; from += 1 + n / 7) {
            again = open_stream(&d, configs[c]);
            T_OK(hone_loader_seek(again.loader, (int64_t)from, at[from]));
            rest.len = 0;
            for (size_t s = from; s < n; s++) {
                json_t *here = position(again.loader), *then = json_copy(at[s]);

                json_object_del(here, "hash");      /* known once the window has been read, which is sooner here */
                json_object_del(then, "hash");
                assert_true(json_equal(here, then));
                json_decref(here);
                json_decref(then);
                T_OK(hone_loader_step(again.loader, (int64_t)s, &p));
                flatten(&p, &rest);
            }
            assert_int_equal(rest.len, all.len - begin[from]);
            assert_memory_equal(rest.data, all.data + begin[from], rest.len * sizeof *rest.data);
            close_stream(&again);
        }
        for (size_t s = 0; s < n; s++)
            json_decref(at[s]);
    }
    HONE_VEC_DEINIT(&all);
    HONE_VEC_DEINIT(&rest);
    hone_tokenizer_destroy((hone_tokenizer **)&d.context.tokenizer);
    t_data_close(&d);
}

/* Rows that a run has read, in windows before and in the present one, are told from others. */
static void other_rows_are_noticed(void **state)
{
    static const char yaml[] = A STREAM "per_device_train_batch_size: 1000\nbuffer_size: 10\n";
    t_data            d;
    opened            o;
    hone_step_plan    p;
    json_t           *at[5];
    char              before[33], after[33];

    (void)state;
    t_data_open(&d);
    write_rows(&d, "a.jsonl", 0, MANY);
    o = open_stream(&d, yaml);
    hone_stream_fingerprint(o.stream, before);
    for (int64_t s = 0; s < 5; s++) {
        at[s] = position(o.loader);
        T_OK(hone_loader_step(o.loader, s, &p));
    }
    close_stream(&o);
    write_rows(&d, "a.jsonl", 9, MANY);
    o = open_stream(&d, yaml);
    hone_stream_fingerprint(o.stream, after);
    assert_string_not_equal(before, after);
    for (int64_t s = 0; s < 5; s++) {
        T_STATUS(hone_loader_seek(o.loader, s, at[s]), HONE_E_EXISTS);
        T_ERROR_HAS("not those that the run was trained on");
    }
    json_object_set_new(json_object_get(at[0], "window"), "row", json_integer(-1));
    T_STATUS(hone_loader_seek(o.loader, 0, at[0]), HONE_E_FORMAT);
    T_STATUS(hone_loader_seek(o.loader, 0, NULL), HONE_E_FORMAT);
    for (int64_t s = 0; s < 5; s++)
        json_decref(at[s]);
    close_stream(&o);
    t_data_close(&d);
}

/* ---- rows that are not trained on ---- */

static void held_out_rows_stay_out(void **state)
{
    enum { HELD = 37 };
    t_data       d;
    opened       o;
    hone_vec_i64 order = { 0 };
    uint8_t     *held = hone_calloc(MANY, 1);
    int64_t      step = 0;

    (void)state;
    assert_non_null(held);
    t_data_open(&d);
    write_rows(&d, "a.jsonl", 0, MANY);
    o = open_stream(&d, A STREAM "val_size: 37\nper_device_train_batch_size: 100\n");
    assert_int_equal(hone_dataset_len(d.eval), HELD);
    for (int64_t i = 0; i < HELD; i++)
        held[hone_dataset_at(d.eval, i).ids[0]] = 1;
    for (int epoch = 0; epoch < 2; epoch++) {
        epoch_order(&o, &step, &order);
        assert_int_equal(order.len, MANY - HELD);
        for (size_t i = 0; i < order.len; i++)
            assert_int_equal(held[order.data[i]], 0);
    }
    close_stream(&o);
    t_data_options(&d, A STREAM "val_size: 5000\n");
    T_OK(hone_stream_create(&o.stream, &d.eval, &d.context));     /* all of them: nothing is left for an epoch */
    T_STATUS(hone_loader_create_stream(&o.loader, o.stream, d.options, accept, NULL), HONE_E_DATA);
    close_stream(&o);
    hone_dataset_destroy(&d.eval);
    t_data_options(&d, A STREAM "val_size: 5001\n");
    T_STATUS(hone_stream_create(&o.stream, &d.eval, &d.context), HONE_E_USAGE);
    T_ERROR_HAS("holds out 5001 of 5000 rows");
    HONE_VEC_DEINIT(&order);
    hone_free(held);
    t_data_close(&d);
}

static void faults_are_told_with_their_place(void **state)
{
    t_data         d;
    opened         o;
    hone_step_plan p;
    hone_str       rows = HONE_STR_INIT;

    (void)state;
    t_data_open(&d);
    for (int i = 0; i < 3000; i++)
        hone_str_puts(&rows, i == 2500 ? "{\"input\": [1, 2]}\n" : i % 3 == 1 ? "{\"input_ids\": [1]}\n"
                                                                                       : "{\"input_ids\": [1, 2]}\n");
    t_data_write(&d, "a.jsonl", hone_str_c(&rows), rows.len);
    o = open_stream(&d, A STREAM "disable_shuffling: true\nper_device_train_batch_size: 100\n");
    for (int64_t s = 0; s < 13; s++)
        T_OK(hone_loader_step(o.loader, s, &p));
    T_STATUS(hone_loader_step(o.loader, 13, &p), HONE_E_DATA);
    T_ERROR_HAS("a.jsonl, line 2501");
    close_stream(&o);
    o = open_stream(&d, A STREAM "disable_shuffling: true\nbad_rows: drop\nper_device_train_batch_size: 10000\n");
    T_OK(hone_loader_step(o.loader, 0, &p));
    assert_true(p.ends_epoch);
    assert_int_equal(hone_stream_tell(o.stream).bad, 1);
    assert_int_equal(hone_stream_tell(o.stream).unsupervised, 999);
    assert_int_equal(hone_stream_tell(o.stream).kept, 2000);
    close_stream(&o);

    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1, 2]}\n{\"input_ids\": [1, \n", 0);
    t_data_options(&d, A STREAM);
    T_OK(hone_stream_create(&o.stream, &d.eval, &d.context));
    T_STATUS(hone_loader_create_stream(&o.loader, o.stream, d.options, accept, NULL), HONE_E_FORMAT);
    T_ERROR_HAS("a.jsonl: line 2");
    close_stream(&o);
    t_data_write(&d, "a.jsonl", "{\"input_ids\": [1]}\n", 0);
    T_OK(hone_stream_create(&o.stream, &d.eval, &d.context));
    T_STATUS(hone_loader_create_stream(&o.loader, o.stream, d.options, accept, NULL), HONE_E_DATA);
    T_ERROR_HAS("no sample to train on");
    close_stream(&o);
    hone_str_deinit(&rows);
    t_data_close(&d);
}

static void running_out_of_memory_is_an_error(void **state)
{
    static const char *const configs[] = { A STREAM "packing: true\ncutoff_len: 16\nthreads: 1\n",
                                           A STREAM "stage: pt\ncutoff_len: 16\nval_size: 3\nthreads: 1\n" };
    t_data d;

    (void)state;
    t_data_open(&d);
    write_rows(&d, "a.jsonl", 0, 30);
    for (size_t c = 0; c < HONE_COUNTOF(configs); c++)
        for (int64_t n = 0;; n++) {
            hone_step_plan p;
            opened         o = { NULL, NULL };
            hone_status    st;
            bool           reached;

            t_data_options(&d, configs[c]);
            hone_dataset_destroy(&d.eval);
            hone_mem_fail_at(n);
            st = hone_stream_create(&o.stream, &d.eval, &d.context);
            if (st == HONE_OK)
                st = hone_loader_create_stream(&o.loader, o.stream, d.options, accept, NULL);
            for (int64_t s = 0; s < 9 && st == HONE_OK; s++)
                st = hone_loader_step(o.loader, s, &p);
            reached = hone_mem_fail_reached();
            hone_mem_fail_at(-1);
            assert_int_equal(st, reached ? HONE_E_NOMEM : HONE_OK);
            close_stream(&o);
            if (!reached)
                break;
        }
    t_data_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_the_data),
        cmocka_unit_test(each_row_once_per_epoch),
        cmocka_unit_test(tokens_are_conserved),
        cmocka_unit_test(any_place_is_found_again),
        cmocka_unit_test(other_rows_are_noticed),
        cmocka_unit_test(held_out_rows_stay_out),
        cmocka_unit_test(faults_are_told_with_their_place),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
