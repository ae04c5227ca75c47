/* Elementwise kernels on bf16 with AVX2. */
#if defined(__x86_64__)
#define ELEM_BF16
#define REGISTER hone_kernel_elementwise_bf16_avx2
#include "kernel/cpu/elementwise.inc"
#endif
