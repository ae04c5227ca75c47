/* Rows of every format, one at a time, through the model's own chat template: what the model sees, and what is learned. */
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format.h"
#include "hone_test.h"

#define TEMPLATES TEST_DATA "/data/template"

static hone_tokenizer *tok;
static hone_chat      *chats[4];        /* by template */
static enum { CHATML, THINKING, HEADERS, MARKED } template_used = CHATML;
static hone_stage      stage = HONE_STAGE_SFT;

static int open_all(void **state)
{
    static const char *const names[] = { "chatml.jinja", "thinking.jinja", "headers.jinja", "chatml_marked.jinja" };

    (void)state;
    if (hone_tokenizer_load(&tok, TEMPLATES "/tokenizer") != HONE_OK)
        return 1;
    for (size_t i = 0; i < HONE_COUNTOF(names); i++) {
        char  *path = hone_path_join(TEMPLATES, names[i]), *source;
        size_t n;

        if (hone_file_read_all(&source, &n, path) != HONE_OK || hone_chat_create(&chats[i], source, n, names[i], tok) != HONE_OK)
            return 1;
        hone_free(source);
        hone_free(path);
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(chats); i++)
        hone_chat_destroy(&chats[i]);
    hone_tokenizer_destroy(&tok);
    return 0;
}

static int start(void **state)
{
    (void)state;
    stage = HONE_STAGE_SFT;
    template_used = CHATML;
    return 0;
}

/* Append the text of ids, what has a label in [brackets]. */
static void add_marked(hone_str *out, const hone_vec_i32 *ids, const hone_vec_i32 *labels)
{
    bool on = false;

    assert_int_equal(ids->len, labels->len);
    for (size_t t = 0; t < ids->len; t++) {
        bool now = labels->data[t] >= 0;

        assert_true(labels->data[t] == -100 || labels->data[t] == ids->data[t]);
        if (now != on)
            hone_str_putc(out, now ? '[' : ']');
        on = now;
        T_OK(hone_tokenizer_token_bytes(tok, out, ids->data[t]));
    }
    if (on)
        hone_str_putc(out, ']');
}

/* The row as text: of a pair, "chosen || rejected"; of feedback, after "good: " or "bad: ". */
static hone_status encode_from(const char *row, const char *yaml, hone_source *source, hone_str *out)
{
    hone_options        *options = NULL;
    hone_dataset_context context = { .tokenizer = tok, .chat = chats[template_used] };
    hone_row_result      result = { 0 };
    hone_row_format      format = source->format;
    json_t              *json = NULL;
    hone_status          st = HONE_OK;
    char                 text[256];

    hone_str_clear(out);
    snprintf(text, sizeof text, "finetuning_type: full\n%s", yaml);
    T_OK(hone_options_load_text(&options, text, strlen(text), "test"));
    options->stage = stage;
    context.options = options;
    HONE_GO(hone_json_parse(&json, row, strlen(row), "row"));
    if (format == HONE_ROWS_AUTO)
        HONE_GO(hone_row_format_detect(&format, json, source, "row"));
    HONE_GO(hone_row_format_check(format, source, &context));
    HONE_GO(hone_row_to_sample(&result, json, source, format, &context, "row"));
    if (result.is_feedback)
        hone_str_puts(out, result.desirable ? "good: " : "bad: ");
    add_marked(out, &result.ids, &result.labels);
    if (result.rejected_ids.len) {
        hone_str_puts(out, " || ");
        add_marked(out, &result.rejected_ids, &result.rejected_labels);
    }
    T_OK(hone_str_ok(out));
out:
    hone_row_result_deinit(&result);
    json_decref(json);
    hone_options_destroy(&options);
    return st;
}

/* A file that nothing describes: its columns have every name that there is. */
static hone_source plain_source(void)
{
    static const hone_row_columns columns = {
        .prompt = "instruction", .query = "input", .response = "output", .history = "history", .system = "system",
        .messages = "conversations", .tools = "tools", .chosen = "chosen", .rejected = "rejected", .kto_tag = "kto_tag",
        .role_tag = "from", .content_tag = "value", .user_tag = "human", .assistant_tag = "gpt",
    };

    return (hone_source){ .path = (char *)"a.jsonl", .columns = columns };
}

static void expect_with(const char *row, const char *yaml, const char *want)
{
    hone_source source = plain_source();
    hone_str    got = HONE_STR_INIT;

    T_OK(encode_from(row, yaml, &source, &got));
    assert_string_equal(hone_str_c(&got), want);
    hone_str_deinit(&got);
}

static void expect(const char *row, const char *want) { expect_with(row, "", want); }

static void refuse_with(const char *row, const char *yaml, hone_status st, const char *why)
{
    hone_source source = plain_source();
    hone_str    got = HONE_STR_INIT;

    T_STATUS(encode_from(row, yaml, &source, &got), st);
    T_ERROR_HAS(why);
    hone_str_deinit(&got);
}

static void refuse(const char *row, hone_status st, const char *why) { refuse_with(row, "", st, why); }

/* ---- short for ChatML ---- */

#define U(text) "<|im_start|>user\n" text "<|im_end|>\n"
#define S(text) "<|im_start|>system\n" text "<|im_end|>\n"
#define T(text) "<|im_start|>tool\n" text "<|im_end|>\n"
#define A(text) "<|im_start|>assistant\n[" text "<|im_end|>]\n"
#define A_OFF(text) "<|im_start|>assistant\n" text "<|im_end|>\n"

/* ---- messages ---- */

