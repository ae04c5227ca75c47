/*
 * Named templates: whatever a conversation holds, writing it ends with ids of the vocabulary, one stretch a turn, or with an
 * error that says why. The first bytes choose template, tool format and switches; then come, between newlines, the system text,
 * the tools, and the turns, each with a letter before it that is its role (u, a, o, f).
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "text/slots/slots_int.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Every byte is a token, and a few marks are. */
static hone_tokenizer *make_tokenizer(void)
{
    static const char head[] = "{\"added_tokens\": [{\"id\": 128, \"content\": \"<|im_end|>\", \"single_word\": false, \"lstrip\": false,"
                               "\"rstrip\": false, \"normalized\": false, \"special\": true}], \"normalizer\": null, \"pre_tokenizer\": null,"
                               "\"post_processor\": null, \"decoder\": null, \"model\": {\"type\": \"BPE\", \"dropout\": null, \"unk_token\": \"?\","
                               "\"continuing_subword_prefix\": null, \"end_of_word_suffix\": null, \"fuse_unk\": true,"
                               "\"byte_fallback\": false, \"merges\": [], \"vocab\": {";
    hone_str        json = HONE_STR_INIT;
    hone_tokenizer *tok;

    hone_str_puts(&json, head);
    for (int c = 32; c < 127; c++) {
        hone_json_quote(&json, (const char[]){ (char)c }, 1);
        hone_str_printf(&json, ": %d, ", c);
    }
    hone_str_puts(&json, "\"\\n\": 10}}}");
    must(hone_tokenizer_create(&tok, hone_str_c(&json), json.len, "fuzz") == HONE_OK);
    hone_str_deinit(&json);
    return tok;
}

static void check(const hone_slots_ids *ids, size_t turns, int32_t vocab)
{
    int64_t end = 0;

    must(ids->ends.len == turns);
    for (size_t i = 0; i < turns; i++) {
        must(ids->ends.data[i] >= end);
        end = ids->ends.data[i];
    }
    must(end == (int64_t)ids->ids.len);
    for (size_t i = 0; i < ids->ids.len; i++)
        must(ids->ids.data[i] >= 0 && ids->ids.data[i] < vocab);
}

/* The text up to the next newline; `*text` goes behind it. */
static const char *take_line(const char **text, size_t *n, size_t *len)
{
    const char *line = *text, *end = memchr(line, '\n', *n);

    *len = end ? (size_t)(end - line) : *n;
    *n -= *len + (end != NULL);
    *text += *len + (end != NULL);
    return line;
}

static hone_turn_role role_of(char c)
{
    return c == 'a' ? HONE_TURN_ASSISTANT : c == 'o' ? HONE_TURN_OBSERVATION : c == 'f' ? HONE_TURN_FUNCTION : HONE_TURN_USER;
}

static void write_turns(const hone_slots *s, hone_slots_input *in, const char *text, size_t n, hone_slots_way way, int32_t vocab)
{
    hone_turn      turns[16];
    hone_slots_ids ids = { 0 };

    in->system = take_line(&text, &n, &in->n_system);
    in->tools = take_line(&text, &n, &in->n_tools);
    in->turns = turns;
    for (; n > 0 && in->n < HONE_COUNTOF(turns); in->n++) {
        size_t      len;
        const char *line = take_line(&text, &n, &len);

        turns[in->n] = (hone_turn){ role_of(len ? *line : 'u'), len ? line + 1 : line, len ? len - 1 : 0 };
    }
    if (hone_slots_encode(s, &ids, in, way) == HONE_OK)
        check(&ids, in->n, vocab);
    else
        must(*hone_status_text());
    hone_slots_ids_deinit(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hone_slots_options options = { .date = "1 Jan 2026" };
    hone_slots_input   in = { 0 };
    hone_tokenizer    *tok;
    hone_slots        *s;

    if (size < 4 || hone_utf8_valid_prefix((const char *)data + 4, size - 4) != size - 4)
        return 0;
    tok = make_tokenizer();
    options.name = slot_rows[data[0] % slot_row_count].name;
    options.tool_format = data[1] % 2 ? slot_tool_formats[data[1] / 2 % slot_tool_format_count].name : NULL;
    options.enable_thinking = data[2] % 3 - 1;
    options.preserve_thinking = data[2] / 3 % 2;
    if (hone_slots_create(&s, tok, &options) == HONE_OK)
        write_turns(s, &in, (const char *)data + 4, size - 4, (hone_slots_way)(data[3] % 3), hone_tokenizer_vocab_size(tok));
    else
        must(s == NULL && *hone_status_text());
    hone_slots_destroy(&s);
    hone_tokenizer_destroy(&tok);
    return 0;
}
