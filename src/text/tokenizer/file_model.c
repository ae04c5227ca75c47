/* The model of a tokenizer.json. Its vocabulary and merges are streamed (yajl) into their tables. */
#include <math.h>
#include <yajl/yajl_parse.h>

#include "text/tokenizer/file.h"

const char *const tok_model_keys[TOK_M_COUNT] = {
    "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "ignore_merges", "unk_id", "max_input_chars_per_word", "vocab", "merges"
};

/* ---- streaming ---- */

typedef struct stream {
    hone_tokenizer *t;
    hone_status     st;
    int             depth;
    const char     *what;           /* what is wanted, for errors */
    hone_str        first;          /* the content of a token, or the first token of a merge */
    bool            have_first, have_both;
    uint32_t        rank;           /* of the next merge */
    size_t          index;          /* of the next merge or token in the file */
    HONE_VEC(double) scores;
} stream;

static int fail(stream *s, const char *got)
{
    s->st = HONE_FAIL(HONE_E_FORMAT, "wanted %s, got %s", s->what, got);
    return 0;
}

static int keep_first(stream *s, const unsigned char *text, size_t n)
{
    hone_str_clear(&s->first);
    hone_str_append(&s->first, text, n);
    s->st = hone_str_ok(&s->first);
    return s->st == HONE_OK;
}

static int vocab_open(void *p)
{
    stream *s = p;

    return s->depth++ == 0 ? 1 : fail(s, "an object");
}

static int vocab_key(void *p, const unsigned char *key, size_t n) { return keep_first(p, key, n); }

static int vocab_id(void *p, long long id)
{
    stream *s = p;

    if (s->depth != 1)
        return fail(s, "a number");
    s->st = tok_vocab_add(&s->t->vocab, hone_str_c(&s->first), s->first.len, id);
    return s->st == HONE_OK;
}

static int close_one(void *p) { return ((stream *)p)->depth-- > 0; }

static int add_merge(stream *s, const char *a, size_t na, const char *b, size_t nb)
{
    s->st = tok_bpe_add_merge(s->t->model, s->rank++, a, na, b, nb);
    if (s->st != HONE_OK)
        (void)hone_status_context(s->st, "at merge %zu", s->index);
    s->index++;
    return s->st == HONE_OK;
}

/* "a b" at depth 1; the halves of ["a", "b"] at depth 2. */
static int merge_string(void *p, const unsigned char *text, size_t n)
{
    stream     *s = p;
    const char *c = (const char *)text, *space;

    if (s->depth == 0)
        return fail(s, "a string");
    if (s->depth == 1) {
        if (n >= 8 && memcmp(c, "#version", 8) == 0) {      /* a header that old converters left in */
            s->index++;
            return 1;
        }
        space = memchr(c, ' ', n);
        if (!space || memchr(space + 1, ' ', n - (size_t)(space + 1 - c))) {
            s->st = HONE_FAIL(HONE_E_FORMAT, "merge %zu, \"%.*s\", is not two tokens with one space between", s->index,
                              (int)HONE_MIN(n, (size_t)80), c);
            return 0;
        }
        return add_merge(s, c, (size_t)(space - c), space + 1, n - (size_t)(space + 1 - c));
    }
    if (!s->have_first) {
        s->have_first = true;
        return keep_first(s, text, n);
    }
    if (s->have_both)
        return fail(s, "three tokens");
    s->have_both = true;
    return add_merge(s, hone_str_c(&s->first), s->first.len, c, n);
}

static int pair_open(void *p)
{
    stream *s = p;

    s->have_first = s->have_both = false;
    return s->depth++ < 2 ? 1 : fail(s, "a deeper list");
}

static int pair_close(void *p)
{
    stream *s = p;

    if (s->depth-- == 2 && !s->have_both)
        return fail(s, "a list of fewer than two");
    return 1;
}

static int piece_string(void *p, const unsigned char *text, size_t n)
{
    stream *s = p;

    if (s->depth != 2 || s->have_first)
        return fail(s, "a string");
    s->have_first = true;
    return keep_first(s, text, n);
}

/* 10^n, the nearest double. */
static double power_of_ten(int n)
{
    static const double exact[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
                                    1e18, 1e19, 1e20, 1e21, 1e22 };
    char text[16];

    if (n < (int)HONE_COUNTOF(exact))
        return exact[n];
    snprintf(text, sizeof text, "1e%d", n);
    return strtod(text, NULL);
}

/*
 * A score, read as the reference's parser (serde_json without float_roundtrip) reads it: up to 64 bits of digits as a whole
 * number, then one multiplication or division by a power of ten. That is often not the nearest double, and the last bit can
 * decide between two ways to cut a word. False: too large.
 */
