/* Tokenizers: directories, special tokens, refusals with their place, bad files, offsets, threads, memory. */
#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/thread.h"
#include "text/tokenizer.h"
#include "text/unicode/unicode.h"

#define DATA TEST_DATA "/data/tokenizer/"

/* A tokenizer.json around parts of it: a, b, ab and a space as vocabulary. */
#define VOCAB "{\"a\":0,\"b\":1,\"ab\":2,\"Ġ\":3,\"<s>\":4}"
#define BYTES "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":true}"
#define FILE_WITH(parts, model) "{\"version\":\"1.0\"," parts "\"model\":" model "}"
#define MODEL(vocab, merges) "{\"type\":\"BPE\",\"vocab\":" vocab ",\"merges\":" merges "}"

static hone_status parse(const char *json)
{
    hone_tokenizer *tok;
    hone_status     st = hone_tokenizer_create(&tok, json, strlen(json), "tokenizer.json");

    if ((st == HONE_OK) != (tok != NULL))
        fail_msg("an object without success, or success without an object");
    hone_tokenizer_destroy(&tok);
    return st;
}

static void refusals_name_what_and_where(void **state)
{
    static const struct { const char *json; hone_status want; const char *says; } cases[] = {
        { "", HONE_E_FORMAT, "wanted an object" },
        { "[]", HONE_E_FORMAT, "line 1" },
        { "{\"model\":\n{\"type\"", HONE_E_FORMAT, "line 2" },
        { "{}", HONE_E_FORMAT, "no \"model\"" },
        { FILE_WITH("\"normaliser\":null,", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "\"normaliser\"" },
        { FILE_WITH("\"normalizer\":null,\"normalizer\":null,", MODEL(VOCAB, "[]")), HONE_E_FORMAT, "\"normalizer\" twice" },
        { FILE_WITH("\"normalizer\":{\"type\":\"Precompiled\"},", MODEL(VOCAB, "[]")), HONE_E_FORMAT, "\"precompiled_charsmap\"" },
        { FILE_WITH("\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"BAAAA\"},", MODEL(VOCAB, "[]")),
          HONE_E_FORMAT, "not base64: 5 characters" },
        { FILE_WITH("\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"BA!A\"},", MODEL(VOCAB, "[]")),
          HONE_E_FORMAT, "not base64: character 3" },
        { FILE_WITH("\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"CAAAAAAAAAA=\"},", MODEL(VOCAB, "[]")),
          HONE_E_FORMAT, "has 8 bytes and says that 8" },
        { FILE_WITH("\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"BAAAAAAAAAD/\"},", MODEL(VOCAB, "[]")),
          HONE_E_FORMAT, "invalid UTF-8 at byte 0" },
        { FILE_WITH("\"normalizer\":{\"type\":\"Nfkc\"},", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "the type \"Nfkc\"" },
        { FILE_WITH("\"normalizer\":{\"type\":\"NFC\",\"x\":1},", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "\"x\"" },
        { FILE_WITH("\"normalizer\":{\"type\":\"NFC\",\"\":1},", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "the key \"\"" },
        { FILE_WITH("\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[" BYTES ",{\"type\":\"Metaspace\"}]},",
                    MODEL(VOCAB, "[]")), HONE_E_FORMAT, "pre_tokenizer: \"replacement\"" },
        { FILE_WITH("\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"ab\"},", MODEL(VOCAB, "[]")), HONE_E_FORMAT,
          "\"replacement\" is not one character" },
        { FILE_WITH("\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":false},",
                    MODEL(VOCAB, "[]")), HONE_E_FORMAT, "\"prepend_scheme\" has to be \"never\"" },
        { FILE_WITH("\"pre_tokenizer\":{\"type\":\"FixedLength\",\"length\":0},", MODEL(VOCAB, "[]")), HONE_E_FORMAT,
          "\"length\"" },
        { FILE_WITH("\"pre_tokenizer\":{\"type\":\"Words\"},", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "the type \"Words\"" },
        { FILE_WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{Hun}\"},\"behavior\":\"Isolated\","
                    "\"invert\":false},", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "\\p{Hun}" },
        { FILE_WITH("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a\"},\"behavior\":\"Isolated\","
                    "\"invert\":false},", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "\"a\" at byte 2: ')' is missing" },
        { FILE_WITH("\"post_processor\":{\"type\":\"BertProcessing\"},", MODEL(VOCAB, "[]")), HONE_E_FORMAT,
          "post_processor: \"cls\" is not [content, id]" },
        { FILE_WITH("\"post_processor\":{\"type\":\"Wrap\"},", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "the type \"Wrap\"" },
        { FILE_WITH("\"decoder\":{\"type\":\"WordPiece\"},", MODEL(VOCAB, "[]")), HONE_E_FORMAT, "decoder: \"prefix\"" },
        { FILE_WITH("\"decoder\":{\"type\":\"Strip\",\"content\":\" \",\"start\":-1,\"stop\":0},", MODEL(VOCAB, "[]")), HONE_E_FORMAT,
          "\"start\"" },
        { FILE_WITH("\"decoder\":{\"type\":\"Joined\"},", MODEL(VOCAB, "[]")), HONE_E_UNSUPPORTED, "the type \"Joined\"" },
        { FILE_WITH("", "{\"type\":\"Charniak\",\"vocab\":[]}"), HONE_E_UNSUPPORTED, "model.type \"Charniak\"" },
        { FILE_WITH("", "{\"type\":\"BPE\",\"dropout\":0.1,\"vocab\":{},\"merges\":[]}"), HONE_E_UNSUPPORTED, "dropout" },
        { FILE_WITH("", "{\"type\":\"BPE\",\"vocab\":{}}"), HONE_E_FORMAT, "\"merges\"" },
        { FILE_WITH("", MODEL("{\"a\":0,\"b\":0}", "[]")), HONE_E_FORMAT, "\"a\" and \"b\" have the same id 0" },
        { FILE_WITH("", MODEL("{\"a\":0,\"a\":1}", "[]")), HONE_E_FORMAT, "\"a\" is there twice" },
        { FILE_WITH("", MODEL("{\"a\":-1}", "[]")), HONE_E_FORMAT, "id -1" },
        { FILE_WITH("", MODEL("{\"a\":16777216}", "[]")), HONE_E_FORMAT, "ids go from 0" },
        { FILE_WITH("", MODEL("{\"a\":1.5}", "[]")), HONE_E_FORMAT, "model.vocab" },
        { FILE_WITH("", MODEL("{\"a\":\"b\"}", "[]")), HONE_E_FORMAT, "wanted an object of token: id, got a string" },
        { FILE_WITH("", MODEL("{\"a\":99999999999999999999}", "[]")), HONE_E_FORMAT, "model.vocab" },
        { FILE_WITH("", MODEL(VOCAB, "[\"a b\",\"b a\"]")), HONE_E_FORMAT, "no token \"ba\"" },
        { FILE_WITH("", MODEL(VOCAB, "[\"a b\",\n[\"a\",\"c\"]]")), HONE_E_FORMAT, "in model.merges of tokenizer.json, line 2" },
        { FILE_WITH("", MODEL(VOCAB, "[\"a b c\"]")), HONE_E_FORMAT, "merge 0" },
        { FILE_WITH("", MODEL(VOCAB, "[[\"a\"]]")), HONE_E_FORMAT, "fewer than two" },
        { FILE_WITH("", MODEL(VOCAB, "[[\"a\",\"b\",\"c\"]]")), HONE_E_FORMAT, "three tokens" },
        { FILE_WITH("", MODEL(VOCAB, "[\"a b\"")), HONE_E_FORMAT, "line 1" },
        { FILE_WITH("\"added_tokens\":[{\"id\":9}],", MODEL(VOCAB, "[]")), HONE_E_FORMAT, "added_tokens[0]: \"content\"" },
        { FILE_WITH("", MODEL(VOCAB, "[]")) " x", HONE_E_FORMAT, "end of the file" },
    };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        hone_status st = parse(cases[i].json);

        if (st != cases[i].want || !strstr(hone_status_text(), cases[i].says))
            fail_msg("case %zu: got %s, \"%s\"; wanted %s, \"%s\"", i, hone_status_name(st), hone_status_text(),
                     hone_status_name(cases[i].want), cases[i].says);
    }
    T_OK(parse(FILE_WITH("", MODEL(VOCAB, "[\"a b\"]"))));
    T_OK(parse("{\"model\":{\"merges\":[\"a b\"],\"vocab\":" VOCAB "}}"));     /* merges first, no type */
}

static void every_failed_allocation_is_an_error(void **state)
{
    const char *json = FILE_WITH("\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":" BYTES ",", MODEL(VOCAB, "[\"a b\"]"));

    (void)state;
    for (int64_t n = 0; n < 10000; n++) {
        hone_status st;

        hone_mem_fail_at(n);
        st = parse(json);
        if (!hone_mem_fail_reached()) {
            hone_mem_fail_at(-1);
            T_OK(st);
            return;
        }
        hone_mem_fail_at(-1);
        T_STATUS(st, HONE_E_NOMEM);
    }
    fail_msg("no end");
}

static hone_tokenizer *load(const char *kind)
{
    char            path[512];
    hone_tokenizer *tok;

    snprintf(path, sizeof path, DATA "%s", kind);
    T_OK(hone_tokenizer_load(&tok, path));
    return tok;
}

/* Ids of a text as "1 2 3". */
static const char *ids_of(const hone_tokenizer *tok, const char *text, bool special)
{
    static hone_str s;
    hone_encoding   e = { 0 };

    hone_str_clear(&s);
    T_OK(hone_tokenizer_encode(tok, &e, text, strlen(text), special));
    for (size_t i = 0; i < e.len; i++)
        hone_str_printf(&s, i ? " %d" : "%d", e.data[i].id);
    HONE_VEC_DEINIT(&e);
    return hone_str_c(&s);
}

static void control_tokens_stay_whole(void **state)
{
    hone_tokenizer *tok = load("qwen2");
    hone_encoding   e = { 0 };
    const char     *text = "🥳🥳🥳<|im_end|>x";

    (void)state;
    T_OK(hone_tokenizer_encode(tok, &e, text, strlen(text), false));
    assert_int_equal(e.data[e.len - 2].id, hone_tokenizer_id(tok, "<|im_end|>"));
    assert_int_equal(e.data[e.len - 2].begin, 12);
    assert_int_equal(e.data[e.len - 2].end, 22);
    assert_string_equal(hone_tokenizer_content(tok, e.data[e.len - 1].id), "x");
    assert_true(hone_tokenizer_is_special(tok, e.data[e.len - 2].id));
    assert_false(hone_tokenizer_is_added(tok, e.data[e.len - 1].id));
    HONE_VEC_DEINIT(&e);
    hone_tokenizer_destroy(&tok);
}

/* The reference keeps one added token an id: the last one. */
static void a_later_token_takes_the_id(void **state)
{
    static const char json[] = "{\"added_tokens\":["
        "{\"id\":5,\"content\":\"bb\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":false},"
        "{\"id\":5,\"content\":\"<s>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":true}],"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"G\":3,\"<s>\":5},\"merges\":[\"a b\"]}}";
    hone_tokenizer *tok;

    (void)state;
    T_OK(hone_tokenizer_create(&tok, json, strlen(json), "tokenizer.json"));
    assert_string_equal(ids_of(tok, "bb<s>abb", false), "1 1 5 2 1");
    assert_int_equal(hone_tokenizer_id(tok, "bb"), 5);
    hone_tokenizer_destroy(&tok);
}

/* What one token stands for, whatever the decoder: streaming output. */
static void bytes_of_single_tokens(void **state)
{
    static const struct { const char *decoder, *content, *bytes; } cases[] = {
        { "{\"type\":\"ByteLevel\"}", "\xC4\xA0x", " x" },
        { "{\"type\":\"Metaspace\",\"replacement\":\"_\"}", "_x", " x" },
        { "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":false}", "##x", "x" },
        { "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}", ".", "." },
        { "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":false}", "x", " x" },
        { "{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}", "x</w>", "x " },
        { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"_\"},\"content\":\" \"},"
          "{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}", "<0xE2>", "\xE2" },
        { "{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"_\"},\"content\":\" \"},"
          "{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}", "_x", " x" },
        { "null", "x", "x" },
    };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        hone_str        json = HONE_STR_INIT, bytes = HONE_STR_INIT;
        hone_tokenizer *tok;

        hone_str_printf(&json, "{\"decoder\":%s,\"model\":{\"type\":\"BPE\",\"vocab\":{\"%s\":0},\"merges\":[]}}", cases[i].decoder,
                        cases[i].content);
        T_OK(hone_tokenizer_create(&tok, json.data, json.len, "tokenizer.json"));
        T_OK(hone_tokenizer_token_bytes(tok, &bytes, 0));
        if (strcmp(hone_str_c(&bytes), cases[i].bytes) != 0)
            fail_msg("case %zu: got '%s', wanted '%s'", i, hone_str_c(&bytes), cases[i].bytes);
        hone_str_deinit(&json);
        hone_str_deinit(&bytes);
        hone_tokenizer_destroy(&tok);
    }
}

static void one_bos_and_only_when_asked(void **state)
{
    hone_tokenizer *tok = load("llama3"), *none = load("qwen2");
    char            bos[16];

    (void)state;
    snprintf(bos, sizeof bos, "%d", hone_tokenizer_id(tok, "<|begin_of_text|>"));
    assert_string_equal(ids_of(tok, "", true), bos);
    assert_string_equal(ids_of(tok, "", false), "");
    assert_string_equal(ids_of(tok, "<|begin_of_text|>", false), bos);     /* what a template wrote is not doubled */
    assert_string_equal(ids_of(none, "", true), "");
    hone_tokenizer_destroy(&tok);
    hone_tokenizer_destroy(&none);
}

/* Tokens of a text that NFC does not change lie end to end; composed ones point at all they came from. */
static void offsets_cover_the_text(void **state)
{
    hone_tokenizer *tok = load("qwen2");
    hone_encoding   e = { 0 };
    const char     *text = "Hello, wörld 你好 🦙 12", *parts = "e\xCC\x81";
    uint32_t        at = 0;

    (void)state;
    T_OK(hone_tokenizer_encode(tok, &e, text, strlen(text), true));
    for (size_t i = 0; i < e.len; i++) {
        assert_int_equal(e.data[i].begin, at);
        at = e.data[i].end;
    }
    assert_int_equal(at, strlen(text));
    e.len = 0;
    T_OK(hone_tokenizer_encode(tok, &e, parts, strlen(parts), true));
    assert_int_equal(e.data[0].begin, 0);
    assert_int_equal(e.data[e.len - 1].end, 3);
    HONE_VEC_DEINIT(&e);
    hone_tokenizer_destroy(&tok);
}

static void ill_formed_text_is_refused(void **state)
{
    hone_tokenizer *tok = load("gpt2");
    hone_encoding   e = { 0 };

    (void)state;
    T_STATUS(hone_tokenizer_encode(tok, &e, "abc\xC3(", 5, true), HONE_E_DATA);
    T_ERROR_HAS("offset 3");
    assert_int_equal(e.len, 0);
    HONE_VEC_DEINIT(&e);
    hone_tokenizer_destroy(&tok);
}

static void decoding_restores_text(void **state)
{
    hone_tokenizer *tok = load("qwen2");
    const char     *text = "Größe <|im_end|> 🥳\n\n  x";
    hone_encoding   e = { 0 };
    hone_vec_i32    ids = { 0 };
    hone_str        out = HONE_STR_INIT, bytes = HONE_STR_INIT;

    (void)state;
    T_OK(hone_tokenizer_encode(tok, &e, text, strlen(text), true));
    for (size_t i = 0; i < e.len; i++) {
        T_OK(HONE_VEC_PUSH(&ids, e.data[i].id));
        T_OK(hone_tokenizer_token_bytes(tok, &bytes, e.data[i].id));
    }
    T_OK(HONE_VEC_PUSH(&ids, 12345678));        /* no such token: skipped */
    T_OK(hone_tokenizer_decode(tok, &out, ids.data, ids.len, false));
    assert_string_equal(out.data, text);
    assert_string_equal(bytes.data, text);
    hone_str_clear(&out);
    T_OK(hone_tokenizer_decode(tok, &out, ids.data, ids.len, true));
    assert_string_equal(out.data, "Größe  🥳\n\n  x");
    hone_str_clear(&out);       /* the lone lead byte of a two-byte character */
    ids.data[0] = hone_tokenizer_id(tok, "Ã");
    T_OK(hone_tokenizer_decode(tok, &out, ids.data, 1, true));
    assert_string_equal(out.data, "\xEF\xBF\xBD");
    HONE_VEC_DEINIT(&e);
    HONE_VEC_DEINIT(&ids);
    hone_str_deinit(&out);
    hone_str_deinit(&bytes);
    hone_tokenizer_destroy(&tok);
}

static void long_words_do_not_hang(void **state)
{
    hone_tokenizer *tok = load("gpt2");
    hone_encoding   e = { 0 };
    size_t          n = 1 << 20, sum = 0;
    char           *text = hone_calloc(n, 1);

    (void)state;
    for (int k = 0; k < 2; k++) {
        memset(text, k ? 'a' : ' ', n);
        e.len = 0;
        T_OK(hone_tokenizer_encode(tok, &e, text, n, true));
        for (size_t i = 0; i < e.len; i++)
            sum += e.data[i].end - e.data[i].begin;
    }
    assert_int_equal(sum, 2 * n);
    hone_free(text);
    HONE_VEC_DEINIT(&e);
    hone_tokenizer_destroy(&tok);
}

/* ---- directories ---- */

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    T_OK(hone_file_write_all(path, text, strlen(text)));
}

