/* Kernels of the meta device: shapes and accounting happen around them, data there is none. */
#include "kernel/tables.h"

static hone_status nothing(const hone_kernel_env *env, const void *args)
{
    (void)env;
    (void)args;
    return HONE_OK;
}

/* What exists on meta is what the reference has: no kernel can be planned that cannot be run. */
void hone_kernel_table_meta(hone_kernel_table *t)
{
    hone_kernel_table ref = { 0 };

    hone_kernel_table_ref(&ref);
    for (int op = 0; op < HONE_OP_COUNT; op++)
        for (int pass = 0; pass < HONE_PASS_COUNT; pass++)
            for (int dtype = 0; dtype < HONE_COMPUTE_DTYPES; dtype++)
                if (ref.fn[op][pass][HONE_TARGET_REF][dtype])
                    hone_kernel_set(t, (hone_op)op, (hone_pass)pass, HONE_TARGET_META, (hone_dtype)dtype, nothing);
}
