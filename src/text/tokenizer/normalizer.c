/*
 * Normalizers: a list of steps, each of which makes a new text with, for each of its bytes, the input bytes it came from.
 * These follow the reference's alignments, oddities included: whether a text begins at the input's start decides about the
 * space of Metaspace's "first".
 */
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

typedef enum step_kind {
    STEP_FORM, STEP_LOWERCASE, STEP_REPLACE, STEP_PREPEND, STEP_STRIP, STEP_MAP, STEP_BYTES, STEP_SPACE_IDEOGRAPHS, STEP_CHARSMAP
} step_kind;

/* What becomes of a code point: another, itself, or GONE. */
typedef uint32_t map_fn(uint32_t cp);
enum { GONE = 0x110000 };

typedef struct step {
    step_kind         kind;
    hone_unicode_form form;
    map_fn           *map;
    bool              left, right;  /* Strip */
    tok_pattern      *pattern;      /* Replace */
    hone_str          content;      /* Replace, Prepend */
    tok_charsmap     *charsmap;     /* Precompiled */
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

hone_span tok_view_char_before(const tok_view *v, size_t at)
{
    size_t len;

    (void)hone_utf8_decode_before(v->s, at, &len);
    return tok_view_span(v, at - len, at);
}

hone_status tok_view_check_origin(const tok_view *v, size_t at)
{
    HONE_CHECK(!v->from || v->from[at].begin < v->from[at].end, HONE_E_UNSUPPORTED, "the normalizer's Replace matches the empty "
               "string at the start of a text, and what comes after it changes the text again: the reference library fails or "
               "repeats itself there");
    return HONE_OK;
}

hone_status tok_text_add(tok_text *t, const char *s, size_t n, hone_span from)
{
    HONE_TRY(HONE_VEC_RESERVE(&t->from, n));
    for (size_t i = 0; i < n; i++)
        t->from.data[t->from.len++] = from;
    hone_str_append(&t->s, s, n);
    return hone_str_ok(&t->s);
}

hone_status tok_text_add_char(tok_text *t, uint32_t cp, hone_span from)
{
    char c[4];

    return tok_text_add(t, c, hone_utf8_encode(cp, c), from);
}

hone_status tok_text_add_view(tok_text *t, const tok_view *v, size_t begin, size_t end)
{
    hone_span *from;

    if (begin == end)
        return HONE_OK;
    HONE_TRY(HONE_VEC_RESERVE(&t->from, end - begin));
    from = t->from.data + t->from.len;
    t->from.len += end - begin;
    hone_str_append(&t->s, v->s + begin, end - begin);
    if (v->from) {
        memcpy(from, v->from + begin, (end - begin) * sizeof *from);
        return hone_str_ok(&t->s);
    }
    for (size_t i = begin, len; i < end; i += len) {     /* each byte came from its whole character */
        len = hone_utf8_len((unsigned char)v->s[i]);
        for (size_t k = 0; k < len; k++)
            *from++ = tok_view_span(v, i, i + len);
    }
    return hone_str_ok(&t->s);
}

static hone_status push_step(step **out, tok_normalizer *nz, step_kind kind)
{
    HONE_TRY(HONE_VEC_PUSH(&nz->steps, (step){ .kind = kind }));
    *out = &nz->steps.data[nz->steps.len - 1];
    return HONE_OK;
}

static hone_status push_form(tok_normalizer *nz, hone_unicode_form form)
{
    step *s = NULL;

    HONE_TRY(push_step(&s, nz, STEP_FORM));
    s->form = form;
    return HONE_OK;
}

static hone_status push_map(tok_normalizer *nz, map_fn *map)
{
    step *s = NULL;

    HONE_TRY(push_step(&s, nz, STEP_MAP));
    s->map = map;
    return HONE_OK;
}

/* ---- what becomes of single code points ---- */

static uint32_t map_nmt(uint32_t cp)
{
    if ((cp >= 1 && cp <= 8) || cp == 0xB || (cp >= 0xE && cp <= 0x1F) || cp == 0x7F || cp == 0x8F || cp == 0x9F)
        return GONE;
    if ((cp >= 9 && cp <= 0xD) || cp == 0x1680 || (cp >= 0x200B && cp <= 0x200F) || cp == 0x2028 || cp == 0x2029 ||
        cp == 0x2581 || cp == 0xFEFF || cp == 0xFFFD)
        return ' ';
    return cp;
}

static uint32_t map_clean_text(uint32_t cp)
{
    if (cp == 0 || cp == 0xFFFD || hone_unicode_has(cp, HONE_UC_CONTROL))
        return GONE;
    return hone_unicode_has(cp, HONE_UC_SPACE) ? ' ' : cp;
}

static uint32_t map_marks(uint32_t cp) { return hone_unicode_has(cp, HONE_UC_MARK) ? GONE : cp; }
static uint32_t map_nonspacing(uint32_t cp) { return hone_unicode_has(cp, HONE_UC_NONSPACING) ? GONE : cp; }

/* The ideographs that BertNormalizer puts spaces around, as the reference lists them. */
static bool is_ideograph(uint32_t cp)
{
    return (cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0x3400 && cp <= 0x4DBF) || (cp >= 0x20000 && cp <= 0x2A6DF) ||
           (cp >= 0x2A700 && cp <= 0x2B73F) || (cp >= 0x2B740 && cp <= 0x2B81F) || (cp >= 0x2B920 && cp <= 0x2CEAF) ||
           (cp >= 0xF900 && cp <= 0xFAFF) || (cp >= 0x2F800 && cp <= 0x2FA1F);
}

/* ---- reading ---- */

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

static hone_status read_replace(tok_normalizer *nz, const json_t *spec, const char *where)
{
    const char *content;
    size_t      n;
    step       *s;

    HONE_TRY(tok_json_keys(spec, "type pattern content", where));
    HONE_TRY(tok_json_string(&content, &n, spec, "content", where));
    HONE_TRY(push_step(&s, nz, STEP_REPLACE));
    hone_str_append(&s->content, content, n);
    HONE_TRY(hone_str_ok(&s->content));
    return tok_pattern_create(&s->pattern, json_object_get(spec, "pattern"), where);
}

static hone_status read_prepend(tok_normalizer *nz, const json_t *spec, const char *where)
{
    const char *content;
    size_t      n;
    step       *s;

    HONE_TRY(tok_json_keys(spec, "type prepend", where));
    HONE_TRY(tok_json_string(&content, &n, spec, "prepend", where));
    HONE_CHECK(n, HONE_E_UNSUPPORTED, "%s: Prepend of an empty string", where);
    HONE_TRY(push_step(&s, nz, STEP_PREPEND));
    hone_str_append(&s->content, content, n);
    return hone_str_ok(&s->content);
}

static hone_status read_strip(tok_normalizer *nz, const json_t *spec, const char *where)
{
    step *s;

    HONE_TRY(tok_json_keys(spec, "type strip_left strip_right", where));
    HONE_TRY(push_step(&s, nz, STEP_STRIP));
    HONE_TRY(tok_json_bool(&s->left, spec, "strip_left", -1, where));
    return tok_json_bool(&s->right, spec, "strip_right", -1, where);
}

static hone_status read_precompiled(tok_normalizer *nz, const json_t *spec, const char *where)
{
    const char *base64;
    size_t      n;
    step       *s;

    HONE_TRY(tok_json_keys(spec, "type precompiled_charsmap", where));
    HONE_TRY(tok_json_string(&base64, &n, spec, "precompiled_charsmap", where));
    HONE_TRY(push_step(&s, nz, STEP_CHARSMAP));
    return tok_charsmap_create(&s->charsmap, base64, n, where);
}

static hone_status read_bert(tok_normalizer *nz, const json_t *spec, const char *where)
{
    bool  clean, ideographs, accents, lowercase;
    step *s;

    HONE_TRY(tok_json_keys(spec, "type clean_text handle_chinese_chars strip_accents lowercase", where));
    HONE_TRY(tok_json_bool(&clean, spec, "clean_text", -1, where));
    HONE_TRY(tok_json_bool(&ideographs, spec, "handle_chinese_chars", -1, where));
    HONE_TRY(tok_json_bool(&lowercase, spec, "lowercase", -1, where));
    accents = lowercase;        /* null: as lowercase says */
    if (!json_is_null(json_object_get(spec, "strip_accents")))
        HONE_TRY(tok_json_bool(&accents, spec, "strip_accents", lowercase, where));
    if (clean)
        HONE_TRY(push_map(nz, map_clean_text));
    if (ideographs)
        HONE_TRY(push_step(&s, nz, STEP_SPACE_IDEOGRAPHS));
    if (accents) {
        HONE_TRY(push_form(nz, HONE_NFD));
        HONE_TRY(push_map(nz, map_nonspacing));
    }
    return lowercase ? push_step(&s, nz, STEP_LOWERCASE) : HONE_OK;
}

/* A step that its type alone describes. */
static hone_status read_plain(tok_normalizer *nz, const char *type, const json_t *spec, const char *where)
{
    static const char *const forms[] = { "NFC", "NFD", "NFKC", "NFKD" };
    step *s;

    HONE_TRY(tok_json_keys(spec, "type", where));
    for (int f = 0; f < 4; f++)
        if (strcmp(type, forms[f]) == 0)
            return push_form(nz, (hone_unicode_form)f);
    if (strcmp(type, "Nmt") == 0)
        return push_map(nz, map_nmt);
    if (strcmp(type, "StripAccents") == 0)
        return push_map(nz, map_marks);
    return push_step(&s, nz, strcmp(type, "ByteLevel") == 0 ? STEP_BYTES : STEP_LOWERCASE);
}

static hone_status read_step(tok_normalizer *nz, const json_t *spec, const char *where, int depth)
{
    static const char *const plain[] = { "NFC", "NFD", "NFKC", "NFKD", "Nmt", "StripAccents", "ByteLevel", "Lowercase" };
    const char *type;

    HONE_TRY(tok_json_type(&type, spec, where));
    for (size_t i = 0; i < HONE_COUNTOF(plain); i++)
        if (strcmp(type, plain[i]) == 0)
            return read_plain(nz, type, spec, where);
    if (strcmp(type, "Sequence") == 0)
        return read_sequence(nz, spec, where, depth);
    if (strcmp(type, "Replace") == 0)
        return read_replace(nz, spec, where);
    if (strcmp(type, "Prepend") == 0)
        return read_prepend(nz, spec, where);
    if (strcmp(type, "Strip") == 0)
        return read_strip(nz, spec, where);
    if (strcmp(type, "Precompiled") == 0)
        return read_precompiled(nz, spec, where);
    if (strcmp(type, "BertNormalizer") == 0)
        return read_bert(nz, spec, where);
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: no normalizer has the type \"%s\" (there are NFC, NFD, NFKC, NFKD, Lowercase, Nmt, "
                     "StripAccents, Strip, Replace, Prepend, Precompiled, ByteLevel, BertNormalizer, Sequence)", where, type);
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
        tok_charsmap_destroy(&nz->steps.data[i].charsmap);
    }
    HONE_VEC_DEINIT(&nz->steps);
    hone_free(nz);
    *p = NULL;
}

