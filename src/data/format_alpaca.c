/* Alpaca rows: an instruction, its input, and the answer. */
#include "data/format_int.h"

/* Earlier turns: pairs of what was asked and answered. */
static hone_status add_history(json_t *messages, const format_row *r)
{
    const char   *key = r->source->columns.history;
    const json_t *history = format_get(r, key), *pair;
    size_t        i;

    if (history && !json_is_array(history))
        return format_wrong_type(r, key, "an array of pairs", history);
    json_array_foreach(history, i, pair) {
        const json_t *asked = json_array_get(pair, 0), *answered = json_array_get(pair, 1);

        HONE_CHECK(json_array_size(pair) == 2 && json_is_string(asked) && json_is_string(answered), HONE_E_FORMAT,
                   "%s: entry %zu of the history is no pair of strings", r->where, i);
        HONE_TRY(format_add_message(messages, "user", (format_text){ json_string_value(asked), json_string_length(asked) }));
        HONE_TRY(format_add_message(messages, "assistant",
                                    (format_text){ json_string_value(answered), json_string_length(answered) }));
    }
    return HONE_OK;
}

hone_status format_alpaca_row(hone_conversation *out, const format_row *r)
{
    const hone_row_columns *c = &r->source->columns;
    format_text             prompt, query, response, system;
    hone_str                user = HONE_STR_INIT;
    hone_status             st = HONE_OK;

    HONE_GO(format_get_text(r, c->prompt, &prompt));
    HONE_GO(format_get_text(r, c->query, &query));
    HONE_GO(format_get_text(r, c->response, &response));
    HONE_GO(format_get_text(r, c->system, &system));
    HONE_GO_CHECK(response.s, HONE_E_DATA, "%s: the row has no \"%s\": there is no answer to train on", r->where,
                  c->response ? c->response : "response");
    HONE_GO(format_get_tools(r, c->tools, &out->tools));
    out->messages = json_array();
    if (system.n)
        HONE_GO(format_add_message(out->messages, "system", system));
    HONE_GO(add_history(out->messages, r));
    HONE_GO(format_join(&user, prompt, query));
    HONE_GO(format_add_message(out->messages, "user", (format_text){ hone_str_c(&user), user.len }));
    HONE_GO(format_add_message(out->messages, "assistant", response));
out:
    hone_str_deinit(&user);
    return st;
}
