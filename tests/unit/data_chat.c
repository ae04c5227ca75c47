/* Rows of conversations and of text, through a tokenizer and chat templates: what is trained on, for each format and option. */
#include <stdio.h>

#include "base/file.h"
#include "base/mem.h"
#include "data_fixture.h"
#include "hone_test.h"

#define A "dataset: '@/a.jsonl'\n"
#define TOKENIZER TEST_DATA "/data/template/tokenizer"

static hone_tokenizer *tok;

static int load_tokenizer(void **state)
{
    (void)state;
    return hone_tokenizer_load(&tok, TOKENIZER) != HONE_OK;
}

static int free_tokenizer(void **state)
{
    (void)state;
    hone_tokenizer_destroy(&tok);
    return 0;
}

static hone_chat *chat_of(const char *name)
{
    char      *path = hone_path_join(TEST_DATA "/data/template", name), *source;
    size_t     n;
    hone_chat *c;

    T_OK(hone_file_read_all(&source, &n, path));
    T_OK(hone_chat_create(&c, source, n, name, tok));
    hone_free(source);
    hone_free(path);
    return c;
}

static void open_data(t_data *d, const char *template_name)
{
    t_data_open(d);
    d->context.tokenizer = tok;
    d->context.chat = template_name ? chat_of(template_name) : NULL;
}

static void close_data(t_data *d)
{
    hone_chat *chat = (hone_chat *)d->context.chat;

    hone_chat_destroy(&chat);
    t_data_close(d);
}

/* The text of a sample, what has a loss in [brackets]. */
static char *marked(const hone_dataset *d, int64_t i)
{
    hone_str    out = HONE_STR_INIT;
    hone_sample s = hone_dataset_at(d, i);

    for (int64_t t = 0; t < s.n; t++) {
        bool on = s.labels[t] >= 0, before = t && s.labels[t - 1] >= 0, after = t + 1 < s.n && s.labels[t + 1] >= 0;

        assert_true(s.labels[t] == -100 || s.labels[t] == s.ids[t]);
        if (on && !before)
            hone_str_putc(&out, '[');
        T_OK(hone_tokenizer_token_bytes(tok, &out, s.ids[t]));
        if (on && !after)
            hone_str_putc(&out, ']');
    }
    return hone_str_take(&out);
}

static void expect(const hone_dataset *d, int64_t i, const char *want)
{
    char *got = marked(d, i);

    assert_string_equal(got, want);
    hone_free(got);
}

/* One row, one sample. */
static void expect_row(t_data *d, const char *row, const char *yaml, const char *want)
{
    t_data_write(d, "a.jsonl", row, 0);
    T_OK(t_data_load(d, yaml));
    assert_int_equal(hone_dataset_len(d->train), 1);
    expect(d->train, 0, want);
}

/* ---- masks of messages ---- */

#define THREE_TURNS                                                                                                     \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"u1\"}, {\"role\": \"assistant\", \"content\": \"a1\"},"        \
    " {\"role\": \"user\", \"content\": \"u2\"}, {\"role\": \"assistant\", \"content\": \"a2\"},"                       \
    " {\"role\": \"user\", \"content\": \"u3\"}, {\"role\": \"assistant\", \"content\": \"a3\"}]}\n"

static void every_answer_with_its_terminator(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, "chatml.jinja");
    expect_row(&d, THREE_TURNS, A,
               "<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\n[a1<|im_end|>]\n"
               "<|im_start|>user\nu2<|im_end|>\n<|im_start|>assistant\n[a2<|im_end|>]\n"
               "<|im_start|>user\nu3<|im_end|>\n<|im_start|>assistant\n[a3<|im_end|>]\n");
    close_data(&d);
    open_data(&d, "chatml_marked.jinja");       /* {% generation %} blocks: exactly those */
    expect_row(&d, THREE_TURNS, A,
               "<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\n[a1<|im_end|>]\n"
               "<|im_start|>user\nu2<|im_end|>\n<|im_start|>assistant\n[a2<|im_end|>]\n"
               "<|im_start|>user\nu3<|im_end|>\n<|im_start|>assistant\n[a3<|im_end|>]\n");
    close_data(&d);
    open_data(&d, "headers.jinja");
    expect_row(&d, "{\"messages\": [{\"role\": \"system\", \"content\": \"S\"}, {\"role\": \"user\", \"content\": \"u1\"},"
               " {\"role\": \"assistant\", \"content\": \"a1\"}, {\"role\": \"user\", \"content\": \"u2\"},"
               " {\"role\": \"assistant\", \"content\": \"a2\"}]}\n", A,
               "<s><|start_header_id|>system<|end_header_id|>\n\nToday: 26 Jul 2024\n\nS<|eot_id|>"
               "<|start_header_id|>user<|end_header_id|>\n\nu1<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n[a1<|eot_id|>]"
               "<|start_header_id|>user<|end_header_id|>\n\nu2<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n[a2<|eot_id|>]");
    close_data(&d);
}