static void roles_of_ms_swift(void **state)
{
    (void)state;
    expect("{\"messages\": [{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"u\"},"
           " {\"role\": \"assistant\", \"content\": \"a\"}]}", S("s") U("u") A("a"));
    expect("{\"system\": \"s\", \"conversation\": [{\"human\": \"u\", \"assistant\": \"a\"}, {\"human\": \"v\", \"assistant\": \"b\"}]}",
           S("s") U("u") A("a") U("v") A("b"));
    expect("{\"conversations\": [{\"from\": \"human\", \"value\": \"u\"}, {\"from\": \"bot\", \"value\": \"a\"},"
           " {\"from\": \"observation\", \"value\": \"o\"}, {\"from\": \"gpt\", \"value\": \"b\"}]}", U("u") A("a") T("o") A("b"));
    expect("{\"conversations\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"}]}",
           U("u") A("a"));
    expect("{\"messages\": \"[{\\\"role\\\": \\\"user\\\", \\\"content\\\": \\\"u\\\"}, {\\\"role\\\": \\\"gpt\\\","
           " \\\"content\\\": \\\"a\\\"}]\"}", U("u") A("a"));      /* as a column of a CSV file has it */
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"tool_response\", \"content\": \"r\"},"
           " {\"role\": \"assistant\", \"content\": \"a\"}], \"system_prompt\": \"s\"}", S("s") U("u") T("r") A("a"));
    expect("{\"messages\": [{\"role\": \"developer\", \"content\": \"d\"}, {\"role\": \"assistant\", \"content\": \"a\"}]}",
           "<|im_start|>developer\nd<|im_end|>\n" A("a"));      /* the template's to know */
    refuse("{\"conversations\": [{\"from\": \"narrator\", \"value\": \"u\"}]}", HONE_E_DATA, "message 0 is of \"narrator\"");
}

#define CALL_TEXT "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n[look\n<tool_call>\n"                             \
    "{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call><|im_end|>]\n"                                             \
    "<|im_start|>user\n<tool_response>\nr\n</tool_response><|im_end|>\n<|im_start|>assistant\n[<think>\n\n</think>\n\ndone<|im_end|>]\n"

/* One conversation with a call, in each of the spellings. */
static void tool_calls_in_every_spelling(void **state)
{
    (void)state;
    template_used = THINKING;
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"look\","
           " \"tool_calls\": [{\"id\": \"1\", \"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": {\"x\": 1}}}]},"
           " {\"role\": \"tool\", \"content\": \"r\"}, {\"role\": \"assistant\", \"content\": \"done\"}]}", CALL_TEXT);
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"look\"},"
           " {\"role\": \"tool_call\", \"content\": \"{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {\\\"x\\\": 1}}\"},"
           " {\"role\": \"tool_response\", \"content\": \"r\"}, {\"role\": \"assistant\", \"content\": \"done\"}]}", CALL_TEXT);
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"look\"},"
           " {\"role\": \"tool_call\", \"content\": {\"name\": \"f\", \"parameters\": \"{\\\"x\\\": 1}\"}},"
           " {\"role\": \"tool\", \"content\": \"r\"}, {\"role\": \"assistant\", \"content\": \"done\"}]}", CALL_TEXT);
    expect("{\"conversations\": [{\"from\": \"human\", \"value\": \"u\"}, {\"from\": \"function_call\","
           " \"value\": \"look<tool_call>{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {\\\"x\\\": 1}}</tool_call>\"},"
           " {\"from\": \"observation\", \"value\": \"r\"}, {\"from\": \"gpt\", \"value\": \"done\"}]}", CALL_TEXT);
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": [{\"type\": \"text\","
           " \"text\": \"look\"}, {\"type\": \"tool_use\", \"id\": \"1\", \"name\": \"f\", \"input\": {\"x\": 1}}]},"
           " {\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": \"1\", \"content\": [{\"type\": \"text\","
           " \"text\": \"r\"}]}]}, {\"role\": \"assistant\", \"content\": \"done\"}]}", CALL_TEXT);
}

static void calls_side_by_side(void **state)
{
    static const char text[] = "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n[<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n"
                               "</tool_call>\n<tool_call>\n{\"name\": \"g\", \"arguments\": {}}\n</tool_call><|im_end|>]\n"
                               "<|im_start|>user\n<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response><|im_end|>\n"
                               "<|im_start|>assistant\n[<think>\n\n</think>\n\na<|im_end|>]\n";
#define REST "{\"role\": \"tool\", \"content\": \"1\"}, {\"role\": \"tool\", \"content\": \"2\"}, {\"role\": \"assistant\", \"content\": \"a\"}]}"

    (void)state;
    template_used = THINKING;
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": null, \"tool_calls\":"
           " [{\"function\": {\"name\": \"f\", \"arguments\": {}}}, {\"function\": {\"name\": \"g\", \"arguments\": \"{}\"}}]}, " REST, text);
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"tool_call\", \"content\": {\"name\": \"f\","
           " \"arguments\": {}}}, {\"role\": \"tool_call\", \"content\": {\"name\": \"g\", \"arguments\": {}}}, " REST, text);
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"tool_call\", \"content\": [{\"name\": \"f\","
           " \"arguments\": {}}, {\"name\": \"g\", \"arguments\": {}}]}, " REST, text);
#undef REST
}

/* Templates of two kinds: one writes a text as it is, the other would quote it once more. */
static void arguments_as_text_and_as_object(void **state)
{
#define CALL(arguments) "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"tool_calls\":"  \
                        " [{\"function\": {\"name\": \"f\", \"arguments\": " arguments "}}]}]}"
    static const char headers[] = "<s><|start_header_id|>system<|end_header_id|>\n\nToday: 26 Jul 2024\n\n<|eot_id|>"
                                  "<|start_header_id|>user<|end_header_id|>\n\nu<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
                                  "[{\"name\": \"f\", \"parameters\": {\"x\": [1, \"ä\"]}}<|eot_id|>]";
    static const char thinking[] = "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n[<think>\n\n</think>\n\n<tool_call>\n"
                                   "{\"name\": \"f\", \"arguments\": {\"x\": [1, \"ä\"]}}\n</tool_call><|im_end|>]\n";

    (void)state;
    assert_int_equal(hone_chat_get_arguments(chats[HEADERS]), HONE_CHAT_OBJECT_ARGUMENTS);
    assert_int_equal(hone_chat_get_arguments(chats[THINKING]), HONE_CHAT_OBJECT_ARGUMENTS | HONE_CHAT_TEXT_ARGUMENTS);
    assert_int_equal(hone_chat_get_arguments(chats[CHATML]), HONE_CHAT_NO_ARGUMENTS);
    template_used = HEADERS;
    expect(CALL("{\"x\": [1, \"ä\"]}"), headers);
    expect(CALL("\"{\\\"x\\\": [1, \\\"ä\\\"]}\""), headers);
    template_used = THINKING;
    expect(CALL("{\"x\": [1, \"ä\"]}"), thinking);
    expect(CALL("\"{\\\"x\\\": [1, \\\"ä\\\"]}\""), thinking);
#undef CALL
}

