/* Rows that are no conversations: token ids, and documents of text. */
#include <string.h>

#include "data/format/format_int.h"

/* ---- rows of ids ---- */

static hone_status ids_list(const format_row *r, const char *key, hone_vec_i32 *out, bool negative)
{
    const json_t *v = json_object_get(r->json, key), *item;
    size_t        i;

    if (!v)
        return format_missing(r, key);
    if (!json_is_array(v))
        return format_wrong_type(r, key, "an array of token ids", v);
    HONE_TRY(HONE_VEC_RESERVE(out, json_array_size(v)));
    json_array_foreach(v, i, item) {
        json_int_t n = json_integer_value(item);

        HONE_CHECK(json_is_integer(item) && n <= INT32_MAX && (n >= 0 || (negative && n == -100)), HONE_E_FORMAT,
                   "%s: \"%s\"[%zu] is no token id%s", r->where, key, i, negative ? " and not -100" : "");
        out->data[out->len++] = (int32_t)n;
    }
    return HONE_OK;
}

/* A column of one number for each id, NULL if the row has none. */
static hone_status numbers_beside(const json_t **out, const format_row *r, const char *key, size_t n)
{
    *out = format_get(r, key);
    if (*out && !json_is_array(*out))
        return format_wrong_type(r, key, "an array of numbers", *out);
    HONE_CHECK(!*out || json_array_size(*out) == n, HONE_E_FORMAT, "%s: \"%s\" has %zu numbers for %zu input_ids", r->where, key,
               json_array_size(*out), n);
    return HONE_OK;
}

static bool is_number(const json_t *v, json_int_t n) { return json_is_integer(v) && json_integer_value(v) == n; }

/* TRL's masks of its tokenised rows: where there is a 0, nothing is learned. */
static hone_status apply_mask(hone_row_result *out, const format_row *r, const char *key)
{
    const json_t *mask, *item;
    size_t        i;

    HONE_TRY(numbers_beside(&mask, r, key, out->labels.len));
    json_array_foreach(mask, i, item) {
        HONE_CHECK(is_number(item, 0) || is_number(item, 1), HONE_E_FORMAT, "%s: \"%s\"[%zu] is neither 0 nor 1", r->where, key, i);
        if (is_number(item, 0))
            out->labels.data[i] = -100;
    }
    return HONE_OK;
}

/* A row is one sample, each token of which sees those before it: columns that say otherwise are not passed over. */
static hone_status check_one_sample(const format_row *r, size_t n)
{
    const json_t *seen, *positions, *lengths = format_get(r, "seq_lengths"), *item;
    size_t        i;

    HONE_TRY(numbers_beside(&seen, r, "attention_mask", n));
    json_array_foreach(seen, i, item)
        HONE_CHECK(is_number(item, 1), HONE_E_DATA, "%s: \"attention_mask\"[%zu] is not 1: leave padding out of the row", r->where,
                   i);
    HONE_TRY(numbers_beside(&positions, r, "position_ids", n));
    json_array_foreach(positions, i, item)
        HONE_CHECK(is_number(item, (json_int_t)i), HONE_E_DATA, "%s: \"position_ids\"[%zu] is not %zu, as if there were several "
                   "samples in the row: give each a row of its own, and set packing: true", r->where, i, i);
    HONE_CHECK(!json_is_array(lengths) || json_array_size(lengths) <= 1, HONE_E_DATA, "%s: \"seq_lengths\" says that there are "
               "several samples in the row: give each a row of its own, and set packing: true", r->where);
    return HONE_OK;
}

