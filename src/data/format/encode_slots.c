/*
 * A conversation to ids and labels through a named template, as LLaMA-Factory makes them: turns in pairs of prompt and
 * answer, cut pair by pair to cutoff_len.
 */
#include <stdio.h>
#include <string.h>

#include "data/format/encode.h"
#include "data/format/format_int.h"
#include "text/slots.h"

/* A conversation as turns. Texts are the conversation's, or lie in `made`. */
typedef struct talk {
    const hone_conversation    *c;
    const hone_dataset_context *context;
    const char                 *where;
    HONE_VEC(hone_turn) turns;
    HONE_VEC(int8_t)    loss;           /* of each turn: what the row says of it, -1 = nothing */
    HONE_VEC(char *)    made;
    format_text         system, tools;
    size_t              prompt_turns;   /* turns of a prompt that a completion follows; their answers are not trained */
    hone_str            results;        /* tool results that make one turn, not yet added */
    bool                has_results;
} talk;

static void talk_deinit(talk *t)
{
    for (size_t i = 0; i < t->made.len; i++)
        hone_free(t->made.data[i]);
    HONE_VEC_DEINIT(&t->made);
    HONE_VEC_DEINIT(&t->turns);
    HONE_VEC_DEINIT(&t->loss);
    hone_str_deinit(&t->results);
}

/* Keep a text that was made here; `text` is emptied. */
static hone_status keep(talk *t, format_text *out, hone_str *text)
{
    size_t n = text->len;
    char  *s = n ? hone_str_take(text) : hone_strdup("");

    if (!s || HONE_VEC_PUSH(&t->made, s) != HONE_OK) {
        hone_free(s);
        return HONE_E_NOMEM;
    }
    *out = (format_text){ s, n };
    return HONE_OK;
}

/* ---- messages to turns ---- */

/* What a message says: its text, or its parts' texts one after another. */
static hone_status text_of(talk *t, const json_t *m, size_t i, format_text *out)
{
    const json_t *content = json_object_get(m, "content"), *part;
    hone_str      text = HONE_STR_INIT;
    size_t        p;

    *out = (format_text){ json_string_value(content), json_string_length(content) };
    if (out->s)
        return HONE_OK;
    HONE_CHECK(json_is_array(content), HONE_E_DATA, "%s: message %zu, of \"%.100s\", has no text", t->where, i,
               json_string_value(json_object_get(m, "role")));
    json_array_foreach(content, p, part) {
        const json_t *piece = json_object_get(part, "text");

        if (!json_is_string(piece)) {
            hone_str_deinit(&text);
            return HONE_FAIL(HONE_E_DATA, "%s: part %zu of message %zu is no text", t->where, p, i);
        }
        hone_str_append(&text, json_string_value(piece), json_string_length(piece));
    }
    HONE_TRY(hone_str_ok(&text));
    return keep(t, out, &text);
}

static hone_status add_turn(talk *t, hone_turn_role role, format_text text, const json_t *m)
{
    const json_t *loss = json_object_get(m, "loss");

    HONE_TRY(HONE_VEC_PUSH(&t->loss, json_is_boolean(loss) ? (int8_t)json_is_true(loss) : -1));
    return HONE_VEC_PUSH(&t->turns, (hone_turn){ role, text.s, text.n });
}

/* The JSON of a message's calls: a list of their functions, as the row has them. */
static hone_status calls_of(talk *t, const json_t *calls, format_text *out)
{
    hone_str      text = HONE_STR_INIT;
    const json_t *call;
    size_t        i;

    hone_str_putc(&text, '[');
    json_array_foreach(calls, i, call) {
        const json_t *function = json_object_get(call, "function");

        hone_str_puts(&text, i ? ", " : "");
        hone_json_dump(&text, function ? function : call, true);
    }
    hone_str_putc(&text, ']');
    HONE_TRY(hone_str_ok(&text));
    return keep(t, out, &text);
}

static hone_status flush_results(talk *t)
{
    format_text text;

    if (!t->has_results)
        return HONE_OK;
    t->has_results = false;
    HONE_TRY(hone_str_ok(&t->results));
    HONE_TRY(keep(t, &text, &t->results));
    hone_str_clear(&t->results);
    return add_turn(t, HONE_TURN_OBSERVATION, text, NULL);
}

/* In OpenAI's dialect, tool results that follow one another are one turn. */
static hone_status add_result(talk *t, format_text text, const json_t *m)
{
    if (!t->c->openai)
        return add_turn(t, HONE_TURN_OBSERVATION, text, m);
    if (t->has_results)
        hone_str_puts(&t->results, "\n</tool_response>\n<tool_response>\n");
    hone_str_append(&t->results, text.s, text.n);
    t->has_results = true;
    return hone_str_ok(&t->results);
}

