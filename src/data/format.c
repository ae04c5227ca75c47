#include "data/format.h"

#include <string.h>

#include "base/mem.h"

typedef struct row {
    const json_t               *json;
    const hone_source          *source;
    const hone_dataset_context *context;
    const char                 *where;
    hone_row_result            *out;
} row;

void hone_row_result_deinit(hone_row_result *r)
{
    hone_free(r->why);
    HONE_VEC_DEINIT(&r->ids);
    HONE_VEC_DEINIT(&r->labels);
    *r = (hone_row_result){ 0 };
}

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

static hone_status wrong_type(const row *r, const char *key, const char *want, const json_t *got)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s: \"%s\" must be %s, not %s", r->where, key, want, hone_json_type_name(got));
}

/* A value that may be absent or null, but else is a string. */
static hone_status get_text(const row *r, const char *key, const char **out, size_t *n)
{
    const json_t *v = key ? json_object_get(r->json, key) : NULL;

    *out = NULL;
    *n = 0;
    if (!v || json_is_null(v))
        return HONE_OK;
    if (!json_is_string(v))
        return wrong_type(r, key, "a string", v);
    *out = json_string_value(v);
    *n = json_string_length(v);
    return HONE_OK;
}

static hone_status emit(hone_row_result *out, int32_t id, bool supervised)
{
    HONE_TRY(HONE_VEC_PUSH(&out->ids, id));
    return HONE_VEC_PUSH(&out->labels, supervised ? id : -100);
}

/* ---- rows of ids ---- */

static hone_status ids_list(const row *r, const char *key, hone_vec_i32 *out, bool negative)
{
    const json_t *v = json_object_get(r->json, key), *item;
    size_t        i;

    HONE_CHECK(v, HONE_E_DATA, "%s: the row has no \"%s\"", r->where, key);
    if (!json_is_array(v))
        return wrong_type(r, key, "an array of token ids", v);
    HONE_TRY(HONE_VEC_RESERVE(out, json_array_size(v)));
    json_array_foreach(v, i, item) {
        json_int_t n = json_integer_value(item);

        HONE_CHECK(json_is_integer(item) && n <= INT32_MAX && (n >= 0 || (negative && n == -100)), HONE_E_FORMAT,
                   "%s: \"%s\"[%zu] is no token id%s", r->where, key, i, negative ? " and not -100" : "");
        out->data[out->len++] = (int32_t)n;
    }
    return HONE_OK;
}

static hone_status ids_row(const row *r)
{
    const json_t *labels = json_object_get(r->json, "labels");

    HONE_TRY(ids_list(r, "input_ids", &r->out->ids, false));
    if (labels && !json_is_null(labels)) {
        HONE_TRY(ids_list(r, "labels", &r->out->labels, true));
        HONE_CHECK(r->out->labels.len == r->out->ids.len, HONE_E_FORMAT, "%s: %zu labels for %zu input_ids", r->where,
                   r->out->labels.len, r->out->ids.len);
        return HONE_OK;
    }
    HONE_TRY(HONE_VEC_RESERVE(&r->out->labels, r->out->ids.len));
    if (r->out->ids.len)
        memcpy(r->out->labels.data, r->out->ids.data, r->out->ids.len * sizeof *r->out->ids.data);
    r->out->labels.len = r->out->ids.len;
    return HONE_OK;
}

/* ---- text ---- */

/* Two texts, joined by a newline where both have something. */
static hone_status join(hone_str *out, const char *first, size_t n_first, const char *second, size_t n_second)
{
    hone_str_append(out, first ? first : "", n_first);
    if (n_first && n_second)
        hone_str_putc(out, '\n');
    hone_str_append(out, second ? second : "", n_second);
    return hone_str_ok(out);
}

