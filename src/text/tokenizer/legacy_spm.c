/*
 * What transformers 5 makes of a SentencePiece model. A class of its own (LlamaTokenizer, GemmaTokenizer, T5Tokenizer …) takes the
 * pieces and puts its own components around them, whatever the file says of normalization; without one, the components follow
 * the file. Merges are made from the vocabulary: each way to cut a piece into two others.
 */
#include "text/tokenizer/legacy.h"

#include "base/file.h"
#include "base/utf8.h"
#include "text/tokenizer/spm.h"

#define MARK "\xE2\x96\x81"     /* U+2581, which stands for a space */

typedef HONE_VEC(double) score_vec;

typedef struct job {
    hone_tokenizer      *t;
    tok_legacy          *legacy;
    const tok_legacy_in *in;
    const tok_spm       *spm;
    score_vec            scores;        /* of a Unigram model, by id */
} job;

/* ---- BPE ---- */

/* A piece whose cuts give the next merges. */
typedef struct ranked { float score; int32_t id; } ranked;

static int by_score(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool is_normal(const tok_spm *spm, int32_t id)
{
    return id >= 0 && (size_t)id < spm->pieces.len && spm->pieces.data[id].type == TOK_SPM_NORMAL;
}

/* Add a merge for each way to cut the content of `id` in two; `normal`: only into normal pieces. */
static hone_status add_merges(job *j, int32_t id, bool normal, uint32_t *rank)
{
    const tok_vocab *v = &j->t->vocab;
    size_t           n = 0, len;
    const char      *s = tok_vocab_content(v, id, &n);

    for (size_t at = 0; at < n; at += len) {
        int32_t left = -1, right;

        len = hone_utf8_len((unsigned char)s[at]);
        if (at > 0)
            left = tok_vocab_find(v, s, at);
        if (left < 0)
            continue;
        right = tok_vocab_find(v, s + at, n - at);
        if (right < 0 || (normal && (!is_normal(j->spm, left) || !is_normal(j->spm, right))))
            continue;
        HONE_TRY(tok_bpe_add_merge(j->t->model, (*rank)++, s, at, s + at, n - at));
    }
    return HONE_OK;
}

/* Merges in the order of the ids of what they make. */
static hone_status merges_by_id(job *j)
{
    const tok_vocab *v = &j->t->vocab;
    uint32_t         rank = 0;
    size_t           n;

    for (int32_t id = 0; id < v->end; id++) {
        const char *s = tok_vocab_content(v, id, &n);

        if (s && tok_vocab_find(v, s, n) == id)
            HONE_TRY(add_merges(j, id, false, &rank));
    }
    return HONE_OK;
}

/* Merges as SentencePiece ranks them: normal pieces only, by score. */
static hone_status merges_by_score(job *j)
{
    const tok_vocab *v = &j->t->vocab;
    HONE_VEC(ranked) list = { 0 };
    uint32_t         rank = 0;
    hone_status      st = HONE_OK;
    size_t           n;

    for (int32_t id = 0; id < v->end; id++) {
        const char *s = tok_vocab_content(v, id, &n);

        if (s && is_normal(j->spm, id) && tok_vocab_find(v, s, n) == id)
            HONE_GO(HONE_VEC_PUSH(&list, (ranked){ j->spm->pieces.data[id].score, id }));
    }
    if (list.len)
        qsort(list.data, list.len, sizeof *list.data, by_score);
    for (size_t i = 0; i < list.len; i++)
        HONE_GO(add_merges(j, list.data[i].id, true, &rank));
out:
    HONE_VEC_DEINIT(&list);
    return st;
}

static hone_status add_pieces(job *j)
{
    j->t->vocab.repeats = true;
    for (size_t i = 0; i < j->spm->pieces.len; i++)
        HONE_TRY(tok_vocab_add(&j->t->vocab, j->spm->pieces.data[i].piece.s, j->spm->pieces.data[i].piece.n, (int64_t)i));
    return HONE_OK;
}

/* The token that tokenizer_config.json's added_tokens_decoder names for an id; NULL if none. */
static const char *renamed(const job *j, size_t id)
{
    char key[24];

    snprintf(key, sizeof key, "%zu", id);
    return json_string_value(json_object_get(json_object_get(json_object_get(j->in->config, "added_tokens_decoder"), key), "content"));
}

/* Whether some piece that keeps its own name has this one: then no other takes it. */
static bool is_kept(const job *j, const tok_vocab *pieces, const char *name)
{
    int32_t id = tok_vocab_find(pieces, name, strlen(name));

    return id >= 0 && !renamed(j, (size_t)id);
}

/* The pieces under the names that added_tokens_decoder gives them. */
static hone_status add_renamed(job *j)
{
    tok_vocab   plain;
    size_t      n;
    hone_status st;

    HONE_TRY(add_pieces(j));
    if (!json_object_size(json_object_get(j->in->config, "added_tokens_decoder")))
        return HONE_OK;
    plain = j->t->vocab;
    j->t->vocab = (tok_vocab){ .repeats = true };
    st = HONE_OK;
    for (int32_t id = 0; id < plain.end; id++) {
        const char *s = tok_vocab_content(&plain, id, &n), *name = renamed(j, (size_t)id);

        if (tok_vocab_find(&plain, s, n) != id)
            continue;
        if (name && !is_kept(j, &plain, name)) {
            s = name;
            n = strlen(name);
        }
        HONE_GO(tok_vocab_add(&j->t->vocab, s, n, id));
    }
out:
    tok_vocab_deinit(&plain);
    return st;
}

/* ---- Unigram ---- */

static hone_status add_scored(job *j, const char *s, size_t n, double score)
{
    j->t->vocab.repeats = true;
    HONE_TRY(tok_vocab_add(&j->t->vocab, s, n, (int64_t)j->scores.len));
    return HONE_VEC_PUSH(&j->scores, score);
}

static hone_status add_scored_pieces(job *j, size_t first)
{
    for (size_t i = first; i < j->spm->pieces.len; i++)
        HONE_TRY(add_scored(j, j->spm->pieces.data[i].piece.s, j->spm->pieces.data[i].piece.n, j->spm->pieces.data[i].score));
    return HONE_OK;
}

static hone_status create_unigram(job *j, int32_t unk_id, bool byte_fallback)
{
    tok_vocab *v = &j->t->vocab;

    HONE_CHECK(unk_id >= 0 && unk_id < v->end, HONE_E_FORMAT, "the unknown token has id %d; there are %d pieces", (int)unk_id,
               (int)v->end);
    v->n = (size_t)v->end;      /* the reference counts all */
    HONE_TRY(tok_unigram_create_take(&j->t->model, v, j->scores.data, unk_id, byte_fallback, NULL));
    j->scores = (score_vec){ 0 };
    return HONE_OK;
}

/* ---- components ---- */

/* What transformers adds for the file's own control and user-defined symbols. */
static hone_status add_symbols(job *j, bool user)
{
    for (size_t i = 0; i < j->spm->pieces.len; i++) {
        const tok_spm_piece *p = &j->spm->pieces.data[i];
        tok_added            t = { .n = p->piece.n, .special = p->type == TOK_SPM_CONTROL };

        if (p->type != TOK_SPM_CONTROL && (p->type != TOK_SPM_USER || !user))
            continue;
        t.content = hone_strndup(p->piece.s, p->piece.n);
        if (!t.content)
            return HONE_E_NOMEM;
        if (HONE_VEC_PUSH(&j->legacy->extra, t) != HONE_OK) {
            hone_free(t.content);
            return HONE_E_NOMEM;
        }
    }
    return HONE_OK;
}

static hone_status add_special(job *j, const char *content)
{
    tok_added t = { .content = hone_strdup(content), .n = strlen(content), .special = true };

    if (!t.content)
        return HONE_E_NOMEM;
    if (HONE_VEC_PUSH(&j->legacy->extra, t) == HONE_OK)
        return HONE_OK;
    hone_free(t.content);
    return HONE_E_NOMEM;
}

/* {"type":"Precompiled", …} for the file's table of replacements. */
static void put_charsmap(hone_str *out, tok_bytes map)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    hone_str_puts(out, "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"");
    for (size_t i = 0; i < map.n; i += 3) {
        uint32_t three = 0;

        for (size_t k = 0; k < 3; k++)
            three = three << 8 | (i + k < map.n ? (unsigned char)map.s[i + k] : 0u);
        for (size_t k = 0; k < 4; k++)
            hone_str_putc(out, k <= map.n - i ? digits[three >> (18 - 6 * k) & 63] : '=');
    }
    hone_str_puts(out, "\"}");
}

static hone_status charsmap_only(job *j)
{
    hone_str    text = HONE_STR_INIT;
    hone_status st = HONE_OK;

    if (j->spm->charsmap.n == 0)
        return HONE_OK;
    put_charsmap(&text, j->spm->charsmap);
    HONE_GO(hone_str_ok(&text));
    HONE_GO(tok_legacy_normalizer(j->t, text.data));
out:
    hone_str_deinit(&text);
    return st;
}

#define METASPACE "{\"type\":\"Metaspace\",\"replacement\":\"" MARK "\",\"prepend_scheme\":\"%s\",\"split\":%s}"
#define SPACES    "{\"type\":\"Replace\",\"pattern\":{\"String\":\"" MARK "\"},\"content\":\" \"}"
#define FALLBACK  "{\"type\":\"ByteFallback\"}"
#define FUSE      "{\"type\":\"Fuse\"}"
#define STRIP     "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}"

/* White space apart, then the mark before each word. */
static hone_status words_with_marks(job *j, const char *scheme)
{
    char text[256];

    HONE_TRY(charsmap_only(j));
    snprintf(text, sizeof text, "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"}," METASPACE "]}", scheme,
             "true");
    HONE_TRY(tok_legacy_pretokenizer(j->t, text));
    snprintf(text, sizeof text, METASPACE, scheme, "true");
    return tok_legacy_decoder(j->t, text);
}

