/* Post-processors: which special tokens go around the tokens of a text. */
#include "text/tokenizer/parts.h"

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

static hone_status read_processor(tok_template *out, const json_t *spec, const char *where, int depth, bool *have)
{
    const json_t *list, *item;
    const char   *type;
    size_t        i;

    HONE_TRY(tok_json_type(&type, spec, where));
    if (strcmp(type, "ByteLevel") == 0)     /* only about the reference's offsets */
        return tok_json_keys(spec, "type add_prefix_space trim_offsets use_regex", where);
    if (strcmp(type, "TemplateProcessing") == 0) {
        HONE_CHECK(!*have, HONE_E_UNSUPPORTED, "%s: more than one TemplateProcessing in a Sequence", where);
        *have = true;
        return read_template(out, spec, where);
    }
    HONE_CHECK(strcmp(type, "Sequence") == 0, HONE_E_UNSUPPORTED, "%s: the type \"%s\" is not implemented (there are "
               "ByteLevel, TemplateProcessing, Sequence)", where, type);
    HONE_TRY(tok_json_keys(spec, "type processors", where));
    list = json_object_get(spec, "processors");
    HONE_CHECK(json_is_array(list), HONE_E_FORMAT, "%s: Sequence has no array \"processors\"", where);
    HONE_CHECK(depth < 16, HONE_E_UNSUPPORTED, "%s: sequences nested deeper than 16", where);
    json_array_foreach(list, i, item)
        HONE_TRY(read_processor(out, item, where, depth + 1, have));
    return HONE_OK;
}

hone_status tok_template_read(tok_template *out, const json_t *spec, const char *where)
{
    bool have = false;

    if (spec && !json_is_null(spec))
        HONE_TRY(read_processor(out, spec, where, 0, &have));
    return have ? HONE_OK : HONE_VEC_PUSH(out, (tok_template_piece){ -1 });
}