/* `index` counts over all messages of the conversation, `i` over those of their list. */
static hone_status add_message(talk *t, const json_t *m, size_t index, size_t i)
{
    const json_t *calls = json_object_get(m, "tool_calls");
    const char   *said = index < t->c->call_text.len ? t->c->call_text.data[index] : NULL;
    format_text   text;

    if (format_is_role(m, "tool")) {
        HONE_TRY(text_of(t, m, i, &text));
        return add_result(t, text, m);
    }
    HONE_TRY(flush_results(t));
    if (format_is_role(m, "assistant") && (said || json_array_size(calls) > 0)) {
        text = (format_text){ said, said ? strlen(said) : 0 };
        if (!said)
            HONE_TRY(calls_of(t, calls, &text));
        return add_turn(t, HONE_TURN_FUNCTION, text, m);
    }
    HONE_TRY(text_of(t, m, i, &text));
    if (format_is_role(m, "user"))
        return add_turn(t, HONE_TURN_USER, text, m);
    if (format_is_role(m, "assistant"))
        return add_turn(t, HONE_TURN_ASSISTANT, text, m);
    return HONE_FAIL(HONE_E_DATA, "%s: message %zu is of \"%.100s\"; template: %s has turns of user, assistant and tool, after "
                     "one system message at most", t->where, i, json_string_value(json_object_get(m, "role")),
                     hone_slots_name(t->context->slots));
}

/* A text that stands for an image needs one. */
static hone_status check_media(const talk *t)
{
    static const char *const marks[] = { "<image>", "<video>", "<audio>" };

    for (size_t i = 0; i < t->turns.len && hone_slots_media(t->context->slots); i++)
        for (size_t k = 0; k < HONE_COUNTOF(marks); k++)
            HONE_CHECK(!memmem(t->turns.data[i].text, t->turns.data[i].n, marks[k], strlen(marks[k])), HONE_E_DATA,
                       "%s: turn %zu has the mark %s, which stands for data that is not text; hone trains on text only",
                       t->where, i, marks[k]);
    return HONE_OK;
}

/* Prompts (user, tool) and answers (assistant, calls) must take turns, and an answer must be last. */
static hone_status check_turns(const talk *t)
{
    static const char *const names[] = { "user", "assistant", "tool", "assistant's calls" };

    for (size_t i = 0; i < t->turns.len; i++) {
        hone_turn_role role = t->turns.data[i].role;
        bool           answer = role == HONE_TURN_ASSISTANT || role == HONE_TURN_FUNCTION;

        HONE_CHECK(answer == (i % 2 == 1), HONE_E_DATA, "%s: turn %zu is the %s%s, but a template's turns alternate: user or "
                   "tool first, then the assistant", t->where, i, names[role], answer ? "" : "'s");
    }
    HONE_CHECK(t->turns.len > 0, HONE_E_DATA, "%s: the conversation has no turn", t->where);
    HONE_CHECK(t->turns.len % 2 == 0, HONE_E_DATA, "%s: the last of %zu turns is no answer", t->where, t->turns.len);
    return check_media(t);
}

/* Trailing tool results are lost in LLaMA-Factory; here the row has no last answer then. */
static hone_status end_turns(talk *t)
{
    if (t->has_results && t->context->options->llamafactory_quirks) {
        t->has_results = false;
        hone_str_clear(&t->results);
    }
    return flush_results(t);
}

/* LLaMA-Factory writes this into the system text of every row of OpenAI's dialect. */
static hone_status quirky_system(talk *t)
{
    static const char off[] = "detailed thinking off", on[] = "detailed thinking on";
    format_text       s = t->system;
    hone_str          text = HONE_STR_INIT;

    if (!t->context->options->llamafactory_quirks || !t->c->openai || (s.n == 0 && t->tools.n > 0))
        return HONE_OK;
    if (t->tools.n == 0 && s.n > 0 && (memmem(s.s, s.n, off, strlen(off)) || memmem(s.s, s.n, on, strlen(on))))
        return HONE_OK;
    hone_str_append(&text, s.s ? s.s : "", s.n);
    if (s.n > 0)
        hone_str_putc(&text, '\n');
    hone_str_puts(&text, t->tools.n == 0 ? off : "");
    HONE_TRY(hone_str_ok(&text));
    return keep(t, &t->system, &text);
}

static hone_status get_tools(talk *t)
{
    hone_str text = HONE_STR_INIT;

    t->tools = (format_text){ t->c->tools_text, t->c->n_tools_text };
    if (!t->c->tools)
        return HONE_OK;
    hone_json_dump(&text, t->c->tools, true);
    HONE_TRY(hone_str_ok(&text));
    return keep(t, &t->tools, &text);
}