/* ---- the classes ---- */

static hone_status read_llama(job *j)
{
    static const char *const named[TOK_NAMES] = { "<s>", "</s>", "<unk>" };
    tok_bpe_options o = { .fuse_unk = true, .byte_fallback = true };
    bool            space = true, legacy = false;
    char            text[256];

    HONE_TRY(tok_legacy_name_all(j->legacy, named));
    HONE_TRY(tok_legacy_bool(&space, j->in, "add_prefix_space", true, true));
    HONE_TRY(tok_legacy_bool(&legacy, j->in, "legacy", false, false));
    snprintf(text, sizeof text, METASPACE, !space ? "never" : legacy ? "always" : "first", "false");
    HONE_TRY(tok_legacy_pretokenizer(j->t, text));
    HONE_TRY(tok_legacy_decoder(j->t, space ? "{\"type\":\"Sequence\",\"decoders\":[" SPACES "," FALLBACK "," FUSE "," STRIP "]}"
                                            : "{\"type\":\"Sequence\",\"decoders\":[" SPACES "," FALLBACK "," FUSE "]}"));
    HONE_TRY(add_pieces(j));
    HONE_TRY(tok_bpe_create(&j->t->model, &j->t->vocab, &o));
    HONE_TRY(merges_by_id(j));
    return add_symbols(j, true);
}