static void directories_name_special_tokens(void **state)
{
    char            dir[128];
    hone_tokenizer *tok;
    int32_t         id;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_IO);
    T_ERROR_HAS("tokenizer.json does not exist");
    write_file(dir, "tokenizer.json", FILE_WITH("", MODEL(VOCAB, "[\"a b\"]")));
    T_OK(hone_tokenizer_load(&tok, dir));
    assert_int_equal(hone_tokenizer_bos(tok), -1);
    assert_int_equal(hone_tokenizer_vocab_size(tok), 5);
    hone_tokenizer_destroy(&tok);
    /* add_bos_token has no effect beside a tokenizer.json; a token named and not there is added, and found in text. */
    write_file(dir, "tokenizer_config.json", "{\"bos_token\":{\"__type\":\"AddedToken\",\"content\":\"<s>\"},\"eos_token\":\"</s>\","
               "\"pad_token\":null,\"add_bos_token\":true,\"added_tokens_decoder\":{\"7\":{\"content\":\"ab\",\"special\":true}},"
               "\"extra_special_tokens\":[\"<x>\"]}");
    T_OK(hone_tokenizer_load(&tok, dir));
    assert_int_equal(hone_tokenizer_bos(tok), 4);
    id = hone_tokenizer_eos(tok);
    assert_int_equal(id, 5);
    assert_int_equal(hone_tokenizer_pad(tok), -1);
    assert_false(hone_tokenizer_adds_bos(tok));
    assert_true(hone_tokenizer_is_special(tok, 2));
    assert_string_equal(ids_of(tok, "a</s>b<x>ab", true), "0 5 1 6 2");
    hone_tokenizer_destroy(&tok);
    /* special_tokens_map.json counts where there is no added_tokens_decoder. */
    write_file(dir, "tokenizer_config.json", "{\"bos_token\":\"a\",\"image_token\":\"<i>\"}");
    write_file(dir, "special_tokens_map.json", "{\"bos_token\":{\"content\":\"b\"},\"additional_special_tokens\":[\"<y>\"]}");
    T_OK(hone_tokenizer_load(&tok, dir));
    assert_int_equal(hone_tokenizer_bos(tok), 1);
    assert_true(hone_tokenizer_is_special(tok, hone_tokenizer_id(tok, "<y>")));
    assert_string_equal(ids_of(tok, "<i>", true), "5");
    hone_tokenizer_destroy(&tok);
    write_file(dir, "tokenizer_config.json", "{\"bos_token\":7}");
    write_file(dir, "special_tokens_map.json", "{}");
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_FORMAT);
    T_ERROR_HAS("bos_token");
    T_OK(hone_dir_remove(dir));
}