/* ---- applying ---- */

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

        for (int j = 0; j < k; j++)
            HONE_TRY(tok_text_add_char(out, low[j], tok_view_span(v, i, i + len)));
    }
    return HONE_OK;
}

/* `origin`: where the text began before it was normalized. */
static hone_status apply_replace(const step *s, tok_text *out, const tok_view *v, uint32_t origin)
{
    tok_cut_vec cuts = { 0 };
    tok_scratch scratch = { HONE_STR_INIT, NULL };
    hone_status st = HONE_OK;

    HONE_GO(tok_pattern_cut(s->pattern, &scratch, &cuts, v->s, v->n, 0));
    for (size_t i = 0; i < cuts.len; i++) {
        tok_cut c = cuts.data[i];

        if (!c.match)
            HONE_GO(tok_text_add_view(out, v, c.begin, c.end));
        else        /* from the character that ends here, as the reference has it; from nowhere at the very start */
            HONE_GO(tok_text_add(out, s->content.data, s->content.len,
                                 c.end > 0 ? tok_view_char_before(v, c.end) : (hone_span){ origin, origin }));
    }
out:
    HONE_VEC_DEINIT(&cuts);
    tok_scratch_deinit(&scratch);
    return st;
}

static hone_status apply_prepend(const step *s, tok_text *out, const tok_view *v)
{
    HONE_TRY(tok_text_add(out, s->content.data, s->content.len, tok_view_span(v, 0, hone_utf8_len((unsigned char)v->s[0]))));
    return tok_text_add_view(out, v, 0, v->n);
}

