/*
 * What the files beside tokenizer.json add, as transformers 5 reads them for a directory that has a tokenizer.json:
 * names of special tokens; further added tokens, or other flags for those there are (added_tokens_decoder,
 * extra_special_tokens, added_tokens.json). add_bos_token and add_eos_token have no effect there: the post-processor alone
 * decides. special_tokens_map.json and added_tokens.json count only without an added_tokens_decoder.
 */
#include "base/file.h"
#include "text/tokenizer/legacy.h"

const char *const tok_names[TOK_NAMES] = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
                                           "mask_token" };

typedef struct config {
    const char *dir;
    json_t     *main, *map, *added;             /* the three files, NULL if absent */
    json_t     *named[TOK_NAMES];               /* string or object, NULL if none */
    const tok_legacy *legacy;                   /* NULL: there is a tokenizer.json */
    HONE_VEC(tok_added) tokens;                 /* to add; contents borrowed */
} config;

/* A token: "content" or {"content": …, flags}. `special`: the flag where the object does not say. */
static hone_status read_token(tok_added *out, const json_t *v, bool special, const char *where)
{
    const char *content;
    bool        is_object = json_is_object(v);

    *out = (tok_added){ .special = special };
    HONE_CHECK(is_object || json_is_string(v), HONE_E_FORMAT, "%s is %s, not a token (a string, or an object with \"content\")",
               where, hone_json_type_name(v));
    if (!is_object) {
        content = json_string_value(v);
        out->n = json_string_length(v);
        out->normalized = !special;
    } else {
        HONE_TRY(tok_json_keys(v, "__type content single_word lstrip rstrip normalized special id", where));
        HONE_TRY(tok_json_string(&content, &out->n, v, "content", where));
        HONE_TRY(tok_json_bool(&out->special, v, "special", special, where));
        HONE_TRY(tok_json_bool(&out->single_word, v, "single_word", false, where));
        HONE_TRY(tok_json_bool(&out->lstrip, v, "lstrip", false, where));
        HONE_TRY(tok_json_bool(&out->rstrip, v, "rstrip", false, where));
        HONE_TRY(tok_json_bool(&out->normalized, v, "normalized", !out->special, where));
    }
    out->content = (char *)(uintptr_t)content;
    return HONE_OK;
}

static bool same_flags(const tok_added *a, const tok_added *b)
{
    return a->special == b->special && a->normalized == b->normalized && a->lstrip == b->lstrip && a->rstrip == b->rstrip &&
           a->single_word == b->single_word;
}

static bool is_listed(const config *c, const tok_added *t)
{
    for (size_t i = 0; i < c->tokens.len; i++)
        if (c->tokens.data[i].n == t->n && memcmp(c->tokens.data[i].content, t->content, t->n) == 0)
            return true;
    return false;
}

typedef struct numbered { long long id; const json_t *token; const char *key; } numbered;