static bool read_score(double *out, const char *s, size_t n)
{
    uint64_t digits = 0;
    int64_t  exponent = 0, e = 0;
    bool     negative = n > 0 && *s == '-', point = false, full = false, e_negative = false;
    size_t   i = negative;
    double   v;

    for (; i < n && s[i] != 'e' && s[i] != 'E'; i++) {
        uint64_t more = digits;

        if (s[i] == '.') {
            point = true;
            full = false;
            continue;
        }
        full = full || __builtin_mul_overflow(more, 10, &more) || __builtin_add_overflow(more, (uint64_t)(s[i] - '0'), &more);
        if (!full)
            digits = more;
        exponent += full ? !point : -(int64_t)point;
    }
    if (i < n && i++ < n) {
        e_negative = s[i] == '-';
        for (i += s[i] == '-' || s[i] == '+'; i < n && e < INT32_MAX; i++)
            e = 10 * e + (s[i] - '0');
    }
    exponent += e_negative ? -e : e;
    v = (double)digits;
    for (; exponent < -308 && v != 0; exponent += 308)
        v /= 1e308;
    if (v != 0 && exponent > 308)
        return false;
    if (v != 0)
        v = exponent < 0 ? v / power_of_ten((int)-exponent) : v * power_of_ten((int)exponent);
    *out = negative ? -v : v;
    return isfinite(v);
}

static int piece_score(void *p, const char *text, size_t n)
{
    stream *s = p;
    double  score;

    if (s->depth != 2 || !s->have_first || s->have_both)
        return fail(s, "a number");
    s->have_both = true;
    if (!read_score(&score, text, n))
        return fail(s, "a score that is too large");
    s->st = tok_vocab_add(&s->t->vocab, hone_str_c(&s->first), s->first.len, (int64_t)s->index++);
    if (s->st == HONE_OK)
        s->st = HONE_VEC_PUSH(&s->scores, score);
    return s->st == HONE_OK;
}

static int bad_null(void *p) { return fail(p, "null"); }
static int bad_bool(void *p, int v) { return fail(p, v ? "true" : "false"); }
static int bad_int(void *p, long long v) { (void)v; return fail(p, "a number"); }
static int bad_real(void *p, double v) { (void)v; return fail(p, "a number that is not whole"); }
static int bad_string(void *p, const unsigned char *s, size_t n) { (void)s; (void)n; return fail(p, "a string"); }
static int bad_key(void *p, const unsigned char *s, size_t n) { (void)s; (void)n; return fail(p, "an object"); }
static int bad_open(void *p) { return fail(p, "another kind of value"); }
static int ignore_close(void *p) { (void)p; return 1; }

static const yajl_callbacks vocab_callbacks = {
    bad_null, bad_bool, vocab_id, bad_real, NULL, bad_string, vocab_open, vocab_key, close_one, bad_open, ignore_close
};
static const yajl_callbacks piece_callbacks = {
    bad_null, bad_bool, NULL, NULL, piece_score, piece_string, bad_open, bad_key, ignore_close, pair_open, pair_close
};
static const yajl_callbacks merge_callbacks = {
    bad_null, bad_bool, bad_int, bad_real, NULL, merge_string, bad_open, bad_key, ignore_close, pair_open, pair_close
};

static hone_status stream_part(const tok_file *file, tok_part p, const char *name, const yajl_callbacks *callbacks, stream *s)
{
    yajl_handle h = yajl_alloc(callbacks, NULL, s);
    yajl_status y;

    if (!h)
        return HONE_FAIL(HONE_E_NOMEM, "out of memory");
    s->st = HONE_OK;
    s->depth = 0;
    y = yajl_parse(h, (const unsigned char *)p.s, p.n);
    if (y == yajl_status_ok)
        y = yajl_complete_parse(h);
    if (y != yajl_status_ok) {
        size_t at = HONE_MIN(yajl_get_bytes_consumed(h), p.n) + (size_t)(p.s - file->s);

        if (s->st == HONE_OK)
            s->st = HONE_FAIL(HONE_E_FORMAT, "broken JSON (or invalid UTF-8)");
        (void)hone_status_context(s->st, "in %s of %s, line %d", name, file->path, tok_file_line(file, at));
    }
    yajl_free(h);
    return s->st;
}

hone_status tok_file_stream_vocab(hone_tokenizer *t, const tok_file *file, tok_part p, const char *name)
{
    stream      s = { .t = t, .what = "an object of token: id" };
    hone_status st = stream_part(file, p, name, &vocab_callbacks, &s);

    hone_str_deinit(&s.first);
    return st;
}

/* ---- the models ---- */

typedef struct model_file {
    const tok_file *file;
    const tok_part *parts;
    json_t         *v[TOK_M_VOCAB];
} model_file;

