/* decoder_json.h -- what a decoder's configuration says, as JSON, so that it can be compared with what the reference read. */
#ifndef DECODER_JSON_H
#define DECODER_JSON_H

#include <jansson.h>

#include "nn/decoder.h"

/*
 * One object of numbers, words and lists, named as tools/golden/configs.py names them. What differs from layer to layer is a list of
 * runs, [value, layers, value, layers, ...]. A rope is given by the frequencies that come of it (the first, two between, the last)
 * for a short sample and for one of twice `max_position_embeddings`.
 */
json_t *t_decoder_json(const hone_decoder_config *d);

#endif /* DECODER_JSON_H */
