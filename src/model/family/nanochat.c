/* nanochat (Karpathy 2025): norms without parameters, also on the embeddings and behind the rotation; plain mlps of squared
 * rectifiers; rotation by the negative angle; capped logits. */
#include "model/decoder.h"

static const hone_decoder_defaults defaults = { .vocab = 50304, .hidden = 768, .intermediate = 8192, .layers = 12, .heads = 6,
                                                .positions = 2048, .padding = 1, .act = "relu2" };

static void read(hone_config *c, hone_decoder_config *d)
{
    hone_attention_config *a = &d->attention;

    hone_config_decoder(c, d, &defaults);
    d->norm.plain = a->norm.plain = true;
    d->norm_embedding = true;
    d->rope[0].reversed = true;
    a->qk_norm = HONE_QK_NORM_HEAD;
    a->norm_after_rope = true;
    a->qkv_bias = a->out_bias = hone_config_bool(c, "attention_bias", false);
    d->mlp.kind = HONE_MLP_PLAIN;
    d->mlp.up = "fc1";
    d->mlp.down = "fc2";
    d->logit_softcap = hone_config_limit(c, "final_logit_softcapping", 15);
}

const hone_family hone_family_nanochat = { "nanochat", read, NULL };
