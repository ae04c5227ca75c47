/* Named templates: what a row becomes, and what of it is learned. That ids and labels are LLaMA-Factory's is for
 * tests/golden/llama_factory.c to show. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/format.h"
#include "hone_test.h"
#include "text/slots/slots_int.h"

static char        said[8192];          /* what the last row became */
static const char *tokenizer = "chatml";

/* Append the text of ids: what is learned in [brackets]; another label than the id as {label} before it. */
static void add_marked(hone_str *out, const hone_tokenizer *tok, const hone_vec_i32 *ids, const hone_vec_i32 *labels)
{
    bool on = false;

    assert_int_equal(ids->len, labels->len);
    for (size_t t = 0; t < ids->len; t++) {
        bool now = labels->data[t] == ids->data[t];

        if (now != on)
            hone_str_putc(out, now ? '[' : ']');
        on = now;
        if (!now && labels->data[t] != -100) {
            hone_str_putc(out, '{');
            T_OK(hone_tokenizer_token_bytes(tok, out, labels->data[t]));
            hone_str_putc(out, '}');
        }
        T_OK(hone_tokenizer_token_bytes(tok, out, ids->data[t]));
    }
    if (on)
        hone_str_putc(out, ']');
}

static hone_status write_row(const char *row, char *const *options, int n, hone_source *source)
{
    hone_dataset_context c = { 0 };
    hone_options        *o = NULL;
    hone_tokenizer      *tok = NULL;
    hone_chat           *chat = NULL;
    hone_slots          *slots = NULL;
    hone_row_result      r = { 0 };
    hone_row_format      format = source->format;
    json_t              *json = NULL;
    hone_str             text = HONE_STR_INIT;
    char                *dir = hone_asprintf(TEST_DATA "/data/llamafactory/tokenizers/%s", tokenizer);
    hone_status          st = HONE_OK;

    HONE_GO(hone_options_load_data(&o, n, (char **)(uintptr_t)options));
    HONE_GO(hone_dataset_open_text(&tok, &chat, &slots, dir, o));
    c.options = o;
    c.tokenizer = tok;
    c.slots = slots;
    HONE_GO(hone_json_parse(&json, row, strlen(row), "row"));
    if (format == HONE_ROWS_AUTO)
        HONE_GO(hone_row_format_detect(&format, json, source, "row"));
    HONE_GO(hone_row_format_check(format, source, &c));
    HONE_GO(hone_row_to_sample(&r, json, source, format, &c, "row"));
    add_marked(&text, tok, &r.ids, &r.labels);
    if (r.rejected_ids.len) {
        hone_str_puts(&text, " || ");
        add_marked(&text, tok, &r.rejected_ids, &r.rejected_labels);
    }
    if (r.is_feedback)
        hone_str_puts(&text, r.desirable ? " (good)" : " (bad)");
    snprintf(said, sizeof said, "%s", hone_str_c(&text));
out:
    hone_str_deinit(&text);
    json_decref(json);
    hone_row_result_deinit(&r);
    hone_slots_destroy(&slots);
    hone_chat_destroy(&chat);
    hone_tokenizer_destroy(&tok);
    hone_options_destroy(&o);
    hone_free(dir);
    return st;
}

/* Options are "key=value". */
#define WRITE(row, ...) \
    write_row((row), (char *const[]){ __VA_ARGS__ }, (int)HONE_COUNTOF(((char *const[]){ __VA_ARGS__ })), \
              &(hone_source){ .path = (char *)(uintptr_t)"row.jsonl" })
#define BECOMES(want, row, ...) \
    do { T_OK(WRITE(row, __VA_ARGS__)); assert_string_equal(said, want); } while (0)
#define REFUSED(part, row, ...) \
    do { T_STATUS(WRITE(row, __VA_ARGS__), HONE_E_DATA); T_ERROR_HAS(part); } while (0)

