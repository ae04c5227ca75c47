/* Rows of messages, in the spelling of chat templates. */
#include <string.h>

#include "data/format_int.h"

/* Content: a text, or a list of parts that are text. What an assistant calls or thinks may stand alone. */
static hone_status check_content(const json_t *message, size_t i, const char *where)
{
    const json_t *content = json_object_get(message, "content"), *part;
    size_t        p;

    HONE_CHECK((content && !json_is_null(content)) || format_is_role(message, "assistant"), HONE_E_DATA,
               "%s: message %zu, of \"%.100s\", has no \"content\"", where, i,
               json_string_value(json_object_get(message, "role")));
    json_array_foreach(content, p, part) {
        const char *type = json_string_value(json_object_get(part, "type"));

        HONE_CHECK(type && strcmp(type, "text") == 0, HONE_E_DATA, "%s: part %zu of the content of message %zu is of type "
                   "\"%.100s\"; hone trains on parts of type text only", where, p, i, type ? type : "(none)");
    }
    return HONE_OK;
}

hone_status format_check_messages(const json_t *messages, const char *where)
{
    const json_t *m;
    size_t        i;

    json_array_foreach(messages, i, m) {
        const json_t *loss = json_object_get(m, "loss");

        HONE_CHECK(json_is_object(m), HONE_E_FORMAT, "%s: message %zu must be an object, not %s", where, i,
                   hone_json_type_name(m));
        HONE_CHECK(json_is_string(json_object_get(m, "role")), HONE_E_FORMAT,
                   "%s: message %zu has no \"role\" that is a string", where, i);
        HONE_TRY(check_content(m, i, where));
        HONE_CHECK(!loss || json_is_null(loss) || json_is_boolean(loss), HONE_E_FORMAT,
                   "%s: \"loss\" of message %zu must be true or "
                   "false",
                   where, i);
        HONE_CHECK(!json_is_true(loss) || format_is_role(m, "assistant"), HONE_E_DATA,
                   "%s: message %zu asks for a loss, but only what the assistant "
                   "says can have one; train_on_prompt trains on everything",
                   where, i);
    }
    HONE_CHECK(json_array_size(messages) > 0, HONE_E_DATA, "%s: the conversation has no message", where);
    return HONE_OK;
}

hone_status format_messages_row(hone_conversation *out, const format_row *r)
{
    const char   *key = r->source->info ? r->source->columns.messages : "messages";
    const json_t *messages = format_get(r, key), *kwargs = format_get(r, "chat_template_kwargs");

    HONE_CHECK(messages, HONE_E_DATA, "%s: the row has no \"%s\"", r->where, key);
    if (!json_is_array(messages))
        return format_wrong_type(r, key, "an array of messages", messages);
    if (kwargs && !json_is_object(kwargs))
        return format_wrong_type(r, "chat_template_kwargs", "an object", kwargs);
    HONE_TRY(format_get_tools(r, r->source->info ? r->source->columns.tools : "tools", &out->tools));
    out->messages = json_incref((json_t *)messages);
    out->template_kwargs = json_incref((json_t *)kwargs);
    return HONE_OK;
}
