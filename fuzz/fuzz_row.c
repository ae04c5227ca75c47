/*
 * Rows: whatever the JSON, reading it in each format and stage ends with labels that are ids or nothing, or with an error
 * that says why. The first byte is the stage and the kind of source, the rest is the row: its JSON or, if it is none, bytes
 * that choose among the words of all formats.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "data/format.h"

static const char template_source[] =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}{{ c | tojson }}"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

static const char info_text[] =
    "[{\"formatting\": \"alpaca\"}, {\"formatting\": \"sharegpt\"}, {\"formatting\": \"openai\"}]";

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* Made once, kept to the end. */
static struct {
    hone_tokenizer *tokenizer;
    hone_chat      *chat;
    hone_options   *options;
    json_t         *infos;
} made;

static void make(void)
{
    static const char yaml[] = "finetuning_type: full\ndefault_system: be brief\nenable_thinking: false\n";
    char             *dir = hone_strndup(__FILE__, strlen(__FILE__) - strlen("fuzz/fuzz_row.c"));
    char             *path = hone_asprintf("%stests/data/template/tokenizer", dir);

    must(hone_tokenizer_load(&made.tokenizer, path) == HONE_OK);
    must(hone_chat_create(&made.chat, template_source, strlen(template_source), "fuzz", made.tokenizer) == HONE_OK);
    must(hone_options_load_text(&made.options, yaml, strlen(yaml), "fuzz") == HONE_OK);
    must(hone_json_parse(&made.infos, info_text, strlen(info_text), "fuzz") == HONE_OK);
    hone_free(dir);
    hone_free(path);
}

/* ---- rows out of words ---- */

typedef struct chooser { const uint8_t *data; size_t size, at; } chooser;

static unsigned choose(chooser *c, unsigned n) { return c->at < c->size ? c->data[c->at++] % n : 0; }

static json_t *make_value(chooser *c, int depth)
{
    static const char *const keys[] = {
        "messages", "conversations", "conversation", "role", "content", "from", "value", "human", "assistant", "tool_calls",
        "function", "name", "arguments", "tools", "system", "instruction", "input", "output", "history", "prompt", "completion",
        "chosen", "rejected", "rejected_response", "rejected_messages", "label", "kto_tag", "loss", "loss_scale", "query",
        "response", "text", "type", "id", "chat_template_kwargs", "margin", "images", "reasoning_content", "input_ids", "labels",
    };
    static const char *const words[] = {
        "", "user", "assistant", "system", "tool", "tool_call", "tool_response", "human", "gpt", "function_call", "observation",
        "text", "tool_use", "tool_result", "{\"name\": \"f\", \"arguments\": {}}", "[]", "{}", "[{\"role\": \"user\", \"content\": \"u\"}]",
        "<think>t</think>[1]", "<tool_call>{}</tool_call>", "true", "a b", "\xC3\xA4",
    };
    unsigned kind = choose(c, depth > 5 ? 5 : 9), n;
    json_t  *v;

    switch (kind) {
    case 0:  return json_null();
    case 1:  return json_boolean(choose(c, 2));
    case 2:  return choose(c, 2) ? json_integer((json_int_t)choose(c, 3) - 1) : json_real(0.5);
    case 3:
    case 4:  return json_string(words[choose(c, HONE_COUNTOF(words))]);
    case 5:
    case 6:
        v = json_array();
        for (n = choose(c, 4); n > 0; n--)
            json_array_append_new(v, make_value(c, depth + 1));
        return v;
    default:
        v = json_object();
        for (n = 1 + choose(c, 5); n > 0; n--) {
            const char *key = keys[choose(c, HONE_COUNTOF(keys))];

            json_object_set_new(v, key, make_value(c, depth + 1));
        }
        return v;
    }
}

static void check_labels(const hone_vec_i32 *ids, const hone_vec_i32 *labels)
{
    must(ids->len == labels->len);
    for (size_t i = 0; i < ids->len; i++)
        must(labels->data[i] == -100 || labels->data[i] >= 0);
}

static hone_source make_source(int kind)
{
    hone_source s = { .path = (char *)"row.jsonl",
                      .columns = { .prompt = "instruction", .query = "input", .response = "output", .history = "history",
                                   .system = "system", .messages = "conversations", .tools = "tools", .chosen = "chosen",
                                   .rejected = "rejected", .kto_tag = "kto_tag", .images = "images", .role_tag = "from",
                                   .content_tag = "value", .user_tag = "human", .assistant_tag = "gpt",
                                   .observation_tag = "observation", .function_tag = "function_call",
                                   .system_tag = "system" } };

    if (kind > 0) {
        s.info = json_array_get(made.infos, (size_t)kind - 1);
        s.format = kind == 1 ? HONE_ROWS_ALPACA : HONE_ROWS_SHAREGPT;
    }
    return s;
}

static void run(const json_t *row, hone_source source, hone_row_format format)
{
    hone_dataset_context context = { .options = made.options, .tokenizer = made.tokenizer, .chat = made.chat };
    hone_row_result      result = { 0 };
    hone_status          st = hone_row_to_sample(&result, row, &source, format, &context, "row");

    if (st == HONE_OK) {
        check_labels(&result.ids, &result.labels);
        check_labels(&result.rejected_ids, &result.rejected_labels);
        must(result.tokens_full >= (int64_t)result.ids.len);
    } else {
        must(*hone_status_text() && (st == HONE_E_DATA || st == HONE_E_FORMAT || st == HONE_E_USAGE));
    }
    hone_row_result_deinit(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const hone_stage stages[] = { HONE_STAGE_SFT, HONE_STAGE_DPO, HONE_STAGE_KTO, HONE_STAGE_PT };
    json_t         *row;
    hone_row_format found;
    hone_source     source;

    if (!made.tokenizer)
        make();
    if (size < 1)
        return 0;
    if (hone_json_parse(&row, (const char *)data + 1, size - 1, "row") != HONE_OK)
        row = make_value(&(chooser){ data, size, 1 }, 0);
    made.options->stage = stages[data[0] & 3];
    source = make_source(data[0] >> 2 & 3);
    if (source.format != HONE_ROWS_AUTO) {
        run(row, source, source.format);
    } else if (hone_row_format_detect(&found, row, &source, "row") == HONE_OK) {
        run(row, source, found);
    }
    for (int f = HONE_ROWS_MESSAGES; source.format == HONE_ROWS_AUTO && f <= HONE_ROWS_TEXT; f++)
        run(row, source, (hone_row_format)f);
    json_decref(row);
    return 0;
}