#define USER(text)  "{\"role\": \"user\", \"content\": \"" text "\"}"
#define SAYS(text)  "{\"role\": \"assistant\", \"content\": \"" text "\"}"
#define ROW(...)    "{\"messages\": [" __VA_ARGS__ "]}"
#define TWO_TURNS   ROW(USER("a") ", " SAYS("b") ", " USER("c") ", " SAYS("d"))
#define ASK(text)   "<|im_start|>user\n" text "<|im_end|>\n<|im_start|>assistant\n"

static void every_answer_with_its_end(void **state)
{
    (void)state;
    BECOMES(ASK("a") "[b<|im_end|>\n]" ASK("c") "[d<|im_end|>\n]", TWO_TURNS, "template=qwen3_nothink");
    BECOMES(ASK("a") "b<|im_end|>\n" ASK("c") "[d<|im_end|>\n]", TWO_TURNS, "template=qwen3_nothink", "mask_history=true");
    BECOMES("[" ASK("a") "b<|im_end|>\n" ASK("c") "d<|im_end|>\n]", TWO_TURNS, "template=qwen3_nothink", "train_on_prompt=true");
    BECOMES("<|im_start|>system\nS<|im_end|>\n" ASK("a") "[b<|im_end|>\n]",
            ROW("{\"role\": \"system\", \"content\": \"S\"}, " USER("a") ", " SAYS("b")), "template=qwen3_nothink");
    BECOMES("<|im_start|>system\nD<|im_end|>\n" ASK("a") "[b<|im_end|>\n]", ROW(USER("a") ", " SAYS("b")), "template=qwen",
            "default_system=D");
}

/* Where an answer has no end of its own, the next turn's first token is where EOS is learned. */
static void answers_that_end_with_the_next_turn(void **state)
{
    (void)state;
    tokenizer = "many";
    BECOMES("[gMASK]<sop><|user|>\na<|assistant|>[\nb]{</s>}<|user|>\nc<|assistant|>[\nd</s>]", TWO_TURNS, "template=glm4");
    BECOMES("{</s>}[gMASK]<sop><|user|>\na<|assistant|>\nb<|user|>\nc<|assistant|>[\nd</s>]", TWO_TURNS, "template=glm4",
            "mask_history=true");
    T_STATUS(WRITE(TWO_TURNS, "template=glm4", "train_on_prompt=true"), HONE_E_USAGE);
    T_ERROR_HAS("train_on_prompt does not go with template: glm4");
}

static void messages_switch_their_loss(void **state)
{
    static const char row[] = ROW(USER("a") ", {\"role\": \"assistant\", \"content\": \"b\", \"loss\": false}, " USER("c") ", " SAYS("d")),
                      back[] = ROW(USER("a") ", {\"role\": \"assistant\", \"content\": \"b\", \"loss\": true}, " USER("c") ", " SAYS("d"));

    (void)state;
    BECOMES(ASK("a") "b<|im_end|>\n" ASK("c") "[d<|im_end|>\n]", row, "template=qwen3_nothink");
    BECOMES(ASK("a") "[b<|im_end|>\n]" ASK("c") "[d<|im_end|>\n]", back, "template=qwen3_nothink", "mask_history=true");
}

static void empty_thoughts(void **state)
{
    static const char row[] = ROW(USER("a") ", " SAYS("<think>\\nt\\n</think>\\n\\nb") ", " USER("c") ", " SAYS("d"));

    (void)state;
    BECOMES(ASK("a") "[<think>\nt\n</think>\n\nb<|im_end|>\n]" ASK("c") "[<think>\n\n</think>\n\nd<|im_end|>\n]", row, "template=qwen3");
    BECOMES(ASK("a") "[<think>\nt\n</think>\n\nb<|im_end|>\n]" ASK("c") "<think>\n\n</think>\n\n[d<|im_end|>\n]", row, "template=qwen3",
            "enable_thinking=null");
    BECOMES(ASK("a") "<think>\n\n</think>\n\n[b<|im_end|>\n]" ASK("c") "<think>\n\n</think>\n\n[d<|im_end|>\n]", row, "template=qwen3",
            "enable_thinking=false");
    BECOMES(ASK("a") "b<|im_end|>\n" ASK("c") "[<think>\n\n</think>\n\nd<|im_end|>\n]", row, "template=qwen3", "mask_history=true");
    BECOMES(ASK("a") "<think>\nt\n</think>\n\nb<|im_end|>\n" ASK("c") "[<think>\n\n</think>\n\nd<|im_end|>\n]", row, "template=qwen3",
            "mask_history=true", "preserve_thinking=true");
    tokenizer = "many";
    BECOMES("[gMASK]<sop><|user|>\na<|assistant|>[</think>\nb</s>]", ROW(USER("a") ", " SAYS("b")), "template=glm4_7");
}

