/*
 * Folders without tokenizer.json: the class that transformers would use, and its vocabulary files vocab.json with merges.txt,
 * or vocab.txt. What each class puts around them is as transformers 5 has it.
 */
#include "text/tokenizer/legacy.h"

#include "base/file.h"
#include "base/utf8.h"
#include "text/tokenizer/file.h"

#define WAY_OUT "load it with transformers' AutoTokenizer and save_pretrained it, which writes a tokenizer.json"

/* ---- small helpers ---- */

typedef enum part { NORMALIZER, PRETOKENIZER, DECODER } part;

/* Build a component from its JSON in tokenizer.json's form; NULL is none. */
static hone_status build(hone_tokenizer *t, part what, const char *text)
{
    json_t     *spec = NULL;
    hone_status st = text ? hone_json_parse(&spec, text, strlen(text), "component") : HONE_OK;

    if (st == HONE_OK)
        st = what == NORMALIZER     ? tok_normalizer_create(&t->normalizer, spec, "normalizer")
             : what == PRETOKENIZER ? tok_pretokenizer_create(&t->pretokenizer, spec, "pre_tokenizer")
                                    : tok_decoder_read(&t->decoder, spec, "decoder");
    json_decref(spec);
    return st;
}

hone_status tok_legacy_normalizer(hone_tokenizer *t, const char *text) { return build(t, NORMALIZER, text); }
hone_status tok_legacy_pretokenizer(hone_tokenizer *t, const char *text) { return build(t, PRETOKENIZER, text); }
hone_status tok_legacy_decoder(hone_tokenizer *t, const char *text) { return build(t, DECODER, text); }

hone_status tok_legacy_bool(bool *out, const tok_legacy_in *in, const char *key, bool absent, bool null)
{
    const json_t *v = json_object_get(in->config, key);

    HONE_CHECK(!v || json_is_null(v) || json_is_boolean(v), HONE_E_FORMAT, "%s/tokenizer_config.json: \"%s\" is not true or false",
               in->dir, key);
    *out = !v ? absent : json_is_null(v) ? null : json_is_true(v);
    return HONE_OK;
}

hone_status tok_legacy_name(tok_legacy *legacy, int name, const char *content, size_t n)
{
    hone_free(legacy->named[name]);
    legacy->named[name] = hone_strndup(content, n);
    return legacy->named[name] ? HONE_OK : HONE_E_NOMEM;
}

hone_status tok_legacy_name_all(tok_legacy *legacy, const char *const named[TOK_NAMES])
{
    for (int k = 0; k < TOK_NAMES; k++)
        if (named[k])
            HONE_TRY(tok_legacy_name(legacy, k, named[k], strlen(named[k])));
    return HONE_OK;
}

void tok_legacy_deinit(tok_legacy *legacy)
{
    for (int k = 0; k < TOK_NAMES; k++)
        hone_free(legacy->named[k]);
    for (size_t i = 0; i < legacy->extra.len; i++)
        hone_free(legacy->extra.data[i].content);
    HONE_VEC_DEINIT(&legacy->extra);
}

/* `list`: words with a space before and after each. */
static bool is_one_of(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; n && (p = strstr(p, word)); p += n)
        if (p > list && p[-1] == ' ' && p[n] == ' ')
            return true;
    return false;
}

/* ---- which class ---- */

/* Model types for which transformers uses no class of its own, whatever the folder names. */
static const char plain_types[] =
    " arctic aria chatlm cohere_asr ernie4_5 ernie4_5_moe flex_olmo fuyu glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe gpt_bigcode "
    "granite granitemoe granitemoehybrid granitemoeshared h2ovl_chat hyperclovax hyperclovax_vlm internlm2 internlm3 iquestcoder "
    "jamba kimi_k25 kimi_linear llava llava_next mimo_v2_flash minicpm3 minicpmv minimax_m2 ministral ministral3 mistral mistral3 "
    "mistral_large4 mixtral modernbert modernbert-decoder molmo molmo2 nemotron nystromformer olmo2 olmo3 olmo_hybrid opencua openvla "
    "paddleocr_vl persimmon phi3 phi3_v phimoe pixtral smolvlm stablelm step3_vl umt5 vipllava voxtral xlm-roberta-xl ";

