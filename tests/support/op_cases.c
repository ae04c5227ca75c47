/* The cases: for each op its buffers, and a list of sizes and flags. */
#include "op_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hone_test.h"

typedef struct each { bool small; uint64_t seed; void (*fn)(op_case *c, void *arg); void *arg; } each;

static void emit(const each *e, op_case *c)
{
    e->fn(c, e->arg);
    op_case_free(c);
}

static void fill_ints(op_case *c, int buffer, int64_t below)
{
    op_buffer *b = &c->buffers[buffer];

    for (int64_t i = 0; i < b->rows * b->cols; i++)
        b->values[i] = (double)hone_rng_below(&c->rng, (uint64_t)below);
}

/* Sizes of rows and columns: one, primes, below and above every vector width and block. */
static const int64_t SIZES[][2] = {
    { 1, 1 }, { 1, 2 }, { 2, 1 }, { 3, 3 }, { 5, 7 }, { 7, 13 }, { 13, 5 }, { 2, 17 }, { 17, 31 }, { 3, 64 }, { 4, 100 }, { 31, 127 },
    { 127, 3 }, { 5, 257 }, { 100, 33 }, { 257, 17 }, { 65, 64 }, { 9, 1030 }, { 300, 96 },
};

static bool too_large(const each *e, int64_t rows, int64_t dim) { return e->small && (rows * dim > 400 || rows > 20); }

static void embedding_cases(const each *e)
{
    for (size_t s = 0; s < HONE_COUNTOF(SIZES); s++)
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            int64_t rows = SIZES[s][0], dim = SIZES[s][1], vocab = 1 + (int64_t)s * 3;
            op_case c = op_case_new(HONE_OP_embedding, s, e->seed);
            int     ids, table, y, dy, dtable;

            if (too_large(e, HONE_MAX(rows, vocab), dim))
                continue;
            snprintf(c.label, sizeof c.label, "embedding rows %ld dim %ld vocab %ld%s", rows, dim, vocab, accumulate ? " accumulate" : "");
            c.args.embedding = (hone_embedding_args){ .rows = rows, .vocab = vocab, .dim = dim, .padding = s % 2 ? -1 : vocab / 2,
                                                          .accumulate = accumulate };
            ids = op_case_add(&c, "ids", offsetof(hone_embedding_args, ids), OP_I32, OP_ROW, rows, 1, "i-i");
            table = op_case_add(&c, "table", offsetof(hone_embedding_args, table), OP_ELEM, OP_SHARED, vocab, dim, "i--");
            y = op_case_add(&c, "y", offsetof(hone_embedding_args, y), OP_ELEM, OP_ROW, rows, dim, "o--");
            dy = op_case_add(&c, "dy", offsetof(hone_embedding_args, dy), OP_ELEM, OP_ROW, rows, dim, "--i");
            dtable = op_case_add(&c, "dtable", offsetof(hone_embedding_args, dtable), OP_ACC, OP_SHARED, vocab, dim, accumulate ? "--b" : "--o");
            fill_ints(&c, ids, vocab);
            c.buffers[table].gradient = c.args.embedding.padding < 0 ? dtable : -1;    /* what padding gets is no derivative */
            c.buffers[y].gradient = dy;
            c.buffers[dtable].length = (double)rows;
            c.rows_field = offsetof(hone_embedding_args, rows);
            c.alone[HONE_PASS_FWD] = true;
            emit(e, &c);
        }
}

enum { KN = 1, BIAS = 2, RESIDUAL = 4, Y_ACC = 8, ACCUMULATE = 16, IN_PLACE = 32 };

static void linear_case(const each *e, int64_t m, int64_t n, int64_t k, int flags)
{
    op_case     c = op_case_new(HONE_OP_linear, (uint64_t)(m * 1000003 + n * 1009 + k), e->seed);
    bool        kn = flags & KN, acc = flags & ACCUMULATE, y_acc = flags & Y_ACC;
    int         x, w, y, dy, dx, dw;

    snprintf(c.label, sizeof c.label, "linear m %ld n %ld k %ld%s%s%s%s%s%s", m, n, k, kn ? " w_is_kn" : "", flags & BIAS ? " bias" : "",
             flags & RESIDUAL ? " residual" : "", y_acc ? " y_is_acc" : "", acc ? " accumulate" : "", flags & IN_PLACE ? " in place" : "");
    c.args.linear = (hone_linear_args){ .m = m, .n = n, .k = k, .w_is_kn = kn, .y_is_acc = y_acc, .accumulate = acc };
    x = op_case_add(&c, "x", offsetof(hone_linear_args, x), OP_ELEM, OP_ROW, m, k, "i-i");
    w = op_case_add(&c, "w", offsetof(hone_linear_args, w), OP_ELEM, OP_SHARED, kn ? k : n, kn ? n : k, "ii-");
    y = op_case_add(&c, "y", offsetof(hone_linear_args, y), y_acc ? OP_ACC : OP_ELEM, OP_ROW, m, n, "o--");
    dy = op_case_add(&c, "dy", offsetof(hone_linear_args, dy), OP_ELEM, OP_ROW, m, n, "-ii");
    dx = op_case_add(&c, "dx", offsetof(hone_linear_args, dx), OP_ELEM, OP_ROW, m, k, acc ? "-b-" : "-o-");
    dw = op_case_add(&c, "dw", offsetof(hone_linear_args, dw), OP_ACC, OP_SHARED, kn ? k : n, kn ? n : k, acc ? "--b" : "--o");
    c.buffers[x].gradient = dx;
    c.buffers[w].gradient = dw;
    c.buffers[y].gradient = dy;
    c.buffers[y].length = (double)k + 2;
    c.buffers[dx].length = (double)n + 1;
    c.buffers[dw].length = (double)m + 1;
    if (flags & BIAS) {
        int bias = op_case_add(&c, "bias", offsetof(hone_linear_args, bias), OP_ELEM, OP_SHARED, 1, n, "i--");
        int dbias = op_case_add(&c, "dbias", offsetof(hone_linear_args, dbias), OP_ACC, OP_SHARED, 1, n, acc ? "--b" : "--o");

        c.buffers[bias].gradient = dbias;
        c.buffers[dbias].length = (double)m + 1;
    }
    if (flags & RESIDUAL) {
        int residual = op_case_add(&c, "residual", offsetof(hone_linear_args, residual), OP_ELEM, OP_ROW, m, n, "i--");

        if ((flags & IN_PLACE) && !y_acc)
            c.buffers[residual].alias = y;
    }
    c.rows_field = offsetof(hone_linear_args, m);
    c.alone[HONE_PASS_FWD] = c.alone[HONE_PASS_BWD] = true;
    emit(e, &c);
}

