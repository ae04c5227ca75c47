/* The tests of `is`. */
#include <math.h>

#include "text/template/ast.h"

#define TEST(name) \
    static hone_status name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
#define UNUSED(x) ((void)(x))
/* A test of nothing but the value. */
#define IS(name, expression) \
    TEST(name) { UNUSED(rt); UNUSED(a); UNUSED(call); *out = tpl_bool(expression); return HONE_OK; }
#define COMPARES(name, op) \
    TEST(name) { bool b = false; UNUSED(call); HONE_TRY(tpl_compare(rt, &b, op, self, a[0])); *out = tpl_bool(b); return HONE_OK; }

IS(is_defined, self.kind != TPL_UNDEF)
IS(is_undefined, self.kind == TPL_UNDEF)
IS(is_none, self.kind == TPL_NONE)
IS(is_boolean, self.kind == TPL_BOOL)
IS(is_true, self.kind == TPL_BOOL && self.u.b)
IS(is_false, self.kind == TPL_BOOL && !self.u.b)
IS(is_integer, self.kind == TPL_INT)
IS(is_float, self.kind == TPL_FLOAT)
IS(is_number, tpl_is_number(self))
IS(is_string, self.kind == TPL_STR)
IS(is_mapping, self.kind == TPL_DICT)
IS(is_iterable, tpl_iterable(self))
IS(is_escaped, self.kind == TPL_STR && self.u.s->markup)
IS(is_sequence, self.kind == TPL_STR || self.kind == TPL_LIST || self.kind == TPL_TUPLE || self.kind == TPL_DICT ||
   self.kind == TPL_RANGE || self.kind == TPL_UNDEF)
IS(is_callable, self.kind == TPL_MACRO || self.kind == TPL_METHOD || self.kind == TPL_FUNC || self.kind == TPL_LOOP ||
   self.kind == TPL_UNDEF)
COMPARES(is_eq, TPL_OP_EQ)
COMPARES(is_ne, TPL_OP_NE)
COMPARES(is_lt, TPL_OP_LT)
COMPARES(is_le, TPL_OP_LE)
COMPARES(is_gt, TPL_OP_GT)
COMPARES(is_ge, TPL_OP_GE)
COMPARES(is_in, TPL_OP_IN)

static hone_status remainder_is(tpl_rt *rt, tpl_value *out, tpl_value v, tpl_value by, int64_t wanted)
{
    tpl_value r;

    HONE_TRY(tpl_binary(rt, &r, '%', v, by));
    *out = tpl_bool(tpl_equal(rt, r, tpl_int(wanted)));
    return HONE_OK;
}

TEST(is_odd)  { UNUSED(a); UNUSED(call); return remainder_is(rt, out, self, tpl_int(2), 1); }
TEST(is_even) { UNUSED(a); UNUSED(call); return remainder_is(rt, out, self, tpl_int(2), 0); }
TEST(is_divisibleby) { UNUSED(call); return remainder_is(rt, out, self, a[0], 0); }

static hone_status case_is(tpl_rt *rt, tpl_value *out, tpl_value v, char which)
{
    const tpl_str *s;

    HONE_TRY(tpl_to_str(rt, &s, v));
    *out = tpl_bool(tpl_str_all(s, which));
    return tpl_step(rt, s->len / 16);
}

TEST(is_lower) { UNUSED(a); UNUSED(call); return case_is(rt, out, self, 'l'); }
TEST(is_upper) { UNUSED(a); UNUSED(call); return case_is(rt, out, self, 'u'); }

/* Python's `is`: the same object, and small constants are one object each. */
TEST(is_sameas)
{
    bool same = self.kind == a[0].kind;

    UNUSED(rt); UNUSED(call);
    if (same && (self.kind == TPL_STR || self.kind == TPL_FLOAT))
        same = self.kind == TPL_STR ? self.u.s == a[0].u.s : self.u.f == a[0].u.f;
    else if (same && (self.kind == TPL_LIST || self.kind == TPL_TUPLE || self.kind == TPL_DICT))
        same = self.u.d == a[0].u.d;
    else if (same)
        same = tpl_equal(rt, self, a[0]);
    *out = tpl_bool(same);
    return HONE_OK;
}

TEST(is_filter)
{
    UNUSED(a); UNUSED(call);
    TPL_CHECK(tpl_hashable(rt, self), rt, "unhashable type: '%s'", tpl_type_name(self));
    *out = tpl_bool(self.kind == TPL_STR && tpl_find_filter(self.u.s));
    return HONE_OK;
}

TEST(is_test)
{
    UNUSED(a); UNUSED(call);
    TPL_CHECK(tpl_hashable(rt, self), rt, "unhashable type: '%s'", tpl_type_name(self));
    *out = tpl_bool(self.kind == TPL_STR && tpl_find_test(self.u.s));
    return HONE_OK;
}

static const tpl_builtin tests[] = {
    { "defined", "", 0, is_defined, 0 }, { "undefined", "", 0, is_undefined, 0 }, { "none", "", 0, is_none, 0 },
    { "string", "", 0, is_string, 0 }, { "mapping", "", 0, is_mapping, 0 }, { "iterable", "", 0, is_iterable, 0 },
    { "sequence", "", 0, is_sequence, 0 }, { "number", "", 0, is_number, 0 }, { "integer", "", 0, is_integer, 0 },
    { "float", "", 0, is_float, 0 }, { "boolean", "", 0, is_boolean, 0 }, { "true", "", 0, is_true, 0 },
    { "false", "", 0, is_false, 0 }, { "callable", "", 0, is_callable, 0 }, { "escaped", "", 0, is_escaped, 0 },
    { "odd", "", 0, is_odd, 0 }, { "even", "", 0, is_even, 0 }, { "divisibleby", "num", 1, is_divisibleby, 0 },
    { "lower", "", 0, is_lower, 0 }, { "upper", "", 0, is_upper, 0 }, { "sameas", "other", 1, is_sameas, 0 },
    { "filter", "", 0, is_filter, 0 }, { "test", "", 0, is_test, 0 }, { "in", "seq", 1, is_in, 0 },
    { "eq", "other", 1, is_eq, 0 }, { "equalto", "other", 1, is_eq, 0 }, { "==", "other", 1, is_eq, 0 },
    { "ne", "other", 1, is_ne, 0 }, { "!=", "other", 1, is_ne, 0 }, { "lt", "other", 1, is_lt, 0 },
    { "lessthan", "other", 1, is_lt, 0 }, { "<", "other", 1, is_lt, 0 }, { "le", "other", 1, is_le, 0 },
    { "<=", "other", 1, is_le, 0 }, { "gt", "other", 1, is_gt, 0 }, { "greaterthan", "other", 1, is_gt, 0 },
    { ">", "other", 1, is_gt, 0 }, { "ge", "other", 1, is_ge, 0 }, { ">=", "other", 1, is_ge, 0 },
};

const tpl_builtin *tpl_find_test(const tpl_str *name) { return tpl_find_in(tests, HONE_COUNTOF(tests), name); }
