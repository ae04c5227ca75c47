/* Pre-tokenizers: they cut a text into the pieces that the model sees. A sequence is a list of steps. */
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

typedef enum step_kind {
    STEP_BYTE_LEVEL, STEP_SPLIT, STEP_DIGITS, STEP_PUNCTUATION, STEP_WHITESPACE, STEP_WHITESPACE_SPLIT
} step_kind;

/* What becomes of the matches of a pattern. */
typedef enum behavior { REMOVED, ISOLATED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS } behavior;

typedef struct step {
    step_kind    kind;
    behavior     behavior;
    bool         invert;            /* Split */
    bool         add_prefix_space;  /* ByteLevel */
    tok_pattern *pattern;           /* Split; ByteLevel with use_regex, else NULL */
} step;

struct tok_pretokenizer { HONE_VEC(step) steps; };

/* ---- reading ---- */

static hone_status read_behavior(behavior *out, const json_t *spec, const char *where)
{
    static const char *const names[] = { "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous" };
    const json_t *v = json_object_get(spec, "behavior");

    for (size_t i = 0; json_is_string(v) && i < HONE_COUNTOF(names); i++)
        if (strcmp(json_string_value(v), names[i]) == 0) {
            *out = (behavior)i;
            return HONE_OK;
        }
    return HONE_FAIL(HONE_E_FORMAT, "%s: \"behavior\" is not Removed, Isolated, MergedWithPrevious, MergedWithNext or "
                     "Contiguous", where);
}

static hone_status read_byte_level(step *s, const json_t *spec, const char *where)
{
    bool use_regex, trim;

    HONE_TRY(tok_json_keys(spec, "type add_prefix_space trim_offsets use_regex", where));
    HONE_TRY(tok_json_bool(&s->add_prefix_space, spec, "add_prefix_space", -1, where));
    HONE_TRY(tok_json_bool(&trim, spec, "trim_offsets", -1, where));    /* only about the reference's offsets */
    HONE_TRY(tok_json_bool(&use_regex, spec, "use_regex", true, where));
    return use_regex ? tok_pattern_create_gpt2(&s->pattern) : HONE_OK;
}

static hone_status read_step(tok_pretokenizer *pt, const json_t *spec, const char *where, int depth);

static hone_status read_sequence(tok_pretokenizer *pt, const json_t *spec, const char *where, int depth)
{
    const json_t *list = json_object_get(spec, "pretokenizers"), *item;
    size_t        i;

    HONE_TRY(tok_json_keys(spec, "type pretokenizers", where));
    HONE_CHECK(json_is_array(list), HONE_E_FORMAT, "%s: Sequence has no array \"pretokenizers\"", where);
    HONE_CHECK(depth < 16, HONE_E_UNSUPPORTED, "%s: sequences nested deeper than 16", where);
    json_array_foreach(list, i, item)
        HONE_TRY(read_step(pt, item, where, depth + 1));
    return HONE_OK;
}

static hone_status read_simple(step *s, const char *type, const json_t *spec, const char *where)
{
    bool individual;

    if (strcmp(type, "ByteLevel") == 0) {
        s->kind = STEP_BYTE_LEVEL;
        return read_byte_level(s, spec, where);
    }
    if (strcmp(type, "Split") == 0) {
        s->kind = STEP_SPLIT;
        HONE_TRY(tok_json_keys(spec, "type pattern behavior invert", where));
        HONE_TRY(read_behavior(&s->behavior, spec, where));
        HONE_TRY(tok_json_bool(&s->invert, spec, "invert", -1, where));
        return tok_pattern_create(&s->pattern, json_object_get(spec, "pattern"), where);
    }
    if (strcmp(type, "Digits") == 0) {
        s->kind = STEP_DIGITS;
        HONE_TRY(tok_json_keys(spec, "type individual_digits", where));
        HONE_TRY(tok_json_bool(&individual, spec, "individual_digits", -1, where));
        s->behavior = individual ? ISOLATED : CONTIGUOUS;
        return HONE_OK;
    }
    if (strcmp(type, "Punctuation") == 0) {
        s->kind = STEP_PUNCTUATION;
        s->behavior = ISOLATED;
        HONE_TRY(tok_json_keys(spec, "type behavior", where));
        return json_object_get(spec, "behavior") ? read_behavior(&s->behavior, spec, where) : HONE_OK;
    }
    s->behavior = REMOVED;
    if (strcmp(type, "Whitespace") == 0 || strcmp(type, "WhitespaceSplit") == 0) {
        s->kind = strcmp(type, "Whitespace") == 0 ? STEP_WHITESPACE : STEP_WHITESPACE_SPLIT;
        return tok_json_keys(spec, "type", where);
    }
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: the type \"%s\" is not implemented (there are ByteLevel, Split, Digits, "
                     "Punctuation, Whitespace, WhitespaceSplit, Sequence)", where, type);
}