static hone_status read_bpe(hone_tokenizer *t, const model_file *m, stream *s)
{
    tok_bpe_options o = { json_string_value(m->v[TOK_M_UNK]), json_string_value(m->v[TOK_M_PREFIX]),
                          json_string_value(m->v[TOK_M_SUFFIX]), json_is_true(m->v[TOK_M_FUSE]),
                          json_is_true(m->v[TOK_M_FALLBACK]), json_is_true(m->v[TOK_M_IGNORE]),
                          tok_pretokenizer_ends_in_bytes(t->pretokenizer) };

    HONE_CHECK(!m->v[TOK_M_DROPOUT] || (json_is_number(m->v[TOK_M_DROPOUT]) && json_number_value(m->v[TOK_M_DROPOUT]) == 0),
               HONE_E_UNSUPPORTED, "%s: model.dropout makes tokens random; set it to null", m->file->path);
    if (t->kept) {
        HONE_CHECK(tok_vocab_load(&t->vocab, t->kept), HONE_E_FORMAT, "the tables do not fit");
        HONE_TRY(tok_bpe_create(&t->model, &t->vocab, &o));
        HONE_CHECK(tok_bpe_load(t->model, t->kept), HONE_E_FORMAT, "the tables do not fit");
        return HONE_OK;
    }
    HONE_TRY(tok_file_stream_vocab(t, m->file, m->parts[TOK_M_VOCAB], "model.vocab"));
    HONE_TRY(tok_bpe_create(&t->model, &t->vocab, &o));
    s->what = "a list of \"a b\" or [\"a\", \"b\"]";
    return stream_part(m->file, m->parts[TOK_M_MERGES], "model.merges", &merge_callbacks, s);
}

static hone_status read_unigram(hone_tokenizer *t, const model_file *m, stream *s)
{
    const json_t *unk = m->v[TOK_M_UNK_ID];
    long long     unk_id = unk ? json_integer_value(unk) : -1;

    t->vocab.repeats = true;
    s->what = "a list of [\"token\", score]";
    if (t->kept)
        HONE_CHECK(tok_vocab_load(&t->vocab, t->kept), HONE_E_FORMAT, "the tables do not fit");
    else
        HONE_TRY(stream_part(m->file, m->parts[TOK_M_VOCAB], "model.vocab", &piece_callbacks, s));
    HONE_CHECK(!unk || (unk_id >= 0 && unk_id < t->vocab.end), HONE_E_FORMAT,
               "%s: model.unk_id is %lld; the vocabulary has %d tokens", m->file->path, unk_id, (int)t->vocab.end);
    t->vocab.n = (size_t)t->vocab.end;      /* the reference counts all, repeated ones too */
    HONE_TRY(HONE_VEC_RESERVE(&s->scores, 1));
    HONE_TRY(tok_unigram_create_take(&t->model, &t->vocab, t->kept ? NULL : s->scores.data, (int32_t)unk_id,
                                     json_is_true(m->v[TOK_M_FALLBACK]), t->kept));
    if (!t->kept)
        s->scores.data = NULL;
    return HONE_OK;
}

static hone_status read_wordpiece(hone_tokenizer *t, const model_file *m, stream *s)
{
    long long max = json_integer_value(m->v[TOK_M_MAX_CHARS]);

    (void)s;
    HONE_CHECK(m->v[TOK_M_MAX_CHARS] && max >= 0, HONE_E_FORMAT, "%s: a WordPiece model needs \"max_input_chars_per_word\", a "
               "whole number from 0 up", m->file->path);
    HONE_CHECK(m->v[TOK_M_PREFIX], HONE_E_FORMAT, "%s: a WordPiece model needs \"continuing_subword_prefix\"", m->file->path);
    HONE_TRY(tok_file_stream_vocab(t, m->file, m->parts[TOK_M_VOCAB], "model.vocab"));
    return tok_wordpiece_create(&t->model, &t->vocab, json_string_value(m->v[TOK_M_UNK]),
                                json_string_value(m->v[TOK_M_PREFIX]), (uint64_t)max);
}

static hone_status read_wordlevel(hone_tokenizer *t, const model_file *m, stream *s)
{
    (void)s;
    HONE_TRY(tok_file_stream_vocab(t, m->file, m->parts[TOK_M_VOCAB], "model.vocab"));
    return tok_wordlevel_create(&t->model, &t->vocab, json_string_value(m->v[TOK_M_UNK]));
}

static const struct kind {
    const char *name, *keys, *needs;
    hone_status (*read)(hone_tokenizer *t, const model_file *m, stream *s);
} kinds[] = {
    { "BPE", " dropout unk_token continuing_subword_prefix end_of_word_suffix fuse_unk byte_fallback ignore_merges vocab merges ",
      "\"vocab\" and \"merges\"", read_bpe },
    { "Unigram", " unk_id vocab byte_fallback ", "\"vocab\"", read_unigram },
    { "WordPiece", " unk_token continuing_subword_prefix max_input_chars_per_word vocab ", "\"vocab\" and \"unk_token\"", read_wordpiece },
    { "WordLevel", " vocab unk_token ", "\"vocab\" and \"unk_token\"", read_wordlevel },
};
enum { BPE, UNIGRAM, WORDPIECE, WORDLEVEL };

