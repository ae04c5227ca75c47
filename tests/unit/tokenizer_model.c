/* Tokenizer models by hand-made vocabularies, folders without tokenizer.json, SentencePiece files, batches. */
#include "hone_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "text/tokenizer.h"

#define SPACES "\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"▁\"},"
#define WORDS  "\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},"

static hone_tokenizer *make(const char *json)
{
    hone_tokenizer *tok;

    T_OK(hone_tokenizer_create(&tok, json, strlen(json), "tokenizer.json"));
    return tok;
}

/* Tokens of a text as "id:begin-end …" or, without spans, "id …". */
static const char *encoded(const hone_tokenizer *tok, const char *text, bool spans)
{
    static hone_str s;
    hone_encoding   e = { 0 };

    hone_str_clear(&s);
    T_OK(hone_tokenizer_encode(tok, &e, text, strlen(text), true));
    for (size_t i = 0; i < e.len; i++) {
        hone_str_printf(&s, i ? " %d" : "%d", e.data[i].id);
        if (spans)
            hone_str_printf(&s, ":%u-%u", e.data[i].begin, e.data[i].end);
    }
    HONE_VEC_DEINIT(&e);
    return hone_str_c(&s);
}

static hone_status try_encode(const hone_tokenizer *tok, const char *text)
{
    hone_encoding e = { 0 };
    hone_status   st = hone_tokenizer_encode(tok, &e, text, strlen(text), true);

    HONE_VEC_DEINIT(&e);
    return st;
}

/* ---- models ---- */

static void unigram_takes_the_best_path(void **state)
{
    hone_tokenizer *tok = make("{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],[\"a\",0],[\"b\",0],[\"c\",0],"
                               "[\"d\",0],[\"cd\",1],[\"ab\",2],[\"abc\",5],[\"abcd\",10]]}}");

    (void)state;
    assert_string_equal(encoded(tok, "abcdacdxx", true), "8:0-4 1:4-5 5:5-7 0:7-9");       /* unknown ones are one token */
    assert_string_equal(encoded(tok, "xaé🦙b", true), "0:0-1 1:1-2 0:2-8 2:8-9");
    assert_string_equal(encoded(tok, "a<unk>x", false), "1 0");     /* the unknown token's own text joins them */
    hone_tokenizer_destroy(&tok);
    /* Of equal sums the one whose last token is longer; a piece that is there twice is the last. */
    tok = make("{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"?\",-9],[\"a\",-1],[\"aa\",-1],[\"aaa\",-2],[\"a\",-1]]}}");
    assert_string_equal(encoded(tok, "aaa", false), "3");
    assert_string_equal(encoded(tok, "a", false), "4");
    assert_string_equal(hone_tokenizer_content(tok, 1), "a");
    assert_int_equal(hone_tokenizer_vocab_size(tok), 5);
    hone_tokenizer_destroy(&tok);
    /* The vocabulary has the run after all, at a score below that of its unknown characters. */
    tok = make("{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"?\",0],[\"xy\",-30]]}}");
    assert_string_equal(encoded(tok, "xy", false), "1");
    hone_tokenizer_destroy(&tok);
    tok = make("{\"model\":{\"type\":\"Unigram\",\"unk_id\":null,\"vocab\":[[\"a\",0]]}}");
    assert_string_equal(encoded(tok, "aa", false), "0 0");
    T_STATUS(try_encode(tok, "ax"), HONE_E_DATA);
    T_ERROR_HAS("no unknown token");
    hone_tokenizer_destroy(&tok);
}

/* "aab" as a+ab or aa+b: the sums differ in the last bit only, and only if scores are read as the reference reads them. */
static void scores_are_read_as_the_reference_reads_them(void **state)
{
    hone_tokenizer *tok = make("{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"?\",0],[\"a\",0],"
                               "[\"ab\",-7.92116485221362],[\"aa\",0],[\"b\",-7.9211648522136198]]}}");

    (void)state;
    assert_string_equal(encoded(tok, "aab", false), "3 4");
    hone_tokenizer_destroy(&tok);
}

