/* Rows that say which answer is better: pairs of a chosen and a rejected one, and answers with a label. */
#include <string.h>
#include <strings.h>

#include "data/format/format_int.h"

static bool wants_pairs(const format_row *r)
{
    const hone_stage stage = r->context->options->stage;

    return stage == HONE_STAGE_RM || stage == HONE_STAGE_DPO;
}

/* ---- prompts and answers ---- */

/* Move all from index `at` on to `to`. */
static hone_status move_tail(json_t *from, size_t at, json_t *to)
{
    while (json_array_size(from) > at) {
        HONE_CHECK(json_array_append(to, json_array_get(from, at)) == 0, HONE_E_NOMEM, "out of memory");
        (void)json_array_remove(from, at);
    }
    return HONE_OK;
}

hone_status format_split_answer(hone_conversation *c, bool one)
{
    size_t n = json_array_size(c->messages), at = n;

    while (at > 0 && !format_is_role(json_array_get(c->messages, at - 1), "user"))
        at--;
    if (one)
        at = n > 0 ? n - 1 : 0;
    c->chosen = json_array();
    return move_tail(c->messages, at, c->chosen);
}

hone_status format_split_prompt(const format_row *r, hone_conversation *c)
{
    size_t n = 0;

    while (n < json_array_size(c->chosen) && n < json_array_size(c->rejected) &&
           json_equal(json_array_get(c->chosen, n), json_array_get(c->rejected, n)))
        n++;
    for (size_t i = 0; i < n; i++)
        HONE_CHECK(json_array_append(c->messages, json_array_get(c->chosen, i)) == 0, HONE_E_NOMEM, "out of memory");
    for (; n > 0; n--) {
        (void)json_array_remove(c->chosen, 0);
        (void)json_array_remove(c->rejected, 0);
    }
    c->call_text.len = 0;       /* counted over lists that are no more */
    HONE_CHECK(json_array_size(c->messages) > 0 && format_is_role(json_array_get(c->chosen, 0), "assistant") &&
                   format_is_role(json_array_get(c->rejected, 0), "assistant"),
               HONE_E_DATA, "%s: the chosen and the rejected conversation do not part at an answer: a pair must share its "
               "whole prompt, and differ in what the assistant says to it", r->where);
    return HONE_OK;
}

/* ---- what a row says ---- */

/* Columns of a CSV file are texts. */
static bool is_text_of(const json_t *v, const char *lower)
{
    const char *text = json_string_value(v);

    return text && strcasecmp(text, lower) == 0;
}

hone_status format_get_label(const format_row *r, const char *key, int *out)
{
    const json_t *v = format_get(r, key);

    if (!v)
        return HONE_OK;
    if (!json_is_boolean(v) && !is_text_of(v, "true") && !is_text_of(v, "false"))
        return format_wrong_type(r, key, "true (a good answer) or false", v);
    *out = json_is_true(v) || is_text_of(v, "true");
    return HONE_OK;
}

/* Whole conversations in both keys. */
static hone_status get_conversations(const format_row *r, hone_conversation *c, const char *key, const json_t *rejected)
{
    json_t *system = format_is_role(json_array_get(c->messages, 0), "system") ? json_array_get(c->messages, 0) : NULL;

    c->chosen = c->messages;
    c->messages = json_array();
    c->rejected = json_array();
    HONE_TRY(format_add_messages(r, c, c->rejected, rejected, key));
    if (system && !format_is_role(json_array_get(c->rejected, 0), "system"))
        HONE_CHECK(json_array_insert(c->rejected, 0, system) == 0, HONE_E_NOMEM, "out of memory");
    return format_split_prompt(r, c);
}

/* ms-swift: what the assistant said after the user's last message, in a worse way. */
static hone_status get_response(const format_row *r, hone_conversation *c, const char *key, const json_t *rejected)
{
    const json_t *m;
    size_t        i;

    HONE_TRY(format_split_answer(c, false));
    c->rejected = json_array();
    HONE_TRY(format_add_answer(r, c, c->rejected, rejected, key));
    json_array_foreach(c->rejected, i, m)
        HONE_CHECK(!format_is_role(m, "user"), HONE_E_DATA, "%s: message %zu of \"%s\" is the user's; it holds what the "
                   "assistant (and its tools) said after the last question", r->where, i, key);
    return HONE_OK;
}