static hone_status read_step(tok_pretokenizer *pt, const json_t *spec, const char *where, int depth)
{
    const char *type;

    HONE_TRY(tok_json_type(&type, spec, where));
    if (strcmp(type, "Sequence") == 0)
        return read_sequence(pt, spec, where, depth);
    HONE_TRY(HONE_VEC_PUSH(&pt->steps, (step){ 0 }));
    return read_simple(&pt->steps.data[pt->steps.len - 1], type, spec, where);
}

hone_status tok_pretokenizer_create(tok_pretokenizer **out, const json_t *spec, const char *where)
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
        tok_pretokenizer_destroy(out);
    return st;
}

void tok_pretokenizer_destroy(tok_pretokenizer **p)
{
    tok_pretokenizer *pt = *p;

    if (!pt)
        return;
    for (size_t i = 0; i < pt->steps.len; i++)
        tok_pattern_destroy(&pt->steps.data[i].pattern);
    HONE_VEC_DEINIT(&pt->steps);
    hone_free(pt);
    *p = NULL;
}

bool tok_pretokenizer_ends_in_bytes(const tok_pretokenizer *pt)
{
    size_t n = 0;

    for (size_t i = 0; pt && i < pt->steps.len; i++)
        n += pt->steps.data[i].kind == STEP_BYTE_LEVEL;
    return n == 1 && pt->steps.data[pt->steps.len - 1].kind == STEP_BYTE_LEVEL;
}

/* ---- cutting ---- */

static void drop_empty(tok_cut_vec *v, size_t first)
{
    size_t n = first;

    for (size_t i = first; i < v->len; i++)
        if (v->data[i].begin < v->data[i].end)
            v->data[n++] = v->data[i];
    v->len = n;
}

/* The pieces that `cuts` (matches and gaps of one piece) become. Empty ones vanish. */
static hone_status apply_behavior(tok_cut_vec *out, tok_cut_vec *cuts, behavior how, bool invert)
{
    size_t first = out->len, n = cuts->len;
    bool   before = false;

    for (size_t k = 0; k < n; k++) {
        tok_cut *c = &cuts->data[how == MERGED_WITH_NEXT ? n - 1 - k : k];
        bool     match = c->match != invert, join;

        join = how == CONTIGUOUS ? match == before : match && !before;
        join = join && how != ISOLATED && how != REMOVED && out->len > first;
        if (join && how == MERGED_WITH_NEXT)
            out->data[out->len - 1].begin = c->begin;
        else if (join)
            out->data[out->len - 1].end = c->end;
        else if (!(how == REMOVED && match))
            HONE_TRY(HONE_VEC_PUSH(out, *c));
        before = match;
    }
    if (how == MERGED_WITH_NEXT)
        for (size_t i = first, j = out->len; i + 1 < j; i++) {
            tok_cut swap = out->data[i];

            out->data[i] = out->data[--j];
            out->data[j] = swap;
        }
    drop_empty(out, first);
    return HONE_OK;
}

static hone_status push_run(tok_cut_vec *out, size_t begin, size_t end, bool match, uint32_t shift)
{
    if (begin == end)
        return HONE_OK;
    return HONE_VEC_PUSH(out, (tok_cut){ (uint32_t)begin + shift, (uint32_t)end + shift, match });
}

/* Each character with one of `flags` is a match. */
static hone_status cut_by_flags(tok_cut_vec *out, const char *s, size_t n, unsigned flags, uint32_t shift)
{
    size_t done = 0;

    for (size_t i = 0, len; i < n; i += len)
        if (hone_unicode_has(hone_utf8_decode(s + i, &len), flags)) {
            HONE_TRY(push_run(out, done, i, false, shift));
            HONE_TRY(push_run(out, i, i + len, true, shift));
            done = i + len;
        }
    return push_run(out, done, n, false, shift);
}

