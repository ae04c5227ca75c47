/* How each tool format writes the calls of an answer. */
#include <stdlib.h>
#include <string.h>

#include "text/slots/slots_int.h"

#define CALLS(name) hone_status slot_calls_##name(hone_str *out, const slot_call *calls, size_t n)

static void put_name(hone_str *out, const slot_call *c) { hone_str_append(out, c->name, c->n_name); }

/* A value as the formats with named parameters write it: a text as it is, anything else as JSON. */
static void put_plain(hone_str *out, const pyj_value *v)
{
    if (v->kind == PYJ_STR)
        hone_str_append(out, v->text, v->n_text);
    else
        pyj_dump(out, v, 0);
}

static hone_status need_dict(const slot_call *c)
{
    HONE_CHECK(c->arguments->kind == PYJ_DICT, HONE_E_DATA, "the \"arguments\" of a call of \"%.100s\" are no object, and this "
               "tool format writes them one by one", c->name);
    return HONE_OK;
}

/* {"name": …, "arguments": …} */
static void put_object(hone_str *out, const slot_call *c, const char *arguments)
{
    hone_str_puts(out, "{\"name\": ");
    pyj_quote(out, c->name, c->n_name);
    hone_str_printf(out, ", \"%s\": ", arguments);
    pyj_dump(out, c->arguments, 0);
    hone_str_putc(out, '}');
}

/* Marks around each parameter: before the key, between key and value, behind. */
static hone_status put_parameters(hone_str *out, const slot_call *c, const char *before, const char *between, const char *behind)
{
    HONE_TRY(need_dict(c));
    for (size_t i = 0; i < c->arguments->items.len; i++) {
        const pyj_value *v = &c->arguments->items.data[i];

        hone_str_puts(out, before);
        hone_str_append(out, v->key, v->n_key);
        hone_str_puts(out, between);
        put_plain(out, v);
        hone_str_puts(out, behind);
    }
    return HONE_OK;
}

CALLS(default)
{
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? "\nAction: " : "Action: ");
        put_name(out, &calls[i]);
        hone_str_puts(out, "\nAction Input: ");
        pyj_dump(out, calls[i].arguments, 0);
    }
    return HONE_OK;
}

/* ---- gemma4: keys in order, texts between marks ---- */

static int by_key(const void *a, const void *b)
{
    const pyj_value *x = *(const pyj_value *const *)a, *y = *(const pyj_value *const *)b;
    int              d = memcmp(x->key, y->key, HONE_MIN(x->n_key, y->n_key));

    return d ? d : (x->n_key > y->n_key) - (x->n_key < y->n_key);
}

static hone_status put_gemma(hone_str *out, const pyj_value *v);

/* key:value, … of a dict, in order of the keys. */
static hone_status put_gemma_members(hone_str *out, const pyj_value *dict)
{
    const pyj_value **order = hone_calloc(dict->items.len, sizeof *order);
    hone_status       st = order ? HONE_OK : HONE_E_NOMEM;

    for (size_t i = 0; order && i < dict->items.len; i++)
        order[i] = &dict->items.data[i];
    if (order && dict->items.len)
        qsort(order, dict->items.len, sizeof *order, by_key);
    for (size_t i = 0; i < dict->items.len && st == HONE_OK; i++) {
        hone_str_puts(out, i ? "," : "");
        hone_str_append(out, order[i]->key, order[i]->n_key);
        hone_str_putc(out, ':');
        st = put_gemma(out, order[i]);
    }
    hone_free(order);
    return st;
}

static hone_status put_gemma(hone_str *out, const pyj_value *v)
{
    switch (v->kind) {
    case PYJ_NULL: case PYJ_FALSE: case PYJ_TRUE:
        pyj_dump(out, v, 0);
        return HONE_OK;
    case PYJ_STR:
        hone_str_puts(out, "<|\"|>");
        hone_str_append(out, v->text, v->n_text);
        hone_str_puts(out, "<|\"|>");
        return HONE_OK;
    case PYJ_DICT:
        hone_str_putc(out, '{');
        HONE_TRY(put_gemma_members(out, v));
        hone_str_putc(out, '}');
        return HONE_OK;
    case PYJ_LIST:
        hone_str_putc(out, '[');
        for (size_t i = 0; i < v->items.len; i++) {
            hone_str_puts(out, i ? "," : "");
            HONE_TRY(put_gemma(out, &v->items.data[i]));
        }
        hone_str_putc(out, ']');
        return HONE_OK;
    default:
        pyj_str(out, v);
        return HONE_OK;
    }
}