/* A template that joins arguments to a text takes them as a text. */
static void a_template_that_takes_arguments_as_text(void **state)
{
    static const char source[] = "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + (m.content or '') }}{% for c in m.tool_calls or [] %}"
                                 "{{ c.function.name + ' ' + c.function.arguments }}{% endfor %}{{ '<|im_end|>\n' }}{% endfor %}"
                                 "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
    hone_chat *usual = chats[CHATML];

    (void)state;
    T_OK(hone_chat_create(&chats[CHATML], source, strlen(source), "text", tok));
    assert_int_equal(hone_chat_get_arguments(chats[CHATML]), HONE_CHAT_TEXT_ARGUMENTS);
    expect("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"tool_calls\": [{\"function\":"
           " {\"name\": \"f\", \"arguments\": {\"x\": 1}}}]}]}", U("u") A("f {\"x\": 1}"));
    hone_chat_destroy(&chats[CHATML]);
    chats[CHATML] = usual;
}

static void calls_that_cannot_be_read(void **state)
{
#define FROM_CALL(value) "{\"conversations\": [{\"from\": \"human\", \"value\": \"u\"}, {\"from\": \"function_call\", \"value\": " value "}]}"
    (void)state;
    refuse(FROM_CALL("\"no JSON\""), HONE_E_DATA, "message 1 is a tool call that is not JSON");
    refuse(FROM_CALL("\"{\\\"arguments\\\": {}}\""), HONE_E_DATA, "message 1 is a tool call without a \"name\"");
    refuse(FROM_CALL("\"{\\\"name\\\": \\\"f\\\"}\""), HONE_E_DATA, "message 1 is a tool call without \"arguments\"");
    refuse(FROM_CALL("\"[]\""), HONE_E_DATA, "must hold an object with \"name\" and \"arguments\"");
    refuse(FROM_CALL("null"), HONE_E_DATA, "message 1, of \"tool_call\", has no \"value\"");
    refuse("{\"messages\": [{\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"name\": \"f\", \"input\": {}},"
           " {\"type\": \"thinking\"}]}]}", HONE_E_DATA, "a part of type \"thinking\"");
#undef FROM_CALL
}

static void tools_of_a_row(void **state)
{
#define WITH_TOOLS(tools) "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"}], \"tools\": " tools "}"
#define ONE_TOOL "<|im_start|>system\n# Tools\n\n<tools>\n{\"name\": \"f\"}\n</tools><|im_end|>\n" U("u") \
    "<|im_start|>assistant\n[<think>\n\n</think>\n\na<|im_end|>]\n"
    (void)state;
    template_used = THINKING;
    expect(WITH_TOOLS("[{\"name\": \"f\"}]"), ONE_TOOL);
    expect(WITH_TOOLS("{\"name\": \"f\"}"), ONE_TOOL);
    expect(WITH_TOOLS("\"[{\\\"name\\\": \\\"f\\\"}]\""), ONE_TOOL);
    expect(WITH_TOOLS("[\"{\\\"name\\\": \\\"f\\\"}\"]"), ONE_TOOL);
    expect(WITH_TOOLS("[]"), U("u") "<|im_start|>assistant\n[<think>\n\n</think>\n\na<|im_end|>]\n");
    expect(WITH_TOOLS("\"\""), U("u") "<|im_start|>assistant\n[<think>\n\n</think>\n\na<|im_end|>]\n");
    refuse(WITH_TOOLS("[5]"), HONE_E_DATA, "\"tools\"[0] is no tool");
    refuse(WITH_TOOLS("\" \""), HONE_E_DATA, "\"tools\" is a string that is not JSON");
    refuse(WITH_TOOLS("true"), HONE_E_FORMAT, "\"tools\" must be an array of tools");
#undef WITH_TOOLS
#undef ONE_TOOL
}

static void images_are_refused_by_name(void **state)
{
#define TALK "\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"}]"
    (void)state;
    expect("{" TALK ", \"images\": [], \"audios\": null, \"objects\": {}, \"channel\": \"c\"}", U("u") A("a"));
    refuse("{" TALK ", \"images\": [\"a.png\"]}", HONE_E_DATA, "the row has \"images\"");
    refuse("{" TALK ", \"video\": \"a.mp4\"}", HONE_E_DATA, "the row has \"video\"");
    refuse("{" TALK ", \"objects\": {\"ref\": [1]}}", HONE_E_DATA, "the row has \"objects\"");
    refuse("{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"image_url\": {}}]}]}", HONE_E_DATA,
           "part 0 of the content of message 0 is of type \"image_url\"");
    refuse("{\"messages\": [{\"role\": \"user\", \"content\": 5}]}", HONE_E_FORMAT, "\"content\" of message 0 must be a text");
#undef TALK
}

/* ---- switches of messages ---- */

static void loss_and_loss_scale(void **state)
{
#define SWITCHED(one, two) "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"" one "}," \
                           " {\"role\": \"user\", \"content\": \"v\"}, {\"role\": \"assistant\", \"content\": \"b\"" two "}]}"
    (void)state;
    expect(SWITCHED(", \"loss\": false", ""), U("u") A_OFF("a") U("v") A("b"));
    expect(SWITCHED(", \"loss_scale\": 0", ", \"loss_scale\": 1.0"), U("u") A_OFF("a") U("v") A("b"));
    expect(SWITCHED(", \"loss\": true, \"loss_scale\": 0.0", ""), U("u") A_OFF("a") U("v") A("b"));
    expect_with(SWITCHED(", \"loss_scale\": 1", ""), "mask_history: true", U("u") A("a") U("v") A("b"));
    refuse(SWITCHED(", \"loss_scale\": 2", ""), HONE_E_DATA, "\"loss_scale\" of message 1 is 2; hone has no weighted loss");
    refuse(SWITCHED(", \"loss_scale\": \"1\"", ""), HONE_E_FORMAT, "\"loss_scale\" of message 1 must be a number");
    /* A call that ms-swift keeps in a message of its own is one turn with the text before it. */
    refuse("{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"},"
           " {\"role\": \"tool_call\", \"content\": {\"name\": \"f\", \"arguments\": {}}, \"loss\": false}]}", HONE_E_DATA,
           "message 2, a tool call, and the assistant's message before it are one turn");