#define CALLS "{\"role\": \"assistant\", \"content\": \"lost\", \"tool_calls\": [{\"function\": {\"name\": \"f\", \"arguments\": {\"x\": 1e5}}}]}"
#define RESULT(text) "{\"role\": \"tool\", \"content\": \"" text "\"}"
#define ANSWERED "<|im_start|>user\n<tool_response>\n"

static void calls_are_learned_and_results_are_not(void **state)
{
    static const char row[] = ROW(USER("a") ", " CALLS ", " RESULT("r") ", " RESULT("s") ", " SAYS("b"));

    (void)state;
    BECOMES(ASK("a") "[<tool_call>\n{\"name\": \"f\", \"arguments\": {\"x\": 100000.0}}\n</tool_call><|im_end|>\n]" ANSWERED
            "r\n</tool_response>\n<tool_response>\ns\n</tool_response><|im_end|>\n<|im_start|>assistant\n[b<|im_end|>\n]", row,
            "template=qwen3_nothink");
    /* The override takes the family's end of the turn with it. */
    BECOMES(ASK("a") "[Action: f\nAction Input: {\"x\": 100000.0}<|im_end|>]" ANSWERED
            "r\n</tool_response>\n<tool_response>\ns\n</tool_response><|im_end|>\n<|im_start|>assistant\n[b<|im_end|>\n]", row,
            "template=qwen3_nothink", "tool_format=default");
    REFUSED("the last of 5 turns is no answer", ROW(USER("a") ", " SAYS("b") ", " USER("c") ", " CALLS ", " RESULT("r")),
            "template=qwen3_nothink");
}

static void tools_stand_in_the_system_text(void **state)
{
    (void)state;
    T_OK(WRITE("{\"messages\": [" USER("a") ", " SAYS("b") "], \"tools\": \"[{\\\"name\\\": \\\"f\\\", \\\"v\\\": [1e5, 12345678901234567890123]}]\"}",
               "template=qwen3_nothink"));
    assert_non_null(strstr(said, "<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"f\", \"v\": [100000.0, 12345678901234567890123]}}\n"
                                 "</tools>"));
    /* No tools, but a place for them. */
    BECOMES("<|im_start|>system\n<|im_end|>\n" ASK("a") "[b<|im_end|>\n]",
            "{\"messages\": [" USER("a") ", " SAYS("b") "], \"tools\": \"[]\"}", "template=qwen3_nothink");
    REFUSED("not JSON: wanted a value at byte 0\n  in the tools", "{\"messages\": [" USER("a") ", " SAYS("b") "], \"tools\": \"f\"}",
            "template=qwen3_nothink");
    REFUSED("tool 0 has no \"parameters\" that is an object", "{\"messages\": [" USER("a") ", " SAYS("b") "], \"tools\": \"[{\\\"name\\\": \\\"f\\\"}]\"}",
            "template=chatml");
    T_OK(WRITE("{\"messages\": [" USER("a") ", " SAYS("b") "], \"tools\": \"[{\\\"name\\\": \\\"f\\\"}]\"}", "template=llama3",
               "tool_date=5 Jan 2031"));
    assert_non_null(strstr(said, "Today Date: 5 Jan 2031\n"));
}

