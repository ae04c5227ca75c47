/* Post-processors: which special tokens go around the tokens of a text. */
#include "text/tokenizer/parts.h"

enum { MAX_PIECES = 1024 };     /* of a template; several in a row multiply */

/* Ids of the template's special token `name`. */
static hone_status push_special(tok_template *out, const json_t *spec, const char *name, const char *where)
{
    const json_t *ids = json_object_get(json_object_get(json_object_get(spec, "special_tokens"), name), "ids"), *id;
    size_t        i;

    HONE_CHECK(json_is_array(ids), HONE_E_FORMAT, "%s: the template uses \"%s\", which \"special_tokens\" does not have",
               where, name);
    json_array_foreach(ids, i, id) {
        HONE_CHECK(json_is_integer(id) && json_integer_value(id) >= 0 && json_integer_value(id) <= TOK_MAX_ID, HONE_E_FORMAT,
                   "%s: special token \"%s\" has an id that is not a whole number from 0 to %d", where, name, TOK_MAX_ID);
        HONE_TRY(HONE_VEC_PUSH(out, (tok_template_piece){ (int32_t)json_integer_value(id) }));
    }
    return HONE_OK;
}

static hone_status read_template(tok_template *out, const json_t *spec, const char *where)
{
    const json_t *single = json_object_get(spec, "single"), *piece;
    size_t        i;

    HONE_TRY(tok_json_keys(spec, "type single pair special_tokens", where));
    HONE_CHECK(json_is_array(single), HONE_E_FORMAT, "%s: TemplateProcessing has no array \"single\"", where);
    json_array_foreach(single, i, piece) {
        const json_t *special = json_object_get(piece, "SpecialToken"), *text = json_object_get(piece, "Sequence");
        const char   *id = json_string_value(json_object_get(special ? special : text, "id"));

        HONE_CHECK(json_object_size(piece) == 1 && id, HONE_E_FORMAT,
                   "%s: piece %zu of \"single\" is not {\"SpecialToken\": …} or {\"Sequence\": …} with an \"id\"", where, i);
        if (special) {
            HONE_TRY(push_special(out, spec, id, where));
            continue;
        }
        HONE_CHECK(strcmp(id, "A") == 0, HONE_E_FORMAT, "%s: piece %zu of \"single\" is sequence %s; a single text has only A",
                   where, i, id);
        HONE_TRY(HONE_VEC_PUSH(out, (tok_template_piece){ -1 }));
    }
    return HONE_OK;
}

/* "sep" and "cls" of BertProcessing and RobertaProcessing: [content, id]. */
static hone_status push_pair(tok_template *out, const json_t *spec, const char *key, const char *where)
{
    const json_t *pair = json_object_get(spec, key), *id = json_array_get(pair, 1);

    HONE_CHECK(json_array_size(pair) == 2 && json_is_integer(id) && json_integer_value(id) >= 0 && json_integer_value(id) <= TOK_MAX_ID,
               HONE_E_FORMAT, "%s: \"%s\" is not [content, id]", where, key);
    return HONE_VEC_PUSH(out, (tok_template_piece){ (int32_t)json_integer_value(id) });
}

static hone_status read_bert(tok_template *out, const json_t *spec, const char *keys, const char *where)
{
    HONE_TRY(tok_json_keys(spec, keys, where));
    HONE_TRY(push_pair(out, spec, "cls", where));
    HONE_TRY(HONE_VEC_PUSH(out, (tok_template_piece){ -1 }));
    return push_pair(out, spec, "sep", where);
}

/* Put `inner` where `out` has the text: a processor takes what the one before it made. */
static hone_status insert(tok_template *out, const tok_template *inner)
{
    tok_template made = { 0 };
    hone_status  st = HONE_OK;

    for (size_t i = 0; i < out->len; i++)
        for (size_t k = 0; k < (out->data[i].id < 0 ? inner->len : 1); k++) {
            HONE_GO_CHECK(made.len < MAX_PIECES, HONE_E_UNSUPPORTED, "a template of more than %d pieces", MAX_PIECES);
            HONE_GO(HONE_VEC_PUSH(&made, out->data[i].id < 0 ? inner->data[k] : out->data[i]));
        }
    HONE_VEC_DEINIT(out);
    *out = made;
    return HONE_OK;
out:
    HONE_VEC_DEINIT(&made);
    return st;
}

/* Apply a processor to what `text` has. */
static hone_status read_processor(tok_template *text, const json_t *spec, const char *where, int depth)
{
    const json_t *list = json_object_get(spec, "processors"), *item;
    tok_template  own = { 0 };
    const char   *type;
    size_t        i;
    hone_status   st;

    HONE_GO(tok_json_type(&type, spec, where));
    if (strcmp(type, "ByteLevel") == 0)     /* only about the reference's offsets */
        return tok_json_keys(spec, "type add_prefix_space trim_offsets use_regex", where);
    if (strcmp(type, "Sequence") == 0) {
        HONE_TRY(tok_json_keys(spec, "type processors", where));
        HONE_CHECK(json_is_array(list), HONE_E_FORMAT, "%s: Sequence has no array \"processors\"", where);
        HONE_CHECK(depth < 16, HONE_E_UNSUPPORTED, "%s: sequences nested deeper than 16", where);
        json_array_foreach(list, i, item)
            HONE_TRY(read_processor(text, item, where, depth + 1));
        return HONE_OK;
    }
    if (strcmp(type, "TemplateProcessing") == 0)
        HONE_GO(read_template(&own, spec, where));
    else if (strcmp(type, "BertProcessing") == 0)
        HONE_GO(read_bert(&own, spec, "type sep cls", where));
    else if (strcmp(type, "RobertaProcessing") == 0)
        HONE_GO(read_bert(&own, spec, "type sep cls trim_offsets add_prefix_space", where));
    else
        HONE_GO(HONE_FAIL(HONE_E_UNSUPPORTED, "%s: no post-processor has the type \"%s\" (there are TemplateProcessing, ByteLevel, "
                          "BertProcessing, RobertaProcessing, Sequence)", where, type));
    HONE_GO(insert(&own, text));
    HONE_VEC_DEINIT(text);
    *text = own;
    return HONE_OK;
out:
    HONE_VEC_DEINIT(&own);
    return st;
}

hone_status tok_template_read(tok_template *out, const json_t *spec, const char *where)
{
    HONE_TRY(HONE_VEC_PUSH(out, (tok_template_piece){ -1 }));
    return spec && !json_is_null(spec) ? read_processor(out, spec, where, 0) : HONE_OK;
}