static void options_choose_what_is_trained(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, "chatml.jinja");
    expect_row(&d, THREE_TURNS, A "mask_history: true\n",
               "<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\na1<|im_end|>\n"
               "<|im_start|>user\nu2<|im_end|>\n<|im_start|>assistant\na2<|im_end|>\n"
               "<|im_start|>user\nu3<|im_end|>\n<|im_start|>assistant\n[a3<|im_end|>]\n");
    expect_row(&d, THREE_TURNS, A "train_on_prompt: true\n",
               "[<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\na1<|im_end|>\n"
               "<|im_start|>user\nu2<|im_end|>\n<|im_start|>assistant\na2<|im_end|>\n"
               "<|im_start|>user\nu3<|im_end|>\n<|im_start|>assistant\na3<|im_end|>\n]");
    close_data(&d);
}

#define SWITCHED(first, second)                                                                                         \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"u1\"}, {\"role\": \"assistant\", \"content\": \"a1\"" first "}," \
    " {\"role\": \"user\", \"content\": \"u2\", \"loss\": false}, {\"role\": \"assistant\", \"content\": \"a2\"" second "}]}\n"
#define SWITCHED_TEXT(begin, first, middle, second, end)                                                                \
    begin "<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\n" first "\n<|im_start|>user\nu2<|im_end|>\n"          \
    "<|im_start|>assistant\n" second "\n" end

static void messages_switch_their_loss(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, "chatml.jinja");
    expect_row(&d, SWITCHED(", \"loss\": false", ""), A, SWITCHED_TEXT("", "a1<|im_end|>", "", "[a2<|im_end|>]", ""));
    expect_row(&d, SWITCHED("", ", \"loss\": false"), A, SWITCHED_TEXT("", "[a1<|im_end|>]", "", "a2<|im_end|>", ""));
    expect_row(&d, SWITCHED(", \"loss\": true", ", \"loss\": null"), A "mask_history: true\n",
               SWITCHED_TEXT("", "[a1<|im_end|>]", "", "[a2<|im_end|>]", ""));
    expect_row(&d, SWITCHED(", \"loss\": false", ""), A "train_on_prompt: true\n",
               SWITCHED_TEXT("[", "]a1<|im_end|>[", "", "a2<|im_end|>", "]"));
    t_data_write(&d, "a.jsonl", SWITCHED(", \"loss\": false", ", \"loss\": false"), 0);
    T_STATUS(t_data_load(&d, A), HONE_E_DATA);
    T_ERROR_HAS("of 1 rows 1 have no token with a loss");
    t_data_write(&d, "a.jsonl", SWITCHED(", \"loss\": 0", ""), 0);
    T_STATUS(t_data_load(&d, A), HONE_E_FORMAT);
    T_ERROR_HAS("a.jsonl: line 1: \"loss\" of message 1 must be true or false");
    t_data_write(&d, "a.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"u\", \"loss\": true}]}\n", 0);
    T_STATUS(t_data_load(&d, A), HONE_E_DATA);
    T_ERROR_HAS("only what the assistant says can have one");
    close_data(&d);
}

#define TOOL_CHAT(arguments, loss)                                                                                      \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"look\","        \
    " \"tool_calls\": [{\"type\": \"function\", \"function\": {\"name\": \"f\", \"arguments\": " arguments "}}]" loss "}," \
    " {\"role\": \"tool\", \"content\": \"r\"}, {\"role\": \"assistant\", \"content\": \"done\"}]"