#undef SWITCHED
}

/* ---- query and response ---- */

static void queries_under_any_name(void **state)
{
    (void)state;
    expect("{\"query\": \"u\", \"response\": \"a\"}", U("u") A("a"));
    expect("{\"question\": \"u\", \"answer\": \"a\"}", U("u") A("a"));
    expect("{\"Problem\": \"u\", \"Solution\": \"a\"}", U("u") A("a"));
    expect("{\"input\": \"u\", \"output\": \"a\"}", U("u") A("a"));
    expect("{\"prompt\": \"u\", \"response\": \"a\", \"system_prompt\": \"s\"}", S("s") U("u") A("a"));
    expect("{\"instruction\": \"u\", \"input\": \"v\", \"response\": \"a\"}", U("u\nv") A("a"));
    expect("{\"query\": \"u\", \"prompt\": \"x\", \"answers\": [\"a\", \"b\"]}", U("u") A("a"));     /* its very name wins */
    expect("{\"query\": \"u\", \"response\": \"a\", \"history\": [[\"g\", \"h\"], [\"i\", null]]}", U("g") A("h") U("i") U("u") A("a"));
    expect("{\"query\": \"u\", \"response\": \"a\", \"history\": \"[[\\\"g\\\", \\\"h\\\"]]\"}", U("g") A("h") U("u") A("a"));
    expect("{\"instruction\": \"u\", \"output\": \"a\", \"history\": \"[[\\\"g\\\", \\\"h\\\"]]\"}", U("g") A("h") U("u") A("a"));
    expect("{\"query\": \"u\", \"response\": \"\"}", U("u") A(""));
    refuse("{\"prompt\": \"u\", \"question\": \"v\", \"response\": \"a\"}", HONE_E_DATA, "\"prompt\" and \"question\", and both may be the query");
    refuse("{\"query\": \"u\", \"response\": 5}", HONE_E_FORMAT, "\"response\" must be a string");
    refuse("{\"query\": \"u\", \"response\": \"a\", \"history\": [[\"a\"]]}", HONE_E_FORMAT, "entry 0 of the history is no pair");
    refuse("{\"messages\": 1, \"response\": \"a\"}", HONE_E_FORMAT, "\"messages\" must be an array");
    refuse("{\"left\": 1}", HONE_E_FORMAT, "it has: left");
    refuse("{\"id\": 1, \"messages\": null}", HONE_E_DATA, "the row has no \"messages\" (it has: id, messages (null))");
    refuse("{\"query\": null, \"response\": null}", HONE_E_DATA, "the row has no \"response\"");
}

/* ms-swift's dataset_info.json renames columns; any name goes. */
static void renamed_columns(void **state)
{
    hone_source source = plain_source();
    hone_str    got = HONE_STR_INIT;

    (void)state;
    source.renames = json_pack("{s:s, s:s}", "Frage", "query", "antwort", "response");
    T_OK(encode_from("{\"frage\": \"u\", \"antwort\": \"a\", \"answer\": \"x\"}", "", &source, &got));
    assert_string_equal(hone_str_c(&got), U("u") A("a"));
    T_STATUS(encode_from("{\"frage\": \"u\", \"query\": \"v\", \"antwort\": \"a\"}", "", &source, &got), HONE_E_DATA);
    T_ERROR_HAS("two columns of the row are called \"query\"");
    json_decref(source.renames);
    hone_str_deinit(&got);
}

static void a_later_row_of_another_kind(void **state)
{
    hone_source source = plain_source();
    hone_str    got = HONE_STR_INIT;

    (void)state;
    source.format = HONE_ROWS_MESSAGES;
    T_STATUS(encode_from("{\"prompt\": \"u\", \"completion\": \"a\"}", "", &source, &got), HONE_E_DATA);
    T_ERROR_HAS("the row has no \"messages\" (it has: prompt, completion)");
    source.format = HONE_ROWS_TRL;
    T_STATUS(encode_from("{\"messages\": []}", "", &source, &got), HONE_E_DATA);
    T_ERROR_HAS("the row has no \"completion\" (it has: messages)");
    source.format = HONE_ROWS_SWIFT;
    T_STATUS(encode_from("{\"messages\": [], \"query\": \"u\"}", "", &source, &got), HONE_E_DATA);
    T_ERROR_HAS("the row has no \"response\" (it has: messages, query)");
    source.format = HONE_ROWS_ALPACA;
    T_STATUS(encode_from("{\"messages\": []}", "", &source, &got), HONE_E_DATA);
    T_ERROR_HAS("the row has no \"output\"");
    hone_str_deinit(&got);
}

/* ---- prompt and completion ---- */

static void prompt_and_completion_as_texts(void **state)
{
    (void)state;
    expect("{\"prompt\": \"The sky is\", \"completion\": \" blue.\"}", "The sky is[ blue.</s>]");
    expect("{\"prompt\": \"the cont\", \"completion\": \"ent here\"}", "the[ content here</s>]");       /* a merge over the border */
    expect("{\"prompt\": \"x\", \"completion\": \"y</s>\"}", "x[y</s>]");
    expect("{\"prompt\": \"x\", \"completion\": \"\"}", "x[</s>]");
    expect_with("{\"prompt\": \"x\", \"completion\": \"y\"}", "train_on_prompt: true", "[xy</s>]");
    /* With a system prompt it is ms-swift's row. */
    expect("{\"prompt\": \"u\", \"completion\": \"a\", \"system\": \"s\"}", S("s") U("u") A("a"));
}

