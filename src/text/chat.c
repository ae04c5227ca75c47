/* Conversations rendered through a chat template. */
#include "text/chat.h"

#include <string.h>

#include "text/chat_parts.h"

hone_status chat_new(hone_chat **out, const hone_tokenizer *tok)
{
    hone_chat *c = hone_calloc(1, sizeof *c);

    *out = c;
    if (!c)
        return HONE_E_NOMEM;
    c->tok = tok;
    c->special = json_object();
    if (!c->special)
        hone_chat_destroy(out);
    return *out ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
}

static hone_status set_token(hone_chat *c, const char *name, int32_t id)
{
    const char *text = id >= 0 ? hone_tokenizer_content(c->tok, id) : NULL;

    HONE_CHECK(!text || json_object_set_new(c->special, name, json_string(text)) == 0, HONE_E_NOMEM, "out of memory");
    return HONE_OK;
}

hone_status hone_chat_create(hone_chat **out, const char *source, size_t n, const char *name, const hone_tokenizer *tok)
{
    hone_status st;

    HONE_TRY(chat_new(out, tok));
    HONE_GO(set_token(*out, "bos_token", hone_tokenizer_bos(tok)));
    HONE_GO(set_token(*out, "eos_token", hone_tokenizer_eos(tok)));
    HONE_GO(set_token(*out, "pad_token", hone_tokenizer_pad(tok)));
    HONE_GO(hone_template_compile(&(*out)->main, source, n, name));
    HONE_GO(chat_try_arguments(*out));
out:
    if (st != HONE_OK)
        hone_chat_destroy(out);
    return st;
}

void hone_chat_destroy(hone_chat **chat)
{
    if (!*chat)
        return;
    hone_template_destroy(&(*chat)->main);
    hone_template_destroy(&(*chat)->with_tools);
    json_decref((*chat)->special);
    hone_free(*chat);
    *chat = NULL;
}

/* ---- rendering ---- */
/* A message as transformers hands it to templates: keys whose value is null are left out, and reasoning is found under
 * "reasoning_content" and "thinking", whichever of its names it came by. */
static hone_status normalise_message(json_t *out, json_t *message, size_t i)
{
    static const char *const names[] = { "reasoning_content", "thinking", "reasoning" };
    json_t     *reasoning = NULL, *m, *v;
    const char *key;
    int         bad;

    HONE_CHECK(json_is_object(message), HONE_E_DATA, "message %zu is not an object but %s", i, hone_json_type_name(message));
    for (size_t k = 0; k < HONE_COUNTOF(names) && !reasoning; k++)
        if (!json_is_null(json_object_get(message, names[k])))
            reasoning = json_object_get(message, names[k]);
    m = json_object();
    bad = !m || json_array_append_new(out, m);
    if (!bad && reasoning && json_is_null(json_object_get(message, "thinking")))
        bad = json_object_set(m, "thinking", reasoning);
    else if (!bad && reasoning && !json_object_get(message, "thinking"))
        bad = json_object_set(m, "thinking", reasoning);
    json_object_foreach(message, key, v)
        if (!bad && !json_is_null(v))
            bad = json_object_set(m, key, v);
    if (!bad && reasoning)
        bad = json_object_set(m, "reasoning_content", reasoning);
    HONE_CHECK(!bad, HONE_E_NOMEM, "out of memory");
    return HONE_OK;
}

static hone_status normalise(json_t **out, const json_t *messages)
{
    json_t *m;
    size_t  i;

    *out = NULL;
    HONE_CHECK(json_is_array(messages), HONE_E_DATA, "\"messages\" is not a list but %s", hone_json_type_name(messages));
    HONE_CHECK(json_array_size(messages) > 0, HONE_E_DATA, "the conversation has no messages");
    *out = json_array();
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory");
    json_array_foreach(messages, i, m)
        HONE_TRY(normalise_message(*out, m, i));
    return HONE_OK;
}

static hone_status check_options(const hone_chat_options *o)
{
    static const char *const own[] = { "messages", "tools", "add_generation_prompt" };
    json_t *tool;
    size_t  i;

    HONE_CHECK(!o->tools || json_is_array(o->tools) || json_is_null(o->tools), HONE_E_DATA,
               "\"tools\" is not a list but %s", hone_json_type_name(o->tools));
    json_array_foreach(o->tools, i, tool)
        HONE_CHECK(json_is_object(tool), HONE_E_DATA, "tool %zu is not an object but %s", i, hone_json_type_name(tool));
    HONE_CHECK(!o->template_kwargs || json_is_object(o->template_kwargs) || json_is_null(o->template_kwargs), HONE_E_DATA,
               "the template's further variables are not an object but %s", hone_json_type_name(o->template_kwargs));
    for (i = 0; i < HONE_COUNTOF(own); i++)
        HONE_CHECK(!json_object_get(o->template_kwargs, own[i]), HONE_E_DATA, "\"%s\" cannot be one of the template's further "
                   "variables", own[i]);
    return HONE_OK;
}

