/* Reference kernels in f32. */
#include "kernel/ref/ref.h"

typedef float elem;
typedef float acc;

static inline acc  load(const elem *p, int64_t i) { return p[i]; }
static inline void store(elem *p, int64_t i, acc v) { p[i] = v; }

#include "kernel/ref/ops.inc"
#include "kernel/ref/adamw.inc"

void hone_kernel_ref_f32(hone_kernel_table *t)
{
    fill(t, HONE_DTYPE_F32);
    hone_kernel_set(t, HONE_OP_adamw, HONE_PASS_FWD, HONE_TARGET_REF, HONE_DTYPE_F32, adamw_fwd);
}