CALLS(gemma4)
{
    for (size_t i = 0; i < n; i++) {
        const pyj_value *a = calls[i].arguments;

        hone_str_puts(out, "<|tool_call>call:");
        put_name(out, &calls[i]);
        hone_str_putc(out, '{');
        if (a->kind == PYJ_STR)
            hone_str_append(out, a->text, a->n_text);
        else
            HONE_TRY(a->kind == PYJ_DICT ? put_gemma_members(out, a) : put_gemma(out, a));
        hone_str_puts(out, "}<tool_call|>");
    }
    return HONE_OK;
}

/* ---- the others ---- */

CALLS(glm4)
{
    HONE_CHECK(n == 1, HONE_E_DATA, "%zu calls in one turn, and tool format glm4 writes exactly one", n);
    put_name(out, calls);
    hone_str_putc(out, '\n');
    pyj_dump(out, calls->arguments, 0);
    return HONE_OK;
}

CALLS(glm4_moe)
{
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? "\n\n<tool_call>" : "\n<tool_call>");
        put_name(out, &calls[i]);
        HONE_TRY(put_parameters(out, &calls[i], "\n<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>"));
    }
    return HONE_OK;
}

CALLS(lfm2)
{
    hone_str_puts(out, "<|tool_call_start|>[");
    for (size_t i = 0; i < n; i++) {
        const pyj_value *a = calls[i].arguments;

        HONE_TRY(need_dict(&calls[i]));
        hone_str_puts(out, i ? ", " : "");
        put_name(out, &calls[i]);
        hone_str_putc(out, '(');
        for (size_t k = 0; k < a->items.len; k++) {
            const pyj_value *v = &a->items.data[k];
            const char      *quote = v->kind == PYJ_STR ? "\"" : "";

            hone_str_puts(out, k ? ", " : "");
            hone_str_append(out, v->key, v->n_key);
            hone_str_printf(out, "=%s", quote);
            put_plain(out, v);
            hone_str_puts(out, quote);
        }
        hone_str_putc(out, ')');
    }
    hone_str_puts(out, "]<|tool_call_end|>");
    return HONE_OK;
}

static hone_status put_tool_calls(hone_str *out, const slot_call *calls, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? "\n<tool_call>\n" : "<tool_call>\n");
        put_object(out, &calls[i], "arguments");
        hone_str_puts(out, "\n</tool_call>");
    }
    return HONE_OK;
}

CALLS(qwen) { return put_tool_calls(out, calls, n); }
CALLS(ling) { return put_tool_calls(out, calls, n); }

CALLS(llama3)
{
    if (n != 1)
        hone_str_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? ", " : "");
        put_object(out, &calls[i], "parameters");
    }
    if (n != 1)
        hone_str_putc(out, ']');
    return HONE_OK;
}

CALLS(minimax1)
{
    hone_str_puts(out, "<tool_calls>\n");
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? "\n" : "");
        put_object(out, &calls[i], "arguments");
    }
    hone_str_puts(out, "\n</tool_calls>");
    return HONE_OK;
}

CALLS(minimax2)
{
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? "\n<invoke name=\"" : "<invoke name=\"");
        put_name(out, &calls[i]);
        hone_str_puts(out, "\">");
        HONE_TRY(put_parameters(out, &calls[i], "\n<parameter name=\"", "\">", "</parameter>"));
        hone_str_puts(out, "\n</invoke>");
    }
    return HONE_OK;
}

CALLS(mistral)
{
    hone_str_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? ", " : "");
        put_object(out, &calls[i], "arguments");
    }
    hone_str_putc(out, ']');
    return HONE_OK;
}

CALLS(qwen3_5)
{
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? "\n<tool_call>\n<function=" : "<tool_call>\n<function=");
        put_name(out, &calls[i]);
        hone_str_putc(out, '>');
        HONE_TRY(put_parameters(out, &calls[i], "\n<parameter=", ">\n", "\n</parameter>"));
        hone_str_puts(out, "\n</function>\n</tool_call>");
    }
    return HONE_OK;
}

