/*
 * Reading tokenizer.json. Published files reach 33 MB, nearly all of it model.vocab and model.merges, so these two are
 * streamed (yajl) into their tables; a first pass only finds where each part lies, and the small parts go through jansson.
 */
#include <yajl/yajl_parse.h>

#include "base/utf8.h"
#include "text/tokenizer/parts.h"

/* ---- typed access to small parts ---- */

hone_status tok_json_bool(bool *out, const json_t *o, const char *key, int absent, const char *where)
{
    const json_t *v = json_object_get(o, key);

    HONE_CHECK(v || absent >= 0, HONE_E_FORMAT, "%s: \"%s\" is missing", where, key);
    HONE_CHECK(!v || json_is_boolean(v), HONE_E_FORMAT, "%s: \"%s\" is not true or false", where, key);
    *out = v ? json_is_true(v) : absent > 0;
    return HONE_OK;
}

hone_status tok_json_string(const char **out, size_t *n, const json_t *o, const char *key, const char *where)
{
    const json_t *v = json_object_get(o, key);

    HONE_CHECK(json_is_string(v), HONE_E_FORMAT, "%s: \"%s\" is %s, not a string", where, key, hone_json_type_name(v));
    *out = json_string_value(v);
    *n = json_string_length(v);
    return HONE_OK;
}

static bool in_list(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; n && (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

hone_status tok_json_keys(const json_t *o, const char *allowed, const char *where)
{
    const char *key;
    json_t     *v;

    json_object_foreach((json_t *)o, key, v)
        HONE_CHECK(in_list(allowed, key), HONE_E_UNSUPPORTED, "%s: the key \"%s\" is not known here (known: %s)", where, key,
                   allowed);
    return HONE_OK;
}

hone_status tok_json_type(const char **out, const json_t *o, const char *where)
{
    size_t n;

    HONE_CHECK(json_is_object(o), HONE_E_FORMAT, "%s: wanted an object, got %s", where, hone_json_type_name(o));
    return tok_json_string(out, &n, o, "type", where);
}

/* ---- finding the parts ---- */

typedef struct part { const char *s; size_t n; } part;      /* s NULL: absent */

/* A cursor over the text of the file. What it skips it does not judge: each part is parsed strictly later. */
typedef struct cursor { const char *path, *s; size_t i, n; } cursor;

static int line_of(const cursor *c, size_t at)
{
    int line = 1;

    for (size_t i = 0; i < at; i++)
        line += c->s[i] == '\n';
    return line;
}

static hone_status broken(const cursor *c, const char *wanted)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s: broken JSON at line %d: wanted %s%s", c->path, line_of(c, c->i), wanted,
                     c->i >= c->n ? ", but the file ends" : "");
}

static void skip_space(cursor *c)
{
    while (c->i < c->n && strchr(" \t\r\n", c->s[c->i]) && c->s[c->i])
        c->i++;
}

static hone_status skip_string(cursor *c)
{
    c->i++;
    for (;;) {
        const char *quote = memchr(c->s + c->i, '"', c->n - c->i);
        size_t      slashes = 0, start = c->i;

        if (!quote) {
            c->i = c->n;
            return broken(c, "the end of a string");
        }
        c->i = (size_t)(quote - c->s) + 1;
        while (quote - 1 - slashes >= c->s + start && quote[-1 - (ptrdiff_t)slashes] == '\\')
            slashes++;
        if (slashes % 2 == 0)
            return HONE_OK;
    }
}

