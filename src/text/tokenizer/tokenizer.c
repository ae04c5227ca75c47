#include "text/tokenizer.h"

#include <pthread.h>

#include "base/file.h"
#include "base/utf8.h"
#include "text/tokenizer/cache.h"
#include "text/tokenizer/legacy.h"

/* ---- working memory: lent to one encode at a time, kept for the next ---- */

struct tok_pool { pthread_mutex_t lock; tok_work *free; };

static void work_destroy(tok_work *w)
{
    if (!w)
        return;
    for (int i = 0; i < 2; i++) {
        hone_str_deinit(&w->normal[i].s);
        hone_str_deinit(&w->pre[i].s);
        HONE_VEC_DEINIT(&w->normal[i].from);
        HONE_VEC_DEINIT(&w->pre[i].from);
    }
    HONE_VEC_DEINIT(&w->raw);
    HONE_VEC_DEINIT(&w->added);
    HONE_VEC_DEINIT(&w->pieces);
    HONE_VEC_DEINIT(&w->cuts);
    HONE_VEC_DEINIT(&w->found);
    HONE_VEC_DEINIT(&w->symbols);
    HONE_VEC_DEINIT(&w->heap);
    HONE_VEC_DEINIT(&w->path);
    hone_str_deinit(&w->lookup);
    tok_scratch_deinit(&w->scratch);
    hone_free(w->cache);
    hone_free(w);
}

static hone_status borrow(tok_work **out, struct tok_pool *pool)
{
    tok_work *w;

    pthread_mutex_lock(&pool->lock);
    w = pool->free;
    if (w)
        pool->free = w->next;
    pthread_mutex_unlock(&pool->lock);
    *out = w;
    if (w)
        return HONE_OK;
    w = hone_calloc(1, sizeof *w);
    if (w && !(w->cache = hone_calloc(TOK_CACHE_SLOTS, sizeof *w->cache))) {
        hone_free(w);
        w = NULL;
    }
    *out = w;
    return w ? HONE_OK : HONE_E_NOMEM;
}

static void give_back(struct tok_pool *pool, tok_work *w)
{
    pthread_mutex_lock(&pool->lock);
    w->next = pool->free;
    pool->free = w;
    pthread_mutex_unlock(&pool->lock);
}

static void pool_destroy(struct tok_pool *pool)
{
    while (pool && pool->free) {
        tok_work *w = pool->free;

        pool->free = w->next;
        work_destroy(w);
    }
    if (pool)
        pthread_mutex_destroy(&pool->lock);
    hone_free(pool);
}

/* ---- loading ---- */

static hone_status start(hone_tokenizer **out)
{
    hone_tokenizer *t = *out = hone_calloc(1, sizeof *t);

    if (!t)
        return HONE_E_NOMEM;
    t->bos = t->eos = t->pad = -1;
    t->pool = hone_calloc(1, sizeof *t->pool);
    if (!t->pool)
        return HONE_E_NOMEM;
    pthread_mutex_init(&t->pool->lock, NULL);
    return HONE_OK;
}

static hone_status finish(hone_tokenizer *t, const char *name)
{
    hone_status st = tok_added_set_finish(t->added, t->normalizer, t->split_special);

    return st == HONE_OK ? st : hone_status_context(st, "in %s", name);
}

hone_status hone_tokenizer_create(hone_tokenizer **out, const char *json, size_t n, const char *name)
{
    hone_status st;

    HONE_GO(start(out));
    HONE_GO(tok_file_read(*out, json, n, name, NULL));
    HONE_GO(finish(*out, name));
out:
    if (st != HONE_OK)
        hone_tokenizer_destroy(out);
    return st;
}

enum { KEEP_FROM = 2 << 20 };       /* bytes of a tokenizer.json from which mapping its tables starts faster */

