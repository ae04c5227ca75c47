/* A prompt and its answer without turns, as TRL's texts are. */
#include <string.h>

#include "data/format/encode.h"
#include "data/format/format_int.h"

static hone_status emit(hone_vec_i32 *ids, hone_vec_i32 *labels, int32_t id, bool on)
{
    HONE_TRY(HONE_VEC_PUSH(ids, id));
    return HONE_VEC_PUSH(labels, on ? id : -100);
}

static void add_contents(hone_str *text, const json_t *messages)
{
    const json_t *m;
    size_t        i;

    json_array_foreach(messages, i, m) {
        const json_t *content = json_object_get(m, "content");

        hone_str_append(text, json_string_value(content), json_string_length(content));
    }
}

/* One text, tokenised as a whole: a token is learned if it holds a byte of the answer. */
static hone_status encode_one(const hone_dataset_context *context, const json_t *prompt, const json_t *answer,
                              hone_vec_i32 *ids, hone_vec_i32 *labels)
{
    const hone_tokenizer *tok = context->tokenizer;
    hone_encoding         tokens = { NULL, 0, 0 };
    hone_str              text = HONE_STR_INIT;
    int32_t               eos = hone_tokenizer_eos(tok);
    bool                  all = context->options->train_on_prompt;
    hone_status           st = HONE_OK;
    size_t                border;

    add_contents(&text, prompt);
    border = text.len;
    add_contents(&text, answer);
    HONE_GO(hone_str_ok(&text));
    HONE_GO(hone_tokenizer_encode(tok, &tokens, hone_str_c(&text), text.len, true));
    for (size_t i = 0; i < tokens.len; i++) {
        const hone_token *t = &tokens.data[i];
        bool              added_eos = i > 0 && t->begin == t->end && t->id == eos;      /* by the post-processor */

        HONE_GO(emit(ids, labels, t->id, all || added_eos || (t->begin < t->end && t->end > border)));
    }
    if (tokens.len == 0 || tokens.data[tokens.len - 1].id != eos)
        HONE_GO(emit(ids, labels, eos, true));
out:
    hone_str_deinit(&text);
    HONE_VEC_DEINIT(&tokens);
    return st;
}

hone_status hone_encode_plain(hone_row_result *out, const hone_conversation *c, const hone_dataset_context *context,
                              const char *where)
{
    HONE_CHECK(hone_tokenizer_eos(context->tokenizer) >= 0, HONE_E_USAGE, "%s: a completion that is a text ends with the EOS "
               "token, and tokenizer_config.json names no eos_token that the vocabulary has", where);
    HONE_TRY(encode_one(context, c->messages, c->chosen, &out->ids, &out->labels));
    return c->rejected ? encode_one(context, c->messages, c->rejected, &out->rejected_ids, &out->rejected_labels) : HONE_OK;
}
