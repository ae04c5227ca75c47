#include "op/kernel.h"

const char *hone_op_name(hone_op op)
{
    static const char *const names[] = {
#define NAME_(name) #name,
        HONE_OP_LIST(NAME_)
#undef NAME_
    };

    return (unsigned)op < HONE_OP_COUNT ? names[op] : "unknown op";
}

const char *hone_pass_name(hone_pass pass)
{
    static const char *const names[] = { "forward", "backward", "weight gradient" };

    return (unsigned)pass < HONE_PASS_COUNT ? names[pass] : "unknown pass";
}

const char *hone_target_name(hone_target target)
{
    static const char *const names[] = { "ref", "cpu", "meta" };

    return (unsigned)target < HONE_TARGET_COUNT ? names[target] : "unknown target";
}