static hone_status skip_value(cursor *c, part *out)
{
    static const bool marks[256] = { ['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true };
    size_t begin = c->i, depth = 0;

    do {
        if (c->i >= c->n)
            return broken(c, "a value");
        switch (c->s[c->i]) {
        case '"':
            HONE_TRY(skip_string(c));
            break;
        case '{': case '[':
            depth++;
            c->i++;
            break;
        case '}': case ']':
            if (depth == 0)
                return broken(c, "a value");
            depth--;
            c->i++;
            break;
        default:
            if (depth == 0) {       /* a number or a word */
                while (c->i < c->n && !strchr(",]} \t\r\n", c->s[c->i]))
                    c->i++;
                if (c->i == begin)
                    return broken(c, "a value");
            } else {
                while (c->i < c->n && !marks[(unsigned char)c->s[c->i]])
                    c->i++;
            }
        }
    } while (depth);
    *out = (part){ c->s + begin, c->i - begin };
    return HONE_OK;
}

/* An object cut into the parts named by `keys`; `unknown` is the first other key, if any, `what` the object's place. The value of
 * key `inner_key`, if it is an object, is cut in the same pass: nearly the whole file is in there. */
typedef struct split {
    const char *const *keys;
    size_t             n_keys;
    const char        *what;
    part              *parts;       /* [n_keys] */
    part               unknown;
    struct split      *inner;       /* or NULL */
    size_t             inner_key;
} split;

static hone_status split_object(cursor *c, split *o)
{
    memset(o->parts, 0, o->n_keys * sizeof *o->parts);
    o->unknown = (part){ NULL, 0 };
    skip_space(c);
    if (c->i >= c->n || c->s[c->i] != '{')
        return broken(c, "an object");
    c->i++;
    skip_space(c);
    if (c->i < c->n && c->s[c->i] == '}') {
        c->i++;
        return HONE_OK;
    }
    for (;;) {
        part   key, value;
        size_t k = 0;

        skip_space(c);
        if (c->i >= c->n || c->s[c->i] != '"')
            return broken(c, "a key");
        key.s = c->s + c->i + 1;
        HONE_TRY(skip_string(c));
        key.n = (size_t)(c->s + c->i - 1 - key.s);
        skip_space(c);
        if (c->i >= c->n || c->s[c->i++] != ':')
            return broken(c, "':'");
        skip_space(c);
        while (k < o->n_keys && (strlen(o->keys[k]) != key.n || memcmp(o->keys[k], key.s, key.n) != 0))
            k++;
        HONE_CHECK(k == o->n_keys || !o->parts[k].s, HONE_E_FORMAT, "%s: %s has the key \"%s\" twice", c->path, o->what, o->keys[k]);
        value = (part){ c->s + c->i, 0 };
        if (o->inner && k == o->inner_key && c->i < c->n && c->s[c->i] == '{')
            HONE_TRY(split_object(c, o->inner));
        else
            HONE_TRY(skip_value(c, &value));
        value.n = (size_t)(c->s + c->i - value.s);
        if (k < o->n_keys)
            o->parts[k] = value;
        else if (!o->unknown.s)
            o->unknown = key;
        skip_space(c);
        if (c->i < c->n && c->s[c->i] == ',') {
            c->i++;
            continue;
        }
        if (c->i < c->n && c->s[c->i] == '}') {
            c->i++;
            return HONE_OK;
        }
        return broken(c, "',' or '}'");
    }
}

static hone_status refuse_unknown(const cursor *c, part key, const char *what)
{
    HONE_CHECK(!key.s, HONE_E_UNSUPPORTED, "%s: %s has a key \"%.*s\" that is not known (line %d)", c->path, what,
               (int)HONE_MIN(key.n, (size_t)80), key.s, line_of(c, (size_t)(key.s - c->s)));
    return HONE_OK;
}

/* Parse a small part; NULL if it is absent or null. `where` gets its place for later errors. */
static hone_status parse_part(json_t **out, char where[512], const cursor *file, part p, const char *name)
{
    snprintf(where, 512, "%s: %s", file->path, name);
    *out = NULL;
    if (!p.s)
        return HONE_OK;
    HONE_TRY(hone_json_parse(out, p.s, p.n, where));
    if (json_is_null(*out)) {
        json_decref(*out);
        *out = NULL;
    }
    return HONE_OK;
}

/* ---- streaming ---- */

typedef struct stream {
    hone_tokenizer *t;
    hone_status     st;
    int             depth;
    const char     *what;           /* what is wanted, for errors */
    hone_str        first;          /* the key of a token, or the first token of a merge */
    bool            have_first, have_both;
    uint32_t        rank;           /* of the next merge */
    size_t          index;          /* of the next merge in the file */
} stream;

static int fail(stream *s, const char *got)
{
    s->st = HONE_FAIL(HONE_E_FORMAT, "wanted %s, got %s", s->what, got);
    return 0;
}

static int vocab_open(void *p)
{
    stream *s = p;

    return s->depth++ == 0 ? 1 : fail(s, "an object");
}

static int vocab_key(void *p, const unsigned char *key, size_t n)
{
    stream *s = p;

    hone_str_clear(&s->first);
    hone_str_append(&s->first, key, n);
    s->st = hone_str_ok(&s->first);
    return s->st == HONE_OK;
}

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
    s->st = tok_bpe_add_merge(s->t->bpe, s->rank++, a, na, b, nb);
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
        return vocab_key(s, text, n);
    }
    if (s->have_both)
        return fail(s, "three tokens");
    s->have_both = true;
    return add_merge(s, hone_str_c(&s->first), s->first.len, c, n);
}

static int merge_open(void *p)
{
    stream *s = p;

    s->have_first = s->have_both = false;
    return s->depth++ < 2 ? 1 : fail(s, "a deeper list");
}