/* The class of a model type; where `always`, over the one that the folder names. */
static const struct { const char *types, *class; bool always; } type_classes[] = {
    { " qwen2 ", "Qwen2Tokenizer", true },
    { " qwen2_moe qwen3 qwen3_moe qwen3_next qwen2_vl qwen2_5_vl qwen2_audio qwen3_vl qwen3_vl_moe ", "Qwen2Tokenizer", false },
    { " gpt2 gpt_neo gptj opt phi codegen dbrx starcoder2 jais2 ", "GPT2Tokenizer", false },
    { " gpt_neox falcon_mamba mamba mamba2 mpt olmo olmoe rwkv xlstm ", "GPTNeoXTokenizer", false },
    { " gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 t5gemma ", "GemmaTokenizer", false },
    { " cohere cohere2 aya_vision ", "CohereTokenizer", false }, { " code_llama ", "CodeLlamaTokenizer", false },
    { " t5 mt5 switch_transformers ", "T5Tokenizer", false }, { " xlm-roberta xmod ", "XLMRobertaTokenizer", false },
    { " roberta roberta-prelayernorm bart longformer led ", "RobertaTokenizer", false },
    { " bert distilbert electra megatron-bert ernie convbert mobilebert squeezebert nomic_bert ", "BertTokenizer", false },
};

/* Other names of the classes that are here. */
static const struct { const char *names, *class; } same_classes[] = {
    { " BartTokenizer LEDTokenizer LongformerTokenizer ", "RobertaTokenizer" }, { " Phi3Tokenizer ", "LlamaTokenizer" },
    { " DistilBertTokenizer ElectraTokenizer MobileBertTokenizer SqueezeBertTokenizer ", "BertTokenizer" },
    { " PreTrainedTokenizer PreTrainedTokenizerFast BloomTokenizer ", "TokenizersBackend" },
};

/* Classes of transformers that are not here. A name that transformers does not know either means no class of its own. */
static const char other_classes[] =
    " AlbertTokenizer BarthezTokenizer BartphoTokenizer BertGenerationTokenizer BertJapaneseTokenizer BertweetTokenizer "
    "BigBirdTokenizer BioGptTokenizer BlenderbotSmallTokenizer BlenderbotTokenizer ByT5Tokenizer CLIPTokenizer CTRLTokenizer "
    "CamembertTokenizer CanineTokenizer ClvpTokenizer CodeGenTokenizer ConvBertTokenizer CpmAntTokenizer CpmTokenizer "
    "DPRContextEncoderTokenizer DPRQuestionEncoderTokenizer DPRReaderTokenizer DebertaTokenizer DebertaV2Tokenizer DiaTokenizer "
    "EsmTokenizer EsmcTokenizer FNetTokenizer FSMTTokenizer FlaubertTokenizer FunnelTokenizer GPTNeoXJapaneseTokenizer "
    "GPTSw3Tokenizer HerbertTokenizer LasrTokenizer LayoutLMTokenizer LayoutLMv2Tokenizer LayoutLMv3Tokenizer LayoutXLMTokenizer "
    "LukeTokenizer LxmertTokenizer M2M100Tokenizer MBart50Tokenizer MBartTokenizer MLukeTokenizer MPNetTokenizer MarianTokenizer "
    "MarkupLMTokenizer MgpstrTokenizer MvpTokenizer MyT5Tokenizer NllbTokenizer NougatTokenizer OpenAIGPTTokenizer PLBartTokenizer "
    "ParakeetTokenizer PegasusTokenizer PerceiverTokenizer PhobertTokenizer ProphetNetTokenizer Qwen3_5Tokenizer RagTokenizer "
    "ReformerTokenizer RemBertTokenizer RoCBertTokenizer RoFormerTokenizer SeamlessM4TTokenizer Siglip2Tokenizer SiglipTokenizer "
    "Speech2TextTokenizer SpeechT5Tokenizer SplinterTokenizer TapasTokenizer Tipsv2Tokenizer UdopTokenizer VideoPrismTokenizer "
    "VitsTokenizer Wav2Vec2CTCTokenizer Wav2Vec2PhonemeCTCTokenizer WhisperTokenizer XGLMTokenizer XLMTokenizer XLNetTokenizer ";

/* The class for the name that the folder gives (NULL: none) and its model type ("": none); `name` is its own memory. */
static const char *choose_class(char name[80], const char *named, const char *type)
{
    const char *of_type = is_one_of(plain_types, type) ? "TokenizersBackend" : NULL;
    bool        always = of_type != NULL;
    size_t      n;

    for (size_t i = 0; i < HONE_COUNTOF(type_classes); i++)
        if (is_one_of(type_classes[i].types, type)) {
            of_type = type_classes[i].class;
            always = type_classes[i].always;
        }
    snprintf(name, 80, "%s", of_type && (always || !named) ? of_type : named ? named : "");
    n = strlen(name);
    if (n > 4 && strcmp(name + n - 4, "Fast") == 0 && strcmp(name, "PreTrainedTokenizerFast") != 0)
        name[n - 4] = '\0';
    for (size_t i = 0; i < HONE_COUNTOF(same_classes); i++)
        if (is_one_of(same_classes[i].names, name))
            return same_classes[i].class;
    return name;
}