CALLS(seed_oss)
{
    for (size_t i = 0; i < n; i++) {
        hone_str_puts(out, i ? "\n\n<seed:tool_call>\n<function=" : "\n<seed:tool_call>\n<function=");
        put_name(out, &calls[i]);
        HONE_TRY(put_parameters(out, &calls[i], "\n<parameter=", ">", "</parameter>"));
        hone_str_puts(out, "\n</function>\n</seed:tool_call>");
    }
    return HONE_OK;
}

#define FORMAT_(name) { #name, slot_tools_##name, slot_calls_##name },
const slot_tool_format slot_tool_formats[] = { SLOT_TOOL_FORMATS(FORMAT_) };
const size_t           slot_tool_format_count = HONE_COUNTOF(slot_tool_formats);

/* ---- the text of a function turn ---- */

/* The first stretch of text[0..n) from `open` through `close`; false if there is none. */
static bool find_marked(const char *text, size_t n, const char *const marks[2], const char **begin, const char **end)
{
    size_t      n_open = strlen(marks[0]), n_close = strlen(marks[1]);
    const char *open = memmem(text, n, marks[0], n_open), *close;

    if (!open)
        return false;
    close = memmem(open + n_open, (size_t)(text + n - open) - n_open, marks[1], n_close);
    *begin = open;
    *end = close ? close + n_close : NULL;
    return close != NULL;
}

/* Append text[0..n) without each copy of a stretch of it. */
static void put_without(hone_str *out, const char *text, size_t n, const char *stretch, size_t n_stretch)
{
    const char *at;

    while ((at = memmem(text, n, stretch, n_stretch)) != NULL) {
        hone_str_append(out, text, (size_t)(at - text));
        n -= (size_t)(at - text) + n_stretch;
        text = at + n_stretch;
    }
    hone_str_append(out, text, n);
}

static hone_status read_call(slot_call *out, const pyj_value *v)
{
    const pyj_value *name = pyj_get(v, "name");

    HONE_CHECK(v->kind == PYJ_DICT, HONE_E_DATA, "a call is no object");
    HONE_CHECK(name && name->kind == PYJ_STR, HONE_E_DATA, "a call has no \"name\" that is a text");
    *out = (slot_call){ name->text, name->n_text, pyj_get(v, "arguments") };
    HONE_CHECK(out->arguments, HONE_E_DATA, "a call of \"%.100s\" has no \"arguments\"", out->name);
    return HONE_OK;
}

static hone_status put_calls(const hone_slots *s, hone_str *out, const char *json, size_t n_json)
{
    pyj_value        value;
    const pyj_value *list;
    slot_call       *calls = NULL;
    size_t           n = 1;
    hone_status      st = pyj_parse(&value, json, n_json);

    if (st != HONE_OK)
        return hone_status_context(st, "in a function turn");
    list = &value;
    if (value.kind == PYJ_LIST) {
        list = value.items.data;
        n = value.items.len;
    }
    calls = hone_calloc(n, sizeof *calls);
    HONE_GO(calls ? HONE_OK : HONE_E_NOMEM);
    for (size_t i = 0; i < n; i++)
        HONE_GO(read_call(&calls[i], &list[i]));
    HONE_GO(s->tools->write_calls(out, calls, n));
out:
    hone_free(calls);
    pyj_deinit(&value);
    return st;
}

hone_status slot_write_function(const hone_slots *s, hone_str *out, const char *text, size_t n, bool marks)
{
    const char *begin, *end;
    hone_str    json = HONE_STR_INIT;
    hone_status st;

    if (marks && find_marked(text, n, s->call, &begin, &end)) {
        const char *inner = begin + strlen(s->call[0]);

        put_without(out, text, n, begin, (size_t)(end - begin));
        return put_calls(s, out, inner, (size_t)(end - inner) - strlen(s->call[1]));
    }
    if (!marks || !find_marked(text, n, s->thought, &begin, &end))
        return put_calls(s, out, text, n);
    hone_str_append(out, begin, (size_t)(end - begin));
    put_without(&json, text, n, begin, (size_t)(end - begin));
    st = hone_str_ok(&json);
    if (st == HONE_OK)
        st = put_calls(s, out, hone_str_c(&json), json.len);
    hone_str_deinit(&json);
    return st;
}
