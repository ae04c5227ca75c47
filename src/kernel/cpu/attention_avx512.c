/* Attention for processors with AVX-512 (F, BW, DQ, VL). */
#if defined(__x86_64__)
#define ATTENTION_ISA avx512
#include "kernel/cpu/attention_forward.h"
#include "kernel/cpu/attention_backward.h"
#endif
