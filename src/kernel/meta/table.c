/* Kernels of the meta device: shapes and accounting happen around them, data there is none. */
#include "base/status.h"
#include "kernel/tables.h"

static hone_status nothing(const hone_kernel_env *env, const void *args)
{
    (void)env;
    (void)args;
    return HONE_OK;
}

/* Those that work in memory of their own: on meta they ask for it and stop there (hone_kernel_env.sizes_only). */
static const struct { hone_op op; hone_pass pass; } with_scratch[] = {
    { HONE_OP_linear, HONE_PASS_FWD }, { HONE_OP_linear, HONE_PASS_BWD }, { HONE_OP_linear, HONE_PASS_BWD_WEIGHT },
    { HONE_OP_attention, HONE_PASS_FWD }, { HONE_OP_attention, HONE_PASS_BWD }, { HONE_OP_rms_norm, HONE_PASS_BWD },
    { HONE_OP_layer_norm, HONE_PASS_BWD }, { HONE_OP_xielu, HONE_PASS_BWD }, { HONE_OP_square_sum, HONE_PASS_FWD },
};

/* What exists on meta is what the reference has: no kernel can be planned that cannot be run. Filled after the other targets. */
void hone_kernel_table_meta(hone_kernel_table *t)
{
    hone_kernel_table ref = { 0 };

    hone_kernel_table_ref(&ref);
    for (int op = 0; op < HONE_OP_COUNT; op++)
        for (int pass = 0; pass < HONE_PASS_COUNT; pass++)
            for (int dtype = 0; dtype < HONE_COMPUTE_DTYPES; dtype++)
                if (ref.fn[op][pass][HONE_TARGET_REF][dtype])
                    hone_kernel_set(t, (hone_op)op, (hone_pass)pass, HONE_TARGET_META, (hone_dtype)dtype, nothing);
    for (size_t i = 0; i < HONE_COUNTOF(with_scratch); i++)
        for (int dtype = 0; dtype < HONE_COMPUTE_DTYPES; dtype++) {
            hone_kernel_fn fn = t->fn[with_scratch[i].op][with_scratch[i].pass][HONE_TARGET_CPU][dtype];

            if (fn)
                hone_kernel_set(t, with_scratch[i].op, with_scratch[i].pass, HONE_TARGET_META, (hone_dtype)dtype, fn);
        }
}
