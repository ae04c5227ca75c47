/* Granite 3 (IBM 2024): a llama with multipliers on embeddings, scores, residuals and logits. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 32000, .hidden = 4096, .intermediate = 11008, .layers = 32, .heads = 32,
                                                .positions = 2048 };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_config_decoder(c, d, &defaults);
    d->attention.qkv_bias = d->attention.out_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.bias = hone_config_bool(c, "mlp_bias", false);
    d->embed_scale = hone_config_scale(c, "embedding_multiplier", 1);
    d->attention.scale = hone_config_scale(c, "attention_multiplier", 1);
    d->residual_scale = hone_config_scale(c, "residual_multiplier", 1);
    d->logit_scale = 1 / hone_config_scale(c, "logits_scaling", 1);
}

const hone_family hone_family_granite = { "granite", read, NULL };