static void linear_cases(const each *e)
{
    static const int64_t shapes[][3] = {    /* m, n, k */
        { 1, 1, 1 }, { 2, 1, 3 }, { 1, 5, 2 }, { 3, 2, 1 }, { 5, 7, 13 }, { 7, 3, 17 }, { 13, 17, 5 }, { 6, 64, 32 }, { 17, 31, 64 },
        { 33, 65, 31 }, { 2, 100, 127 }, { 31, 16, 257 }, { 64, 48, 100 }, { 1, 257, 100 }, { 127, 100, 7 }, { 100, 13, 127 },
        { 65, 129, 63 }, { 257, 17, 33 }, { 12, 128, 577 }, { 97, 193, 131 },
    };
    int turn = 0;

    for (size_t s = 0; s < HONE_COUNTOF(shapes); s++) {
        int64_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
        int     every = m * n * k > 20000 ? 11 : 3;     /* all flags over the list, a few for each shape */

        if (e->small && m * n * k > 1200)
            continue;
        for (int f = turn++ % every; f < 64; f += every)
            if (!(f & IN_PLACE) || ((f & RESIDUAL) && !(f & Y_ACC)))
                linear_case(e, m, n, k, f);
    }
}

static void norm_case(const each *e, hone_op op, int64_t rows, int64_t dim, int64_t groups, int turn)
{
    op_case c = op_case_new(op, (uint64_t)(rows * 5003 + dim), e->seed);
    bool    centred = op == HONE_OP_layer_norm, acc_dx = turn & 1, acc_dw = turn & 2, weight = turn % 5 != 4;
    int     x, y, dy, dx;

    c.args.norm = (hone_norm_args){ .rows = rows, .dim = dim, .groups = groups, .eps = 1e-5, .w_offset = turn % 3 == 2 ? 1.0f : 0.0f,
                                    .accumulate_dx = acc_dx, .accumulate_dw = acc_dw };
    snprintf(c.label, sizeof c.label, "%s rows %ld dim %ld groups %ld%s%s%s offset %g", hone_op_name(op), rows, dim, groups,
             weight ? "" : " no w", acc_dx ? " accumulate dx" : "", acc_dw ? " accumulate dw" : "", (double)c.args.norm.w_offset);
    x = op_case_add(&c, "x", offsetof(hone_norm_args, x), OP_ELEM, OP_ROW, rows, dim, "ii-");
    y = op_case_add(&c, "y", offsetof(hone_norm_args, y), OP_ELEM, OP_ROW, rows, dim, "o--");
    op_case_add(&c, "rstd", offsetof(hone_norm_args, rstd), OP_ACC, OP_ROW, rows, 1, "oi-");
    dy = op_case_add(&c, "dy", offsetof(hone_norm_args, dy), OP_ELEM, OP_ROW, rows, dim, "-i-");
    dx = op_case_add(&c, "dx", offsetof(hone_norm_args, dx), OP_ELEM, OP_ROW, rows, dim, acc_dx ? "-b-" : "-o-");
    c.buffers[x].gradient = dx;
    c.buffers[y].gradient = dy;
    c.buffers[dx].length = c.buffers[y].length = (double)dim;
    if (centred)
        op_case_add(&c, "mean", offsetof(hone_norm_args, mean), OP_ACC, OP_ROW, rows, 1, "oi-");
    if (weight) {
        int w = op_case_add(&c, "w", offsetof(hone_norm_args, w), OP_ELEM, OP_SHARED, HONE_MAX(1, groups), dim, "ii-");
        int dw = op_case_add(&c, "dw", offsetof(hone_norm_args, dw), OP_ACC, OP_SHARED, HONE_MAX(1, groups), dim, acc_dw ? "-b-" : "-o-");

        c.buffers[w].gradient = dw;
        c.buffers[dw].length = (double)rows + 1;
    }
    if (centred && turn % 4 != 3) {
        int bias = op_case_add(&c, "bias", offsetof(hone_norm_args, bias), OP_ELEM, OP_SHARED, HONE_MAX(1, groups), dim, "i--");
        int dbias = op_case_add(&c, "dbias", offsetof(hone_norm_args, dbias), OP_ACC, OP_SHARED, HONE_MAX(1, groups), dim, acc_dw ? "-b-" : "-o-");

        c.buffers[bias].gradient = dbias;
        c.buffers[dbias].length = (double)rows + 1;
    }
    c.rows_field = offsetof(hone_norm_args, rows);
    c.alone[HONE_PASS_FWD] = groups <= 1;               /* which weights a row takes is its place */
    emit(e, &c);
}