/* Keep the tables for the next time, if the model has some. */
static void keep_tables(const hone_tokenizer *t, const hone_mapped *file, const hone_str *rest)
{
    tok_tables tables = { 0 };

    if (!t->model->kind->save)
        return;
    tok_tables_put(&tables, hone_str_c(rest), rest->len, 1);
    tok_vocab_save(&t->vocab, &tables);
    t->model->kind->save(t->model, &tables);
    tok_cache_write((const char *)file->data, file->size, &tables);
    hone_str_deinit(&tables.out);
}

static hone_status read_file(hone_tokenizer *t, const hone_mapped *file, const char *path)
{
    hone_str    rest = HONE_STR_INIT;
    bool        keep = file->size >= KEEP_FROM;
    hone_status st;

    HONE_GO(tok_file_read(t, (const char *)file->data, file->size, path, keep ? &rest : NULL));
    if (keep)
        keep_tables(t, file, &rest);
out:
    hone_str_deinit(&rest);
    return st;
}

/* With the tables that the cache keeps for the file. */
static hone_status read_kept(hone_tokenizer *t, const char *path)
{
    const void *rest;
    size_t      n;

    HONE_CHECK(tok_tables_get(t->kept, &rest, &n, 1), HONE_E_FORMAT, "the tables do not fit");
    return tok_file_read(t, rest, n, path, NULL);
}

static hone_status load_file(hone_tokenizer **out, const char *dir, const char *path)
{
    hone_mapped map = { 0 };
    hone_status st;

    HONE_GO(hone_file_map(&map, path));
    (*out)->kept = map.size >= KEEP_FROM ? tok_cache_open((const char *)map.data, map.size) : NULL;
    if ((*out)->kept && read_kept(*out, path) != HONE_OK) {     /* of no use after all */
        hone_tokenizer_destroy(out);
        HONE_GO(start(out));
    }
    if (!(*out)->kept)
        HONE_GO(read_file(*out, &map, path));
    HONE_GO(tok_config_read(*out, dir, NULL));
out:
    hone_file_unmap(&map);
    return st;
}

static hone_status load_legacy(hone_tokenizer *t, const char *dir)
{
    tok_legacy  legacy;
    hone_status st;

    HONE_GO(tok_legacy_read(t, &legacy, dir));
    HONE_GO(tok_added_set_create(&t->added));
    HONE_GO(tok_config_read(t, dir, &legacy));
out:
    tok_legacy_deinit(&legacy);
    return st;
}

bool hone_tokenizer_is_in(const char *dir) { return hone_dir_has(dir, "tokenizer.json") || tok_legacy_is(dir); }

hone_status hone_tokenizer_load(hone_tokenizer **out, const char *dir)
{
    char       *path = hone_path_join(dir, "tokenizer.json");
    hone_status st;

    *out = NULL;
    if (!path)
        return HONE_E_NOMEM;
    HONE_GO(start(out));
    if (hone_path_exists(path)) {
        HONE_GO(load_file(out, dir, path));
    } else {
        HONE_GO_CHECK(tok_legacy_is(dir), HONE_E_IO, "%s does not exist, nor do older vocabulary files; a tokenizer is read from "
                      "tokenizer.json, which transformers' save_pretrained writes", path);
        HONE_GO(load_legacy(*out, dir));
    }
    HONE_GO(finish(*out, path));
out:
    hone_free(path);
    if (st != HONE_OK)
        hone_tokenizer_destroy(out);
    return st;
}

void hone_tokenizer_destroy(hone_tokenizer **tok)
{
    hone_tokenizer *t = *tok;

    if (!t)
        return;
    tok_model_destroy(&t->model);
    tok_vocab_deinit(&t->vocab);
    tok_normalizer_destroy(&t->normalizer);
    tok_pretokenizer_destroy(&t->pretokenizer);
    tok_added_set_destroy(&t->added);
    HONE_VEC_DEINIT(&t->post);
    tok_decoder_deinit(&t->decoder);
    tok_cache_close(&t->kept);
    pool_destroy(t->pool);
    hone_free(t);
    *tok = NULL;
}

