/* Normalizers: Unicode normal forms, Lowercase, Replace, Prepend, and sequences of them. */
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

typedef enum step_kind { STEP_FORM, STEP_LOWERCASE, STEP_REPLACE, STEP_PREPEND } step_kind;

typedef struct step {
    step_kind         kind;
    hone_unicode_form form;
    tok_pattern      *pattern;      /* Replace */
    hone_str          content;      /* Replace, Prepend */
} step;

struct tok_normalizer { HONE_VEC(step) steps; };

tok_text *tok_text_other(tok_text pair[2], const tok_view *v)
{
    const hone_span *first = pair[0].from.data;
    bool             in_first = v->from && first && v->from >= first && v->from < first + pair[0].from.cap;
    tok_text        *t = &pair[in_first];

    hone_str_clear(&t->s);
    t->from.len = 0;
    return t;
}

hone_status tok_text_add(tok_text *t, const char *s, size_t n, hone_span from)
{
    HONE_TRY(HONE_VEC_RESERVE(&t->from, n));
    for (size_t i = 0; i < n; i++)
        t->from.data[t->from.len++] = from;
    hone_str_append(&t->s, s, n);
    return hone_str_ok(&t->s);
}

hone_status tok_text_add_view(tok_text *t, const tok_view *v, size_t begin, size_t end)
{
    HONE_TRY(HONE_VEC_RESERVE(&t->from, end - begin));
    for (size_t i = begin; i < end; i++)
        t->from.data[t->from.len++] = tok_view_span(v, i, i + 1);
    hone_str_append(&t->s, v->s + begin, end - begin);
    return hone_str_ok(&t->s);
}

static hone_status read_step(tok_normalizer *nz, const json_t *spec, const char *where, int depth);

static hone_status read_sequence(tok_normalizer *nz, const json_t *spec, const char *where, int depth)
{
    const json_t *list = json_object_get(spec, "normalizers"), *item;
    size_t        i;

    HONE_TRY(tok_json_keys(spec, "type normalizers", where));
    HONE_CHECK(json_is_array(list), HONE_E_FORMAT, "%s: Sequence has no array \"normalizers\"", where);
    HONE_CHECK(depth < 16, HONE_E_UNSUPPORTED, "%s: sequences nested deeper than 16", where);
    json_array_foreach(list, i, item)
        HONE_TRY(read_step(nz, item, where, depth + 1));
    return HONE_OK;
}

static hone_status push_step(tok_normalizer *nz, step_kind kind, hone_unicode_form form)
{
    return HONE_VEC_PUSH(&nz->steps, (step){ kind, form, NULL, HONE_STR_INIT });
}

static hone_status read_replace(tok_normalizer *nz, const json_t *spec, const char *where)
{
    const char *content;
    size_t      n;
    step       *s;

    HONE_TRY(tok_json_keys(spec, "type pattern content", where));
    HONE_TRY(tok_json_string(&content, &n, spec, "content", where));
    HONE_TRY(push_step(nz, STEP_REPLACE, HONE_NFC));
    s = &nz->steps.data[nz->steps.len - 1];
    hone_str_append(&s->content, content, n);
    HONE_TRY(hone_str_ok(&s->content));
    return tok_pattern_create(&s->pattern, json_object_get(spec, "pattern"), where);
}

static hone_status read_step(tok_normalizer *nz, const json_t *spec, const char *where, int depth)
{
    static const char *const forms[] = { "NFC", "NFD", "NFKC", "NFKD" };
    const char *type, *content;
    size_t      n;

    HONE_TRY(tok_json_type(&type, spec, where));
    for (int f = 0; f < 4; f++)
        if (strcmp(type, forms[f]) == 0) {
            HONE_TRY(tok_json_keys(spec, "type", where));
            return push_step(nz, STEP_FORM, (hone_unicode_form)f);
        }
    if (strcmp(type, "Sequence") == 0)
        return read_sequence(nz, spec, where, depth);
    if (strcmp(type, "Lowercase") == 0) {
        HONE_TRY(tok_json_keys(spec, "type", where));
        return push_step(nz, STEP_LOWERCASE, HONE_NFC);
    }
    if (strcmp(type, "Replace") == 0)
        return read_replace(nz, spec, where);
    if (strcmp(type, "Prepend") == 0) {
        HONE_TRY(tok_json_keys(spec, "type prepend", where));
        HONE_TRY(tok_json_string(&content, &n, spec, "prepend", where));
        HONE_CHECK(n, HONE_E_UNSUPPORTED, "%s: Prepend of an empty string", where);
        HONE_TRY(push_step(nz, STEP_PREPEND, HONE_NFC));
        hone_str_append(&nz->steps.data[nz->steps.len - 1].content, content, n);
        return hone_str_ok(&nz->steps.data[nz->steps.len - 1].content);
    }
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: the type \"%s\" is not implemented (there are NFC, NFD, NFKC, NFKD, "
                     "Lowercase, Replace, Prepend, Sequence)", where, type);
}

