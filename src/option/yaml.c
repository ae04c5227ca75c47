/* YAML by libyaml: one document, a flat mapping at the top; plain scalars typed as YAML 1.1 (https://yaml.org/type/). */
#include "option/option_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/mem.h"

/* Depth of nesting, and characters after every alias is written out: far above any real config, far below any harm. */
enum { DEPTH_MAX = 32, SIZE_MAX_ = 4 << 20 };

typedef struct reader {
    yaml_parser_t parser;
    const char   *where;
    json_t       *anchors;      /* name -> [value, size] */
    size_t        size;         /* so far, aliases written out */
} reader;

static bool is_one_of(const char *s, size_t n, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == n && memcmp(s, *words, n) == 0)
            return true;
    return false;
}

/* Text without its underscores, a sign kept; false if it does not fit. */
static bool plain_digits(char buf[64], const char *s, size_t n)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i] == '_')
            continue;
        if (len == 63)
            return false;
        buf[len++] = s[i];
    }
    buf[len] = '\0';
    return len > 0;
}

static bool spans(const char *s, const char *set) { return s[0] && s[strspn(s, set)] == '\0'; }

static json_t *as_integer(const char *digits)
{
    const char *d = digits + (digits[0] == '-' || digits[0] == '+');
    int         base = 10;
    char       *end, signless[64];
    long long   v;

    if (d[0] == '0' && d[1] == 'x' && spans(d + 2, "0123456789abcdefABCDEF"))
        base = 16;
    else if (d[0] == '0' && d[1] == 'b' && spans(d + 2, "01"))
        base = 2;
    else if (d[0] == '0' && spans(d + 1, "01234567"))
        base = 8;
    else if (!(strcmp(d, "0") == 0 || (d[0] != '0' && spans(d, "0123456789"))))
        return NULL;
    strcpy(signless, base == 16 || base == 2 ? d + 2 : d);
    errno = 0;
    v = strtoll(signless, &end, base);
    if (errno)
        return base == 10 ? json_real(strtod(digits, NULL)) : NULL;     /* too large to count with; still a number */
    return json_integer(digits[0] == '-' ? -v : v);
}

static json_t *as_real(const char *digits)
{
    const char *p = digits + (digits[0] == '-' || digits[0] == '+');
    size_t      whole = strspn(p, "0123456789"), part = 0;
    bool        dot, exponent;

    p += whole;
    dot = *p == '.';
    if (dot)
        p += 1 + (part = strspn(p + 1, "0123456789"));
    exponent = (*p == 'e' || *p == 'E') && whole + part > 0;
    if (exponent) {
        p++;
        p += *p == '-' || *p == '+';
        if (!spans(p, "0123456789"))
            return NULL;
        p += strlen(p);
    }
    if (*p || whole + part == 0 || !(dot || exponent))
        return NULL;
    return json_real(strtod(digits, NULL));         /* NULL for what overflows */
}

json_t *hone_yaml_scalar(const char *s, size_t n)
{
    static const char *const null[] = { "", "~", "null", "Null", "NULL", NULL };
    static const char *const yes[] = { "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", NULL };
    static const char *const no[] = { "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", NULL };
    char    digits[64];
    json_t *v = NULL;

    if (is_one_of(s, n, null))
        return json_null();
    if (is_one_of(s, n, yes))
        return json_true();
    if (is_one_of(s, n, no))
        return json_false();
    if (strchr("+-.0123456789", s[0]) && plain_digits(digits, s, n)) {
        v = as_integer(digits);
        if (!v)
            v = as_real(digits);
    }
    if (!v)
        v = json_stringn(s, n);
    if (!v)
        (void)HONE_FAIL(HONE_E_NOMEM, "out of memory while reading a value");
    return v;
}

#define FAIL_AT(r, mark, ...) fail_at((r), (mark), __VA_ARGS__)
static hone_status HONE_PRINTF(3, 4) fail_at(const reader *r, yaml_mark_t mark, const char *fmt, ...)
{
    char    text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return HONE_FAIL(HONE_E_USAGE, "%s:%zu:%zu: %s", r->where, mark.line + 1, mark.column + 1, text);
}

static hone_status next(reader *r, yaml_event_t *event)
{
    const yaml_parser_t *p = &r->parser;

    if (yaml_parser_parse(&r->parser, event))
        return HONE_OK;
    HONE_CHECK(p->error != YAML_MEMORY_ERROR, HONE_E_NOMEM, "out of memory while reading %s", r->where);
    if (p->error == YAML_READER_ERROR)
        return HONE_FAIL(HONE_E_USAGE, "%s: not a YAML text: %s at byte %zu; save the file as UTF-8", r->where,
                         p->problem ? p->problem : "unreadable", p->problem_offset);
    return FAIL_AT(r, p->problem_mark, "broken YAML: %s%s%s", p->problem ? p->problem : "syntax error",
                   p->context ? " " : "", p->context ? p->context : "");
}

static hone_status grow(reader *r, yaml_mark_t mark, size_t size)
{
    r->size += size;
    if (r->size > SIZE_MAX_)
        return FAIL_AT(r, mark, "the configuration grows past %d characters (aliases written out)", SIZE_MAX_);
    return HONE_OK;
}

