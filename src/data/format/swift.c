/* ms-swift's rows of a query and a response, whatever they are called. */
#include <string.h>
#include <strings.h>

#include "data/format/format_int.h"

/* ms-swift's standard name of a column, and the names that are renamed to it. */
static const struct {
    const char *name, *alias;
} aliases[] = {
    { "system", "system" },      { "system", "system_prompt" }, { "query", "query" },        { "query", "prompt" },
    { "query", "input" },        { "query", "instruction" },    { "query", "question" },     { "query", "problem" },
    { "response", "response" },  { "response", "answer" },      { "response", "output" },    { "response", "targets" },
    { "response", "target" },    { "response", "answer_key" },  { "response", "answers" },   { "response", "solution" },
    { "response", "text" },      { "response", "completion" },  { "response", "content" },
};

const char *format_swift_name(const char *key)
{
    for (size_t i = 0; i < HONE_COUNTOF(aliases); i++)
        if (strcasecmp(key, aliases[i].alias) == 0)
            return aliases[i].name;
    return NULL;
}

hone_status format_swift_get(const format_row *r, const char *name, json_t **out)
{
    const char *key, *found = NULL, *second = NULL;
    json_t     *v;

    *out = NULL;
    json_object_foreach((json_t *)r->json, key, v) {
        const char *own = format_swift_name(key);

        if (json_is_null(v) || !own || strcmp(own, name) != 0)
            continue;
        if (strcmp(key, name) == 0) {       /* its very name goes before all others */
            *out = v;
            return HONE_OK;
        }
        second = found;
        found = key;
        *out = v;
    }
    HONE_CHECK(!second, HONE_E_DATA, "%s: the row has \"%s\" and \"%s\", and both may be the %s; call one of them \"%s\"",
               r->where, second, found, name, name);
    return HONE_OK;
}

static hone_status want_string(const format_row *r, const char *name, const json_t *v)
{
    return !v || json_is_string(v) ? HONE_OK : format_wrong_type(r, name, "a string", v);
}

/* One of the two, or null. */
static hone_status add_turn(const format_row *r, size_t i, const json_t *text, const char *role, json_t *messages)
{
    HONE_CHECK(json_is_string(text) || json_is_null(text), HONE_E_FORMAT, "%s: entry %zu of the history is no pair of strings",
               r->where, i);
    return json_is_string(text) ? format_add_message(messages, role, format_text_of(text)) : HONE_OK;
}

static hone_status add_history(const format_row *r, hone_conversation *c)
{
    json_t *history, *pair;
    size_t  i;

    HONE_TRY(format_get_list(r, "history", "an array of pairs", c, &history));
    json_array_foreach(history, i, pair) {
        HONE_CHECK(json_array_size(pair) == 2, HONE_E_FORMAT, "%s: entry %zu of the history is no pair of strings", r->where,
                   i);
        HONE_TRY(add_turn(r, i, json_array_get(pair, 0), "user", c->messages));
        HONE_TRY(add_turn(r, i, json_array_get(pair, 1), "assistant", c->messages));
    }
    return HONE_OK;
}

/* The query; an instruction and its input are one, as in Alpaca's rows. */
static hone_status add_query(const format_row *r, hone_conversation *c)
{
    format_text instruction, input;
    hone_str    joined = HONE_STR_INIT;
    json_t     *query;
    hone_status st = HONE_OK;

    if (format_get(r, "instruction") && format_get(r, "input") && !format_get(r, "query")) {
        HONE_GO(format_get_text(r, "instruction", &instruction));
        HONE_GO(format_get_text(r, "input", &input));
        HONE_GO(format_join(&joined, instruction, input));
        HONE_GO(format_add_message(c->messages, "user", (format_text){ hone_str_c(&joined), joined.len }));
    } else {
        HONE_GO(format_swift_get(r, "query", &query));
        HONE_GO(want_string(r, "query", query));
        if (query)
            HONE_GO(format_add_message(c->messages, "user", format_text_of(query)));
    }
out:
    hone_str_deinit(&joined);
    return st;
}

hone_status format_swift_row(hone_conversation *out, const format_row *r)
{
    json_t *system, *response;

    out->messages = json_array();
    HONE_TRY(format_get_tools(r, "tools", out));
    HONE_TRY(format_get_extras(r, out));
    HONE_TRY(format_swift_get(r, "system", &system));
    HONE_TRY(want_string(r, "system", system));
    HONE_TRY(format_swift_get(r, "response", &response));
    if (json_is_array(response))        /* several that are right: the first */
        response = json_array_get(response, 0);
    HONE_TRY(want_string(r, "response", response));
    if (json_string_length(system) > 0)
        HONE_TRY(format_add_message(out->messages, "system", format_text_of(system)));
    HONE_TRY(add_history(r, out));
    HONE_TRY(add_query(r, out));
    if (!response)
        return format_missing(r, "response");
    HONE_TRY(format_add_message(out->messages, "assistant", format_text_of(response)));
    return format_get_preference(r, out);
}