static void unigram_falls_back_to_bytes(void **state)
{
    hone_str        json = HONE_STR_INIT;
    hone_tokenizer *tok;

    (void)state;
    hone_str_puts(&json, "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":[[\"<unk>\",0],[\"a\",-1]");
    for (int b = 0; b < 255; b++)       /* <0xFF> is missing, which no text needs */
        hone_str_printf(&json, ",[\"<0x%02X>\",-5]", (unsigned)b);
    hone_str_puts(&json, "]}}");
    tok = make(json.data);
    assert_string_equal(encoded(tok, "aéxa", true), "1:0-1 197:1-3 171:1-3 122:3-4 1:4-5");
    hone_tokenizer_destroy(&tok);
    hone_str_deinit(&json);
}

static void wordpiece_takes_the_longest(void **state)
{
    hone_tokenizer *tok = make("{" WORDS "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":"
                               "\"##\",\"max_input_chars_per_word\":10,\"vocab\":{\"[UNK]\":0,\"un\":1,\"##aff\":2,\"##able\":3,"
                               "\"##a\":4,\"##\":5,\"é\":6,\"##é\":7}}}");

    (void)state;
    assert_string_equal(encoded(tok, "unaffable una ##", true), "1:0-2 2:2-5 3:5-9 1:10-12 4:12-13 5:14-16");
    assert_string_equal(encoded(tok, "unaffablex x", true), "0:0-10 0:11-12");      /* unknown as a whole */
    assert_string_equal(encoded(tok, "éééééééééé ééééééééééé", false), "6 7 7 7 7 7 7 7 7 7 0");
    hone_tokenizer_destroy(&tok);
    tok = make("{" WORDS "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"\","
               "\"max_input_chars_per_word\":100,\"vocab\":{\"a\":1,\"bc\":2}}}");
    assert_string_equal(encoded(tok, "abca", false), "1 2 1");
    T_STATUS(try_encode(tok, "abd"), HONE_E_DATA);
    T_ERROR_HAS("\"[UNK]\"");
    hone_tokenizer_destroy(&tok);
}

static void wordlevel_knows_words(void **state)
{
    hone_tokenizer *tok = make("{" WORDS "\"model\":{\"vocab\":{\"<unk>\":3,\"the\":1,\"end\":2},\"unk_token\":\"<unk>\"}}");

    (void)state;
    assert_string_equal(encoded(tok, "the very end", true), "1:0-3 3:4-8 2:9-12");
    hone_tokenizer_destroy(&tok);
}

#define FALLBACK_VOCAB "{\"<unk>\":0,\"a\":1,\"▁\":2,\"▁a\":3,\"<0xC3>\":4,\"<0xA9>\":5,\"<0xF0>\":6,\"aa\":7,\"b\":8}"

static void bpe_falls_back_to_bytes(void **state)
{
    hone_tokenizer *tok = make("{" SPACES "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":true,"
                               "\"vocab\":" FALLBACK_VOCAB ",\"merges\":[\"▁ a\",[\"a\",\"a\"]]}}");

    (void)state;
    assert_string_equal(encoded(tok, " aé🦙xa", true), "3:0-2 4:2-4 5:2-4 0:4-9 1:9-10");   /* all bytes have the character's span */
    hone_tokenizer_destroy(&tok);
    tok = make("{" SPACES "\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"vocab\":" FALLBACK_VOCAB ",\"merges\":[\"a a\"]}}");
    assert_string_equal(encoded(tok, "xya", true), "0:0-1 0:1-2 1:2-3");
    hone_tokenizer_destroy(&tok);
    /* Without an unknown token a character vanishes, and its neighbours may merge. */
    tok = make("{\"model\":{\"type\":\"BPE\",\"vocab\":" FALLBACK_VOCAB ",\"merges\":[\"a a\"]}}");
    assert_string_equal(encoded(tok, "xaybaxa", true), "1:1-2 8:3-4 7:4-7");
    hone_tokenizer_destroy(&tok);
    tok = make("{\"model\":{\"type\":\"BPE\",\"unk_token\":\"?\",\"vocab\":" FALLBACK_VOCAB ",\"merges\":[]}}");
    T_STATUS(try_encode(tok, "ax"), HONE_E_DATA);
    T_ERROR_HAS("\"?\"");
    hone_tokenizer_destroy(&tok);
}

static void ignore_merges_is_about_whole_pieces(void **state)
{
    hone_tokenizer *tok = make("{" WORDS "\"model\":{\"type\":\"BPE\",\"ignore_merges\":true,\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"c\":3},"
                               "\"merges\":[]}}");

    (void)state;
    assert_string_equal(encoded(tok, "ab abc cab", false), "2 0 1 3 3 0 1");
    hone_tokenizer_destroy(&tok);
}

static void affixes_of_bpe(void **state)
{
    hone_tokenizer *tok = make("{" WORDS "\"model\":{\"type\":\"BPE\",\"continuing_subword_prefix\":\"##\",\"end_of_word_suffix\":\"</w>\","
                               "\"unk_token\":\"?\",\"byte_fallback\":true,\"vocab\":{\"?\":0,\"a\":1,\"##b\":2,\"##b</w>\":3,\"ab</w>\":4,"
                               "\"a</w>\":5,\"<0x23>\":6,\"<0x78>\":7,\"ab\":8},\"merges\":[\"a ##b</w>\",\"a ##b\"]}}");

    (void)state;
    assert_string_equal(encoded(tok, "ab abb a axb", true), "4:0-2 8:3-5 3:5-6 5:7-8 1:9-10 6:10-11 6:10-11 7:10-11 3:11-12");
    hone_tokenizer_destroy(&tok);
}

/* ---- pieces are cut where no merge joins: checked against merging whole texts one pair at a time ---- */

typedef struct pair { const char *a, *b; } pair;

/* Tokens of `text` (of one-byte characters) by the definition, as contents with '|' between. */
static void merge_by_definition(hone_str *out, const char *text, const pair *merges, size_t n)
{
    char   s[128];
    size_t len = 0;

    for (const char *c = text; *c; c++) {
        s[len++] = *c;
        s[len++] = '|';
    }
    s[len] = '\0';
    for (;;) {
        size_t best = n, where = 0;

        for (size_t m = 0; m < n && best == n; m++) {
            char both[64], *at = s;

            snprintf(both, sizeof both, "%s|%s|", merges[m].a, merges[m].b);
            while ((at = strstr(at, both)) && at != s && at[-1] != '|')
                at++;
            if (at) {
                best = m;
                where = (size_t)(at - s) + strlen(merges[m].a);
            }
        }
        if (best == n)
            break;
        memmove(s + where, s + where + 1, strlen(s + where));
    }
    hone_str_clear(out);
    hone_str_puts(out, s);
}

static void cutting_pieces_changes_nothing(void **state)
{
    static const pair merges[] = { { "a", "b" }, { "_", "a" }, { "_a", "b" }, { "c", "c" }, { "ab", "c" }, { "cc", "c" }, { "b", "_" },
                                   { "d", "d" }, { "_", "_" }, { "ab", "ab" }, { "dd", "a" } };
    hone_str        json = HONE_STR_INIT, want = HONE_STR_INIT, got = HONE_STR_INIT;
    hone_tokenizer *tok;
    hone_encoding   e = { 0 };
    hone_rng        r;
    int             id = 5;

    (void)state;
    hone_str_puts(&json, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"d\":3,\"_\":4");
    for (size_t i = 0; i < HONE_COUNTOF(merges); i++)
        hone_str_printf(&json, ",\"%s%s\":%d", merges[i].a, merges[i].b, id++);
    hone_str_puts(&json, "},\"merges\":[");
    for (size_t i = 0; i < HONE_COUNTOF(merges); i++)
        hone_str_printf(&json, "%s[\"%s\",\"%s\"]", i ? "," : "", merges[i].a, merges[i].b);
    hone_str_puts(&json, "]}}");
    tok = make(json.data);
    r = hone_rng_make(5, 0);
    for (int k = 0; k < 3000; k++) {
        char   text[40];
        size_t n = hone_rng_below(&r, sizeof text - 1) + 1;

        for (size_t i = 0; i < n; i++)
            text[i] = "abcd_"[hone_rng_below(&r, 5)];
        text[n] = '\0';
        merge_by_definition(&want, text, merges, HONE_COUNTOF(merges));
        e.len = 0;
        T_OK(hone_tokenizer_encode(tok, &e, text, n, false));
        hone_str_clear(&got);
        for (size_t i = 0; i < e.len; i++)
            hone_str_printf(&got, "%s|", hone_tokenizer_content(tok, e.data[i].id));
        assert_string_equal(hone_str_c(&got), hone_str_c(&want));
    }
    HONE_VEC_DEINIT(&e);
    hone_tokenizer_destroy(&tok);
    hone_str_deinit(&json);
    hone_str_deinit(&want);
    hone_str_deinit(&got);
}

/* Megabytes in one piece, joined or not. */
static void long_pieces_do_not_hang(void **state)
{
    static const char *const models[] = {
        "{\"type\":\"BPE\",\"unk_token\":\"?\",\"fuse_unk\":true,\"vocab\":{\"?\":0,\"a\":1,\"aa\":2,\"aaaa\":3},\"merges\":[\"a a\",\"aa aa\"]}",
        "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"?\",0],[\"a\",-1],[\"aa\",-1.5],[\"aaaa\",-2]]}",
        ("{\"type\":\"WordPiece\",\"unk_token\":\"?\",\"continuing_subword_prefix\":\"\",\"max_input_chars_per_word\":100000000,"
         "\"vocab\":{\"?\":0,\"a\":1,\"aa\":2,\"aaaa\":3}}"),
    };
    size_t n = 2 << 20;
    char  *text = hone_calloc(n, 1);

    (void)state;
    memset(text, 'a', n);
    for (size_t i = 0; i < HONE_COUNTOF(models); i++) {
        hone_str        json = HONE_STR_INIT;
        hone_encoding   e = { 0 };
        hone_tokenizer *tok;

        hone_str_printf(&json, "{\"model\":%s}", models[i]);
        tok = make(json.data);
        T_OK(hone_tokenizer_encode(tok, &e, text, n, false));
        assert_int_equal(e.len, n / 4);
        assert_int_equal(e.data[e.len - 1].end, n);
        HONE_VEC_DEINIT(&e);
        hone_tokenizer_destroy(&tok);
        hone_str_deinit(&json);
    }
    hone_free(text);
}

static void model_refusals(void **state)
{
    static const struct { const char *model, *says; hone_status want; } cases[] = {
        { "{\"type\":\"Unigram\",\"unk_id\":3,\"vocab\":[[\"a\",0]]}", "unk_id is 3", HONE_E_FORMAT },
        { "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":{\"a\":0}}", "another kind of value", HONE_E_FORMAT },
        { "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"a\"]]}", "fewer than two", HONE_E_FORMAT },
        { "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"a\",0,1]]}", "a number", HONE_E_FORMAT },
        { "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"a\",1e999]]}", "too large", HONE_E_FORMAT },
        { "{\"type\":\"Unigram\",\"unk_id\":0.5,\"vocab\":[[\"a\",0]]}", "not a whole number", HONE_E_FORMAT },
        { "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"a\",0]],\"merges\":[]}", "\"merges\" that is not known for Unigram",
          HONE_E_UNSUPPORTED },
        { "{\"type\":\"Unigram\",\"unk_id\":0}", "needs \"vocab\"", HONE_E_FORMAT },
        { "{\"type\":\"WordPiece\",\"vocab\":{}}", "needs \"vocab\" and \"unk_token\"", HONE_E_FORMAT },
        { "{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{},\"continuing_subword_prefix\":\"##\"}", "max_input_chars", HONE_E_FORMAT },
        { "{\"type\":\"WordLevel\",\"vocab\":{}}", "unk_token", HONE_E_FORMAT },
        { "{\"type\":7,\"vocab\":{}}", "model.type is not a string", HONE_E_FORMAT },
    };

    (void)state;
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        hone_str        json = HONE_STR_INIT;
        hone_tokenizer *tok;

        hone_str_printf(&json, "{\"model\":%s}", cases[i].model);
        T_STATUS(hone_tokenizer_create(&tok, json.data, json.len, "f"), cases[i].want);
        T_ERROR_HAS(cases[i].says);
        hone_str_deinit(&json);
    }
}

/* ---- folders without tokenizer.json ---- */

static void put(const char *dir, const char *name, const void *data, size_t n)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    T_OK(hone_file_write_all(path, data, n ? n : strlen(data)));
}

#define GPT2_VOCAB "{\"a\":0,\"b\":1,\"ab\":2,\"Ġ\":3,\"<|endoftext|>\":4}"

static void vocab_and_merges(void **state)
{
    char            dir[128];
    hone_tokenizer *tok;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    put(dir, "vocab.json", GPT2_VOCAB, 0);
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("tokenizer_class");
    T_ERROR_HAS("save_pretrained");
    put(dir, "config.json", "{\"model_type\":\"gpt2\"}", 0);
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_IO);
    T_ERROR_HAS("merges.txt");
    put(dir, "merges.txt", "#version: 0.2\r\na b\r\n", 0);
    T_OK(hone_tokenizer_load(&tok, dir));
    assert_string_equal(encoded(tok, "ab a<|endoftext|>", true), "2:0-2 3:2-3 0:3-4 4:4-17");
    assert_int_equal(hone_tokenizer_bos(tok), 4);
    assert_int_equal(hone_tokenizer_eos(tok), 4);
    hone_tokenizer_destroy(&tok);
    /* What tokenizer_config.json says counts here, unlike beside a tokenizer.json; added_tokens.json gives ids in its order of ids. */
    put(dir, "tokenizer_config.json", "{\"tokenizer_class\":\"GPT2TokenizerFast\",\"add_bos_token\":true,\"add_eos_token\":true,"
        "\"eos_token\":\"</s>\",\"add_prefix_space\":true}", 0);
    put(dir, "added_tokens.json", "{\"zz\":6,\"</s>\":5}", 0);
    T_OK(hone_tokenizer_load(&tok, dir));
    assert_string_equal(encoded(tok, "abzz", false), "4 3 2 6 5");
    assert_true(hone_tokenizer_is_special(tok, 5));
    assert_false(hone_tokenizer_is_special(tok, 6));
    hone_tokenizer_destroy(&tok);
    put(dir, "merges.txt", "a b\na  b\n", 0);
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_FORMAT);
    T_ERROR_HAS("merges.txt, line 2");
    put(dir, "merges.txt", "a b\nb x\n", 0);
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_FORMAT);
    T_ERROR_HAS("no token \"x\"");
    put(dir, "tokenizer_config.json", "{\"tokenizer_class\":\"WhisperTokenizer\"}", 0);
    put(dir, "config.json", "{\"model_type\":\"whisper\"}", 0);
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("\"WhisperTokenizer\"");
    put(dir, "tokenizer_config.json", "{\"tokenizer_class\":\"GPT2Tokenizer\",\"auto_map\":{}}", 0);
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("auto_map");
    put(dir, "tokenizer_config.json", "{\"tokenizer_class\":\"GPT2Tokenizer\"}", 0);
    put(dir, "tekken.json", "{}", 0);
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("tekken.json");
    T_OK(hone_dir_remove(dir));
}

