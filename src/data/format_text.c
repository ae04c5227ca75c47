/* Rows that are no conversations: token ids, and documents of text. */
#include <string.h>

#include "data/format_int.h"

/* ---- rows of ids ---- */

static hone_status ids_list(const format_row *r, const char *key, hone_vec_i32 *out, bool negative)
{
    const json_t *v = json_object_get(r->json, key), *item;
    size_t        i;

    HONE_CHECK(v, HONE_E_DATA, "%s: the row has no \"%s\"", r->where, key);
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

hone_status format_ids_row(hone_row_result *out, const format_row *r)
{
    const json_t *labels = format_get(r, "labels");

    HONE_TRY(ids_list(r, "input_ids", &out->ids, false));
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
    return HONE_OK;
}

/* ---- text ---- */

/* The text of a document: the line, the key "text", or the columns that dataset_info.json names. */
static hone_status get_document(const format_row *r, hone_str *out)
{
    const char *key = r->source->info ? r->source->columns.prompt : "text",
               *query = r->source->info ? r->source->columns.query : NULL;
    format_text text, more;

    if (json_is_string(r->json)) {
        hone_str_append(out, json_string_value(r->json), json_string_length(r->json));
        return hone_str_ok(out);
    }
    HONE_TRY(format_get_text(r, key, &text));
    HONE_TRY(format_get_text(r, query, &more));
    HONE_CHECK(text.s || more.s, HONE_E_DATA, "%s: the row has no \"%s\"%s", r->where, key,
               json_object_get(r->json, "messages") || json_object_get(r->json, "conversations")
                       || json_object_get(r->json, "instruction")
                   ? " (a conversation is trained on with stage: sft)" : "");
    return format_join(out, text, more);
}

static hone_status emit(hone_row_result *out, int32_t id)
{
    HONE_TRY(HONE_VEC_PUSH(&out->ids, id));
    return HONE_VEC_PUSH(&out->labels, id);
}

/* A document: BOS only if the tokenizer adds one, EOS after it. */
hone_status format_text_row(hone_row_result *out, const format_row *r)
{
    const hone_tokenizer *tok = r->context->tokenizer;
    hone_encoding         tokens = { NULL, 0, 0 };
    hone_status           st = HONE_OK;
    hone_str              text = HONE_STR_INIT;

    HONE_GO(get_document(r, &text));
    HONE_GO(hone_tokenizer_encode(tok, &tokens, hone_str_c(&text), text.len, true));
    for (size_t i = 0; i < tokens.len; i++)
        HONE_GO(emit(out, tokens.data[i].id));
    if (tokens.len == 0 || tokens.data[tokens.len - 1].id != hone_tokenizer_eos(tok))
        HONE_GO(emit(out, hone_tokenizer_eos(tok)));
out:
    hone_str_deinit(&text);
    HONE_VEC_DEINIT(&tokens);
    return st;
}