static void norm_cases(const each *e, hone_op op)
{
    static const int64_t grouped[][3] = {   /* rows of each group, dim, groups */
        { 1, 1, 2 }, { 1, 5, 3 }, { 4, 7, 2 }, { 3, 9, 5 }, { 17, 33, 3 }, { 40, 6, 7 }, { 5, 64, 12 }, { 300, 20, 4 },
    };

    for (size_t s = 0; s < HONE_COUNTOF(SIZES); s++)
        for (int turn = (int)s; turn < (int)s + 5; turn++)
            if (!too_large(e, SIZES[s][0], SIZES[s][1]))
                norm_case(e, op, SIZES[s][0], SIZES[s][1], turn % 2, turn);     /* groups 0 counts as 1 */
    for (size_t s = 0; s < HONE_COUNTOF(grouped); s++)
        for (int turn = (int)s; turn < (int)s + 5; turn++)
            if (!too_large(e, grouped[s][0] * grouped[s][2], grouped[s][1]))
                norm_case(e, op, grouped[s][0] * grouped[s][2], grouped[s][1], grouped[s][2], turn);
}

static void rope_cases(const each *e)
{
    static const int64_t shapes[][4] = {    /* tokens, heads, dim, rot_dim */
        { 1, 1, 2, 2 }, { 1, 1, 3, 2 }, { 3, 2, 6, 4 }, { 5, 3, 7, 6 }, { 7, 1, 13, 2 }, { 4, 5, 34, 34 }, { 13, 2, 64, 64 }, { 9, 7, 64, 30 },
        { 31, 3, 100, 100 }, { 100, 2, 128, 128 }, { 17, 14, 80, 32 }, { 257, 1, 10, 10 },
    };

    for (size_t s = 0; s < HONE_COUNTOF(shapes); s++)
        for (int flags = 0; flags < 8; flags++) {
            int64_t tokens = shapes[s][0], heads = shapes[s][1], dim = shapes[s][2], pairs = shapes[s][3] / 2;
            op_case c = op_case_new(HONE_OP_rope, s, e->seed);
            int     x, y, cosine, sine;

            snprintf(c.label, sizeof c.label, "rope tokens %ld heads %ld dim %ld rot_dim %ld%s%s%s", tokens, heads, dim, 2 * pairs,
                     flags & 1 ? " interleaved" : "", flags & 2 ? " inverse" : "", flags & 4 ? " in place" : "");
            c.args.rope = (hone_rope_args){ .tokens = tokens, .heads = heads, .dim = dim, .rot_dim = 2 * pairs, .interleaved = flags & 1,
                                            .inverse = flags & 2 };
            x = op_case_add(&c, "x", offsetof(hone_rope_args, x), OP_ELEM, OP_ROW, tokens, heads * dim, "i--");
            y = op_case_add(&c, "y", offsetof(hone_rope_args, y), OP_ELEM, OP_ROW, tokens, heads * dim, "o--");
            if (flags & 4)
                c.buffers[y].alias = x;
            cosine = op_case_add(&c, "cos", offsetof(hone_rope_args, cos), OP_F32, OP_ROW, tokens, pairs, "i--");
            sine = op_case_add(&c, "sin", offsetof(hone_rope_args, sin), OP_F32, OP_ROW, tokens, pairs, "i--");
            for (int64_t i = 0; i < tokens * pairs; i++) {
                double angle = 6.28 * hone_rng_f64(&c.rng);

                c.buffers[cosine].values[i] = (float)cos(angle);
                c.buffers[sine].values[i] = (float)sin(angle);
            }
            c.buffers[y].length = 2;
            c.rows_field = offsetof(hone_rope_args, tokens);
            c.alone[HONE_PASS_FWD] = true;
            emit(e, &c);
        }
}

static void dropout_cases(const each *e)
{
    static const float rates[] = { 0.0f, 0.1f, 0.5f, 0.9f };

    for (size_t s = 0; s < HONE_COUNTOF(SIZES); s++)
        for (int place = 0; place < 2; place++) {
            int64_t rows = SIZES[s][0], dim = SIZES[s][1];
            op_case c = op_case_new(HONE_OP_dropout, s, e->seed);
            int     x, y, ids, positions;

            c.args.dropout = (hone_dropout_args){ .rows = rows, .dim = dim, .dropout = { rates[s % 4], 0x0123456789ABCDEFu * (s + 1), (uint32_t)s } };
            snprintf(c.label, sizeof c.label, "dropout rows %ld dim %ld p %g%s", rows, dim, (double)rates[s % 4], place ? " in place" : "");
            x = op_case_add(&c, "x", offsetof(hone_dropout_args, x), OP_ELEM, OP_ROW, rows, dim, "i--");
            y = op_case_add(&c, "y", offsetof(hone_dropout_args, y), OP_ELEM, OP_ROW, rows, dim, "o--");
            ids = op_case_add(&c, "sample_ids", offsetof(hone_dropout_args, sample_ids), OP_I32, OP_ROW, rows, 1, "i--");
            positions = op_case_add(&c, "positions", offsetof(hone_dropout_args, positions), OP_I32, OP_ROW, rows, 1, "i--");
            fill_ints(&c, ids, 1000000);
            fill_ints(&c, positions, 4096);
            if (place)
                c.buffers[y].alias = x;
            c.rows_field = offsetof(hone_dropout_args, rows);
            c.alone[HONE_PASS_FWD] = true;
            emit(e, &c);
        }
}

/* ---- attention */
typedef struct attention_shape {
    int64_t heads, kv_heads, dim, v_dim;
    int     samples;
    int64_t n_q[4], n_k[4];
} attention_shape;

