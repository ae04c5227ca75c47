/* Row formats: which one a file has, whether it goes with the run, and what a row of it becomes. */
#include "data/format.h"

#include <string.h>

#include "base/mem.h"
#include "data/encode.h"
#include "data/format_int.h"

void hone_conversation_deinit(hone_conversation *c)
{
    json_decref(c->messages);
    json_decref(c->chosen);
    json_decref(c->rejected);
    json_decref(c->tools);
    json_decref(c->template_kwargs);
    HONE_VEC_DEINIT(&c->call_text);
    *c = (hone_conversation)HONE_CONVERSATION_INIT;
}

void hone_row_result_deinit(hone_row_result *r)
{
    hone_free(r->why);
    HONE_VEC_DEINIT(&r->ids);
    HONE_VEC_DEINIT(&r->labels);
    HONE_VEC_DEINIT(&r->rejected_ids);
    HONE_VEC_DEINIT(&r->rejected_labels);
    *r = (hone_row_result){ 0 };
}

/* ---- which format ---- */

hone_status hone_row_format_detect(hone_row_format *out, const json_t *json, const char *where)
{
    static const struct { const char *key; hone_row_format format; } keys[] = {
        { "messages", HONE_ROWS_MESSAGES }, { "conversations", HONE_ROWS_SHAREGPT }, { "input_ids", HONE_ROWS_IDS },
        { "instruction", HONE_ROWS_ALPACA }, { "text", HONE_ROWS_TEXT },
    };
    hone_str    found = HONE_STR_INIT;
    const char *key;
    json_t     *value;

    HONE_CHECK(json_is_object(json), HONE_E_FORMAT, "%s: a row must be an object, not %s", where,
               hone_json_type_name(json));
    for (size_t i = 0; i < HONE_COUNTOF(keys); i++)
        if (json_object_get(json, keys[i].key)) {
            *out = keys[i].format;
            return HONE_OK;
        }
    json_object_foreach((json_t *)json, key, value)
        hone_str_printf(&found, "%s%s", found.len ? ", " : "", key);
    (void)HONE_FAIL(HONE_E_FORMAT,
                    "%s: the row has none of the keys messages, conversations, input_ids, instruction or text (it has: "
                    "%s); set data_format, or describe the file in dataset_info.json",
                    where, hone_str_c(&found));
    hone_str_deinit(&found);
    return HONE_E_FORMAT;
}

static hone_status check_text(const hone_source *s, const hone_dataset_context *c)
{
    HONE_CHECK(c->options->stage == HONE_STAGE_PT, HONE_E_USAGE,
               "%s: rows of text are trained on with stage: pt; for stage: sft rows "
               "hold messages, conversations, instruction or input_ids",
               s->path);
    HONE_CHECK(c->tokenizer, HONE_E_DATA,
               "%s: rows of text need a tokenizer, and the model directory has no tokenizer.json", s->path);
    HONE_CHECK(hone_tokenizer_eos(c->tokenizer) >= 0, HONE_E_DATA, "%s: documents are separated by the EOS token, and "
               "tokenizer_config.json names no eos_token that the vocabulary has", s->path);
    HONE_CHECK(!s->info || s->columns.prompt || hone_ends_with(s->path, ".txt"), HONE_E_FORMAT,
               "dataset_info.json: the columns of %s "
               "name no \"prompt\", which is the text to train on with stage: pt",
               s->path);
    return HONE_OK;
}

hone_status hone_row_format_check(hone_row_format format, const hone_source *s, const hone_dataset_context *c)
{
    if (format == HONE_ROWS_IDS)
        return HONE_OK;
    if (format == HONE_ROWS_TEXT || c->options->stage == HONE_STAGE_PT)
        return check_text(s, c);
    HONE_CHECK(c->chat, HONE_E_DATA,
               "%s: conversations need the chat template of the model, and the model directory has %s", s->path,
               c->tokenizer ? "none (chat_template.jinja, or chat_template in tokenizer_config.json)"
                            : "no tokenizer.json");
    HONE_CHECK(format != HONE_ROWS_ALPACA || ((s->columns.prompt || s->columns.query) && s->columns.response),
               HONE_E_FORMAT,
               "dataset_info.json: the columns of %s name no \"prompt\" or no \"response\"; with \"columns\" given, "
               "those that it leaves out have no default",
               s->path);
    HONE_CHECK(format == HONE_ROWS_ALPACA || s->columns.messages, HONE_E_FORMAT,
               "dataset_info.json: the columns of %s name no "
               "\"messages\"; with \"columns\" given, those that it leaves out have no default",
               s->path);
    return HONE_OK;
}

