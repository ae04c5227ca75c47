/* Loss masks where renders of a conversation's beginning are no beginnings of its render, and other corners; loading. */
#include <stdio.h>

#include "base/file.h"
#include "hone_test.h"
#include "text/chat.h"

static hone_tokenizer *tok;

static int load_tokenizer(void **state)
{
    (void)state;
    return hone_tokenizer_load(&tok, TEST_DATA "/data/template/tokenizer") != HONE_OK;
}

static int free_tokenizer(void **state)
{
    (void)state;
    hone_tokenizer_destroy(&tok);
    return 0;
}

static json_t *parse(const char *text)
{
    json_t *j;

    T_OK(hone_json_parse(&j, text, strlen(text), "test"));
    return j;
}

static hone_chat *chat_of(const char *source)
{
    hone_chat *c;

    T_OK(hone_chat_create(&c, source, strlen(source), "t", tok));
    return c;
}

static hone_chat *chat_of_file(const char *name)
{
    char      *path = hone_path_join(TEST_DATA "/data/template", name), *source;
    size_t     n;
    hone_chat *c;

    T_OK(hone_file_read_all(&source, &n, path));
    c = chat_of(source);
    hone_free(source);
    hone_free(path);
    return c;
}

/* The supervised text, as "[message:text]" for each run of tokens of one message. */
static char *supervised(const hone_chat_render *r)
{
    hone_str out = HONE_STR_INIT;

    for (size_t i = 0; i < r->tokens.len; i++) {
        if (!r->mask.data[i])
            continue;
        if (!i || !r->mask.data[i - 1] || r->message.data[i] != r->message.data[i - 1])
            hone_str_printf(&out, "[%d:", r->message.data[i]);
        hone_str_append(&out, hone_str_c(&r->text) + r->tokens.data[i].begin, r->tokens.data[i].end - r->tokens.data[i].begin);
        if (i + 1 == r->tokens.len || !r->mask.data[i + 1] || r->message.data[i] != r->message.data[i + 1])
            hone_str_putc(&out, ']');
    }
    return hone_str_take(&out);
}

/* Render and compare the supervised text; takes the chat over. */
static void expect(hone_chat *c, const char *messages, const char *kwargs, bool prompt, const char *want)
{
    json_t           *m = parse(messages), *k = kwargs ? parse(kwargs) : NULL;
    hone_chat_options options = { .template_kwargs = k, .generation_prompt = prompt };
    hone_chat_render  r = { 0 };
    char             *got;

    T_OK(hone_chat_render_messages(c, &r, m, &options));
    got = supervised(&r);
    assert_string_equal(got ? got : "", want);
    hone_free(got);
    hone_chat_render_deinit(&r);
    hone_chat_destroy(&c);
    json_decref(m);
    json_decref(k);
}

#define U(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define A(text) "{\"role\":\"assistant\",\"content\":\"" text "\"}"
#define S(text) "{\"role\":\"system\",\"content\":\"" text "\"}"

static void every_turn_has_its_terminator(void **state)
{
    static const char turns[] = "[" U("one") "," A("Eins") "," U("two") "," A("Zwei") "," U("three") "," A("Drei") "]";

    (void)state;
    expect(chat_of_file("chatml.jinja"), turns, NULL, false, "[1:Eins<|im_end|>][3:Zwei<|im_end|>][5:Drei<|im_end|>]");
    expect(chat_of_file("headers.jinja"), turns, NULL, false, "[1:Eins<|eot_id|>][3:Zwei<|eot_id|>][5:Drei<|eot_id|>]");
    expect(chat_of_file("brackets.jinja"), turns, NULL, false, "[1: Eins</s>][3: Zwei</s>][5: Drei</s>]");
    expect(chat_of_file("chatml_marked.jinja"), turns, NULL, false, "[1:Eins<|im_end|>][3:Zwei<|im_end|>][5:Drei<|im_end|>]");
    expect(chat_of_file("chatml.jinja"), turns, NULL, true, "[1:Eins<|im_end|>][3:Zwei<|im_end|>][5:Drei<|im_end|>]");
}