/* The text of a document: the line, the key "text", or the columns that dataset_info.json names. */
static hone_status get_document(const row *r, hone_str *out)
{
    const char *key = r->source->info ? r->source->columns.prompt : "text",
               *query = r->source->info ? r->source->columns.query : NULL;
    const char *text, *more;
    size_t      n, n_more;

    if (json_is_string(r->json))
        return join(out, json_string_value(r->json), json_string_length(r->json), NULL, 0);
    HONE_TRY(get_text(r, key, &text, &n));
    HONE_TRY(get_text(r, query, &more, &n_more));
    HONE_CHECK(text || more, HONE_E_DATA, "%s: the row has no \"%s\"%s", r->where, key,
               json_object_get(r->json, "messages") || json_object_get(r->json, "conversations")
                       || json_object_get(r->json, "instruction")
                   ? " (a conversation is trained on with stage: sft)" : "");
    return join(out, text, n, more, n_more);
}

/* A document: BOS only if the tokenizer adds one, EOS after it. */
static hone_status text_row(const row *r)
{
    const hone_tokenizer *tok = r->context->tokenizer;
    hone_encoding         tokens = { NULL, 0, 0 };
    hone_status           st = HONE_OK;
    hone_str              text = HONE_STR_INIT;

    HONE_GO(get_document(r, &text));
    HONE_GO(hone_tokenizer_encode(tok, &tokens, hone_str_c(&text), text.len, true));
    for (size_t i = 0; i < tokens.len; i++)
        HONE_GO(emit(r->out, tokens.data[i].id, true));
    if (tokens.len == 0 || tokens.data[tokens.len - 1].id != hone_tokenizer_eos(tok))
        HONE_GO(emit(r->out, hone_tokenizer_eos(tok), true));
out:
    hone_str_deinit(&text);
    HONE_VEC_DEINIT(&tokens);
    return st;
}

/* ---- conversations ---- */

static bool is_assistant(const json_t *message)
{
    const char *role = json_string_value(json_object_get(message, "role"));

    return role && strcmp(role, "assistant") == 0;
}

/* Content: a text, or a list of parts that are text. What an assistant calls or thinks may stand alone. */
static hone_status check_content(const row *r, const json_t *message, size_t i)
{
    const json_t *content = json_object_get(message, "content"), *part;
    size_t        p;

    HONE_CHECK((content && !json_is_null(content)) || is_assistant(message), HONE_E_DATA,
               "%s: message %zu, of \"%.100s\", has no \"content\"", r->where, i,
               json_string_value(json_object_get(message, "role")));
    json_array_foreach(content, p, part) {
        const char *type = json_string_value(json_object_get(part, "type"));

        HONE_CHECK(type && strcmp(type, "text") == 0, HONE_E_DATA, "%s: part %zu of the content of message %zu is of type "
                   "\"%.100s\"; hone trains on parts of type text only", r->where, p, i, type ? type : "(none)");
    }
    return HONE_OK;
}

static hone_status check_messages(const row *r, const json_t *messages)
{
    const json_t *m;
    size_t        i;

    json_array_foreach(messages, i, m) {
        const json_t *loss = json_object_get(m, "loss");

        HONE_CHECK(json_is_object(m), HONE_E_FORMAT, "%s: message %zu must be an object, not %s", r->where, i,
                   hone_json_type_name(m));
        HONE_CHECK(json_is_string(json_object_get(m, "role")), HONE_E_FORMAT,
                   "%s: message %zu has no \"role\" that is a string", r->where, i);
        HONE_TRY(check_content(r, m, i));
        HONE_CHECK(!loss || json_is_null(loss) || json_is_boolean(loss), HONE_E_FORMAT,
                   "%s: \"loss\" of message %zu must be true or "
                   "false",
                   r->where, i);
        HONE_CHECK(!json_is_true(loss) || is_assistant(m), HONE_E_DATA,
                   "%s: message %zu asks for a loss, but only what the assistant "
                   "says can have one; train_on_prompt trains on everything",
                   r->where, i);
    }
    HONE_CHECK(json_array_size(messages) > 0, HONE_E_DATA, "%s: the conversation has no message", r->where);
    return HONE_OK;
}