static const attention_shape ATTENTION[] = {
    { 1, 1, 1, 1, 1, { 1 }, { 1 } },
    { 2, 1, 3, 3, 2, { 3, 2 }, { 3, 2 } },
    { 4, 2, 5, 7, 3, { 1, 4, 3 }, { 1, 4, 3 } },
    { 3, 3, 4, 2, 2, { 2, 3 }, { 5, 3 } },              /* fewer queries than keys: a cache */
    { 6, 2, 2, 3, 1, { 1 }, { 7 } },
    { 4, 1, 13, 13, 4, { 7, 0, 1, 17 }, { 7, 0, 1, 17 } },  /* an empty sample */
    { 5, 5, 16, 16, 2, { 31, 13 }, { 31, 13 } },
    { 2, 2, 64, 64, 2, { 65, 33 }, { 65, 33 } },
    { 14, 2, 64, 64, 1, { 40 }, { 40 } },
    { 3, 1, 80, 96, 2, { 17, 64 }, { 100, 64 } },
    { 2, 1, 128, 128, 1, { 130 }, { 130 } },
    { 2, 2, 100, 60, 1, { 70 }, { 257 } },
    { 1, 1, 257, 257, 1, { 19 }, { 19 } },
};

static void attention_case(const each *e, const attention_shape *p, int flags, double softcap)
{
    op_case c = op_case_new(HONE_OP_attention, (uint64_t)(p - ATTENTION), e->seed);
    double  cu[2][5] = { { 0 }, { 0 } };
    bool    causal = flags > 0;
    int     window = flags == 2 ? 3 : flags == 3 ? 20 : 0, ids, cu_q, cu_k, i[10];
    float   drop = flags == 1 ? 0.25f : flags == 4 ? 0.5f : 0;
    int64_t longest = 0;

    for (int s = 0; s < p->samples; s++) {
        cu[0][s + 1] = cu[0][s] + (double)p->n_q[s];
        cu[1][s + 1] = cu[1][s] + (double)p->n_k[s];
        longest = HONE_MAX(longest, p->n_k[s]);
    }
    c.args.attention = (hone_attention_args){ .samples = p->samples, .heads = p->heads, .kv_heads = p->kv_heads, .dim = p->dim,
        .v_dim = p->v_dim, .scale = 1 / sqrt((double)p->dim), .softcap = softcap, .mask = { causal, window }, .dropout = { drop, 77, 5 } };
    snprintf(c.label, sizeof c.label, "attention samples %d heads %ld/%ld dim %ld/%ld n_q %ld n_k %ld%s window %d dropout %g cap %g", p->samples,
             p->heads, p->kv_heads, p->dim, p->v_dim, p->n_q[0], p->n_k[0], causal ? " causal" : "", window, (double)drop, softcap);
    {
        static const size_t field[] = { offsetof(hone_attention_args, q), offsetof(hone_attention_args, k), offsetof(hone_attention_args, v),
            offsetof(hone_attention_args, out), offsetof(hone_attention_args, lse), offsetof(hone_attention_args, dout),
            offsetof(hone_attention_args, dq), offsetof(hone_attention_args, dk), offsetof(hone_attention_args, dv) };
        static const char *const name[] = { "q", "k", "v", "out", "lse", "dout", "dq", "dk", "dv" };
        static const char *const use[] = { "ii-", "ii-", "ii-", "oi-", "oi-", "-i-", "-o-", "-o-", "-o-" };
        int64_t q_cols = p->heads * p->dim, k_cols = p->kv_heads * p->dim, v_cols = p->kv_heads * p->v_dim, o_cols = p->heads * p->v_dim;
        int64_t cols[] = { q_cols, k_cols, v_cols, o_cols, p->heads, o_cols, q_cols, k_cols, v_cols };
        op_axis axis[] = { OP_QUERY, OP_KEY, OP_KEY, OP_QUERY, OP_QUERY, OP_QUERY, OP_QUERY, OP_KEY, OP_KEY };

        for (int b = 0; b < 9; b++)
            i[b] = op_case_add(&c, name[b], field[b], b == 4 ? OP_ACC : OP_ELEM, axis[b],
                               (int64_t)cu[axis[b] == OP_KEY][p->samples], cols[b], use[b]);
    }
    cu_q = op_case_add(&c, "cu_q", offsetof(hone_attention_args, cu_q), OP_I32, OP_CU_QUERY, p->samples + 1, 1, "ii-");
    cu_k = op_case_add(&c, "cu_k", offsetof(hone_attention_args, cu_k), OP_I32, OP_CU_KEY, p->samples + 1, 1, "ii-");
    ids = op_case_add(&c, "sample_ids", offsetof(hone_attention_args, sample_ids), OP_I32, OP_SAMPLE, p->samples, 1, drop > 0 ? "ii-" : "---");
    fill_ints(&c, ids, 1000);
    memcpy(c.buffers[cu_q].values, cu[0], (size_t)(p->samples + 1) * sizeof(double));
    memcpy(c.buffers[cu_k].values, cu[1], (size_t)(p->samples + 1) * sizeof(double));
    for (int b = 0; b < 3; b++)
        c.buffers[i[b]].gradient = i[6 + b];
    c.buffers[i[3]].gradient = i[5];
    for (int b = 3; b < 9; b++) {
        c.buffers[i[b]].length = (double)(p->dim + longest * (b >= 7 ? p->heads / p->kv_heads : 1));
        if (b >= 6)                                     /* dp - D: a difference of larger sums */
            c.buffers[i[b]].length = 16 * (c.buffers[i[b]].length + (double)p->v_dim);
        c.buffers[i[b]].rough = b == 4 ? 0 : 2;         /* probabilities and their gradients may be products' bf16 operands */
    }
    c.rows_field = offsetof(hone_attention_args, samples);
    c.alone[HONE_PASS_FWD] = c.alone[HONE_PASS_BWD] = true;
    emit(e, &c);
}