static void tool_calls_are_trained(void **state)
{
    static const char text[] = "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n[look\n<tool_call>\n"
                               "{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call><|im_end|>]\n"
                               "<|im_start|>user\n<tool_response>\nr\n</tool_response><|im_end|>\n"
                               "<|im_start|>assistant\n[<think>\n\n</think>\n\ndone<|im_end|>]\n";
    t_data d;
    char  *one, *two;

    (void)state;
    open_data(&d, "thinking.jinja");
    expect_row(&d, TOOL_CHAT("{\"x\": 1}", "") ", \"tools\": null}\n", A, text);
    expect_row(&d, TOOL_CHAT("\"{\\\"x\\\": 1}\"", "") "}\n", A, text);     /* as string */
    expect_row(&d, TOOL_CHAT("{\"x\": 1}", ", \"loss\": false") "}\n", A,
               "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\nlook\n<tool_call>\n"
               "{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call><|im_end|>\n"
               "<|im_start|>user\n<tool_response>\nr\n</tool_response><|im_end|>\n"
               "<|im_start|>assistant\n[<think>\n\n</think>\n\ndone<|im_end|>]\n");
    /* Tools as an array and as its text are the same row. */
    t_data_write(&d, "a.jsonl", TOOL_CHAT("{}", "") ", \"tools\": [{\"type\": \"function\", \"function\": {\"name\": \"f\"}}]}\n"
                 TOOL_CHAT("{}", "") ", \"tools\": \"[{\\\"type\\\": \\\"function\\\", \\\"function\\\": {\\\"name\\\": \\\"f\\\"}}]\"}\n", 0);
    T_OK(t_data_load(&d, A));
    one = marked(d.train, 0);
    two = marked(d.train, 1);
    assert_string_equal(one, two);
    assert_non_null(strstr(one, "# Tools"));
    hone_free(one);
    hone_free(two);
    close_data(&d);
}

/* Reasoning of earlier turns leaves the prompt, as it does when the model is used; that of the last answer is trained. */
static void reasoning_follows_the_template(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, "thinking.jinja");
    expect_row(&d, "{\"messages\": [{\"role\": \"user\", \"content\": \"u1\"},"
               " {\"role\": \"assistant\", \"content\": \"<think>\\nt1\\n</think>\\n\\na1\"}, {\"role\": \"user\", \"content\": \"u2\"},"
               " {\"role\": \"assistant\", \"content\": \"<think>\\nt2\\n</think>\\n\\na2\"}]}\n", A,
               "<|im_start|>user\nu1<|im_end|>\n<|im_start|>assistant\n[a1<|im_end|>]\n<|im_start|>user\nu2<|im_end|>\n"
               "<|im_start|>assistant\n[<think>\nt2\n</think>\n\na2<|im_end|>]\n");
    assert_int_equal(hone_dataset_get_report(d.train)->reasoning_removed, 1);
    expect_row(&d, "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"},"
               " {\"role\": \"assistant\", \"reasoning_content\": \" t \", \"content\": \"a\"}]}\n", A,
               "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n[<think>\n t \n</think>\n\na<|im_end|>]\n");
    assert_int_equal(hone_dataset_get_report(d.train)->reasoning_removed, 0);
    /* With thinking off the generation prompt supplies the empty marks: no loss on them. */
    expect_row(&d, "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"}],"
               " \"chat_template_kwargs\": {\"enable_thinking\": false}}\n", A,
               "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n[a<|im_end|>]\n");
    close_data(&d);
}

/* ---- rows that do not fit ---- */

static void content_of_parts(void **state)
{
    static const char *const bad[] = { "\"role\": \"user\"", "\"role\": \"user\", \"content\": null",
                                       "\"role\": \"user\", \"content\": [{\"type\": \"image\"}]" };
    static const char *const why[] = { "message 0, of \"user\", has no \"content\"", "message 0, of \"user\", has no \"content\"",
                                       "part 0 of the content of message 0 is of type \"image\"" };
    t_data d;
    char   text[256];

    (void)state;
    open_data(&d, "chatml_marked.jinja");
    for (size_t i = 0; i < HONE_COUNTOF(bad); i++) {
        snprintf(text, sizeof text, "{\"messages\": [{%s}, {\"role\": \"assistant\", \"content\": \"a\"}]}\n", bad[i]);
        t_data_write(&d, "a.jsonl", text, 0);
        T_STATUS(t_data_load(&d, A), HONE_E_DATA);
        T_ERROR_HAS(why[i]);
    }
    t_data_write(&d, "a.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"u\"}]},"
                 " {\"role\": \"assistant\", \"content\": \"a\"}]}\n"
                 "{\"messages\": [{\"role\": \"user\", \"content\": \"[{'type': 'text'\"}, {\"role\": \"assistant\", \"content\": \"a\"}]}\n", 0);
    T_OK(t_data_load(&d, A));
    assert_int_equal(hone_dataset_get_report(d.train)->lists_printed, 1);
    close_data(&d);
}