static void vocab_txt(void **state)
{
    char            dir[128];
    hone_tokenizer *tok;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    put(dir, "config.json", "{\"model_type\":\"bert\"}", 0);
    put(dir, "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun  \nun\u3000\n##able\ncafe\n,\n", 0);
    T_OK(hone_tokenizer_load(&tok, dir));
    assert_string_equal(encoded(tok, "Unable, CAF\u00c9 xyz[MASK]", true), "2:0-0 6:0-2 7:2-6 9:6-7 8:8-13 1:14-17 4:17-23 3:23-23");
    hone_tokenizer_destroy(&tok);
    put(dir, "tokenizer_config.json", "{\"tokenizer_class\":\"MPNetTokenizer\"}", 0);
    T_STATUS(hone_tokenizer_load(&tok, dir), HONE_E_UNSUPPORTED);
    T_ERROR_HAS("\"MPNetTokenizer\"");
    T_OK(hone_dir_remove(dir));
}

/* ---- SentencePiece files, written by hand ---- */

static void put_varint(hone_str *s, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        hone_str_putc(s, (char)(v | 0x80));
    hone_str_putc(s, (char)v);
}

static void put_bytes(hone_str *s, unsigned field, const char *data, size_t n)
{
    put_varint(s, field << 3 | 2);
    put_varint(s, n);
    hone_str_append(s, data, n);
}

