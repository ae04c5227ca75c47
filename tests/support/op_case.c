#include "op_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hone_test.h"

enum { GUARD = 64, GUARD_BYTE = 0xA5 };

op_case op_case_new(hone_op op, uint64_t shape, uint64_t seed)
{
    op_case c;

    memset(&c, 0, sizeof c);
    c.op = op;
    c.rng = hone_rng_make(seed, shape << 8 | (uint64_t)op);
    return c;
}

int op_case_add(op_case *c, const char *name, size_t field, op_type type, op_axis axis, int64_t rows, int64_t cols, const char *use)
{
    op_buffer *b = &c->buffers[c->n_buffers];

    assert_true(c->n_buffers < OP_MAX_BUFFERS && strlen(use) == HONE_PASS_COUNT);
    *b = (op_buffer){ .name = name, .field = field, .type = type, .axis = axis, .rows = rows, .cols = cols, .stride = cols,
                      .gradient = -1, .alias = -1, .length = 1 };
    memcpy(b->use, use, sizeof b->use);
    b->values = calloc((size_t)(rows * cols) + 1, sizeof *b->values);
    assert_non_null(b->values);
    for (int64_t i = 0; i < rows * cols && type != OP_I32; i++)
        b->values[i] = hone_rng_normal(&c->rng);
    return c->n_buffers++;
}

void op_case_free(op_case *c)
{
    for (int i = 0; i < c->n_buffers; i++)
        free(c->buffers[i].values);
}

/* ---- elements */
static hone_dtype float_type(op_type type, hone_dtype dtype)
{
    switch (type) {
    case OP_ELEM: return dtype;
    case OP_ACC: return dtype == HONE_DTYPE_F64 ? HONE_DTYPE_F64 : HONE_DTYPE_F32;
    case OP_BF16: return HONE_DTYPE_BF16;
    case OP_F64: return HONE_DTYPE_F64;
    default: return HONE_DTYPE_F32;
    }
}

/* Elements from the first to the last that the buffer may use (no gap after the last row). */
static int64_t extent(const op_buffer *b) { return b->rows ? (b->rows - 1) * b->stride + b->cols : 0; }

static size_t element_size(op_type type, hone_dtype dtype) { return type == OP_I32 ? 4 : hone_dtype_bytes(float_type(type, dtype)); }

size_t op_element_size(const op_buffer *b, hone_dtype dtype) { return element_size(b->type, dtype); }

static double round_to(double v, hone_dtype d)
{
    uint16_t h;

    if (d == HONE_DTYPE_F32)
        return (float)v;
    if (d != HONE_DTYPE_BF16)
        return v;
    hone_dtype_convert(&h, HONE_DTYPE_BF16, &v, HONE_DTYPE_F64, 1);
    return hone_bf16_to_f32(h);
}

static void put(void *p, int64_t i, double v, op_type type, hone_dtype dtype, hone_dtype as)
{
    hone_dtype to = float_type(type, dtype);

    v = round_to(v, float_type(type, as));
    if (type == OP_I32)
        ((int32_t *)p)[i] = (int32_t)v;
    else if (to == HONE_DTYPE_F64)
        ((double *)p)[i] = v;
    else if (to == HONE_DTYPE_F32)
        ((float *)p)[i] = (float)v;
    else
        ((uint16_t *)p)[i] = hone_f32_to_bf16((float)round_to(v, to));
}

static double get(const void *p, int64_t i, op_type type, hone_dtype dtype)
{
    hone_dtype from = float_type(type, dtype);

    return from == HONE_DTYPE_F64 ? ((const double *)p)[i] : from == HONE_DTYPE_F32 ? (double)((const float *)p)[i]
                                                                                  : (double)hone_bf16_to_f32(((const uint16_t *)p)[i]);
}

/* ---- guarded memory */
typedef struct block { unsigned char *base; unsigned char *data; size_t size; } block;

static block block_new(size_t size, size_t shift)
{
    block b = { aligned_alloc(64, (size + shift + 2 * GUARD + 127) / 64 * 64), NULL, size };

    assert_non_null(b.base);
    memset(b.base, GUARD_BYTE, (size + shift + 2 * GUARD + 127) / 64 * 64);
    b.data = b.base + GUARD + shift;
    return b;
}