static void nothing_to_supervise(void **state)
{
    (void)state;
    expect(chat_of_file("chatml.jinja"), "[" S("only") "]", NULL, false, "");
    expect(chat_of_file("chatml.jinja"), "[" S("a") "," U("assistant") "]", NULL, true, "");
    expect(chat_of_file("chatml.jinja"), "[" U("a") "," A("") "]", NULL, false, "[1:<|im_end|>]");
    expect(chat_of_file("chatml.jinja"), "[" A("first") "]", NULL, false, "[0:first<|im_end|>]");
}

/* History without its reasoning: the render of the beginning is not a beginning of the render. */
static void history_that_changes(void **state)
{
    static const char turns[] = "[" U("a") "," A("<think>\\nhm\\n</think>\\n\\nBee") "," U("c") ","
                                A("<think>\\nso\\n</think>\\n\\nDee") "]";
    static const char plain[] = "[" U("a") "," A("Bee") "," U("c") "," A("Dee") "]";

    (void)state;
    expect(chat_of_file("thinking.jinja"), turns, NULL, false,
           "[1:Bee<|im_end|>][3:<think>\nso\n</think>\n\nDee<|im_end|>]");
    /* what the prompt supplies, the empty reasoning, carries no loss; a turn without it starts after the role */
    expect(chat_of_file("thinking.jinja"), plain, "{\"enable_thinking\": false}", false, "[1:Bee<|im_end|>][3:Dee<|im_end|>]");
    expect(chat_of_file("thinking.jinja"), plain, NULL, false,
           "[1:Bee<|im_end|>][3:<think>\n\n</think>\n\nDee<|im_end|>]");
    /* content that begins like the prompt's reasoning, but is not it */
    expect(chat_of_file("thinking.jinja"), "[" U("a") "," A("<th Bee") "," U("c") "]", "{\"enable_thinking\": false}", false,
           "[1:<th Bee<|im_end|>]");
}

static void tool_calls(void **state)
{
#define CALL(arguments) "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":" arguments "}}"
    static const char chain[] =
        "[" U("a") ",{\"role\":\"assistant\",\"content\":\"let me look\",\"tool_calls\":[" CALL("{\"x\":1}") "," CALL("\"{}\"") "]},"
        "{\"role\":\"tool\",\"content\":\"r\"}," A("Done") "]";

    (void)state;
    expect(chat_of_file("thinking.jinja"), chain, NULL, false,
           "[1:let me look\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 1}}\n</tool_call>\n"
           "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call><|im_end|>]"
           "[3:<think>\n\n</think>\n\nDone<|im_end|>]");
    expect(chat_of_file("headers.jinja"),
           "[" U("a") ",{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[" CALL("{\"x\":\"y\"}") "]}]", NULL, false,
           "[1:{\"name\": \"f\", \"parameters\": {\"x\": \"y\"}}<|eot_id|>]");
}