static void put_number(hone_str *s, unsigned field, uint64_t v)
{
    put_varint(s, field << 3);
    put_varint(s, v);
}

static void put_piece(hone_str *file, const char *piece, float score, unsigned type)
{
    hone_str s = HONE_STR_INIT;

    put_bytes(&s, 1, piece, strlen(piece));
    put_varint(&s, 2 << 3 | 5);
    hone_str_append(&s, &score, 4);
    if (type != 1)
        put_number(&s, 3, type);
    put_number(&s, 99, 7);      /* a field that is not known is skipped */
    put_bytes(file, 1, s.data, s.len);
    hone_str_deinit(&s);
}

/* Pieces: <unk> 0, <s> 1, </s> 2, then some, then <0x00> … from 20 on. */
static hone_str spm_file(unsigned model_type)
{
    static const struct { const char *piece; float score; unsigned type; } pieces[] = {
        { "<unk>", 0, 2 }, { "<s>", 0, 3 }, { "</s>", 0, 3 }, { "<tool>", 0, 4 }, { "\u2581a", -1, 1 }, { "ab", 0, 1 }, { "\u2581ab", -2, 1 },
        { "\u2581", -3, 1 }, { "a", -4, 1 }, { "b", -5, 1 }, { "c", -6, 1 }, { "bc", -0.5f, 1 }, { "x0", -9, 1 }, { "x1", -9, 1 },
        { "x2", -9, 1 }, { "x3", -9, 1 }, { "x4", -9, 1 }, { "x5", -9, 1 }, { "x6", -9, 1 }, { "x7", -9, 1 },
    };
    hone_str file = HONE_STR_INIT, spec = HONE_STR_INIT;
    char     name[8];

    for (size_t i = 0; i < HONE_COUNTOF(pieces); i++)
        put_piece(&file, pieces[i].piece, pieces[i].score, pieces[i].type);
    for (unsigned b = 0; b < 256; b++) {
        snprintf(name, sizeof name, "<0x%02X>", b);
        put_piece(&file, name, 0, 6);
    }
    put_number(&spec, 3, model_type);
    put_number(&spec, 35, 1);
    put_bytes(&file, 2, spec.data, spec.len);
    hone_str_clear(&spec);
    put_number(&spec, 4, 0);
    put_bytes(&file, 3, spec.data, spec.len);
    hone_str_deinit(&spec);
    T_OK(hone_str_ok(&file));
    return file;
}

