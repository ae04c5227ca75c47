/* A conversation to ids and labels, through the checkpoint's own chat template. */
#include <string.h>

#include "data/format/encode.h"
#include "data/format/format_int.h"

/* ---- messages as the template takes them ---- */

/* The arguments of a call in the form that the template can write; NULL if they are that already. New. */
static hone_status fit_arguments(const json_t *arguments, hone_chat_arguments takes, json_t **out)
{
    hone_str text = HONE_STR_INIT;

    *out = NULL;
    if (json_is_string(arguments) && !(takes & HONE_CHAT_TEXT_ARGUMENTS) && (takes & HONE_CHAT_OBJECT_ARGUMENTS)) {
        *out = json_loadb(json_string_value(arguments), json_string_length(arguments), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL,
                          NULL);
        if (*out && !json_is_object(*out)) {
            json_decref(*out);
            *out = NULL;
        }
    } else if (json_is_object(arguments) && !(takes & HONE_CHAT_OBJECT_ARGUMENTS) && (takes & HONE_CHAT_TEXT_ARGUMENTS)) {
        hone_json_dump(&text, arguments, true);
        *out = json_stringn_nocheck(hone_str_c(&text), text.len);
        hone_str_deinit(&text);
        HONE_CHECK(*out, HONE_E_NOMEM, "out of memory");
    }
    return HONE_OK;
}