static hone_status scalar_value(json_t **out, reader *r, const yaml_event_t *e)
{
    const char *s = (const char *)e->data.scalar.value, *tag = (const char *)e->data.scalar.tag;
    size_t      n = e->data.scalar.length;
    bool        text = e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;

    if (memchr(s, '\0', n))
        return FAIL_AT(r, e->start_mark, "a text cannot hold the character NUL");
    if (tag && (strcmp(tag, YAML_STR_TAG) == 0 || strcmp(tag, "!") == 0))
        text = true;
    else if (tag)
        return FAIL_AT(r, e->start_mark, "tag '%.100s' is not supported; write the value without it", tag);
    HONE_TRY(grow(r, e->start_mark, n + 1));
    *out = text ? json_stringn(s, n) : hone_yaml_scalar(s, n);
    HONE_CHECK(*out, HONE_E_NOMEM, "out of memory while reading %s", r->where);
    return HONE_OK;
}

static hone_status alias_value(json_t **out, reader *r, const yaml_event_t *e)
{
    const char *name = (const char *)e->data.alias.anchor;
    json_t     *entry = json_object_get(r->anchors, name);

    if (!entry)
        return FAIL_AT(r, e->start_mark, "'*%.100s' refers to nothing before it", name);
    HONE_TRY(grow(r, e->start_mark, (size_t)json_integer_value(json_array_get(entry, 1))));
    *out = json_incref(json_array_get(entry, 0));
    return HONE_OK;
}