hone_status chat_render_text(const chat_job *job, hone_template_output *out, size_t n, bool prompt)
{
    json_t     *some = json_array(), *vars = json_object();
    int         bad = !some || !vars;
    hone_status st = HONE_OK;

    for (size_t i = 0; !bad && i < n; i++)
        bad = json_array_append(some, json_array_get(job->messages, i));
    bad = bad || json_object_set(vars, "messages", some) ||
          json_object_set(vars, "tools", job->options->tools ? (json_t *)job->options->tools : json_null()) ||
          json_object_set_new(vars, "documents", json_null()) ||
          json_object_set_new(vars, "add_generation_prompt", json_boolean(prompt));
    if (bad) {
        st = HONE_FAIL(HONE_E_NOMEM, "out of memory");
    } else {
        const json_t *const layers[] = { job->chat->special, vars, job->options->template_kwargs };

        st = hone_template_render(job->t, out, layers, 3, NULL);
    }
    json_decref(some);
    json_decref(vars);
    return st;
}

/* A token is supervised if it holds a byte of a span. Tokens and spans are both in order. */
static hone_status mark_tokens(hone_chat_render *out, const chat_spans *spans)
{
    size_t s = 0;

    HONE_TRY(HONE_VEC_RESERVE(&out->mask, out->tokens.len));
    HONE_TRY(HONE_VEC_RESERVE(&out->message, out->tokens.len));
    for (size_t i = 0; i < out->tokens.len; i++) {
        const hone_token *t = &out->tokens.data[i];
        bool              in;

        while (s < spans->len && spans->data[s].end <= t->begin)
            s++;
        in = s < spans->len && spans->data[s].begin < t->end;
        out->mask.data[out->mask.len++] = in;
        out->message.data[out->message.len++] = in ? spans->data[s].message : -1;
    }
    return HONE_OK;
}

static hone_status render(const chat_job *job, hone_chat_render *out, hone_template_output *full, chat_spans *spans)
{
    HONE_TRY(chat_render_text(job, full, json_array_size(job->messages), job->options->generation_prompt));
    hone_str_append(&out->text, hone_str_c(&full->text), full->text.len);
    HONE_TRY(hone_str_ok(&out->text));
    HONE_TRY(hone_tokenizer_encode(job->chat->tok, &out->tokens, hone_str_c(&out->text), out->text.len, false));
    HONE_TRY(chat_find_spans(job, spans, &out->prompt_differs, full, &out->tokens));
    return mark_tokens(out, spans);
}

hone_status hone_chat_render_messages(const hone_chat *chat, hone_chat_render *out, const json_t *messages,
                                      const hone_chat_options *options)
{
    static const hone_chat_options none = { NULL, NULL, false };
    chat_job             job = { .chat = chat, .options = options ? options : &none };
    hone_template_output full = { 0 };
    chat_spans           spans = { 0 };
    json_t              *normal = NULL;
    hone_status          st;

    hone_str_clear(&out->text);
    out->tokens.len = out->mask.len = out->message.len = 0;
    out->prompt_differs = false;
    HONE_GO(check_options(job.options));
    HONE_GO(normalise(&normal, messages));
    job.messages = normal;
    job.t = json_is_array(job.options->tools) && chat->with_tools ? chat->with_tools : chat->main;
    HONE_GO_CHECK(job.t, HONE_E_DATA, "the model has a chat template \"tool_use\" and none named \"default\": it renders only "
                  "conversations with tools");
    HONE_GO(render(&job, out, &full, &spans));
out:
    json_decref(normal);
    hone_template_output_deinit(&full);
    HONE_VEC_DEINIT(&spans);
    return st;
}

void hone_chat_render_deinit(hone_chat_render *r)
{
    hone_str_deinit(&r->text);
    HONE_VEC_DEINIT(&r->tokens);
    HONE_VEC_DEINIT(&r->mask);
    HONE_VEC_DEINIT(&r->message);
}