/* The header of an answer is not what the model is asked with: the log warns. */
static void prompts_that_differ_are_counted(void **state)
{
    static const char source[] = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
                                 "{% if add_generation_prompt %}<|im_start|>assistant\n{% if messages|length > 3 %}<think>\n{% endif %}{% endif %}";
    hone_chat *chat;
    t_data     d;

    (void)state;
    open_data(&d, NULL);
    T_OK(hone_chat_create(&chat, source, strlen(source), "opening", tok));
    d.context.chat = chat;
    t_data_write(&d, "a.jsonl", THREE_TURNS "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"},"
                 " {\"role\": \"assistant\", \"content\": \"a\"}]}\n", 0);
    T_OK(t_data_load(&d, A));
    assert_int_equal(hone_dataset_get_report(d.train)->prompts_differ, 1);
    close_data(&d);
}

static void rows_differ_in_their_keys(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, "chatml.jinja");
    t_data_write(&d, "a.jsonl",
                 "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"}]}\n"
                 "{\"id\": \"x\", \"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"b\"}]}\n"
                 TOOL_CHAT("{\"x\": 1}", "") "}\n" TOOL_CHAT("\"{}\"", "") "}\n"
                 "{\"tools\": null, \"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"}]}\n", 0);
    T_OK(t_data_load(&d, A));
    assert_int_equal(hone_dataset_len(d.train), 5);
    close_data(&d);
}

static void rows_that_cannot_be_rendered(void **state)
{
    static const char *const good = "{\"messages\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"}]";
    hone_str rows = HONE_STR_INIT;
    t_data   d;

    (void)state;
    open_data(&d, "headers.jinja");
    for (int i = 1; i <= 10; i++) {
        if (i == 7)         /* refused by the template */
            hone_str_puts(&rows, "{\"messages\": [{\"role\": \"assistant\", \"tool_calls\": [1, 2]}]}\n");
        else
            hone_str_printf(&rows, "%s%s}\n", good, i == 8 ? ", \"tools\": \" \"" : "");
    }
    hone_str_puts(&rows, "{\"messages\": []}\n{\"messages\": null}\n");
    t_data_write(&d, "a.jsonl", hone_str_c(&rows), 0);
    hone_str_deinit(&rows);
    T_STATUS(t_data_load(&d, A), HONE_E_DATA);
    T_ERROR_HAS("4 rows cannot be used");
    T_ERROR_HAS("a.jsonl, line 7: ");
    T_ERROR_HAS("This model makes one call at a time");
    T_ERROR_HAS("a.jsonl, line 8: \"tools\" is a string that is not JSON");
    T_ERROR_HAS("a.jsonl, line 11: the conversation has no message");
    T_ERROR_HAS("a.jsonl, line 12: the row has no \"messages\"");
    T_OK(t_data_load(&d, A "bad_rows: drop\n"));
    assert_int_equal(hone_dataset_len(d.train), 8);
    assert_int_equal(hone_dataset_get_report(d.train)->fates[HONE_ROW_BAD], 4);
    close_data(&d);
}

/* An array of rows may stand on one line: then the row is named, too. */
static void rows_that_share_a_line(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, "headers.jinja");
    t_data_write(&d, "a.jsonl", "[{\"messages\": []}, {\"messages\": null},\n{\"messages\": []}, {\"messages\": 5}]", 0);
    T_STATUS(t_data_load(&d, A), HONE_E_FORMAT);
    T_ERROR_HAS("a.jsonl: line 2, row 3: ");
    t_data_write(&d, "a.jsonl", "[{\"messages\": []}, {\"messages\": null},\n{\"messages\": []}]", 0);
    T_STATUS(t_data_load(&d, A), HONE_E_DATA);
    T_ERROR_HAS("a.jsonl, line 1: ");
    T_ERROR_HAS("a.jsonl, line 1, row 1: ");
    T_ERROR_HAS("a.jsonl, line 2, row 2: ");
    close_data(&d);
}

typedef struct wrong { const char *row, *reason; } wrong;