hone_status format_ids_row(hone_row_result *out, const format_row *r)
{
    const json_t *labels = format_get(r, "labels");

    HONE_TRY(ids_list(r, "input_ids", &out->ids, false));
    HONE_TRY(check_one_sample(r, out->ids.len));
    if (labels) {
        HONE_TRY(ids_list(r, "labels", &out->labels, true));
        HONE_CHECK(out->labels.len == out->ids.len, HONE_E_FORMAT, "%s: %zu labels for %zu input_ids", r->where,
                   out->labels.len, out->ids.len);
        return HONE_OK;
    }
    HONE_TRY(HONE_VEC_RESERVE(&out->labels, out->ids.len));
    if (out->ids.len)
        memcpy(out->labels.data, out->ids.data, out->ids.len * sizeof *out->ids.data);
    out->labels.len = out->ids.len;
    HONE_TRY(apply_mask(out, r, "completion_mask"));
    return apply_mask(out, r, "assistant_masks");
}

/* ---- documents ---- */

/* Text of the message at `i`, where it is a text and `role` says so (NULL: any role). */
static hone_status add_message_text(const format_row *r, const json_t *m, size_t i, const char *content_key, hone_str *out)
{
    const json_t *content = json_object_get(m, content_key);

    HONE_CHECK(json_is_string(content), HONE_E_DATA, "%s: message %zu has no \"%s\" that is a text, which stage: pt trains on",
               r->where, i, content_key);
    hone_str_append(out, json_string_value(content), json_string_length(content));
    return hone_str_ok(out);
}

/* LLaMA-Factory: the first message that is not the system's. */
static hone_status described_messages(const format_row *r, const json_t *list, hone_str *out)
{
    const hone_row_columns *c = &r->source->columns;
    const char             *first = json_string_value(json_object_get(json_array_get(list, 0), c->role_tag));
    size_t                  i = first && c->system_tag && strcmp(first, c->system_tag) == 0;

    HONE_CHECK(json_array_size(list) > i, HONE_E_DATA, "%s: the conversation has no message", r->where);
    return add_message_text(r, json_array_get(list, i), i, c->content_tag, out);
}

/* ms-swift: what the assistant says is the text; a conversation is none. */
static hone_status assistant_messages(const format_row *r, const json_t *list, hone_str *out)
{
    const json_t *m;
    size_t        i;

    HONE_CHECK(json_array_size(list) > 0, HONE_E_DATA, "%s: the conversation has no message", r->where);
    json_array_foreach(list, i, m) {
        HONE_CHECK(format_is_role(m, "assistant"), HONE_E_DATA, "%s: the row is a conversation, which stage: sft trains on; stage: "
                   "pt takes messages of the assistant alone, or a text", r->where);
        HONE_TRY(add_message_text(r, m, i, "content", out));
    }
    return HONE_OK;
}

static hone_status document_of_messages(const format_row *r, hone_str *out)
{
    static const char *const keys[] = { "messages", "conversations", "conversation" };
    const char              *key = r->source->info ? r->source->columns.messages : keys[0];
    const json_t            *list;

    for (size_t i = 0; i < HONE_COUNTOF(keys) && !r->source->info && !format_get(r, key); i++)
        key = keys[i];
    list = format_get(r, key);
    if (!list)
        return format_missing(r, key ? key : "messages");
    if (!json_is_array(list))
        return format_wrong_type(r, key, "an array of messages", list);
    return r->source->info ? described_messages(r, list, out) : assistant_messages(r, list, out);
}

/* The columns that dataset_info.json names; of rows with a history, its first question, as in LLaMA-Factory. */
static hone_status described_document(const format_row *r, hone_str *out)
{
    const hone_row_columns *c = &r->source->columns;
    const json_t           *history = format_get(r, c->history), *asked;
    format_text             text, more;

    if (json_array_size(history) > 0) {
        asked = json_array_get(json_array_get(history, 0), 0);
        HONE_CHECK(json_is_string(asked), HONE_E_FORMAT, "%s: entry 0 of the history is no pair of strings", r->where);
        hone_str_append(out, json_string_value(asked), json_string_length(asked));
        return hone_str_ok(out);
    }
    HONE_TRY(format_get_text(r, c->prompt, &text));
    HONE_TRY(format_get_text(r, c->query, &more));
    if (!text.s && !more.s)
        return format_missing(r, c->prompt ? c->prompt : "prompt");
    return format_join(out, text, more);
}

