/* Reference kernels on bfloat16, computing in f32. */
#include "kernel/ref/ref.h"

typedef uint16_t elem;
typedef float    acc;

static inline acc  load(const elem *p, int64_t i) { return hone_bf16_to_f32(p[i]); }
static inline void store(elem *p, int64_t i, acc v) { p[i] = hone_f32_to_bf16(v); }

#include "kernel/ref/ops.inc"

void hone_kernel_ref_bf16(hone_kernel_table *t) { fill(t, HONE_DTYPE_BF16); }
