/*
 * kernel/cpu/attention.h -- attention over packed samples without a T×T buffer: what its files share.
 *
 * attention.c chooses; attention_{portable,avx2,avx512}.c are the same source (attention_forward.h,
 * attention_backward.h on attention_tile.h on attention_simd.h) for one instruction set each.
 *
 * Method (Dao et al., FlashAttention, 2022): keys are taken in tiles of KEYS, counted from the sample's first key; each
 * query row carries its running maximum and sum from tile to tile. The rows of a block are (query, head of the group)
 * pairs, query major, so grouped heads share each packed tile.
 *
 * Bits: every element of every product is one chain of multiply-adds in the order of the summed index, tiles come in
 * order, and what the mask hides enters as an exact no-op (a zero probability, a factor 1). So a row's result depends
 * on its own sample's keys up to its own position, not on blocks, threads, other samples, or how many queries come in
 * one call.
 */
#ifndef HONE_KERNEL_CPU_ATTENTION_H
#define HONE_KERNEL_CPU_ATTENTION_H

#include "op/kernel.h"

#define HONE_ATTENTION_KERNELS(X) X(portable) X(avx2) X(avx512)

/* F32 and BF16 kernels of one instruction set, of type hone_kernel_fn with hone_attention_args. */
#define HONE_ATTENTION_DECLARE_(isa)                                                        \
    hone_status hone_attention_fwd_f32_##isa(const hone_kernel_env *env, const void *args); \
    hone_status hone_attention_fwd_bf16_##isa(const hone_kernel_env *env, const void *args);\
    hone_status hone_attention_bwd_f32_##isa(const hone_kernel_env *env, const void *args); \
    hone_status hone_attention_bwd_bf16_##isa(const hone_kernel_env *env, const void *args);
HONE_ATTENTION_KERNELS(HONE_ATTENTION_DECLARE_)
#undef HONE_ATTENTION_DECLARE_

#endif /* HONE_KERNEL_CPU_ATTENTION_H */