static hone_status read_code_llama(job *j)
{
    static const char *const named[TOK_NAMES] = { "<s>", "</s>", "<unk>" };
    static const char *const infill[] = { MARK "<PRE>", MARK "<MID>", MARK "<SUF>", MARK "<EOT>", "<FILL_ME>" };
    tok_bpe_options o = { .unk_token = "<unk>", .fuse_unk = true, .byte_fallback = true };
    bool            space = true;
    char            text[256];

    HONE_TRY(tok_legacy_name_all(j->legacy, named));
    j->legacy->add_bos = true;
    HONE_TRY(tok_legacy_bool(&space, j->in, "add_prefix_space", true, true));
    snprintf(text, sizeof text, METASPACE, space ? "first" : "never", "false");
    HONE_TRY(tok_legacy_pretokenizer(j->t, text));
    HONE_TRY(tok_legacy_decoder(j->t, "{\"type\":\"Sequence\",\"decoders\":[" SPACES "," FALLBACK "," FUSE "," STRIP "]}"));
    HONE_TRY(add_pieces(j));
    HONE_TRY(tok_bpe_create(&j->t->model, &j->t->vocab, &o));
    HONE_TRY(merges_by_id(j));
    HONE_TRY(add_symbols(j, true));
    for (size_t i = 0; i < HONE_COUNTOF(infill); i++)
        HONE_TRY(add_special(j, infill[i]));
    return HONE_OK;
}

