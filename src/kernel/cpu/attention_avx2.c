/* Attention for processors with AVX2 and FMA. */
#if defined(__x86_64__)
#define ATTENTION_ISA avx2
#include "kernel/cpu/attention_forward.h"
#include "kernel/cpu/attention_backward.h"
#endif
