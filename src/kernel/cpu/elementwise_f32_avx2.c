/* Elementwise kernels on f32 with AVX2. */
#if defined(__x86_64__)
#define ELEM_F32
#define REGISTER hone_kernel_elementwise_f32_avx2
#include "kernel/cpu/elementwise.inc"
#endif