/* \w+|[^\w\s]+, with what lies between as the matches to be removed. */
static hone_status cut_whitespace(tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    unsigned kinds = HONE_UC_WORD | HONE_UC_SPACE, now, kind = 0;
    size_t   done = 0;

    for (size_t i = 0, len; i < n; i += len) {
        now = hone_unicode_at(hone_utf8_decode(s + i, &len))->flags & kinds;
        if (i > 0 && now != kind) {
            HONE_TRY(push_run(out, done, i, kind == HONE_UC_SPACE, shift));
            done = i;
        }
        kind = now;
    }
    return push_run(out, done, n, kind == HONE_UC_SPACE, shift);
}

static hone_status cut_piece(const step *s, tok_cut_vec *out, const char *text, size_t n, uint32_t shift)
{
    switch (s->kind) {
    case STEP_DIGITS:           return cut_by_flags(out, text, n, HONE_UC_NUMERIC, shift);
    case STEP_PUNCTUATION:      return cut_by_flags(out, text, n, HONE_UC_PUNCT, shift);
    case STEP_WHITESPACE_SPLIT: return cut_by_flags(out, text, n, HONE_UC_SPACE, shift);
    case STEP_WHITESPACE:       return cut_whitespace(out, text, n, shift);
    default:                    return tok_pattern_cut(s->pattern, out, text, n, shift);
    }
}

/* Cut each piece of w->pieces further. */
static hone_status refine(const step *s, tok_work *w, const tok_view *v, behavior how)
{
    tok_cut_vec swap;

    w->cuts.len = 0;
    for (size_t i = 0; i < w->pieces.len; i++) {
        tok_cut p = w->pieces.data[i];

        if (how == ISOLATED) {      /* the usual case: every cut is a piece */
            size_t first = w->cuts.len;

            HONE_TRY(cut_piece(s, &w->cuts, v->s + p.begin, p.end - p.begin, p.begin));
            drop_empty(&w->cuts, first);
            continue;
        }
        w->found.len = 0;
        HONE_TRY(cut_piece(s, &w->found, v->s + p.begin, p.end - p.begin, p.begin));
        HONE_TRY(apply_behavior(&w->cuts, &w->found, how, s->invert));
    }
    swap = w->pieces;
    w->pieces = w->cuts;
    w->cuts = swap;
    return HONE_OK;
}

/* Put a space before each piece that does not start with one. */
static hone_status add_prefix_spaces(tok_work *w, tok_view *v)
{
    tok_text *t = tok_text_other(w->pre, v);

    for (size_t i = 0; i < w->pieces.len; i++) {
        tok_cut  *p = &w->pieces.data[i];
        size_t    begin = t->s.len;
        hone_span first = tok_view_span(v, p->begin, p->begin + 1);

        if (v->s[p->begin] != ' ')
            HONE_TRY(tok_text_add(t, " ", 1, (hone_span){ first.begin, first.begin }));
        HONE_TRY(tok_text_add_view(t, v, p->begin, p->end));
        *p = (tok_cut){ (uint32_t)begin, (uint32_t)t->s.len, false };
    }
    *v = tok_text_view(t);
    return HONE_OK;
}

/* Write each byte as its character of the byte-level alphabet. */
static hone_status write_bytes(tok_work *w, tok_view *v)
{
    tok_text *t = tok_text_other(w->pre, v);

    for (size_t i = 0; i < w->pieces.len; i++) {
        tok_cut *p = &w->pieces.data[i];
        size_t   begin = t->s.len;

        for (size_t b = p->begin; b < p->end; b++) {
            char   c[4];
            size_t n = hone_utf8_encode(tok_byte_char((uint8_t)v->s[b]), c);

            HONE_TRY(tok_text_add(t, c, n, tok_view_span(v, b, b + 1)));
        }
        *p = (tok_cut){ (uint32_t)begin, (uint32_t)t->s.len, false };
    }
    *v = tok_text_view(t);
    return HONE_OK;
}

hone_status tok_pretokenize(const tok_pretokenizer *pt, tok_work *w, tok_view *v, bool as_bytes)
{
    w->pieces.len = 0;
    if (v->n)
        HONE_TRY(HONE_VEC_PUSH(&w->pieces, (tok_cut){ 0, (uint32_t)v->n, false }));
    for (size_t i = 0; pt && i < pt->steps.len; i++) {
        const step *s = &pt->steps.data[i];

        if (s->kind != STEP_BYTE_LEVEL) {
            HONE_TRY(refine(s, w, v, s->behavior));
            continue;
        }
        if (s->add_prefix_space)
            HONE_TRY(add_prefix_spaces(w, v));
        if (s->pattern)
            HONE_TRY(refine(s, w, v, ISOLATED));
        if (!as_bytes)
            HONE_TRY(write_bytes(w, v));
    }
    return HONE_OK;
}
