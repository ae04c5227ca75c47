/* Python's operators on the values of the template language. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "text/template/ast.h"

enum { MAX_EQUAL = 1000 };      /* nesting of values that are compared */

hone_status tpl_fail(const tpl_rt *rt, hone_status code, const char *fmt, ...)
{
    char    text[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return tpl_syntax(rt->t, code, rt->at, "%s", text);
}

hone_status tpl_out_of_memory(const tpl_rt *rt)
{
    if (rt->arena.exhausted)
        return TPL_FAIL(rt, "the template needs more than the limit of %zu bytes of memory", rt->limits.memory);
    return tpl_fail(rt, HONE_E_NOMEM, "out of memory");
}

hone_status tpl_step(tpl_rt *rt, uint64_t n)
{
    rt->steps += n;
    TPL_CHECK(rt->steps <= rt->limits.steps, rt, "the template runs for more than the limit of %llu steps",
              (unsigned long long)rt->limits.steps);
    return HONE_OK;
}

hone_status tpl_fail_undefined(tpl_rt *rt, tpl_value v)
{
    char buf[256];

    return TPL_FAIL(rt, "%s", tpl_undef_text(buf, v));
}

bool tpl_truthy(tpl_value v)
{
    switch ((tpl_kind)v.kind) {
    case TPL_MISSING: case TPL_UNDEF: case TPL_NONE: return false;
    case TPL_BOOL:  return v.u.b;
    case TPL_INT:   return v.u.i != 0;
    case TPL_FLOAT: return v.u.f != 0;
    case TPL_STR:   return v.u.s->len > 0;
    case TPL_LIST: case TPL_TUPLE: return v.u.l->len > 0;
    case TPL_DICT: case TPL_VIEW: return v.u.d->len > 0;
    case TPL_RANGE: return v.u.r->len > 0;
    default:
        return true;
    }
}

static bool equal_deep(tpl_rt *rt, tpl_value a, tpl_value b, int depth);

static bool equal_lists(tpl_rt *rt, const tpl_list *a, const tpl_list *b, int depth)
{
    if (a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++)
        if (!equal_deep(rt, a->items[i], b->items[i], depth + 1))
            return false;
    return true;
}

static bool equal_dicts(tpl_rt *rt, const tpl_dict *a, const tpl_dict *b, int depth)
{
    if (a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++) {
        const tpl_value *v = tpl_dict_get(rt, b, a->keys[i]);

        if (!v || !equal_deep(rt, a->values[i], *v, depth + 1))
            return false;
    }
    return true;
}

/* An integer and a float, compared without rounding the integer: -1, 0, 1, or 2 for NaN. */
static int compare_int_float(int64_t i, double f)
{
    if (isnan(f))
        return 2;
    if (f >= 9223372036854775808.0)
        return -1;
    if (f < -9223372036854775808.0)
        return 1;
    if (i != (int64_t)f)
        return i < (int64_t)f ? -1 : 1;
    return f == trunc(f) ? 0 : f > trunc(f) ? -1 : 1;
}

static int compare_numbers(tpl_value a, tpl_value b)
{
    if (tpl_is_int(a) && tpl_is_int(b))
        return tpl_as_int(a) < tpl_as_int(b) ? -1 : tpl_as_int(a) > tpl_as_int(b);
    if (tpl_is_int(a))
        return compare_int_float(tpl_as_int(a), b.u.f);
    if (tpl_is_int(b)) {
        int order = compare_int_float(tpl_as_int(b), a.u.f);

        return order == 2 ? 2 : -order;
    }
    return isnan(a.u.f) || isnan(b.u.f) ? 2 : a.u.f < b.u.f ? -1 : a.u.f > b.u.f;
}

static bool equal_deep(tpl_rt *rt, tpl_value a, tpl_value b, int depth)
{
    if (tpl_is_number(a) && tpl_is_number(b))
        return compare_numbers(a, b) == 0;
    if (a.kind != b.kind)
        return false;
    if (a.kind == TPL_STR) {
        rt->steps += a.u.s->len == b.u.s->len ? a.u.s->len / 256 : 0;
        return tpl_str_equal(a.u.s, b.u.s);
    }
    rt->steps += 1 + (depth > MAX_EQUAL ? rt->limits.steps : 0);
    if (rt->steps > rt->limits.steps)
        return false;
    switch ((tpl_kind)a.kind) {
    case TPL_NONE: case TPL_UNDEF: case TPL_MISSING: return true;
    case TPL_LIST: case TPL_TUPLE: return a.u.l == b.u.l || equal_lists(rt, a.u.l, b.u.l, depth);
    case TPL_DICT:  return a.u.d == b.u.d || equal_dicts(rt, a.u.d, b.u.d, depth);
    case TPL_VIEW:
        if (a.sub != b.sub || a.sub == TPL_VIEW_VALUES || a.u.d->len != b.u.d->len)
            return a.sub == b.sub && a.sub != TPL_VIEW_VALUES && a.u.d == b.u.d;
        if (a.sub == TPL_VIEW_ITEMS)
            return equal_dicts(rt, a.u.d, b.u.d, depth);
        for (uint32_t i = 0; i < a.u.d->len; i++)
            if (!tpl_dict_get(rt, b.u.d, a.u.d->keys[i]))
                return false;
        return true;
    case TPL_RANGE: return a.u.r->len == b.u.r->len && (!a.u.r->len || (a.u.r->start == b.u.r->start &&
                           (a.u.r->len == 1 || a.u.r->step == b.u.r->step)));
    case TPL_METHOD: return a.u.me->fn == b.u.me->fn && a.u.me->self.kind == b.u.me->self.kind &&
                            a.u.me->self.u.d == b.u.me->self.u.d;
    default:
        return a.u.d == b.u.d;
    }
}

bool tpl_equal(tpl_rt *rt, tpl_value a, tpl_value b) { return equal_deep(rt, a, b, 0); }

static int compare_strings(const tpl_str *a, const tpl_str *b)
{
    size_t n = HONE_MIN(a->len, b->len);
    int    c = n ? memcmp(a->data, b->data, n) : 0;     /* UTF-8 sorts as its code points */

    return c ? c : a->len < b->len ? -1 : a->len > b->len;
}

static const char *op_name(char buf[3], int op)
{
    buf[0] = (char)(op & 0xFF);
    buf[1] = (char)(op >> 8);
    buf[2] = '\0';
    return buf;
}

static bool holds(int op, int order)
{
    return op == TPL_OP_LT ? order < 0 : op == TPL_OP_LE ? order <= 0 : op == TPL_OP_GT ? order > 0 : order >= 0;
}

hone_status tpl_compare(tpl_rt *rt, bool *out, int op, tpl_value a, tpl_value b)
{
    char name[3];

    if (op == TPL_OP_EQ || op == TPL_OP_NE) {
        *out = tpl_equal(rt, a, b) == (op == TPL_OP_EQ);
        return tpl_step(rt, 0);
    }
    if (op == TPL_OP_IN || op == TPL_OP_NOT_IN) {
        HONE_TRY(tpl_contains(rt, out, a, b));
        *out = *out == (op == TPL_OP_IN);
        return HONE_OK;
    }
    if (a.kind == TPL_UNDEF || b.kind == TPL_UNDEF)
        return tpl_fail_undefined(rt, a.kind == TPL_UNDEF ? a : b);
    if (tpl_is_number(a) && tpl_is_number(b)) {
        int order = compare_numbers(a, b);

        *out = order != 2 && holds(op, order);
    } else if (a.kind == TPL_STR && b.kind == TPL_STR) {
        HONE_TRY(tpl_step(rt, HONE_MIN(a.u.s->len, b.u.s->len) / 256));
        *out = holds(op, compare_strings(a.u.s, b.u.s));
    } else if (a.kind == b.kind && (a.kind == TPL_LIST || a.kind == TPL_TUPLE)) {
        const tpl_list *x = a.u.l, *y = b.u.l;
        uint32_t        i = 0;

        while (i < x->len && i < y->len && tpl_equal(rt, x->items[i], y->items[i]))
            i++;
        HONE_TRY(tpl_step(rt, i + 1));
        if (i < x->len && i < y->len)
            return tpl_compare(rt, out, op, x->items[i], y->items[i]);
        *out = holds(op, x->len < y->len ? -1 : x->len > y->len);
    } else {
        return TPL_FAIL(rt, "'%s' not supported between instances of '%s' and '%s'", op_name(name, op), tpl_type_name(a),
                        tpl_type_name(b));
    }
    return HONE_OK;
}

hone_status tpl_contains(tpl_rt *rt, bool *out, tpl_value item, tpl_value in)
{
    tpl_iter *it;
    tpl_value v;
    bool      done;

    *out = false;
    if (in.kind == TPL_STR) {
        TPL_CHECK(item.kind == TPL_STR, rt, "'in <string>' requires string as left operand, not %s", tpl_type_name(item));
        *out = tpl_str_find(rt, in.u.s, item.u.s, 0, in.u.s->len, false) >= 0;
        return tpl_step(rt, 1);
    }
    if (in.kind == TPL_DICT || (in.kind == TPL_VIEW && in.sub == TPL_VIEW_KEYS)) {
        TPL_CHECK(tpl_hashable(rt, item), rt, "unhashable type: '%s'", tpl_type_name(item));
        *out = tpl_dict_get(rt, in.u.d, item) != NULL;
        return HONE_OK;
    }
    TPL_CHECK(tpl_iterable(in), rt, "argument of type '%s' is not iterable", tpl_type_name(in));
    HONE_TRY(tpl_iterate(rt, &it, in));
    for (;;) {
        HONE_TRY(tpl_next(rt, it, &v, &done));
        if (done)
            return HONE_OK;
        if (tpl_equal(rt, v, item)) {
            *out = true;
            return HONE_OK;
        }
    }
}

/* ---- arithmetic ---- */
static hone_status overflow(tpl_rt *rt) { return TPL_FAIL(rt, "the result is beyond 64-bit integers"); }

static hone_status int_power(tpl_rt *rt, int64_t *out, int64_t base, int64_t n)
{
    int64_t r = 1;

    for (; n > 0; n >>= 1) {
        if ((n & 1) && __builtin_mul_overflow(r, base, &r))
            return overflow(rt);
        if (n > 1 && __builtin_mul_overflow(base, base, &base))
            return overflow(rt);
    }
    *out = r;
    return HONE_OK;
}

static hone_status int_binary(tpl_rt *rt, tpl_value *out, int op, int64_t a, int64_t b)
{
    int64_t r = 0;
    bool    over = false;

    TPL_CHECK(b != 0 || (op != '/' && op != '%' && op != TPL_OP_FLOORDIV), rt, "%s",
              op == '/' ? "division by zero" : "integer division or modulo by zero");
    switch (op) {
    case '+': over = __builtin_add_overflow(a, b, &r); break;
    case '-': over = __builtin_sub_overflow(a, b, &r); break;
    case '*': over = __builtin_mul_overflow(a, b, &r); break;
    case '/': *out = tpl_float((double)((long double)a / (long double)b)); return HONE_OK;
    case '%': case TPL_OP_FLOORDIV:
        over = a == INT64_MIN && b == -1 && op != '%';
        if (b == -1)
            r = op == '%' || over ? 0 : -a;
        else if (op == '%')
            r = a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
        else
            r = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
        break;
    default:
        TPL_CHECK(b >= 0 || a != 0, rt, "zero to a negative power");
        if (b < 0) {
            *out = tpl_float(pow((double)a, (double)b));
            return HONE_OK;
        }
        HONE_TRY(int_power(rt, &r, a, b));
    }
    if (over)
        return overflow(rt);
    *out = tpl_int(r);
    return HONE_OK;
}

static hone_status float_binary(tpl_rt *rt, tpl_value *out, int op, double a, double b)
{
    double r;

    TPL_CHECK(b != 0 || (op != '/' && op != '%' && op != TPL_OP_FLOORDIV), rt, "%s",
              op == '/' ? "division by zero" : "float modulo by zero");
    switch (op) {
    case '+': r = a + b; break;
    case '-': r = a - b; break;
    case '*': r = a * b; break;
    case '/': r = a / b; break;
    case '%':
        r = fmod(a, b);
        r = r == 0 ? copysign(0, b) : (r < 0) != (b < 0) ? r + b : r;
        break;
    case TPL_OP_FLOORDIV: {
        double m = fmod(a, b), q = (a - m) / b;

        if (m != 0 && (m < 0) != (b < 0))
            q -= 1;
        r = q == 0 ? copysign(0, a / b) : floor(q) + (q - floor(q) > 0.5 ? 1 : 0);
        break;
    }
    default:
        TPL_CHECK(a >= 0 || b == floor(b), rt, "a negative number to a fractional power is complex");
        TPL_CHECK(a != 0 || b >= 0, rt, "zero to a negative power");
        r = pow(a, b);
        TPL_CHECK(isfinite(r) || !isfinite(a) || !isfinite(b), rt, "numerical result out of range");
    }
    *out = tpl_float(r);
    return HONE_OK;
}

static hone_status repeat(tpl_rt *rt, tpl_value *out, tpl_value v, int64_t n)
{
    tpl_buf   b = { 0 };
    tpl_list *l;

    n = HONE_MAX(n, (int64_t)0);
    HONE_TRY(tpl_step(rt, v.kind == TPL_STR && !v.u.s->len ? 0 : (uint64_t)n));
    if (v.kind == TPL_STR) {
        for (int64_t i = 0; v.u.s->len && i < n; i++)
            HONE_TRY(tpl_buf_str(rt, &b, v.u.s));
        HONE_TRY(tpl_buf_take(rt, &b, out));
        return v.u.s->markup ? tpl_as_markup(rt, out, out->u.s, true) : HONE_OK;
    }
    HONE_TRY(tpl_new_list(rt, &l, 0));
    for (int64_t i = 0; v.u.l->len && i < n; i++)
        for (uint32_t k = 0; k < v.u.l->len; k++)
            HONE_TRY(tpl_push(rt, l, v.u.l->items[k]));
    *out = (tpl_value){ .kind = v.kind, .u.l = l };
    return HONE_OK;
}

static hone_status concat_lists(tpl_rt *rt, tpl_value *out, tpl_value a, tpl_value b)
{
    const tpl_list *x = a.u.l, *y = b.u.l;
    tpl_list       *l;

    HONE_TRY(tpl_step(rt, ((uint64_t)x->len + y->len) / 16));
    HONE_TRY(tpl_new_list(rt, &l, (size_t)x->len + y->len));
    if (x->len)
        memcpy(l->items, x->items, x->len * sizeof *l->items);
    if (y->len)
        memcpy(l->items + x->len, y->items, y->len * sizeof *l->items);
    l->len = x->len + y->len;
    *out = (tpl_value){ .kind = a.kind, .u.l = l };
    return HONE_OK;
}

static hone_status concat_strings(tpl_rt *rt, tpl_value *out, const tpl_str *a, const tpl_str *b)
{
    tpl_buf   buf = { 0 };
    tpl_value v;

    if (a->markup != b->markup) {       /* Markup escapes what is added to it */
        HONE_TRY(tpl_escape(rt, &v, a->markup ? b : a));
        return concat_strings(rt, out, a->markup ? a : v.u.s, a->markup ? v.u.s : b);
    }
    HONE_TRY(tpl_step(rt, ((uint64_t)a->len + b->len) / 256));
    HONE_TRY(tpl_buf_str(rt, &buf, a));
    HONE_TRY(tpl_buf_str(rt, &buf, b));
    HONE_TRY(tpl_buf_take(rt, &buf, out));
    return a->markup ? tpl_as_markup(rt, out, out->u.s, true) : HONE_OK;
}

bool tpl_is_sequence(tpl_value v) { return v.kind == TPL_STR || v.kind == TPL_LIST || v.kind == TPL_TUPLE; }

hone_status tpl_binary(tpl_rt *rt, tpl_value *out, int op, tpl_value a, tpl_value b)
{
    char name[3];

    if (op == '%' && a.kind == TPL_STR)
        return tpl_str_percent(rt, out, a.u.s, b);
    if (a.kind == TPL_UNDEF || b.kind == TPL_UNDEF)
        return tpl_fail_undefined(rt, a.kind == TPL_UNDEF ? a : b);
    if (tpl_is_int(a) && tpl_is_int(b))
        return int_binary(rt, out, op, tpl_as_int(a), tpl_as_int(b));
    if (tpl_is_number(a) && tpl_is_number(b))
        return float_binary(rt, out, op, tpl_as_float(a), tpl_as_float(b));
    if (op == '+' && a.kind == TPL_STR && b.kind == TPL_STR)
        return concat_strings(rt, out, a.u.s, b.u.s);
    if (op == '+' && a.kind == b.kind && tpl_is_sequence(a))
        return concat_lists(rt, out, a, b);
    if (op == '*' && tpl_is_sequence(a) && tpl_is_int(b))
        return repeat(rt, out, a, tpl_as_int(b));
    if (op == '*' && tpl_is_sequence(b) && tpl_is_int(a))
        return repeat(rt, out, b, tpl_as_int(a));
    if (op == '+' && tpl_is_sequence(a))
        return TPL_FAIL(rt, "can only concatenate %s (not \"%s\") to %s", tpl_type_name(a), tpl_type_name(b),
                        tpl_type_name(a));
    return TPL_FAIL(rt, "unsupported operand type(s) for %s: '%s' and '%s'", op_name(name, op), tpl_type_name(a),
                    tpl_type_name(b));
}

hone_status tpl_length(tpl_rt *rt, int64_t *out, tpl_value v)
{
    switch ((tpl_kind)v.kind) {
    case TPL_UNDEF: *out = 0; return HONE_OK;
    case TPL_STR:   *out = v.u.s->chars; return HONE_OK;
    case TPL_LIST: case TPL_TUPLE: *out = v.u.l->len; return HONE_OK;
    case TPL_DICT: case TPL_VIEW: *out = v.u.d->len; return HONE_OK;
    case TPL_RANGE: *out = v.u.r->len; return HONE_OK;
    case TPL_LOOP:  return tpl_loop_length(rt, out, v.u.loop);
    default:
        return TPL_FAIL(rt, "object of type '%s' has no len()", tpl_type_name(v));
    }
}
