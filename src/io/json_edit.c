#include "io/json_edit.h"

#include <inttypes.h>
#include <string.h>

/* A member of an object in the text: key without quotes, value as it is written. */
typedef struct member { const char *key, *value; size_t key_len, value_len; } member;

static const char *skip_space(const char *p) { return p + strspn(p, " \t\r\n"); }

static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

static const char *skip_value(const char *p)
{
    int depth = 0;

    if (*p != '{' && *p != '[' && *p != '"')
        return p + strcspn(p, ",]} \t\r\n");
    do {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p++;
    } while (depth > 0 && *p);
    return p;
}

/* The member after `*at`, which starts at an object's '{'; false at its end. */
static bool next_member(member *m, const char **at)
{
    const char *p = skip_space(*at + 1);    /* past '{' or ',' */

    if (*p != '"')
        return false;
    m->key = p + 1;
    p = skip_string(p);
    m->key_len = (size_t)(p - m->key) - 1;
    p = skip_space(p);
    m->value = skip_space(p + 1);           /* past ':' */
    p = skip_value(m->value);
    m->value_len = (size_t)(p - m->value);
    *at = skip_space(p);
    return true;
}

static bool key_is(const member *m, const char *key) { return m->key_len == strlen(key) && !memcmp(m->key, key, m->key_len); }

static bool is_sub_config(const member *m)
{
    static const char tail[] = "_config";

    return *m->value == '{' && m->key_len > sizeof tail - 1 && !key_is(m, "quantization_config") &&
           memcmp(m->key + m->key_len - (sizeof tail - 1), tail, sizeof tail - 1) == 0;
}

static bool is_floating(const member *m)
{
    for (int d = 0; d < HONE_DTYPE_COUNT; d++) {
        const char *name = hone_dtype_config_name((hone_dtype)d);

        if (hone_dtype_is_floating((hone_dtype)d) && m->value_len == strlen(name) + 2 && m->value[0] == '"' &&
            memcmp(m->value + 1, name, strlen(name)) == 0)
            return true;
    }
    return false;
}

/* Copy from *done up to each dtype of the object at `at`, and the new name in its place. */
static bool edit_object(hone_str *out, const char **done, const char *at, const char *name, bool top)
{
    bool   changed = false;
    member m;

    while (next_member(&m, &at)) {
        if (top && is_sub_config(&m)) {
            changed |= edit_object(out, done, m.value, name, false);
        } else if ((key_is(&m, "dtype") || key_is(&m, "torch_dtype")) && is_floating(&m)) {
            hone_str_append(out, *done, (size_t)(m.value - *done));
            hone_str_printf(out, "\"%s\"", name);
            *done = m.value + m.value_len;
            changed |= strlen(name) + 2 != m.value_len || memcmp(m.value + 1, name, strlen(name)) != 0;
        }
    }
    return changed;
}

bool hone_json_edit_dtype(hone_str *out, const char *text, hone_dtype dtype)
{
    const char *done = text;
    bool        changed = edit_object(out, &done, skip_space(text), hone_dtype_config_name(dtype), true);

    hone_str_puts(out, done);
    return changed;
}

void hone_json_edit_total_size(hone_str *out, const char *text, int64_t bytes)
{
    const char *done = text, *at = skip_space(text), *inner;
    member      m, n;

    while (next_member(&m, &at))
        if (key_is(&m, "metadata") && *m.value == '{')
            for (inner = m.value; next_member(&n, &inner);)
                if (key_is(&n, "total_size")) {
                    hone_str_append(out, done, (size_t)(n.value - done));
                    hone_str_printf(out, "%" PRId64, bytes);
                    done = n.value + n.value_len;
                }
    hone_str_puts(out, done);
}