/* Templates that do not loop over the messages themselves, print elsewhere, or have no terminator. */
static void other_shapes(void **state)
{
    static const char turns[] = "[" U("one") "," A("Eins") "," U("two") "," A("Zwei") "]";

    (void)state;
    expect(chat_of("{% for i in range(messages|length) %}{% set m = messages[i] %}{{ '<|im_start|>' ~ m.role ~ '\n' ~ m.content "
                   "~ '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"),
           turns, NULL, false, "[1:Eins<|im_end|>][3:Zwei<|im_end|>]");
    expect(chat_of("{% macro all(ms) %}{% for m in ms %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
                   "{% endmacro %}{{ all(messages) }}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"),
           turns, NULL, false, "[1:Eins<|im_end|>][3:Zwei<|im_end|>]");
    /* no terminator: up to the last byte emitted for the message */
    expect(chat_of("{% for m in messages %}{{ m.role }}: {{ m.content }};\n{% endfor %}{% if add_generation_prompt %}assistant: "
                   "{% endif %}"), turns, NULL, false, "[1:Eins;\n][3:Zwei;\n]");
    /* the end-of-text token after the loop closes the last message */
    expect(chat_of("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ eos_token }}"
                   "{% if add_generation_prompt %}assistant: {% endif %}"), "[" U("a") "," A("Bee") "]", NULL, false,
           "[1:Bee\n</s>]");
    /* a template that refuses conversations that end with an assistant, or none: the header is learnt elsewhere */
    expect(chat_of("{% if messages|length % 2 == 1 and messages|length < 3 %}{{ raise_exception('odd') }}{% endif %}"
                   "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
                   "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"), turns, NULL, false,
           "[1:Eins<|im_end|>][3:Zwei<|im_end|>]");
    /* results of tools written on the assistant's turn are not its own */
    expect(chat_of("{% for m in messages if m.role != 'tool' %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for k in range(loop.index, "
                   "messages|length) %}{% if messages[k].role == 'tool' %}({{ messages[k].content }}){% endif %}{% endfor %}\n"
                   "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"),
           "[" U("one") "," A("Eins") ",{\"role\":\"tool\",\"content\":\"Drei\"}]", NULL, false, "[1:Eins]");
    /* the same words in several messages are no trouble */
    expect(chat_of_file("chatml.jinja"), "[" U("Eins<|im_end|>") "," A("Eins") "," A("Eins") "]", NULL, false,
           "[1:Eins<|im_end|>][2:Eins<|im_end|>]");
}

/* Turns that end with more than one mark, and marks that do not end a turn. */
static void ends_of_turns(void **state)
{
#define TURNS(tail) "{% for m in messages if m.role != 'tool' %}<|im_start|>{{ m.role }}\n{{ m.content }}" tail                 \
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    static const char turns[] = "[" U("one") "," A("Eins") "," U("two") "," A("Zwei") "]";
    static const char result[] = "[" U("one") "," A("Eins") ",{\"role\":\"tool\",\"content\":\"Drei\"}," A("Vier") "]";

    (void)state;
    expect(chat_of(TURNS("<|eot_id|><|im_end|>\n")), turns, NULL, false, "[1:Eins<|eot_id|><|im_end|>][3:Zwei<|eot_id|><|im_end|>]");
    expect(chat_of(TURNS("<|eot_id|>)</tool_call>\n<|im_end|>\n")), turns, NULL, false,
           "[1:Eins<|eot_id|>)</tool_call>\n<|im_end|>][3:Zwei<|eot_id|>)</tool_call>\n<|im_end|>]");
    expect(chat_of(TURNS("<|eot_id|>)</tool_call>")), turns, NULL, false,
           "[1:Eins<|eot_id|>)</tool_call>][3:Zwei<|eot_id|>)</tool_call>]");
    /* marks that open a tool's result on the assistant's turn are the tool's */
    expect(chat_of(TURNS("<|eot_id|>)</tool_call>{% for t in messages[loop.index:] if t.role == 'tool' and loop.index0 == 1 %}"
                         "<|start_header_id|>({{ t.content }})<|end_header_id|>{% endfor %}")),
           result, NULL, false, "[1:Eins<|eot_id|>)</tool_call>][3:Vier<|eot_id|>)</tool_call>]");
#undef TURNS
}

