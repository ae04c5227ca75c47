/*
 * Decoders: from the contents of tokens to text. A list of steps, each of which makes new strings of the ones before: most treat
 * each string alone, ByteLevel and Fuse make one of all.
 */
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

/* Strings laid end to end; string i ends at ends[i]. */
typedef struct strings { hone_str s; hone_vec_i64 ends; } strings;

/* ---- reading ---- */

static hone_status read_text(hone_str *out, const json_t *spec, const char *key, const char *where)
{
    const char *s;
    size_t      n;

    HONE_TRY(tok_json_string(&s, &n, spec, key, where));
    hone_str_append(out, s, n);
    return hone_str_ok(out);
}

static hone_status read_count(size_t *out, const json_t *spec, const char *key, const char *where)
{
    const json_t *v = json_object_get(spec, key);

    HONE_CHECK(json_is_integer(v) && json_integer_value(v) >= 0, HONE_E_FORMAT, "%s: \"%s\" is not a whole number", where, key);
    *out = (size_t)json_integer_value(v);
    return HONE_OK;
}

static hone_status read_byte_level(tok_decoder_step *s, const json_t *spec, const char *where)
{
    (void)s;
    return tok_json_keys(spec, "type add_prefix_space trim_offsets use_regex", where);
}

static hone_status read_plain(tok_decoder_step *s, const json_t *spec, const char *where)
{
    (void)s;
    return tok_json_keys(spec, "type", where);
}

static hone_status read_metaspace(tok_decoder_step *s, const json_t *spec, const char *where)
{
    const json_t *scheme = json_object_get(spec, "prepend_scheme");

    HONE_TRY(tok_json_keys(spec, "type replacement prepend_scheme split add_prefix_space str_rep", where));
    HONE_TRY(read_text(&s->text, spec, "replacement", where));
    HONE_CHECK(s->text.len && hone_utf8_len((unsigned char)s->text.data[0]) == s->text.len, HONE_E_FORMAT,
               "%s: \"replacement\" is not one character", where);
    s->flag = !json_is_string(scheme) || strcmp(json_string_value(scheme), "never") != 0;      /* a first mark is not a space */
    return HONE_OK;
}

static hone_status read_word_piece(tok_decoder_step *s, const json_t *spec, const char *where)
{
    HONE_TRY(tok_json_keys(spec, "type prefix cleanup", where));
    HONE_TRY(read_text(&s->text, spec, "prefix", where));
    return tok_json_bool(&s->flag, spec, "cleanup", -1, where);
}

static hone_status read_suffix(tok_decoder_step *s, const json_t *spec, const char *where)
{
    HONE_TRY(tok_json_keys(spec, "type suffix", where));
    return read_text(&s->text, spec, "suffix", where);
}

static hone_status read_strip(tok_decoder_step *s, const json_t *spec, const char *where)
{
    HONE_TRY(tok_json_keys(spec, "type content start stop", where));
    HONE_TRY(read_text(&s->text, spec, "content", where));
    HONE_CHECK(s->text.len && hone_utf8_len((unsigned char)s->text.data[0]) == s->text.len, HONE_E_FORMAT,
               "%s: \"content\" is not one character", where);
    HONE_TRY(read_count(&s->start, spec, "start", where));
    return read_count(&s->stop, spec, "stop", where);
}

static hone_status read_replace(tok_decoder_step *s, const json_t *spec, const char *where)
{
    HONE_TRY(tok_json_keys(spec, "type pattern content", where));
    HONE_TRY(read_text(&s->text, spec, "content", where));
    return tok_pattern_create(&s->pattern, json_object_get(spec, "pattern"), where);
}

static hone_status read_ctc(tok_decoder_step *s, const json_t *spec, const char *where)
{
    HONE_TRY(tok_json_keys(spec, "type pad_token word_delimiter_token cleanup", where));
    HONE_TRY(read_text(&s->text, spec, "pad_token", where));
    HONE_TRY(read_text(&s->delimiter, spec, "word_delimiter_token", where));
    return tok_json_bool(&s->flag, spec, "cleanup", -1, where);
}

