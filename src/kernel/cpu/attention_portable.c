/* Attention for any processor. */
#define ATTENTION_ISA portable
#include "kernel/cpu/attention_forward.h"
#include "kernel/cpu/attention_backward.h"