static void block_check(const block *b, const char *what, const char *label)
{
    for (int i = 1; i <= GUARD; i++)
        if (b->data[-i] != GUARD_BYTE || b->data[b->size + (size_t)i - 1] != GUARD_BYTE)
            fail_msg("%s: wrote outside %s", label, what);
}

typedef struct scratch { block b; int calls; } scratch;

static void *take_scratch(void *arg, size_t bytes)
{
    scratch *s = arg;

    s->calls++;
    assert_int_equal(s->calls, 1);
    s->b = block_new(bytes, 0);
    memset(s->b.data, 0xFF, bytes);                     /* NaN, if anyone reads it unwritten */
    return s->b.data;
}

/* Whether buffer i lies over another in this run: asked for, the other is used too, and elements have one size. */
static bool lies_over(const op_case *c, int i, hone_pass pass, hone_dtype dtype, bool aliased)
{
    const op_buffer *b = &c->buffers[i], *under = b->alias >= 0 ? &c->buffers[b->alias] : NULL;

    return aliased && under && under->use[pass] != '-' && element_size(b->type, dtype) == element_size(under->type, dtype);
}

static void lay_out(block blocks[], unsigned char *data[], const op_case *c, hone_pass pass, hone_dtype dtype, bool aliased)
{
    for (int i = 0; i < c->n_buffers; i++) {
        const op_buffer *b = &c->buffers[i];
        size_t           size = element_size(b->type, dtype);

        data[i] = NULL;
        blocks[i].base = NULL;
        if (b->use[pass] == '-' || lies_over(c, i, pass, dtype, aliased))
            continue;
        blocks[i] = block_new((size_t)(b->rows * b->stride) * size, size * (size_t)(i % 3));
        data[i] = blocks[i].data;
        memset(data[i], 0xFF, blocks[i].size);
    }
    for (int i = 0; i < c->n_buffers; i++) {
        const op_buffer *b = &c->buffers[i];

        if (b->use[pass] != '-' && lies_over(c, i, pass, dtype, aliased))
            data[i] = data[b->alias] + (size_t)b->alias_at * element_size(b->type, dtype);
    }
}

/* Nothing may change but the columns of outputs: these are carried over to `before`, then all must be equal. */
static void check_untouched(const op_case *c, hone_pass pass, hone_dtype dtype, const block blocks[], unsigned char *const data[],
                            unsigned char *const before[])
{
    for (int i = 0; i < c->n_buffers; i++) {
        const op_buffer *b = &c->buffers[i];
        size_t           size = element_size(b->type, dtype), stride = (size_t)b->stride * size;
        int              home = blocks[i].base ? i : b->alias;  /* whose block it lies in */

        for (int64_t r = 0; r < b->rows && (b->use[pass] == 'o' || b->use[pass] == 'b'); r++)
            memcpy(before[home] + (data[i] - blocks[home].data) + (size_t)r * stride, data[i] + (size_t)r * stride, (size_t)b->cols * size);
    }
    for (int i = 0; i < c->n_buffers; i++) {
        if (!blocks[i].base)
            continue;
        block_check(&blocks[i], c->buffers[i].name, c->label);
        if (memcmp(blocks[i].data, before[i], blocks[i].size) != 0)
            fail_msg("%s: changed %s where it may not", c->label, c->buffers[i].name);
    }
}

