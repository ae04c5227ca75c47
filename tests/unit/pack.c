/* Packing: which samples share a row, that every token is accounted for, and that samples of a row never see each other. */
#include <math.h>
#include <stdio.h>

#include "autograd/tape.h"
#include "base/mem.h"
#include "base/str.h"
#include "data_fixture.h"
#include "hone_test.h"
#include "op/scope.h"
#include "text/slots.h"
#include "tiny_model.h"

#define A "dataset: '@/a.jsonl'\n"

/* Write n samples of these lengths; the ids are 0 … 36. */
static void write_rows(t_data *d, const int *lengths, int n)
{
    hone_str rows = HONE_STR_INIT;

    for (int i = 0; i < n; i++) {
        hone_str_puts(&rows, "{\"input_ids\": [");
        for (int t = 0; t < lengths[i]; t++)
            hone_str_printf(&rows, "%s%d", t ? ", " : "", (7 * t + 5 * i) % 37);
        hone_str_puts(&rows, "]}\n");
    }
    T_OK(hone_str_ok(&rows));
    t_data_write(d, "a.jsonl", rows.data, rows.len);
    hone_str_deinit(&rows);
}

/* The rows as text: "0 3 | 1 2"; static storage. */
static const char *rows_of(const hone_packing *p)
{
    static char text[512];
    size_t      n = 0;

    text[0] = '\0';
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t k = 0; k < hone_packing_count(p, r); k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", k ? " " : r ? " | " : "",
                                  (long long)hone_packing_sample(p, r, k));
    return text;
}

static void rows_by_hand(void **state)
{
    static const int lengths[] = { 5, 3, 7, 2, 16, 9, 6 };
    static const struct { const char *yaml, *rows; int fullest, emptiest; double fill; } cases[] = {
        /* longest first: 16 | 9 7 | 6 5 3 2, listed by their first samples */
        { A "packing: true\ncutoff_len: 16\n", "0 1 3 6 | 2 5 | 4", 16, 16, 1 },
        { A "packing: true\ncutoff_len: 20\n", "0 6 | 1 2 5 | 3 4", 19, 11, 48.0 / 60 },
        { A "packing: true\ncutoff_len: 16\npack_length: 1000000000000\n", "0 1 2 3 4 5 6", 48, 48, 48e-12 },
        { A "packing: true\ncutoff_len: 16\npacking_strategy: greedy\n", "0 1 2 | 3 | 4 | 5 6", 16, 2, 48.0 / 64 },
        { A "packing: true\ncutoff_len: 20\npacking_strategy: greedy\n", "0 1 2 3 | 4 | 5 6", 17, 15, 48.0 / 60 },
        { A "neat_packing: true\ncutoff_len: 16\n", "0 1 3 6 | 2 5 | 4", 16, 16, 1 },
        { A "cutoff_len: 16\npacking_strategy: greedy\n", "0 | 1 | 2 | 3 | 4 | 5 | 6", 0, 0, 1 },
    };
    t_data d;

    (void)state;
    t_data_open(&d);
    write_rows(&d, lengths, 7);
    for (size_t c = 0; c < HONE_COUNTOF(cases); c++) {
        hone_packing p;

        T_OK(t_data_load(&d, cases[c].yaml));
        T_OK(hone_packing_make(&p, d.train, d.options));
        assert_string_equal(rows_of(&p), cases[c].rows);
        assert_int_equal(p.fullest, cases[c].fullest);
        assert_int_equal(p.emptiest, cases[c].emptiest);
        assert_int_equal(p.tokens, 48);
        assert_true(fabs(hone_packing_fill(&p) / cases[c].fill - 1) < 1e-12);
        hone_packing_deinit(&p);
    }
    d.options->pack_length = 15;        /* the options refuse this; so does packing */
    d.options->packing = HONE_TRI_TRUE;
    T_STATUS(hone_packing_make(&(hone_packing){ 0 }, d.train, d.options), HONE_E_USAGE);
    T_ERROR_HAS("a sample of 16 tokens does not fit into pack_length 15");
    t_data_close(&d);
}

