/* Which arguments of tool calls a chat template takes: found by rendering a call in each form. */
#include <string.h>

#include "text/chat_parts.h"

/* A question and a call that answers it. Identifiers are of nine letters and digits, as some templates demand. */
static json_t *trial_messages(json_t *arguments)
{
    return json_pack("[{s:s, s:s}, {s:s, s:s, s:[{s:s, s:s, s:{s:s, s:o}}]}]", "role", "user", "content", "trial", "role",
                     "assistant", "content", "", "tool_calls", "id", "trial0001", "type", "function", "function", "name",
                     "trial_function", "arguments", arguments);
}

static json_t *trial_tools(void)
{
    return json_pack("[{s:s, s:{s:s, s:s, s:{s:s, s:{s:{s:s, s:s}}}}}]", "type", "function", "function", "name",
                     "trial_function", "description", "trial", "parameters", "type", "object", "properties", "trial_property",
                     "type", "string", "description", "trial");
}

static bool has(const hone_str *text, const char *what) { return memmem(hone_str_c(text), text->len, what, strlen(what)) != NULL; }

/* Render the call; *text is empty if the template refuses it. */
static hone_status render_trial(const hone_chat *chat, json_t *arguments, hone_str *text)
{
    json_t              *messages = trial_messages(arguments), *tools = trial_tools();
    hone_chat_options    options = { .tools = tools };
    chat_job             job = { chat, chat->with_tools ? chat->with_tools : chat->main, messages, &options };
    hone_template_output out = { 0 };
    hone_status          st = messages && tools ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");

    hone_str_clear(text);
    if (st == HONE_OK)
        st = chat_render_text(&job, &out, 2, false);
    if (st == HONE_OK)
        hone_str_append(text, hone_str_c(&out.text), out.text.len);
    if (st != HONE_E_NOMEM) {
        hone_status_clear();
        st = hone_str_ok(text);
    }
    hone_template_output_deinit(&out);
    json_decref(messages);
    json_decref(tools);
    return st;
}

hone_status chat_try_arguments(hone_chat *chat)
{
    static const char as_text[] = "{\"trial_key\": \"trial_value\"}";
    hone_str          text = HONE_STR_INIT;
    int               takes = HONE_CHAT_NO_ARGUMENTS;
    hone_status       st = HONE_OK;

    HONE_GO(render_trial(chat, json_string(as_text), &text));
    if (has(&text, as_text))
        takes |= HONE_CHAT_TEXT_ARGUMENTS;
    HONE_GO(render_trial(chat, json_pack("{s:s}", "trial_key", "trial_value"), &text));
    if (has(&text, "trial_key") && has(&text, "trial_value") && !has(&text, "{'trial_key'"))
        takes |= HONE_CHAT_OBJECT_ARGUMENTS;
    chat->arguments = (hone_chat_arguments)takes;
out:
    hone_str_deinit(&text);
    return st;
}

hone_chat_arguments hone_chat_get_arguments(const hone_chat *chat) { return chat->arguments; }
