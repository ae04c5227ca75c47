/* TRL's rows: a prompt and its completion, or its chosen and rejected answer, as texts or as messages. */
#include <string.h>

#include "data/format/format_int.h"

/* Bytes that two texts share at their start: whole characters, without a space at their end. */
static size_t shared_text(format_text a, format_text b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.s[n] == b.s[n])
        n++;
    while (n > 0 && n < a.n && ((unsigned char)a.s[n] & 0xC0) == 0x80)
        n--;
    return n > 0 && n < a.n && n < b.n && a.s[n - 1] == ' ' ? n - 1 : n;
}

/* Texts without roles: they follow one another as they are. Encoders with turns of their own see a question and an answer. */
static hone_status add_texts(hone_conversation *c, format_text prompt, const json_t *chosen, const json_t *rejected)
{
    format_text good = format_text_of(chosen), bad = format_text_of(rejected);

    c->plain = true;
    if (!prompt.s && bad.s) {
        size_t n = shared_text(good, bad);

        prompt = (format_text){ good.s, n };
        good = (format_text){ good.s + n, good.n - n };
        bad = (format_text){ bad.s + n, bad.n - n };
    }
    HONE_TRY(format_add_message(c->messages, "user", prompt));
    HONE_TRY(format_add_message(c->chosen, "assistant", good));
    return bad.s ? format_add_message(c->rejected, "assistant", bad) : HONE_OK;
}

static hone_status add_answers(const format_row *r, hone_conversation *c, const char *chosen_key)
{
    json_t *prompt = format_get(r, "prompt"), *chosen = format_get(r, chosen_key), *rejected = format_get(r, "rejected");

    if (json_is_array(prompt))
        HONE_TRY(format_add_messages(r, c, c->messages, prompt, "prompt"));
    HONE_TRY(format_add_answer(r, c, c->chosen, chosen, chosen_key));
    if (rejected)
        HONE_TRY(format_add_answer(r, c, c->rejected, rejected, "rejected"));
    if (json_is_array(prompt)) {
        HONE_CHECK(json_array_size(c->messages) > 0, HONE_E_DATA, "%s: the prompt has no message", r->where);
        return HONE_OK;
    }
    /* A prompt that is a text repeats what both conversations begin with. */
    HONE_CHECK(rejected, HONE_E_DATA, "%s: \"%s\" is a list of messages, so \"prompt\" must be one too", r->where, chosen_key);
    return format_split_prompt(r, c);
}

hone_status format_trl_row(hone_conversation *out, const format_row *r)
{
    const json_t *prompt = format_get(r, "prompt"), *rejected = format_get(r, "rejected");
    const char   *key = rejected || format_get(r, "chosen") ? "chosen" : "completion";
    const json_t *chosen = format_get(r, key);

    if (!chosen)
        return format_missing(r, key);
    if (prompt && !json_is_string(prompt) && !json_is_array(prompt))
        return format_wrong_type(r, "prompt", "a text or a list of messages", prompt);
    HONE_CHECK(!rejected || json_typeof(rejected) == json_typeof(chosen), HONE_E_FORMAT, "%s: \"chosen\" is %s and \"rejected\" "
               "is %s; both must be texts, or lists of messages", r->where, hone_json_type_name(chosen),
               hone_json_type_name(rejected));
    if (!prompt && !rejected)
        return format_missing(r, strcmp(key, "chosen") == 0 ? "rejected" : "prompt");
    HONE_TRY(format_get_tools(r, "tools", out));
    HONE_TRY(format_get_extras(r, out));
    out->messages = json_array();
    out->chosen = json_array();
    out->rejected = rejected ? json_array() : NULL;
    if (strcmp(key, "completion") == 0 &&
        (json_is_boolean(format_get(r, "label")) || r->context->options->stage == HONE_STAGE_KTO))   /* else a stranger */
        HONE_TRY(format_get_label(r, "label", &out->desirable));
    if (json_is_string(chosen) && !json_is_array(prompt))
        return add_texts(out, format_text_of(prompt), chosen, rejected);
    return add_answers(r, out, key);
}