/* ---- changes ---- */

hone_status hone_tokenizer_add(hone_tokenizer *t, const char *const *contents, size_t n, bool special)
{
    for (size_t i = 0; i < n; i++) {
        tok_added a = { .content = (char *)(uintptr_t)contents[i], .n = strlen(contents[i]), .special = special,
                        .normalized = !special };

        HONE_TRY(tok_added_set_add(t->added, &a, 1, &t->vocab));
    }
    return tok_added_set_finish(t->added, t->normalizer, t->split_special);
}

hone_status hone_tokenizer_set_split_special(hone_tokenizer *t, bool split)
{
    t->split_special = split;
    return tok_added_set_finish(t->added, t->normalizer, split);
}

void hone_tokenizer_set_eos(hone_tokenizer *t, int32_t id) { t->eos = id; }
void hone_tokenizer_set_pad(hone_tokenizer *t, int32_t id) { t->pad = id; }

/* ---- encoding ---- */

/* Text without added tokens, already normalized. */
static hone_status encode_plain(const hone_tokenizer *t, tok_work *w, hone_encoding *out, tok_view v)
{
    HONE_TRY(tok_pretokenize(t->pretokenizer, w, &v, t->model->reads_bytes));
    for (size_t i = 0; i < w->pieces.len; i++)
        HONE_TRY(tok_model_encode(t->model, w, out, &v, w->pieces.data[i].begin, w->pieces.data[i].end));
    return HONE_OK;
}

static hone_status push_added(hone_encoding *out, const tok_view *v, tok_stretch s)
{
    hone_span from = tok_view_span(v, s.begin, s.end);

    return HONE_VEC_PUSH(out, (hone_token){ s.id, from.begin, from.end });
}

/* Text between added tokens of the raw text. */
static hone_status encode_stretch(const hone_tokenizer *t, tok_work *w, hone_encoding *out, tok_view v)
{
    HONE_TRY(tok_normalize(t->normalizer, w->normal, &v));
    w->added.len = 0;
    HONE_TRY(tok_added_cut(t->added, &w->added, &v, true));
    for (size_t i = 0; i < w->added.len; i++) {
        tok_stretch s = w->added.data[i];

        if (s.id >= 0)
            HONE_TRY(push_added(out, &v, s));
        else
            HONE_TRY(encode_plain(t, w, out, tok_view_part(&v, s.begin, s.end)));
    }
    return HONE_OK;
}

static hone_status encode_text(const hone_tokenizer *t, tok_work *w, hone_encoding *out, const char *text, size_t n)
{
    tok_view v = { text, n, NULL, 0 };

    w->raw.len = 0;
    HONE_TRY(tok_added_cut(t->added, &w->raw, &v, false));
    for (size_t i = 0; i < w->raw.len; i++) {
        tok_stretch s = w->raw.data[i];

        if (s.id >= 0)
            HONE_TRY(push_added(out, &v, s));
        else
            HONE_TRY(encode_stretch(t, w, out, tok_view_part(&v, s.begin, s.end)));
    }
    return HONE_OK;
}

hone_status hone_tokenizer_encode(const hone_tokenizer *t, hone_encoding *out, const char *text, size_t n, bool add_special)
{
    size_t      good = hone_utf8_valid_prefix(text, n), len = out->len;
    uint32_t    at = 0;         /* where special tokens stand: before the text 0, after it n */
    tok_work   *w;
    hone_status st;

    HONE_CHECK(n < UINT32_MAX, HONE_E_DATA, "a text of %zu bytes is too long; at most 4 GiB are encoded at a time", n);
    HONE_CHECK(good == n, HONE_E_DATA, "invalid UTF-8: byte 0x%02x at offset %zu", (unsigned char)text[good], good);
    HONE_TRY(borrow(&w, t->pool));
    for (size_t i = 0; i < t->post.len; i++) {
        int32_t id = t->post.data[i].id;

        if (id < 0) {
            HONE_GO(encode_text(t, w, out, text, n));
            at = (uint32_t)n;
        } else if (add_special) {
            HONE_GO(HONE_VEC_PUSH(out, (hone_token){ id, at, at }));
        }
    }
    st = HONE_OK;
out:
    if (st != HONE_OK)
        out->len = len;
    give_back(t->pool, w);
    return st;
}