/* "text"; or ms-swift's response without a query. */
static hone_status plain_document(const format_row *r, hone_str *out)
{
    format_text text;
    json_t     *query, *response;

    HONE_TRY(format_get_text(r, "text", &text));
    if (!text.s) {
        HONE_TRY(format_swift_get(r, "query", &query));
        HONE_TRY(format_swift_get(r, "response", &response));
        HONE_CHECK(!query || !response, HONE_E_DATA, "%s: the row asks and answers, which stage: sft trains on; stage: pt takes a "
                   "text", r->where);
        if (!json_is_string(response))
            return format_missing(r, "text");
        text = format_text_of(response);
    }
    hone_str_append(out, text.s, text.n);
    return hone_str_ok(out);
}

static hone_status get_document(hone_row_format format, const format_row *r, hone_str *out)
{
    if (json_is_string(r->json)) {      /* a line of a .txt file */
        hone_str_append(out, json_string_value(r->json), json_string_length(r->json));
        return hone_str_ok(out);
    }
    if (format == HONE_ROWS_MESSAGES || format == HONE_ROWS_SHAREGPT || format == HONE_ROWS_OPENAI)
        return document_of_messages(r, out);
    return r->source->info ? described_document(r, out) : plain_document(r, out);
}

static hone_status emit(hone_row_result *out, int32_t id)
{
    HONE_TRY(HONE_VEC_PUSH(&out->ids, id));
    return HONE_VEC_PUSH(&out->labels, id);
}

/* LLaMA-Factory's way: no BOS, and the text of EOS is tokenised with the document. Of a Llama 3, that is the end of a text,
 * not of a turn. */
static hone_status encode_as_text(const format_row *r, hone_encoding *tokens, const hone_str *document)
{
    const hone_options   *o = r->context->options;
    const hone_tokenizer *tok = r->context->tokenizer;
    const char           *eos = hone_tokenizer_content(tok, hone_tokenizer_eos(tok)), *end_of_text = "<|end_of_text|>";
    hone_str              text = HONE_STR_INIT;
    hone_status           st;

    if (o->template && strcmp(o->template, "llama3") == 0
        && (o->llamafactory_quirks || hone_tokenizer_id(tok, end_of_text) >= 0))
        eos = end_of_text;
    hone_str_append(&text, hone_str_c(document), document->len);
    if (o->append_eos)
        hone_str_puts(&text, eos);
    st = hone_str_ok(&text);
    if (st == HONE_OK)
        st = hone_tokenizer_encode(tok, tokens, hone_str_c(&text), text.len, false);
    hone_str_deinit(&text);
    return st;
}

/* BOS only if the tokenizer adds one, EOS behind. */
static hone_status encode_document(const format_row *r, hone_encoding *tokens, const hone_str *text)
{
    const hone_tokenizer *tok = r->context->tokenizer;
    int32_t               eos = hone_tokenizer_eos(tok);

    HONE_TRY(hone_tokenizer_encode(tok, tokens, hone_str_c(text), text->len, true));
    if (r->context->options->append_eos && (tokens->len == 0 || tokens->data[tokens->len - 1].id != eos))
        return HONE_VEC_PUSH(tokens, (hone_token){ eos, (uint32_t)text->len, (uint32_t)text->len });
    return HONE_OK;
}

hone_status format_text_row(hone_row_result *out, hone_row_format format, const format_row *r)
{
    hone_encoding tokens = { NULL, 0, 0 };
    hone_status   st = HONE_OK;
    hone_str      text = HONE_STR_INIT;

    HONE_GO(format_check_media(r));
    HONE_GO(get_document(format, r, &text));
    if (r->context->slots || r->context->options->llamafactory_quirks)
        HONE_GO(encode_as_text(r, &tokens, &text));
    else
        HONE_GO(encode_document(r, &tokens, &text));
    for (size_t i = 0; i < tokens.len; i++)
        HONE_GO(emit(out, tokens.data[i].id));
out:
    hone_str_deinit(&text);
    HONE_VEC_DEINIT(&tokens);
    return st;
}
