/* Typed values: from YAML or text into a field, and back as YAML. */
#include "option/option_int.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

#define FIELD(o, row, type) ((type *)(void *)((char *)(o) + (row)->offset))
#define CFIELD(o, row, type) ((const type *)(const void *)((const char *)(o) + (row)->offset))

hone_status hone_strings_push(hone_strings *list, const char *text)
{
    char **grown = hone_realloc(list->v, list->n + 1, sizeof *grown), *copy;

    if (!grown)
        return HONE_E_NOMEM;
    list->v = grown;
    copy = hone_strdup(text);
    if (!copy)
        return HONE_E_NOMEM;
    list->v[list->n++] = copy;
    return HONE_OK;
}

static void strings_clear(hone_strings *list)
{
    for (size_t i = 0; i < list->n; i++)
        hone_free(list->v[i]);
    hone_free(list->v);
    *list = (hone_strings){ NULL, 0 };
}

void hone_option_clear(hone_options *o, const option_row *row)
{
    switch (row->kind) {
    case KIND_S:
        hone_free(*FIELD(o, row, char *));
        *FIELD(o, row, char *) = NULL;
        break;
    case KIND_L: strings_clear(FIELD(o, row, hone_strings)); break;
    case KIND_M:
        json_decref(*FIELD(o, row, json_t *));
        *FIELD(o, row, json_t *) = NULL;
        break;
    default: break;
    }
}

static bool nullable(const option_row *row) { return strcmp(row->def, "null") == 0 || row->kind == KIND_T; }

static const char *wanted(const option_row *row)
{
    static const char *const texts[] = { "a text", "a list of texts", "a whole number", "a number", "true or false",
                                         "true, false or null", "one of its choices", "a mapping" };

    return texts[row->kind];
}

/* "the text 'abc'", for errors. */
static const char *found(char buf[128], const json_t *v)
{
    hone_str s = HONE_STR_INIT;
    const char *what = json_is_string(v) ? "the text " : json_is_number(v) ? "the number " : "";

    if (json_is_object(v) || json_is_array(v)) {
        hone_str_puts(&s, json_is_object(v) ? "a mapping" : "a list");
    } else {
        hone_str_puts(&s, what);
        if (json_is_string(v))
            hone_str_printf(&s, "'%s'", json_string_value(v));
        else
            hone_json_dump(&s, v, false);
    }
    strncpy(buf, hone_str_c(&s), 127);
    buf[127] = '\0';
    hone_str_deinit(&s);
    return buf;
}

static hone_status wrong_type(const option_row *row, const json_t *v, const char *place)
{
    char        buf[128];
    const char *hint = "";

    if (row->kind == KIND_S && (json_is_number(v) || json_is_boolean(v)))
        hint = "; put it in quotes if it is one";
    else if (json_is_string(v) && (row->kind == KIND_I || row->kind == KIND_F || row->kind == KIND_B)) {
        json_t *plain = hone_yaml_scalar(json_string_value(v), json_string_length(v));

        if (plain && !json_is_string(plain) && !json_is_null(plain))
            hint = "; leave out the quotes";
        json_decref(plain);
    }
    return HONE_FAIL(HONE_E_USAGE, "%s%s wants %s, found %s%s", place, row->name, wanted(row), found(buf, v), hint);
}

/* "a, b,c": pieces without the white space around them; empty ones are left out. */
static hone_status split_commas(hone_strings *list, const char *p)
{
    while (*p) {
        size_t      len = strcspn(p, ","), n = len;
        const char *start = p;
        char       *piece;
        hone_status st;

        while (n && strchr(" \t", *start))
            start++, n--;
        while (n && strchr(" \t", start[n - 1]))
            n--;
        p += len + (p[len] == ',');
        if (!n)
            continue;
        piece = hone_strndup(start, n);
        st = piece ? hone_strings_push(list, piece) : HONE_E_NOMEM;
        hone_free(piece);
        HONE_TRY(st);
    }
    return HONE_OK;
}

