/* Alpaca rows: an instruction, its input, and the answer. */
#include "data/format/format_int.h"

/* Earlier turns: pairs of what was asked and answered. */
static hone_status add_history(hone_conversation *c, const format_row *r)
{
    const char   *key = r->source->columns.history;
    json_t       *history, *pair;
    size_t        i;

    HONE_TRY(format_get_list(r, key, "an array of pairs", c, &history));
    json_array_foreach(history, i, pair) {
        const json_t *asked = json_array_get(pair, 0), *answered = json_array_get(pair, 1);

        HONE_CHECK(json_array_size(pair) == 2 && json_is_string(asked) && json_is_string(answered), HONE_E_FORMAT,
                   "%s: entry %zu of the history is no pair of strings", r->where, i);
        HONE_TRY(format_add_message(c->messages, "user", format_text_of(asked)));
        HONE_TRY(format_add_message(c->messages, "assistant", format_text_of(answered)));
    }
    return HONE_OK;
}

static hone_status add_prompt(hone_conversation *out, const format_row *r)
{
    const hone_row_columns *c = &r->source->columns;
    format_text             prompt, query, system;
    hone_str                user = HONE_STR_INIT;
    hone_status             st = HONE_OK;

    HONE_GO(format_get_text(r, c->prompt, &prompt));
    HONE_GO(format_get_text(r, c->query, &query));
    HONE_GO(format_get_text(r, c->system, &system));
    if (system.n)
        HONE_GO(format_add_message(out->messages, "system", system));
    HONE_GO(add_history(out, r));
    HONE_GO(format_join(&user, prompt, query));
    HONE_GO(format_add_message(out->messages, "user", (format_text){ hone_str_c(&user), user.len }));
out:
    hone_str_deinit(&user);
    return st;
}

/* The answer, or two of them: which is a matter of the stage, and of what there is. */
static hone_status add_answers(hone_conversation *out, const format_row *r)
{
    const hone_row_columns *c = &r->source->columns;
    const hone_stage        stage = r->context->options->stage;
    format_text             response, chosen, rejected;

    HONE_TRY(format_get_text(r, c->response, &response));
    HONE_TRY(format_get_text(r, c->chosen, &chosen));
    HONE_TRY(format_get_text(r, c->rejected, &rejected));
    if (stage == HONE_STAGE_KTO || !response.s)
        HONE_TRY(format_get_label(r, c->kto_tag, &out->desirable));
    if (chosen.s && rejected.s && (!response.s || stage == HONE_STAGE_RM || stage == HONE_STAGE_DPO)) {
        out->chosen = json_array();
        out->rejected = json_array();
        HONE_TRY(format_add_message(out->chosen, "assistant", chosen));
        return format_add_message(out->rejected, "assistant", rejected);
    }
    HONE_CHECK(response.s, HONE_E_DATA, "%s: the row has no \"%s\": there is no answer to train on", r->where,
               c->response ? c->response : "response");
    if (out->desirable < 0)
        return format_add_message(out->messages, "assistant", response);
    out->chosen = json_array();
    return format_add_message(out->chosen, "assistant", response);
}

hone_status format_alpaca_row(hone_conversation *out, const format_row *r)
{
    HONE_TRY(format_get_tools(r, r->source->columns.tools, out));
    HONE_TRY(format_get_extras(r, out));
    out->messages = json_array();
    HONE_TRY(add_prompt(out, r));
    return add_answers(out, r);
}