static void wrong_types_are_fatal(void **state)
{
    static const wrong rows[] = {
        { "{\"messages\": \"x\"}", "\"messages\" must be an array of messages, not string" },
        { "{\"messages\": [\"x\"]}", "message 0 must be an object, not string" },
        { "{\"messages\": [{\"content\": \"x\"}]}", "message 0 has no \"role\"" },
        { "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"tools\": 5}", "\"tools\" must be an array of tools" },
        { "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"chat_template_kwargs\": []}", "\"chat_template_kwargs\" must be an object" },
        { "{\"instruction\": 5, \"output\": \"x\"}", "\"instruction\" must be a string, not integer" },
        { "{\"instruction\": \"i\", \"output\": \"x\", \"history\": [[\"a\"]]}", "entry 0 of the history is no pair" },
        { "{\"conversations\": [{\"from\": 5, \"value\": \"x\"}]}", "message 0 has no \"from\" that is a string" },
        { "{\"conversations\": [{\"from\": \"human\", \"value\": 5}]}", "\"value\" of message 0 must be a text or a list of parts, not integer" },
    };
    t_data d;
    char   text[256];

    (void)state;
    open_data(&d, "chatml.jinja");
    for (size_t i = 0; i < HONE_COUNTOF(rows); i++) {
        snprintf(text, sizeof text, "\n%s\n", rows[i].row);
        t_data_write(&d, "a.jsonl", text, 0);
        T_STATUS(t_data_load(&d, A "bad_rows: drop\n"), HONE_E_FORMAT);
        T_ERROR_HAS("a.jsonl: line 2:");
        T_ERROR_HAS(rows[i].reason);
    }
    close_data(&d);
}

static void a_template_is_needed(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, NULL);
    t_data_write(&d, "a.jsonl", THREE_TURNS, 0);
    T_STATUS(t_data_load(&d, A), HONE_E_DATA);
    T_ERROR_HAS("chat_template.jinja");
    close_data(&d);
}

/* ---- other formats ---- */

static void alpaca_rows(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, "chatml.jinja");
    expect_row(&d, "{\"instruction\": \"do\", \"input\": \"this\", \"output\": \"ok\"}\n", A,
               "<|im_start|>user\ndo\nthis<|im_end|>\n<|im_start|>assistant\n[ok<|im_end|>]\n");
    expect_row(&d, "{\"instruction\": \"do\", \"input\": \"\", \"output\": \"\"}\n", A,     /* an empty answer is its terminator */
               "<|im_start|>user\ndo<|im_end|>\n<|im_start|>assistant\n[<|im_end|>]\n");
    expect_row(&d, "{\"instruction\": \"\", \"input\": \"q\", \"output\": \"ok\", \"system\": \"S\", \"history\": [[\"h\", \"i\"]]}\n", A,
               "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nh<|im_end|>\n<|im_start|>assistant\n[i<|im_end|>]\n"
               "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n[ok<|im_end|>]\n");
    expect_row(&d, "{\"instruction\": \"q\", \"output\": \"ok\", \"history\": [[\"h\", \"i\"]]}\n", A "mask_history: true\n",
               "<|im_start|>user\nh<|im_end|>\n<|im_start|>assistant\ni<|im_end|>\n"
               "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n[ok<|im_end|>]\n");
    t_data_write(&d, "a.jsonl", "{\"instruction\": \"q\", \"output\": null}\n", 0);
    T_STATUS(t_data_load(&d, A), HONE_E_DATA);
    T_ERROR_HAS("a.jsonl, line 1: the row has no \"output\"");
    close_data(&d);
}

#define INFO "dataset: mine\ndataset_dir: '@'\n"