static hone_status set_list(hone_options *o, const option_row *row, const json_t *v, const char *place)
{
    hone_strings list = { NULL, 0 };
    hone_status  st = HONE_OK;
    char         buf[32];
    json_t      *item;
    size_t       i;

    if (json_is_string(v))
        HONE_GO(split_commas(&list, json_string_value(v)));
    json_array_foreach(v, i, item) {
        if (json_is_string(item))
            HONE_GO(hone_strings_push(&list, json_string_value(item)));
        else if (json_is_number(item))          /* interleave_probs: [0.7, 0.3] */
            HONE_GO(hone_strings_push(&list, hone_format_f64(buf, json_number_value(item))));
        else
            HONE_GO(wrong_type(row, item, place));
    }
out:
    if (st == HONE_OK) {
        hone_option_clear(o, row);
        *FIELD(o, row, hone_strings) = list;
    } else {
        strings_clear(&list);
    }
    return st;
}

/* Not one of the choices: offer the nearest, and list those that work. */
static hone_status no_such_choice(const option_row *row, const char *value, const char *place)
{
    enum { MAX = 32 };
    char        texts[MAX][64];
    const char *names[MAX], *near;
    bool        later;
    size_t      n = HONE_MIN(hone_option_choice_at(row, SIZE_MAX, texts[0], &later), (size_t)MAX);
    hone_str    all = HONE_STR_INIT;
    hone_status st;

    for (size_t i = 0; i < n; i++) {
        (void)hone_option_choice_at(row, i, texts[i], &later);
        names[i] = texts[i];
        if (!later)
            hone_str_printf(&all, "%s%s", all.len ? ", " : "", texts[i]);
    }
    near = hone_nearest_name(value, names, n);
    st = HONE_FAIL(HONE_E_USAGE, "%s%s cannot be '%.100s'%s%s%s choices: %s", place, row->name, value,
                   near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ";", hone_str_c(&all));
    hone_str_deinit(&all);
    return st;
}

/* YAML reads an unquoted "no" as false, which is what some choices are called. */
static hone_status set_enum(hone_options *o, const option_row *row, const json_t *v, const char *place)
{
    const char *text = json_is_true(v) ? "true" : json_is_false(v) ? "no" : json_string_value(v);
    char        choice[64];
    bool        later;

    if (!text)
        return wrong_type(row, v, place);
    for (size_t i = 0; i < hone_option_choice_at(row, i, choice, &later); i++)
        if (strcmp(choice, text) == 0) {
            *FIELD(o, row, int) = (int)i;
            return HONE_OK;
        }
    return json_is_string(v) ? no_such_choice(row, text, place) : wrong_type(row, v, place);
}

static hone_status set_number(hone_options *o, const option_row *row, const json_t *v, const char *place)
{
    char   a[32], b[32], buf[128];
    double x = json_number_value(v);

    if (!json_is_number(v) || (row->kind == KIND_I && !json_is_integer(v)))
        return wrong_type(row, v, place);
    if (!(x >= row->lo && x <= row->hi)) {      /* not-a-number lies outside too */
        snprintf(a, sizeof a, "%.15g", row->lo);
        snprintf(b, sizeof b, "%.15g", row->hi);
        if (row->hi >= HONE_ANY_)
            return HONE_FAIL(HONE_E_USAGE, "%s%s must be %s %s, found %s", place, row->name, x > row->hi ? "at most" : "at least",
                             x > row->hi ? b : a, found(buf, v));
        return HONE_FAIL(HONE_E_USAGE, "%s%s must lie between %s and %s, found %s", place, row->name,
                         a, b, found(buf, v));
    }
    if (row->kind == KIND_I)
        *FIELD(o, row, int64_t) = json_integer_value(v);
    else
        *FIELD(o, row, double) = x;
    return HONE_OK;
}