static const struct {
    const char      *type;
    tok_decoder_kind kind;
    hone_status    (*read)(tok_decoder_step *, const json_t *, const char *);
} readers[] = {
    { "ByteLevel", TOK_DECODE_BYTE_LEVEL, read_byte_level }, { "Fuse", TOK_DECODE_FUSE, read_plain },
    { "Metaspace", TOK_DECODE_METASPACE, read_metaspace }, { "WordPiece", TOK_DECODE_WORD_PIECE, read_word_piece },
    { "BPEDecoder", TOK_DECODE_SUFFIX, read_suffix }, { "ByteFallback", TOK_DECODE_BYTE_FALLBACK, read_plain },
    { "Strip", TOK_DECODE_STRIP, read_strip }, { "Replace", TOK_DECODE_REPLACE, read_replace }, { "CTC", TOK_DECODE_CTC, read_ctc }
};

static hone_status read_step(tok_decoder *d, const json_t *spec, const char *where, int depth)
{
    const json_t *list = json_object_get(spec, "decoders"), *item;
    const char   *type;
    size_t        i, k = 0;

    HONE_TRY(tok_json_type(&type, spec, where));
    if (strcmp(type, "Sequence") == 0) {
        HONE_TRY(tok_json_keys(spec, "type decoders", where));
        HONE_CHECK(json_is_array(list), HONE_E_FORMAT, "%s: Sequence has no array \"decoders\"", where);
        HONE_CHECK(depth < 16, HONE_E_UNSUPPORTED, "%s: sequences nested deeper than 16", where);
        json_array_foreach(list, i, item)
            HONE_TRY(read_step(d, item, where, depth + 1));
        return HONE_OK;
    }
    while (k < HONE_COUNTOF(readers) && strcmp(readers[k].type, type) != 0)
        k++;
    HONE_CHECK(k < HONE_COUNTOF(readers), HONE_E_UNSUPPORTED, "%s: no decoder has the type \"%s\" (there are ByteLevel, Metaspace, "
               "WordPiece, BPEDecoder, ByteFallback, Fuse, Strip, Replace, CTC, Sequence)", where, type);
    HONE_TRY(HONE_VEC_PUSH(&d->steps, (tok_decoder_step){ .kind = readers[k].kind }));
    return readers[k].read(&d->steps.data[d->steps.len - 1], spec, where);
}

hone_status tok_decoder_read(tok_decoder *out, const json_t *spec, const char *where)
{
    out->present = spec && !json_is_null(spec);
    return out->present ? read_step(out, spec, where, 0) : HONE_OK;
}

void tok_decoder_deinit(tok_decoder *d)
{
    for (size_t i = 0; i < d->steps.len; i++) {
        hone_str_deinit(&d->steps.data[i].text);
        hone_str_deinit(&d->steps.data[i].delimiter);
        tok_pattern_destroy(&d->steps.data[i].pattern);
    }
    HONE_VEC_DEINIT(&d->steps);
}

/* ---- text that may not be UTF-8 ---- */

/* How many bytes at s are one ill-formed sequence: the longest start of a well-formed one, at least one byte. */
static size_t ill_formed(const unsigned char *s, size_t n)
{
    unsigned char lo = 0x80, hi = 0xBF;
    size_t        len, i = 1;

    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 1;
    len = hone_utf8_len(s[0]);
    if (s[0] == 0xE0) lo = 0xA0;
    if (s[0] == 0xED) hi = 0x9F;
    if (s[0] == 0xF0) lo = 0x90;
    if (s[0] == 0xF4) hi = 0x8F;
    for (; i < len && i < n && s[i] >= lo && s[i] <= hi; i++) {
        lo = 0x80;
        hi = 0xBF;
    }
    return i;
}

static void append_lossy(hone_str *out, const char *s, size_t n)
{
    while (n) {
        size_t good = hone_utf8_valid_prefix(s, n), bad;

        hone_str_append(out, s, good);
        if (good == n)
            return;
        bad = ill_formed((const unsigned char *)s + good, n - good);
        hone_str_puts(out, "\xEF\xBF\xBD");
        s += good + bad;
        n -= good + bad;
    }
}

