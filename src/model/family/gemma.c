/* Gemma (Gemma Team 2024): norm weights stored less one, scaled embeddings, gelu, a tied head. */
#include <math.h>
#include <string.h>

#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 256000, .hidden = 3072, .intermediate = 24576, .layers = 28, .heads = 16,
    .kv_heads = 16, .head_dim = 256, .positions = 8192, .padding = HONE_PADDING_0, .act = "gelu_pytorch_tanh", .tied = true };

static void read(hone_config *c, hone_decoder_config *d)
{
    const char *act = hone_config_string(c, "hidden_activation", "gelu_pytorch_tanh");

    hone_config_decoder(c, d, &defaults);
    hone_config_only_bool(c, "use_bidirectional_attention", false);
    d->norm.offset = 1;
    d->embed_scale = sqrt((double)d->hidden);
    d->embed_scale_in_dtype = true;
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
    if (d->mlp.act == HONE_ACT_GELU_ERF)
        d->mlp.act = HONE_ACT_GELU_TANH;        /* the first files say gelu and mean this, which the reference follows */
    if (strcmp(act, "gelu_pytorch_tanh") != 0)
        hone_config_refuse(c, "\"hidden_activation\": \"%s\" is not implemented for gemma, which reads hidden_act", act);
}

const hone_family hone_family_gemma = { "gemma", read, NULL };
