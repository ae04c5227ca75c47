/* Tool calls that are no "tool_calls": texts (ShareGPT, ms-swift) and blocks of a content (Anthropic). */
#include <string.h>

#include "data/format/format_int.h"

/* ---- calls as texts ---- */

static json_t *parse(const char *s, size_t n)
{
    return json_loadb(s, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

/* Arguments are an object; so is the text of one. *out is owned. */
static json_t *get_arguments(const json_t *call)
{
    json_t *v = json_object_get(call, "arguments"), *parsed;

    if (!v || json_is_null(v))
        v = json_object_get(call, "parameters");
    if (json_is_string(v)) {
        parsed = parse(json_string_value(v), json_string_length(v));
        if (json_is_object(parsed))
            return parsed;
        json_decref(parsed);
    }
    return json_is_null(v) ? NULL : json_incref(v);
}

static hone_status add_call(const format_row *r, size_t i, const json_t *value, json_t *calls)
{
    const json_t *inner = json_object_get(value, "function"), *call = json_is_object(inner) ? inner : value;
    json_t       *name = json_object_get(call, "name"), *id = json_object_get(value, "id"), *arguments, *entry;

    HONE_CHECK(json_is_string(name), HONE_E_DATA, "%s: message %zu is a tool call without a \"name\" that is a string",
               r->where, i);
    arguments = get_arguments(call);
    HONE_CHECK(arguments, HONE_E_DATA, "%s: message %zu is a tool call without \"arguments\"", r->where, i);
    entry = json_pack("{s:s, s:{s:O, s:o}}", "type", "function", "function", "name", name, "arguments", arguments);
    HONE_CHECK(entry, HONE_E_NOMEM, "out of memory");
    if (json_is_string(id) && json_object_set(entry, "id", id) != 0) {
        json_decref(entry);
        return HONE_FAIL(HONE_E_NOMEM, "out of memory");
    }
    return format_append(calls, entry);
}

static hone_status add_calls(const format_row *r, size_t i, const json_t *value, json_t *calls)
{
    const json_t *call;
    size_t        k;

    HONE_CHECK(json_is_object(value) || json_array_size(value) > 0, HONE_E_DATA, "%s: message %zu is a tool call, so it must "
               "hold an object with \"name\" and \"arguments\", or a list of these", r->where, i);
    if (json_is_object(value))
        return add_call(r, i, value, calls);
    json_array_foreach(value, k, call)
        HONE_TRY(add_call(r, i, call, calls));
    return HONE_OK;
}

static hone_status add_text(const format_row *r, size_t i, const char *s, size_t n, json_t *calls)
{
    json_error_t error;
    json_t      *value = json_loadb(s, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    hone_status  st;

    HONE_CHECK(value, HONE_E_DATA, "%s: message %zu is a tool call that is not JSON: %s; write {\"name\": …, \"arguments\": "
               "{…}} or a list of these", r->where, i, error.text);
    st = add_calls(r, i, value, calls);
    json_decref(value);
    return st;
}

/* The bytes between two marks at or after `s`; false if there are none. */
static bool find_marked(format_text s, const char *open, const char *close, format_text *inside, format_text *whole)
{
    const char *begin = memmem(s.s, s.n, open, strlen(open)), *in, *end;

    if (!begin)
        return false;
    in = begin + strlen(open);
    end = memmem(in, s.n - (size_t)(in - s.s), close, strlen(close));
    if (!end)
        return false;
    *inside = (format_text){ in, (size_t)(end - in) };
    *whole = (format_text){ begin, (size_t)(end - begin) + strlen(close) };
    return true;
}

static size_t trimmed(const char *s, size_t n)
{
    while (n > 0 && strchr(" \t\r\n", s[n - 1]))
        n--;
    return n;
}

static hone_status read_text(const format_row *r, size_t i, format_text rest, json_t *calls, hone_str *beside)
{
    format_text inside, whole;
    bool        marked = false;

    while (find_marked(rest, "<tool_call>", "</tool_call>", &inside, &whole)) {
        marked = true;
        hone_str_append(beside, rest.s, trimmed(rest.s, (size_t)(whole.s - rest.s)));
        HONE_TRY(add_text(r, i, inside.s, inside.n, calls));
        rest = (format_text){ whole.s + whole.n, rest.n - (size_t)(whole.s + whole.n - rest.s) };
    }
    if (marked) {
        hone_str_append(beside, rest.s, trimmed(rest.s, rest.n));
    } else if (find_marked(rest, "<think>", "</think>", &inside, &whole) && trimmed(rest.s, (size_t)(whole.s - rest.s)) == 0) {
        hone_str_append(beside, whole.s, whole.n);
        HONE_TRY(add_text(r, i, whole.s + whole.n, rest.n - (size_t)(whole.s + whole.n - rest.s), calls));
    } else {
        HONE_TRY(add_text(r, i, rest.s, rest.n, calls));
    }
    return hone_str_ok(beside);
}

hone_status format_read_calls(const format_row *r, size_t i, const json_t *content, json_t *calls, hone_str *beside)
{
    return json_is_string(content) ? read_text(r, i, format_text_of(content), calls, beside) : add_calls(r, i, content, calls);
}

/* ---- calls as blocks ---- */

static bool is_type(const json_t *block, const char *type)
{
    const char *own = json_string_value(json_object_get(block, "type"));

    return own && strcmp(own, type) == 0;
}

bool format_has_call_blocks(const json_t *content)
{
    const json_t *block;
    size_t        i;

    json_array_foreach(content, i, block)
        if (is_type(block, "tool_use") || is_type(block, "tool_result"))
            return true;
    return false;
}

/* A message being gathered from blocks. */
typedef struct gathering {
    const format_row *r;
    size_t            i;            /* index of the message, for errors */
    const char       *role;
    int               loss;
    json_t           *out;
    hone_str          text;
    json_t           *calls;
} gathering;

static hone_status refuse_block(const gathering *g, const json_t *block)
{
    const char *type = json_string_value(json_object_get(block, "type"));

    return HONE_FAIL(HONE_E_DATA, "%s: the content of message %zu has a part of type \"%.100s\"; beside text, tool_use of an "
                     "assistant and tool_result of a user are read", g->r->where, g->i, type ? type : "(none)");
}

static hone_status flush(gathering *g)
{
    json_t     *m;
    hone_status st = HONE_OK;

    if (g->text.len == 0 && json_array_size(g->calls) == 0)
        return HONE_OK;
    m = json_object();
    HONE_GO(format_set(m, "role", json_string_nocheck(g->role)));
    HONE_GO(hone_str_ok(&g->text));
    HONE_GO(format_set(m, "content", json_stringn_nocheck(hone_str_c(&g->text), g->text.len)));
    if (json_array_size(g->calls) > 0) {
        HONE_GO(format_set(m, "tool_calls", json_incref(g->calls)));
        json_decref(g->calls);
        g->calls = json_array();
    }
    if (g->loss >= 0)
        HONE_GO(format_set(m, "loss", json_boolean(g->loss)));
    HONE_GO(format_append(g->out, json_incref(m)));
    hone_str_clear(&g->text);
out:
    json_decref(m);
    return st;
}

static hone_status add_use(gathering *g, const json_t *block)
{
    json_t *call = json_pack("{s:O?, s:O?, s:O?}", "id", json_object_get(block, "id"), "name", json_object_get(block, "name"),
                             "arguments", json_object_get(block, "input"));
    hone_status st;

    HONE_CHECK(call, HONE_E_NOMEM, "out of memory");
    st = add_call(g->r, g->i, call, g->calls);
    json_decref(call);
    return st;
}

/* A tool's result is a message of its own. */
static hone_status add_result(gathering *g, const json_t *block)
{
    const json_t *content = json_object_get(block, "content"), *part;
    json_t       *m = NULL, *id = json_object_get(block, "tool_use_id");
    hone_str      text = HONE_STR_INIT;
    hone_status   st = HONE_OK;
    size_t        p;

    HONE_GO(flush(g));
    if (json_is_string(content))
        hone_str_append(&text, json_string_value(content), json_string_length(content));
    json_array_foreach(content, p, part) {
        const json_t *t = json_object_get(part, "text");

        HONE_GO(is_type(part, "text") && json_is_string(t) ? HONE_OK : refuse_block(g, part));
        hone_str_append(&text, json_string_value(t), json_string_length(t));
    }
    HONE_GO(hone_str_ok(&text));
    m = json_object();
    HONE_GO(format_set(m, "role", json_string("tool")));
    HONE_GO(format_set(m, "content", json_stringn_nocheck(hone_str_c(&text), text.len)));
    if (json_is_string(id))
        HONE_GO(format_set(m, "tool_call_id", json_incref(id)));
    HONE_GO(format_append(g->out, json_incref(m)));
out:
    json_decref(m);
    hone_str_deinit(&text);
    return st;
}

static hone_status add_block(gathering *g, const json_t *block)
{
    const json_t *text = json_object_get(block, "text");
    bool          assistant = strcmp(g->role, "assistant") == 0;

    if (is_type(block, "tool_use") && assistant)
        return add_use(g, block);
    if (is_type(block, "tool_result") && !assistant)
        return add_result(g, block);
    if (!is_type(block, "text") || !json_is_string(text))
        return refuse_block(g, block);
    if (json_array_size(g->calls) > 0)      /* text after a call: another message */
        HONE_TRY(flush(g));
    hone_str_append(&g->text, json_string_value(text), json_string_length(text));
    return HONE_OK;
}

hone_status format_add_blocks(const format_row *r, size_t i, const char *role, const json_t *content, int loss, json_t *out)
{
    gathering     g = { r, i, role, loss, out, HONE_STR_INIT, json_array() };
    const json_t *block;
    hone_status   st = HONE_OK;
    size_t        k;

    json_array_foreach(content, k, block)
        HONE_GO(add_block(&g, block));
    HONE_GO(flush(&g));
out:
    hone_str_deinit(&g.text);
    json_decref(g.calls);
    return st;
}