/* tools: an array, or the text of one. *parsed is the caller's to free. */
static hone_status get_tools(const row *r, const char *key, const json_t **tools, json_t **parsed)
{
    const json_t *v = key ? json_object_get(r->json, key) : NULL;
    const char   *text = json_string_value(v);

    *tools = NULL;
    *parsed = NULL;
    if (!v || json_is_null(v) || (text && !*text))
        return HONE_OK;
    if (text) {
        json_error_t error;

        *parsed = json_loadb(text, json_string_length(v), JSON_REJECT_DUPLICATES, &error);
        HONE_CHECK(*parsed, HONE_E_DATA, "%s: \"%s\" is a string that is not JSON: %s", r->where, key, error.text);
        v = *parsed;
        HONE_CHECK(json_is_array(v), HONE_E_DATA, "%s: \"%s\" must hold an array of tools", r->where, key);
    }
    if (!json_is_array(v))
        return wrong_type(r, key, "an array of tools, or a string with one", v);
    *tools = json_array_size(v) ? v : NULL;
    return HONE_OK;
}

/* The options say what has a loss; the switch "loss" of a message overrides them for what the assistant says in it. */
static hone_status label_render(const row *r, const json_t *messages, const hone_chat_render *render)
{
    const hone_options *o = r->context->options;
    int64_t             last = -1;

    for (size_t i = 0; i < json_array_size(messages); i++)
        if (is_assistant(json_array_get(messages, i)))
            last = (int64_t)i;
    for (size_t t = 0; t < render->tokens.len; t++) {
        int32_t       m = render->message.data[t];
        const json_t *loss = m >= 0 ? json_object_get(json_array_get(messages, (size_t)m), "loss") : NULL;
        bool spoken = render->mask.data[t] != 0, on = o->train_on_prompt || (spoken && (!o->mask_history || m == last));

        if (json_is_boolean(loss))
            on = spoken && json_is_true(loss);
        HONE_TRY(emit(r->out, render->tokens.data[t].id, on));
    }
    return HONE_OK;
}

/* The reasoning of a message: "reasoning_content", or what stands in <think> marks. */
static void get_reasoning(const json_t *message, const char **begin, const char **end)
{
    static const char open_mark[] = "<think>", close_mark[] = "</think>";
    const char *content = json_string_value(json_object_get(message, "content")), *mark;

    *begin = json_string_value(json_object_get(message, "reasoning_content"));
    *end = *begin ? *begin + strlen(*begin) : NULL;
    if (!*begin && content && (*end = strstr(content, close_mark)) != NULL) {
        mark = strstr(content, open_mark);
        *begin = mark && mark < *end ? mark + strlen(open_mark) : content;
    }
    while (*begin < *end && strchr(" \n\r\t", **begin))
        ++*begin;
    while (*begin < *end && strchr(" \n\r\t", (*end)[-1]))
        --*end;
}

/* Templates drop the reasoning of earlier turns; how often is worth knowing, for it is not trained then. */
static int64_t count_removed_reasoning(const json_t *messages, const hone_chat_render *render)
{
    int64_t       count = 0;
    size_t        i;
    const json_t *m;

    json_array_foreach(messages, i, m) {
        const char *begin, *end;

        if (!is_assistant(m))
            continue;
        get_reasoning(m, &begin, &end);
        count += begin < end && !memmem(render->text.data, render->text.len, begin, (size_t)(end - begin));
    }
    return count;
}

/* Whether the template wrote a list of parts as Python prints it: it takes content that is a string only. */
static bool list_is_printed(const json_t *messages, const hone_chat_render *render)
{
    static const char *const begins[] = { "[{'type': 'text'", "[{'text': " };
    size_t                   i;
    const json_t            *m;

    json_array_foreach(messages, i, m)
        for (size_t k = 0; k < HONE_COUNTOF(begins) && json_is_array(json_object_get(m, "content")); k++)
            if (memmem(render->text.data, render->text.len, begins[k], strlen(begins[k])))
                return true;
    return false;
}

