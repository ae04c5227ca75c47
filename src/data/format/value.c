/* Values of rows, and JSON in the making. */
#include <string.h>

#include "data/format/format_int.h"

hone_status format_wrong_type(const format_row *r, const char *key, const char *want, const json_t *got)
{
    return HONE_FAIL(HONE_E_FORMAT, "%s: \"%s\" must be %s, not %s", r->where, key, want, hone_json_type_name(got));
}

hone_status format_missing(const format_row *r, const char *key)
{
    hone_str    found = HONE_STR_INIT;
    const char *name;
    json_t     *value;

    json_object_foreach((json_t *)r->json, name, value)
        if (found.len < 200)
            hone_str_printf(&found, "%s%.60s%s", found.len ? ", " : "", name, json_is_null(value) ? " (null)" : "");
    (void)HONE_FAIL(HONE_E_DATA, "%s: the row has no \"%s\" (it has: %s)", r->where, key,
                    found.len ? hone_str_c(&found) : "nothing");
    hone_str_deinit(&found);
    return HONE_E_DATA;
}

json_t *format_get(const format_row *r, const char *key)
{
    json_t *v = key ? json_object_get(r->json, key) : NULL;

    return json_is_null(v) ? NULL : v;
}

format_text format_text_of(const json_t *string)
{
    return (format_text){ json_string_value(string), json_string_length(string) };
}

hone_status format_get_text(const format_row *r, const char *key, format_text *out)
{
    const json_t *v = format_get(r, key);

    *out = format_text_of(v);
    return !v || json_is_string(v) ? HONE_OK : format_wrong_type(r, key, "a string", v);
}

static json_t *parse_text(const json_t *string, json_error_t *error)
{
    return json_loadb(json_string_value(string), json_string_length(string), JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, error);
}

hone_status format_get_list(const format_row *r, const char *key, const char *want, hone_conversation *c, json_t **out)
{
    json_t      *v = format_get(r, key);
    json_error_t error;

    *out = v;
    if (!v || json_is_array(v))
        return HONE_OK;
    *out = json_is_string(v) ? parse_text(v, &error) : NULL;
    if (!json_is_array(*out)) {
        json_decref(*out);
        *out = NULL;
        return format_wrong_type(r, key, want, v);
    }
    if (!c->kept)
        c->kept = json_array();
    return format_append(c->kept, *out);
}

static hone_status read_tool(const format_row *r, const char *key, size_t i, json_t *tools)
{
    json_t      *tool = json_array_get(tools, i);
    json_error_t error;

    if (json_is_object(tool))
        return HONE_OK;
    tool = json_is_string(tool) ? parse_text(tool, &error) : NULL;      /* a list of texts, each of them a tool */
    if (json_is_object(tool))
        return json_array_set_new(tools, i, tool) == 0 ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
    json_decref(tool);
    return HONE_FAIL(HONE_E_DATA, "%s: \"%s\"[%zu] is no tool: it must be an object, or the text of one", r->where, key, i);
}

/* A list of its own, for its elements may be replaced. */
static hone_status copy_tools(const format_row *r, const char *key, json_t *value, json_t **out)
{
    *out = json_is_object(value) ? json_pack("[O]", value) : json_copy(value);
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory");
    for (size_t i = 0; i < json_array_size(*out); i++)
        HONE_TRY(read_tool(r, key, i, *out));
    return HONE_OK;
}

hone_status format_get_tools(const format_row *r, const char *key, hone_conversation *out)
{
    json_t      *v = format_get(r, key), *parsed = NULL;
    json_error_t error;
    hone_status  st = HONE_OK;

    if (!v || (json_is_string(v) && json_string_length(v) == 0))
        return HONE_OK;
    if (json_is_string(v) && r->context->slots) {
        out->tools_text = json_string_value(v);
        out->n_tools_text = json_string_length(v);
        return HONE_OK;
    }
    if (json_is_string(v)) {
        v = parsed = parse_text(v, &error);
        HONE_CHECK(v, HONE_E_DATA, "%s: \"%s\" is a string that is not JSON: %s", r->where, key, error.text);
    } else if (!json_is_array(v) && !json_is_object(v)) {
        return format_wrong_type(r, key, "an array of tools, a tool, or a string with one", v);
    }
    if (json_array_size(v) > 0 || json_object_size(v) > 0)
        st = copy_tools(r, key, v, &out->tools);
    json_decref(parsed);
    return st;
}

hone_status format_get_extras(const format_row *r, hone_conversation *c)
{
    json_t *kwargs = format_get(r, "chat_template_kwargs"), *margin = format_get(r, "margin");

    if (kwargs && !json_is_object(kwargs))
        return format_wrong_type(r, "chat_template_kwargs", "an object", kwargs);
    if (margin && !json_is_number(margin))
        return format_wrong_type(r, "margin", "a number", margin);
    c->template_kwargs = json_incref(kwargs);
    if (margin)
        c->margin = json_number_value(margin);
    return HONE_OK;
}

static bool is_something(const json_t *v)
{
    return v && !json_is_null(v) && !(json_is_array(v) && json_array_size(v) == 0) &&
           !(json_is_object(v) && json_object_size(v) == 0) && !(json_is_string(v) && json_string_length(v) == 0);
}

static hone_status check_medium(const format_row *r, const char *key)
{
    HONE_CHECK(!key || !is_something(json_object_get(r->json, key)), HONE_E_DATA, "%s: the row has \"%s\", and hone trains on "
               "text only; leave such rows out, or the column away", r->where, key);
    return HONE_OK;
}

hone_status format_check_media(const format_row *r)
{
    static const char *const keys[] = { "images", "image", "videos", "video", "audios", "audio", "objects", "rejected_images" };
    const hone_row_columns *c = &r->source->columns;

    if (r->source->info) {
        HONE_TRY(check_medium(r, c->images));
        HONE_TRY(check_medium(r, c->videos));
        return check_medium(r, c->audios);
    }
    for (size_t i = 0; i < HONE_COUNTOF(keys); i++)
        HONE_TRY(check_medium(r, keys[i]));
    return HONE_OK;
}

hone_status format_join(hone_str *out, format_text first, format_text second)
{
    hone_str_append(out, first.s ? first.s : "", first.n);
    if (first.n && second.n)
        hone_str_putc(out, '\n');
    hone_str_append(out, second.s ? second.s : "", second.n);
    return hone_str_ok(out);
}

/* ---- JSON in the making ---- */

hone_status format_set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0 ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
}

hone_status format_append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value) == 0 ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory");
}

hone_status format_add_message(json_t *messages, const char *role, format_text text)
{
    json_t     *m = json_object();
    hone_status st = HONE_OK;

    HONE_GO(format_set(m, "role", json_string(role)));
    HONE_GO(format_set(m, "content", json_stringn_nocheck(text.s ? text.s : "", text.n)));
    HONE_GO(format_append(messages, json_incref(m)));
out:
    json_decref(m);
    return st;
}

bool format_is_role(const json_t *message, const char *role)
{
    const char *own = json_string_value(json_object_get(message, "role"));

    return own && strcmp(own, role) == 0;
}