static void apply_strip(const step *s, tok_view *v)
{
    size_t begin = 0, end = v->n, len;

    while (s->left && begin < end && hone_unicode_has(hone_utf8_decode(v->s + begin, &len), HONE_UC_SPACE))
        begin += len;
    while (s->right && end > begin && hone_unicode_has(hone_utf8_decode_before(v->s, end, &len), HONE_UC_SPACE))
        end -= len;
    *v = tok_view_part(v, begin, end);
}

/* How much at the start of the text the step leaves as it is, at least. */
static size_t unmapped(map_fn *map, const tok_view *v)
{
    size_t len;

    for (size_t i = 0; i < v->n; i += len) {
        uint32_t cp = hone_utf8_decode(v->s + i, &len);

        if (map(cp) != cp)
            return i;
    }
    return v->n;
}

static hone_status apply_map(const step *s, tok_text *out, const tok_view *v, size_t same)
{
    size_t len;

    HONE_TRY(tok_text_add_view(out, v, 0, same));
    for (size_t i = same; i < v->n; i += len) {
        uint32_t cp = s->map(hone_utf8_decode(v->s + i, &len));

        if (cp != GONE)
            HONE_TRY(tok_text_add_char(out, cp, tok_view_span(v, i, i + len)));
    }
    return HONE_OK;
}

