/* Messages of any spelling, to that of chat templates. */
#include <string.h>

#include "data/format/format_int.h"

/* A list of messages being read. */
typedef struct reading {
    const format_row       *r;
    hone_conversation      *c;
    json_t                 *out;
    const hone_row_columns *tags;       /* the names that dataset_info.json gives; NULL: every name that is known */
    const char             *key;        /* of the row, for messages to the user */
} reading;

/* What a message is, beside the roles of chat templates: a tool call, as a text or an object. */
static const char call_role[] = "(call)";

static bool is(const char *tag, const char *name) { return name && strcmp(tag, name) == 0; }

static bool is_one_of(const char *tag, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(tag, names[i]) == 0)
            return true;
    return false;
}

/* ---- roles ---- */

/* Names the roles that a data set has, and the way out. */
static hone_status unknown_role(const reading *g, const char *tag, size_t i)
{
    const hone_row_columns *c = g->tags;
    const char *const       tags[] = { c ? c->user_tag : "human, user", c ? c->assistant_tag : "gpt, bot, assistant",
                                       c ? c->system_tag : "system", c ? c->observation_tag : "observation, tool_response, tool",
                                       c ? c->function_tag : "function_call, tool_call" };
    hone_str                known = HONE_STR_INIT;

    for (size_t k = 0; k < HONE_COUNTOF(tags); k++)
        if (tags[k])
            hone_str_printf(&known, "%s%s", known.len ? ", " : "", tags[k]);
    (void)HONE_FAIL(HONE_E_DATA, "%s: message %zu is of \"%.100s\", and the roles of this data set are %s; set \"tags\" in "
                    "dataset_info.json, or write rows of messages", g->r->where, i, tag, hone_str_c(&known));
    hone_str_deinit(&known);
    return HONE_E_DATA;
}

static const char *described_role(const hone_row_columns *c, const char *tag)
{
    return is(tag, c->user_tag)          ? "user"
           : is(tag, c->assistant_tag)   ? "assistant"
           : is(tag, c->system_tag)      ? "system"
           : is(tag, c->observation_tag) ? "tool"
           : is(tag, c->function_tag)    ? call_role
                                         : NULL;
}

/* Under "role", what a chat template may know by itself stays as it is; under "from", only known names will do. */
static const char *known_role(const char *tag, bool strict)
{
    static const char *const users[] = { "human", "user" }, *const assistants[] = { "gpt", "bot", "assistant" },
                      *const calls[] = { "tool_call", "function_call" }, *const results[] = { "tool_response", "function_response" },
                      *const strict_results[] = { "tool", "observation", "observations" };

    return is_one_of(tag, users, HONE_COUNTOF(users))             ? "user"
           : is_one_of(tag, assistants, HONE_COUNTOF(assistants)) ? "assistant"
           : is_one_of(tag, calls, HONE_COUNTOF(calls))           ? call_role
           : is_one_of(tag, results, HONE_COUNTOF(results))       ? "tool"
           : !strict                                              ? tag
           : strcmp(tag, "system") == 0                           ? "system"
           : is_one_of(tag, strict_results, HONE_COUNTOF(strict_results)) ? "tool"
                                                                          : NULL;
}

/* ---- the switch of a message's loss ---- */

/* *loss: -1 = not said, else 0 or 1. A scale of 0 or 1 is such a switch, and wins over "loss". */
static hone_status get_loss(const reading *g, const json_t *m, size_t i, int *loss)
{
    const json_t *on = json_object_get(m, "loss"), *scale = json_object_get(m, "loss_scale");
    const char   *where = g->r->where;

    *loss = json_is_boolean(on) ? json_is_true(on) : -1;
    HONE_CHECK(!on || json_is_null(on) || json_is_boolean(on), HONE_E_FORMAT, "%s: \"loss\" of message %zu must be true or "
               "false", where, i);
    if (!scale || json_is_null(scale))
        return HONE_OK;
    HONE_CHECK(json_is_number(scale), HONE_E_FORMAT, "%s: \"loss_scale\" of message %zu must be a number, not %s", where, i,
               hone_json_type_name(scale));
    HONE_CHECK(json_number_value(scale) == 0 || json_number_value(scale) == 1, HONE_E_DATA, "%s: \"loss_scale\" of message "
               "%zu is %g; hone has no weighted loss yet: 0 and 1 alone will do", where, i, json_number_value(scale));
    *loss = json_number_value(scale) == 1;
    return HONE_OK;
}

/* ---- content ---- */