/* Answers to the row's messages; or whole conversations, of which the messages are but one. */
static hone_status get_answers(const format_row *r, hone_conversation *c, const char *chosen_key, const json_t *chosen,
                               const char *rejected_key, const json_t *rejected)
{
    const json_t *first = json_is_array(chosen) ? json_array_get(chosen, 0) : NULL;
    const char   *role = json_string_value(json_object_get(first, "role"));

    c->chosen = json_array();
    c->rejected = json_array();
    if (!r->source->info && role && (strcmp(role, "user") == 0 || strcmp(role, "system") == 0)) {
        json_array_clear(c->messages);
        c->call_text.len = 0;
        HONE_TRY(format_add_answer(r, c, c->chosen, chosen, chosen_key));
        HONE_TRY(format_add_answer(r, c, c->rejected, rejected, rejected_key));
        return format_split_prompt(r, c);
    }
    HONE_TRY(format_add_answer(r, c, c->chosen, chosen, chosen_key));
    return format_add_answer(r, c, c->rejected, rejected, rejected_key);
}

static hone_status get_pair(const format_row *r, hone_conversation *c)
{
    const hone_row_columns *columns = &r->source->columns;
    const char   *chosen_key = r->source->info ? columns->chosen : "chosen",
                 *rejected_key = r->source->info ? columns->rejected : "rejected";
    json_t       *chosen = format_get(r, chosen_key), *rejected = format_get(r, rejected_key), *list;

    if (!r->source->info) {
        HONE_CHECK(!format_get(r, "rejected_tools"), HONE_E_DATA, "%s: \"rejected_tools\" is not implemented: both answers "
                   "are given the same tools", r->where);
        HONE_TRY(format_get_list(r, "rejected_messages", "an array of messages", c, &list));
        if (list)
            return get_conversations(r, c, "rejected_messages", list);
        if (format_get(r, "rejected_response"))
            return get_response(r, c, "rejected_response", format_get(r, "rejected_response"));
    }
    return chosen && rejected ? get_answers(r, c, chosen_key, chosen, rejected_key, rejected) : HONE_OK;
}

hone_status format_get_preference(const format_row *r, hone_conversation *c)
{
    const hone_stage stage = r->context->options->stage;

    if (wants_pairs(r))
        return get_pair(r, c);
    if (stage == HONE_STAGE_KTO) {
        HONE_TRY(format_get_label(r, r->source->columns.kto_tag, &c->desirable));
        if (!r->source->info)
            HONE_TRY(format_get_label(r, "label", &c->desirable));
        return c->desirable < 0 ? HONE_OK : format_split_answer(c, r->source->info != NULL);
    }
    HONE_CHECK(r->source->info || !format_get(r, "chosen") || !format_get(r, "rejected") ||
                   format_is_role(json_array_get(c->messages, json_array_size(c->messages) - 1), "assistant"),
               HONE_E_USAGE, "%s: the row holds a chosen and a rejected answer, and stage: sft trains on neither; stage rm and dpo "
               "are for pairs", r->where);
    return HONE_OK;
}

/* ---- what the stage needs ---- */

static hone_status check_pair(const format_row *r, const hone_conversation *c)
{
    HONE_CHECK(c->rejected, HONE_E_DATA, "%s: the row has no rejected answer (\"rejected\", \"rejected_response\" or "
               "\"rejected_messages\"), and stage rm and dpo train on pairs", r->where);
    HONE_CHECK(json_array_size(c->chosen) > 0, HONE_E_DATA, "%s: the row has no chosen answer", r->where);
    HONE_CHECK(json_array_size(c->rejected) > 0, HONE_E_DATA, "%s: the rejected answer has no message", r->where);
    HONE_CHECK(!json_equal(c->chosen, c->rejected), HONE_E_DATA, "%s: the chosen and the rejected answer are the same",
               r->where);
    return HONE_OK;
}

hone_status format_check_preference(const format_row *r, const hone_conversation *c)
{
    if (wants_pairs(r))
        return check_pair(r, c);
    if (r->context->options->stage == HONE_STAGE_KTO) {
        HONE_CHECK(c->desirable >= 0, HONE_E_DATA, "%s: the row does not say whether its answer is good (\"%s\": true or "
                   "false), and stage kto needs that", r->where,
                   r->source->info && r->source->columns.kto_tag ? r->source->columns.kto_tag : "label");
        HONE_CHECK(json_array_size(c->chosen) > 0, HONE_E_DATA, "%s: the row has no answer", r->where);
        return HONE_OK;
    }
    HONE_CHECK(!c->rejected, HONE_E_USAGE, "%s: the row holds a chosen and a rejected answer, which stage rm and dpo train on; "
               "stage sft takes one answer", r->where);
    HONE_CHECK(c->desirable < 0, HONE_E_USAGE, "%s: the row says whether its answer is good, which stage kto trains on; stage sft "
               "would learn the bad ones too", r->where);
    return HONE_OK;
}