/* ---- one string ---- */

/* Append s[0..n) with `what` replaced by `by`; an empty `what` stands around each character. */
static void append_replaced(hone_str *out, const char *s, size_t n, const char *what, size_t n_what, const char *by)
{
    while (n) {
        const char *at = n_what ? memmem(s, n, what, n_what) : s;
        size_t      before = at ? (size_t)(at - s) : n, pass = n_what;

        hone_str_append(out, s, before);
        if (at)
            hone_str_puts(out, by);
        if (at && !n_what) {
            pass = hone_utf8_len((unsigned char)*s);
            hone_str_append(out, s, pass);
        }
        s += at ? before + pass : n;
        n -= at ? before + pass : n;
    }
    if (!n_what)
        hone_str_puts(out, by);
}

/* The reference's clean-up of English, in place of out's bytes from `begin` on. */
static void clean_up(hone_str *out, size_t begin)
{
    static const char *const pairs[][2] = {
        { " .", "." }, { " ?", "?" }, { " !", "!" }, { " ,", "," }, { " ' ", "'" }, { " n't", "n't" }, { " 'm", "'m" },
        { " do not", " don't" }, { " 's", "'s" }, { " 've", "'ve" }, { " 're", "'re" }
    };
    hone_str made = HONE_STR_INIT;

    for (size_t i = 0; i < HONE_COUNTOF(pairs) && out->len > begin && !out->failed && !made.failed; i++) {
        hone_str_clear(&made);
        append_replaced(&made, out->data + begin, out->len - begin, pairs[i][0], strlen(pairs[i][0]), pairs[i][1]);
        out->len = begin;
        hone_str_append(out, hone_str_c(&made), made.len);
    }
    out->failed |= made.failed;
    hone_str_deinit(&made);
}

/* The byte of a token like <0x0A>, -1 if it is none. */
static int fallback_byte(const char *s, size_t n)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    unsigned byte;

    if (n != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>' || !memchr(digits, s[4], 22) || !(s[3] == '+' || memchr(digits, s[3], 22)))
        return -1;
    return sscanf(s + 3 + (s[3] == '+'), "%2x", &byte) == 1 ? (int)byte : -1;     /* the reference takes a plus sign too */
}

static void append_stripped(const tok_decoder_step *d, hone_str *out, const char *s, size_t n)
{
    size_t k = d->text.len;

    for (size_t i = 0; i < d->start && n >= k && memcmp(s, d->text.data, k) == 0; i++) {
        s += k;
        n -= k;
    }
    for (size_t i = 0; i < d->stop && n >= k && memcmp(s + n - k, d->text.data, k) == 0; i++)
        n -= k;
    hone_str_append(out, s, n);
}

static hone_status append_pattern(const tok_decoder_step *d, hone_str *out, const char *s, size_t n)
{
    tok_cut_vec cuts = { 0 };
    tok_scratch scratch = { HONE_STR_INIT, NULL };
    hone_status st = HONE_OK;

    if (n)
        HONE_GO(tok_pattern_cut(d->pattern, &scratch, &cuts, s, n, 0));
    for (size_t i = 0; i < cuts.len; i++) {
        tok_cut c = cuts.data[i];

        hone_str_append(out, c.match ? hone_str_c(&d->text) : s + c.begin, c.match ? d->text.len : c.end - c.begin);
    }
out:
    HONE_VEC_DEINIT(&cuts);
    tok_scratch_deinit(&scratch);
    return st;
}

static void append_word_piece(const tok_decoder_step *d, hone_str *out, const char *s, size_t n, bool first)
{
    size_t begin = out->len, prefix = d->text.len;

    if (first) {
        prefix = 0;
    } else if (n < prefix || memcmp(s, hone_str_c(&d->text), prefix) != 0) {
        hone_str_putc(out, ' ');
        prefix = 0;
    }
    hone_str_append(out, s + prefix, n - prefix);
    if (d->flag)
        clean_up(out, begin);
}

