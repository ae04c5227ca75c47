/*
 * model/decoder.h -- the keys that most families share, read into a decoder; a family file gives the defaults of its config
 * class and adds what is its own.
 */
#ifndef HONE_MODEL_DECODER_H
#define HONE_MODEL_DECODER_H

#include "model/family.h"
#include "nn/decoder.h"

/* In place of a key's name: the family has no such key. */
#define HONE_NO_KEY ""

/* The default of pad_token_id is token 0. */
enum { HONE_PADDING_0 = -1 };

/* What the config class takes for absent keys, and where its keys have other names than llama's. */
typedef struct hone_decoder_defaults {
    int64_t     vocab, hidden, intermediate, layers, heads;
    int64_t     kv_heads;           /* 0: as many as heads; a null in the file means that too */
    int64_t     head_dim;           /* 0: hidden / heads */
    int64_t     positions;
    const char *act;                /* NULL: silu; a family that says "xielu" has it */
    const char *act_key;            /* NULL: hidden_act */
    double      norm_eps;           /* 0: 1e-6 */
    const char *norm_eps_key;       /* NULL: rms_norm_eps */
    int64_t     padding;            /* pad_token_id; 0: none, HONE_PADDING_0: token 0 */
    bool        tied;               /* tie_word_embeddings */
    double      dropout;            /* attention_dropout */
    hone_rope_defaults rope;
    bool        own_rope;           /* the family reads its rotary settings itself */
} hone_decoder_defaults;

/*
 * Read sizes, activation, norm, ties, attention dropout and rotary settings into `out`, whose names are llama's and whose blocks
 * norm before attention and before a gated mlp. Allocates out->layer, all of rope 0 and without a window, which belongs to whoever
 * called the family's read.
 */
void hone_config_decoder(hone_config *c, hone_decoder_config *out, const hone_decoder_defaults *defaults);

/* `full_every` for hone_config_windows. */
enum { HONE_ALL_FULL = 1, HONE_ALL_SLIDE = INT32_MAX };
/* Which layers slide: those that "layer_types" says, or where it is absent all but each `full_every`-th; they get `window` (0: none). */
void hone_config_windows(hone_config *c, hone_decoder_config *d, int32_t window, int64_t full_every);
/* sliding_window; absent: the default; null: 0, none. */
int32_t hone_config_window(hone_config *c, int32_t absent);
/* All layers see a window; 0: none does. */
void hone_config_all_slide(hone_decoder_config *d, int32_t window);
/* Layers take rope[1] if they slide, else rope[0]. */
void hone_config_rope_of_type(hone_decoder_config *d);
/* Where heads times their size must be the hidden size, as the reference has it. */
void hone_config_whole_heads(hone_config *c, const hone_decoder_config *d);
/* Where the reference rotates int(head_dim · partial_rotary_factor) elements and not one more: odd numbers are refused. */
void hone_config_even_rope(hone_config *c, const hone_decoder_config *d);
/* Norms behind attention and mlp under post_attention_layernorm and post_feedforward_layernorm, none before them. */
void hone_config_norms_behind(hone_decoder_config *d);
/* What Gemma 2 and 3 share: norms on both sides, weights stored less one, scaled embeddings, no bidirectional attention. */
void hone_config_gemma_blocks(hone_config *c, hone_decoder_config *d);
/* sliding_window, use_sliding_window, max_window_layers and layer_types, as qwen configs have them. */
void hone_config_qwen_windows(hone_config *c, hone_decoder_config *d);

#endif /* HONE_MODEL_DECODER_H */