/* ---- threads ---- */

typedef struct shared { const hone_tokenizer *tok; hone_mapped text; hone_hash hash[16]; } shared;

static void encode_task(void *arg, int64_t task, int worker)
{
    shared       *s = arg;
    hone_encoding e = { 0 };

    (void)worker;
    if (hone_tokenizer_encode(s->tok, &e, (const char *)s->text.data, s->text.size, true) == HONE_OK)
        s->hash[task] = hone_hash_bytes(e.data, e.len * sizeof *e.data);
    HONE_VEC_DEINIT(&e);
}

static void threads_share_a_tokenizer(void **state)
{
    hone_tokenizer *tok = load("llama3");
    shared          s = { .tok = tok };
    hone_pool      *pool;

    (void)state;
    T_OK(hone_file_map(&s.text, DATA "mixed.txt"));
    T_OK(hone_pool_create(&pool, 4));
    hone_pool_run(pool, HONE_COUNTOF(s.hash), encode_task, &s);
    for (size_t i = 0; i < HONE_COUNTOF(s.hash); i++) {
        assert_true(s.hash[i].hex[0]);
        assert_string_equal(s.hash[i].hex, s.hash[0].hex);
    }
    hone_pool_destroy(&pool);
    hone_file_unmap(&s.text);
    hone_tokenizer_destroy(&tok);
}