static void sentencepiece_models(void **state)
{
    static const struct { unsigned type; const char *class, *config, *text, *want; } cases[] = {
        /* Ranks by id. The dummy prefix: only at the start, or with legacy after each added token too. */
        { 2, "LlamaTokenizer", "", "abc<s>abé", "6 10 1 5 215 189" },
        { 2, "LlamaTokenizer", ",\"legacy\":true,\"add_bos_token\":true", "abc<s>abé", "1 6 10 1 6 215 189" },
        { 2, "LlamaTokenizer", ",\"add_prefix_space\":false,\"add_eos_token\":true", "ab<tool>", "5 3 2" },
        { 2, "CodeLlamaTokenizer", "", "ab", "1 6" },
        { 2, "GemmaTokenizer", ",\"bos_token\":\"<s>\",\"add_bos_token\":true", "ab ab", "1 5 6" },
        { 1, "T5Tokenizer", ",\"extra_ids\":3", "ab <extra_id_0>c", "6 278 7 10 2" },
        { 1, "XLMRobertaTokenizer", "", "ab", "0 7 2" },
        /* No class: by score, as the file says. */
        { 2, "NobodyTokenizer", "", "abc", "6 10" },
        { 2, "NobodyTokenizer", ",\"added_tokens_decoder\":{\"12\":{\"content\":\"<|x|>\",\"special\":true}}", "ab<|x|>b<tool>", "6 12 7 9 3" },
        { 1, "NobodyTokenizer", ",\"legacy\":false", "ab<s>bcz", "6 1 11 142" },
    };
    char            dir[128], config[256];
    hone_tokenizer *tok;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        hone_str file = spm_file(cases[i].type);

        put(dir, "tokenizer.model", file.data, file.len);
        snprintf(config, sizeof config, "{\"tokenizer_class\":\"%s\"%s}", cases[i].class, cases[i].config);
        put(dir, "tokenizer_config.json", config, 0);
        T_OK(hone_tokenizer_load(&tok, dir));
        if (strcmp(encoded(tok, cases[i].text, false), cases[i].want) != 0)
            fail_msg("%s%s: got %s, wanted %s", cases[i].class, cases[i].config, encoded(tok, cases[i].text, false), cases[i].want);
        hone_tokenizer_destroy(&tok);
        hone_str_deinit(&file);
    }
    T_OK(hone_dir_remove(dir));
}

