/* Granite 3 (IBM 2024): a llama with multipliers on embeddings, scores, residuals and logits. */
#include "model/decoder.h"

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_family_llama.read(c, d);
    d->embed_scale = hone_config_scale(c, "embedding_multiplier", 1);
    d->attention.scale = hone_config_scale(c, "attention_multiplier", 1);
    d->residual_scale = hone_config_scale(c, "residual_multiplier", 1);
    d->logit_scale = 1 / hone_config_scale(c, "logits_scaling", 1);
}

const hone_family hone_family_granite = { "granite", read, NULL };