static hone_status read_gemma(job *j)
{
    static const char *const named[TOK_NAMES] = { [TOK_BOS] = "<bos>", [TOK_EOS] = "<eos>", [TOK_UNK] = "<unk>", [TOK_PAD] = "<pad>",
                                                  [TOK_MASK] = "<mask>" };
    tok_bpe_options o = { .unk_token = "<unk>", .fuse_unk = true, .byte_fallback = true };

    HONE_TRY(tok_legacy_name_all(j->legacy, named));
    HONE_TRY(tok_legacy_normalizer(j->t, "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" MARK "\"}"));
    HONE_TRY(tok_legacy_pretokenizer(j->t, "{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"MergedWithPrevious\","
                                           "\"invert\":false}"));
    HONE_TRY(tok_legacy_decoder(j->t, "{\"type\":\"Sequence\",\"decoders\":[" SPACES "," FALLBACK "," FUSE "]}"));
    HONE_TRY(add_pieces(j));
    HONE_TRY(tok_bpe_create(&j->t->model, &j->t->vocab, &o));
    HONE_TRY(merges_by_id(j));
    return add_symbols(j, true);
}

static hone_status read_t5(job *j)
{
    static const char *const named[TOK_NAMES] = { [TOK_EOS] = "</s>", [TOK_UNK] = "<unk>", [TOK_PAD] = "<pad>" };
    const json_t *ids = json_object_get(j->in->config, "extra_ids");
    long long     n = ids ? json_integer_value(ids) : 100;
    char          text[32];

    HONE_CHECK((!ids || json_is_integer(ids)) && n >= 0 && n <= 100000, HONE_E_FORMAT,
               "%s/tokenizer_config.json: \"extra_ids\" is not a whole number from 0 to 100000", j->in->dir);
    HONE_TRY(tok_legacy_name_all(j->legacy, named));
    j->legacy->before = -1;
    j->legacy->after = TOK_EOS;
    HONE_TRY(words_with_marks(j, "always"));
    HONE_TRY(add_scored_pieces(j, 0));
    HONE_TRY(add_symbols(j, true));
    for (long long i = n - 1; i >= 0; i--)
        HONE_TRY(add_scored(j, text, (size_t)snprintf(text, sizeof text, "<extra_id_%lld>", i), 0));
    for (long long i = 0; i < n; i++) {
        snprintf(text, sizeof text, "<extra_id_%lld>", i);
        HONE_TRY(add_special(j, text));
    }
    return create_unigram(j, 2, false);
}

/* The content of a named token in tokenizer_config.json, or the default. */
static const char *content_of(const job *j, const char *key, const char *absent)
{
    const json_t *v = json_object_get(j->in->config, key);
    const char   *s = json_string_value(json_is_object(v) ? json_object_get(v, "content") : v);

    return s ? s : absent;
}

static hone_status read_xlm_roberta(job *j)
{
    static const char *const named[TOK_NAMES] = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" };
    static const int         first[] = { TOK_CLS, TOK_PAD, TOK_EOS, TOK_UNK };
    bool space = true;

    HONE_TRY(tok_legacy_name_all(j->legacy, named));
    j->legacy->before = TOK_BOS;
    j->legacy->after = TOK_EOS;
    HONE_TRY(tok_legacy_bool(&space, j->in, "add_prefix_space", true, false));
    HONE_TRY(words_with_marks(j, space ? "always" : "never"));
    for (size_t i = 0; i <= HONE_COUNTOF(first); i++) {     /* instead of the file's first three, and at the end */
        int         k = i < HONE_COUNTOF(first) ? first[i] : TOK_MASK;
        const char *s = content_of(j, tok_names[k], named[k]);

        if (k == TOK_MASK)
            HONE_TRY(add_scored_pieces(j, 3));
        HONE_TRY(add_scored(j, s, strlen(s), 0));
    }
    HONE_TRY(add_symbols(j, true));
    return create_unigram(j, 3, false);
}

/* ---- without a class: as the file says ---- */

