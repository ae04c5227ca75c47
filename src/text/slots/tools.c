/*
 * How each tool format writes the tools into the system text. What a format needs of a tool and does not find makes the row
 * bad; what it does not need may be missing.
 */
#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "text/slots/slots_int.h"

#define TOOLS(name) hone_status slot_tools_##name(hone_str *out, const pyj_value *tools, const char *date)
#define UNUSED(x) ((void)(x))

/* The function of tool i: what an OpenAI wrapper {"type": "function", "function": …} holds, or the tool itself. */
static hone_status function_of(const pyj_value **out, const pyj_value *tools, size_t i)
{
    const pyj_value *tool = &tools->items.data[i];

    HONE_CHECK(tool->kind == PYJ_DICT, HONE_E_DATA, "tool %zu is no object", i);
    *out = pyj_is(pyj_get(tool, "type"), "function") ? pyj_get(tool, "function") : tool;
    HONE_CHECK(*out && (*out)->kind == PYJ_DICT, HONE_E_DATA, "tool %zu has no \"function\" that is an object", i);
    return HONE_OK;
}

static hone_status need(const pyj_value **out, const pyj_value *v, const char *key, pyj_kind kind, size_t i)
{
    *out = pyj_get(v, key);
    HONE_CHECK(*out && (*out)->kind == kind, HONE_E_DATA, "tool %zu has no \"%s\" that is %s", i, key,
               kind == PYJ_DICT ? "an object" : kind == PYJ_LIST ? "a list" : "a text");
    return HONE_OK;
}

static void put_wrapped(hone_str *out, const pyj_value *tool, int indent)
{
    pyj_value inner, fields[2] = { { .key = (char *)(uintptr_t)"type", .n_key = 4, .kind = PYJ_STR,
                                     .text = (char *)(uintptr_t)"function", .n_text = 8 } };
    pyj_value whole = { .kind = PYJ_DICT, .items = { fields, 2, 2 } };

    if (pyj_is(pyj_get(tool, "type"), "function")) {
        pyj_dump(out, tool, indent);
        return;
    }
    inner = *tool;
    inner.key = (char *)(uintptr_t)"function";
    inner.n_key = 8;
    fields[1] = inner;
    pyj_dump(out, &whole, indent);
}

/* {"type": "function", "function": …} of each tool, wrapped where it is not, after `before`, and `behind` behind. */
static hone_status put_all_wrapped(hone_str *out, const pyj_value *tools, const char *before, const char *behind, int indent)
{
    for (size_t i = 0; i < tools->items.len; i++) {
        HONE_CHECK(tools->items.data[i].kind == PYJ_DICT, HONE_E_DATA, "tool %zu is no object", i);
        hone_str_puts(out, before);
        put_wrapped(out, &tools->items.data[i], indent);
        hone_str_puts(out, behind);
    }
    return HONE_OK;
}

/* The function of each tool alone. */
static hone_status put_all_functions(hone_str *out, const pyj_value *tools, const char *before, const char *behind)
{
    for (size_t i = 0; i < tools->items.len; i++) {
        const pyj_value *f = NULL;

        HONE_TRY(function_of(&f, tools, i));
        hone_str_puts(out, before);
        pyj_dump(out, f, 0);
        hone_str_puts(out, behind);
    }
    return HONE_OK;
}

static void put_text_of(hone_str *out, const pyj_value *v, const char *key)
{
    const pyj_value *text = pyj_get(v, key);

    if (text)
        pyj_str(out, text);
}

/* ---- default: a list in words ---- */

/* Whether `required`, a list of names, has this one. */
static hone_status has_name(bool *out, const pyj_value *required, const pyj_value *property, size_t tool)
{
    *out = false;
    HONE_CHECK(!required || required->kind == PYJ_LIST, HONE_E_DATA, "tool %zu has a \"required\" that is no list", tool);
    for (size_t i = 0; required && i < required->items.len; i++) {
        const pyj_value *r = &required->items.data[i];

        *out = *out || (r->kind == PYJ_STR && r->n_text == property->n_key && memcmp(r->text, property->key, r->n_text) == 0);
    }
    return HONE_OK;
}

