#include "base/json.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"

/* The text with ".0" behind integers that 64 bits cannot hold (tokenizer_config.json has "model_max_length": 10^30). */
static void widen_integers(hone_str *out, const char *text, size_t n)
{
    bool in_string = false;

    for (size_t i = 0; i < n; ) {
        size_t digits = 0;

        while (!in_string && i + digits < n && text[i + digits] >= '0' && text[i + digits] <= '9')
            digits++;
        if (digits) {
            char next = i + digits < n ? text[i + digits] : 0, before = i ? text[i - 1] : 0;
            bool integer = next != '.' && next != 'e' && next != 'E' && before != '.' && before != '+' &&
                           !(before == '-' && i > 1 && (text[i - 2] == 'e' || text[i - 2] == 'E'));

            hone_str_append(out, text + i, digits);
            if (integer && digits >= 19)
                hone_str_puts(out, ".0");
            i += digits;
            continue;
        }
        if (text[i] == '"')
            in_string = !in_string;
        if (in_string && text[i] == '\\' && i + 1 < n)
            hone_str_putc(out, text[i++]);
        hone_str_putc(out, text[i++]);
    }
}

hone_status hone_json_parse(json_t **out, const char *text, size_t n, const char *where)
{
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL;
    json_error_t err;
    size_t       good = hone_utf8_valid_prefix(text, n);

    *out = NULL;
    if (good < n) {
        int line = 1;

        for (size_t i = 0; i < good; i++)
            line += text[i] == '\n';
        return HONE_FAIL(HONE_E_FORMAT, "%s: invalid UTF-8: byte 0x%02x at offset %zu (line %d); save the file as UTF-8",
                         where, (unsigned char)text[good], good, line);
    }
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return HONE_FAIL(HONE_E_FORMAT, "%s: broken JSON: it begins with a byte order mark; save the file as UTF-8 without one", where);
    if (memchr(text, '\0', n))      /* jansson takes one for the end of a number */
        return HONE_FAIL(HONE_E_FORMAT, "%s: broken JSON: a NUL byte at offset %zu", where,
                         (size_t)((const char *)memchr(text, '\0', n) - text));
    *out = json_loadb(text, n, flags, &err);
    if (!*out && json_error_code(&err) == json_error_numeric_overflow) {
        hone_str wide = HONE_STR_INIT;

        widen_integers(&wide, text, n);
        if (!wide.failed)
            *out = json_loadb(hone_str_c(&wide), wide.len, flags, &err);
        hone_str_deinit(&wide);
    }
    if (!*out)
        return err.line > 1 || memchr(text, '\n', n)
               ? HONE_FAIL(HONE_E_FORMAT, "%s: broken JSON at line %d, column %d: %s", where, err.line, err.column, err.text)
               : HONE_FAIL(HONE_E_FORMAT, "%s: broken JSON at column %d: %s", where, err.column, err.text);
    return HONE_OK;
}

hone_status hone_json_read(json_t **out, const char *path)
{
    hone_mapped map;
    hone_status st;

    *out = NULL;
    HONE_TRY(hone_file_map(&map, path));
    st = hone_json_parse(out, (const char *)map.data, map.size, path);
    hone_file_unmap(&map);
    return st;
}

hone_status hone_json_read_if_there(json_t **out, const char *dir, const char *name)
{
    char       *path = hone_path_join(dir, name);
    hone_status st = HONE_OK;

    *out = NULL;
    HONE_GO(path ? HONE_OK : HONE_E_NOMEM);
    if (!hone_path_exists(path))
        goto out;
    HONE_GO(hone_json_read(out, path));
    HONE_GO_CHECK(json_is_object(*out), HONE_E_FORMAT, "%s is not an object", path);
out:
    if (st != HONE_OK) {
        json_decref(*out);
        *out = NULL;
    }
    hone_free(path);
    return st;
}

void hone_json_quote(hone_str *out, const char *s, size_t n)
{
    hone_str_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        switch (c) {
        case '"':  hone_str_puts(out, "\\\""); break;
        case '\\': hone_str_puts(out, "\\\\"); break;
        case '\n': hone_str_puts(out, "\\n"); break;
        case '\r': hone_str_puts(out, "\\r"); break;
        case '\t': hone_str_puts(out, "\\t"); break;
        case '\b': hone_str_puts(out, "\\b"); break;
        case '\f': hone_str_puts(out, "\\f"); break;
        default:
            if (c < 0x20)
                hone_str_printf(out, "\\u%04x", c);
            else
                hone_str_putc(out, (char)c);
        }
    }
    hone_str_putc(out, '"');
}

static void dump_container(hone_str *out, const json_t *v, bool spaced)
{
    const char *comma = spaced ? ", " : ",", *colon = spaced ? ": " : ":";
    const char *key;
    json_t     *item;
    size_t      i;

    if (json_is_array(v)) {
        hone_str_putc(out, '[');
        json_array_foreach(v, i, item) {
            if (i)
                hone_str_puts(out, comma);
            hone_json_dump(out, item, spaced);
        }
        hone_str_putc(out, ']');
        return;
    }
    hone_str_putc(out, '{');
    i = 0;
    json_object_foreach((json_t *)v, key, item) {
        if (i++)
            hone_str_puts(out, comma);
        hone_json_quote(out, key, strlen(key));
        hone_str_puts(out, colon);
        hone_json_dump(out, item, spaced);
    }
    hone_str_putc(out, '}');
}

void hone_json_dump(hone_str *out, const json_t *v, bool spaced)
{
    char buf[32];

    switch (json_typeof(v)) {
    case JSON_NULL:    hone_str_puts(out, "null"); break;
    case JSON_TRUE:    hone_str_puts(out, "true"); break;
    case JSON_FALSE:   hone_str_puts(out, "false"); break;
    case JSON_INTEGER: hone_str_printf(out, "%lld", (long long)json_integer_value(v)); break;
    case JSON_REAL:    hone_str_puts(out, hone_format_f64(buf, json_real_value(v))); break;
    case JSON_STRING:  hone_json_quote(out, json_string_value(v), json_string_length(v)); break;
    default:           dump_container(out, v, spaced);
    }
}

const char *hone_json_type_name(const json_t *v)
{
    static const char *const names[] = { "object", "array", "string", "integer", "real", "true", "false", "null" };

    return v ? names[json_typeof(v)] : "nothing";
}
