/* Templates: whatever the source, compiling and rendering end with a text or an error, within the limits; the text is
 * well-formed and its spans cover it. */
#include <stdlib.h>

#include "base/utf8.h"
#include "text/template.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check(const hone_template_output *out)
{
    size_t end = 0;

    must(hone_utf8_valid_prefix(hone_str_c(&out->text), out->text.len) == out->text.len);
    for (size_t i = 0; i < out->spans.len; i++) {
        must(out->spans.data[i].end > end);
        end = out->spans.data[i].end;
    }
    must(end == out->text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char vars[] =
        "{\"messages\": [{\"role\": \"system\", \"content\": \"Be brief.\"}, {\"role\": \"user\", \"content\": \" Zwei 二? \\n\"},"
        " {\"role\": \"assistant\", \"content\": \"<think>\\nx\\n</think>\\n\\nyes\", \"tool_calls\": [{\"function\": {\"name\": \"f\","
        " \"arguments\": {\"a\": [1, 2.5, null, true]}}}]}, {\"role\": \"tool\", \"content\": \"{}\"}],"
        " \"tools\": [{\"name\": \"f\"}], \"add_generation_prompt\": true, \"bos_token\": \"<s>\", \"n\": 3, \"f\": 1.5}";
    const hone_template_limits limits = { .steps = 20000, .memory = 16 << 20, .output = 1 << 20 };
    hone_template       *t;
    hone_template_output out = { 0 };
    json_t              *v;

    must(hone_json_parse(&v, vars, sizeof vars - 1, "vars") == HONE_OK);
    if (hone_template_compile(&t, (const char *)data, size, "fuzz") == HONE_OK) {
        if (hone_template_render(t, &out, (const json_t *const[]){ v }, 1, &limits) == HONE_OK)
            check(&out);
        hone_template_destroy(&t);
    } else {
        must(t == NULL);
    }
    hone_template_output_deinit(&out);
    json_decref(v);
    return 0;
}