static void prompt_and_completion_as_messages(void **state)
{
#define PROMPT "\"prompt\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"h\"}, {\"role\": \"user\", \"content\": \"v\"}]"
    (void)state;
    expect("{" PROMPT ", \"completion\": [{\"role\": \"assistant\", \"content\": \"a\"}]}", U("u") A_OFF("h") U("v") A("a"));
    expect("{" PROMPT ", \"completion\": \"a\"}", U("u") A_OFF("h") U("v") A("a"));
    expect("{" PROMPT ", \"completion\": [{\"role\": \"assistant\", \"content\": \"a\"}, {\"role\": \"user\", \"content\": \"w\"},"
           " {\"role\": \"assistant\", \"content\": \"b\"}]}", U("u") A_OFF("h") U("v") A("a") U("w") A("b"));
    template_used = MARKED;
    expect("{" PROMPT ", \"completion\": [{\"role\": \"assistant\", \"content\": \"a\"}]}", U("u") A_OFF("h") U("v") A("a"));
    refuse("{\"prompt\": \"u\", \"completion\": [{\"role\": \"assistant\", \"content\": \"a\"}]}", HONE_E_DATA, "\"prompt\" must be one too");
    refuse("{\"prompt\": [], \"completion\": [{\"role\": \"assistant\", \"content\": \"a\"}]}", HONE_E_DATA, "the prompt has no message");
    refuse("{\"prompt\": [5], \"completion\": \"a\"}", HONE_E_FORMAT, "message 0 must be an object");
    refuse("{\"prompt\": [{\"role\": \"user\", \"content\": \"u\"}], \"completion\": 5}", HONE_E_FORMAT, "\"completion\" must be a text, a message");
#undef PROMPT
}

/* What a template marks is learned, also where it writes it for no message in particular. */
static void marks_without_a_message(void **state)
{
    static const char source[] = "{% for i in range(messages|length) %}{{ messages[i].content }}{% generation %}<|im_end|>{% endgeneration %}{% endfor %}";
    hone_chat *usual = chats[CHATML];

    (void)state;
    T_OK(hone_chat_create(&chats[CHATML], source, strlen(source), "marks", tok));
    expect("{\"query\": \"u\", \"response\": \"a\"}", "u[<|im_end|>]a[<|im_end|>]");
    hone_chat_destroy(&chats[CHATML]);
    chats[CHATML] = usual;
}

/* ---- pairs ---- */

#define PAIR U("u") A("a") " || " U("u") A("b")
#define M(role_, text) "{\"role\": \"" role_ "\", \"content\": \"" text "\"}"

static void pairs_in_every_spelling(void **state)
{
    (void)state;
    stage = HONE_STAGE_DPO;
    expect("{\"instruction\": \"u\", \"chosen\": \"a\", \"rejected\": \"b\"}", PAIR);
    expect("{\"instruction\": \"u\", \"output\": \"x\", \"chosen\": \"a\", \"rejected\": \"b\"}", PAIR);
    expect("{\"conversations\": [{\"from\": \"human\", \"value\": \"u\"}], \"chosen\": {\"from\": \"gpt\", \"value\": \"a\"},"
           " \"rejected\": {\"from\": \"gpt\", \"value\": \"b\"}}", PAIR);
    expect("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected_response\": \"b\"}", PAIR);
    expect("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected_response\": [" M("assistant", "b") "]}", PAIR);
    expect("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected_messages\": [" M("user", "u") ", " M("assistant", "b") "]}", PAIR);
    expect("{\"query\": \"u\", \"response\": \"a\", \"rejected_response\": \"b\"}", PAIR);
    expect("{\"prompt\": [" M("user", "u") "], \"chosen\": [" M("assistant", "a") "], \"rejected\": [" M("assistant", "b") "]}", PAIR);
    expect("{\"chosen\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected\": [" M("user", "u") ", " M("assistant", "b") "]}", PAIR);
    expect("{\"prompt\": \"u\", \"chosen\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected\": [" M("user", "u") ", " M("assistant", "b") "],"
           " \"messages\": [" M("user", "u") ", " M("assistant", "a") "]}", PAIR);
    expect("{\"prompt\": \"x: \", \"chosen\": \"1\", \"rejected\": \"2\"}", "x: [1</s>] || x: [2</s>]");
    expect("{\"chosen\": \"It is ä.\", \"rejected\": \"It is ö.\"}", "It is[ ä.</s>] || It is[ ö.</s>]");
    stage = HONE_STAGE_RM;
    expect("{\"messages\": [" M("system", "s") ", " M("user", "u") ", " M("assistant", "h") ", " M("user", "v") ", " M("assistant", "a") "],"
           " \"rejected_response\": \"b\", \"margin\": 0.5}",
           S("s") U("u") A_OFF("h") U("v") A("a") " || " S("s") U("u") A_OFF("h") U("v") A("b"));
    template_used = MARKED;
    expect("{\"messages\": [" M("user", "u") ", " M("assistant", "h") ", " M("user", "v") ", " M("assistant", "a") "], \"rejected_response\": \"b\"}",
           U("u") A_OFF("h") U("v") A("a") " || " U("u") A_OFF("h") U("v") A("b"));
}

/* The trajectory after the last question is the answer, tool results and all. */
static void a_rejected_trajectory(void **state)
{
    (void)state;
    stage = HONE_STAGE_DPO;
    expect("{\"messages\": [" M("user", "u") ", " M("assistant", "a") ", " M("tool", "t") ", " M("assistant", "c") "], \"rejected_response\":"
           " [" M("assistant", "b") ", " M("tool", "t") ", " M("assistant", "d") "]}",
           U("u") A("a") T("t") A("c") " || " U("u") A("b") T("t") A("d"));
    refuse("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected_response\": [" M("user", "b") "]}", HONE_E_DATA,
           "message 0 of \"rejected_response\" is the user's");
}