op_result op_run(const op_case *c, hone_pass pass, hone_kernel_fn fn, hone_dtype dtype, hone_dtype as, hone_pool *pool, bool aliased)
{
    op_result       r = { .n = c->n_buffers };
    block           blocks[OP_MAX_BUFFERS];
    unsigned char  *data[OP_MAX_BUFFERS], *before[OP_MAX_BUFFERS] = { NULL };
    op_case         copy = *c;
    scratch         s = { { NULL, NULL, 0 }, 0 };
    hone_kernel_env env = { .pool = pool, .scratch = take_scratch, .scratch_arg = &s };

    assert_non_null(fn);
    lay_out(blocks, data, c, pass, dtype, aliased);
    for (int i = 0; i < c->n_buffers; i++) {
        const op_buffer *b = &c->buffers[i];

        memcpy((char *)&copy.args + b->field, &data[i], sizeof(void *));
        for (int64_t e = 0; e < extent(b) && (b->use[pass] == 'i' || b->use[pass] == 'b'); e++)
            if (e % b->stride < b->cols)
                put(data[i], e, b->values[e], b->type, dtype, as);
    }
    for (int i = 0; i < c->n_buffers; i++)
        if (blocks[i].base) {
            before[i] = malloc(blocks[i].size + 1);
            memcpy(before[i], blocks[i].data, blocks[i].size);
        }
    T_OK(fn(&env, &copy.args));
    check_untouched(c, pass, dtype, blocks, data, before);
    if (s.b.base)
        block_check(&s.b, "scratch", c->label);
    for (int i = 0; i < c->n_buffers; i++) {
        const op_buffer *b = &c->buffers[i];
        int64_t          n = extent(b);

        if (b->use[pass] != 'o' && b->use[pass] != 'b')
            continue;
        r.size[i] = (size_t)n * element_size(b->type, dtype);
        r.bytes[i] = malloc(r.size[i] + 1);
        memcpy(r.bytes[i], data[i], r.size[i]);
        r.values[i] = calloc((size_t)(b->rows * b->stride) + 1, sizeof(double));
        for (int64_t e = 0; e < n; e++)
            if (e % b->stride < b->cols)
                r.values[i][e] = get(data[i], e, b->type, dtype);
    }
    for (int i = 0; i < c->n_buffers; i++) {
        free(before[i]);
        free(blocks[i].base);
    }
    free(s.b.base);
    return r;
}

void op_result_free(op_result *r)
{
    for (int i = 0; i < r->n; i++) {
        free(r->values[i]);
        free(r->bytes[i]);
    }
}

void op_case_prepare(op_case *c, const hone_kernel_table *ref, hone_dtype as)
{
    hone_kernel_fn fn = ref->fn[c->op][HONE_PASS_FWD][HONE_TARGET_REF][HONE_DTYPE_F64];
    op_result      r;

    if (!ref->fn[c->op][HONE_PASS_BWD][HONE_TARGET_REF][HONE_DTYPE_F64])
        return;
    r = op_run(c, HONE_PASS_FWD, fn, HONE_DTYPE_F64, as, NULL, false);
    for (int i = 0; i < c->n_buffers; i++)
        if (r.values[i] && c->buffers[i].use[HONE_PASS_BWD] == 'i')
            memcpy(c->buffers[i].values, r.values[i], (size_t)extent(&c->buffers[i]) * sizeof(double));
    op_result_free(&r);
}

/* ---- one row, or one sample, alone */
static const op_buffer *buffer_on(const op_case *c, op_axis axis)
{
    for (int i = 0; i < c->n_buffers; i++)
        if (c->buffers[i].axis == axis)
            return &c->buffers[i];
    return NULL;
}

int64_t op_case_units(const op_case *c)
{
    const op_buffer *b = buffer_on(c, c->op == HONE_OP_attention ? OP_SAMPLE : OP_ROW);

    return b && c->rows_field ? b->rows : 0;
}

int64_t op_unit_start(const op_case *c, const op_buffer *b, int64_t unit, int64_t *count)
{
    const double *cu;

    switch (b->axis) {
    case OP_ROW:
    case OP_SAMPLE:
        *count = b->stride;
        return unit * b->stride;
    case OP_QUERY:
    case OP_KEY:
        cu = buffer_on(c, b->axis == OP_QUERY ? OP_CU_QUERY : OP_CU_KEY)->values;
        *count = ((int64_t)cu[unit + 1] - (int64_t)cu[unit]) * b->stride;
        return (int64_t)cu[unit] * b->stride;
    default:
        *count = b->rows * b->stride;
        return 0;
    }
}

void op_case_alone(op_case *out, const op_case *c, int64_t unit, double cu[4])
{
    int64_t one = 1;

    *out = *c;
    memcpy((char *)&out->args + c->rows_field, &one, sizeof one);
    for (int i = 0; i < c->n_buffers; i++) {
        op_buffer *b = &out->buffers[i];
        int64_t    count, start = op_unit_start(c, &c->buffers[i], unit, &count);

        b->values = c->buffers[i].values + start;
        b->rows = count / b->stride;
        if (b->axis == OP_CU_QUERY || b->axis == OP_CU_KEY) {
            double *mine = cu + (b->axis == OP_CU_QUERY ? 0 : 2);

            mine[0] = 0;
            mine[1] = c->buffers[i].values[unit + 1] - c->buffers[i].values[unit];
            b->values = mine;
            b->rows = 2;
        }
    }
}