static void columns_and_tags(void **state)
{
    static const char pair[] = "<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n[a<|im_end|>]\n";
    t_data d;

    (void)state;
    open_data(&d, "chatml.jinja");
    t_data_write(&d, "dataset_info.json", "{\"mine\": {\"file_name\": \"a.jsonl\", \"columns\": {\"prompt\": \"q\", \"response\": \"r\","
                 " \"system\": \"s\"}}}", 0);
    expect_row(&d, "{\"q\": \"u\", \"r\": \"a\", \"s\": \"S\", \"history\": [[\"x\", \"y\"]]}\n", INFO,
               "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n[a<|im_end|>]\n");
    t_data_write(&d, "dataset_info.json", "{\"mine\": {\"file_name\": \"a.jsonl\"}}", 0);    /* system is not mapped then */
    expect_row(&d, "{\"instruction\": \"u\", \"output\": \"a\", \"system\": \"S\"}\n", INFO, pair);
    t_data_write(&d, "dataset_info.json", "{\"mine\": {\"file_name\": \"a.jsonl\", \"columns\": {\"prompt\": \"q\"}}}", 0);
    T_STATUS(t_data_load(&d, INFO), HONE_E_FORMAT);
    T_ERROR_HAS("\"response\"");
    t_data_write(&d, "dataset_info.json", "{\"mine\": {\"file_name\": \"a.jsonl\", \"formatting\": \"sharegpt\"}}", 0);
    expect_row(&d, "{\"conversations\": [{\"from\": \"human\", \"value\": \"u\"}, {\"from\": \"gpt\", \"value\": \"a\"}]}\n", INFO, pair);
    expect_row(&d, "{\"conversations\": [{\"from\": \"system\", \"value\": \"S\"}, {\"from\": \"human\", \"value\": \"u\"},"
               " {\"from\": \"gpt\", \"value\": \"a\"}]}\n", INFO,
               "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nu<|im_end|>\n<|im_start|>assistant\n[a<|im_end|>]\n");
    t_data_write(&d, "a.jsonl", "{\"conversations\": [{\"from\": \"bot\", \"value\": \"u\"}]}\n", 0);
    T_STATUS(t_data_load(&d, INFO), HONE_E_DATA);
    T_ERROR_HAS("a.jsonl, line 1: message 0 is of \"bot\"");
    T_ERROR_HAS("human, gpt, system, observation, function_call; set \"tags\"");
    t_data_write(&d, "a.jsonl", "{\"conversations\": [{\"from\": \"user\", \"value\": \"u\"}]}\n", 0);
    T_STATUS(t_data_load(&d, INFO), HONE_E_DATA);     /* what dataset_info.json describes has the roles that it says */
    expect_row(&d, "{\"conversations\": [{\"from\": \"user\", \"value\": \"u\"}, {\"from\": \"assistant\", \"value\": \"a\"}]}\n", A, pair);
    t_data_write(&d, "dataset_info.json", "{\"mine\": {\"file_name\": \"a.jsonl\", \"formatting\": \"openai\", \"columns\": {\"messages\":"
                 " \"chat\"}, \"tags\": {\"role_tag\": \"role\", \"content_tag\": \"content\", \"user_tag\": \"user\","
                 " \"assistant_tag\": \"assistant\"}}}", 0);
    expect_row(&d, "{\"chat\": [{\"role\": \"user\", \"content\": \"u\"}, {\"role\": \"assistant\", \"content\": \"a\"}]}\n", INFO, pair);
    close_data(&d);
}

/* ---- text ---- */

static void documents_end_with_eos(void **state)
{
    t_data d;

    (void)state;
    open_data(&d, NULL);
    t_data_write(&d, "a.jsonl", "{\"text\": \"doc1\"}\n{\"text\": \"doc2\"}\n{\"text\": \"doc3\"}\n", 0);
    T_OK(t_data_load(&d, A "stage: pt\n"));
    assert_int_equal(hone_dataset_len(d.train), 1);
    expect(d.train, 0, "[doc1</s>doc2</s>doc3</s>]");
    T_OK(t_data_load(&d, A "stage: pt\npacking: false\n"));
    assert_int_equal(hone_dataset_len(d.train), 3);
    expect(d.train, 1, "[doc2</s>]");
    t_data_write(&d, "a.txt", "\xEF\xBB\xBF" "doc1\r\n\n  doc2\ndoc3", 0);
    T_OK(t_data_load(&d, "dataset: '@/a.txt'\nstage: pt\n"));
    expect(d.train, 0, "[doc1</s>  doc2</s>doc3</s>]");
    assert_int_equal(hone_dataset_get_report(d.train)->rows, 3);
    t_data_write(&d, "dataset_info.json", "{\"mine\": {\"file_name\": \"a.jsonl\", \"columns\": {\"prompt\": \"body\"}}}", 0);
    t_data_write(&d, "a.jsonl", "{\"body\": \"x\"}\n{\"body\": \"\"}\n", 0);     /* an empty document is its EOS */
    T_OK(t_data_load(&d, INFO "stage: pt\n"));
    expect(d.train, 0, "[x</s></s>]");
    t_data_write(&d, "a.jsonl", "{\"text\": \"x\"}\n{\"other\": \"\"}\n", 0);
    T_STATUS(t_data_load(&d, A "stage: pt\n"), HONE_E_DATA);
    T_ERROR_HAS("a.jsonl, line 2: the row has no \"text\"");
    close_data(&d);
}