/* Content that a template writes behind the results of tools, on the assistant's turn, and what closes a turn in two tokens. */
static void turns_in_pieces(void **state)
{
    static const char results[] = "{% for m in messages %}{% if m.role == 'tool' %}{% continue %}{% endif %}<|im_start|>{{ m.role }}\n"
        "{% for c in m.tool_calls or [] %}<tool_call>{{ c.function.name }}</tool_call>{% endfor %}"
        "{% for k in range(loop.index, messages|length) if m.tool_calls and messages[k].role == 'tool' %}"
        "({{ m.tool_calls[0].function.name }}: {{ messages[k].content }}){% endfor %}{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
    static const char turns[] = "[" U("go") ",{\"role\":\"assistant\",\"content\":\"so\",\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]},"
        "{\"role\":\"tool\",\"content\":\"1\"},{\"role\":\"tool\",\"content\":\"2\"}," U("on") "," A("end") "]";

    (void)state;
    expect(chat_of(results), turns, NULL, false, "[1:<tool_call>f</tool_call>][1:so<|im_end|>][5:end<|im_end|>]");
    expect(chat_of("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|eot_id|><|im_end|>\n{% endfor %}"
                   "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"),
           "[" U("a") "," A("Bee") "," U("c") "," A("Dee") "]", NULL, false, "[1:Bee<|eot_id|><|im_end|>][3:Dee<|eot_id|><|im_end|>]");
    /* an empty answer ends with the last special token of its turn */
    expect(chat_of("{% for m in messages %}<|im_start|>{{ m.role }}{{ '<|eot_id|>final' if m.role == 'assistant' }}\n{{ m.content }}"
                   "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant{% endif %}"),
           "[" U("a") "," A("") "]", NULL, false, "[1:<|eot_id|>final\n<|im_end|>]");
}

/* A long conversation is rendered a few times only; its spans are those of the short ones. */
static void long_conversations(void **state)
{
    hone_str messages = HONE_STR_INIT, want = HONE_STR_INIT;

    (void)state;
    hone_str_puts(&messages, "[" S("s"));
    for (int i = 0; i < 2000; i++) {
        hone_str_printf(&messages, "," U("q%d") "," A("a%d"), i, i);
        hone_str_printf(&want, "[%d:a%d<|im_end|>]", 2 + 2 * i, i);
    }
    hone_str_puts(&messages, "]");
    expect(chat_of_file("chatml.jinja"), hone_str_c(&messages), NULL, false, hone_str_c(&want));
    hone_str_clear(&messages);
    hone_str_clear(&want);
    /* headers that differ between turns: "one" for the first, longer ones for the others */
    hone_str_puts(&messages, "[" U("q") "," A("a0"));
    hone_str_puts(&want, "[1:a0<|im_end|>]");
    for (int i = 1; i < 6; i++) {
        hone_str_printf(&messages, "," U("q") "," A("a%d"), i);
        hone_str_printf(&want, "[%d:a%d<|im_end|>]", 2 * i + 1, i);
    }
    hone_str_puts(&messages, "]");
    expect(chat_of("{% for m in messages %}<|im_start|>{{ m.role }}{{ ' again' if loop.index > 2 and m.role == 'assistant' }}\n"
                   "{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant"
                   "{{ ' again' if messages|length > 1 }}\n{% endif %}"), hone_str_c(&messages), NULL, false, hone_str_c(&want));
    hone_str_deinit(&messages);
    hone_str_deinit(&want);
}

/* Training and serving see the same: the ids before the first one that is learned are those of a generation prompt. */
static void training_prompt_is_the_serving_prompt(void **state)
{
    static const char *const files[] = { "chatml.jinja", "headers.jinja", "brackets.jinja", "thinking.jinja" };
    static const char *const kwargs[] = { "{}", "{\"enable_thinking\": false}" };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(files) * 2; i++) {
        hone_chat        *c = chat_of_file(files[i / 2]);
        json_t           *asked = parse("[" U("a") "]"), *answered = parse("[" U("a") "," A("Bee") "]"), *k = parse(kwargs[i % 2]);
        hone_chat_options prompt = { .template_kwargs = k, .generation_prompt = true }, full = { .template_kwargs = k };
        hone_chat_render  served = { 0 }, trained = { 0 };
        size_t            first = 0;

        T_OK(hone_chat_render_messages(c, &served, asked, &prompt));
        T_OK(hone_chat_render_messages(c, &trained, answered, &full));
        while (first < trained.mask.len && !trained.mask.data[first])
            first++;
        assert_true(first < trained.mask.len);
        assert_int_equal(first, served.tokens.len);
        for (size_t t = 0; t < first; t++)
            assert_int_equal(trained.tokens.data[t].id, served.tokens.data[t].id);
        hone_chat_render_deinit(&served);
        hone_chat_render_deinit(&trained);
        hone_chat_destroy(&c);
        json_decref(asked);
        json_decref(answered);
        json_decref(k);
    }
}