static hone_status put_choices(hone_str *out, const pyj_value *choices, size_t tool)
{
    HONE_CHECK(choices->kind == PYJ_LIST, HONE_E_DATA, "tool %zu has an \"enum\" that is no list", tool);
    hone_str_puts(out, ", should be one of [");
    for (size_t i = 0; i < choices->items.len; i++) {
        HONE_CHECK(choices->items.data[i].kind == PYJ_STR, HONE_E_DATA, "tool %zu has an \"enum\" whose values are not all "
                   "texts, and this tool format joins texts", tool);
        if (i)
            hone_str_puts(out, ", ");
        pyj_str(out, &choices->items.data[i]);
    }
    hone_str_putc(out, ']');
    return HONE_OK;
}

static hone_status put_property(hone_str *out, const pyj_value *property, const pyj_value *required, size_t tool)
{
    const pyj_value *choices = pyj_get(property, "enum"), *items = pyj_get(property, "items");
    bool             is_required;

    HONE_CHECK(property->kind == PYJ_DICT, HONE_E_DATA, "tool %zu has a property \"%.100s\" that is no object", tool,
               property->key);
    HONE_TRY(has_name(&is_required, required, property, tool));
    hone_str_puts(out, "  - ");
    hone_str_append(out, property->key, property->n_key);
    hone_str_puts(out, " (");
    put_text_of(out, property, "type");
    hone_str_puts(out, is_required ? ", required): " : "): ");
    put_text_of(out, property, "description");
    if (pyj_true(choices))
        HONE_TRY(put_choices(out, choices, tool));
    if (pyj_true(items)) {
        HONE_CHECK(items->kind == PYJ_DICT, HONE_E_DATA, "tool %zu has \"items\" that are no object", tool);
        hone_str_puts(out, ", where each item should be ");
        put_text_of(out, items, "type");
    }
    hone_str_putc(out, '\n');
    return HONE_OK;
}

TOOLS(default)
{
    hone_str    names = HONE_STR_INIT;
    hone_status st = HONE_OK;

    UNUSED(date);
    hone_str_puts(out, "You have access to the following tools:\n");
    for (size_t i = 0; i < tools->items.len; i++) {
        const pyj_value *f = NULL, *parameters = NULL, *properties = NULL, *name = NULL;

        HONE_GO(function_of(&f, tools, i));
        HONE_GO(need(&name, f, "name", PYJ_STR, i));
        HONE_GO(need(&parameters, f, "parameters", PYJ_DICT, i));
        HONE_GO(need(&properties, parameters, "properties", PYJ_DICT, i));
        hone_str_puts(out, "> Tool Name: ");
        pyj_str(out, name);
        hone_str_puts(out, "\nTool Description: ");
        put_text_of(out, f, "description");
        hone_str_puts(out, "\nTool Args:\n");
        for (size_t p = 0; p < properties->items.len; p++)
            HONE_GO(put_property(out, &properties->items.data[p], pyj_get(parameters, "required"), i));
        hone_str_putc(out, '\n');
        hone_str_puts(&names, i ? ", " : "");
        pyj_str(&names, name);
    }
    HONE_GO(hone_str_ok(&names));
    hone_str_puts(out, "Use the following format if using a tool:\n```\nAction: tool name (one of [");
    hone_str_append(out, hone_str_c(&names), names.len);
    hone_str_puts(out, "])\nAction Input: the input to the tool, in a JSON format representing the kwargs (e.g. "
                  "```{\"input\": \"hello world\", \"num_beams\": 5}```)\n```\n");
out:
    hone_str_deinit(&names);
    return st;
}

/* ---- gemma4: declarations ---- */

static void put_upper(hone_str *out, const pyj_value *v)
{
    hone_str text = HONE_STR_INIT;
    size_t   n;
    char     utf8[4];

    pyj_str(&text, v);
    for (size_t i = 0; i < text.len; i += n) {
        utf8proc_int32_t cp = (utf8proc_int32_t)hone_utf8_decode(hone_str_c(&text) + i, &n);

        hone_str_append(out, utf8, hone_utf8_encode((uint32_t)utf8proc_toupper(cp), utf8));
    }
    hone_str_deinit(&text);
}