static int merge_close(void *p)
{
    stream *s = p;

    if (s->depth-- == 2 && !s->have_both)
        return fail(s, "fewer than two tokens");
    return 1;
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
static const yajl_callbacks merge_callbacks = {
    bad_null, bad_bool, bad_int, bad_real, NULL, merge_string, bad_open, bad_key, ignore_close, merge_open, merge_close
};

static hone_status stream_part(const cursor *file, part p, const char *name, const yajl_callbacks *callbacks, stream *s)
{
    yajl_handle h = yajl_alloc(callbacks, NULL, s);
    yajl_status y;

    if (!h)
        return HONE_FAIL(HONE_E_NOMEM, "out of memory");
    s->st = HONE_OK;
    y = yajl_parse(h, (const unsigned char *)p.s, p.n);
    if (y == yajl_status_ok)
        y = yajl_complete_parse(h);
    if (y != yajl_status_ok) {
        size_t at = HONE_MIN(yajl_get_bytes_consumed(h), p.n) + (size_t)(p.s - file->s);

        if (s->st == HONE_OK)
            s->st = HONE_FAIL(HONE_E_FORMAT, "broken JSON (or invalid UTF-8)");
        (void)hone_status_context(s->st, "in %s of %s, line %d", name, file->path, line_of(file, at));
    }
    yajl_free(h);
    return s->st;
}

/* ---- the model ---- */

enum { M_TYPE, M_DROPOUT, M_UNK, M_PREFIX, M_SUFFIX, M_FUSE, M_FALLBACK, M_IGNORE, M_VOCAB, M_MERGES, M_COUNT };
static const char *const model_keys[M_COUNT] = {
    "type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback",
    "ignore_merges", "vocab", "merges"
};

static hone_status read_bpe(hone_tokenizer *t, const cursor *file, const part *parts, json_t *const *v)
{
    tok_bpe_options o = { json_string_value(v[M_UNK]), json_string_value(v[M_PREFIX]), json_string_value(v[M_SUFFIX]),
                          json_is_true(v[M_FUSE]), json_is_true(v[M_FALLBACK]), json_is_true(v[M_IGNORE]) };
    stream          s = { .t = t, .what = "an object of token: id" };
    hone_status     st;

    HONE_GO(stream_part(file, parts[M_VOCAB], "model.vocab", &vocab_callbacks, &s));
    HONE_GO(tok_bpe_create(&t->bpe, &t->vocab, &o));
    s = (stream){ .t = t, .first = s.first, .what = "a list of \"a b\" or [\"a\", \"b\"]" };
    HONE_GO(stream_part(file, parts[M_MERGES], "model.merges", &merge_callbacks, &s));
out:
    hone_str_deinit(&s.first);
    return st;
}

static hone_status read_model(hone_tokenizer *t, const cursor *file, part model, const split *cut)
{
    const part *parts = cut->parts;
    json_t     *v[M_COUNT] = { NULL };
    char        where[512];
    hone_status st = HONE_OK;

    HONE_CHECK(model.s, HONE_E_FORMAT, "%s: there is no \"model\"", file->path);
    HONE_CHECK(*model.s == '{', HONE_E_FORMAT, "%s: \"model\" is not an object", file->path);
    for (int k = 0; k < M_VOCAB; k++)
        HONE_GO(parse_part(&v[k], where, file, parts[k], model_keys[k]));
    HONE_GO_CHECK(!parts[M_TYPE].s || json_is_string(v[M_TYPE]), HONE_E_FORMAT, "%s: model.type is not a string", file->path);
    HONE_GO_CHECK(!v[M_TYPE] || strcmp(json_string_value(v[M_TYPE]), "BPE") == 0, HONE_E_UNSUPPORTED,
                  "%s: model.type \"%s\" is not implemented (there is BPE)", file->path, json_string_value(v[M_TYPE]));
    HONE_GO(refuse_unknown(file, cut->unknown, "model"));       /* after the type: another model has other keys */
    HONE_GO_CHECK(!v[M_DROPOUT] || (json_is_number(v[M_DROPOUT]) && json_number_value(v[M_DROPOUT]) == 0), HONE_E_UNSUPPORTED,
                  "%s: model.dropout makes tokens random; set it to null", file->path);
    for (int k = M_UNK; k <= M_SUFFIX; k++)
        HONE_GO_CHECK(!v[k] || json_is_string(v[k]), HONE_E_FORMAT, "%s: model.%s is not a string", file->path, model_keys[k]);
    for (int k = M_FUSE; k <= M_IGNORE; k++)
        HONE_GO_CHECK(!v[k] || json_is_boolean(v[k]), HONE_E_FORMAT, "%s: model.%s is not true or false", file->path,
                      model_keys[k]);
    HONE_GO_CHECK(parts[M_VOCAB].s && parts[M_MERGES].s, HONE_E_FORMAT, "%s: a BPE model needs \"vocab\" and \"merges\"",
                  file->path);
    HONE_GO(read_bpe(t, file, parts, v));
out:
    for (int k = 0; k < M_COUNT; k++)
        json_decref(v[k]);
    return st;
}

/* ---- added tokens ---- */

static hone_status read_added(hone_tokenizer *t, const cursor *file, part p)
{
    HONE_VEC(tok_added) tokens = { 0 };
    char        where[512], place[600];
    json_t     *list = NULL, *item;
    hone_status st;
    size_t      i;

    HONE_GO(parse_part(&list, where, file, p, "added_tokens"));
    HONE_GO_CHECK(!list || json_is_array(list), HONE_E_FORMAT, "%s is not a list", where);
    json_array_foreach(list, i, item) {
        tok_added   a = { 0 };
        const char *content = NULL;

        snprintf(place, sizeof place, "%s[%zu]", where, i);
        HONE_GO_CHECK(json_is_object(item), HONE_E_FORMAT, "%s is not an object", place);
        HONE_GO(tok_json_keys(item, "id content single_word lstrip rstrip normalized special", place));
        HONE_GO_CHECK(json_is_integer(json_object_get(item, "id")), HONE_E_FORMAT, "%s: \"id\" is not a whole number", place);
        HONE_GO(tok_json_string(&content, &a.n, item, "content", place));
        a.content = (char *)(uintptr_t)content;
        HONE_GO(tok_json_bool(&a.single_word, item, "single_word", -1, place));
        HONE_GO(tok_json_bool(&a.lstrip, item, "lstrip", -1, place));
        HONE_GO(tok_json_bool(&a.rstrip, item, "rstrip", -1, place));
        HONE_GO(tok_json_bool(&a.normalized, item, "normalized", -1, place));
        HONE_GO(tok_json_bool(&a.special, item, "special", -1, place));
        HONE_GO(HONE_VEC_PUSH(&tokens, a));
    }
    HONE_GO(tok_added_set_add(t->added, tokens.data, tokens.len, &t->vocab));
out:
    HONE_VEC_DEINIT(&tokens);
    json_decref(list);
    return st;
}

/* ---- the file ---- */

enum { F_VERSION, F_TRUNCATION, F_PADDING, F_ADDED, F_NORMALIZER, F_PRE, F_POST, F_DECODER, F_MODEL, F_COUNT };
static const char *const file_keys[F_COUNT] = {
    "version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder", "model"
};

static hone_status read_components(hone_tokenizer *t, const cursor *file, const part *parts)
{
    json_t     *v[F_COUNT] = { NULL };
    char        where[F_COUNT][512];
    hone_status st;

    /* Truncation and padding are the reference's run-time settings, which transformers resets. */
    for (int k = 0; k < F_MODEL; k++)
        if (k != F_ADDED)
            HONE_GO(parse_part(&v[k], where[k], file, parts[k], file_keys[k]));
    HONE_GO_CHECK(!v[F_VERSION] || (json_is_string(v[F_VERSION]) && strcmp(json_string_value(v[F_VERSION]), "1.0") == 0),
                  HONE_E_UNSUPPORTED, "%s: version is not \"1.0\"", file->path);
    HONE_GO(tok_normalizer_create(&t->normalizer, v[F_NORMALIZER], where[F_NORMALIZER]));
    HONE_GO(tok_pretokenizer_create(&t->pretokenizer, v[F_PRE], where[F_PRE]));
    HONE_GO(tok_template_read(&t->post, v[F_POST], where[F_POST]));
    HONE_GO(tok_decoder_read(&t->decoder, v[F_DECODER], where[F_DECODER]));
out:
    for (int k = 0; k < F_COUNT; k++)
        json_decref(v[k]);
    return st;
}

hone_status tok_file_read(hone_tokenizer *t, const char *text, size_t n, const char *name)
{
    cursor file = { name, text, 0, n };
    part   parts[F_COUNT], model_parts[M_COUNT] = { { NULL, 0 } };
    split  model = { .keys = model_keys, .n_keys = M_COUNT, .what = "model", .parts = model_parts };
    split  all = { .keys = file_keys, .n_keys = F_COUNT, .what = "the file", .parts = parts, .inner = &model, .inner_key = F_MODEL };

    HONE_TRY(split_object(&file, &all));
    skip_space(&file);
    if (file.i < file.n)
        return broken(&file, "the end of the file");
    HONE_TRY(refuse_unknown(&file, all.unknown, "the file"));
    HONE_TRY(read_components(t, &file, parts));
    HONE_TRY(read_model(t, &file, parts[F_MODEL], &model));
    HONE_TRY(tok_added_set_create(&t->added));
    HONE_TRY(read_added(t, &file, parts[F_ADDED]));
    tok_bpe_finish(t->bpe, tok_pretokenizer_ends_in_bytes(t->pretokenizer));
    return HONE_OK;
}