static void pairs_that_are_none(void **state)
{
    (void)state;
    stage = HONE_STAGE_DPO;
    refuse("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "]}", HONE_E_DATA, "the row has no rejected answer");
    refuse("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected_response\": \"a\"}", HONE_E_DATA, "are the same");
    refuse("{\"instruction\": \"u\", \"chosen\": \"a\", \"rejected\": \"a\"}", HONE_E_DATA, "are the same");
    refuse("{\"messages\": [" M("user", "u") "], \"rejected_response\": \"b\"}", HONE_E_DATA, "no chosen answer");
    refuse("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected_response\": []}", HONE_E_DATA, "rejected answer has no message");
    refuse("{\"chosen\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected\": [" M("user", "v") ", " M("assistant", "b") "]}", HONE_E_DATA,
           "do not part at an answer");
    refuse("{\"chosen\": [" M("system", "s") ", " M("user", "u") ", " M("assistant", "a") "], \"rejected\": [" M("system", "s") ", " M("user", "v") "]}",
           HONE_E_DATA, "do not part at an answer");
    refuse("{\"chosen\": \"a\", \"rejected\": [" M("user", "v") "]}", HONE_E_FORMAT, "\"chosen\" is string and \"rejected\" is array");
    refuse("{\"instruction\": \"u\", \"chosen\": \"a\", \"rejected\": 5}", HONE_E_FORMAT, "\"rejected\" must be a string");
    refuse("{\"query\": \"u\", \"response\": \"a\", \"rejected_response\": \"b\", \"margin\": \"x\"}", HONE_E_FORMAT, "\"margin\" must be a number");
    stage = HONE_STAGE_SFT;
    refuse("{\"instruction\": \"u\", \"chosen\": \"a\", \"rejected\": \"b\"}", HONE_E_USAGE, "stage rm and dpo train on");
    refuse("{\"prompt\": \"u\", \"chosen\": \"a\", \"rejected\": \"b\"}", HONE_E_USAGE, "stage rm and dpo train on");
    refuse("{\"messages\": [" M("user", "u") "], \"chosen\": " M("assistant", "a") ", \"rejected\": " M("assistant", "b") "}", HONE_E_USAGE,
           "stage rm and dpo");
    /* Rows that are whole without their pairs are trained on as they are. */
    expect("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "], \"rejected_response\": \"b\", \"label\": true}", U("u") A("a"));
    expect("{\"instruction\": \"u\", \"output\": \"a\", \"chosen\": \"a\", \"rejected\": \"b\"}", U("u") A("a"));
}

/* A template whose prompt depends on the answer: the two could not be compared. */
static void prompts_of_a_pair_are_the_same(void **state)
{
    static const char source[] = "{{ messages[-1].content | length }}{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}"
                                 "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
    hone_chat *usual = chats[CHATML];

    (void)state;
    stage = HONE_STAGE_DPO;
    T_OK(hone_chat_create(&chats[CHATML], source, strlen(source), "length", tok));
    expect("{\"query\": \"u\", \"response\": \"a\", \"rejected_response\": \"b\"}", "1" U("u") A("a") " || 1" U("u") A("b"));
    refuse("{\"query\": \"u\", \"response\": \"a\", \"rejected_response\": \"bb\"}", HONE_E_DATA,
           "the chat template writes the prompt of the chosen and of the rejected answer differently");
    hone_chat_destroy(&chats[CHATML]);
    chats[CHATML] = usual;
}

static void feedback(void **state)
{
    (void)state;
    stage = HONE_STAGE_KTO;
    expect("{\"messages\": [" M("user", "u") ", " M("assistant", "h") ", " M("user", "v") ", " M("assistant", "a") "], \"label\": true}",
           "good: " U("u") A_OFF("h") U("v") A("a"));
    expect("{\"instruction\": \"u\", \"output\": \"a\", \"kto_tag\": false}", "bad: " U("u") A("a"));
    expect("{\"instruction\": \"u\", \"output\": \"\", \"kto_tag\": true}", "good: " U("u") A(""));
    expect("{\"conversations\": [{\"from\": \"human\", \"value\": \"u\"}, {\"from\": \"gpt\", \"value\": \"a\"}], \"kto_tag\": \"False\"}",
           "bad: " U("u") A("a"));
    expect("{\"query\": \"u\", \"response\": \"a\", \"label\": true}", "good: " U("u") A("a"));
    expect("{\"prompt\": \"x \", \"completion\": \"y\", \"label\": false}", "bad: x [y</s>]");
    expect("{\"prompt\": [" M("user", "u") "], \"completion\": [" M("assistant", "a") "], \"label\": true}", "good: " U("u") A("a"));
    refuse("{\"query\": \"u\", \"response\": \"a\"}", HONE_E_DATA, "does not say whether its answer is good");
    refuse("{\"query\": \"u\", \"response\": \"a\", \"label\": 1}", HONE_E_FORMAT, "\"label\" must be true (a good answer) or false");
    refuse("{\"messages\": [" M("user", "u") "], \"label\": true}", HONE_E_DATA, "the row has no answer");
    stage = HONE_STAGE_SFT;
    refuse("{\"prompt\": \"x \", \"completion\": \"y\", \"label\": false}", HONE_E_USAGE, "stage kto trains on");
    refuse("{\"instruction\": \"u\", \"kto_tag\": false}", HONE_E_FORMAT, "none of the keys");
}

/* ---- what dataset_info.json says ---- */

static hone_source described(const char *formatting, bool ranking)
{
    hone_source s = { .path = (char *)"a.jsonl", .ranking = ranking };

    s.info = json_pack("{s:s}", "formatting", formatting);
    s.format = strcmp(formatting, "alpaca") == 0 ? HONE_ROWS_ALPACA : HONE_ROWS_SHAREGPT;
    s.columns = (hone_row_columns){ .prompt = "q", .response = "a", .messages = "m", .chosen = "c", .rejected = "r", .images = "i",
                                    .role_tag = "who", .content_tag = "what", .user_tag = "U", .assistant_tag = "A",
                                    .observation_tag = "O", .function_tag = "F", .system_tag = "S" };
    return s;
}

static void expect_described(hone_source s, const char *row, const char *want)
{
    hone_str got = HONE_STR_INIT;

    T_OK(encode_from(row, "", &s, &got));
    assert_string_equal(hone_str_c(&got), want);
    json_decref(s.info);
    hone_str_deinit(&got);
}

static void refuse_described(hone_source s, const char *row, hone_status st, const char *why)
{
    hone_str got = HONE_STR_INIT;

    T_STATUS(encode_from(row, "", &s, &got), st);
    T_ERROR_HAS(why);
    json_decref(s.info);
    hone_str_deinit(&got);
}