static int longer(const void *a, const void *b)
{
    const tok_bytes *x = a, *y = b;
    size_t           nx = 0, ny = 0;

    for (size_t i = 0; i < x->n; i++)
        nx += ((unsigned char)x->s[i] & 0xC0) != 0x80;
    for (size_t i = 0; i < y->n; i++)
        ny += ((unsigned char)y->s[i] & 0xC0) != 0x80;
    return nx != ny ? (nx > ny ? -1 : 1) : (x->s > y->s) - (x->s < y->s);
}

/* User-defined pieces under the names they have in the vocabulary, longest first, equals in order. */
static hone_status find_user_defined(const job *j, tok_bytes **out, size_t *n)
{
    tok_bytes *list = *out = hone_calloc(j->spm->pieces.len, sizeof *list);

    *n = 0;
    if (!list)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < j->spm->pieces.len; i++) {
        tok_bytes b = { NULL, 0 };

        if (j->spm->pieces.data[i].type != TOK_SPM_USER)
            continue;
        b.s = tok_vocab_content(&j->t->vocab, (int32_t)i, &b.n);
        if (b.s && b.n)
            list[(*n)++] = b;
    }
    qsort(list, *n, sizeof *list, longer);      /* contents lie in the arena in the order of ids */
    return HONE_OK;
}

static hone_status follow_normalizer(job *j, bool legacy)
{
    static const char extra[] = "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\\\\A +| +\\\\z\"},\"content\":\"\"},"
                                "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"},";
    static const char escape[] = "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" MARK "\"},";
    static const char twice[] = "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\\\\A" MARK "\"},\"content\":\"" MARK MARK "\"},";
    hone_str    text = HONE_STR_INIT;
    hone_status st;

    hone_str_puts(&text, "{\"type\":\"Sequence\",\"normalizers\":[");
    if (j->spm->charsmap.n) {
        put_charsmap(&text, j->spm->charsmap);
        hone_str_putc(&text, ',');
    }
    hone_str_puts(&text, j->spm->remove_extra_whitespaces ? extra : "");
    hone_str_puts(&text, j->spm->escape_whitespaces ? escape : "");
    hone_str_puts(&text, j->spm->add_dummy_prefix && legacy ? twice : "");
    if (!text.failed && text.data[text.len - 1] == ',')
        text.len--;
    hone_str_puts(&text, "]}");
    HONE_GO(hone_str_ok(&text));
    HONE_GO(tok_legacy_normalizer(j->t, text.data));
out:
    hone_str_deinit(&text);
    return st;
}

static hone_status follow_pretokenizer(job *j, bool legacy, const tok_bytes *user, size_t n_user)
{
    hone_str    text = HONE_STR_INIT, pattern = HONE_STR_INIT;
    hone_status st;

    hone_str_puts(&text, "{\"type\":\"Sequence\",\"pretokenizers\":[");
    if (j->spm->add_dummy_prefix)
        hone_str_printf(&text, METASPACE "%s", legacy ? "always" : "first", "false", n_user ? "," : "");
    for (size_t i = 0; i < n_user; i++) {
        if (i)
            hone_str_putc(&pattern, '|');
        for (size_t k = 0; k < user[i].n; k++) {
            if (user[i].s[k] && strchr("\\.^$*+?{}[]|()", user[i].s[k]))
                hone_str_putc(&pattern, '\\');
            hone_str_putc(&pattern, user[i].s[k]);
        }
    }
    if (n_user) {
        hone_str_puts(&text, "{\"type\":\"Split\",\"pattern\":{\"Regex\":");
        hone_json_quote(&text, hone_str_c(&pattern), pattern.len);
        hone_str_puts(&text, "},\"behavior\":\"Isolated\",\"invert\":false}");
    }
    hone_str_puts(&text, "]}");
    HONE_GO(hone_str_ok(&pattern));
    HONE_GO(hone_str_ok(&text));
    HONE_GO(tok_legacy_pretokenizer(j->t, j->spm->add_dummy_prefix || n_user ? text.data : NULL));
out:
    hone_str_deinit(&text);
    hone_str_deinit(&pattern);
    return st;
}

