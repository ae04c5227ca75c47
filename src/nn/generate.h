/*
 * nn/generate.h -- token by token generation with a key/value cache.
 *
 * The logits are those of a whole forward pass. Where rotary frequencies depend on the length of the context, hone does as
 * transformers does: at the one step of longrope all is computed again with the other frequencies (there for Phi-3 only); with
 * dynamic, whose frequencies change with every token, a key stays as it was rotated when it came, and only a prompt is as a
 * whole forward pass has it.
 */
#ifndef HONE_NN_GENERATE_H
#define HONE_NN_GENERATE_H

#include "base/rng.h"
#include "nn/model.h"

typedef struct hone_generator hone_generator;

/* A generator with an empty context, which grows as far as the model's positions go. The model is borrowed. */
hone_status hone_generator_create(hone_generator **out, hone_ctx *ctx, const hone_model *model) HONE_MUST_CHECK;
void        hone_generator_destroy(hone_generator **g);
/* How many tokens the context can still take. */
int64_t     hone_generator_room(const hone_generator *g);

/* Make `ids[n]` the context: what it shares with the tokens already seen is not computed again. Errors: E_DATA (an id out of
 * range, more than the positions with one to follow; an empty context). */
hone_status hone_generator_prompt(hone_generator *g, const int32_t *ids, int64_t n) HONE_MUST_CHECK;
/* The next token, which also becomes part of the context: the most probable one at temperature 0 (the lowest id of equals),
 * else drawn from softmax(logits / temperature). Errors: E_NUMERIC when the logits are not finite; E_DATA without room. */
hone_status hone_generator_next(hone_generator *g, int32_t *id, double temperature, hone_rng *rng) HONE_MUST_CHECK;

#endif /* HONE_NN_GENERATE_H */