/* A deep copy of the calls, fitted; NULL if nothing had to change. */
static hone_status fit_calls(const json_t *calls, hone_chat_arguments takes, json_t **out)
{
    json_t     *call, *fitted;
    size_t      i;
    hone_status st = HONE_OK;

    *out = NULL;
    json_array_foreach(calls, i, call) {
        bool nested = json_is_object(json_object_get(call, "function"));

        HONE_GO(fit_arguments(json_object_get(nested ? json_object_get(call, "function") : call, "arguments"), takes, &fitted));
        if (!fitted)
            continue;
        if (!*out)
            *out = json_deep_copy(calls);
        call = json_array_get(*out, i);
        HONE_GO(format_set(nested ? json_object_get(call, "function") : call, "arguments", fitted));
    }
out:
    if (st != HONE_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}

static hone_status append_fitted(json_t *out, json_t *message, hone_chat_arguments takes)
{
    json_t     *calls, *copy;
    hone_status st;

    HONE_TRY(fit_calls(json_object_get(message, "tool_calls"), takes, &calls));
    if (!calls)
        return format_append(out, json_incref(message));
    copy = json_copy(message);
    st = format_set(copy, "tool_calls", calls);
    if (st == HONE_OK)
        st = format_append(out, json_incref(copy));
    json_decref(copy);
    return st;
}

static bool has_system(const json_t *messages)
{
    return format_is_role(json_array_get(messages, 0), "system") || format_is_role(json_array_get(messages, 0), "developer");
}

/* Prompt and answer (or NULL) one after the other; *prompt: how many of them are the prompt. *out is owned. */
static hone_status gather(const hone_conversation *c, const json_t *answer, const hone_dataset_context *context, json_t **out,
                          size_t *prompt)
{
    hone_chat_arguments takes = hone_chat_get_arguments(context->chat);
    const char         *system = context->options->default_system;
    json_t             *m;
    size_t              i;

    *out = json_array();
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory");
    if (system && *system && !has_system(c->messages))
        HONE_TRY(format_add_message(*out, "system", (format_text){ system, strlen(system) }));
    json_array_foreach(c->messages, i, m)
        HONE_TRY(append_fitted(*out, m, takes));
    *prompt = json_array_size(*out);
    json_array_foreach(answer, i, m)
        HONE_TRY(append_fitted(*out, m, takes));
    return HONE_OK;
}

static bool is_set(const hone_options *o, const char *name)
{
    const char *source = hone_options_source(o, name);

    return source && strcmp(source, "default") != 0;
}

/* Variables of the template: what the options say, and the row's own, which win. *out is owned. */
static hone_status get_variables(const hone_conversation *c, const hone_options *o, json_t **out)
{
    *out = json_object();
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory");
    if (o->enable_thinking != HONE_TRI_NULL && is_set(o, "enable_thinking"))
        HONE_TRY(format_set(*out, "enable_thinking", json_boolean(o->enable_thinking == HONE_TRI_TRUE)));
    if (o->preserve_thinking) {         /* under the names that published templates have for it */
        HONE_TRY(format_set(*out, "preserve_thinking", json_true()));
        HONE_TRY(format_set(*out, "clear_thinking", json_false()));
    }
    HONE_CHECK(!c->template_kwargs || json_object_update(*out, c->template_kwargs) == 0, HONE_E_NOMEM, "out of memory");
    return HONE_OK;
}

/* ---- labels ---- */

/* What of a render is learned. */
typedef struct labelling {
    const hone_options *o;
    const json_t       *messages;
    int64_t             first, last;    /* messages of the assistant that may be: from the first of the answer to the last; -1:
                                           all, also what the template writes for none */
    bool                answer_only;    /* nothing before `first`, whatever its switch says */
} labelling;

static bool is_learned(const labelling *l, bool spoken, int32_t m)
{
    const json_t *loss = m >= 0 ? json_object_get(json_array_get(l->messages, (size_t)m), "loss") : NULL;

    if (l->answer_only && m < l->first)
        return false;
    if (json_is_boolean(loss))      /* a message's switch goes before the options, for what the assistant says in it */
        return spoken && json_is_true(loss);
    return l->o->train_on_prompt || (spoken && m >= l->first && (!l->o->mask_history || m == l->last));
}

static hone_status label_render(const labelling *l, const hone_chat_render *render, hone_vec_i32 *ids, hone_vec_i32 *labels)
{
    HONE_TRY(HONE_VEC_RESERVE(ids, render->tokens.len));
    HONE_TRY(HONE_VEC_RESERVE(labels, render->tokens.len));
    for (size_t t = 0; t < render->tokens.len; t++) {
        int32_t id = render->tokens.data[t].id;

        ids->data[ids->len++] = id;
        labels->data[labels->len++] = is_learned(l, render->mask.data[t] != 0, render->message.data[t]) ? id : -100;
    }
    return HONE_OK;
}

/* ---- what is worth telling ---- */

/* The reasoning of a message: under one of its names, or what stands in <think> marks. */
static void get_reasoning(const json_t *message, const char **begin, const char **end)
{
    static const char        open_mark[] = "<think>", close_mark[] = "</think>";
    static const char *const names[] = { "reasoning_content", "thinking", "reasoning" };
    const char *content = json_string_value(json_object_get(message, "content")), *mark;

    *begin = NULL;
    for (size_t i = 0; i < HONE_COUNTOF(names) && !*begin; i++)
        *begin = json_string_value(json_object_get(message, names[i]));
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

        if (!format_is_role(m, "assistant"))
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

/* ---- a row ---- */

/* A row being encoded: what its answers share. */
typedef struct job {
    hone_row_result            *out;
    const hone_conversation    *c;
    const hone_dataset_context *context;
    const char                 *where;
    hone_chat_options           options;
} job;

static hone_status check_reasoning(const job *j, int64_t removed)
{
    HONE_CHECK(removed == 0 || !j->context->options->preserve_thinking, HONE_E_DATA, "%s: preserve_thinking is set, but the chat "
               "template leaves out the reasoning of an earlier answer and cannot be told otherwise", j->where);
    return HONE_OK;
}

/* Render prompt and answer (NULL: all is in the prompt), and label them. `render` is the caller's to release. */
static hone_status encode_one(job *j, const json_t *answer, hone_chat_render *render, hone_vec_i32 *ids, hone_vec_i32 *labels)
{
    labelling   l = { .o = j->context->options, .last = -1, .answer_only = j->c->rejected || j->c->desirable >= 0 };
    json_t     *messages;
    size_t      prompt = 0;
    int64_t     removed;
    hone_status st = HONE_OK;

    HONE_GO(gather(j->c, answer, j->context, &messages, &prompt));
    for (size_t i = 0; i < json_array_size(messages); i++)
        if (format_is_role(json_array_get(messages, i), "assistant"))
            l.last = (int64_t)i;
    l.messages = messages;
    l.first = answer ? (int64_t)prompt : -1;
    HONE_GO(hone_chat_render_messages(j->context->chat, render, messages, &j->options));
    HONE_GO(label_render(&l, render, ids, labels));
    removed = count_removed_reasoning(messages, render);
    HONE_GO(check_reasoning(j, removed));
    j->out->reasoning_removed += removed;
    j->out->list_printed |= list_is_printed(messages, render);
    j->out->prompt_differs |= render->prompt_differs;
out:
    json_decref(messages);
    return st;
}

/* Bytes before the first token with a label; all of them if there is none. */
static size_t unlabelled_bytes(const hone_chat_render *render, const hone_vec_i32 *labels)
{
    for (size_t t = 0; t < labels->len; t++)
        if (labels->data[t] >= 0)
            return render->tokens.data[t].begin;
    return render->text.len;
}

/* A template may write a prompt differently before another answer; then the two could not be compared. */
static hone_status check_prompts(const job *j, const hone_chat_render *chosen, const hone_chat_render *rejected)
{
    size_t a = unlabelled_bytes(chosen, &j->out->labels), b = unlabelled_bytes(rejected, &j->out->rejected_labels),
           n = HONE_MIN(a, b);

    HONE_CHECK(b < rejected->text.len, HONE_E_DATA, "%s: no token of the rejected answer has a loss", j->where);
    HONE_CHECK(memcmp(hone_str_c(&chosen->text), hone_str_c(&rejected->text), n) == 0, HONE_E_DATA, "%s: the chat template writes "
               "the prompt of the chosen and of the rejected answer differently", j->where);
    return HONE_OK;
}

hone_status hone_encode_chat(hone_row_result *out, const hone_conversation *c, const hone_dataset_context *context,
                             const char *where)
{
    job              j = { out, c, context, where, { .tools = c->tools } };
    hone_chat_render render = { 0 }, rejected = { 0 };
    json_t          *variables = NULL;
    hone_status      st = HONE_OK;

    HONE_GO_CHECK(context->chat, HONE_E_DATA, "%s: the row holds messages, and the model directory has no chat template "
                  "(chat_template.jinja, or chat_template in tokenizer_config.json)", where);
    HONE_GO(get_variables(c, context->options, &variables));
    j.options.template_kwargs = variables;
    HONE_GO(encode_one(&j, c->chosen, &render, &out->ids, &out->labels));
    if (c->rejected) {
        HONE_GO(encode_one(&j, c->rejected, &rejected, &out->rejected_ids, &out->rejected_labels));
        HONE_GO(check_prompts(&j, &render, &rejected));
    }
out:
    json_decref(variables);
    hone_chat_render_deinit(&render);
    hone_chat_render_deinit(&rejected);
    return st;
}