hone_status tok_normalizer_create(tok_normalizer **out, const json_t *spec, const char *where)
{
    hone_status st;

    *out = NULL;
    if (!spec || json_is_null(spec))
        return HONE_OK;
    *out = hone_calloc(1, sizeof **out);
    if (!*out)
        return HONE_E_NOMEM;
    st = read_step(*out, spec, where, 0);
    if (st != HONE_OK)
        tok_normalizer_destroy(out);
    return st;
}

void tok_normalizer_destroy(tok_normalizer **p)
{
    tok_normalizer *nz = *p;

    if (!nz)
        return;
    for (size_t i = 0; i < nz->steps.len; i++) {
        tok_pattern_destroy(&nz->steps.data[i].pattern);
        hone_str_deinit(&nz->steps.data[i].content);
    }
    HONE_VEC_DEINIT(&nz->steps);
    hone_free(nz);
    *p = NULL;
}

static hone_status apply_form(const step *s, tok_text *out, const tok_view *v)
{
    size_t before = out->from.len;

    HONE_TRY(hone_unicode_normalize(&out->s, &out->from, v->s, v->n, s->form));
    for (size_t i = before; i < out->from.len; i++)
        out->from.data[i] = tok_view_span(v, out->from.data[i].begin, out->from.data[i].end);
    return HONE_OK;
}

static hone_status apply_lowercase(tok_text *out, const tok_view *v)
{
    size_t len;

    for (size_t i = 0; i < v->n; i += len) {
        uint32_t low[2];
        int      k = hone_unicode_to_lower(hone_utf8_decode(v->s + i, &len), low);

        for (int j = 0; j < k; j++) {
            char   c[4];
            size_t n = hone_utf8_encode(low[j], c);

            HONE_TRY(tok_text_add(out, c, n, tok_view_span(v, i, i + len)));
        }
    }
    return HONE_OK;
}

static hone_status apply_replace(const step *s, tok_text *out, const tok_view *v)
{
    tok_cut_vec cuts = { 0 };
    hone_status st = HONE_OK;

    HONE_GO(tok_pattern_cut(s->pattern, &cuts, v->s, v->n, 0));
    for (size_t i = 0; i < cuts.len; i++) {
        tok_cut   c = cuts.data[i];
        hone_span at;

        if (!c.match) {
            HONE_GO(tok_text_add_view(out, v, c.begin, c.end));
            continue;
        }
        /* What the reference does with text from nowhere, before everything, is accidental. */
        HONE_GO_CHECK(c.end > 0 || !s->content.len, HONE_E_UNSUPPORTED, "the normalizer's Replace matches the empty string "
                      "at the start of the text");
        at = c.begin < c.end ? tok_view_span(v, c.begin, c.end) : tok_view_span(v, c.begin - 1, c.begin);
        if (c.begin == c.end)
            at.begin = at.end;
        HONE_GO(tok_text_add(out, s->content.data, s->content.len, at));
    }
out:
    HONE_VEC_DEINIT(&cuts);
    return st;
}

static hone_status apply_prepend(const step *s, tok_text *out, const tok_view *v)
{
    hone_span first = tok_view_span(v, 0, 1);

    HONE_TRY(tok_text_add(out, s->content.data, s->content.len, (hone_span){ first.begin, first.begin }));
    return tok_text_add_view(out, v, 0, v->n);
}

hone_status tok_normalize(const tok_normalizer *nz, tok_text pair[2], tok_view *v)
{
    for (size_t i = 0; nz && i < nz->steps.len && v->n; i++) {
        const step *s = &nz->steps.data[i];
        tok_text   *out;

        if (s->kind == STEP_FORM && s->form == HONE_NFC && hone_unicode_nfc_inert(v->s, v->n) == v->n)
            continue;
        out = tok_text_other(pair, v);
        switch (s->kind) {
        case STEP_FORM:      HONE_TRY(apply_form(s, out, v)); break;
        case STEP_LOWERCASE: HONE_TRY(apply_lowercase(out, v)); break;
        case STEP_REPLACE:   HONE_TRY(apply_replace(s, out, v)); break;
        case STEP_PREPEND:   HONE_TRY(apply_prepend(s, out, v)); break;
        }
        *v = tok_text_view(out);
    }
    return HONE_OK;
}