static hone_status check_parts(const reading *g, const json_t *content, size_t i)
{
    const json_t *part;
    size_t        p;

    json_array_foreach(content, p, part) {
        const char *type = json_string_value(json_object_get(part, "type"));

        HONE_CHECK(type && strcmp(type, "text") == 0, HONE_E_DATA, "%s: part %zu of the content of message %zu is of type "
                   "\"%.100s\"; hone trains on parts of type text only", g->r->where, p, i, type ? type : "(none)");
    }
    return HONE_OK;
}

/* A text, or a list of parts that are text. What an assistant calls or thinks may stand alone; a tool may return an object. */
static hone_status check_content(const reading *g, const json_t *content, const char *role, size_t i, const char *key)
{
    HONE_CHECK((content && !json_is_null(content)) || strcmp(role, "assistant") == 0, HONE_E_DATA,
               "%s: message %zu, of \"%.100s\", has no \"%s\"", g->r->where, i, role == call_role ? "tool_call" : role, key);
    if (!content || json_is_null(content) || json_is_string(content))
        return HONE_OK;
    if (role == call_role)
        return HONE_OK;     /* read_calls says what it must be */
    HONE_CHECK(json_is_array(content) || (json_is_object(content) && strcmp(role, "tool") == 0), HONE_E_FORMAT,
               "%s: \"%s\" of message %zu must be a text or a list of parts, not %s", g->r->where, key, i,
               hone_json_type_name(content));
    return format_has_call_blocks(content) ? HONE_OK : check_parts(g, content, i);
}

/* ---- one message ---- */

/* The index of the next message, counted over all lists of the conversation. */
static size_t next_index(const reading *g)
{
    size_t n = json_array_size(g->out);

    if (g->out != g->c->messages)
        n += json_array_size(g->c->messages);
    if (g->out == g->c->rejected)
        n += json_array_size(g->c->chosen);
    return n;
}

static hone_status set_call_text(const reading *g, size_t index, const char *text)
{
    while (g->c->call_text.len <= index)
        HONE_TRY(HONE_VEC_PUSH(&g->c->call_text, NULL));
    g->c->call_text.data[index] = text;
    return HONE_OK;
}

/* LLaMA-Factory reads nothing but role and content of a ShareGPT message; with its templates, nor does hone. */
static bool is_bare(const reading *g)
{
    return g->tags && g->r->context->slots && !format_is_openai(g->r->source);
}

/* The message without what it is called here, and with what chat templates call it. *out is owned. */
static hone_status rename_keys(const reading *g, const json_t *m, const char *role, const char *role_key, json_t *content,
                               const char *content_key, int loss, json_t **out)
{
    const char *key;
    json_t     *v;

    *out = json_object();
    HONE_TRY(format_set(*out, "role", json_string_nocheck(role)));
    if (content)
        HONE_TRY(format_set(*out, "content", json_incref(content)));
    json_object_foreach(is_bare(g) ? NULL : (json_t *)m, key, v)
        if (strcmp(key, role_key) != 0 && strcmp(key, content_key) != 0 && strcmp(key, "loss_scale") != 0 &&
            !json_object_get(*out, key))
            HONE_TRY(format_set(*out, key, json_incref(v)));
    return loss < 0 ? HONE_OK : format_set(*out, "loss", json_boolean(loss));
}

/* What a message's "loss" says: -1 = nothing. */
static int loss_of(const json_t *m)
{
    const json_t *loss = json_object_get(m, "loss");

    return json_is_boolean(loss) ? json_is_true(loss) : -1;
}

/* The text of an assistant, and the calls that follow it in messages of their own: one turn. */
static hone_status merge_calls(const reading *g, size_t i, const json_t *last, json_t *m)
{
    json_t     *both = json_copy((json_t *)last), *calls = json_array(), *earlier = json_object_get(last, "tool_calls");
    hone_status st = HONE_OK;

    HONE_GO_CHECK(loss_of(last) == loss_of(m), HONE_E_DATA, "%s: message %zu, a tool call, and the assistant's message before "
                  "it are one turn of the chat template, but their \"loss\" differs; give both the same", g->r->where, i);
    HONE_GO_CHECK(both && calls && (!json_is_array(earlier) || json_array_extend(calls, earlier) == 0) &&
                      json_array_extend(calls, json_object_get(m, "tool_calls")) == 0,
                  HONE_E_NOMEM, "out of memory");
    HONE_GO(format_set(both, "tool_calls", json_incref(calls)));
    HONE_GO_CHECK(json_array_set(g->out, json_array_size(g->out) - 1, both) == 0, HONE_E_NOMEM, "out of memory");
    if (g->c->call_text.len >= next_index(g))
        g->c->call_text.data[next_index(g) - 1] = NULL;
out:
    json_decref(both);
    json_decref(calls);
    return st;
}