/* Best fit the slow way, on many samples: as many rows, equally full. */
static void best_fit_is_best_fit(void **state)
{
    enum { N = 500, CAPACITY = 130 };
    t_data       d;
    hone_packing p;
    int          lengths[N], room[N], order[N], rows = 0, counts[CAPACITY + 1] = { 0 };

    (void)state;
    for (int i = 0; i < N; i++) {
        lengths[i] = 2 + i * 37 % 97;
        order[i] = i;
    }
    for (int i = 1; i < N; i++)
        for (int k = i; k > 0 && lengths[order[k]] > lengths[order[k - 1]]; k--) {
            int t = order[k];

            order[k] = order[k - 1];
            order[k - 1] = t;
        }
    for (int i = 0; i < N; i++) {
        int best = -1;

        for (int b = 0; b < rows; b++)
            if (room[b] >= lengths[order[i]] && (best < 0 || room[b] < room[best]))
                best = b;
        if (best < 0)
            room[best = rows++] = CAPACITY;
        room[best] -= lengths[order[i]];
    }
    for (int r = 0; r < rows; r++)
        counts[room[r]]++;
    t_data_open(&d);
    write_rows(&d, lengths, N);
    T_OK(t_data_load(&d, A "packing: true\ncutoff_len: 130\n"));
    T_OK(hone_packing_make(&p, d.train, d.options));
    assert_int_equal(p.rows, rows);
    for (int64_t r = 0, last = -1; r < p.rows; r++) {
        int64_t tokens = 0;

        assert_true(hone_packing_sample(&p, r, 0) > last);      /* rows by their first samples, samples in order */
        last = hone_packing_sample(&p, r, 0);
        for (int64_t k = 0; k < hone_packing_count(&p, r); k++) {
            assert_true(k == 0 || hone_packing_sample(&p, r, k) > hone_packing_sample(&p, r, k - 1));
            tokens += lengths[hone_packing_sample(&p, r, k)];
        }
        counts[CAPACITY - tokens]--;
    }
    for (int i = 0; i <= CAPACITY; i++)
        assert_int_equal(counts[i], 0);
    hone_packing_deinit(&p);
    t_data_close(&d);
}

/* More samples than one stretch: each is in one row, and rows are full on both sides of the cut. */
static void stretches_follow_one_another(void **state)
{
    enum { N = HONE_PACKING_STRETCH + 1000 };
    static const char *const configs[] = { A "packing: true\ncutoff_len: 6\n",
                                           A "packing: true\ncutoff_len: 6\npacking_strategy: greedy\n" };
    t_data   d;
    hone_str rows = HONE_STR_INIT;
    uint8_t *seen = hone_calloc(N, 1);

    (void)state;
    assert_non_null(seen);
    for (int i = 0; i < N; i++)
        hone_str_puts(&rows, "{\"input_ids\": [1, 2]}\n");
    t_data_open(&d);
    t_data_write(&d, "a.jsonl", rows.data, rows.len);
    hone_str_deinit(&rows);
    for (int c = 0; c < 2; c++) {
        hone_packing p;

        T_OK(t_data_load(&d, configs[c]));
        T_OK(hone_packing_make(&p, d.train, d.options));
        assert_int_equal(p.rows, (HONE_PACKING_STRETCH + 2) / 3 + (1000 + 2) / 3);
        assert_int_equal(p.tokens, 2 * N);
        assert_int_equal(p.fullest, 6);
        assert_int_equal(p.emptiest, 2);
        for (int64_t r = 0; r < p.rows; r++)
            for (int64_t k = 0; k < hone_packing_count(&p, r); k++)
                assert_int_equal(seen[hone_packing_sample(&p, r, k)]++, c);
        for (int i = 0; i < N; i++)
            assert_int_equal(seen[i], c + 1);
        hone_packing_deinit(&p);
    }
    hone_free(seen);
    t_data_close(&d);
}

/* Tokens of an epoch's steps. */
static int64_t tokens_of_an_epoch(const t_data *d)
{
    hone_loader   *l;
    hone_step_plan p;
    int64_t        tokens = 0;

    T_OK(hone_loader_create(&l, d->train, d->options));
    for (int64_t s = 0; s < hone_loader_epoch_steps(l); s++) {
        T_OK(hone_loader_step(l, s, &p));
        for (int64_t i = 0; i < p.begin[p.micro_batches]; i++)
            tokens += p.sample[i].n;
    }
    assert_true(p.ends_epoch);
    hone_loader_destroy(&l);
    return tokens;
}

