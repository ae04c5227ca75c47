/* Reference kernels in f64: the oracle of every other kernel. */
#include "kernel/ref/ref.h"

typedef double elem;
typedef double acc;

static inline acc  load(const elem *p, int64_t i) { return p[i]; }
static inline void store(elem *p, int64_t i, acc v) { p[i] = v; }

#include "kernel/ref/ops.inc"

void hone_kernel_ref_f64(hone_kernel_table *t) { fill(t, HONE_DTYPE_F64); }