static int by_id(const void *a, const void *b)
{
    const numbered *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

/* added_tokens_decoder: {"151643": {"content": …}}, taken in order of ids. */
static hone_status read_decoder(config *c, const tok_added_set *set, const json_t *decoder)
{
    HONE_VEC(numbered) list = { 0 };
    hone_status st = HONE_OK;
    const char *key;
    json_t     *v;
    char        where[600];

    HONE_GO_CHECK(json_is_object(decoder), HONE_E_FORMAT, "%s/tokenizer_config.json: added_tokens_decoder is not an object",
                  c->dir);
    json_object_foreach((json_t *)decoder, key, v) {
        char     *end;
        long long id = strtoll(key, &end, 10);

        HONE_GO_CHECK(*key && !*end, HONE_E_FORMAT, "%s/tokenizer_config.json: added_tokens_decoder has the key \"%s\", which "
                      "is not a number", c->dir, key);
        HONE_GO(HONE_VEC_PUSH(&list, (numbered){ id, v, key }));
    }
    if (list.len)
        qsort(list.data, list.len, sizeof *list.data, by_id);
    for (size_t i = 0; i < list.len; i++) {
        const tok_added *old;
        tok_added        t;

        snprintf(where, sizeof where, "%s/tokenizer_config.json: added_tokens_decoder.%s", c->dir, list.data[i].key);
        HONE_GO_CHECK(json_is_object(list.data[i].token), HONE_E_FORMAT, "%s is not an object", where);
        HONE_GO(read_token(&t, list.data[i].token, false, where));
        t.normalized = t.normalized && !(c->legacy && c->legacy->added_match_raw);
        old = tok_added_find(set, t.content, t.n);
        if (!old || !same_flags(old, &t))
            HONE_GO(HONE_VEC_PUSH(&c->tokens, t));
    }
out:
    HONE_VEC_DEINIT(&list);
    return st;
}

/* Whether a list of extra special tokens has it. */
static bool lists_extra(const json_t *o, const char *content)
{
    static const char *const keys[] = { "extra_special_tokens", "additional_special_tokens" };

    for (size_t k = 0; k < HONE_COUNTOF(keys); k++) {
        const json_t *item, *list = json_object_get(o, keys[k]);
        size_t        i;

        json_array_foreach(list, i, item) {
            const char *s = json_string_value(json_is_object(item) ? json_object_get(item, "content") : item);

            if (s && strcmp(s, content) == 0)
                return true;
        }
    }
    return false;
}

static bool is_special(const config *c, const char *content)
{
    for (int k = 0; k < TOK_NAMES; k++) {
        tok_added named;

        if (c->named[k] && read_token(&named, c->named[k], true, tok_names[k]) == HONE_OK && strcmp(named.content, content) == 0)
            return true;
    }
    return lists_extra(c->main, content);
}

/* added_tokens.json, of old checkpoints: {"<token>": id}, taken in order of ids. */
static hone_status read_added_json(config *c, const tok_added_set *set)
{
    HONE_VEC(numbered) list = { 0 };
    hone_status st = HONE_OK;
    const char *key;
    json_t     *v;

    json_object_foreach(c->added, key, v) {
        HONE_GO_CHECK(json_is_integer(v), HONE_E_FORMAT, "%s/added_tokens.json: the id of \"%s\" is not a whole number", c->dir, key);
        HONE_GO(HONE_VEC_PUSH(&list, (numbered){ json_integer_value(v), v, key }));
    }
    if (list.len)
        qsort(list.data, list.len, sizeof *list.data, by_id);
    for (size_t i = 0; i < list.len; i++) {
        tok_added t = { .content = (char *)(uintptr_t)list.data[i].key, .n = strlen(list.data[i].key) };

        t.special = is_special(c, t.content);
        t.normalized = !t.special && !(c->legacy && c->legacy->added_match_raw);
        if (!tok_added_find(set, t.content, t.n))
            HONE_GO(HONE_VEC_PUSH(&c->tokens, t));
    }
out:
    HONE_VEC_DEINIT(&list);
    return st;
}

/* A special token that is named somewhere: added if neither the tokenizer nor the list has it. */
static hone_status add_named(config *c, const tok_added_set *set, const json_t *v, const char *where)
{
    tok_added t;

    HONE_TRY(read_token(&t, v, true, where));
    t.special = true;
    if (tok_added_find(set, t.content, t.n) || is_listed(c, &t))
        return HONE_OK;
    return HONE_VEC_PUSH(&c->tokens, t);
}

static hone_status add_extra(config *c, const tok_added_set *set, const json_t *o, const char *file)
{
    const json_t *extra = json_object_get(o, "extra_special_tokens"), *item;
    const char   *key;
    json_t       *v;
    size_t        i;
    char          where[600];

    if (json_array_size(extra) == 0 && json_object_size(extra) == 0)
        extra = json_object_get(o, "additional_special_tokens");
    if (!extra || json_is_null(extra))
        return HONE_OK;
    snprintf(where, sizeof where, "%s/%s: extra_special_tokens", c->dir, file);
    HONE_CHECK(json_is_array(extra) || json_is_object(extra), HONE_E_FORMAT, "%s is not a list or an object", where);
    json_array_foreach(extra, i, item)
        HONE_TRY(add_named(c, set, item, where));
    json_object_foreach((json_t *)extra, key, v)
        HONE_TRY(add_named(c, set, v, where));
    return HONE_OK;
}

/* Any further key that ends in "_token" and holds a token names a special token of the model's own ("image_token"). */
static hone_status add_own(config *c, const tok_added_set *set)
{
    const char *key;
    json_t     *v;
    char        where[600];

    json_object_foreach(c->main, key, v) {
        bool known = !hone_ends_with(key, "_token") || !(json_is_string(v) || json_object_get(v, "__type"));

        for (int k = 0; k < TOK_NAMES; k++)
            known = known || strcmp(key, tok_names[k]) == 0;
        snprintf(where, sizeof where, "%s/tokenizer_config.json: %.80s", c->dir, key);
        if (!known)
            HONE_TRY(add_named(c, set, v, where));
    }
    return HONE_OK;
}

/* The named tokens as the files have them, else as the class of a folder without tokenizer.json does. */
static hone_status find_named(config *c)
{
    for (int k = 0; k < TOK_NAMES; k++) {
        json_t *v = json_object_get(c->main, tok_names[k]), *m = json_object_get(c->map, tok_names[k]);

        if (m || v)
            c->named[k] = json_is_null(m ? m : v) ? NULL : json_incref(m ? m : v);
        else if (c->legacy && c->legacy->named[k] && !(c->named[k] = json_string(c->legacy->named[k])))
            return HONE_E_NOMEM;
    }
    return HONE_OK;
}

/* Extra special tokens without tokenizer.json: tokenizer_config.json's list (any list), else the vocabulary file's own symbols, else
 * special_tokens_map.json's. */
static hone_status add_legacy_extra(config *c, const tok_added_set *set)
{
    const json_t *extra = json_object_get(c->main, "extra_special_tokens");
    bool          has = extra || json_object_get(c->main, "additional_special_tokens");

    HONE_TRY(add_extra(c, set, c->main, "tokenizer_config.json"));
    if (has && !json_is_object(extra))
        return HONE_OK;
    for (size_t i = 0; i < c->legacy->extra.len; i++) {
        const tok_added *t = &c->legacy->extra.data[i];

        if (!tok_added_find(set, t->content, t->n) && !is_listed(c, t))
            HONE_TRY(HONE_VEC_PUSH(&c->tokens, *t));
    }
    return c->map && c->legacy->extra.len == 0 ? add_extra(c, set, c->map, "special_tokens_map.json") : HONE_OK;
}

/* Tokenizer classes with special tokens of their own, for directories that name none (as openai-community/gpt2). */
static hone_status class_default(const config *c, const char **bos, const char **eos, const char **pad)
{
    const char *class = json_string_value(json_object_get(c->main, "tokenizer_class")), *type;
    json_t     *model = NULL;

    *bos = *eos = *pad = NULL;
    if (!class) {
        HONE_TRY(hone_json_read_if_there(&model, c->dir, "config.json"));
        type = json_string_value(json_object_get(model, "model_type"));
        class = type && strcmp(type, "gpt2") == 0 ? "GPT2Tokenizer" : type && strcmp(type, "qwen3") == 0 ? "Qwen2Tokenizer" : "";
        json_decref(model);
    }
    if (hone_starts_with(class, "GPT2Tokenizer"))
        *bos = *eos = "<|endoftext|>";
    if (hone_starts_with(class, "Qwen2Tokenizer"))
        *eos = *pad = "<|endoftext|>";
    return HONE_OK;
}

static hone_status id_of(int32_t *out, const hone_tokenizer *t, const config *c, int k, const char *absent)
{
    char      where[600];
    tok_added named;

    *out = -1;
    snprintf(where, sizeof where, "%s: %s", c->dir, tok_names[k]);
    if (c->named[k]) {
        HONE_TRY(read_token(&named, c->named[k], true, where));
        *out = hone_tokenizer_id(t, named.content);
    } else if (absent && !json_object_get(c->main, tok_names[k])) {
        *out = hone_tokenizer_id(t, absent);
    }
    return HONE_OK;
}

/* All special tokens once more, without flags. */
static hone_status readd_special(hone_tokenizer *t, const config *c)
{
    for (size_t i = 0; i < c->tokens.len; i++) {
        tok_added plain = { .content = c->tokens.data[i].content, .n = c->tokens.data[i].n, .special = true };

        if (is_special(c, plain.content))
            HONE_TRY(tok_added_set_add(t->added, &plain, 1, &t->vocab));
    }
    return HONE_OK;
}

static hone_status push_around(hone_tokenizer *t, const config *c, int name, bool asked, int ask)
{
    int32_t id;

    if (name == TOK_ASKED)
        name = asked ? ask : -1;
    if (name < 0)
        return HONE_OK;
    HONE_TRY(id_of(&id, t, c, name, NULL));
    return id < 0 ? HONE_OK : HONE_VEC_PUSH(&t->post, (tok_template_piece){ id });
}

/* What goes around a text without tokenizer.json. */
static hone_status make_template(hone_tokenizer *t, const config *c)
{
    char where[600];
    bool bos, eos;

    snprintf(where, sizeof where, "%s/tokenizer_config.json", c->dir);
    HONE_TRY(tok_json_bool(&bos, c->main, "add_bos_token", c->legacy->add_bos, where));
    HONE_TRY(tok_json_bool(&eos, c->main, "add_eos_token", c->legacy->add_eos, where));
    HONE_TRY(push_around(t, c, c->legacy->before, bos, TOK_BOS));
    HONE_TRY(HONE_VEC_PUSH(&t->post, (tok_template_piece){ -1 }));
    return push_around(t, c, c->legacy->after, eos, TOK_EOS);
}

static hone_status add_all(hone_tokenizer *t, config *c, const json_t *decoder)
{
    char where[600];

    HONE_TRY(find_named(c));
    if (decoder)
        HONE_TRY(read_decoder(c, t->added, decoder));
    else if (c->added)
        HONE_TRY(read_added_json(c, t->added));
    for (int k = 0; k < TOK_NAMES; k++) {
        snprintf(where, sizeof where, "%s: %s", c->dir, tok_names[k]);
        if (c->named[k])
            HONE_TRY(add_named(c, t->added, c->named[k], where));
    }
    HONE_TRY(add_own(c, t->added));
    if (c->legacy) {
        HONE_TRY(add_legacy_extra(c, t->added));
    } else {
        HONE_TRY(add_extra(c, t->added, c->main, "tokenizer_config.json"));
        if (c->map)
            HONE_TRY(add_extra(c, t->added, c->map, "special_tokens_map.json"));
    }
    HONE_TRY(tok_added_set_add(t->added, c->tokens.data, c->tokens.len, &t->vocab));
    return c->legacy && c->legacy->readd_special ? readd_special(t, c) : HONE_OK;
}

static hone_status read_all(hone_tokenizer *t, config *c)
{
    const json_t *decoder;
    const char   *bos = NULL, *eos = NULL, *pad = NULL;
    char          where[600];

    HONE_TRY(hone_json_read_if_there(&c->main, c->dir, "tokenizer_config.json"));
    decoder = json_object_get(c->main, "added_tokens_decoder");
    if (!decoder) {
        HONE_TRY(hone_json_read_if_there(&c->map, c->dir, "special_tokens_map.json"));
        HONE_TRY(hone_json_read_if_there(&c->added, c->dir, "added_tokens.json"));
    }
    HONE_TRY(add_all(t, c, decoder));
    snprintf(where, sizeof where, "%s/tokenizer_config.json", c->dir);
    HONE_TRY(tok_json_bool(&t->split_special, c->main, "split_special_tokens", false, where));
    if (c->legacy)
        HONE_TRY(make_template(t, c));
    else
        HONE_TRY(class_default(c, &bos, &eos, &pad));
    HONE_TRY(id_of(&t->bos, t, c, TOK_BOS, bos));
    HONE_TRY(id_of(&t->eos, t, c, TOK_EOS, eos));
    return id_of(&t->pad, t, c, TOK_PAD, pad);
}

hone_status tok_config_read(hone_tokenizer *t, const char *dir, const tok_legacy *legacy)
{
    config      c = { .dir = dir, .legacy = legacy };
    hone_status st = read_all(t, &c);

    HONE_VEC_DEINIT(&c.tokens);
    for (int k = 0; k < TOK_NAMES; k++)
        json_decref(c.named[k]);
    json_decref(c.main);
    json_decref(c.map);
    json_decref(c.added);
    return st;
}