static void described_rows(void **state)
{
    static const char tags[] = "{\"m\": [{\"who\": \"S\", \"what\": \"s\"}, {\"who\": \"U\", \"what\": \"u\"}, {\"who\": \"A\", \"what\": \"a\"},"
                               " {\"who\": \"O\", \"what\": \"o\"}, {\"who\": \"A\", \"what\": \"b\"}]}";
    hone_source kto = described("alpaca", false), narrow = described("sharegpt", false);

    (void)state;
    expect_described(described("sharegpt", false), tags, S("s") U("u") A("a") T("o") A("b"));
    refuse_described(described("sharegpt", false), "{\"m\": [{\"who\": \"human\", \"what\": \"u\"}]}", HONE_E_DATA,
                     "message 0 is of \"human\", and the roles of this data set are U, A, S, O, F");
    refuse_described(described("alpaca", false), "{\"q\": \"u\", \"a\": \"a\", \"i\": [\"x.png\"]}", HONE_E_DATA, "the row has \"i\"");
    template_used = THINKING;
    expect_described(described("openai", false), "{\"m\": [{\"who\": \"U\", \"what\": \"u\"}, {\"who\": \"A\", \"what\": \"look\", \"tool_calls\":"
                     " [{\"function\": {\"name\": \"f\", \"arguments\": {\"x\": 1}}}]}, {\"who\": \"O\", \"what\": \"r\"}, {\"who\": \"A\", \"what\": \"done\"}]}",
                     CALL_TEXT);
    expect_described(described("sharegpt", false), "{\"m\": [{\"who\": \"U\", \"what\": \"u\"}, {\"who\": \"F\", \"what\":"
                     " \"{\\\"name\\\": \\\"f\\\", \\\"arguments\\\": {}}\"}]}",
                     U("u") "<|im_start|>assistant\n[<think>\n\n</think>\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call><|im_end|>]\n");
    template_used = CHATML;
    stage = HONE_STAGE_DPO;
    expect_described(described("alpaca", true), "{\"q\": \"u\", \"a\": \"x\", \"c\": \"a\", \"r\": \"b\"}", PAIR);
    expect_described(described("sharegpt", true), "{\"m\": [{\"who\": \"U\", \"what\": \"u\"}], \"c\": {\"who\": \"A\", \"what\": \"a\"},"
                     " \"r\": {\"who\": \"A\", \"what\": \"b\"}}", PAIR);
    refuse_described(described("alpaca", false), "{}", HONE_E_USAGE, "needs \"ranking\": true");
    narrow.ranking = true;
    narrow.columns.rejected = NULL;
    refuse_described(narrow, "{}", HONE_E_FORMAT, "no \"chosen\" or no \"rejected\"");
    stage = HONE_STAGE_SFT;
    refuse_described(described("alpaca", true), "{}", HONE_E_USAGE, "preference pairs");
    refuse_described(described("openai", false), "{\"x\": 1}", HONE_E_DATA, "the row has no \"m\" (it has: x)");
    stage = HONE_STAGE_KTO;
    kto.columns.kto_tag = "k";
    expect_described(kto, "{\"q\": \"u\", \"a\": \"a\", \"k\": true}", "good: " U("u") A("a"));
    refuse_described(described("alpaca", false), "{}", HONE_E_USAGE, "\"kto_tag\"");
}

/* ---- documents ---- */

static void documents(void **state)
{
    hone_source alpaca = described("alpaca", false);

    (void)state;
    stage = HONE_STAGE_PT;
    expect("{\"text\": \"x\", \"question\": null}", "[x</s>]");
    expect("{\"response\": \"x\"}", "[x</s>]");
    expect("{\"messages\": [" M("assistant", "x") "]}", "[x</s>]");
    expect("{\"messages\": [" M("assistant", "x") ", " M("assistant", "y") "]}", "[xy</s>]");
    expect_with("{\"text\": \"x\"}", "stage: pt\nappend_eos: false", "[x]");
    refuse("{\"messages\": [" M("user", "u") ", " M("assistant", "a") "]}", HONE_E_DATA, "the row is a conversation, which stage: sft trains on");
    refuse("{\"query\": \"u\", \"response\": \"a\"}", HONE_E_DATA, "asks and answers");
    refuse("{\"text\": 5}", HONE_E_FORMAT, "\"text\" must be a string");
    refuse("{\"messages\": 5}", HONE_E_FORMAT, "\"messages\" must be an array of messages");
    expect_described(described("sharegpt", false), "{\"m\": [{\"who\": \"S\", \"what\": \"s\"}, {\"who\": \"U\", \"what\": \"u\"}]}", "[u</s>]");
    expect_described(described("alpaca", false), "{\"q\": \"x\", \"a\": \"y\"}", "[x</s>]");
    alpaca.columns.history = "h";
    expect_described(alpaca, "{\"q\": \"x\", \"h\": [[\"first\", \"y\"]]}", "[first</s>]");
    refuse_described(described("sharegpt", false), "{\"m\": [{\"who\": \"S\", \"what\": \"s\"}]}", HONE_E_DATA, "the conversation has no message");
    refuse_described(described("alpaca", true), "{}", HONE_E_USAGE, "preference pairs");
}

static void ids_as_given(void **state)
{
    (void)state;
    expect("{\"input_ids\": [64, 65, 66]}", "[abc]");
    expect("{\"input_ids\": [64, 65, 66], \"labels\": [-100, 65, -100]}", "a[b]c");
    expect("{\"input_ids\": [64, 65], \"labels\": null, \"messages\": 5}", "[ab]");
    stage = HONE_STAGE_KTO;
    refuse("{\"input_ids\": [64, 65]}", HONE_E_USAGE, "rows of input_ids go with stage: sft and pt");
}

/* A tokenizer whose PAD is its EOS: the EOS of a document, and of a completion, keeps its label. */
static void padding_is_no_id(void **state)
{
    static const char config[] = "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\", \"pad_token\": \"</s>\"}";
    const char       *dir = t_temp_dir();
    char             *to = hone_path_join(dir, "tokenizer.json"), *conf = hone_path_join(dir, "tokenizer_config.json"), *text;
    hone_tokenizer   *usual = tok;
    size_t            n;

    (void)state;
    T_OK(hone_file_read_all(&text, &n, TEMPLATES "/tokenizer/tokenizer.json"));
    T_OK(hone_file_write_all(to, text, n));
    T_OK(hone_file_write_all(conf, config, strlen(config)));
    T_OK(hone_tokenizer_load(&tok, dir));
    assert_int_equal(hone_tokenizer_pad(tok), hone_tokenizer_eos(tok));
    expect("{\"prompt\": \"x\", \"completion\": \"y\"}", "x[y</s>]");
    stage = HONE_STAGE_PT;
    expect("{\"text\": \"x\"}", "[x</s>]");
    T_OK(hone_dir_remove(dir));
    hone_tokenizer_destroy(&tok);
    tok = usual;
    hone_free(text);
    hone_free(conf);
    hone_free(to);
}

/* ---- options ---- */

