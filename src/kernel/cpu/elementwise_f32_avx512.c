/* Elementwise kernels on f32 with AVX-512. */
#if defined(__x86_64__)
#define ELEM_F32
#define REGISTER hone_kernel_elementwise_f32_avx512
#include "kernel/cpu/elementwise.inc"
#endif
