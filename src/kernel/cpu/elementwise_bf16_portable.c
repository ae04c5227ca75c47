/* Elementwise kernels on bf16 for any processor. */
#define ELEM_BF16
#define REGISTER hone_kernel_elementwise_bf16_portable
#include "kernel/cpu/elementwise.inc"
