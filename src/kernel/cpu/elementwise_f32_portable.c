/* Elementwise kernels on f32 for any processor. */
#define ELEM_F32
#define REGISTER hone_kernel_elementwise_f32_portable
#include "kernel/cpu/elementwise.inc"