static hone_status render(const row *r, const json_t *messages, const char *tools_key)
{
    const json_t     *kwargs = json_object_get(r->json, "chat_template_kwargs");
    hone_chat_options options = { 0 };
    hone_chat_render  out = { 0 };
    hone_status       st = HONE_OK;
    json_t           *parsed = NULL;

    HONE_TRY(check_messages(r, messages));
    if (kwargs && !json_is_null(kwargs) && !json_is_object(kwargs))
        return wrong_type(r, "chat_template_kwargs", "an object", kwargs);
    HONE_GO(get_tools(r, tools_key, &options.tools, &parsed));
    options.template_kwargs = json_is_object(kwargs) ? kwargs : NULL;
    HONE_GO(hone_chat_render_messages(r->context->chat, &out, messages, &options));
    HONE_GO(label_render(r, messages, &out));
    r->out->reasoning_removed = count_removed_reasoning(messages, &out);
    r->out->list_printed = list_is_printed(messages, &out);
out:
    hone_chat_render_deinit(&out);
    json_decref(parsed);
    return st;
}

/* The list of messages of a row. */
static hone_status get_messages(const row *r, const char *key, const json_t **out)
{
    *out = json_object_get(r->json, key);
    HONE_CHECK(*out && !json_is_null(*out), HONE_E_DATA, "%s: the row has no \"%s\"", r->where, key);
    return json_is_array(*out) ? HONE_OK : wrong_type(r, key, "an array of messages", *out);
}

static hone_status messages_row(const row *r)
{
    const json_t *messages;

    HONE_TRY(get_messages(r, r->source->info ? r->source->columns.messages : "messages", &messages));
    return render(r, messages, r->source->info ? r->source->columns.tools : "tools");
}

static hone_status add_message(json_t *messages, const char *role, const char *text, size_t n)
{
    json_t *m = json_object();

    if (!m || json_object_set_new(m, "role", json_string(role)) != 0
        || json_object_set_new(m, "content", json_stringn(text, n)) != 0 || json_array_append_new(messages, m) != 0)
        return HONE_FAIL(HONE_E_NOMEM, "out of memory");
    return HONE_OK;
}

/* Names the roles that a data set has, and the way out. */
static hone_status unknown_role(const row *r, const char *tag, size_t i)
{
    const hone_row_columns *c = &r->source->columns;
    hone_str                known = HONE_STR_INIT;

    hone_str_printf(&known, "%s, %s", c->user_tag, c->assistant_tag);
    if (c->system_tag)
        hone_str_printf(&known, ", %s", c->system_tag);
    if (c->observation_tag)
        hone_str_printf(&known, ", %s", c->observation_tag);
    if (!r->source->info)
        hone_str_puts(&known, ", user, assistant, tool");
    (void)HONE_FAIL(HONE_E_DATA, "%s: message %zu is of \"%.100s\", and the roles of this data set are %s; set \"tags\" in "
                    "dataset_info.json, or write rows of messages", r->where, i, tag, hone_str_c(&known));
    hone_str_deinit(&known);
    return HONE_E_DATA;
}

/* A file that dataset_info.json does not describe may name the roles as chat templates do. */
static const char *template_role(const row *r, const char *tag)
{
    static const char *const roles[] = { "user", "assistant", "tool" };

    for (size_t i = 0; i < HONE_COUNTOF(roles) && !r->source->info; i++)
        if (strcmp(tag, roles[i]) == 0)
            return roles[i];
    return NULL;
}

static hone_status translate_role(const row *r, const char *tag, size_t i, const char **role)
{
    const hone_row_columns *c = &r->source->columns;

    *role = strcmp(tag, c->user_tag) == 0                                     ? "user"
            : strcmp(tag, c->assistant_tag) == 0                              ? "assistant"
            : c->system_tag && strcmp(tag, c->system_tag) == 0                ? "system"
            : c->observation_tag && strcmp(tag, c->observation_tag) == 0      ? "tool"
                                                                              : template_role(r, tag);
    return *role ? HONE_OK : unknown_role(r, tag, i);
}