static void pairs_and_feedback(void **state)
{
    static const char thought[] = "{\"messages\": [" USER("a") ", " SAYS("<think>\\nt\\n</think>\\n\\nb") ", " USER("c") "], "
                                  "\"chosen\": " SAYS("yes") ", \"rejected\": " SAYS("<think>\\nu\\n</think>\\n\\nno") "}";

    (void)state;
    /* Thoughts of earlier answers are not part of the prompt; where an empty one goes is for the chosen answer to say. */
    BECOMES(ASK("a") "b<|im_end|>\n" ASK("c") "[<think>\n\n</think>\n\nyes<|im_end|>\n] || " ASK("a") "b<|im_end|>\n" ASK("c")
            "[<think>\nu\n</think>\n\nno<|im_end|>\n]", thought, "template=qwen3", "stage=dpo");
    REFUSED("an answer of the pair has several messages",
            "{\"messages\": [" USER("a") "], \"chosen\": [" CALLS ", " RESULT("r") ", " SAYS("yes") "], \"rejected\": " SAYS("no") "}",
            "template=qwen3", "stage=dpo");
    BECOMES(ASK("a") "[b<|im_end|>\n] (bad)", "{\"messages\": [" USER("a") ", " SAYS("b") "], \"label\": false}", "template=qwen3_nothink",
            "stage=kto");
    BECOMES(ASK("a") "[b<|im_end|>\n] (good)", "{\"messages\": [" USER("a") ", " SAYS("b") "], \"label\": true}", "template=qwen3_nothink",
            "stage=kto");
    BECOMES(ASK("a") "[<|im_end|>\n] (bad)", "{\"messages\": [" USER("a") ", " SAYS("") "], \"label\": true}", "template=qwen3_nothink",
            "stage=kto");
}

/* Turn by turn: heads of prompt and answer stay; turns without room go. */
static void the_cut(void **state)
{
    static const char row[] = ROW(USER("abcdefgh") ", " SAYS("ijklmnop") ", " USER("q") ", " SAYS("r"));

    (void)state;
    tokenizer = "bare";
    BECOMES("Human: abcde[ijklm]", row, "template=default", "cutoff_len=13");
    BECOMES("qqqqqq[rrrr]", ROW(USER("qqqqqqqqq") ", " SAYS("rrrrrr")), "template=empty", "cutoff_len=10");
    BECOMES("qqqqqq[rrr]", ROW(USER("qqqqqqqqq") ", " SAYS("rrrrrr")), "template=empty", "cutoff_len=10", "packing=true");
    BECOMES("qqqqqqqqq[rrrrrr]", ROW(USER("qqqqqqqqq") ", " SAYS("rrrrrr")), "template=empty", "cutoff_len=10", "truncation=cut-left");
}

static void system_text_inside_the_first_turn(void **state)
{
    (void)state;
    tokenizer = "spm";
    T_OK(WRITE(ROW("{\"role\": \"system\", \"content\": \"S\"}, " USER("a") ", " SAYS("b")), "template=llama2"));
    assert_string_equal(said, "<s> [INST] <<SYS>>\nS\n<</SYS>>\n\na [/INST][ b</s>]");
}

static void turns_must_alternate(void **state)
{
    (void)state;
    REFUSED("turn 1 is the user's, but a template's turns alternate", ROW(USER("a") ", " USER("b") ", " SAYS("c")), "template=qwen");
    REFUSED("turn 0 is the assistant, but", ROW(SAYS("a") ", " USER("b")), "template=qwen");
    REFUSED("the last of 3 turns is no answer", ROW(USER("a") ", " SAYS("b") ", " USER("c")), "template=qwen");
    REFUSED("message 1 is of \"system\"; template: qwen has turns of user, assistant and tool, after one system message at most",
            ROW(USER("a") ", {\"role\": \"system\", \"content\": \"s\"}"), "template=qwen");
    REFUSED("turn 0 has the mark <image>", ROW(USER("<image> a") ", " SAYS("b")), "template=qwen2_vl");
    T_OK(WRITE(ROW(USER("<image> a") ", " SAYS("b")), "template=qwen"));
}

