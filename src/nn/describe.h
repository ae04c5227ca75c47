/* nn/describe.h -- what a layer computes, in words for people. Each appends to `out`. */
#ifndef HONE_NN_DESCRIBE_H
#define HONE_NN_DESCRIBE_H

#include "base/str.h"
#include "nn/attention.h"
#include "nn/mlp.h"

/* "window 512, 4 heads of 256 over 1, rope base 10000, q and k normed by head, scores x 0.0625" */
void hone_describe_attention(hone_str *out, const hone_attention_config *c);
/* "gated gelu_tanh of 2048" */
void hone_describe_mlp(hone_str *out, const hone_mlp_config *c);
/* "rms norm", "layer norm without parameters" */
void hone_describe_norm(hone_str *out, const hone_norm_spec *s);

#endif /* HONE_NN_DESCRIBE_H */