/* The turns of the messages and of what follows them (NULL: nothing), `skip` messages later in the conversation's count. */
static hone_status read_talk(talk *t, const json_t *tail, size_t skip)
{
    const json_t *lists[] = { t->c->messages, tail }, *m;
    size_t        i, index = 0;

    for (size_t k = 0; k < HONE_COUNTOF(lists); k++) {
        json_array_foreach(lists[k], i, m) {
            if (k == 0 && i == 0 && format_is_role(m, "system"))
                HONE_TRY(text_of(t, m, i, &t->system));
            else
                HONE_TRY(add_message(t, m, index + i, i));
        }
        index += json_array_size(lists[k]) + (k == 0 ? skip : 0);
        if (k == 0 && t->c->rejected)
            HONE_TRY(end_turns(t));
        if (k == 0 && tail)
            t->prompt_turns = t->turns.len;
    }
    HONE_TRY(end_turns(t));
    HONE_TRY(get_tools(t));
    HONE_TRY(quirky_system(t));
    return check_turns(t);
}

/* ---- the cut ---- */

/* How much of a prompt of s tokens and an answer of t a budget of c has room for: the longer one gives way first. */
static void fit(int64_t *s, int64_t *t, int64_t c)
{
    int64_t most = 2 * *t < c ? c : 2 * *s < c ? c - *s : (int64_t)((double)c * ((double)*t / (double)(*s + *t)));

    *t = HONE_MIN(most, *t);
    *s = HONE_MIN(HONE_MAX(c - *t, 0), *s);
}

/* Tokens that a sample may have. LLaMA-Factory keeps one place of a packed row for padding. */
static int64_t budget(const hone_options *o)
{
    if (o->truncation != HONE_TRUNCATION_FIT)
        return INT64_MAX / 4;
    return o->cutoff_len - (o->packing == HONE_TRI_TRUE);
}

/* ---- ids and labels ---- */

typedef struct pair { const int32_t *prompt, *answer; int64_t n_prompt, n_answer; } pair;

static pair pair_at(const hone_slots_ids *ids, size_t i)
{
    int64_t begin = i ? ids->ends.data[2 * i - 1] : 0, middle = ids->ends.data[2 * i];

    return (pair){ ids->ids.data + begin, ids->ids.data + middle, middle - begin, ids->ends.data[2 * i + 1] - middle };
}

static hone_status put(hone_vec_i32 *ids, hone_vec_i32 *labels, const int32_t *tokens, int64_t n, bool trained)
{
    for (int64_t i = 0; i < n; i++) {
        HONE_TRY(HONE_VEC_PUSH(ids, tokens[i]));
        HONE_TRY(HONE_VEC_PUSH(labels, trained ? tokens[i] : -100));
    }
    return HONE_OK;
}

/* Whether the answer of pair i of n is trained: what its message says, else what the options say. */
static bool is_trained(const talk *t, size_t i, size_t n)
{
    int8_t loss = t->loss.data[2 * i + 1];

    if (loss >= 0)
        return loss == 1;
    return 2 * i + 1 >= t->prompt_turns && (!t->context->options->mask_history || i + 1 == n);
}

/* Pairs are given their room from the first on, or with mask_history from the last. Those without room are left out. */
static hone_status put_pairs(const talk *t, hone_row_result *out, const hone_slots_ids *ids)
{
    const hone_options *o = t->context->options;
    int32_t             eos = hone_tokenizer_eos(t->context->tokenizer);
    bool                joined = hone_slots_efficient_eos(t->context->slots), last_first = o->mask_history;
    size_t              n = ids->ends.len / 2, first = 0, end = n;
    int64_t             used = joined, limit = budget(o);
    HONE_VEC(pair)      pairs = { 0 };
    hone_status         st = HONE_OK;

    HONE_GO(HONE_VEC_RESERVE(&pairs, n));
    pairs.len = n;
    for (size_t k = 0; k < n; k++) {
        size_t i = last_first ? n - 1 - k : k;
        pair  *p = &pairs.data[i];

        *p = pair_at(ids, i);
        if (used >= limit) {
            first = last_first ? i + 1 : 0;
            end = last_first ? n : i;
            break;
        }
        fit(&p->n_prompt, &p->n_answer, limit - used);
        used += p->n_prompt + p->n_answer;
    }
    for (size_t i = first; i < end; i++) {
        pair   p = pairs.data[i];
        size_t at = out->labels.len;
        bool   follows = last_first ? i + 1 < n : i > 0;    /* as LLaMA-Factory counts, from where it began */

        HONE_GO(put(&out->ids, &out->labels, p.prompt, p.n_prompt, o->train_on_prompt));
        if (joined && follows && p.n_prompt > 0)
            out->labels.data[at] = eos;
        HONE_GO(put(&out->ids, &out->labels, p.answer, p.n_answer, is_trained(t, i, n)));
    }
    if (joined)
        HONE_GO(put(&out->ids, &out->labels, &eos, 1, true));
out:
    HONE_VEC_DEINIT(&pairs);
    return st;
}