/* What LLaMA-Factory writes into OpenAI's rows, and loses of them, only where it is asked for. */
static void quirks(void **state)
{
    static const char row[] = ROW(USER("a") ", " SAYS("b") ", " RESULT("late"));

    (void)state;
    REFUSED("the last of 3 turns is no answer", row, "template=qwen3_nothink");
    BECOMES("<|im_start|>system\ndetailed thinking off<|im_end|>\n" ASK("a") "[b<|im_end|>\n]", row, "template=qwen3_nothink",
            "llamafactory_quirks=true");
}

static void documents(void **state)
{
    (void)state;
    tokenizer = "llama3";
    BECOMES("[<|begin_of_text|>hi<|end_of_text|>]", "{\"text\": \"hi\"}", "stage=pt");
    BECOMES("[hi<|end_of_text|>]", "{\"text\": \"hi\"}", "stage=pt", "llamafactory_quirks=true");
    BECOMES("[hi<|end_of_text|>]", "{\"text\": \"hi\"}", "stage=pt", "template=llama3");
    tokenizer = "chatml";
    BECOMES("[hi<|im_end|>]", "{\"text\": \"hi\"}", "stage=pt", "template=qwen");
    BECOMES("[hi]", "{\"text\": \"hi\"}", "stage=pt", "template=qwen", "append_eos=false");
}

static void changed_tokenizers(void **state)
{
    (void)state;
    T_OK(WRITE(ROW(USER("<|im_end|>") ", " SAYS("b")), "template=qwen3_nothink", "split_special_tokens=true"));
    BECOMES(ASK("<new>") "[b<|im_end|>\n]", ROW(USER("<new>") ", " SAYS("b")), "template=qwen3_nothink", "add_special_tokens=<new>");
}

/* The text of a conversation as the slots write it, and as the chat template made of them does. */
static void compare_texts(hone_tokenizer *tok, const char *name)
{
    static const hone_turn turns[] = { { HONE_TURN_USER, "a'b\\", 4 }, { HONE_TURN_ASSISTANT, "c\n", 2 },
                                       { HONE_TURN_OBSERVATION, "d", 1 }, { HONE_TURN_ASSISTANT, "e", 1 } };
    static const char      messages[] = "[{\"role\": \"system\", \"content\": \"S\"}, {\"role\": \"user\", \"content\": \"a'b\\\\\"},"
                                        "{\"role\": \"assistant\", \"content\": \"c\\n\"}, {\"role\": \"tool\", \"content\": \"d\"},"
                                        "{\"role\": \"assistant\", \"content\": \"e\"}]";
    hone_slots_input  in = { turns, HONE_COUNTOF(turns), "S", 1, NULL, 0 };
    hone_slots_ids    ids = { 0 };
    hone_slots       *s;
    hone_chat        *chat;
    hone_chat_render  render = { 0 };
    hone_chat_options options = { 0 };
    hone_str          source = HONE_STR_INIT, text = HONE_STR_INIT;
    json_t           *m;

    T_OK(hone_slots_create(&s, tok, &(hone_slots_options){ .name = name, .enable_thinking = 1 }));
    T_OK(hone_slots_encode(s, &ids, &in, HONE_SLOTS_ALL));
    for (size_t i = 0; i < ids.ids.len; i++)
        T_OK(hone_tokenizer_token_bytes(tok, &text, ids.ids.data[i]));
    T_OK(hone_slots_chat_template(s, &source));
    T_OK(hone_chat_create(&chat, hone_str_c(&source), source.len, name, tok));
    T_OK(hone_json_parse(&m, messages, sizeof messages - 1, "messages"));
    T_OK(hone_chat_render_messages(chat, &render, m, &options));
    if (strcmp(hone_str_c(&render.text), hone_str_c(&text)) != 0)
        fail_msg("%s writes\n%s\nand its chat template\n%s", name, hone_str_c(&text), hone_str_c(&render.text));
    json_decref(m);
    hone_chat_render_deinit(&render);
    hone_chat_destroy(&chat);
    hone_str_deinit(&source);
    hone_str_deinit(&text);
    hone_slots_ids_deinit(&ids);
    hone_slots_destroy(&s);
}