/* A token that joins the prompt's last byte with the answer's first is learned, as text/chat.h says. */
static void token_on_the_border(void **state)
{
    hone_chat        *c = chat_of("{% for m in messages %}{{ m.content }}{% endfor %}");
    json_t           *m = parse("[" U("t") "," A("h") "]");
    hone_chat_render  r = { 0 };

    (void)state;
    T_OK(hone_chat_render_messages(c, &r, m, NULL));
    assert_int_equal(r.tokens.len, 1);      /* "th" */
    assert_int_equal(r.mask.data[0], 1);
    hone_chat_render_deinit(&r);
    hone_chat_destroy(&c);
    json_decref(m);
}

static bool differs(const char *source, const char *messages)
{
    hone_chat       *c = chat_of(source);
    json_t          *m = parse(messages);
    hone_chat_render r = { 0 };
    bool             out;

    T_OK(hone_chat_render_messages(c, &r, m, NULL));
    out = r.prompt_differs;
    hone_chat_render_deinit(&r);
    json_decref(m);
    hone_chat_destroy(&c);
    return out;
}

/* What asks for the last answer may not be what the answer stands behind. */
static void prompts_that_differ(void **state)
{
#define TURN "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
#define MARKED_TURN "{% for m in messages %}<|im_start|>{{ m.role }}\n{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    static const char turns[] = "[" U("one") "," A("Eins") "," U("two") "," A("Zwei") "]";

    (void)state;
    assert_false(differs(TURN "{% endif %}", turns));
    assert_true(differs(TURN "<think>\n{% endif %}", turns));
    assert_false(differs(TURN "<think>\n{% endif %}", "[" U("one") "," A("<think>\\nt</think>Eins") "]"));
    assert_false(differs(TURN "<think>\n{% endif %}", "[" U("one") "]"));
    assert_false(differs(MARKED_TURN "{% endif %}", turns));
    assert_true(differs(MARKED_TURN "<think>\n{% endif %}", turns));
    assert_true(differs("{{ messages | length }}" TURN "{% endif %}", turns));
    /* a template that refuses to be asked tells nothing */
    assert_false(differs("{% if add_generation_prompt %}{{ raise_exception('no') }}{% endif %}" TURN "{% endif %}", turns));
#undef TURN
#undef MARKED_TURN
}

static void one_bos(void **state)
{
    hone_chat       *c = chat_of_file("headers.jinja");
    hone_chat_render r = { 0 };
    json_t          *m = parse("[" U("a") "]");
    int              n = 0;

    (void)state;
    T_OK(hone_chat_render_messages(c, &r, m, NULL));
    for (size_t i = 0; i < r.tokens.len; i++)
        n += r.tokens.data[i].id == hone_tokenizer_bos(tok);
    assert_int_equal(n, 1);
    hone_chat_render_deinit(&r);
    hone_chat_destroy(&c);
    json_decref(m);
}

static void refused(const char *messages, const char *tools, const char *part)
{
    hone_chat        *c = chat_of_file("brackets.jinja");
    json_t           *m = parse(messages), *t = tools ? parse(tools) : NULL;
    hone_chat_options options = { .tools = t };
    hone_chat_render  r = { 0 };

    T_STATUS(hone_chat_render_messages(c, &r, m, &options), HONE_E_DATA);
    T_ERROR_HAS(part);
    hone_chat_render_deinit(&r);
    hone_chat_destroy(&c);
    json_decref(m);
    json_decref(t);
}