static hone_status encode_turns(const talk *t, hone_slots_ids *ids, hone_slots_way way)
{
    hone_slots_input in = { t->turns.data, t->turns.len, t->system.s, t->system.n, t->tools.s, t->tools.n };
    hone_status      st = hone_slots_encode(t->context->slots, ids, &in, way);
    hone_error       e;

    if (st != HONE_E_DATA)
        return st;
    hone_error_save(&e);
    return HONE_FAIL(HONE_E_DATA, "%s: template: %s cannot write it: %.3000s", t->where, hone_slots_name(t->context->slots),
                     e.text);
}

static hone_status encode_chat(const talk *t, hone_row_result *out)
{
    const hone_options *o = t->context->options;
    hone_slots_ids      ids = { 0 };
    hone_status         st;

    HONE_GO(encode_turns(t, &ids, o->mask_history && !o->preserve_thinking ? HONE_SLOTS_LAST : HONE_SLOTS_ALL));
    out->tokens_full = (int64_t)ids.ids.len + hone_slots_efficient_eos(t->context->slots);
    HONE_GO(put_pairs(t, out, &ids));
out:
    hone_slots_ids_deinit(&ids);
    return st;
}

/* A prompt and its answers, all but the last turn being the prompt. Both answers are cut to the same length. */
static hone_status encode_answers(const talk *talks, size_t n, hone_row_result *out)
{
    const hone_dataset_context *c = talks->context;
    hone_vec_i32   *to[] = { &out->ids, &out->labels, &out->rejected_ids, &out->rejected_labels };
    hone_slots_ids  ids[2] = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
    int64_t         prompt = 0, answers[2] = { 0, 0 }, longest = 0;
    int32_t         eos = hone_tokenizer_eos(c->tokenizer);
    hone_status     st = HONE_OK;

    for (size_t i = 0; i < n; i++) {
        HONE_GO(encode_turns(&talks[i], &ids[i], HONE_SLOTS_ONE));
        if (hone_slots_efficient_eos(c->slots))
            HONE_GO(HONE_VEC_PUSH(&ids[i].ids, eos));
        answers[i] = (int64_t)ids[i].ids.len - ids[i].ends.data[ids[i].ends.len - 2];
        longest = HONE_MAX(longest, answers[i]);
    }
    prompt = ids[0].ends.data[ids[0].ends.len - 2];
    out->tokens_full = prompt + answers[0];
    fit(&prompt, &longest, HONE_MAX(budget(c->options), 1));
    for (size_t i = 0; i < n; i++) {
        const int32_t *answer = ids[i].ids.data + ids[i].ends.data[ids[i].ends.len - 2];

        HONE_GO(put(to[2 * i], to[2 * i + 1], ids[0].ids.data, prompt, false));
        HONE_GO(put(to[2 * i], to[2 * i + 1], answer, HONE_MIN(answers[i], longest), true));
    }
out:
    hone_slots_ids_deinit(&ids[0]);
    hone_slots_ids_deinit(&ids[1]);
    return st;
}

static bool is_preference(const hone_options *o)
{
    return o->stage == HONE_STAGE_RM || o->stage == HONE_STAGE_DPO || o->stage == HONE_STAGE_KTO;
}

/* A good answer that is empty is no good one, nor a call. */
static void check_desirable(talk *t, hone_row_result *out)
{
    hone_turn *last = &t->turns.data[t->turns.len - 1];

    out->desirable = t->c->desirable == 1 && last->n > 0;
    if (t->c->desirable == 1 && last->n == 0)
        last->role = HONE_TURN_ASSISTANT;
}

hone_status hone_encode_slots(hone_row_result *out, const hone_conversation *c, const hone_dataset_context *context,
                              const char *where)
{
    talk        talks[2] = { { .c = c, .context = context, .where = where }, { .c = c, .context = context, .where = where } };
    size_t      n = c->rejected ? 2 : 1;
    hone_status st;

    HONE_CHECK(!c->rejected || (json_array_size(c->chosen) == 1 && json_array_size(c->rejected) == 1), HONE_E_DATA,
               "%s: an answer of the pair has several messages; with template: %s, the two share all but their last message",
               where, hone_slots_name(context->slots));
    HONE_GO(read_talk(&talks[0], c->chosen, 0));
    if (c->rejected)
        HONE_GO(read_talk(&talks[1], c->rejected, json_array_size(c->chosen)));
    if (c->desirable >= 0)
        check_desirable(&talks[0], out);
    if (!is_preference(context->options))
        HONE_GO(encode_chat(&talks[0], out));
    else
        HONE_GO(encode_answers(talks, n, out));
out:
    talk_deinit(&talks[0]);
    talk_deinit(&talks[1]);
    return st;
}
