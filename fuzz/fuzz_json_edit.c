/* Any JSON object as config.json and as an index: after the edit it parses, and only what was meant has changed. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "io/json_edit.h"

static void set_dtype(json_t *object)
{
    static const char *const keys[] = { "dtype", "torch_dtype" };

    for (size_t i = 0; i < HONE_COUNTOF(keys); i++) {
        const char *old = json_string_value(json_object_get(object, keys[i]));
        hone_dtype  d;

        if (old && hone_dtype_parse(&d, old) && hone_dtype_is_floating(d) && strcmp(old, hone_dtype_config_name(d)) == 0)
            json_object_set_new(object, keys[i], json_string("float32"));
    }
}

static void compare(const hone_str *edited, const json_t *want, bool escapes)
{
    json_t *got;

    if (hone_json_parse(&got, hone_str_c(edited), edited->len, "edited") != HONE_OK)
        abort();
    /* Keys are compared as spelt, so a key with an escape can be missed. */
    if (!escapes && !json_equal(got, want))
        abort();
    json_decref(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hone_str    text = HONE_STR_INIT, edited = HONE_STR_INIT;
    bool        escapes = memchr(data, '\\', size) != NULL;
    json_t     *want, *sub;
    const char *key;

    if (hone_json_parse(&want, (const char *)data, size, "input") != HONE_OK)
        return 0;
    if (json_is_object(want)) {
        hone_str_append(&text, data, size);     /* with its NUL */
        hone_json_edit_total_size(&edited, text.data, 123);
        sub = json_object_get(want, "metadata");
        if (json_object_get(sub, "total_size")) {
            json_t *copy = json_deep_copy(want);

            json_object_set_new(json_object_get(copy, "metadata"), "total_size", json_integer(123));
            compare(&edited, copy, escapes);
            json_decref(copy);
        } else {
            compare(&edited, want, escapes);
        }
        hone_str_clear(&edited);
        (void)hone_json_edit_dtype(&edited, text.data, HONE_DTYPE_F32);
        set_dtype(want);
        json_object_foreach(want, key, sub)
            if (json_is_object(sub) && strlen(key) > 7 && strcmp(key + strlen(key) - 7, "_config") == 0 &&
                strcmp(key, "quantization_config") != 0)
                set_dtype(sub);
        compare(&edited, want, escapes);
    }
    json_decref(want);
    hone_str_deinit(&text);
    hone_str_deinit(&edited);
    return 0;
}