static void put_marked(hone_str *out, const char *before, const pyj_value *v, bool upper)
{
    hone_str_puts(out, before);
    hone_str_puts(out, "<|\"|>");
    if (v && upper)
        put_upper(out, v);
    else if (v)
        pyj_str(out, v);
    hone_str_puts(out, "<|\"|>");
}

static hone_status put_gemma_properties(hone_str *out, const pyj_value *properties, size_t tool)
{
    HONE_CHECK(properties->kind == PYJ_DICT, HONE_E_DATA, "tool %zu has \"properties\" that are no object", tool);
    hone_str_puts(out, "properties:{");
    for (size_t i = 0; i < properties->items.len; i++) {
        const pyj_value *p = &properties->items.data[i], *text = pyj_get(p, "description"), *type = pyj_get(p, "type");

        HONE_CHECK(p->kind == PYJ_DICT, HONE_E_DATA, "tool %zu has a property \"%.100s\" that is no object", tool, p->key);
        hone_str_puts(out, i ? "," : "");
        hone_str_append(out, p->key, p->n_key);
        hone_str_puts(out, ":{");
        if (pyj_true(text))
            put_marked(out, "description:", text, false);
        if (pyj_true(type))
            put_marked(out, pyj_true(text) ? ",type:" : "type:", type, true);
        hone_str_putc(out, '}');
    }
    hone_str_putc(out, '}');
    return HONE_OK;
}

static hone_status put_gemma_parameters(hone_str *out, const pyj_value *p, size_t tool)
{
    const pyj_value *properties = pyj_get(p, "properties"), *required = pyj_get(p, "required"), *type = pyj_get(p, "type");
    const char      *comma = "";

    HONE_CHECK(p->kind == PYJ_DICT, HONE_E_DATA, "tool %zu has \"parameters\" that are no object", tool);
    hone_str_puts(out, ",parameters:{");
    if (pyj_true(properties)) {
        HONE_TRY(put_gemma_properties(out, properties, tool));
        comma = ",";
    }
    if (pyj_true(required)) {
        HONE_CHECK(required->kind == PYJ_LIST, HONE_E_DATA, "tool %zu has a \"required\" that is no list", tool);
        hone_str_printf(out, "%srequired:[", comma);
        for (size_t i = 0; i < required->items.len; i++)
            put_marked(out, i ? "," : "", &required->items.data[i], false);
        hone_str_putc(out, ']');
        comma = ",";
    }
    if (pyj_true(type)) {
        hone_str_puts(out, comma);
        put_marked(out, "type:", type, true);
    }
    hone_str_putc(out, '}');
    return HONE_OK;
}

static hone_status put_gemma_response(hone_str *out, const pyj_value *r, size_t tool)
{
    const pyj_value *text = pyj_get(r, "description"), *type = pyj_get(r, "type");
    hone_str         upper = HONE_STR_INIT;

    HONE_CHECK(r->kind == PYJ_DICT, HONE_E_DATA, "tool %zu has a \"response\" that is no object", tool);
    hone_str_puts(out, ",response:{");
    if (pyj_true(text))
        put_marked(out, "description:", text, false);
    if (type)
        put_upper(&upper, type);
    if (strcmp(hone_str_c(&upper), "OBJECT") == 0)
        put_marked(out, pyj_true(text) ? ",type:" : "type:", type, true);
    hone_str_putc(out, '}');
    hone_str_deinit(&upper);
    return HONE_OK;
}

TOOLS(gemma4)
{
    UNUSED(date);
    for (size_t i = 0; i < tools->items.len; i++) {
        const pyj_value *f = NULL, *name, *parameters, *response;

        HONE_TRY(function_of(&f, tools, i));
        name = pyj_get(f, "name");
        HONE_CHECK(name, HONE_E_DATA, "tool %zu has no \"name\"", i);
        hone_str_puts(out, i ? "\ndeclaration:" : "declaration:");
        pyj_str(out, name);
        put_marked(out, "{description:", pyj_get(f, "description"), false);
        parameters = pyj_get(f, "parameters");
        response = pyj_get(f, "response");
        if (pyj_true(parameters))
            HONE_TRY(put_gemma_parameters(out, parameters, i));
        if (pyj_true(response))
            HONE_TRY(put_gemma_response(out, response, i));
        hone_str_putc(out, '}');
    }
    return HONE_OK;
}