static void attention_cases(const each *e)
{
    static const double caps[] = { 0.4, 50, 1.5 };      /* scores are near 1: most saturate, hardly any, some */

    for (size_t s = 0; s < HONE_COUNTOF(ATTENTION); s++)
        for (int flags = 0; flags < 5; flags++)
            if ((!e->small || s < 5) && (s < 8 || flags % 2 == 1 || s == 9)) {
                attention_case(e, &ATTENTION[s], flags, 0);
                attention_case(e, &ATTENTION[s], flags, caps[((int)s + flags) % 3]);
            }
}

/* ---- element by element */
static const int64_t LENGTHS[] = { 1, 2, 3, 5, 7, 8, 13, 16, 17, 31, 33, 64, 100, 127, 257, 1000, 5003 };

/* Spread over the range where the function changes, with the ends, up to `most`, and zeros. */
static void fill_wide(op_case *c, int buffer, double most)
{
    static const double special[] = { 0.0, -0.0, 20.0, -20.0, 100.0, -100.0, 1e-20, -1e-20, 1e30, -1e30, -5.5, -9.25, -13.0, 0.75, -0.75 };
    op_buffer *b = &c->buffers[buffer];

    for (int64_t i = 0; i < b->rows * b->stride; i++) {
        b->values[i] *= 3;
        if (i % 7 == 3)
            b->values[i] = fmax(-most, fmin(most, special[i / 7 % (int64_t)HONE_COUNTOF(special)]));
    }
}

/* Squares stay finite in f32. */
static double largest_argument(hone_act act) { return act == HONE_ACT_RELU2 ? 1e15 : 1e30; }

static void activation_cases(const each *e)
{
    for (size_t s = 0; s < HONE_COUNTOF(LENGTHS); s++)
        for (int f = 0; f < 2 * HONE_ACT_COUNT; f++) {
            op_case c = op_case_new(HONE_OP_activation, s, e->seed);
            bool    place = f % 2;
            int     x, y, dy, dx;

            if (e->small && LENGTHS[s] > 130)
                continue;
            snprintf(c.label, sizeof c.label, "activation %d n %ld%s", f / 2, LENGTHS[s], place ? " in place" : "");
            c.args.activation = (hone_activation_args){ .act = (hone_act)(f / 2), .n = LENGTHS[s] };
            x = op_case_add(&c, "x", offsetof(hone_activation_args, x), OP_ELEM, OP_ROW, LENGTHS[s], 1, "ii-");
            y = op_case_add(&c, "y", offsetof(hone_activation_args, y), OP_ELEM, OP_ROW, LENGTHS[s], 1, "o--");
            dy = op_case_add(&c, "dy", offsetof(hone_activation_args, dy), OP_ELEM, OP_ROW, LENGTHS[s], 1, "-i-");
            dx = op_case_add(&c, "dx", offsetof(hone_activation_args, dx), OP_ELEM, OP_ROW, LENGTHS[s], 1, "-o-");
            c.buffers[x].gradient = dx;
            c.buffers[y].gradient = dy;
            if (!e->small)
                fill_wide(&c, x, largest_argument((hone_act)(f / 2)));
            if (place) {
                c.buffers[y].alias = x;
                c.buffers[dx].alias = dy;
            }
            c.rows_field = offsetof(hone_activation_args, n);
            c.alone[HONE_PASS_FWD] = c.alone[HONE_PASS_BWD] = true;
            emit(e, &c);
        }
}

static void glu_cases(const each *e)
{
    for (size_t s = 0; s < HONE_COUNTOF(SIZES); s++)
        for (int f = 0; f < 4 * HONE_ACT_COUNT; f++) {
            int64_t rows = SIZES[s][0], dim = SIZES[s][1];
            op_case c = op_case_new(HONE_OP_glu, s, e->seed);
            bool    fused = f % 2, place = f / 2 % 2;
            int     gate, up, y, dy, dgate, dup;

            if (too_large(e, rows, dim))
                continue;
            snprintf(c.label, sizeof c.label, "glu %d rows %ld dim %ld%s%s", f / 4, rows, dim, fused ? " fused" : "", place ? " in place" : "");
            c.args.glu = (hone_glu_args){ .act = (hone_act)(f / 4), .rows = rows, .dim = dim, .ld = fused ? 2 * dim : dim };
            gate = op_case_add(&c, "gate", offsetof(hone_glu_args, gate), OP_ELEM, OP_ROW, rows, c.args.glu.ld, "ii-");
            up = op_case_add(&c, "up", offsetof(hone_glu_args, up), OP_ELEM, OP_ROW, rows, c.args.glu.ld, "ii-");
            y = op_case_add(&c, "y", offsetof(hone_glu_args, y), OP_ELEM, OP_ROW, rows, dim, "o--");
            dy = op_case_add(&c, "dy", offsetof(hone_glu_args, dy), OP_ELEM, OP_ROW, rows, dim, "-i-");
            dgate = op_case_add(&c, "dgate", offsetof(hone_glu_args, dgate), OP_ELEM, OP_ROW, rows, c.args.glu.ld, "-o-");
            dup = op_case_add(&c, "dup", offsetof(hone_glu_args, dup), OP_ELEM, OP_ROW, rows, c.args.glu.ld, "-o-");
            c.buffers[gate].cols = c.buffers[up].cols = c.buffers[dgate].cols = c.buffers[dup].cols = dim;
            c.buffers[gate].gradient = dgate;
            c.buffers[up].gradient = dup;
            c.buffers[y].gradient = dy;
            if (fused) {                                /* halves of one matrix */
                c.buffers[up].alias = gate;
                c.buffers[dup].alias = dgate;
                c.buffers[up].alias_at = c.buffers[dup].alias_at = dim;
            }
            if (place) {
                c.buffers[dgate].alias = gate;
                c.buffers[dup].alias = fused ? gate : up;
            }
            if (!e->small)
                fill_wide(&c, gate, largest_argument((hone_act)(f / 4)));
            c.rows_field = offsetof(hone_glu_args, rows);
            c.alone[HONE_PASS_FWD] = c.alone[HONE_PASS_BWD] = true;
            emit(e, &c);
        }
}