/* Whatever the policy: tokens in = tokens trained on + tokens reported as cut or dropped. */
static void tokens_are_conserved(void **state)
{
    static const int         lengths[] = { 5, 2, 3, 1, 9, 4, 14, 6, 1, 7, 3 };     /* 55 tokens */
    static const char *const policies[] = { "drop", "cut-left", "cut-right", "error" };
    static const char *const packings[] = {
        "packing: false\n", "packing: true\n", "packing: true\npacking_strategy: greedy\n",
        "packing: true\npack_length: 11\n", "stage: pt\n", "stage: pt\npack_length: 6\n", "stage: pt\npacking: false\n",
    };
    t_data d;
    char   yaml[256];

    (void)state;
    t_data_open(&d);
    write_rows(&d, lengths, HONE_COUNTOF(lengths));
    for (size_t i = 0; i < HONE_COUNTOF(policies); i++)
        for (size_t k = 0; k < HONE_COUNTOF(packings); k++)
            for (int cutoff = 4; cutoff <= 14; cutoff += 5) {
                const hone_dataset_report *r;
                bool stream = k == 4 || k == 5;

                snprintf(yaml, sizeof yaml, A "%struncation: %s\ncutoff_len: %d\n", packings[k], policies[i], cutoff);
                if (k == 3 && cutoff > 11)
                    continue;
                if (k == 5 && cutoff > 6)
                    continue;
                if (stream && i != 2)       /* refused: documents that are joined are not cut */
                    continue;
                if (i == 3 && cutoff < 14) {
                    T_STATUS(t_data_load(&d, yaml), HONE_E_DATA);
                    continue;
                }
                T_OK(t_data_load(&d, yaml));
                r = hone_dataset_get_report(d.train);
                assert_int_equal(r->tokens_in, 55);
                assert_int_equal(tokens_of_an_epoch(&d) + r->tokens_cut + r->tokens_dropped, 55);
                assert_int_equal(tokens_of_an_epoch(&d), r->tokens_kept);
            }
    t_data_close(&d);
}

/* The same for conversations under a named template, whose turns `fit` cuts one by one. */
static void tokens_of_turns_are_conserved(void **state)
{
    static const char *const policies[] = { "fit", "auto", "drop", "cut-left", "cut-right" };
    static const char *const packings[] = { "", "packing: true\n", "packing: true\npacking_strategy: greedy\n" };
    t_data          d;
    hone_str        rows = HONE_STR_INIT;
    hone_tokenizer *tokenizer;
    hone_chat      *chat;
    hone_slots     *slots;
    char            yaml[256];
    int64_t         all = 0, cut = 0;

    (void)state;
    t_data_open(&d);
    for (int i = 0; i < 12; i++) {
        hone_str_puts(&rows, "{\"instruction\": \"count");
        for (int k = 0; k < i * 3; k++)
            hone_str_printf(&rows, " %d", k);
        hone_str_puts(&rows, "\", \"output\": \"so");
        for (int k = 0; k < i * i % 20; k++)
            hone_str_printf(&rows, " %d", k);
        hone_str_puts(&rows, i % 2 ? "\", \"history\": [[\"and before?\", \"yes, 1 2 3\"]]}\n" : "\"}\n");
    }
    T_OK(hone_str_ok(&rows));
    t_data_write(&d, "a.jsonl", rows.data, rows.len);
    hone_str_deinit(&rows);
    for (size_t i = 0; i < HONE_COUNTOF(policies); i++)
        for (size_t k = 0; k < HONE_COUNTOF(packings); k++) {
            const hone_dataset_report *r;

            snprintf(yaml, sizeof yaml, A "template: chatml\ntruncation: %s\ncutoff_len: 60\n%s", policies[i], packings[k]);
            t_data_options(&d, yaml);
            T_OK(hone_dataset_open_text(&tokenizer, &chat, &slots, TEST_DATA "/data/template/tokenizer", d.options));
            d.context.tokenizer = tokenizer;
            d.context.slots = slots;
            T_OK(hone_dataset_load(&d.train, &d.eval, &d.context));
            r = hone_dataset_get_report(d.train);
            all = all ? all : r->tokens_in;
            assert_int_equal(r->tokens_in, all);
            assert_int_equal(tokens_of_an_epoch(&d) + r->tokens_cut + r->tokens_dropped, all);
            assert_int_equal(tokens_of_an_epoch(&d), r->tokens_kept);
            cut += r->tokens_cut;
            assert_true(r->tokens_cut + r->tokens_dropped > 0 && r->longest <= 60);
            hone_slots_destroy(&slots);
            hone_chat_destroy(&chat);
            hone_tokenizer_destroy(&tokenizer);
        }
    assert_true(cut > 0);
    t_data_close(&d);
}

/* ---- through a model ---- */