/* A mapping's key at event `e`; `lines` maps the keys seen so far to their lines. */
static hone_status check_key(reader *r, const yaml_event_t *e, json_t *lines)
{
    const char *key;

    if (e->type != YAML_SCALAR_EVENT)
        return FAIL_AT(r, e->start_mark, "a key must be a plain text");
    key = (const char *)e->data.scalar.value;
    if (memchr(key, '\0', e->data.scalar.length))
        return FAIL_AT(r, e->start_mark, "a key cannot hold the character NUL");
    if (strcmp(key, "<<") == 0 && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return FAIL_AT(r, e->start_mark, "merge keys (<<) are not supported; write the keys out");
    if (json_object_get(lines, key))
        return FAIL_AT(r, e->start_mark, "key '%.100s' is here for the second time; it is also in line %lld", key,
                       (long long)json_integer_value(json_object_get(lines, key)));
    HONE_TRY(grow(r, e->start_mark, e->data.scalar.length + 1));
    HONE_CHECK(json_object_set_new(lines, key, json_integer((json_int_t)e->start_mark.line + 1)) == 0, HONE_E_NOMEM,
               "out of memory while reading %s", r->where);
    return HONE_OK;
}

static hone_status node_value(json_t **out, reader *r, const yaml_event_t *e, int depth);

static hone_status sequence_value(json_t **out, reader *r, int depth)
{
    yaml_event_t e;
    json_t      *list = json_array(), *item;
    hone_status  st = list ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory while reading %s", r->where);
    bool         end = false;

    while (st == HONE_OK && !end) {
        st = next(r, &e);
        if (st != HONE_OK)
            break;
        end = e.type == YAML_SEQUENCE_END_EVENT;
        if (!end) {
            st = node_value(&item, r, &e, depth);
            if (st == HONE_OK && json_array_append_new(list, item) != 0)
                st = HONE_FAIL(HONE_E_NOMEM, "out of memory while reading %s", r->where);
        }
        yaml_event_delete(&e);
    }
    if (st != HONE_OK) {
        json_decref(list);
        list = NULL;
    }
    *out = list;
    return st;
}

typedef struct entries { json_t *into; option_entry_fn fn; void *arg; } entries;

/* One pair of a mapping whose key is event `e`: into an object, or to the function of the top mapping. */
static hone_status pair_value(reader *r, const yaml_event_t *e, json_t *lines, const entries *to, int depth)
{
    const char  *key = (const char *)e->data.scalar.value;
    json_t      *value = NULL;
    yaml_event_t v;
    hone_status  st;

    HONE_TRY(check_key(r, e, lines));
    HONE_TRY(next(r, &v));
    st = node_value(&value, r, &v, depth);
    yaml_event_delete(&v);
    if (st == HONE_OK && to->fn)
        st = to->fn(to->arg, key, value, (int)e->start_mark.line + 1, (int)e->start_mark.column + 1);
    else if (st == HONE_OK && json_object_set(to->into, key, value) != 0)
        st = HONE_FAIL(HONE_E_NOMEM, "out of memory while reading %s", r->where);
    json_decref(value);
    return st;
}

static hone_status mapping_pairs(reader *r, const entries *to, int depth)
{
    yaml_event_t e;
    json_t      *lines = json_object();
    hone_status  st = lines ? HONE_OK : HONE_FAIL(HONE_E_NOMEM, "out of memory while reading %s", r->where);
    bool         end = false;

    while (st == HONE_OK && !end) {
        st = next(r, &e);
        if (st != HONE_OK)
            break;
        end = e.type == YAML_MAPPING_END_EVENT;
        if (!end)
            st = pair_value(r, &e, lines, to, depth);
        yaml_event_delete(&e);
    }
    json_decref(lines);
    return st;
}

static hone_status keep_anchor(reader *r, const yaml_char_t *anchor, json_t *value, size_t size)
{
    json_t *entry;

    if (!anchor)
        return HONE_OK;
    entry = json_pack("[OI]", value, (json_int_t)size);
    HONE_CHECK(entry && json_object_set_new(r->anchors, (const char *)anchor, entry) == 0, HONE_E_NOMEM,
               "out of memory while reading %s", r->where);
    return HONE_OK;
}

static hone_status node_value(json_t **out, reader *r, const yaml_event_t *e, int depth)
{
    const yaml_char_t *anchor = NULL;
    size_t             before = r->size;
    hone_status        st;

    *out = NULL;
    if (depth >= DEPTH_MAX)
        return FAIL_AT(r, e->start_mark, "nested deeper than %d levels", DEPTH_MAX);
    switch (e->type) {
    case YAML_ALIAS_EVENT: return alias_value(out, r, e);
    case YAML_SCALAR_EVENT:
        anchor = e->data.scalar.anchor;
        st = scalar_value(out, r, e);
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = e->data.sequence_start.anchor;
        st = sequence_value(out, r, depth + 1);
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = e->data.mapping_start.anchor;
        *out = json_object();
        HONE_CHECK(*out, HONE_E_NOMEM, "out of memory while reading %s", r->where);
        st = mapping_pairs(r, &(entries){ *out, NULL, NULL }, depth + 1);
        break;
    default: return FAIL_AT(r, e->start_mark, "a value is missing");
    }
    if (st == HONE_OK)
        st = keep_anchor(r, anchor, *out, r->size - before + 1);
    if (st != HONE_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return st;
}

/* Skip to the first event of the first document; `*empty` when there is none. The caller deletes the event. */
static hone_status open_document(reader *r, yaml_event_t *e, bool *empty)
{
    for (;;) {
        HONE_TRY(next(r, e));
        *empty = e->type == YAML_STREAM_END_EVENT;
        if (*empty || (e->type != YAML_STREAM_START_EVENT && e->type != YAML_DOCUMENT_START_EVENT))
            return HONE_OK;
        yaml_event_delete(e);
    }
}

static hone_status close_document(reader *r)
{
    yaml_event_t e;
    hone_status  st = HONE_OK;
    bool         end = false;

    while (st == HONE_OK && !end) {
        HONE_TRY(next(r, &e));
        end = e.type == YAML_STREAM_END_EVENT;
        if (!end && e.type != YAML_DOCUMENT_END_EVENT)
            st = FAIL_AT(r, e.start_mark, "a configuration is one YAML document; a second one begins here");
        yaml_event_delete(&e);
    }
    return st;
}

static hone_status reader_init(reader *r, const char *text, size_t n, const char *where)
{
    HONE_CHECK(n <= SIZE_MAX_, HONE_E_USAGE, "%s: %zu bytes are too many for a configuration", where, n);
    *r = (reader){ .where = where, .anchors = json_object() };
    if (!r->anchors || !yaml_parser_initialize(&r->parser)) {
        json_decref(r->anchors);
        return HONE_FAIL(HONE_E_NOMEM, "out of memory while reading %s", where);
    }
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, n);
    return HONE_OK;
}

static void reader_deinit(reader *r)
{
    yaml_parser_delete(&r->parser);
    json_decref(r->anchors);
}

hone_status hone_yaml_read(const char *text, size_t n, const char *where, option_entry_fn fn, void *arg)
{
    reader       r;
    yaml_event_t e;
    bool         empty;
    hone_status  st;

    HONE_TRY(reader_init(&r, text, n, where));
    st = open_document(&r, &e, &empty);
    if (st == HONE_OK) {
        if (e.type == YAML_MAPPING_START_EVENT)
            st = mapping_pairs(&r, &(entries){ NULL, fn, arg }, 1);
        else if (!empty && !(e.type == YAML_SCALAR_EVENT && e.data.scalar.length == 0))
            st = FAIL_AT(&r, e.start_mark, "a configuration is a mapping: lines of the form key: value");
        yaml_event_delete(&e);
        if (st == HONE_OK && !empty)
            st = close_document(&r);
    }
    reader_deinit(&r);
    return st;
}

hone_status hone_yaml_value(json_t **out, const char *text, const char *where)
{
    reader       r;
    yaml_event_t e;
    bool         empty;
    hone_status  st;

    *out = NULL;
    HONE_TRY(reader_init(&r, text, strlen(text), where));
    st = open_document(&r, &e, &empty);
    if (st == HONE_OK) {
        st = empty ? HONE_FAIL(HONE_E_USAGE, "%s: a value is missing", where) : node_value(out, &r, &e, 1);
        yaml_event_delete(&e);
        if (st == HONE_OK)
            st = close_document(&r);
        if (st != HONE_OK) {
            json_decref(*out);
            *out = NULL;
        }
    }
    reader_deinit(&r);
    return st;
}
