/*
 * SentencePiece model files. The format is Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding): fields of a
 * number, a wire type and a value, in any order; a later value replaces an earlier one, unknown fields are skipped.
 */
#include "text/tokenizer/spm.h"

#include "base/utf8.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct wire { const unsigned char *s; size_t i, n; } wire;
typedef struct field { uint64_t number; int type; uint64_t value; tok_bytes bytes; } field;

static bool read_varint(wire *w, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 70 && w->i < w->n; shift += 7) {
        uint64_t byte = w->s[w->i++];

        if (shift < 64)
            *out |= (byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_fixed(wire *w, size_t size, uint64_t *out)
{
    if (w->n - w->i < size)
        return false;
    *out = 0;
    for (size_t k = 0; k < size; k++)
        *out |= (uint64_t)w->s[w->i + k] << 8 * k;
    w->i += size;
    return true;
}

/* The next field; false if it is broken. */
static bool read_field(wire *w, field *f)
{
    uint64_t tag, n;

    if (!read_varint(w, &tag) || tag >> 3 == 0)
        return false;
    f->number = tag >> 3;
    f->type = (int)(tag & 7);
    switch (f->type) {
    case VARINT:
        return read_varint(w, &f->value);
    case FIXED64:
        return read_fixed(w, 8, &f->value);
    case FIXED32:
        return read_fixed(w, 4, &f->value);
    case BYTES:
        if (!read_varint(w, &n) || n > w->n - w->i)
            return false;
        f->bytes = (tok_bytes){ (const char *)w->s + w->i, (size_t)n };
        w->i += (size_t)n;
        return true;
    default:        /* groups, which no version of the format uses */
        return false;
    }
}

static wire inside(const field *f) { return (wire){ (const unsigned char *)f->bytes.s, 0, f->bytes.n }; }

static hone_status broken(const char *name, const char *where)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s is not a SentencePiece model, or a damaged one (in %s)", name, where);
}

static void set_int(int32_t *out, const field *f) { if (f->type == VARINT) *out = (int32_t)(uint32_t)f->value; }
static void set_bool(bool *out, const field *f) { if (f->type == VARINT) *out = f->value != 0; }
static void set_bytes(tok_bytes *out, const field *f) { if (f->type == BYTES) *out = f->bytes; }

static hone_status read_piece(tok_spm *spm, const field *message, const char *name)
{
    tok_spm_piece p = { .piece = { "", 0 }, .type = TOK_SPM_NORMAL };
    wire          w = inside(message);
    field         f;

    while (w.i < w.n) {
        if (!read_field(&w, &f))
            return broken(name, "a piece");
        if (f.number == 1)
            set_bytes(&p.piece, &f);
        if (f.number == 2 && f.type == FIXED32) {
            uint32_t bits = (uint32_t)f.value;

            memcpy(&p.score, &bits, sizeof bits);
        }
        if (f.number == 3)
            set_int(&p.type, &f);
    }
    HONE_CHECK(hone_utf8_valid_prefix(p.piece.s, p.piece.n) == p.piece.n, HONE_E_FORMAT, "%s: piece %zu is not UTF-8", name,
               spm->pieces.len);
    HONE_CHECK(p.score == p.score, HONE_E_FORMAT, "%s: the score of piece %zu is not a number", name, spm->pieces.len);
    return HONE_VEC_PUSH(&spm->pieces, p);
}

static hone_status read_trainer(tok_spm *spm, const field *message, const char *name)
{
    wire  w = inside(message);
    field f;

    while (w.i < w.n) {
        if (!read_field(&w, &f))
            return broken(name, "trainer_spec");
        switch (f.number) {
        case 3:  set_int(&spm->model_type, &f); break;
        case 35: set_bool(&spm->byte_fallback, &f); break;
        case 40: set_int(&spm->unk_id, &f); break;
        case 41: set_int(&spm->bos_id, &f); break;
        case 42: set_int(&spm->eos_id, &f); break;
        case 45: set_bytes(&spm->unk_piece, &f); break;
        case 46: set_bytes(&spm->bos_piece, &f); break;
        case 47: set_bytes(&spm->eos_piece, &f); break;
        default: break;
        }
    }
    return HONE_OK;
}

static hone_status read_normalizer(tok_spm *spm, const field *message, const char *name)
{
    wire  w = inside(message);
    field f;

    while (w.i < w.n) {
        if (!read_field(&w, &f))
            return broken(name, "normalizer_spec");
        switch (f.number) {
        case 2: set_bytes(&spm->charsmap, &f); break;
        case 3: set_bool(&spm->add_dummy_prefix, &f); break;
        case 4: set_bool(&spm->remove_extra_whitespaces, &f); break;
        case 5: set_bool(&spm->escape_whitespaces, &f); break;
        default: break;
        }
    }
    return HONE_OK;
}

/* The vocabulary of tiktoken: lines of a base64 token, a space and its rank. */
static bool is_tiktoken(const char *s, size_t n)
{
    size_t i = 0;

    while (i < n && i < 400 && s[i] && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=", s[i]))
        i++;
    return i > 0 && i + 1 < n && s[i] == ' ' && s[i + 1] >= '0' && s[i + 1] <= '9';
}

hone_status tok_spm_read(tok_spm *out, const void *data, size_t n, const char *name)
{
    wire w = { data, 0, n };

    *out = (tok_spm){ .model_type = TOK_SPM_UNIGRAM, .bos_id = 1, .eos_id = 2, .add_dummy_prefix = true,
                      .remove_extra_whitespaces = true, .escape_whitespaces = true, .unk_piece = { "<unk>", 5 },
                      .bos_piece = { "<s>", 3 }, .eos_piece = { "</s>", 4 }, .charsmap = { "", 0 } };
    HONE_CHECK(!is_tiktoken(data, n), HONE_E_UNSUPPORTED, "%s is a vocabulary of tiktoken, which is not implemented; load it with "
               "transformers' AutoTokenizer and save_pretrained it, which writes a tokenizer.json", name);
    while (w.i < w.n) {
        field f;

        if (!read_field(&w, &f))
            return broken(name, "its outermost fields");
        if (f.type != BYTES)
            continue;
        if (f.number == 1)
            HONE_TRY(read_piece(out, &f, name));
        if (f.number == 2)
            HONE_TRY(read_trainer(out, &f, name));
        if (f.number == 3)
            HONE_TRY(read_normalizer(out, &f, name));
    }
    HONE_CHECK(out->pieces.len, HONE_E_FORMAT, "%s is not a SentencePiece model: it has no pieces", name);
    for (const tok_bytes *b = &out->unk_piece; b <= &out->eos_piece; b++)
        HONE_CHECK(hone_utf8_valid_prefix(b->s, b->n) == b->n, HONE_E_FORMAT, "%s: the name of a special token is not UTF-8", name);
    return HONE_OK;
}

void tok_spm_deinit(tok_spm *spm) { HONE_VEC_DEINIT(&spm->pieces); }