/* ---- the others: JSON between fixed texts ---- */

TOOLS(glm4)
{
    UNUSED(date);
    hone_str_puts(out, "你是一个名为 ChatGLM 的人工智能助手。你是基于智谱 AI 公司训练的语言模型 GLM-4 模型开发的，你的任务是针对用户的问题和要求"
                  "提供适当的答复和支持。\n\n# 可用工具");
    for (size_t i = 0; i < tools->items.len; i++) {
        const pyj_value *f = NULL, *name;

        HONE_TRY(function_of(&f, tools, i));
        name = pyj_get(f, "name");
        HONE_CHECK(name, HONE_E_DATA, "tool %zu has no \"name\"", i);
        hone_str_puts(out, "\n\n## ");
        pyj_str(out, name);
        hone_str_puts(out, "\n\n");
        pyj_dump(out, f, 4);
        hone_str_puts(out, "\n在调用上述函数时，请使用 Json 格式表示调用的参数。");
    }
    return HONE_OK;
}

/* What the formats that list signatures between <tools> marks begin with. */
#define SIGNATURES "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with " \
                   "function signatures within <tools></tools> XML tags:\n<tools>"
#define CALL_AS_JSON "\n</tools>\n\nFor each function call, return a json object with function name and arguments within " \
                     "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": " \
                     "<args-json-object>}\n</tool_call>"

TOOLS(glm4_moe)
{
    UNUSED(date);
    hone_str_puts(out, "\n\n" SIGNATURES);
    HONE_TRY(put_all_wrapped(out, tools, "\n", "", 0));
    hone_str_puts(out, "\n</tools>\n\nFor each function call, output the function name and arguments within the following XML "
                  "format:\n<tool_call>{function-name}\n<arg_key>{arg-key-1}</arg_key>\n<arg_value>{arg-value-1}</arg_value>\n"
                  "<arg_key>{arg-key-2}</arg_key>\n<arg_value>{arg-value-2}</arg_value>\n...\n</tool_call>\n");
    return HONE_OK;
}

TOOLS(qwen)
{
    UNUSED(date);
    hone_str_puts(out, "\n\n" SIGNATURES);
    HONE_TRY(put_all_wrapped(out, tools, "\n", "", 0));
    hone_str_puts(out, CALL_AS_JSON);
    return HONE_OK;
}

TOOLS(ling)
{
    UNUSED(date);
    hone_str_puts(out, SIGNATURES);
    HONE_TRY(put_all_wrapped(out, tools, "\n", "", 0));
    hone_str_puts(out, CALL_AS_JSON "\ndetailed thinking off");
    return HONE_OK;
}

TOOLS(qwen3_5)
{
    UNUSED(date);
    hone_str_puts(out, "\n\n# Tools\n\nYou have access to the following functions:\n\n<tools>");
    HONE_TRY(put_all_functions(out, tools, "\n", ""));
    hone_str_puts(out,
                  "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n"
                  "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
                  "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple "
                  "lines\n</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n- Function calls MUST follow the "
                  "specified format: an inner <function=...></function> block must be nested within <tool_call></tool_call> "
                  "XML tags\n- Required parameters MUST be specified\n- You may provide optional reasoning for your function "
                  "call in natural language BEFORE the function call, but NOT after\n- If there is no function call "
                  "available, answer the question like normal with your current knowledge and do not tell the user about "
                  "function calls\n</IMPORTANT>");
    return HONE_OK;
}

TOOLS(llama3)
{
    hone_str_printf(out, "Cutting Knowledge Date: December 2023\nToday Date: %s\n\nYou have access to the following "
                    "functions. To call a function, please respond with JSON for a function call. Respond in the format "
                    "{\"name\": function name, \"parameters\": dictionary of argument name and its value}. Do not use "
                    "variables.\n\n", date);
    return put_all_wrapped(out, tools, "", "\n\n", 4);
}