static void the_default_system(void **state)
{
    (void)state;
    expect_with("{\"query\": \"u\", \"response\": \"a\"}", "default_system: s", S("s") U("u") A("a"));
    expect_with("{\"query\": \"u\", \"response\": \"a\", \"system\": \"own\"}", "default_system: s", S("own") U("u") A("a"));
    expect_with("{\"query\": \"u\", \"response\": \"a\", \"system\": \"\"}", "default_system: s", S("s") U("u") A("a"));
    expect_with("{\"messages\": [" M("system", "own") ", " M("user", "u") ", " M("assistant", "a") "], \"system\": \"x\"}", "default_system: s",
                S("own") U("u") A("a"));
    expect_with("{\"prompt\": \"x\", \"completion\": \"y\"}", "default_system: s", "x[y</s>]");
    expect_with("{\"prompt\": [" M("user", "u") "], \"completion\": \"y\"}", "default_system: s", S("s") U("u") A("y"));
}

static void thinking_on_and_off(void **state)
{
#define PLAIN_ROW "{\"query\": \"u\", \"response\": \"a\"}"
#define OWN_ROW(value) "{\"query\": \"u\", \"response\": \"a\", \"chat_template_kwargs\": {\"enable_thinking\": " value "}}"
    static const char on[] = U("u") "<|im_start|>assistant\n[<think>\n\n</think>\n\na<|im_end|>]\n",
                      off[] = U("u") "<|im_start|>assistant\n<think>\n\n</think>\n\n[a<|im_end|>]\n";

    (void)state;
    template_used = THINKING;
    expect(PLAIN_ROW, on);
    expect_with(PLAIN_ROW, "enable_thinking: true", on);
    expect_with(PLAIN_ROW, "enable_thinking: null", on);
    expect_with(PLAIN_ROW, "enable_thinking: false", off);      /* what the prompt supplies is not learned */
    expect_with(OWN_ROW("true"), "enable_thinking: false", on);
    expect_with(OWN_ROW("false"), "", off);
    refuse("{\"query\": \"u\", \"response\": \"a\", \"chat_template_kwargs\": {\"messages\": []}}", HONE_E_DATA, "\"messages\" cannot be");
    refuse("{\"query\": \"u\", \"response\": \"a\", \"chat_template_kwargs\": 5}", HONE_E_FORMAT, "must be an object");
#undef PLAIN_ROW
#undef OWN_ROW
}

/* Unless the variable is set, not even a template that asks whether it is there sees one. */
static void variables_reach_the_template(void **state)
{
    static const char source[] = "{{ enable_thinking is defined }} {{ preserve_thinking is defined }} {{ clear_thinking is defined }}\n"
                                 "{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}";
    hone_chat *usual = chats[CHATML];

    (void)state;
    T_OK(hone_chat_create(&chats[CHATML], source, strlen(source), "variables", tok));
    expect("{\"query\": \"u\", \"response\": \"a\"}", "False False False\nu<|im_end|>[a<|im_end|>]");
    expect_with("{\"query\": \"u\", \"response\": \"a\"}", "enable_thinking: true\npreserve_thinking: true",
                "True True True\nu<|im_end|>[a<|im_end|>]");
    hone_chat_destroy(&chats[CHATML]);
    chats[CHATML] = usual;
}

static void reasoning_of_earlier_answers(void **state)
{
    static const char row[] = "{\"messages\": [" M("user", "u") ", " M("assistant", "<think>early thought</think>a") ", " M("user", "v") ", " M("assistant", "b") "]}";

    (void)state;
    template_used = THINKING;
    expect(row, U("u") A("a") U("v") "<|im_start|>assistant\n[<think>\n\n</think>\n\nb<|im_end|>]\n");
    refuse_with(row, "preserve_thinking: true", HONE_E_DATA, "preserve_thinking is set, but the chat template leaves out");
    /* A chain of calls after the last question keeps it; the reasoning may go by another name. */
    expect("{\"messages\": [" M("user", "u") ", {\"role\": \"assistant\", \"reasoning\": \"one\", \"content\": \"a\"}, " M("tool", "r")
           ", {\"role\": \"assistant\", \"thinking\": \"two\", \"content\": \"b\"}]}",
           U("u") A("<think>\none\n</think>\n\na") "<|im_start|>user\n<tool_response>\nr\n</tool_response><|im_end|>\n" A("<think>\ntwo\n</think>\n\nb"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(roles_of_ms_swift, start),
        cmocka_unit_test_setup(tool_calls_in_every_spelling, start),
        cmocka_unit_test_setup(calls_side_by_side, start),
        cmocka_unit_test_setup(arguments_as_text_and_as_object, start),
        cmocka_unit_test_setup(a_template_that_takes_arguments_as_text, start),
        cmocka_unit_test_setup(calls_that_cannot_be_read, start),
        cmocka_unit_test_setup(tools_of_a_row, start),
        cmocka_unit_test_setup(images_are_refused_by_name, start),
        cmocka_unit_test_setup(loss_and_loss_scale, start),
        cmocka_unit_test_setup(queries_under_any_name, start),
        cmocka_unit_test_setup(renamed_columns, start),
        cmocka_unit_test_setup(a_later_row_of_another_kind, start),
        cmocka_unit_test_setup(prompt_and_completion_as_texts, start),
        cmocka_unit_test_setup(prompt_and_completion_as_messages, start),
        cmocka_unit_test_setup(marks_without_a_message, start),
        cmocka_unit_test_setup(pairs_in_every_spelling, start),
        cmocka_unit_test_setup(a_rejected_trajectory, start),
        cmocka_unit_test_setup(pairs_that_are_none, start),
        cmocka_unit_test_setup(prompts_of_a_pair_are_the_same, start),
        cmocka_unit_test_setup(feedback, start),
        cmocka_unit_test_setup(described_rows, start),
        cmocka_unit_test_setup(documents, start),
        cmocka_unit_test_setup(ids_as_given, start),
        cmocka_unit_test_setup(padding_is_no_id, start),
        cmocka_unit_test_setup(the_default_system, start),
        cmocka_unit_test_setup(thinking_on_and_off, start),
        cmocka_unit_test_setup(variables_reach_the_template, start),
        cmocka_unit_test_setup(reasoning_of_earlier_answers, start),
    };

    return cmocka_run_group_tests(tests, open_all, close_all);
}
