/*
 * What the files beside tokenizer.json add, as transformers 5 reads them for a directory that has a tokenizer.json:
 * names of special tokens; further added tokens, or other flags for those there are (added_tokens_decoder,
 * extra_special_tokens, added_tokens.json). add_bos_token and add_eos_token have no effect there: the post-processor alone
 * decides. special_tokens_map.json and added_tokens.json count only without an added_tokens_decoder.
 */
#include "base/file.h"
#include "text/tokenizer/parts.h"

static const char *const names[] = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
                                     "mask_token" };
enum { BOS, EOS, UNK, SEP, PAD, CLS, MASK, N_NAMES };

typedef struct config {
    const char *dir;
    json_t     *main, *map, *added;             /* the three files, NULL if absent */
    json_t     *named[N_NAMES];                 /* borrowed: string or object, NULL if none */
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

static hone_status read_file(json_t **out, const char *dir, const char *name)
{
    char       *path = hone_path_join(dir, name);
    hone_status st = HONE_OK;

    *out = NULL;
    if (!path)
        return HONE_E_NOMEM;
    if (hone_path_exists(path)) {
        HONE_GO(hone_json_read(out, path));
        HONE_GO_CHECK(json_is_object(*out), HONE_E_FORMAT, "%s is not an object", path);
    }
out:
    hone_free(path);
    return st;
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
        old = tok_added_find(set, t.content, t.n);
        if (!old || !same_flags(old, &t))
            HONE_GO(HONE_VEC_PUSH(&c->tokens, t));
    }
out:
    HONE_VEC_DEINIT(&list);
    return st;
}

/* added_tokens.json, of old checkpoints: {"<token>": id}. */
static hone_status read_added_json(config *c, const tok_added_set *set)
{
    const char *key;
    json_t     *v;

    json_object_foreach(c->added, key, v) {
        tok_added t = { .content = (char *)(uintptr_t)key, .n = strlen(key) };

        HONE_CHECK(json_is_integer(v), HONE_E_FORMAT, "%s/added_tokens.json: the id of \"%s\" is not a whole number", c->dir,
                   key);
        for (int k = 0; k < N_NAMES; k++) {
            tok_added named;

            if (c->named[k] && read_token(&named, c->named[k], true, names[k]) == HONE_OK && named.n == t.n &&
                memcmp(named.content, key, t.n) == 0)
                t.special = true;
        }
        t.normalized = !t.special;
        if (!tok_added_find(set, t.content, t.n))
            HONE_TRY(HONE_VEC_PUSH(&c->tokens, t));
    }
    return HONE_OK;
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

        for (int k = 0; k < N_NAMES; k++)
            known = known || strcmp(key, names[k]) == 0;
        snprintf(where, sizeof where, "%s/tokenizer_config.json: %.80s", c->dir, key);
        if (!known)
            HONE_TRY(add_named(c, set, v, where));
    }
    return HONE_OK;
}

static void find_named(config *c)
{
    for (int k = 0; k < N_NAMES; k++) {
        json_t *v = json_object_get(c->main, names[k]), *m = json_object_get(c->map, names[k]);

        c->named[k] = m ? m : v;
        if (json_is_null(c->named[k]))
            c->named[k] = NULL;
    }
}

/* Tokenizer classes with special tokens of their own, for directories that name none (as openai-community/gpt2). */
static hone_status class_default(const config *c, const char **bos, const char **eos, const char **pad)
{
    const char *class = json_string_value(json_object_get(c->main, "tokenizer_class")), *type;
    json_t     *model = NULL;

    *bos = *eos = *pad = NULL;
    if (!class) {
        HONE_TRY(read_file(&model, c->dir, "config.json"));
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
    snprintf(where, sizeof where, "%s: %s", c->dir, names[k]);
    if (c->named[k]) {
        HONE_TRY(read_token(&named, c->named[k], true, where));
        *out = hone_tokenizer_id(t, named.content);
    } else if (absent && !json_object_get(c->main, names[k])) {
        *out = hone_tokenizer_id(t, absent);
    }
    return HONE_OK;
}

static hone_status read_all(hone_tokenizer *t, config *c)
{
    const json_t *decoder;
    const char   *bos, *eos, *pad;
    bool          split = false;
    char          where[600];

    HONE_TRY(read_file(&c->main, c->dir, "tokenizer_config.json"));
    decoder = json_object_get(c->main, "added_tokens_decoder");
    if (!decoder) {
        HONE_TRY(read_file(&c->map, c->dir, "special_tokens_map.json"));
        HONE_TRY(read_file(&c->added, c->dir, "added_tokens.json"));
    }
    find_named(c);
    if (decoder)
        HONE_TRY(read_decoder(c, t->added, decoder));
    else if (c->added)
        HONE_TRY(read_added_json(c, t->added));
    for (int k = 0; k < N_NAMES; k++) {
        snprintf(where, sizeof where, "%s: %s", c->dir, names[k]);
        if (c->named[k])
            HONE_TRY(add_named(c, t->added, c->named[k], where));
    }
    HONE_TRY(add_own(c, t->added));
    HONE_TRY(add_extra(c, t->added, c->main, "tokenizer_config.json"));
    if (c->map)
        HONE_TRY(add_extra(c, t->added, c->map, "special_tokens_map.json"));
    HONE_TRY(tok_added_set_add(t->added, c->tokens.data, c->tokens.len, &t->vocab));
    snprintf(where, sizeof where, "%s/tokenizer_config.json", c->dir);
    HONE_TRY(tok_json_bool(&split, c->main, "split_special_tokens", false, where));
    t->split_special = split;
    HONE_TRY(class_default(c, &bos, &eos, &pad));
    HONE_TRY(id_of(&t->bos, t, c, BOS, bos));
    HONE_TRY(id_of(&t->eos, t, c, EOS, eos));
    return id_of(&t->pad, t, c, PAD, pad);
}

hone_status tok_config_read(hone_tokenizer *t, const char *dir)
{
    config      c = { .dir = dir };
    hone_status st = read_all(t, &c);

    HONE_VEC_DEINIT(&c.tokens);
    json_decref(c.main);
    json_decref(c.map);
    json_decref(c.added);
    return st;
}