TOOLS(minimax1)
{
    UNUSED(date);
    hone_str_puts(out, "You are provided with these tools:\n<tools>\n");
    HONE_TRY(put_all_functions(out, tools, "", "\n"));
    hone_str_puts(out, "</tools>\n\nIf you need to call tools, please respond with <tool_calls></tool_calls> XML tags, and "
                  "provide tool-name and json-object of arguments, following the format below:\n<tool_calls>\n{\"name\": "
                  "<tool-name-1>, \"arguments\": <args-json-object-1>}\n...\n</tool_calls>");
    return HONE_OK;
}

TOOLS(minimax2)
{
    UNUSED(date);
    hone_str_puts(out, "\n\n# Tools\n\nYou may call one or more tools to assist with the user query.\nHere are the tools "
                  "available in JSONSchema format:\n\n<tools>\n");
    HONE_TRY(put_all_functions(out, tools, "<tool>", "</tool>\n"));
    hone_str_puts(out, "</tools>\n\nWhen making tool calls, use XML format to invoke tools and pass parameters:\n\n"
                  "<minimax:tool_call>\n<invoke name=\"tool-name-1\">\n<parameter name=\"param-key-1\">param-value-1"
                  "</parameter>\n<parameter name=\"param-key-2\">param-value-2</parameter>\n...\n</invoke>\n"
                  "</minimax:tool_call>");
    return HONE_OK;
}

TOOLS(mistral)
{
    UNUSED(date);
    hone_str_puts(out, "[AVAILABLE_TOOLS] [");
    for (size_t i = 0; i < tools->items.len; i++) {
        HONE_CHECK(tools->items.data[i].kind == PYJ_DICT, HONE_E_DATA, "tool %zu is no object", i);
        hone_str_puts(out, i ? ", " : "");
        put_wrapped(out, &tools->items.data[i], 0);
    }
    hone_str_puts(out, "][/AVAILABLE_TOOLS]");
    return HONE_OK;
}

TOOLS(lfm2)
{
    UNUSED(date);
    hone_str_puts(out, "List of tools: <|tool_list_start|>[");
    for (size_t i = 0; i < tools->items.len; i++) {
        const pyj_value *f = NULL;

        HONE_TRY(function_of(&f, tools, i));
        hone_str_puts(out, i ? ", " : "");
        pyj_dump(out, f, 0);
    }
    hone_str_puts(out, "]<|tool_list_end|>");
    return HONE_OK;
}

TOOLS(seed_oss)
{
    UNUSED(date);
    hone_str_puts(out, "system\nYou are Doubao, a helpful AI assistant. You may call one or more functions to assist with the "
                  "user query.Tool List:\nYou are authorized to use the following tools (described in JSON Schema format). "
                  "Before performing any task, you must decide how to call them based on the descriptions and parameters of "
                  "these tools.\n");
    pyj_dump(out, tools, 0);
    hone_str_puts(out, "\n工具调用请遵循如下格式:\n<seed:tool_call>\n<function=example_function_name>\n<parameter="
                  "example_parameter_1>value_1</parameter>\n<parameter=example_parameter_2>This is the value for the second "
                  "parameter\nthat can span\nmultiple lines</parameter>\n</function>\n</seed:tool_call>\n");
    return HONE_OK;
}

/* ---- all ---- */

hone_status slot_write_tools(const hone_slots *s, hone_str *out, const char *text, size_t n)
{
    pyj_value   tools;
    hone_status st;

    if (s->tools_raw) {
        for (const char *p = s->tools_raw; *p; p++)
            if (*p == *SLOT_IN)
                hone_str_append(out, text, n);
            else
                hone_str_putc(out, *p);
        return hone_str_ok(out);
    }
    st = pyj_parse(&tools, text, n);
    if (st != HONE_OK)
        return hone_status_context(st, "in the tools");
    HONE_GO_CHECK(tools.kind == PYJ_LIST, HONE_E_DATA, "the tools are no JSON list");
    if (tools.items.len)
        HONE_GO(s->tools->write_tools(out, &tools, s->date));
    HONE_GO(hone_str_ok(out));
out:
    pyj_deinit(&tools);
    return st;
}
