/* ShareGPT rows: turns of {"from", "value"}, or whatever dataset_info.json calls these. */
#include <string.h>

#include "data/format_int.h"

/* Names the roles that a data set has, and the way out. */
static hone_status unknown_role(const format_row *r, const char *tag, size_t i)
{
    const hone_row_columns *c = &r->source->columns;
    hone_str                known = HONE_STR_INIT;

    hone_str_printf(&known, "%s, %s", c->user_tag, c->assistant_tag);
    if (c->system_tag)
        hone_str_printf(&known, ", %s", c->system_tag);
    if (c->observation_tag)
        hone_str_printf(&known, ", %s", c->observation_tag);
    if (!r->source->info)
        hone_str_puts(&known, ", user, assistant, tool");
    (void)HONE_FAIL(HONE_E_DATA, "%s: message %zu is of \"%.100s\", and the roles of this data set are %s; set \"tags\" in "
                    "dataset_info.json, or write rows of messages", r->where, i, tag, hone_str_c(&known));
    hone_str_deinit(&known);
    return HONE_E_DATA;
}

/* A file that dataset_info.json does not describe may name the roles as chat templates do. */
static const char *template_role(const format_row *r, const char *tag)
{
    static const char *const roles[] = { "user", "assistant", "tool" };

    for (size_t i = 0; i < HONE_COUNTOF(roles) && !r->source->info; i++)
        if (strcmp(tag, roles[i]) == 0)
            return roles[i];
    return NULL;
}

static bool is(const char *tag, const char *name) { return name && strcmp(tag, name) == 0; }

static hone_status translate_role(const format_row *r, const char *tag, size_t i, const char **role)
{
    const hone_row_columns *c = &r->source->columns;

    *role = is(tag, c->user_tag)          ? "user"
            : is(tag, c->assistant_tag)   ? "assistant"
            : is(tag, c->system_tag)      ? "system"
            : is(tag, c->observation_tag) ? "tool"
                                          : template_role(r, tag);
    return *role ? HONE_OK : unknown_role(r, tag, i);
}

hone_status format_sharegpt_row(hone_conversation *out, const format_row *r)
{
    const hone_row_columns *c = &r->source->columns;
    const json_t           *list = format_get(r, c->messages), *m;
    format_text             system;
    size_t                  i;

    HONE_CHECK(list, HONE_E_DATA, "%s: the row has no \"%s\"", r->where, c->messages);
    if (!json_is_array(list))
        return format_wrong_type(r, c->messages, "an array of messages", list);
    HONE_TRY(format_get_text(r, c->system, &system));
    HONE_TRY(format_get_tools(r, c->tools, &out->tools));
    out->messages = json_array();
    if (system.n)
        HONE_TRY(format_add_message(out->messages, "system", system));
    json_array_foreach(list, i, m) {
        const char   *tag = json_string_value(json_object_get(m, c->role_tag)), *role;
        const json_t *content = json_object_get(m, c->content_tag);

        HONE_CHECK(tag && json_is_string(content), HONE_E_FORMAT,
                   "%s: message %zu lacks \"%s\" or \"%s\", or they are no strings", r->where, i, c->role_tag,
                   c->content_tag);
        HONE_TRY(translate_role(r, tag, i, &role));
        HONE_TRY(format_add_message(out->messages, role,
                                    (format_text){ json_string_value(content), json_string_length(content) }));
    }
    return HONE_OK;
}