static void unusable_rows_are_refused(void **state)
{
    (void)state;
    refused("[]", NULL, "no messages");
    refused("{}", NULL, "\"messages\" is not a list");
    refused("[1]", NULL, "message 0 is not an object but integer");
    refused("[" U("a") "," U("b") "]", NULL, "t:7:13: user and assistant turns must alternate");
    refused("[" U("a") "]", "\" \"", "\"tools\" is not a list but string");
    refused("[" U("a") "]", "[3]", "tool 0 is not an object");
}

static void reasoning_goes_by_three_names(void **state)
{
    (void)state;
    expect(chat_of("{% for m in messages %}{{ m.reasoning_content }}{{ m.thinking }}{{ m.content is defined }}<|im_end|>{% endfor %}"),
           "[{\"role\":\"assistant\",\"reasoning\":\"hm\",\"content\":null}]", NULL, false, "[0:hmhmFalse<|im_end|>]");
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char *path = hone_path_join(dir, name);

    T_OK(hone_file_write_all(path, text, strlen(text)));
    hone_free(path);
}

static void expect_text(const char *dir, const char *tools, const char *want)
{
    hone_chat        *c;
    json_t           *m = parse("[" U("hi") "]"), *t = tools ? parse(tools) : NULL;
    hone_chat_options options = { .tools = t };
    hone_chat_render  r = { 0 };

    T_OK(hone_chat_load(&c, dir, tok));
    T_OK(hone_chat_render_messages(c, &r, m, &options));
    assert_string_equal(hone_str_c(&r.text), want);
    hone_chat_render_deinit(&r);
    hone_chat_destroy(&c);
    json_decref(m);
    json_decref(t);
}

static void expect_named(const char *dir, const char *choice, const char *want)
{
    hone_chat        *c;
    json_t           *m = parse("[" U("hi") "]");
    hone_chat_render  r = { 0 };

    T_OK(hone_chat_load_named(&c, dir, choice, tok));
    T_OK(hone_chat_render_messages(c, &r, m, NULL));
    assert_string_equal(hone_str_c(&r.text), want);
    hone_chat_render_deinit(&r);
    hone_chat_destroy(&c);
    json_decref(m);
}