/* ---- shared by the formats ---- */

hone_status format_wrong_type(const format_row *r, const char *key, const char *want, const json_t *got)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s: \"%s\" must be %s, not %s", r->where, key, want, hone_json_type_name(got));
}

const json_t *format_get(const format_row *r, const char *key)
{
    const json_t *v = key ? json_object_get(r->json, key) : NULL;

    return json_is_null(v) ? NULL : v;
}

hone_status format_get_text(const format_row *r, const char *key, format_text *out)
{
    const json_t *v = format_get(r, key);

    *out = (format_text){ json_string_value(v), json_string_length(v) };
    return !v || json_is_string(v) ? HONE_OK : format_wrong_type(r, key, "a string", v);
}

hone_status format_get_tools(const format_row *r, const char *key, json_t **out)
{
    const json_t *v = format_get(r, key);
    const char   *text = json_string_value(v);
    json_error_t  error;

    *out = NULL;
    if (!v || (text && !*text))
        return HONE_OK;
    if (!text && !json_is_array(v))
        return format_wrong_type(r, key, "an array of tools, or a string with one", v);
    *out = text ? json_loadb(text, json_string_length(v), JSON_REJECT_DUPLICATES, &error) : json_incref((json_t *)v);
    HONE_CHECK(*out, HONE_E_DATA, "%s: \"%s\" is a string that is not JSON: %s", r->where, key, error.text);
    HONE_CHECK(json_is_array(*out), HONE_E_DATA, "%s: \"%s\" must hold an array of tools", r->where, key);
    if (json_array_size(*out) == 0) {
        json_decref(*out);
        *out = NULL;
    }
    return HONE_OK;
}

hone_status format_add_message(json_t *messages, const char *role, format_text text)
{
    json_t *m = json_object();

    if (!m || json_object_set_new(m, "role", json_string(role)) != 0
        || json_object_set_new(m, "content", json_stringn(text.s ? text.s : "", text.n)) != 0
        || json_array_append(messages, m) != 0) {
        json_decref(m);
        return HONE_FAIL(HONE_E_NOMEM, "out of memory");
    }
    json_decref(m);
    return HONE_OK;
}

hone_status format_join(hone_str *out, format_text first, format_text second)
{
    hone_str_append(out, first.s ? first.s : "", first.n);
    if (first.n && second.n)
        hone_str_putc(out, '\n');
    hone_str_append(out, second.s ? second.s : "", second.n);
    return hone_str_ok(out);
}

bool format_is_role(const json_t *message, const char *role)
{
    const char *own = json_string_value(json_object_get(message, "role"));

    return own && strcmp(own, role) == 0;
}

/* ---- a row ---- */

static hone_status read_conversation(hone_conversation *out, hone_row_format format, const format_row *r)
{
    switch (format) {
    case HONE_ROWS_SHAREGPT: return format_sharegpt_row(out, r);
    case HONE_ROWS_ALPACA:   return format_alpaca_row(out, r);
    default:                 return format_messages_row(out, r);
    }
}

static hone_status conversation_row(hone_row_result *out, hone_row_format format, const format_row *r)
{
    hone_conversation c = HONE_CONVERSATION_INIT;
    hone_status       st = HONE_OK;

    HONE_GO(read_conversation(&c, format, r));
    HONE_GO((r->context->slots ? hone_encode_slots : hone_encode_chat)(out, &c, r->context, r->where));
out:
    hone_conversation_deinit(&c);
    return st;
}

hone_status hone_row_to_sample(hone_row_result *out, const json_t *json, const hone_source *source,
                               hone_row_format format, const hone_dataset_context *context, const char *where)
{
    format_row r = { json, source, context, where };

    HONE_CHECK(json_is_object(json) || hone_ends_with(source->path, ".txt"), HONE_E_FORMAT,
               "%s: a row must be an object, not %s", where, hone_json_type_name(json));
    if (format == HONE_ROWS_IDS)
        HONE_TRY(format_ids_row(out, &r));
    else if (format == HONE_ROWS_TEXT || context->options->stage == HONE_STAGE_PT)
        HONE_TRY(format_text_row(out, &r));
    else
        HONE_TRY(conversation_row(out, format, &r));
    if (out->tokens_full == 0)
        out->tokens_full = (int64_t)out->ids.len;
    return HONE_OK;
}