static void chat_templates_write_the_same_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < slot_row_count; i++) {
        hone_tokenizer *tok;

        if (slot_rows[i].thoughts != SLOT_PLAIN)
            continue;
        T_OK(hone_tokenizer_load(&tok, TEST_DATA "/data/llamafactory/tokenizers/many"));
        compare_texts(tok, slot_rows[i].name);
        hone_tokenizer_destroy(&tok);
    }
}

/* ---- JSON as Python writes it ---- */

static void round_trip(const char *text, const char *dumped, const char *str)
{
    pyj_value v;
    hone_str  out = HONE_STR_INIT;

    T_OK(pyj_parse(&v, text, strlen(text)));
    pyj_dump(&out, &v, 0);
    assert_string_equal(hone_str_c(&out), dumped);
    hone_str_clear(&out);
    pyj_str(&out, &v);
    assert_string_equal(hone_str_c(&out), str);
    hone_str_deinit(&out);
    pyj_deinit(&v);
}

static void python_json(void **state)
{
    static const char *const broken[] = { "", "[", "[1,]", "{\"a\" 1}", "{a: 1}", "01", "1.", "-", "nul", "\"\\x\"", "\"a", "\"\n\"", "\"\\ud800\"",
                                          "[1] 2", "\"\\ud800\\u0041\"", "'a'" };
    pyj_value v;
    hone_str  deep = HONE_STR_INIT;

    (void)state;
    round_trip(" [1e5, -0, 1e16, 1E-5, 0.1, 1e400, -0.0, NaN, 123456789012345678901234567890] ",
               "[100000.0, 0, 1e+16, 1e-05, 0.1, Infinity, -0.0, NaN, 123456789012345678901234567890]",
               "[100000.0, 0, 1e+16, 1e-05, 0.1, inf, -0.0, nan, 123456789012345678901234567890]");
    round_trip("{\"a\": 1, \"b\": null, \"a\": true}", "{\"a\": true, \"b\": null}", "{'a': True, 'b': None}");
    round_trip("\"\\u00e9\\ud83e\\udd99\\/\\n\\u0001\\\"\"", "\"é🦙/\\n\\u0001\\\"\"", "é🦙/\n\x01\"");
    round_trip("[\"it's\", \"\\\"\", \"\\u200b\", \"'\\\"\"]", "[\"it's\", \"\\\"\", \"\u200b\", \"'\\\"\"]",
               "[\"it's\", '\"', '\\u200b', '\\'\"']");
    for (size_t i = 0; i < HONE_COUNTOF(broken); i++)
        T_STATUS(pyj_parse(&v, broken[i], strlen(broken[i])), HONE_E_DATA);
    for (int i = 0; i < 100000; i++)
        hone_str_putc(&deep, '[');
    T_STATUS(pyj_parse(&v, deep.data, deep.len), HONE_E_DATA);
    T_ERROR_HAS("nested deeper");
    hone_str_deinit(&deep);
}

static int start(void **state)
{
    (void)state;
    tokenizer = "chatml";
    return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, start)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_answer_with_its_end), TEST(answers_that_end_with_the_next_turn), TEST(messages_switch_their_loss),
        TEST(empty_thoughts), TEST(calls_are_learned_and_results_are_not), TEST(tools_stand_in_the_system_text),
        TEST(pairs_and_feedback), TEST(the_cut), TEST(system_text_inside_the_first_turn), TEST(turns_must_alternate), TEST(quirks),
        TEST(documents), TEST(changed_tokenizers), TEST(chat_templates_write_the_same_text), TEST(python_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