static void templates_of_directories(void **state)
{
    char       dir[512];
    hone_chat *c;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    T_STATUS(hone_chat_load(&c, dir, tok), HONE_E_DATA);
    T_ERROR_HAS("has no chat template");
    assert_null(c);
    write_file(dir, "tokenizer_config.json", "{\"chat_template\": [{\"name\": \"default\", \"template\": \"D{{ bos_token }}\"}, "
               "{\"name\": \"tool_use\", \"template\": \"T\"}], \"bos_token\": {\"content\": \"<b>\"}, \"image_token\": \"<i>\", "
               "\"model_max_length\": 1000000000000000019884624838656, \"pad_token\": null}");
    expect_text(dir, NULL, "D<b>");
    expect_text(dir, "[]", "T");
    write_file(dir, "chat_template.json", "{\"chat_template\": \"J{{ image_token }}{{ pad_token is defined }}\"}");
    expect_text(dir, NULL, "J<i>False");
    write_file(dir, "special_tokens_map.json", "{\"pad_token\": \"<p>\"}");
    write_file(dir, "chat_template.jinja", "F{{ pad_token }}\n");
    expect_text(dir, NULL, "F<p>");
    write_file(dir, "chat_template.jinja", "\n {% include 'x' %}");
    T_STATUS(hone_chat_load(&c, dir, tok), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("chat_template.jinja:2:5: the tag 'include' is not supported");
    T_OK(hone_dir_remove(dir));
}

/* Templates by their names: files, lists, objects. */
static void named_templates(void **state)
{
    char       dir[512], path[560];
    hone_chat *c;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    snprintf(path, sizeof path, "%s/additional_chat_templates", dir);
    T_OK(hone_dir_make(path));
    write_file(dir, "tokenizer_config.json", "{\"chat_template\": {\"default\": \"D\", \"rag\": \"R\", \"odd\": \"{% include 'x' %}\"}}");
    expect_text(dir, NULL, "D");        /* what is not chosen is not compiled */
    expect_named(dir, "rag", "R");
    T_STATUS(hone_chat_load_named(&c, dir, "rug", tok), HONE_E_DATA);
    T_ERROR_HAS("no chat template named \"rug\"; it has: \"default\", \"rag\", \"odd\"");
    T_STATUS(hone_chat_load_named(&c, dir, "odd", tok), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("tokenizer_config.json (chat_template odd):1:4: the tag 'include'");
    write_file(path, "tool_use.jinja", "T");
    T_OK(hone_chat_load(&c, dir, tok));     /* only with tools */
    hone_chat_destroy(&c);
    expect_text(dir, "[]", "T");
    write_file(path, "rag.jinja", "F{{ bos_token }}");
    write_file(path, "notes.txt", "{% broken");
    write_file(dir, "chat_template.jinja", "M");
    expect_text(dir, NULL, "M");
    expect_text(dir, "[]", "T");
    expect_named(dir, "default", "M");
    expect_named(dir, "rag", "F");
    snprintf(path, sizeof path, "%s/additional_chat_templates/rag.jinja", dir);
    expect_named(dir, path, "F");
    T_OK(hone_dir_remove(dir));
}

static void only_a_template_for_tools(void **state)
{
    char              dir[512];
    hone_chat        *c;
    json_t           *m = parse("[" U("hi") "]");
    hone_chat_render  r = { 0 };

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    write_file(dir, "tokenizer_config.json", "{\"chat_template\": [{\"name\": \"tool_use\", \"template\": \"T\"}]}");
    T_OK(hone_chat_load(&c, dir, tok));
    T_STATUS(hone_chat_render_messages(c, &r, m, NULL), HONE_E_DATA);
    T_ERROR_HAS("none named \"default\"");
    hone_chat_render_deinit(&r);
    hone_chat_destroy(&c);
    json_decref(m);
    write_file(dir, "tokenizer_config.json", "{\"chat_template\": [{\"template\": \"T\"}]}");
    T_STATUS(hone_chat_load(&c, dir, tok), HONE_E_FORMAT);
    T_ERROR_HAS("item 0 of \"chat_template\" has no \"name\"");
    T_OK(hone_dir_remove(dir));
}

static void arguments_are_tried_when_loaded(void **state)
{
    hone_chat *c;
    char       dir[64];

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    write_file(dir, "chat_template.jinja", "{% for m in messages %}{{ (m.tool_calls or []) | tojson }}{% endfor %}");
    T_OK(hone_chat_load(&c, dir, tok));
    assert_int_equal(hone_chat_get_arguments(c), HONE_CHAT_OBJECT_ARGUMENTS);
    hone_chat_destroy(&c);
    write_file(dir, "chat_template.jinja", "{{ raise_exception('no') }}");
    T_OK(hone_chat_load(&c, dir, tok));
    assert_int_equal(hone_chat_get_arguments(c), HONE_CHAT_NO_ARGUMENTS);
    hone_chat_destroy(&c);
    T_OK(hone_dir_remove(dir));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_turn_has_its_terminator), cmocka_unit_test(nothing_to_supervise),
        cmocka_unit_test(history_that_changes), cmocka_unit_test(tool_calls), cmocka_unit_test(other_shapes),
        cmocka_unit_test(ends_of_turns), cmocka_unit_test(turns_in_pieces), cmocka_unit_test(long_conversations),
        cmocka_unit_test(training_prompt_is_the_serving_prompt), cmocka_unit_test(token_on_the_border),
        cmocka_unit_test(named_templates), cmocka_unit_test(only_a_template_for_tools), cmocka_unit_test(prompts_that_differ), cmocka_unit_test(one_bos),
        cmocka_unit_test(unusable_rows_are_refused),
        cmocka_unit_test(reasoning_goes_by_three_names), cmocka_unit_test(templates_of_directories),
        cmocka_unit_test(arguments_are_tried_when_loaded),
    };

    return cmocka_run_group_tests(tests, load_tokenizer, free_tokenizer);
}