static void set_null(hone_options *o, const option_row *row)
{
    hone_option_clear(o, row);
    switch (row->kind) {
    case KIND_I: *FIELD(o, row, int64_t) = HONE_INT_NULL; break;
    case KIND_F: *FIELD(o, row, double) = NAN; break;
    case KIND_T: *FIELD(o, row, hone_tri) = HONE_TRI_NULL; break;
    case KIND_E: *FIELD(o, row, int) = HONE_ENUM_NULL; break;
    default: break;
    }
}

static hone_status set_value(hone_options *o, const option_row *row, const json_t *v, const char *place)
{
    char *copy;

    if (json_is_null(v)) {
        HONE_CHECK(nullable(row), HONE_E_USAGE, "%s%s cannot be null; leave it out for its default, %s", place, row->name,
                   row->def);
        set_null(o, row);
        return HONE_OK;
    }
    switch (row->kind) {
    case KIND_S:
        /* Hugging Face's "the newest" */
        if (!json_is_string(v) && !(json_is_true(v) && strcmp(row->name, "resume_from_checkpoint") == 0))
            return wrong_type(row, v, place);
        copy = hone_strdup(json_is_true(v) ? "true" : json_string_value(v));
        if (!copy)
            return HONE_E_NOMEM;
        hone_option_clear(o, row);
        *FIELD(o, row, char *) = copy;
        return HONE_OK;
    case KIND_L: return json_is_string(v) || json_is_array(v) ? set_list(o, row, v, place) : wrong_type(row, v, place);
    case KIND_I:
    case KIND_F: return set_number(o, row, v, place);
    case KIND_B:
    case KIND_T:
        if (!json_is_boolean(v))
            return wrong_type(row, v, place);
        if (row->kind == KIND_B)
            *FIELD(o, row, bool) = json_is_true(v);
        else
            *FIELD(o, row, hone_tri) = json_is_true(v) ? HONE_TRI_TRUE : HONE_TRI_FALSE;
        return HONE_OK;
    case KIND_E: return set_enum(o, row, v, place);
    case KIND_M:
        if (!json_is_object(v) && !json_is_string(v))
            return wrong_type(row, v, place);
        hone_option_clear(o, row);
        *FIELD(o, row, json_t *) = json_incref((json_t *)v);
        return HONE_OK;
    }
    return HONE_OK;
}

hone_status hone_option_set(hone_options *o, const option_row *row, const json_t *value, const char *place,
                            const char *source)
{
    char **slot = &o->state->sources[row - hone_option_rows], *copy = source ? hone_strdup(source) : NULL;

    if (source && !copy)
        return HONE_E_NOMEM;
    hone_free(*slot);
    *slot = copy;
    return set_value(o, row, value, place);
}

hone_status hone_option_set_text(hone_options *o, const option_row *row, const char *text, const char *place,
                                 const char *source)
{
    json_t     *v = NULL;
    hone_status st = HONE_OK;
    size_t      n = strlen(text);

    HONE_CHECK(hone_utf8_valid_prefix(text, n) == n, HONE_E_USAGE, "%s%s: the value is not valid UTF-8", place,
               row->name);
    if (row->kind == KIND_M && (text[0] == '{' || text[0] == '['))
        HONE_TRY(hone_yaml_value(&v, text, row->name));
    else if ((row->kind == KIND_B || row->kind == KIND_T) && (strcmp(text, "1") == 0 || strcmp(text, "0") == 0))
        v = json_boolean(text[0] == '1');
    else if (row->kind == KIND_S || row->kind == KIND_L || row->kind == KIND_E || row->kind == KIND_M)
        v = strcmp(text, "null") == 0 ? json_null() : json_stringn(text, n);
    else
        v = hone_yaml_scalar(text, n);
    HONE_CHECK(v, HONE_E_NOMEM, "out of memory while reading %s", row->name);
    st = hone_option_set(o, row, v, place, source);
    json_decref(v);
    return st;
}