static hone_status read_object(json_t **out, const char *dir, const char *name)
{
    HONE_TRY(hone_json_read_if_there(out, dir, name));
    HONE_CHECK(*out || (*out = json_object()), HONE_E_NOMEM, "out of memory");
    return HONE_OK;
}

/* ---- classes with a vocab.json and merges.txt, or a vocab.txt ---- */

#define BYTE_LEVEL(space, regex) \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":" space ",\"trim_offsets\":true,\"use_regex\":" regex "}"
#define END "<|endoftext|>"

static const struct table_class {
    const char *name;
    const char *named[TOK_NAMES];
    const char *normalizer, *pretokenizer;      /* %s: whether a space is put before */
    int         before, after;
    bool        readd_special;
} table_classes[] = {
    { "GPT2Tokenizer", { [TOK_BOS] = END, [TOK_EOS] = END, [TOK_UNK] = END }, NULL, BYTE_LEVEL("%s", "true"), TOK_ASKED, TOK_ASKED,
      false },
    { "GPTNeoXTokenizer", { [TOK_BOS] = END, [TOK_EOS] = END, [TOK_UNK] = END, [TOK_PAD] = "<|padding|>" }, "{\"type\":\"NFC\"}",
      BYTE_LEVEL("%s", "true"), TOK_ASKED, TOK_ASKED, false },
    { "RobertaTokenizer", { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" }, NULL, BYTE_LEVEL("%s", "true"), TOK_CLS,
      TOK_SEP, false },
    { "CohereTokenizer", { "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<UNK>", "<SEP>", "<PAD>", "<CLS>", "<MASK_TOKEN>" },
      "{\"type\":\"NFC\"}", "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},"
      BYTE_LEVEL("%s", "true") "]}", TOK_ASKED, TOK_ASKED, false },
    { "Qwen2Tokenizer", { [TOK_EOS] = END, [TOK_UNK] = END, [TOK_PAD] = END }, "{\"type\":\"NFC\"}",
      "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
      "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|"
      "\\\\s+(?!\\\\S)|\\\\s+\"},\"behavior\":\"Isolated\",\"invert\":false}," BYTE_LEVEL("%s", "false") "]}", TOK_ASKED, TOK_ASKED,
      true },
};

/* Each line of merges.txt: two tokens with one space between. */
static hone_status read_merges(hone_tokenizer *t, const char *text, size_t n, const char *path)
{
    uint32_t rank = 0;
    size_t   line = 0;

    for (size_t at = 0, len; at < n; at += len + 1) {
        const char *s = text + at, *end = memchr(s, '\n', n - at), *space;
        size_t      used;

        line++;
        len = used = end ? (size_t)(end - s) : n - at;
        used -= end && used && s[used - 1] == '\r';
        if (used >= 8 && memcmp(s, "#version", 8) == 0)
            continue;
        space = memchr(s, ' ', used);
        HONE_CHECK(space && !memchr(space + 1, ' ', used - (size_t)(space + 1 - s)), HONE_E_FORMAT,
                   "%s, line %zu: \"%.*s\" is not two tokens with one space between", path, line,
                   (int)HONE_MIN(used, (size_t)80), s);
        if (tok_bpe_add_merge(t->model, rank++, s, (size_t)(space - s), space + 1, used - (size_t)(space + 1 - s)) != HONE_OK)
            return hone_status_context(hone_status_last(), "in %s, line %zu", path, line);
    }
    return HONE_OK;
}

static hone_status read_table_files(hone_tokenizer *t, const char *dir)
{
    char           *vocab = hone_path_join(dir, "vocab.json"), *merges = hone_path_join(dir, "merges.txt");
    hone_mapped     v = { 0 }, m = { 0 };
    tok_file        file;
    tok_bpe_options o = { .bytes = tok_pretokenizer_ends_in_bytes(t->pretokenizer) };
    hone_status     st = vocab && merges ? HONE_OK : HONE_E_NOMEM;
    size_t          good;

    HONE_GO(st);
    HONE_GO(hone_file_map(&v, vocab));
    file = (tok_file){ vocab, (const char *)v.data, 0, v.size };
    HONE_GO(tok_file_stream_vocab(t, &file, (tok_part){ file.s, file.n }, "the vocabulary"));
    HONE_GO(tok_bpe_create(&t->model, &t->vocab, &o));
    HONE_GO_CHECK(hone_path_exists(merges), HONE_E_IO, "%s is missing; it belongs to %s", merges, vocab);
    HONE_GO(hone_file_map(&m, merges));
    good = hone_utf8_valid_prefix((const char *)m.data, m.size);
    HONE_GO_CHECK(good == m.size, HONE_E_FORMAT, "%s: invalid UTF-8 at offset %zu", merges, good);
    HONE_GO(read_merges(t, (const char *)m.data, m.size, merges));
out:
    hone_file_unmap(&v);
    hone_file_unmap(&m);
    hone_free(vocab);
    hone_free(merges);
    return st;
}

static hone_status read_table(hone_tokenizer *t, tok_legacy *legacy, const tok_legacy_in *in)
{
    const struct table_class *c = NULL;
    bool        space = false;
    char        text[1024];

    for (size_t i = 0; i < HONE_COUNTOF(table_classes); i++)
        if (strcmp(table_classes[i].name, in->class) == 0)
            c = &table_classes[i];
    HONE_CHECK(c, HONE_E_UNSUPPORTED, "%s has vocab.json and merges.txt and names the tokenizer class \"%s\"; without a "
               "tokenizer.json there are GPT2Tokenizer, GPTNeoXTokenizer, RobertaTokenizer, CohereTokenizer and Qwen2Tokenizer; "
               WAY_OUT, in->dir, in->class);
    HONE_TRY(tok_legacy_name_all(legacy, c->named));
    legacy->before = c->before;
    legacy->after = c->after;
    legacy->readd_special = c->readd_special;
    HONE_TRY(tok_legacy_bool(&space, in, "add_prefix_space", false, false));
    snprintf(text, sizeof text, c->pretokenizer, space ? "true" : "false");
    HONE_TRY(tok_legacy_normalizer(t, c->normalizer));
    HONE_TRY(tok_legacy_pretokenizer(t, text));
    HONE_TRY(tok_legacy_decoder(t, BYTE_LEVEL("true", "true")));
    return read_table_files(t, in->dir);
}

static const char *json_bool(bool v) { return v ? "true" : "false"; }

/* vocab.txt: a token on each line, without the white space at its end. */
static hone_status read_lines(hone_tokenizer *t, const char *path)
{
    hone_mapped map = { 0 };
    hone_status st;
    const char *s;
    size_t      good;
    int64_t     id = 0;

    HONE_GO(hone_file_map(&map, path));
    s = (const char *)map.data;
    good = hone_utf8_valid_prefix(s, map.size);
    HONE_GO_CHECK(good == map.size, HONE_E_FORMAT, "%s: invalid UTF-8 at offset %zu", path, good);
    t->vocab.repeats = true;
    for (size_t at = 0, len; at < map.size; at += len + 1) {
        const char *end = memchr(s + at, '\n', map.size - at);
        size_t      used = 0, step;

        len = end ? (size_t)(end - (s + at)) : map.size - at;
        for (size_t i = 0; i < len; i += step)
            if (!hone_unicode_has(hone_utf8_decode(s + at + i, &step), HONE_UC_SPACE))
                used = i + step;
        HONE_GO(tok_vocab_add(&t->vocab, s + at, used, id++));
    }
out:
    hone_file_unmap(&map);
    return st;
}

static hone_status read_bert(hone_tokenizer *t, tok_legacy *legacy, const tok_legacy_in *in)
{
    static const char *const named[TOK_NAMES] = { [TOK_UNK] = "[UNK]", [TOK_SEP] = "[SEP]", [TOK_PAD] = "[PAD]",
                                                  [TOK_CLS] = "[CLS]", [TOK_MASK] = "[MASK]" };
    const json_t *strip = json_object_get(in->config, "strip_accents"), *unk = json_object_get(in->config, "unk_token");
    const char   *unk_token = json_string_value(json_is_object(unk) ? json_object_get(unk, "content") : unk);
    bool          lower = true, chinese = true;
    char          text[256], *path = hone_path_join(in->dir, "vocab.txt");
    hone_status   st = path ? HONE_OK : HONE_E_NOMEM;

    HONE_GO(st);
    HONE_GO_CHECK(strcmp(in->class, "BertTokenizer") == 0, HONE_E_UNSUPPORTED, "%s has a vocab.txt and names the tokenizer class "
                  "\"%s\"; without a tokenizer.json there is BertTokenizer (and DistilBert-, Electra-, MobileBert-, "
                  "SqueezeBertTokenizer); " WAY_OUT, in->dir, in->class);
    HONE_GO(tok_legacy_name_all(legacy, named));
    legacy->before = TOK_CLS;
    legacy->after = TOK_SEP;
    HONE_GO(tok_legacy_bool(&lower, in, "do_lower_case", true, false));
    HONE_GO(tok_legacy_bool(&chinese, in, "tokenize_chinese_chars", true, false));
    snprintf(text, sizeof text, "{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":%s,\"strip_accents\":%s,"
             "\"lowercase\":%s}", json_bool(chinese), json_is_boolean(strip) ? json_bool(json_is_true(strip)) : "null",
             json_bool(lower));
    HONE_GO(tok_legacy_normalizer(t, text));
    HONE_GO(tok_legacy_pretokenizer(t, "{\"type\":\"BertPreTokenizer\"}"));
    HONE_GO(tok_legacy_decoder(t, "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}"));
    HONE_GO(read_lines(t, path));
    HONE_GO(tok_wordpiece_create(&t->model, &t->vocab, unk_token ? unk_token : "[UNK]", "##", 100));
out:
    hone_free(path);
    return st;
}

/* ---- the folder ---- */

bool tok_legacy_is(const char *dir)
{
    static const char *const files[] = { "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "vocab.txt",
                                         "tekken.json", "tiktoken.model" };

    for (size_t i = 0; i < HONE_COUNTOF(files); i++)
        if (hone_dir_has(dir, files[i]))
            return true;
    return false;
}

/* The file that transformers takes: tokenizer.model under that name, else the one that the class looks for. */
static hone_status read_files(hone_tokenizer *t, tok_legacy *legacy, const tok_legacy_in *in)
{
    const char *spm = hone_dir_has(in->dir, "tokenizer.model") ? "tokenizer.model" :
                      strcmp(in->class, "T5Tokenizer") == 0 ? "spiece.model" :
                      strcmp(in->class, "XLMRobertaTokenizer") == 0 ? "sentencepiece.bpe.model" : NULL;
    char       *path;
    hone_status st;

    HONE_CHECK(!hone_dir_has(in->dir, "tekken.json") && !hone_dir_has(in->dir, "tiktoken.model"), HONE_E_UNSUPPORTED,
               "%s has its vocabulary in %s, which is not implemented; " WAY_OUT, in->dir,
               hone_dir_has(in->dir, "tekken.json") ? "tekken.json" : "tiktoken.model");
    HONE_CHECK(!is_one_of(other_classes, in->class), HONE_E_UNSUPPORTED, "%s has no tokenizer.json and names the tokenizer class "
               "\"%s\", which is not implemented; " WAY_OUT, in->dir, in->class);
    if (spm && hone_dir_has(in->dir, spm)) {
        path = hone_path_join(in->dir, spm);
        st = path ? tok_legacy_read_spm(t, legacy, in, path) : HONE_E_NOMEM;
        hone_free(path);
        return st;
    }
    if (hone_dir_has(in->dir, "vocab.json"))
        return read_table(t, legacy, in);
    HONE_CHECK(hone_dir_has(in->dir, "vocab.txt"), HONE_E_UNSUPPORTED, "%s has no tokenizer.json, and no vocabulary file that the "
               "tokenizer class \"%s\" reads; " WAY_OUT, in->dir, in->class);
    return read_bert(t, legacy, in);
}

hone_status tok_legacy_read(hone_tokenizer *t, tok_legacy *legacy, const char *dir)
{
    json_t       *config = NULL, *model = NULL;
    const char   *named, *type;
    char          name[80];
    tok_legacy_in in;
    hone_status   st;

    *legacy = (tok_legacy){ .before = TOK_ASKED, .after = TOK_ASKED };
    HONE_GO(read_object(&config, dir, "tokenizer_config.json"));
    HONE_GO(read_object(&model, dir, "config.json"));
    named = json_string_value(json_object_get(config, "tokenizer_class"));
    if (!named)
        named = json_string_value(json_object_get(model, "tokenizer_class"));
    type = json_string_value(json_object_get(model, "model_type"));
    in = (tok_legacy_in){ dir, choose_class(name, named, type ? type : ""), config };
    HONE_GO_CHECK(*in.class, HONE_E_UNSUPPORTED, "%s has no tokenizer.json, and nothing says which tokenizer class its vocabulary is "
                  "for (tokenizer_class in tokenizer_config.json); " WAY_OUT, dir);
    HONE_GO_CHECK(!json_object_get(config, "auto_map") || is_one_of(plain_types, type ? type : ""), HONE_E_UNSUPPORTED,
                  "%s has no tokenizer.json, and its tokenizer is Python code of its own (auto_map in tokenizer_config.json); "
                  WAY_OUT, dir);
    HONE_GO(read_files(t, legacy, &in));
out:
    json_decref(config);
    json_decref(model);
    return st;
}