/* Also longer than what one task does, with parameters' sums over several. */
static void xielu_cases(const each *e)
{
    static const int64_t more[] = { 16384, 50021 };

    for (size_t s = 0; s < HONE_COUNTOF(LENGTHS) + HONE_COUNTOF(more); s++)
        for (int f = 0; f < 5; f++) {
            int64_t n = s < HONE_COUNTOF(LENGTHS) ? LENGTHS[s] : more[s - HONE_COUNTOF(LENGTHS)];
            op_case c = op_case_new(HONE_OP_xielu, s, e->seed);
            bool    accumulate = f & 1, place = f & 2, frozen = f == 4;
            int     x, y, dy, dx, alpha[2];

            if (e->small && n > 130)
                continue;
            snprintf(c.label, sizeof c.label, "xielu n %ld%s%s%s", n, accumulate ? " accumulate" : "", place ? " in place" : "", frozen ? " frozen" : "");
            c.args.xielu = (hone_xielu_args){ .n = n, .accumulate = accumulate };
            x = op_case_add(&c, "x", offsetof(hone_xielu_args, x), OP_ELEM, OP_ROW, n, 1, "ii-");
            y = op_case_add(&c, "y", offsetof(hone_xielu_args, y), OP_ELEM, OP_ROW, n, 1, "o--");
            dy = op_case_add(&c, "dy", offsetof(hone_xielu_args, dy), OP_ELEM, OP_ROW, n, 1, "-i-");
            dx = op_case_add(&c, "dx", offsetof(hone_xielu_args, dx), OP_ELEM, OP_ROW, n, 1, "-o-");
            c.buffers[x].gradient = dx;
            c.buffers[y].gradient = dy;
            alpha[0] = op_case_add(&c, "alpha_p", offsetof(hone_xielu_args, alpha_p), OP_ELEM, OP_SHARED, 1, 1, "ii-");
            alpha[1] = op_case_add(&c, "alpha_n", offsetof(hone_xielu_args, alpha_n), OP_ELEM, OP_SHARED, 1, 1, "ii-");
            for (int k = 0; k < 2 && !frozen; k++) {
                int d = op_case_add(&c, k ? "dalpha_n" : "dalpha_p", k ? offsetof(hone_xielu_args, dalpha_n) : offsetof(hone_xielu_args, dalpha_p),
                                    OP_ACC, OP_SHARED, 1, 1, accumulate ? "-b-" : "-o-");

                c.buffers[alpha[k]].gradient = d;
                c.buffers[d].length = (double)n + 1;
            }
            if (!e->small)
                fill_wide(&c, x, 30);                   /* the square of more would be all there is of a sum */
            c.buffers[y].length = 4;                    /* the bend and the line may cancel */
            if (place) {
                c.buffers[y].alias = x;
                c.buffers[dx].alias = dy;
            }
            c.rows_field = offsetof(hone_xielu_args, n);
            c.alone[HONE_PASS_FWD] = true;
            emit(e, &c);
        }
}

static void scale_cases(const each *e)
{
    for (size_t s = 0; s < HONE_COUNTOF(LENGTHS); s++)
        for (int place = 0; place < 2; place++) {
            op_case c = op_case_new(HONE_OP_scale, s, e->seed);
            int     x, y;

            snprintf(c.label, sizeof c.label, "scale n %ld%s", LENGTHS[s], place ? " in place" : "");
            c.args.scale = (hone_scale_args){ .n = LENGTHS[s], .factor = s % 2 ? 12 : -0.22 };
            x = op_case_add(&c, "x", offsetof(hone_scale_args, x), OP_ELEM, OP_ROW, LENGTHS[s], 1, "i--");
            y = op_case_add(&c, "y", offsetof(hone_scale_args, y), OP_ELEM, OP_ROW, LENGTHS[s], 1, "o--");
            if (place)
                c.buffers[y].alias = x;
            c.rows_field = offsetof(hone_scale_args, n);
            c.alone[HONE_PASS_FWD] = true;
            emit(e, &c);
        }
}

static void clamp_cases(const each *e)
{
    for (size_t s = 0; s < HONE_COUNTOF(LENGTHS); s++)
        for (int f = 0; f < 4; f++) {
            op_case c = op_case_new(HONE_OP_clamp, s, e->seed);
            double  limit = f & 2 ? 8 : 0.75;
            bool    place = f & 1;
            int     x, y, dy, dx;

            if (e->small && LENGTHS[s] > 130)
                continue;
            snprintf(c.label, sizeof c.label, "clamp to %g n %ld%s", limit, LENGTHS[s], place ? " in place" : "");
            c.args.clamp = (hone_clamp_args){ .n = LENGTHS[s], .limit = limit };
            x = op_case_add(&c, "x", offsetof(hone_clamp_args, x), OP_ELEM, OP_ROW, LENGTHS[s], 1, "ii-");
            y = op_case_add(&c, "y", offsetof(hone_clamp_args, y), OP_ELEM, OP_ROW, LENGTHS[s], 1, "o--");
            dy = op_case_add(&c, "dy", offsetof(hone_clamp_args, dy), OP_ELEM, OP_ROW, LENGTHS[s], 1, "-i-");
            dx = op_case_add(&c, "dx", offsetof(hone_clamp_args, dx), OP_ELEM, OP_ROW, LENGTHS[s], 1, "-o-");
            c.buffers[x].gradient = dx;
            c.buffers[y].gradient = dy;
            if (!e->small)
                fill_wide(&c, x, 1e30);
            for (int64_t i = 4; i < LENGTHS[s] && !e->small; i += 9)
                c.buffers[x].values[i] = i % 2 ? limit : -limit;
            if (place) {
                c.buffers[y].alias = x;
                c.buffers[dx].alias = dy;
            }
            c.rows_field = offsetof(hone_clamp_args, n);
            c.alone[HONE_PASS_FWD] = c.alone[HONE_PASS_BWD] = true;
            emit(e, &c);
        }
}