/* ---- decoding ---- */

/* What a decoder sees of an id: an added token in normalized form, or the vocabulary's content. */
static const char *decoded_content(const hone_tokenizer *t, int32_t id, size_t *n, const tok_added **added)
{
    const tok_added *a = *added = tok_added_at(t->added, id);

    if (!a)
        return tok_vocab_content(&t->vocab, id, n);
    *n = a->normal ? a->n_normal : a->n;
    return a->normal ? a->normal : a->content;
}

hone_status hone_tokenizer_decode(const hone_tokenizer *t, hone_str *out, const int32_t *ids, size_t n, bool skip_special)
{
    hone_str     tokens = HONE_STR_INIT;
    hone_vec_i64 ends = { 0 };
    hone_status  st = HONE_OK;

    for (size_t i = 0; i < n; i++) {
        const tok_added *added;
        size_t           len;
        const char      *content = decoded_content(t, ids[i], &len, &added);

        if (!content)
            continue;
        if (skip_special) {
            added = tok_added_find(t->added, content, len);     /* as the reference: by the content it would decode */
            if (added && added->special)
                continue;
        }
        hone_str_append(&tokens, content, len);
        HONE_GO(HONE_VEC_PUSH(&ends, (int64_t)tokens.len));
    }
    HONE_GO(hone_str_ok(&tokens));
    HONE_GO(tok_decode(&t->decoder, out, &tokens, &ends));
out:
    hone_str_deinit(&tokens);
    HONE_VEC_DEINIT(&ends);
    return st;
}

hone_status hone_tokenizer_token_bytes(const hone_tokenizer *t, hone_str *out, int32_t id)
{
    const tok_added *added;
    size_t           n;
    const char      *content = decoded_content(t, id, &n, &added);

    return content ? tok_decode_one(&t->decoder, out, content, n) : HONE_OK;
}

/* ---- questions ---- */

int32_t hone_tokenizer_id(const hone_tokenizer *t, const char *content)
{
    size_t           n = strlen(content);
    const tok_added *a = tok_added_find(t->added, content, n);

    return a ? a->id : tok_vocab_find(&t->vocab, content, n);
}

const char *hone_tokenizer_content(const hone_tokenizer *t, int32_t id)
{
    const tok_added *a = tok_added_at(t->added, id);
    size_t           n;

    return a ? a->content : tok_vocab_content(&t->vocab, id, &n);
}

bool hone_tokenizer_is_special(const hone_tokenizer *t, int32_t id)
{
    const tok_added *a = tok_added_at(t->added, id);

    return a && a->special;
}

bool hone_tokenizer_is_added(const hone_tokenizer *t, int32_t id) { return tok_added_at(t->added, id) != NULL; }

int32_t hone_tokenizer_vocab_size(const hone_tokenizer *t) { return HONE_MAX(t->vocab.end, tok_added_end(t->added)); }

int32_t hone_tokenizer_bos(const hone_tokenizer *t) { return t->bos; }
int32_t hone_tokenizer_eos(const hone_tokenizer *t) { return t->eos; }
int32_t hone_tokenizer_pad(const hone_tokenizer *t) { return t->pad; }

bool hone_tokenizer_adds_bos(const hone_tokenizer *t)
{
    return t->bos >= 0 && t->post.len > 0 && t->post.data[0].id == t->bos;
}