/* The tokenizer with a post-processor that puts <s> first, in the data set's folder. */
static void write_adding_tokenizer(const t_data *d)
{
    json_t  *file;
    hone_str text = HONE_STR_INIT;

    T_OK(hone_json_read(&file, TOKENIZER "/tokenizer.json"));
    json_object_set_new(file, "post_processor", json_pack("{s:s, s:[{s:{s:s,s:i}},{s:{s:s,s:i}}], s:[], s:{s:{s:s,s:[i],s:[s]}}}",
                        "type", "TemplateProcessing", "single", "SpecialToken", "id", "<s>", "type_id", 0, "Sequence", "id", "A",
                        "type_id", 0, "pair", "special_tokens", "<s>", "id", "<s>", "ids", 420, "tokens", "<s>"));
    hone_json_dump(&text, file, false);
    json_decref(file);
    t_data_write(d, "tokenizer.json", text.data, text.len);
    hone_str_deinit(&text);
}

static void bos_only_if_the_tokenizer_adds_one(void **state)
{
    hone_tokenizer *adding;
    t_data          d;

    (void)state;
    t_data_open(&d);
    write_adding_tokenizer(&d);
    t_data_write(&d, "tokenizer_config.json", "{\"bos_token\": \"<s>\", \"eos_token\": \"</s>\"}", 0);
    T_OK(hone_tokenizer_load(&adding, d.dir));
    assert_true(hone_tokenizer_adds_bos(adding));
    d.context.tokenizer = adding;
    t_data_write(&d, "a.jsonl", "{\"text\": \"doc1\"}\n{\"text\": \"doc2\"}\n", 0);
    T_OK(t_data_load(&d, A "stage: pt\n"));
    expect(d.train, 0, "[<s>doc1</s><s>doc2</s>]");
    hone_tokenizer_destroy(&adding);
    t_data_write(&d, "tokenizer_config.json", "{\"bos_token\": \"<s>\"}", 0);
    T_OK(hone_tokenizer_load(&adding, d.dir));
    d.context.tokenizer = adding;
    T_STATUS(t_data_load(&d, A "stage: pt\n"), HONE_E_DATA);
    T_ERROR_HAS("eos_token");
    hone_tokenizer_destroy(&adding);
    t_data_close(&d);
}

static void threads_change_nothing(void **state)
{
    hone_str rows = HONE_STR_INIT;
    t_data   d;
    char     one[33], many[33];

    (void)state;
    open_data(&d, "thinking.jinja");
    for (int i = 0; i < 700; i++)
        hone_str_printf(&rows, "{\"messages\": [{\"role\": \"user\", \"content\": \"u%d\"}, {\"role\": \"assistant\", \"content\": \"%d\"}]}\n",
                        i, i * i);
    t_data_write(&d, "a.jsonl", hone_str_c(&rows), 0);
    hone_str_deinit(&rows);
    T_OK(t_data_load(&d, A "threads: 1\n"));
    hone_dataset_fingerprint(d.train, one);
    T_OK(t_data_load(&d, A "threads: 7\n"));
    hone_dataset_fingerprint(d.train, many);
    assert_string_equal(one, many);
    close_data(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_with_its_terminator),
        cmocka_unit_test(options_choose_what_is_trained),
        cmocka_unit_test(messages_switch_their_loss),
        cmocka_unit_test(tool_calls_are_trained),
        cmocka_unit_test(reasoning_follows_the_template),
        cmocka_unit_test(prompts_that_differ_are_counted),
        cmocka_unit_test(rows_differ_in_their_keys),
        cmocka_unit_test(content_of_parts),
        cmocka_unit_test(rows_that_cannot_be_rendered),
        cmocka_unit_test(rows_that_share_a_line), cmocka_unit_test(wrong_types_are_fatal),
        cmocka_unit_test(a_template_is_needed),
        cmocka_unit_test(alpaca_rows),
        cmocka_unit_test(columns_and_tags),
        cmocka_unit_test(documents_end_with_eos),
        cmocka_unit_test(bos_only_if_the_tokenizer_adds_one),
        cmocka_unit_test(threads_change_nothing),
    };

    return cmocka_run_group_tests(tests, load_tokenizer, free_tokenizer);
}