static void add_cases(const each *e)
{
    static const double factors[] = { 1, -0.22, 3.5 };

    for (size_t s = 0; s < HONE_COUNTOF(LENGTHS); s++)
        for (int f = 0; f < 9; f++) {
            op_case c = op_case_new(HONE_OP_add, s, e->seed);
            double  factor = factors[f / 3];
            int     a, b, y, place = f % 3;

            snprintf(c.label, sizeof c.label, "add n %ld factor %g%s", LENGTHS[s], factor, place == 1 ? " y is a" : place == 2 ? " y is b" : "");
            c.args.add = (hone_add_args){ .n = LENGTHS[s], .factor = factor };
            a = op_case_add(&c, "a", offsetof(hone_add_args, a), OP_ELEM, OP_ROW, LENGTHS[s], 1, "i--");
            b = op_case_add(&c, "b", offsetof(hone_add_args, b), OP_ELEM, OP_ROW, LENGTHS[s], 1, "i--");
            y = op_case_add(&c, "y", offsetof(hone_add_args, y), OP_ELEM, OP_ROW, LENGTHS[s], 1, "o--");
            if (place)
                c.buffers[y].alias = place == 1 ? a : b;
            c.rows_field = offsetof(hone_add_args, n);
            c.alone[HONE_PASS_FWD] = true;
            c.exact = factor == 1;                      /* one rounding, whatever the kernel multiplies */
            emit(e, &c);
        }
}

static void copy_columns_cases(const each *e)
{
    for (size_t s = 0; s < HONE_COUNTOF(SIZES); s++)
        for (int f = 0; f < 4; f++) {
            int64_t rows = SIZES[s][0], cols = SIZES[s][1];
            op_case c = op_case_new(HONE_OP_copy_columns, s, e->seed);
            int     x, y;

            c.args.copy_columns = (hone_copy_columns_args){ .rows = rows, .cols = cols, .x_ld = f & 1 ? cols + 3 : cols, .y_ld = f & 2 ? 2 * cols : cols };
            snprintf(c.label, sizeof c.label, "copy_columns rows %ld cols %ld strides %ld to %ld", rows, cols, c.args.copy_columns.x_ld,
                     c.args.copy_columns.y_ld);
            x = op_case_add(&c, "x", offsetof(hone_copy_columns_args, x), OP_ELEM, OP_ROW, rows, c.args.copy_columns.x_ld, "i--");
            y = op_case_add(&c, "y", offsetof(hone_copy_columns_args, y), OP_ELEM, OP_ROW, rows, c.args.copy_columns.y_ld, "o--");
            c.buffers[x].cols = c.buffers[y].cols = cols;
            c.rows_field = offsetof(hone_copy_columns_args, rows);
            c.alone[HONE_PASS_FWD] = true;
            emit(e, &c);
        }
}

static void cap_logits_cases(const each *e)
{
    static const double by[][2] = { { 0.0625, 0 }, { 0, 30 }, { 0.7, 0.5 }, { 3, 2 } };     /* scale, softcap */

    for (size_t s = 0; s < HONE_COUNTOF(LENGTHS); s++)
        for (size_t f = 0; f < HONE_COUNTOF(by); f++) {
            op_case c = op_case_new(HONE_OP_cap_logits, s, e->seed);

            snprintf(c.label, sizeof c.label, "cap_logits n %ld scale %g softcap %g", LENGTHS[s], by[f][0], by[f][1]);
            c.args.cap_logits = (hone_cap_logits_args){ .n = LENGTHS[s], .scale = by[f][0], .softcap = by[f][1] };
            op_case_add(&c, "logits", offsetof(hone_cap_logits_args, logits), OP_ACC, OP_ROW, LENGTHS[s], 1, "b--");
            c.rows_field = offsetof(hone_cap_logits_args, n);
            c.alone[HONE_PASS_FWD] = true;
            emit(e, &c);
        }
}