/* A message that is a tool call. `m` is its own copy. */
static hone_status add_call(const reading *g, size_t i, json_t *m)
{
    const json_t *content = json_object_get(m, "content"), *last = json_array_get(g->out, json_array_size(g->out) - 1);
    const char   *text = json_string_value(content);
    hone_str      beside = HONE_STR_INIT;
    json_t       *calls = json_array();
    hone_status   st = HONE_OK;

    HONE_GO(calls ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory"));
    if (g->tags && text && g->r->context->slots) {      /* a named template reads the text itself */
        HONE_GO(format_set(m, "role", json_string("assistant")));
        HONE_GO(set_call_text(g, next_index(g), text));
        HONE_GO(format_append(g->out, json_incref(m)));
        goto out;
    }
    HONE_GO(format_read_calls(g->r, i, content, calls, &beside));
    HONE_GO(format_set(m, "role", json_string("assistant")));
    HONE_GO(format_set(m, "content", json_stringn_nocheck(hone_str_c(&beside), beside.len)));
    HONE_GO(format_set(m, "tool_calls", json_incref(calls)));
    if (!g->tags && beside.len == 0 && format_is_role(last, "assistant")) {
        HONE_GO(merge_calls(g, i, last, m));
    } else {
        if (text)
            HONE_GO(set_call_text(g, next_index(g), text));
        HONE_GO(format_append(g->out, json_incref(m)));
    }
out:
    hone_str_deinit(&beside);
    json_decref(calls);
    return st;
}

/* What a message asks for must be something that can be learned. */
static hone_status check_loss(const reading *g, const char *role, int loss, size_t i)
{
    HONE_CHECK(loss != 1 || strcmp(role, "assistant") == 0 || role == call_role, HONE_E_DATA, "%s: message %zu asks for a "
               "loss, but only what the assistant says can have one; train_on_prompt trains on everything", g->r->where, i);
    return HONE_OK;
}

static hone_status add_named(const reading *g, json_t *m, size_t i, const char *role_key, const char *content_key)
{
    const char *tag = json_string_value(json_object_get(m, role_key)), *role;
    json_t     *content = json_object_get(m, content_key), *copy = NULL;
    int         loss;
    hone_status st;

    HONE_CHECK(tag, HONE_E_FORMAT, "%s: message %zu has no \"%s\" that is a string", g->r->where, i, role_key);
    role = g->tags ? described_role(g->tags, tag) : known_role(tag, strcmp(role_key, "from") == 0);
    if (!role)
        return unknown_role(g, tag, i);
    HONE_TRY(get_loss(g, m, i, &loss));
    HONE_TRY(check_loss(g, role, loss, i));
    HONE_TRY(check_content(g, content, role, i, content_key));
    if (role != call_role && json_is_array(content) && format_has_call_blocks(content))
        return format_add_blocks(g->r, i, role, content, loss, g->out);
    if (role != call_role && strcmp(role_key, "role") == 0 && strcmp(content_key, "content") == 0 &&
        strcmp(role, tag) == 0 && !json_object_get(m, "loss_scale") && !is_bare(g))
        return format_append(g->out, json_incref(m));
    st = rename_keys(g, m, role, role_key, content, content_key, loss, &copy);
    if (st == HONE_OK)
        st = role == call_role ? add_call(g, i, copy) : format_append(g->out, json_incref(copy));
    json_decref(copy);
    return st;
}

/* A pair {"human", "assistant"} is two messages. */
static hone_status add_pair(const reading *g, const json_t *m, size_t i)
{
    static const char *const keys[] = { "user", "human", "assistant", "gpt", "bot" };

    for (size_t k = 0; k < HONE_COUNTOF(keys); k++) {
        const json_t *v = json_object_get(m, keys[k]);

        HONE_CHECK(!v || json_is_null(v) || json_is_string(v), HONE_E_FORMAT, "%s: \"%s\" of entry %zu of \"%s\" must be a "
                   "string, not %s", g->r->where, keys[k], i, g->key, hone_json_type_name(v));
        if (json_is_string(v))
            HONE_TRY(format_add_message(g->out, k < 2 ? "user" : "assistant", format_text_of(v)));
    }
    return HONE_OK;
}

static bool is_pair(const json_t *m)
{
    return !json_object_get(m, "role") && !json_object_get(m, "content") && !json_object_get(m, "from") &&
           !json_object_get(m, "value") && (json_object_get(m, "human") || json_object_get(m, "user"));
}

hone_status format_add_messages(const format_row *r, hone_conversation *c, json_t *out, const json_t *list, const char *key)
{
    reading g = { r, c, out, r->source->info ? &r->source->columns : NULL, key };
    json_t *m;
    size_t  i;

    json_array_foreach(list, i, m) {
        const char *role_key = "role", *content_key = "content";

        HONE_CHECK(json_is_object(m), HONE_E_FORMAT, "%s: message %zu must be an object, not %s", r->where, i,
                   hone_json_type_name(m));
        if (g.tags) {
            role_key = g.tags->role_tag;
            content_key = g.tags->content_tag;
        } else if (is_pair(m)) {
            HONE_TRY(add_pair(&g, m, i));
            continue;
        } else {
            role_key = !json_object_get(m, "role") && json_object_get(m, "from") ? "from" : "role";
            content_key = !json_object_get(m, "content") && json_object_get(m, "value") ? "value" : "content";
        }
        HONE_TRY(add_named(&g, m, i, role_key, content_key));
    }
    return HONE_OK;
}

hone_status format_add_answer(const format_row *r, hone_conversation *c, json_t *out, const json_t *answer, const char *key)
{
    json_t     *list;
    hone_status st;

    if (json_is_string(answer))
        return format_add_message(out, "assistant", format_text_of(answer));
    if (json_is_array(answer))
        return format_add_messages(r, c, out, answer, key);
    if (!json_is_object(answer))
        return format_wrong_type(r, key, "a text, a message or a list of messages", answer);
    list = json_pack("[O]", answer);
    st = list ? format_add_messages(r, c, out, list, key) : HONE_FAIL(HONE_E_NOMEM, "out of memory");
    json_decref(list);
    return st;
}

hone_status format_add_system(hone_conversation *c, format_text system)
{
    json_t     *front;
    hone_status st = HONE_OK;

    if (system.n == 0 || format_is_role(json_array_get(c->messages, 0), "system"))
        return HONE_OK;
    front = json_array();
    HONE_GO(front ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory"));
    HONE_GO(format_add_message(front, "system", system));
    HONE_GO_CHECK(json_array_insert(c->messages, 0, json_array_get(front, 0)) == 0, HONE_E_NOMEM, "out of memory");
    if (c->call_text.len) {
        HONE_GO(HONE_VEC_PUSH(&c->call_text, NULL));
        memmove(c->call_text.data + 1, c->call_text.data, (c->call_text.len - 1) * sizeof *c->call_text.data);
        c->call_text.data[0] = NULL;
    }
out:
    json_decref(front);
    return st;
}

/* ---- rows ---- */

static const char *messages_key(const format_row *r)
{
    static const char *const keys[] = { "messages", "conversations", "conversation" };

    if (r->source->info)
        return r->source->columns.messages;
    for (size_t i = 0; i < HONE_COUNTOF(keys); i++)
        if (format_get(r, keys[i]))
            return keys[i];
    return keys[0];
}

static hone_status get_system(const format_row *r, format_text *out)
{
    json_t *v;

    if (r->source->info)
        return format_get_text(r, r->source->columns.system, out);
    HONE_TRY(format_swift_get(r, "system", &v));
    *out = format_text_of(v);
    return !v || json_is_string(v) ? HONE_OK : format_wrong_type(r, "system", "a string", v);
}

hone_status format_messages_row(hone_conversation *out, const format_row *r)
{
    const char *key = messages_key(r);
    json_t     *list;
    format_text system;

    HONE_TRY(format_get_list(r, key, "an array of messages", out, &list));
    if (!list)
        return format_missing(r, key);
    out->messages = json_array();
    HONE_CHECK(out->messages, HONE_E_NOMEM, "out of memory");
    HONE_TRY(format_get_tools(r, r->source->info ? r->source->columns.tools : "tools", out));
    HONE_TRY(format_get_extras(r, out));
    HONE_TRY(get_system(r, &system));
    HONE_TRY(format_add_messages(r, out, out->messages, list, key));
    HONE_CHECK(json_array_size(out->messages) > 0, HONE_E_DATA, "%s: the conversation has no message", r->where);
    HONE_TRY(format_add_system(out, system));
    return format_get_preference(r, out);
}
