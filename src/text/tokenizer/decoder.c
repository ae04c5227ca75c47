/* Decoders: from the contents of tokens to text. */
#include "base/utf8.h"
#include "text/tokenizer/parts.h"

static hone_status read_step(tok_decoder *d, const json_t *spec, const char *where, int depth)
{
    const json_t *list, *item;
    const char   *type;
    size_t        i;

    HONE_TRY(tok_json_type(&type, spec, where));
    if (strcmp(type, "ByteLevel") == 0) {
        HONE_TRY(tok_json_keys(spec, "type add_prefix_space trim_offsets use_regex", where));
        return HONE_VEC_PUSH(&d->steps, TOK_DECODE_BYTE_LEVEL);
    }
    if (strcmp(type, "Fuse") == 0) {
        HONE_TRY(tok_json_keys(spec, "type", where));
        return HONE_VEC_PUSH(&d->steps, TOK_DECODE_FUSE);
    }
    HONE_CHECK(strcmp(type, "Sequence") == 0, HONE_E_UNSUPPORTED,
               "%s: the type \"%s\" is not implemented (there are ByteLevel, Fuse, Sequence)", where, type);
    HONE_TRY(tok_json_keys(spec, "type decoders", where));
    list = json_object_get(spec, "decoders");
    HONE_CHECK(json_is_array(list), HONE_E_FORMAT, "%s: Sequence has no array \"decoders\"", where);
    HONE_CHECK(depth < 16, HONE_E_UNSUPPORTED, "%s: sequences nested deeper than 16", where);
    json_array_foreach(list, i, item)
        HONE_TRY(read_step(d, item, where, depth + 1));
    return HONE_OK;
}

hone_status tok_decoder_read(tok_decoder *out, const json_t *spec, const char *where)
{
    out->present = spec && !json_is_null(spec);
    return out->present ? read_step(out, spec, where, 0) : HONE_OK;
}

bool tok_decoder_has_byte_level(const tok_decoder *d)
{
    for (size_t i = 0; i < d->steps.len; i++)
        if (d->steps.data[i] == TOK_DECODE_BYTE_LEVEL)
            return true;
    return false;
}

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

/* All tokens become one, of bytes; tokens with a character outside the alphabet stand for themselves. */
static hone_status decode_byte_level(hone_str *tokens, hone_vec_i64 *ends)
{
    hone_str    bytes = HONE_STR_INIT;
    size_t      begin = 0;
    hone_status st = HONE_OK;

    for (size_t i = 0; i < ends->len; i++) {
        tok_chars_to_bytes(&bytes, hone_str_c(tokens) + begin, (size_t)ends->data[i] - begin);
        begin = (size_t)ends->data[i];
    }
    HONE_GO(hone_str_ok(&bytes));
    hone_str_clear(tokens);
    append_lossy(tokens, hone_str_c(&bytes), bytes.len);
    HONE_GO(hone_str_ok(tokens));
    ends->len = 0;
    HONE_GO(HONE_VEC_PUSH(ends, (int64_t)tokens->len));
out:
    hone_str_deinit(&bytes);
    return st;
}

hone_status tok_decode(const tok_decoder *d, hone_str *out, hone_str *tokens, hone_vec_i64 *ends)
{
    size_t begin = 0;

    for (size_t i = 0; i < d->steps.len; i++) {
        if (d->steps.data[i] == TOK_DECODE_BYTE_LEVEL) {
            HONE_TRY(decode_byte_level(tokens, ends));
        } else {
            ends->len = 0;
            HONE_TRY(HONE_VEC_PUSH(ends, (int64_t)tokens->len));
        }
    }
    for (size_t i = 0; i < ends->len; i++) {
        if (i > 0 && !d->present)
            hone_str_putc(out, ' ');        /* the reference's way without a decoder */
        hone_str_append(out, hone_str_c(tokens) + begin, (size_t)ends->data[i] - begin);
        begin = (size_t)ends->data[i];
    }
    return hone_str_ok(out);
}
