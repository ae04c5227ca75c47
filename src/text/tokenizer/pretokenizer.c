/* Pre-tokenizers: they cut a text into the pieces that the model sees. A sequence is a list of steps. */
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

typedef enum step_kind {
    STEP_BYTE_LEVEL, STEP_METASPACE, STEP_SPLIT, STEP_FLAGS, STEP_WHITESPACE, STEP_DELIMITER, STEP_SCRIPTS, STEP_FIXED_LENGTH
} step_kind;

/* Where Metaspace puts its character before a piece: nowhere, at the start of the input, everywhere. */
typedef enum prepend_scheme { PREPEND_NEVER, PREPEND_FIRST, PREPEND_ALWAYS } prepend_scheme;

/* What becomes of the matches of a pattern. */
typedef enum behavior { REMOVED, ISOLATED, MERGED_WITH_PREVIOUS, MERGED_WITH_NEXT, CONTIGUOUS } behavior;

typedef struct step {
    step_kind      kind;
    behavior       behavior;
    bool           invert;              /* Split */
    bool           add_prefix_space;    /* ByteLevel */
    tok_pattern   *pattern;             /* Split; ByteLevel with use_regex, else NULL */
    unsigned       flags;               /* STEP_FLAGS: which characters are matches */
    char           mark[8];             /* Metaspace: its character; CharDelimiterSplit: the delimiter */
    size_t         mark_len;
    prepend_scheme prepend;             /* Metaspace */
    bool           split;               /* Metaspace: each mark begins a piece */
    size_t         length;              /* FixedLength, in characters */
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

/* A string of one character. */
static hone_status read_mark(step *s, const json_t *spec, const char *key, const char *where)
{
    const char *text;
    size_t      n;

    HONE_TRY(tok_json_string(&text, &n, spec, key, where));
    HONE_CHECK(n && hone_utf8_len((unsigned char)text[0]) == n, HONE_E_FORMAT, "%s: \"%s\" is not one character", where, key);
    memcpy(s->mark, text, n);
    s->mark_len = n;
    return HONE_OK;
}

static hone_status read_metaspace(step *s, const json_t *spec, const char *where)
{
    static const char *const schemes[] = { "never", "first", "always" };
    const json_t *scheme = json_object_get(spec, "prepend_scheme");
    bool          prefix = true;
    size_t        k = PREPEND_ALWAYS;

    HONE_TRY(tok_json_keys(spec, "type replacement prepend_scheme split add_prefix_space str_rep", where));
    HONE_TRY(read_mark(s, spec, "replacement", where));
    s->split = true;
    if (!json_is_null(json_object_get(spec, "split")))
        HONE_TRY(tok_json_bool(&s->split, spec, "split", true, where));
    if (!json_is_null(json_object_get(spec, "add_prefix_space")))
        HONE_TRY(tok_json_bool(&prefix, spec, "add_prefix_space", true, where));
    if (scheme)
        for (k = 0; k < HONE_COUNTOF(schemes); k++)
            if (json_is_string(scheme) && strcmp(json_string_value(scheme), schemes[k]) == 0)
                break;
    HONE_CHECK(k < HONE_COUNTOF(schemes), HONE_E_FORMAT, "%s: \"prepend_scheme\" is not always, first or never", where);
    HONE_CHECK(prefix || k == PREPEND_NEVER, HONE_E_FORMAT, "%s: \"add_prefix_space\" is false, so \"prepend_scheme\" has to be "
               "\"never\"", where);
    s->prepend = (prepend_scheme)k;
    return HONE_OK;
}

static hone_status read_split(step *s, const json_t *spec, const char *where)
{
    HONE_TRY(tok_json_keys(spec, "type pattern behavior invert", where));
    HONE_TRY(read_behavior(&s->behavior, spec, where));
    HONE_TRY(tok_json_bool(&s->invert, spec, "invert", -1, where));
    return tok_pattern_create(&s->pattern, json_object_get(spec, "pattern"), where);
}

static hone_status read_digits(step *s, const json_t *spec, const char *where)
{
    bool individual;

    HONE_TRY(tok_json_keys(spec, "type individual_digits", where));
    HONE_TRY(tok_json_bool(&individual, spec, "individual_digits", -1, where));
    s->flags = HONE_UC_NUMERIC;
    s->behavior = individual ? ISOLATED : CONTIGUOUS;
    return HONE_OK;
}

static hone_status read_punctuation(step *s, const json_t *spec, const char *where)
{
    HONE_TRY(tok_json_keys(spec, "type behavior", where));
    s->flags = HONE_UC_PUNCT;
    s->behavior = ISOLATED;
    return json_object_get(spec, "behavior") ? read_behavior(&s->behavior, spec, where) : HONE_OK;
}

static hone_status read_delimiter(step *s, const json_t *spec, const char *where)
{
    HONE_TRY(tok_json_keys(spec, "type delimiter", where));
    return read_mark(s, spec, "delimiter", where);
}

static hone_status read_fixed_length(step *s, const json_t *spec, const char *where)
{
    const json_t *length = json_object_get(spec, "length");

    HONE_TRY(tok_json_keys(spec, "type length", where));
    HONE_CHECK(!length || (json_is_integer(length) && json_integer_value(length) > 0), HONE_E_FORMAT,
               "%s: \"length\" is not a whole number above 0", where);
    s->length = length ? (size_t)json_integer_value(length) : 5;
    return HONE_OK;
}

static hone_status read_white_space(step *s, const json_t *spec, const char *where)
{
    s->flags = HONE_UC_SPACE;
    return tok_json_keys(spec, "type", where);
}

static hone_status read_plain(step *s, const json_t *spec, const char *where)
{
    (void)s;
    return tok_json_keys(spec, "type", where);
}

/* Types with one step; behavior is REMOVED where its reader sets none. */
static const struct { const char *type; step_kind kind; hone_status (*read)(step *, const json_t *, const char *); } readers[] = {
    { "ByteLevel", STEP_BYTE_LEVEL, read_byte_level }, { "Metaspace", STEP_METASPACE, read_metaspace },
    { "Split", STEP_SPLIT, read_split }, { "Digits", STEP_FLAGS, read_digits }, { "Punctuation", STEP_FLAGS, read_punctuation },
    { "Whitespace", STEP_WHITESPACE, read_plain }, { "WhitespaceSplit", STEP_FLAGS, read_white_space },
    { "BertPreTokenizer", STEP_FLAGS, read_white_space }, { "CharDelimiterSplit", STEP_DELIMITER, read_delimiter },
    { "UnicodeScripts", STEP_SCRIPTS, read_plain }, { "FixedLength", STEP_FIXED_LENGTH, read_fixed_length }
};

static hone_status read_step(tok_pretokenizer *pt, const json_t *spec, const char *where, int depth)
{
    const char *type;
    size_t      k = 0;

    HONE_TRY(tok_json_type(&type, spec, where));
    if (strcmp(type, "Sequence") == 0)
        return read_sequence(pt, spec, where, depth);
    while (k < HONE_COUNTOF(readers) && strcmp(readers[k].type, type) != 0)
        k++;
    HONE_CHECK(k < HONE_COUNTOF(readers), HONE_E_UNSUPPORTED, "%s: no pre-tokenizer has the type \"%s\" (there are ByteLevel, "
               "Metaspace, Split, Digits, Punctuation, Whitespace, WhitespaceSplit, BertPreTokenizer, CharDelimiterSplit, "
               "UnicodeScripts, FixedLength, Sequence)", where, type);
    HONE_TRY(HONE_VEC_PUSH(&pt->steps, (step){ .kind = readers[k].kind }));
    HONE_TRY(readers[k].read(&pt->steps.data[pt->steps.len - 1], spec, where));
    if (strcmp(type, "BertPreTokenizer") == 0)      /* then punctuation */
        return HONE_VEC_PUSH(&pt->steps, (step){ .kind = STEP_FLAGS, .behavior = ISOLATED, .flags = HONE_UC_PUNCT });
    return HONE_OK;
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

static hone_status cut_delimiter(const step *d, tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    size_t done = 0;

    while (done < n) {
        const char *at = memmem(s + done, n - done, d->mark, d->mark_len);
        size_t      begin = at ? (size_t)(at - s) : n;

        HONE_TRY(push_run(out, done, begin, false, shift));
        if (!at)
            break;
        done = begin + d->mark_len;
        HONE_TRY(push_run(out, begin, done, true, shift));
    }
    return HONE_OK;
}

/* Runs of one script. Characters of any script go with the run before them; those before the first run go away, as in the
 * reference. */
static hone_status cut_scripts(tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    size_t done = 0, len;
    int    script = -1;

    for (size_t i = 0; i < n; i += len) {
        uint32_t cp = hone_utf8_decode(s + i, &len);
        int      now = cp == ' ' ? -1 : hone_unicode_script(cp);

        if (now < 0 || now == script)
            continue;
        HONE_TRY(push_run(out, done, i, script < 0, shift));
        done = i;
        script = now;
    }
    return push_run(out, done, n, script < 0, shift);
}

static hone_status cut_fixed(tok_cut_vec *out, const char *s, size_t n, size_t length, uint32_t shift)
{
    for (size_t i = 0, end; i < n; i = end) {
        end = i;
        for (size_t k = 0; k < length && end < n; k++)
            end += hone_utf8_len((unsigned char)s[end]);
        HONE_TRY(push_run(out, i, end, false, shift));
    }
    return HONE_OK;
}

static hone_status cut_piece(const step *s, tok_scratch *scratch, tok_cut_vec *out, const char *text, size_t n, uint32_t shift)
{
    switch (s->kind) {
    case STEP_FLAGS:        return cut_by_flags(out, text, n, s->flags, shift);
    case STEP_WHITESPACE:   return cut_whitespace(out, text, n, shift);
    case STEP_DELIMITER:    return cut_delimiter(s, out, text, n, shift);
    case STEP_SCRIPTS:      return cut_scripts(out, text, n, shift);
    case STEP_FIXED_LENGTH: return cut_fixed(out, text, n, s->length, shift);
    default:                return tok_pattern_cut(s->pattern, scratch, out, text, n, shift);
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

            HONE_TRY(cut_piece(s, &w->scratch, &w->cuts, v->s + p.begin, p.end - p.begin, p.begin));
            drop_empty(&w->cuts, first);
            continue;
        }
        w->found.len = 0;
        HONE_TRY(cut_piece(s, &w->scratch, &w->found, v->s + p.begin, p.end - p.begin, p.begin));
        HONE_TRY(apply_behavior(&w->cuts, &w->found, how, s->invert));
    }
    swap = w->pieces;
    w->pieces = w->cuts;
    w->cuts = swap;
    return HONE_OK;
}

static hone_span first_char_span(const tok_view *v, const tok_cut *p)
{
    return tok_view_span(v, p->begin, p->begin + hone_utf8_len((unsigned char)v->s[p->begin]));
}

/* Put a space before each piece that does not start with one. */
static hone_status add_prefix_spaces(tok_work *w, tok_view *v)
{
    tok_text *t = tok_text_other(w->pre, v);

    for (size_t i = 0; i < w->pieces.len; i++) {
        tok_cut  *p = &w->pieces.data[i];
        size_t    begin = t->s.len;

        if (v->s[p->begin] != ' ')
            HONE_TRY(tok_text_add(t, " ", 1, first_char_span(v, p)));
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

        for (size_t b = p->begin, end; b < p->end; b = end) {
            hone_span from = tok_view_span(v, b, end = b + hone_utf8_len((unsigned char)v->s[b]));

            for (size_t k = b; k < end; k++)
                HONE_TRY(tok_text_add_char(t, tok_byte_char((uint8_t)v->s[k]), from));
        }
        *p = (tok_cut){ (uint32_t)begin, (uint32_t)t->s.len, false };
    }
    *v = tok_text_view(t);
    return HONE_OK;
}

static bool begins_with_mark(const step *s, const tok_view *v, const tok_cut *p)
{
    return v->s[p->begin] == ' ' || (p->end - p->begin >= s->mark_len && memcmp(v->s + p->begin, s->mark, s->mark_len) == 0);
}

/* Append a piece with its spaces written as the mark. */
static hone_status write_metaspace(const step *s, tok_text *t, const tok_view *v, const tok_cut *p)
{
    for (size_t i = p->begin, end; i < p->end; i = end) {
        const char *space = memchr(v->s + i, ' ', p->end - i);

        end = space ? (size_t)(space - v->s) : p->end;
        HONE_TRY(tok_text_add_view(t, v, i, end));
        if (space) {
            HONE_TRY(tok_text_add(t, s->mark, s->mark_len, tok_view_span(v, end, end + 1)));
            end++;
        }
    }
    return HONE_OK;
}

/* Each mark begins a piece of t[begin..end). */
static hone_status split_at_marks(const step *s, tok_cut_vec *out, const tok_text *t, size_t begin, size_t end)
{
    while (begin < end) {
        const char *at = end - begin > s->mark_len ? memmem(t->s.data + begin + 1, end - begin - 1, s->mark, s->mark_len) : NULL;
        size_t      next = at ? (size_t)(at - t->s.data) : end;

        HONE_TRY(HONE_VEC_PUSH(out, (tok_cut){ (uint32_t)begin, (uint32_t)next, false }));
        begin = next;
    }
    return HONE_OK;
}

static hone_status apply_metaspace(const step *s, tok_work *w, tok_view *v)
{
    tok_text   *t = tok_text_other(w->pre, v);
    tok_cut_vec swap;

    w->cuts.len = 0;
    for (size_t i = 0; i < w->pieces.len; i++) {
        const tok_cut *p = &w->pieces.data[i];
        size_t         begin = t->s.len;
        hone_span      first = first_char_span(v, p);

        if (!begins_with_mark(s, v, p) && (s->prepend == PREPEND_ALWAYS || (s->prepend == PREPEND_FIRST && first.begin == 0)))
            HONE_TRY(tok_text_add(t, s->mark, s->mark_len, first));
        HONE_TRY(write_metaspace(s, t, v, p));
        if (s->split)
            HONE_TRY(split_at_marks(s, &w->cuts, t, begin, t->s.len));
        else
            HONE_TRY(HONE_VEC_PUSH(&w->cuts, (tok_cut){ (uint32_t)begin, (uint32_t)t->s.len, false }));
    }
    swap = w->pieces;
    w->pieces = w->cuts;
    w->cuts = swap;
    *v = tok_text_view(t);
    return HONE_OK;
}

static hone_status apply_byte_level(const step *s, tok_work *w, tok_view *v, bool as_bytes)
{
    if (s->add_prefix_space)
        HONE_TRY(add_prefix_spaces(w, v));
    if (s->pattern)
        HONE_TRY(refine(s, w, v, ISOLATED));
    if (w->pieces.len)
        HONE_TRY(tok_view_check_origin(v, w->pieces.data[0].begin));
    return as_bytes ? HONE_OK : write_bytes(w, v);
}

hone_status tok_pretokenize(const tok_pretokenizer *pt, tok_work *w, tok_view *v, bool as_bytes)
{
    w->pieces.len = 0;
    if (v->n)
        HONE_TRY(HONE_VEC_PUSH(&w->pieces, (tok_cut){ 0, (uint32_t)v->n, false }));
    for (size_t i = 0; pt && i < pt->steps.len; i++) {
        const step *s = &pt->steps.data[i];

        if (s->kind == STEP_BYTE_LEVEL)
            HONE_TRY(apply_byte_level(s, w, v, as_bytes));
        else if (s->kind == STEP_METASPACE)
            HONE_TRY(apply_metaspace(s, w, v));
        else
            HONE_TRY(refine(s, w, v, s->behavior));
    }
    return HONE_OK;
}