static hone_batch *batch_of(hone_ctx *ctx, const hone_model *m, const hone_sample *s, int64_t n)
{
    hone_sample_view views[8];
    hone_batch      *b;

    for (int64_t i = 0; i < n; i++)
        views[i] = (hone_sample_view){ s[i].ids, s[i].labels, s[i].n, (uint32_t)s[i].id };
    T_OK(hone_batch_create(&b, ctx, views, n, m->vocab, NULL));
    return b;
}

/* Per-token losses of a batch, into out[tokens]; and gradients of the tokens from `first` on. */
static float *losses(hone_ctx *ctx, const hone_model *m, hone_batch *b, int64_t first, float *out, size_t *n)
{
    const hone_trunk_options o = { 0 };
    hone_tape               *tape;
    hone_tensor             *nll;

    for (int64_t t = 0; t < b->tokens; t++)
        b->weights[t] = t < first ? 0 : 1;
    hone_params_clear_grads(m->params);
    T_OK(hone_tape_create(&tape));
    hone_tape_attach(ctx, tape);
    hone_scope_open(ctx);
    nll = hone_trunk_nll(ctx, m, b, &o);
    T_OK(ctx->status);
    memcpy(out, hone_tensor_data(nll), (size_t)b->tokens * sizeof *out);
    hone_scope_close(ctx, NULL, 0);
    T_OK(hone_tape_backward(ctx, tape, NULL, NULL));
    hone_tape_attach(ctx, NULL);
    hone_tape_destroy(&tape);
    return t_gradients(m, n);
}

/* Samples of a row: positions restart, no loss crosses a border, losses are those of the samples alone to the bit, and a token
 * of the first sample changes neither loss nor gradient of the second. */
static void samples_of_a_row_are_strangers(void **state)
{
    static const int lengths[] = { 5, 3, 7 };       /* one row of 16 */
    t_tiny_spec      spec = { .dtype = HONE_DTYPE_F32 };
    hone_ctx        *ctx = t_ctx(2);
    hone_model      *m = t_tiny_model(ctx, &spec);
    hone_loader     *l;
    hone_step_plan   p;
    hone_batch      *b;
    t_data           d;
    float            packed[16], other[16], *gradient, *changed;
    size_t           n;

    (void)state;
    t_data_open(&d);
    write_rows(&d, lengths, 3);
    T_OK(t_data_load(&d, A "packing: true\ncutoff_len: 16\nper_device_train_batch_size: 1\ndisable_shuffling: true\n"));
    T_OK(hone_loader_create(&l, d.train, d.options));
    T_OK(hone_loader_step(l, 0, &p));
    assert_int_equal(p.begin[1], 3);
    b = batch_of(ctx, m, p.sample, 3);
    assert_int_equal(b->tokens, 15);            /* no padding */
    assert_int_equal(b->predicted, 4 + 2 + 6);
    assert_int_equal(p.supervised, 4 + 2 + 6);
    for (int64_t t = 0, s = 0; s < 3; s++)
        for (int k = 0; k < lengths[s]; k++)
            assert_int_equal(b->positions[t++], k);
    gradient = losses(ctx, m, b, 5, packed, &n);
    hone_batch_destroy(&b);
    for (int64_t s = 0, t = 0; s < 3; t += lengths[s++]) {
        b = batch_of(ctx, m, p.sample + s, 1);
        hone_free(losses(ctx, m, b, 0, other, &n));
        assert_memory_equal(other, packed + t, (size_t)lengths[s] * sizeof *other);
        assert_true(packed[t + lengths[s] - 1] == 0);       /* its last token predicts nothing */
        hone_batch_destroy(&b);
    }
    b = batch_of(ctx, m, p.sample, 3);
    b->ids[2] = (b->ids[2] + 1) % 37;
    changed = losses(ctx, m, b, 5, other, &n);
    assert_memory_not_equal(other, packed, 5 * sizeof *other);
    assert_memory_equal(other + 5, packed + 5, 10 * sizeof *other);
    for (size_t i = 0; i < n; i++)
        assert_true(changed[i] == gradient[i]);
    hone_free(changed);
    hone_free(gradient);
    hone_batch_destroy(&b);
    hone_loader_destroy(&l);
    t_data_close(&d);
    hone_model_destroy(&m);
    hone_ctx_destroy(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_by_hand),
        cmocka_unit_test(best_fit_is_best_fit),
        cmocka_unit_test(stretches_follow_one_another),
        cmocka_unit_test(tokens_are_conserved),
        cmocka_unit_test(tokens_of_turns_are_conserved),
        cmocka_unit_test(samples_of_a_row_are_strangers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