static hone_status follow_decoder(job *j)
{
    const tok_spm *spm = j->spm;
    char           text[512];

    snprintf(text, sizeof text, "{\"type\":\"Sequence\",\"decoders\":[" SPACES "%s%s]}", spm->byte_fallback ? "," FALLBACK : "",
             spm->add_dummy_prefix ? "," FUSE "," STRIP : spm->byte_fallback ? "," FUSE : "");
    return tok_legacy_decoder(j->t, text);
}

static hone_status follow_model(job *j, bool ignore_merges)
{
    const tok_spm  *spm = j->spm;
    char           *unk = hone_strndup(spm->unk_piece.s, spm->unk_piece.n);
    tok_bpe_options o = { .unk_token = unk, .fuse_unk = true, .byte_fallback = spm->byte_fallback, .ignore_merges = ignore_merges };
    hone_status     st = unk ? HONE_OK : HONE_E_NOMEM;

    HONE_GO(st);
    if (spm->model_type == TOK_SPM_UNIGRAM) {
        HONE_GO(create_unigram(j, spm->unk_id, spm->byte_fallback));
    } else {
        HONE_GO(tok_bpe_create(&j->t->model, &j->t->vocab, &o));
        HONE_GO(merges_by_score(j));
    }
out:
    hone_free(unk);
    return st;
}

static hone_status name_own(job *j)
{
    const struct { int name; int32_t id; tok_bytes piece; const char *absent; } own[] = {
        { TOK_BOS, j->spm->bos_id, j->spm->bos_piece, "<s>" }, { TOK_EOS, j->spm->eos_id, j->spm->eos_piece, "</s>" },
        { TOK_UNK, j->spm->unk_id, j->spm->unk_piece, "<unk>" },
    };

    for (size_t i = 0; i < HONE_COUNTOF(own); i++)
        if (own[i].id >= 0)
            HONE_TRY(tok_legacy_name(j->legacy, own[i].name, own[i].piece.n ? own[i].piece.s : own[i].absent,
                                     own[i].piece.n ? own[i].piece.n : strlen(own[i].absent)));
    return HONE_OK;
}

static hone_status follow_file(job *j)
{
    tok_bytes  *user = NULL;
    size_t      n_user;
    bool        legacy = true;
    hone_status st;

    HONE_GO(tok_legacy_bool(&legacy, j->in, "legacy", true, false));
    if (j->spm->model_type == TOK_SPM_UNIGRAM)
        HONE_GO(add_scored_pieces(j, 0));
    else
        HONE_GO(add_renamed(j));
    HONE_GO(find_user_defined(j, &user, &n_user));
    HONE_GO(follow_normalizer(j, legacy));
    HONE_GO(follow_pretokenizer(j, legacy, user, n_user));
    HONE_GO(follow_decoder(j));
    HONE_GO(follow_model(j, n_user > 0));
    HONE_GO(name_own(j));
    j->legacy->added_match_raw = j->spm->add_dummy_prefix;
    HONE_GO(add_symbols(j, false));
out:
    hone_free(user);
    return st;
}

static const struct { const char *class; hone_status (*read)(job *j); } classes[] = {
    { "LlamaTokenizer", read_llama }, { "CodeLlamaTokenizer", read_code_llama }, { "GemmaTokenizer", read_gemma },
    { "T5Tokenizer", read_t5 }, { "XLMRobertaTokenizer", read_xlm_roberta },
};

hone_status tok_legacy_read_spm(hone_tokenizer *t, tok_legacy *legacy, const tok_legacy_in *in, const char *path)
{
    hone_mapped map = { 0 };
    tok_spm     spm = { 0 };
    job         j = { .t = t, .legacy = legacy, .in = in, .spm = &spm };
    hone_status (*read)(job *) = follow_file;
    hone_status st;

    HONE_GO(hone_file_map(&map, path));
    HONE_GO(tok_spm_read(&spm, map.data, map.size, path));
    for (size_t i = 0; i < HONE_COUNTOF(classes); i++)
        if (strcmp(in->class, classes[i].class) == 0)
            read = classes[i].read;
    st = read(&j);
    if (st != HONE_OK)
        (void)hone_status_context(st, "in %s, as a %s", path, in->class);
out:
    HONE_VEC_DEINIT(&j.scores);
    tok_spm_deinit(&spm);
    hone_file_unmap(&map);
    return st;
}