static void damaged_sentencepiece_models(void **state)
{
    static const struct { const char *data, *says; hone_status want; } cases[] = {
        { "", "no pieces", HONE_E_FORMAT }, { "IQ== 0\nIg== 1\n", "tiktoken", HONE_E_UNSUPPORTED }, { "{\"a\":1}", "not a SentencePiece model", HONE_E_FORMAT },
        { "\x0A\x03\x0A\x01\xFF", "not UTF-8", HONE_E_FORMAT }, { "\x0A\x7F\x0A\x01x", "outermost", HONE_E_FORMAT },
        { "\x0A\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "outermost", HONE_E_FORMAT }, { "\x0A\x02\x0A\x05", "a piece", HONE_E_FORMAT },
        { "\x0A\x01\x0B", "a piece", HONE_E_FORMAT }, { "\x0A\x03\x0A\x01x\x12\x01\x08", "trainer_spec", HONE_E_FORMAT },
        { "\x0A\x08\x0A\x01x\x15\x01\x01\x80\x7F", "not a number", HONE_E_FORMAT },
    };
    hone_str        file = spm_file(2);
    char            dir[128], path[256];
    hone_tokenizer *tok;

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    snprintf(path, sizeof path, "%s/tokenizer.model", dir);
    put(dir, "tokenizer_config.json", "{\"tokenizer_class\":\"LlamaTokenizer\"}", 0);
    for (size_t i = 0; i < HONE_COUNTOF(cases); i++) {
        T_OK(hone_file_write_all(path, cases[i].data, strlen(cases[i].data)));
        T_STATUS(hone_tokenizer_load(&tok, dir), cases[i].want);
        T_ERROR_HAS(cases[i].says);
    }
    for (size_t n = 1; n < file.len; n += n < 400 ? 1 : 97) {      /* cut short: refused, or whole pieces less */
        hone_status st;

        T_OK(hone_file_write_all(path, file.data, n));
        st = hone_tokenizer_load(&tok, dir);
        assert_true(st == HONE_OK || st == HONE_E_FORMAT);
        hone_tokenizer_destroy(&tok);
    }
    T_OK(hone_dir_remove(dir));
    hone_str_deinit(&file);
}

static void every_failed_allocation_is_an_error(void **state)
{
    static const char *const classes[] = { "LlamaTokenizer", "T5Tokenizer", "NobodyTokenizer" };
    char dir[128], config[128];

    (void)state;
    snprintf(dir, sizeof dir, "%s", t_temp_dir());
    for (size_t i = 0; i < HONE_COUNTOF(classes); i++) {
        hone_str        file = spm_file(2);
        hone_tokenizer *tok;
        hone_status     st = HONE_E_NOMEM;

        put(dir, "tokenizer.model", file.data, file.len);
        snprintf(config, sizeof config, "{\"tokenizer_class\":\"%s\"}", classes[i]);
        put(dir, "tokenizer_config.json", config, 0);
        for (int64_t n = 0; st != HONE_OK; n += 1 + n / 50) {
            assert_true(n < 100000);
            hone_mem_fail_at(n);
            st = hone_tokenizer_load(&tok, dir);
            if (hone_mem_fail_reached()) {
                hone_mem_fail_at(-1);
                T_STATUS(st, HONE_E_NOMEM);
            }
            hone_mem_fail_at(-1);
            assert_true((st == HONE_OK) == (tok != NULL));
            hone_tokenizer_destroy(&tok);
        }
        hone_str_deinit(&file);
    }
    T_OK(hone_dir_remove(dir));
}

/* ---- batches ---- */

static void batches_do_not_depend_on_threads(void **state)
{
    enum { N = 500 };
    hone_tokenizer *tok;
    hone_mapped     text;
    hone_text       texts[N];
    hone_encoding   want[N] = { { 0 } }, got[N] = { { 0 } };
    hone_pool      *pool;

    (void)state;
    T_OK(hone_tokenizer_load(&tok, TEST_DATA "/data/tokenizer/qwen2"));
    T_OK(hone_file_map(&text, TEST_DATA "/data/tokenizer/mixed.txt"));
    for (size_t i = 0, at = 0; i < N; i++) {
        const char *s = (const char *)text.data + at, *lf = memchr(s, '\n', text.size - at);

        texts[i] = (hone_text){ s, lf ? (size_t)(lf - s) : text.size - at };
        at += lf ? texts[i].n + 1 : 0;
    }
    T_OK(hone_tokenizer_encode_batch(tok, NULL, want, texts, N, true));
    T_OK(hone_pool_create(&pool, 3));
    T_OK(hone_tokenizer_encode_batch(tok, pool, got, texts, N, true));
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(got[i].len, want[i].len);
        assert_memory_equal(got[i].data ? (void *)got[i].data : "", want[i].data ? (void *)want[i].data : "", got[i].len * sizeof *got[i].data);
    }
    T_OK(hone_tokenizer_encode_batch(tok, pool, got, texts, 0, true));
    texts[400] = texts[77] = (hone_text){ "a\xFF", 2 };
    T_STATUS(hone_tokenizer_encode_batch(tok, pool, got, texts, N, true), HONE_E_DATA);
    T_ERROR_HAS("text 77 ");
    for (size_t i = 0; i < N; i++) {
        HONE_VEC_DEINIT(&want[i]);
        HONE_VEC_DEINIT(&got[i]);
    }
    hone_pool_destroy(&pool);
    hone_file_unmap(&text);
    hone_tokenizer_destroy(&tok);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unigram_takes_the_best_path), cmocka_unit_test(scores_are_read_as_the_reference_reads_them),
        cmocka_unit_test(unigram_falls_back_to_bytes), cmocka_unit_test(wordpiece_takes_the_longest),
        cmocka_unit_test(wordlevel_knows_words), cmocka_unit_test(bpe_falls_back_to_bytes),
        cmocka_unit_test(ignore_merges_is_about_whole_pieces), cmocka_unit_test(affixes_of_bpe),
        cmocka_unit_test(cutting_pieces_changes_nothing), cmocka_unit_test(long_pieces_do_not_hang), cmocka_unit_test(model_refusals),
        cmocka_unit_test(vocab_and_merges), cmocka_unit_test(vocab_txt), cmocka_unit_test(sentencepiece_models),
        cmocka_unit_test(damaged_sentencepiece_models), cmocka_unit_test(every_failed_allocation_is_an_error),
        cmocka_unit_test(batches_do_not_depend_on_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