static void cross_entropy_cases(const each *e)
{
    static const struct { bool gradient, wide, place; double scale, softcap; } kinds[] = {
        { true, false, false, 0, 0 }, { false, false, false, 0, 0 }, { true, true, false, 0, 0 }, { true, false, true, 0, 0 },
        { true, false, true, 0.125, 0 }, { true, false, false, 0, 30 }, { true, false, true, 1.7, 1.5 }, { false, false, false, 0.3, 2 },
        { true, true, true, 0.5, 30 },      /* most are saturated */
    };

    for (size_t s = 0; s < HONE_COUNTOF(SIZES); s++)
        for (size_t f = 0; f < HONE_COUNTOF(kinds); f++) {
            int64_t rows = SIZES[s][0], vocab = SIZES[s][1];
            op_case c = op_case_new(HONE_OP_cross_entropy, s, e->seed);
            bool    gradient = kinds[f].gradient, wide = kinds[f].wide && !e->small, place = kinds[f].place;
            int     logits, labels, nll;

            if (too_large(e, rows, vocab))
                continue;
            snprintf(c.label, sizeof c.label, "cross_entropy rows %ld vocab %ld scale %g softcap %g%s%s%s", rows, vocab, kinds[f].scale,
                     kinds[f].softcap, gradient ? " with gradient" : "", wide ? " wide" : "", place ? " in place" : "");
            c.args.cross_entropy = (hone_cross_entropy_args){ .rows = rows, .vocab = vocab, .scale = kinds[f].scale,
                                                              .softcap = kinds[f].softcap };
            logits = op_case_add(&c, "logits", offsetof(hone_cross_entropy_args, logits), OP_ACC, OP_ROW, rows, vocab, "i--");
            labels = op_case_add(&c, "labels", offsetof(hone_cross_entropy_args, labels), OP_I32, OP_ROW, rows, 1, "i--");
            nll = op_case_add(&c, "nll", offsetof(hone_cross_entropy_args, nll), OP_ACC, OP_ROW, rows, 1, "o--");
            fill_ints(&c, labels, vocab);
            c.buffers[nll].length = (double)vocab;
            if (gradient) {
                int weight = op_case_add(&c, "weight", offsetof(hone_cross_entropy_args, weight), OP_ACC, OP_ROW, rows, 1, "i--");
                int dlogits = op_case_add(&c, "dlogits", offsetof(hone_cross_entropy_args, dlogits), OP_ELEM, OP_ROW, rows, vocab, "o--");

                c.buffers[nll].gradient = weight;
                c.buffers[logits].gradient = dlogits;
                c.buffers[dlogits].length = (double)vocab;
                if (place)
                    c.buffers[dlogits].alias = logits;  /* the runner does so only where the sizes agree */
            }
            for (int64_t i = 0; i < rows * vocab && wide; i++)
                c.buffers[logits].values[i] = 200 * c.buffers[logits].values[i] + 500 * (i % (2 * vocab) == 2 * vocab - 1);
            c.rows_field = offsetof(hone_cross_entropy_args, rows);
            c.alone[HONE_PASS_FWD] = true;
            emit(e, &c);
        }
}

static void adamw_cases(const each *e)
{
    for (size_t s = 0; s < HONE_COUNTOF(LENGTHS); s++)
        for (int f = 0; f < 2; f++) {
            op_case c = op_case_new(HONE_OP_adamw, s, e->seed);
            int     v;

            snprintf(c.label, sizeof c.label, "adamw n %ld%s", LENGTHS[s], f ? " with bf16 copy" : "");
            c.args.adamw = (hone_adamw_args){ .n = LENGTHS[s], .lr = 1e-3, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .weight_decay = 0.1,
                                              .grad_scale = 0.37, .step = 1 + (int64_t)s * 7 };
            op_case_add(&c, "w", offsetof(hone_adamw_args, w), OP_F32, OP_ROW, LENGTHS[s], 1, "b--");
            op_case_add(&c, "grad", offsetof(hone_adamw_args, grad), OP_F32, OP_ROW, LENGTHS[s], 1, "i--");
            op_case_add(&c, "m", offsetof(hone_adamw_args, m), OP_F32, OP_ROW, LENGTHS[s], 1, "b--");
            v = op_case_add(&c, "v", offsetof(hone_adamw_args, v), OP_F32, OP_ROW, LENGTHS[s], 1, "b--");
            for (int64_t i = 0; i < LENGTHS[s]; i++)
                c.buffers[v].values[i] *= c.buffers[v].values[i];
            if (f)
                op_case_add(&c, "w_bf16", offsetof(hone_adamw_args, w_bf16), OP_BF16, OP_ROW, LENGTHS[s], 1, "o--");
            c.rows_field = offsetof(hone_adamw_args, n);
            c.alone[HONE_PASS_FWD] = c.exact = true;
            emit(e, &c);
        }
}

static void square_sum_cases(const each *e)
{
    static const int64_t more[] = { 65536, 200003 };    /* longer than any chunk */

    for (size_t s = 0; s < HONE_COUNTOF(LENGTHS) + HONE_COUNTOF(more); s++) {
        int64_t n = s < HONE_COUNTOF(LENGTHS) ? LENGTHS[s] : more[s - HONE_COUNTOF(LENGTHS)];
        op_case c = op_case_new(HONE_OP_square_sum, s, e->seed);
        int     sum;

        snprintf(c.label, sizeof c.label, "square_sum n %ld", n);
        c.args.square_sum = (hone_square_sum_args){ .n = n };
        op_case_add(&c, "x", offsetof(hone_square_sum_args, x), OP_ELEM, OP_ROW, n, 1, "i--");
        sum = op_case_add(&c, "sum", offsetof(hone_square_sum_args, sum), OP_F64, OP_SHARED, 1, 1, "o--");
        c.buffers[sum].length = (double)n;
        emit(e, &c);
    }
}

void op_cases_each(hone_op op, bool small, uint64_t seed, void (*fn)(op_case *c, void *arg), void *arg)
{
    each e = { small, seed, fn, arg };

    switch (op) {
    case HONE_OP_embedding: embedding_cases(&e); break;
    case HONE_OP_linear: linear_cases(&e); break;
    case HONE_OP_rms_norm:
    case HONE_OP_layer_norm: norm_cases(&e, op); break;
    case HONE_OP_rope: rope_cases(&e); break;
    case HONE_OP_attention: attention_cases(&e); break;
    case HONE_OP_activation: activation_cases(&e); break;
    case HONE_OP_glu: glu_cases(&e); break;
    case HONE_OP_xielu: xielu_cases(&e); break;
    case HONE_OP_add: add_cases(&e); break;
    case HONE_OP_scale: scale_cases(&e); break;
    case HONE_OP_clamp: clamp_cases(&e); break;
    case HONE_OP_dropout: dropout_cases(&e); break;
    case HONE_OP_copy_columns: copy_columns_cases(&e); break;
    case HONE_OP_cross_entropy: cross_entropy_cases(&e); break;
    case HONE_OP_cap_logits: cap_logits_cases(&e); break;
    case HONE_OP_adamw: adamw_cases(&e); break;
    case HONE_OP_square_sum: square_sum_cases(&e); break;
    default: fail_msg("no test cases for op %s", hone_op_name(op));
    }
}