/* A text in double quotes; what YAML calls unprintable is escaped. */
static void write_text(hone_str *out, const char *s)
{
    hone_str_putc(out, '"');
    while (*s) {
        size_t   len;
        uint32_t cp = hone_utf8_decode(s, &len);

        if (cp == '"' || cp == '\\')
            hone_str_printf(out, "\\%c", (char)cp);
        else if (cp == '\n')
            hone_str_puts(out, "\\n");
        else if (cp == '\t')
            hone_str_puts(out, "\\t");
        else if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0))
            hone_str_printf(out, "\\x%02x", cp);
        else if (cp == 0x2028 || cp == 0x2029 || cp == 0xFEFF || cp == 0xFFFE || cp == 0xFFFF)
            hone_str_printf(out, "\\u%04x", cp);
        else
            hone_str_append(out, s, len);
        s += len;
    }
    hone_str_putc(out, '"');
}

static void write_json(hone_str *out, const json_t *v)
{
    const char *key;
    json_t     *item;
    size_t      i, n = 0;

    if (json_is_object(v)) {
        hone_str_putc(out, '{');
        json_object_foreach((json_t *)v, key, item) {
            hone_str_puts(out, n++ ? ", " : "");
            write_text(out, key);
            hone_str_puts(out, ": ");
            write_json(out, item);
        }
        hone_str_putc(out, '}');
    } else if (json_is_array(v)) {
        hone_str_putc(out, '[');
        json_array_foreach(v, i, item) {
            hone_str_puts(out, i ? ", " : "");
            write_json(out, item);
        }
        hone_str_putc(out, ']');
    } else if (json_is_string(v)) {
        write_text(out, json_string_value(v));
    } else {
        hone_json_dump(out, v, true);
    }
}

static void write_list(hone_str *out, const hone_strings *list)
{
    hone_str_putc(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        hone_str_puts(out, i ? ", " : "");
        write_text(out, list->v[i]);
    }
    hone_str_putc(out, ']');
}

static bool is_null(const hone_options *o, const option_row *row)
{
    switch (row->kind) {
    case KIND_S: return !*CFIELD(o, row, char *);
    case KIND_I: return *CFIELD(o, row, int64_t) == HONE_INT_NULL;
    case KIND_F: return hone_float_is_null(*CFIELD(o, row, double));
    case KIND_T: return *CFIELD(o, row, hone_tri) == HONE_TRI_NULL;
    case KIND_E: return *CFIELD(o, row, int) == HONE_ENUM_NULL;
    case KIND_M: return !*CFIELD(o, row, json_t *);
    default: return false;
    }
}

void hone_option_write(hone_str *out, const hone_options *o, const option_row *row)
{
    char buf[64];
    bool later;

    if (is_null(o, row)) {
        hone_str_puts(out, "null");
        return;
    }
    switch (row->kind) {
    case KIND_S: write_text(out, *CFIELD(o, row, char *)); break;
    case KIND_L: write_list(out, CFIELD(o, row, hone_strings)); break;
    case KIND_I: hone_str_printf(out, "%lld", (long long)*CFIELD(o, row, int64_t)); break;
    case KIND_F: hone_str_puts(out, hone_format_f64(buf, *CFIELD(o, row, double))); break;
    case KIND_B: hone_str_puts(out, *CFIELD(o, row, bool) ? "true" : "false"); break;
    case KIND_T: hone_str_puts(out, *CFIELD(o, row, hone_tri) == HONE_TRI_TRUE ? "true" : "false"); break;
    case KIND_E:
        (void)hone_option_choice_at(row, (size_t)*CFIELD(o, row, int), buf, &later);
        write_text(out, buf);
        break;
    case KIND_M: write_json(out, *CFIELD(o, row, json_t *)); break;
    }
}