static hone_status append_ctc(const tok_decoder_step *d, hone_str *out, const char *s, size_t n)
{
    hone_str    cleaned = HONE_STR_INIT;
    hone_status st = HONE_OK;

    append_replaced(d->flag ? &cleaned : out, s, n, hone_str_c(&d->text), d->text.len, "");
    if (d->flag) {
        clean_up(&cleaned, 0);
        append_replaced(out, hone_str_c(&cleaned), cleaned.len, hone_str_c(&d->delimiter), d->delimiter.len, " ");
    }
    st = hone_str_ok(&cleaned);
    hone_str_deinit(&cleaned);
    return st;
}

/* Append what string number `i` of `count` becomes. */
static hone_status append_one(const tok_decoder_step *d, hone_str *out, const char *s, size_t n, size_t i, size_t count)
{
    switch (d->kind) {
    case TOK_DECODE_METASPACE:
        append_replaced(out, s, n, d->text.data, d->text.len, i == 0 && d->flag ? "" : " ");
        break;
    case TOK_DECODE_WORD_PIECE:
        append_word_piece(d, out, s, n, i == 0);
        break;
    case TOK_DECODE_SUFFIX:
        append_replaced(out, s, n, hone_str_c(&d->text), d->text.len, i + 1 == count ? "" : " ");
        break;
    case TOK_DECODE_STRIP:
        append_stripped(d, out, s, n);
        break;
    case TOK_DECODE_REPLACE:
        HONE_TRY(append_pattern(d, out, s, n));
        break;
    case TOK_DECODE_CTC:
        HONE_TRY(append_ctc(d, out, s, n));
        break;
    case TOK_DECODE_BYTE_LEVEL: case TOK_DECODE_FUSE: case TOK_DECODE_BYTE_FALLBACK:
        hone_str_append(out, s, n);
        break;
    }
    return hone_str_ok(out);
}

/* ---- all strings ---- */

static hone_status end_string(strings *t) { return HONE_VEC_PUSH(&t->ends, (int64_t)t->s.len); }

/* Bytes of byte tokens, as one string if they are UTF-8, else as many of U+FFFD. */
static hone_status flush_bytes(strings *out, hone_str *bytes)
{
    bool good = hone_utf8_valid_prefix(hone_str_c(bytes), bytes->len) == bytes->len;

    if (good && bytes->len) {
        hone_str_append(&out->s, bytes->data, bytes->len);
        HONE_TRY(end_string(out));
    }
    for (size_t i = 0; !good && i < bytes->len; i++) {
        hone_str_puts(&out->s, "\xEF\xBF\xBD");
        HONE_TRY(end_string(out));
    }
    hone_str_clear(bytes);
    return HONE_OK;
}

static hone_status join_byte_tokens(strings *out, const strings *in)
{
    hone_str    bytes = HONE_STR_INIT;
    size_t      begin = 0;
    hone_status st = HONE_OK;

    for (size_t i = 0; i < in->ends.len; begin = (size_t)in->ends.data[i++]) {
        const char *s = hone_str_c(&in->s) + begin;
        size_t      n = (size_t)in->ends.data[i] - begin;
        int         byte = fallback_byte(s, n);

        if (byte >= 0) {
            hone_str_putc(&bytes, (char)byte);
            continue;
        }
        HONE_GO(flush_bytes(out, &bytes));
        hone_str_append(&out->s, s, n);
        HONE_GO(end_string(out));
    }
    HONE_GO(hone_str_ok(&bytes));
    HONE_GO(flush_bytes(out, &bytes));
out:
    hone_str_deinit(&bytes);
    return st;
}

/* All become one string, of bytes; those with a character outside the alphabet stand for themselves. */
static hone_status join_byte_level(strings *out, const strings *in)
{
    hone_str    bytes = HONE_STR_INIT;
    size_t      begin = 0;
    hone_status st;

    for (size_t i = 0; i < in->ends.len; begin = (size_t)in->ends.data[i++])
        tok_chars_to_bytes(&bytes, hone_str_c(&in->s) + begin, (size_t)in->ends.data[i] - begin);
    HONE_GO(hone_str_ok(&bytes));
    append_lossy(&out->s, hone_str_c(&bytes), bytes.len);
    st = end_string(out);
out:
    hone_str_deinit(&bytes);
    return st;
}

