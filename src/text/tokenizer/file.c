/*
 * Reading tokenizer.json. Published files reach 33 MB, nearly all of it model.vocab and model.merges, so these two are
 * streamed into their tables (file_model.c); a first pass only finds where each part lies, and the small parts go through jansson.
 */
#include "base/utf8.h"
#include "text/tokenizer/file.h"

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

int tok_file_line(const tok_file *c, size_t at)
{
    int line = 1;

    for (size_t i = 0; i < at; i++)
        line += c->s[i] == '\n';
    return line;
}

static hone_status broken(const tok_file *c, const char *wanted)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s: broken JSON at line %d: wanted %s%s", c->path, tok_file_line(c, c->i), wanted,
                     c->i >= c->n ? ", but the file ends" : "");
}

static void skip_space(tok_file *c)
{
    while (c->i < c->n && strchr(" \t\r\n", c->s[c->i]) && c->s[c->i])
        c->i++;
}

static hone_status skip_string(tok_file *c)
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

static hone_status skip_value(tok_file *c, tok_part *out)
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
    *out = (tok_part){ c->s + begin, c->i - begin };
    return HONE_OK;
}

/* An object cut into the parts named by `keys`; `unknown` is the first other key, if any, `what` the object's place. The value of
 * key `inner_key`, if it is an object, is cut in the same pass: nearly the whole file is in there. */
typedef struct split {
    const char *const *keys;
    size_t             n_keys;
    const char        *what;
    tok_part          *parts;       /* [n_keys] */
    tok_part           unknown;
    struct split      *inner;       /* or NULL */
    size_t             inner_key;
} split;

static hone_status split_object(tok_file *c, split *o)
{
    memset(o->parts, 0, o->n_keys * sizeof *o->parts);
    o->unknown = (tok_part){ NULL, 0 };
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
        tok_part key, value;
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
        value = (tok_part){ c->s + c->i, 0 };
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

hone_status tok_file_refuse(const tok_file *c, tok_part key, const char *what)
{
    HONE_CHECK(!key.s, HONE_E_UNSUPPORTED, "%s: %s has a key \"%.*s\" that is not known (line %d)", c->path, what,
               (int)HONE_MIN(key.n, (size_t)80), key.s, tok_file_line(c, (size_t)(key.s - c->s)));
    return HONE_OK;
}

hone_status tok_file_parse(json_t **out, char where[512], const tok_file *file, tok_part p, const char *name)
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

/* ---- added tokens ---- */

static hone_status read_added(hone_tokenizer *t, const tok_file *file, tok_part p)
{
    HONE_VEC(tok_added) tokens = { 0 };
    char        where[512], place[600];
    json_t     *list = NULL, *item;
    hone_status st;
    size_t      i;

    HONE_GO(tok_file_parse(&list, where, file, p, "added_tokens"));
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

static hone_status read_components(hone_tokenizer *t, const tok_file *file, const tok_part *parts)
{
    json_t     *v[F_COUNT] = { NULL };
    char        where[F_COUNT][512];
    hone_status st;

    /* Truncation and padding are the reference's run-time settings, which transformers resets. */
    for (int k = 0; k < F_MODEL; k++)
        if (k != F_ADDED)
            HONE_GO(tok_file_parse(&v[k], where[k], file, parts[k], file_keys[k]));
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

/* The text with empty vocabulary and merges. */
static hone_status put_rest(hone_str *out, const tok_file *file, const tok_part *parts)
{
    tok_part    first = parts[TOK_M_VOCAB], second = parts[TOK_M_MERGES];
    const char *end = file->s + file->n;

    if (second.s && second.s < first.s) {
        first = parts[TOK_M_MERGES];
        second = parts[TOK_M_VOCAB];
    }
    hone_str_append(out, file->s, (size_t)(first.s - file->s));
    hone_str_puts(out, *first.s == '[' ? "[]" : "{}");
    if (second.s) {
        hone_str_append(out, first.s + first.n, (size_t)(second.s - (first.s + first.n)));
        hone_str_puts(out, *second.s == '[' ? "[]" : "{}");
        first = second;
    }
    hone_str_append(out, first.s + first.n, (size_t)(end - (first.s + first.n)));
    return hone_str_ok(out);
}

hone_status tok_file_read(hone_tokenizer *t, const char *text, size_t n, const char *name, hone_str *rest)
{
    tok_file file = { name, text, 0, n };
    tok_part parts[F_COUNT], model_parts[TOK_M_COUNT] = { { NULL, 0 } };
    split  model = { .keys = tok_model_keys, .n_keys = TOK_M_COUNT, .what = "model", .parts = model_parts };
    split  all = { .keys = file_keys, .n_keys = F_COUNT, .what = "the file", .parts = parts, .inner = &model, .inner_key = F_MODEL };

    HONE_TRY(split_object(&file, &all));
    skip_space(&file);
    if (file.i < file.n)
        return broken(&file, "the end of the file");
    HONE_TRY(tok_file_refuse(&file, all.unknown, "the file"));
    HONE_TRY(read_components(t, &file, parts));
    HONE_TRY(tok_file_read_model(t, &file, parts[F_MODEL], model_parts, model.unknown));
    HONE_TRY(tok_added_set_create(&t->added));
    HONE_TRY(read_added(t, &file, parts[F_ADDED]));
    return rest ? put_rest(rest, &file, model_parts) : HONE_OK;
}
