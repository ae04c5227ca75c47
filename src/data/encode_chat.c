/* A conversation to ids and labels, through the checkpoint's own chat template. */
#include <string.h>

#include "data/encode.h"
#include "data/format_int.h"

static hone_status emit(hone_row_result *out, int32_t id, bool supervised)
{
    HONE_TRY(HONE_VEC_PUSH(&out->ids, id));
    return HONE_VEC_PUSH(&out->labels, supervised ? id : -100);
}

/* The options say what has a loss; the switch "loss" of a message overrides them for what the assistant says in it. */
static hone_status label_render(hone_row_result *out, const hone_options *o, const json_t *messages,
                                const hone_chat_render *render)
{
    int64_t last = -1;

    for (size_t i = 0; i < json_array_size(messages); i++)
        if (format_is_role(json_array_get(messages, i), "assistant"))
            last = (int64_t)i;
    for (size_t t = 0; t < render->tokens.len; t++) {
        int32_t       m = render->message.data[t];
        const json_t *loss = m >= 0 ? json_object_get(json_array_get(messages, (size_t)m), "loss") : NULL;
        bool spoken = render->mask.data[t] != 0, on = o->train_on_prompt || (spoken && (!o->mask_history || m == last));

        if (json_is_boolean(loss))
            on = spoken && json_is_true(loss);
        HONE_TRY(emit(out, render->tokens.data[t].id, on));
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

hone_status hone_encode_chat(hone_row_result *out, const hone_conversation *c, const hone_dataset_context *context,
                             const char *where)
{
    hone_chat_options options = { .tools = c->tools, .template_kwargs = c->template_kwargs };
    hone_chat_render  render = { 0 };
    hone_status       st = HONE_OK;

    HONE_GO(format_check_messages(c->messages, where));
    HONE_GO(hone_chat_render_messages(context->chat, &render, c->messages, &options));
    HONE_GO(label_render(out, context->options, c->messages, &render));
    out->reasoning_removed = count_removed_reasoning(c->messages, &render);
    out->list_printed = list_is_printed(c->messages, &render);
out:
    hone_chat_render_deinit(&render);
    return st;
}