static hone_status apply_step(const tok_decoder_step *d, strings *out, const strings *in)
{
    size_t      begin = 0, n_before = SIZE_MAX;
    const char *before = NULL;

    switch (d->kind) {
    case TOK_DECODE_BYTE_LEVEL:
        return join_byte_level(out, in);
    case TOK_DECODE_BYTE_FALLBACK:
        return join_byte_tokens(out, in);
    case TOK_DECODE_FUSE:
        hone_str_append(&out->s, hone_str_c(&in->s), in->s.len);
        return end_string(out);
    default:
        break;
    }
    for (size_t i = 0; i < in->ends.len; begin = (size_t)in->ends.data[i++]) {
        const char *s = hone_str_c(&in->s) + begin;
        size_t      n = (size_t)in->ends.data[i] - begin, made = out->s.len;
        bool        again = n == n_before && memcmp(s, before, n) == 0;

        before = s;
        n_before = n;
        if (d->kind == TOK_DECODE_CTC && again)
            continue;
        HONE_TRY(append_one(d, &out->s, s, n, i, in->ends.len));
        if (d->kind != TOK_DECODE_CTC || out->s.len > made)
            HONE_TRY(end_string(out));
    }
    return HONE_OK;
}

hone_status tok_decode(const tok_decoder *d, hone_str *out, hone_str *tokens, hone_vec_i64 *ends)
{
    strings     in = { *tokens, *ends }, made = { HONE_STR_INIT, { 0 } };
    size_t      begin = 0;
    hone_status st = HONE_OK;

    for (size_t i = 0; i < d->steps.len; i++) {
        strings swap;

        hone_str_clear(&made.s);
        made.ends.len = 0;
        HONE_GO(apply_step(&d->steps.data[i], &made, &in));
        HONE_GO(hone_str_ok(&made.s));
        swap = in;
        in = made;
        made = swap;
    }
    for (size_t i = 0; i < in.ends.len; begin = (size_t)in.ends.data[i++]) {
        if (i > 0 && !d->present)
            hone_str_putc(out, ' ');        /* the reference's way without a decoder */
        hone_str_append(out, hone_str_c(&in.s) + begin, (size_t)in.ends.data[i] - begin);
    }
    HONE_GO(hone_str_ok(out));
out:
    *tokens = in.s;
    *ends = in.ends;
    hone_str_deinit(&made.s);
    HONE_VEC_DEINIT(&made.ends);
    return st;
}

/* Bytes rather than text come out of the last step that is applied. */
hone_status tok_decode_one(const tok_decoder *d, hone_str *out, const char *content, size_t n)
{
    hone_str    now = HONE_STR_INIT, next = HONE_STR_INIT;
    bool        fused = false, bytes = false;
    hone_status st;

    hone_str_append(&now, content, n);
    HONE_GO(hone_str_ok(&now));
    for (size_t i = 0; i < d->steps.len; i++) {
        const tok_decoder_step *step = &d->steps.data[i];
        hone_str                swap;
        int                     byte;

        if (step->kind == TOK_DECODE_BYTE_LEVEL) {
            tok_chars_to_bytes(out, hone_str_c(&now), now.len);
            bytes = true;
            break;
        }
        if (step->kind == TOK_DECODE_BYTE_FALLBACK && (byte = fallback_byte(hone_str_c(&now), now.len)) >= 0) {
            hone_str_putc(out, (char)byte);
            bytes = true;
            break;
        }
        fused |= step->kind == TOK_DECODE_FUSE;
        if (fused && step->kind == TOK_DECODE_STRIP)        /* it is about the whole text */
            continue;
        hone_str_clear(&next);
        HONE_GO(append_one(step, &next, hone_str_c(&now), now.len, 1, 3));
        swap = now;
        now = next;
        next = swap;
    }
    if (!bytes)
        hone_str_append(out, hone_str_c(&now), now.len);
    HONE_GO(hone_str_ok(out));
out:
    hone_str_deinit(&now);
    hone_str_deinit(&next);
    return st;
}