/* Old files do not name the type: what they have tells. */
static hone_status find_kind(const struct kind **out, const model_file *m)
{
    const char *type = json_string_value(m->v[TOK_M_TYPE]);

    *out = &kinds[BPE];
    if (!m->v[TOK_M_TYPE]) {
        const tok_part *p = m->parts;

        if (!p[TOK_M_MERGES].s && p[TOK_M_VOCAB].s)
            *out = *p[TOK_M_VOCAB].s == '[' ? &kinds[UNIGRAM] : p[TOK_M_MAX_CHARS].s ? &kinds[WORDPIECE] :
                   p[TOK_M_UNK].s ? &kinds[WORDLEVEL] : &kinds[BPE];
        return HONE_OK;
    }
    HONE_CHECK(type, HONE_E_FORMAT, "%s: model.type is not a string", m->file->path);
    for (size_t i = 0; i < HONE_COUNTOF(kinds); i++)
        if (strcmp(type, kinds[i].name) == 0) {
            *out = &kinds[i];
            return HONE_OK;
        }
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: model.type \"%s\" is not implemented (there are BPE, Unigram, WordPiece and WordLevel)",
                     m->file->path, type);
}

static hone_status check_types(const model_file *m, const struct kind *kind)
{
    static const struct { int key; json_type type; const char *name; } types[] = {
        { TOK_M_UNK, JSON_STRING, "a string" }, { TOK_M_PREFIX, JSON_STRING, "a string" }, { TOK_M_SUFFIX, JSON_STRING, "a string" },
        { TOK_M_FUSE, JSON_TRUE, "true or false" }, { TOK_M_FALLBACK, JSON_TRUE, "true or false" },
        { TOK_M_IGNORE, JSON_TRUE, "true or false" }, { TOK_M_UNK_ID, JSON_INTEGER, "a whole number" },
        { TOK_M_MAX_CHARS, JSON_INTEGER, "a whole number" },
    };

    for (int k = TOK_M_TYPE + 1; k < TOK_M_COUNT; k++) {
        char key[40];

        snprintf(key, sizeof key, " %s ", tok_model_keys[k]);
        HONE_CHECK(!m->parts[k].s || strstr(kind->keys, key), HONE_E_UNSUPPORTED, "%s: model has a key \"%s\" that is not known for "
                   "%s (line %d)", m->file->path, tok_model_keys[k], kind->name,
                   tok_file_line(m->file, (size_t)(m->parts[k].s - m->file->s)));
    }
    for (size_t i = 0; i < HONE_COUNTOF(types); i++) {
        const json_t *v = m->v[types[i].key];
        json_type     type = types[i].type;

        HONE_CHECK(!v || json_typeof(v) == type || (type == JSON_TRUE && json_is_false(v)), HONE_E_FORMAT, "%s: model.%s is not %s",
                   m->file->path, tok_model_keys[types[i].key], types[i].name);
    }
    HONE_CHECK(m->parts[TOK_M_VOCAB].s && (kind != &kinds[BPE] || m->parts[TOK_M_MERGES].s) &&
               (kind < &kinds[WORDPIECE] || m->v[TOK_M_UNK]), HONE_E_FORMAT, "%s: a %s model needs %s", m->file->path, kind->name,
               kind->needs);
    return HONE_OK;
}

hone_status tok_file_read_model(hone_tokenizer *t, const tok_file *file, tok_part model, const tok_part parts[TOK_M_COUNT],
                                tok_part unknown)
{
    model_file         m = { .file = file, .parts = parts };
    const struct kind *kind;
    stream             s = { .t = t };
    char               where[512];
    hone_status        st;

    HONE_CHECK(model.s, HONE_E_FORMAT, "%s: there is no \"model\"", file->path);
    HONE_CHECK(*model.s == '{', HONE_E_FORMAT, "%s: \"model\" is not an object", file->path);
    for (int k = 0; k < TOK_M_VOCAB; k++)
        HONE_GO(tok_file_parse(&m.v[k], where, file, parts[k], tok_model_keys[k]));
    HONE_GO(find_kind(&kind, &m));
    HONE_GO(tok_file_refuse(file, unknown, "model"));       /* after the type: another model has other keys */
    HONE_GO(check_types(&m, kind));
    HONE_GO(kind->read(t, &m, &s));
out:
    for (int k = 0; k < TOK_M_VOCAB; k++)
        json_decref(m.v[k]);
    hone_str_deinit(&s.first);
    HONE_VEC_DEINIT(&s.scores);
    return st;
}