static hone_status sharegpt_row(const row *r)
{
    const hone_row_columns *c = &r->source->columns;
    const char             *system;
    const json_t           *list, *m;
    json_t                 *messages = json_array();
    hone_status             st = HONE_OK;
    size_t                  i, n;

    HONE_GO(get_messages(r, c->messages, &list));
    HONE_GO(get_text(r, c->system, &system, &n));
    if (system && *system)
        HONE_GO(add_message(messages, "system", system, n));
    json_array_foreach(list, i, m) {
        const char   *tag = json_string_value(json_object_get(m, c->role_tag)), *role;
        const json_t *content = json_object_get(m, c->content_tag);

        HONE_GO_CHECK(tag && json_is_string(content), HONE_E_FORMAT,
                      "%s: message %zu lacks \"%s\" or \"%s\", or they are no strings", r->where, i, c->role_tag,
                      c->content_tag);
        HONE_GO(translate_role(r, tag, i, &role));
        HONE_GO(add_message(messages, role, json_string_value(content), json_string_length(content)));
    }
    HONE_GO(render(r, messages, c->tools));
out:
    json_decref(messages);
    return st;
}

/* Earlier turns: pairs of what was asked and answered. */
static hone_status add_history(const row *r, json_t *messages)
{
    const json_t *history = r->source->columns.history ? json_object_get(r->json, r->source->columns.history) : NULL,
                 *pair;
    size_t        i;

    if (!history || json_is_null(history))
        return HONE_OK;
    if (!json_is_array(history))
        return wrong_type(r, r->source->columns.history, "an array of pairs", history);
    json_array_foreach(history, i, pair) {
        const json_t *asked = json_array_get(pair, 0), *answered = json_array_get(pair, 1);

        HONE_CHECK(json_array_size(pair) == 2 && json_is_string(asked) && json_is_string(answered), HONE_E_FORMAT,
                   "%s: entry %zu of the history is no pair of strings", r->where, i);
        HONE_TRY(add_message(messages, "user", json_string_value(asked), json_string_length(asked)));
        HONE_TRY(add_message(messages, "assistant", json_string_value(answered), json_string_length(answered)));
    }
    return HONE_OK;
}

static hone_status alpaca_row(const row *r)
{
    const hone_row_columns *c = &r->source->columns;
    const char             *prompt, *query, *response, *system;
    size_t                  n_prompt, n_query, n_response, n_system;
    json_t                 *messages = json_array();
    hone_str                user = HONE_STR_INIT;
    hone_status             st = HONE_OK;

    HONE_GO(get_text(r, c->prompt, &prompt, &n_prompt));
    HONE_GO(get_text(r, c->query, &query, &n_query));
    HONE_GO(get_text(r, c->response, &response, &n_response));
    HONE_GO(get_text(r, c->system, &system, &n_system));
    HONE_GO_CHECK(response, HONE_E_DATA, "%s: the row has no \"%s\": there is no answer to train on", r->where,
                  c->response ? c->response : "response");
    if (n_system)
        HONE_GO(add_message(messages, "system", system, n_system));
    HONE_GO(add_history(r, messages));
    HONE_GO(join(&user, prompt, n_prompt, query, n_query));
    HONE_GO(add_message(messages, "user", hone_str_c(&user), user.len));
    HONE_GO(add_message(messages, "assistant", response, n_response));
    HONE_GO(render(r, messages, c->tools));
out:
    hone_str_deinit(&user);
    json_decref(messages);
    return st;
}

hone_status hone_row_to_sample(hone_row_result *out, const json_t *json, const hone_source *source,
                               hone_row_format format, const hone_dataset_context *context, const char *where)
{
    row r = { json, source, context, where, out };

    HONE_CHECK(json_is_object(json) || hone_ends_with(source->path, ".txt"), HONE_E_FORMAT,
               "%s: a row must be an object, not %s", where, hone_json_type_name(json));
    if (context->options->stage == HONE_STAGE_PT && format != HONE_ROWS_IDS)
        return text_row(&r);
    switch (format) {
    case HONE_ROWS_MESSAGES: return messages_row(&r);
    case HONE_ROWS_SHAREGPT: return sharegpt_row(&r);
    case HONE_ROWS_ALPACA:   return alpaca_row(&r);
    case HONE_ROWS_IDS:      return ids_row(&r);
    default:                 return text_row(&r);
    }
}
