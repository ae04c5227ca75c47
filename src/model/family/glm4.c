/* GLM-4-0414 (GLM Team 2025): a glm with norms behind attention and mlp too. */
#include "model/decoder.h"

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_family_glm.read(c, d);
    d->names.attention_out = "post_self_attn_layernorm";
    d->names.mlp_out = "post_mlp_layernorm";
}

const hone_family hone_family_glm4 = { "glm4", read, NULL };