static void normal_forms(void **state)
{
    static const struct { hone_unicode_form form; const char *in, *out; } cases[] = {
        { HONE_NFC, "e\u0301", "\u00e9" }, { HONE_NFD, "\u00e9", "e\u0301" }, { HONE_NFKC, "\ufb01\u00b2", "fi2" },
        { HONE_NFC, "a\u0323\u0302", "\u1ead" }, { HONE_NFC, "\u1100\u1161\u11a8", "\uac01" }, { HONE_NFD, "\uac01", "\u1100\u1161\u11a8" },
        { HONE_NFC, "\u0958", "\u0915\u093c" }, { HONE_NFC, "a\u0300\u0316\u0334b", "\u00e0\u0334\u0316b" }, { HONE_NFC, "xy", "xy" },
    };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        hone_str      out = HONE_STR_INIT;
        hone_span_vec from = { 0 };

        T_OK(hone_unicode_normalize(&out, &from, cases[i].in, strlen(cases[i].in), cases[i].form));
        assert_string_equal(hone_str_c(&out), cases[i].out);
        assert_int_equal(from.len, out.len);
        hone_str_deinit(&out);
        HONE_VEC_DEINIT(&from);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_name_what_and_where), cmocka_unit_test(every_failed_allocation_is_an_error),
        cmocka_unit_test(control_tokens_stay_whole),
        cmocka_unit_test(a_later_token_takes_the_id), cmocka_unit_test(bytes_of_single_tokens), cmocka_unit_test(one_bos_and_only_when_asked),
        cmocka_unit_test(offsets_cover_the_text), cmocka_unit_test(ill_formed_text_is_refused),
        cmocka_unit_test(decoding_restores_text), cmocka_unit_test(long_words_do_not_hang),
        cmocka_unit_test(directories_name_special_tokens), cmocka_unit_test(threads_share_a_tokenizer),
        cmocka_unit_test(normal_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