static hone_status apply_bytes(tok_text *out, const tok_view *v)
{
    size_t len;

    for (size_t i = 0; i < v->n; i += len) {
        len = hone_utf8_len((unsigned char)v->s[i]);
        for (size_t b = i; b < i + len; b++)
            HONE_TRY(tok_text_add_char(out, tok_byte_char((uint8_t)v->s[b]), tok_view_span(v, i, i + len)));
    }
    return HONE_OK;
}

static hone_status apply_ideographs(tok_text *out, const tok_view *v)
{
    size_t len;

    for (size_t i = 0; i < v->n; i += len) {
        uint32_t  cp = hone_utf8_decode(v->s + i, &len);
        hone_span from = tok_view_span(v, i, i + len);

        if (!is_ideograph(cp)) {
            HONE_TRY(tok_text_add(out, v->s + i, len, from));
            continue;
        }
        HONE_TRY(tok_text_add_char(out, ' ', from));
        HONE_TRY(tok_text_add(out, v->s + i, len, from));
        HONE_TRY(tok_text_add_char(out, ' ', from));
    }
    return HONE_OK;
}

static hone_status apply_step(const step *s, tok_text pair[2], tok_view *v, uint32_t origin)
{
    size_t    same = s->kind == STEP_MAP ? unmapped(s->map, v) : 0;
    tok_text *out;

    if ((s->kind == STEP_FORM && s->form == HONE_NFC && hone_unicode_nfc_inert(v->s, v->n) == v->n) || same == v->n)
        return HONE_OK;
    if (s->kind == STEP_STRIP) {
        apply_strip(s, v);
        return HONE_OK;
    }
    out = tok_text_other(pair, v);
    switch (s->kind) {
    case STEP_FORM:             HONE_TRY(apply_form(s, out, v)); break;
    case STEP_LOWERCASE:        HONE_TRY(apply_lowercase(out, v)); break;
    case STEP_REPLACE:          HONE_TRY(apply_replace(s, out, v, origin)); break;
    case STEP_PREPEND:          HONE_TRY(apply_prepend(s, out, v)); break;
    case STEP_MAP:              HONE_TRY(apply_map(s, out, v, same)); break;
    case STEP_BYTES:            HONE_TRY(apply_bytes(out, v)); break;
    case STEP_SPACE_IDEOGRAPHS: HONE_TRY(apply_ideographs(out, v)); break;
    case STEP_CHARSMAP:         HONE_TRY(tok_charsmap_apply(s->charsmap, out, v)); break;
    case STEP_STRIP:            break;
    }
    *v = tok_text_view(out);
    return HONE_OK;
}

hone_status tok_normalize(const tok_normalizer *nz, tok_text pair[2], tok_view *v)
{
    uint32_t origin = v->from && v->n ? v->from[0].begin : v->base;

    for (size_t i = 0; nz && i < nz->steps.len && v->n; i++) {
        const step *s = &nz->steps.data[i];

        if (s->kind != STEP_REPLACE && s->kind != STEP_PREPEND)
            HONE_TRY(tok_view_check_origin(v, 0));
        HONE_TRY(apply_step(s, pair, v, origin));
    }
    return HONE_OK;
}
