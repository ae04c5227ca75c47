/* Row formats: which one a file has, whether it goes with the run, and what a row of it becomes. */
#include "data/format.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "data/format/encode.h"
#include "data/format/format_int.h"
#include "data/reader.h"

void hone_conversation_deinit(hone_conversation *c)
{
    json_decref(c->messages);
    json_decref(c->chosen);
    json_decref(c->rejected);
    json_decref(c->tools);
    json_decref(c->template_kwargs);
    json_decref(c->kept);
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

static bool has(const json_t *row, const char *key)
{
    const json_t *v = json_object_get(row, key);

    return v && !json_is_null(v);
}

/* A column that ms-swift takes for the query, or for the response. */
static bool has_swift(const json_t *row, const char *name)
{
    const char *key, *own;
    json_t     *value;

    json_object_foreach((json_t *)row, key, value)
        if (!json_is_null(value) && (own = format_swift_name(key)) != NULL && strcmp(own, name) == 0)
            return true;
    return false;
}

/* A prompt and what follows it, and nothing that only ms-swift's rows have. */
static bool is_trl(const json_t *row)
{
    if (has(row, "chosen") && has(row, "rejected"))
        return true;
    return has(row, "prompt") && has(row, "completion") &&
           (json_is_array(json_object_get(row, "prompt")) || !(has(row, "history") || has_swift(row, "system")));
}

static bool find_format(hone_row_format *out, const json_t *row)
{
    if (has(row, "input_ids"))
        *out = HONE_ROWS_IDS;
    else if (has(row, "messages") || has(row, "conversation"))
        *out = HONE_ROWS_MESSAGES;
    else if (has(row, "conversations"))
        *out = HONE_ROWS_SHAREGPT;
    else if (has(row, "instruction") && (json_object_get(row, "output") || has(row, "chosen")))
        *out = HONE_ROWS_ALPACA;
    else if (is_trl(row))
        *out = HONE_ROWS_TRL;
    else if (has(row, "text") && !has_swift(row, "query"))
        *out = HONE_ROWS_TEXT;
    else if (has_swift(row, "response"))
        *out = HONE_ROWS_SWIFT;
    else
        return false;
    return true;
}

static hone_status unknown_format(const json_t *row, const char *where)
{
    hone_str    found = HONE_STR_INIT;
    const char *key;
    json_t     *value;

    json_object_foreach((json_t *)row, key, value)
        if (found.len < 200)
            hone_str_printf(&found, "%s%.60s%s", found.len ? ", " : "", key, json_is_null(value) ? " (null)" : "");
    (void)HONE_FAIL(HONE_E_FORMAT, "%s: the row has none of the keys messages, conversations, instruction, prompt, query, "
                    "response, text or input_ids that say what it holds (it has: %s); set data_format, or describe the file "
                    "in dataset_info.json", where, found.len ? hone_str_c(&found) : "nothing");
    hone_str_deinit(&found);
    return HONE_E_FORMAT;
}

/* The row with the names that ms-swift's dataset_info.json gives to its columns. *out is owned. */
static hone_status rename_columns(const json_t *row, const hone_source *source, const char *where, json_t **out)
{
    const char *key, *from;
    json_t     *value, *to;

    if (!source->renames || !json_is_object(row)) {
        *out = json_incref((json_t *)row);
        return HONE_OK;
    }
    *out = json_object();
    json_object_foreach((json_t *)row, key, value) {
        const char *name = key;

        json_object_foreach(source->renames, from, to)
            if (strcasecmp(key, from) == 0)
                name = json_string_value(to);
        HONE_CHECK(!json_object_get(*out, name), HONE_E_DATA, "%s: two columns of the row are called \"%s\" once \"columns\" of "
                   "dataset_info.json has renamed them", where, name);
        HONE_TRY(format_set(*out, name, json_incref(value)));
    }
    return HONE_OK;
}

/* A row whose values are null still has its keys, if nothing else tells. */
static bool find_by_keys(hone_row_format *out, const json_t *row)
{
    json_t     *keys = json_object(), *value;
    const char *key;
    bool        found;

    json_object_foreach((json_t *)row, key, value)
        (void)json_object_set_new(keys, key, json_true());
    found = find_format(out, keys);
    json_decref(keys);
    return found;
}

hone_status hone_row_format_detect(hone_row_format *out, const json_t *row, const hone_source *source, const char *where)
{
    json_t     *renamed = NULL;
    hone_status st = HONE_OK;

    HONE_CHECK(json_is_object(row), HONE_E_FORMAT, "%s: a row must be an object, not %s", where, hone_json_type_name(row));
    HONE_GO(rename_columns(row, source, where, &renamed));
    HONE_GO(find_format(out, renamed) || find_by_keys(out, renamed) ? HONE_OK : unknown_format(renamed, where));
out:
    json_decref(renamed);
    return st;
}

bool format_is_openai(const hone_source *source)
{
    const char *formatting = json_string_value(json_object_get(source->info, "formatting"));

    return formatting && strcmp(formatting, "openai") == 0;
}

/* ---- whether it goes with the run ---- */

static bool is_conversations(hone_row_format format)
{
    return format == HONE_ROWS_MESSAGES || format == HONE_ROWS_SHAREGPT || format == HONE_ROWS_OPENAI;
}

static hone_status check_text(hone_row_format format, const hone_source *s, const hone_dataset_context *c)
{
    HONE_CHECK(c->options->stage == HONE_STAGE_PT, HONE_E_USAGE, "%s: rows of text are trained on with stage: pt; for stage: %s "
               "rows hold messages, conversations, instruction, prompt or input_ids", s->path,
               hone_option_choice("stage", c->options->stage));
    HONE_CHECK(!s->ranking, HONE_E_USAGE, "dataset_info.json: %s holds preference pairs (ranking), which stage rm and dpo train "
               "on", s->path);
    HONE_CHECK(c->tokenizer, HONE_E_DATA,
               "%s: rows of text need a tokenizer, and the model directory has none (tokenizer.json, or older vocabulary files)", s->path);
    HONE_CHECK(!c->options->append_eos || hone_tokenizer_eos(c->tokenizer) >= 0, HONE_E_DATA, "%s: documents end with the EOS "
               "token, and tokenizer_config.json names no eos_token that the vocabulary has; append_eos: false joins them "
               "without one", s->path);
    HONE_CHECK(!s->info || is_conversations(format) || s->columns.prompt || hone_reader_knows_as_text(s->path), HONE_E_FORMAT,
               "dataset_info.json: the columns of %s name no \"prompt\", which is the text to train on with stage: pt", s->path);
    return HONE_OK;
}

/* What dataset_info.json says of a source, for the stage. */
static hone_status check_described(hone_row_format format, const hone_source *s, hone_stage stage)
{
    const hone_row_columns *c = &s->columns;
    static const char       no_default[] = "with \"columns\" given, those that it leaves out have no default";
    bool                    pairs = stage == HONE_STAGE_RM || stage == HONE_STAGE_DPO;

    HONE_CHECK(!s->ranking || pairs, HONE_E_USAGE, "dataset_info.json: %s holds preference pairs (ranking), which stage rm and "
               "dpo train on", s->path);
    HONE_CHECK(s->ranking || !pairs, HONE_E_USAGE, "dataset_info.json: stage rm and dpo train on preference pairs; %s needs "
               "\"ranking\": true and the columns \"chosen\" and \"rejected\"", s->path);
    HONE_CHECK(!pairs || (c->chosen && c->rejected), HONE_E_FORMAT, "dataset_info.json: the columns of %s name no \"chosen\" or "
               "no \"rejected\"; %s", s->path, no_default);
    HONE_CHECK((stage == HONE_STAGE_KTO) == (c->kto_tag != NULL), HONE_E_USAGE, "dataset_info.json: stage kto goes with data "
               "sets whose columns name a \"kto_tag\", and no other stage does (%s)", s->path);
    if (format == HONE_ROWS_ALPACA)
        HONE_CHECK((c->prompt || c->query) && (c->response || pairs), HONE_E_FORMAT, "dataset_info.json: the columns of %s name "
                   "no \"%s\"; %s%s", s->path, c->prompt || c->query ? "response" : "prompt", no_default,
                   c->prompt && !pairs ? " (documents, which have \"prompt\" alone, go with stage: pt)" : "");
    else
        HONE_CHECK(c->messages, HONE_E_FORMAT, "dataset_info.json: the columns of %s name no \"messages\"; %s", s->path,
                   no_default);
    return HONE_OK;
}

hone_status hone_row_format_check(hone_row_format format, const hone_source *s, const hone_dataset_context *c)
{
    const hone_stage stage = c->options->stage;

    if (format == HONE_ROWS_IDS) {
        HONE_CHECK(stage == HONE_STAGE_PT || stage == HONE_STAGE_SFT, HONE_E_USAGE, "%s: rows of input_ids go with stage: sft and "
                   "pt", s->path);
        return HONE_OK;
    }
    if (format == HONE_ROWS_TEXT || stage == HONE_STAGE_PT)
        return check_text(format, s, c);
    if (s->info)
        HONE_TRY(check_described(format, s, stage));
    HONE_CHECK(c->slots || c->chat || (format == HONE_ROWS_TRL && c->tokenizer), HONE_E_DATA,
               "%s: conversations need the chat template of the model, and the model directory has %s", s->path,
               c->tokenizer ? "none (chat_template.jinja, or chat_template in tokenizer_config.json). Name one: template: "
                              "gemma3, llama3, chatml ... (docs/data.md lists them); or put a chat_template.jinja there"
                            : "no tokenizer");
    return HONE_OK;
}

/* ---- a row ---- */

static hone_status read_conversation(hone_conversation *out, hone_row_format format, const format_row *r)
{
    HONE_TRY(format_check_media(r));
    switch (format) {
    case HONE_ROWS_ALPACA: HONE_TRY(format_alpaca_row(out, r)); break;
    case HONE_ROWS_SWIFT:  HONE_TRY(format_swift_row(out, r)); break;
    case HONE_ROWS_TRL:    HONE_TRY(format_trl_row(out, r)); break;
    default:               HONE_TRY(format_messages_row(out, r));
    }
    out->openai = is_conversations(format) && (!r->source->info || format_is_openai(r->source));
    return format_check_preference(r, out);
}

static hone_status conversation_row(hone_row_result *out, hone_row_format format, const format_row *r)
{
    hone_conversation c = HONE_CONVERSATION_INIT;
    hone_status       st = HONE_OK;

    HONE_GO(read_conversation(&c, format, r));
    out->is_feedback = c.desirable >= 0;
    out->desirable = c.desirable == 1;
    HONE_GO((r->context->slots ? hone_encode_slots : c.plain ? hone_encode_plain : hone_encode_chat)(out, &c, r->context,
                                                                                                     r->where));
out:
    hone_conversation_deinit(&c);
    return st;
}

static hone_status encode_row(hone_row_result *out, hone_row_format format, const format_row *r)
{
    if (format == HONE_ROWS_IDS)
        return format_ids_row(out, r);
    if (format == HONE_ROWS_TEXT || r->context->options->stage == HONE_STAGE_PT)
        return format_text_row(out, format, r);
    return conversation_row(out, format, r);
}

hone_status hone_row_to_sample(hone_row_result *out, const json_t *json, const hone_source *source,
                               hone_row_format format, const hone_dataset_context *context, const char *where)
{
    json_t     *renamed = NULL;
    hone_status st = HONE_OK;

    HONE_CHECK(json_is_object(json) || (json_is_string(json) && format == HONE_ROWS_TEXT), HONE_E_FORMAT,
               "%s: a row must be an object, not %s", where, hone_json_type_name(json));
    HONE_GO(rename_columns(json, source, where, &renamed));
    HONE_GO(encode_row(out, format, &(format_row){ renamed, source, context, where }));
    if (out->tokens_full == 0)
        out->tokens_full = (int64_t)out->ids.len;
out:
    json_decref(renamed);
    return st;
}
