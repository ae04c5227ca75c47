/* Compiling and rendering templates; the functions that templates may call. */
#include "text/template.h"

#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "text/template/ast.h"

/* ---- functions ---- */
#define FUNCTION(name) \
    static hone_status name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call)
#define UNUSED(x) ((void)(x))

enum { MAX_RANGE = 100000 };    /* as jinja2's sandbox */

FUNCTION(range)
{
    int64_t    from = 0, to, step;
    tpl_range *r;
    uint64_t   len, by;

    UNUSED(self); UNUSED(call);
    HONE_TRY(tpl_arg_int(rt, &to, a[1].kind == TPL_MISSING ? a[0] : a[1], 0, "stop"));
    if (a[1].kind != TPL_MISSING)
        HONE_TRY(tpl_arg_int(rt, &from, a[0], 0, "start"));
    HONE_TRY(tpl_arg_int(rt, &step, a[2], 1, "step"));
    TPL_CHECK(step != 0, rt, "range() arg 3 must not be zero");
    by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    len = step > 0 ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
    len = (step > 0 ? from < to : from > to) ? (len - 1) / by + 1 : 0;
    TPL_CHECK(len <= MAX_RANGE, rt, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", MAX_RANGE);
    TPL_ALLOC(r, rt, 1);
    *r = (tpl_range){ from, to, step, (int64_t)len };
    *out = (tpl_value){ .kind = TPL_RANGE, .u.r = r };
    return HONE_OK;
}

/* dict(mapping or pairs, name=value …) */
FUNCTION(make_dict)
{
    tpl_dict *d;

    UNUSED(self); UNUSED(a);
    TPL_CHECK(call->nargs <= 1, rt, "dict expected at most 1 argument, got %u", call->nargs);
    HONE_TRY(tpl_new_dict(rt, &d, 0));
    if (call->nargs && call->args[0].kind == TPL_DICT) {
        const tpl_dict *from = call->args[0].u.d;

        for (uint32_t i = 0; i < from->len; i++)
            HONE_TRY(tpl_dict_put(rt, d, from->keys[i], from->values[i]));
        d->msg = from->msg;
    } else if (call->nargs) {
        tpl_list *pairs, *pair;

        HONE_TRY(tpl_to_list(rt, &pairs, call->args[0]));
        for (uint32_t i = 0; i < pairs->len; i++) {
            HONE_TRY(tpl_to_list(rt, &pair, pairs->items[i]));
            TPL_CHECK(pair->len == 2, rt, "dictionary update sequence element #%u has length %u; 2 is required", i, pair->len);
            HONE_TRY(tpl_dict_put(rt, d, pair->items[0], pair->items[1]));
        }
    }
    for (uint32_t i = 0; i < call->nkw; i++)
        HONE_TRY(tpl_dict_put(rt, d, tpl_string(call->names[i]), call->kwargs[i]));
    *out = tpl_dict_value(d);
    return HONE_OK;
}

FUNCTION(namespace)
{
    HONE_TRY(make_dict(rt, out, self, a, call));
    for (uint32_t i = 0; i < out->u.d->len; i++)
        TPL_CHECK(out->u.d->keys[i].kind != TPL_STR || !out->u.d->keys[i].u.s->len || out->u.d->keys[i].u.s->data[0] != '_',
                  rt, "a namespace has no attributes that begin with '_'");
    out->u.d->msg = -1;
    out->kind = TPL_NAMESPACE;
    return HONE_OK;
}

static hone_status new_cycler(tpl_rt *rt, tpl_value *out, tpl_kind kind, tpl_list *items)
{
    tpl_cycler *c;

    TPL_ALLOC(c, rt, 1);
    *c = (tpl_cycler){ .items = items };
    *out = (tpl_value){ .kind = (uint8_t)kind, .u.cycler = c };
    return HONE_OK;
}

FUNCTION(cycler)
{
    tpl_list *l;

    UNUSED(self); UNUSED(a);
    TPL_CHECK(call->nargs && !call->nkw, rt, "at least one item has to be provided");
    HONE_TRY(tpl_new_list(rt, &l, call->nargs));
    for (uint32_t i = 0; i < call->nargs; i++)
        l->items[l->len++] = call->args[i];
    return new_cycler(rt, out, TPL_CYCLER, l);
}

FUNCTION(joiner)
{
    static const tpl_str comma = { .data = ", ", .len = 2, .chars = 2 };
    tpl_list *l;

    UNUSED(self); UNUSED(call);
    HONE_TRY(tpl_new_list(rt, &l, 1));
    l->items[l->len++] = a[0].kind == TPL_MISSING ? tpl_string(&comma) : a[0];
    return new_cycler(rt, out, TPL_JOINER, l);
}

FUNCTION(lipsum)
{
    UNUSED(self); UNUSED(a); UNUSED(call); UNUSED(out);
    return tpl_fail(rt, HONE_E_UNSUPPORTED, "the function 'lipsum' is not supported: a prompt must not depend on chance");
}

FUNCTION(raise_exception)
{
    const tpl_str *s;

    UNUSED(self); UNUSED(call); UNUSED(out);
    HONE_TRY(tpl_to_str(rt, &s, a[0]));
    return TPL_FAIL(rt, "%.*s", (int)HONE_MIN(s->len, 500u), s->data);
}

/* The format with what strftime lacks put in: %f, the microseconds; %z and %Z, empty for a time without a zone. */
static hone_status date_format(hone_str *out, const tpl_str *s, long microseconds)
{
    for (size_t i = 0; i < s->len; i++) {
        char c = s->data[i], next = i + 1 < s->len ? s->data[i + 1] : 0;

        if (c == '%' && next == 'f')
            hone_str_printf(out, "%06ld", microseconds);
        else if (c == '%' && next && next != 'z' && next != 'Z')
            hone_str_append(out, s->data + i, 2);
        else if (c != '%' || !next)
            hone_str_putc(out, c);
        i += c == '%' && next;
    }
    return hone_str_ok(out);
}

FUNCTION(strftime_now)
{
    const tpl_str  *s;
    hone_str        format = HONE_STR_INIT, text = HONE_STR_INIT;
    struct timespec now;
    struct tm       tm;
    hone_status     st;

    UNUSED(self); UNUSED(call);
    HONE_TRY(tpl_arg_str(rt, &s, a[0], NULL, "format"));
    TPL_CHECK(s->len < 4096 && !(s->len && memchr(s->data, '\0', s->len)), rt, "the date format is too long");
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    HONE_GO(date_format(&format, s, now.tv_nsec / 1000));
    if (hone_str_reserve(&text, 16 * format.len + 256))     /* %c, the longest of two characters, has some 30 */
        text.len = strftime(text.data, text.cap, hone_str_c(&format), &tm);
    HONE_GO(hone_str_ok(&text));
    HONE_GO_CHECK(hone_utf8_valid_prefix(hone_str_c(&text), text.len) == text.len, HONE_E_DATA, "the date is no UTF-8");
    st = tpl_new_str(rt, out, hone_str_c(&text), text.len);
out:
    hone_str_deinit(&format);
    hone_str_deinit(&text);
    return st;
}

static const tpl_builtin functions[] = {
    { "dict", "*", 0, make_dict, 0 }, { "range", "-start -stop -step", 1, range, 0 }, { "namespace", "*", 0, namespace, 0 },
    { "raise_exception", "message", 1, raise_exception, 0 }, { "strftime_now", "format", 1, strftime_now, 0 },
    { "cycler", "*", 0, cycler, 0 }, { "joiner", "sep", 0, joiner, 0 }, { "lipsum", "*", 0, lipsum, 0 },
};

const tpl_builtin *tpl_dict_function(void) { return &functions[0]; }

const tpl_builtin *tpl_find_function(const tpl_str *name)
{
    return tpl_find_in(functions, HONE_COUNTOF(functions), name);
}

/* ---- compiling ---- */
/* The source with "\n" for all line ends and without one at the end, as jinja2 reads it. */
static hone_status normalise(hone_template *t, const char *source, size_t n)
{
    size_t good = hone_utf8_valid_prefix(source, n);

    HONE_CHECK(n < INT32_MAX, HONE_E_FORMAT, "%s: a template of %zu bytes is too long", t->name, n);
    t->source = hone_calloc(n + 1, 1);
    if (!t->source)
        return HONE_E_NOMEM;
    for (size_t i = 0; i < good; i++) {
        if (source[i] == '\r' && i + 1 < n && source[i + 1] == '\n')
            continue;
        t->source[t->len++] = source[i] == '\r' ? '\n' : source[i];
    }
    if (good < n)
        return tpl_syntax(t, HONE_E_FORMAT, (uint32_t)t->len, "invalid UTF-8: byte 0x%02x", (unsigned char)source[good]);
    if (t->len && t->source[t->len - 1] == '\n')
        t->source[--t->len] = '\0';
    return HONE_OK;
}

static int32_t number_of(const hone_template *t, const char *name)
{
    return (int32_t)hone_map_get(t->names, name, strlen(name), -1);
}

hone_status hone_template_compile(hone_template **out, const char *source, size_t n, const char *name)
{
    hone_status    st = HONE_OK;
    hone_template *t = hone_calloc(1, sizeof *t);
    tpl_tokens     tokens = { 0 };

    *out = NULL;
    if (!t)
        return HONE_E_NOMEM;
    t->name = hone_strdup(name);
    HONE_GO_CHECK(t->name, HONE_E_NOMEM, "out of memory");
    HONE_GO(normalise(t, source, n));
    HONE_GO(hone_map_create(&t->names));
    HONE_GO(tpl_lex(t, &tokens));
    HONE_GO(tpl_parse(t, &tokens));
    HONE_GO(tpl_find_missing(t));
    t->loop_name = number_of(t, "loop");
    t->caller_name = number_of(t, "caller");
    t->varargs_name = number_of(t, "varargs");
    t->kwargs_name = number_of(t, "kwargs");
    *out = t;
    t = NULL;
out:
    HONE_VEC_DEINIT(&tokens);
    hone_template_destroy(&t);
    return st;
}

void hone_template_destroy(hone_template **t)
{
    if (!*t)
        return;
    hone_free((*t)->name);
    hone_free((*t)->source);
    hone_map_destroy(&(*t)->names);
    tpl_arena_deinit(&(*t)->arena);
    hone_free(*t);
    *t = NULL;
}

bool hone_template_has_generation(const hone_template *t) { return t->generation; }

/* ---- rendering ---- */
static hone_status messages_value(tpl_rt *rt, tpl_value *out, const json_t *messages)
{
    tpl_list *l;
    size_t    i;
    json_t   *item;

    HONE_TRY(tpl_new_list(rt, &l, json_array_size(messages)));
    json_array_foreach(messages, i, item)
        HONE_TRY(tpl_from_json(rt, &l->items[l->len++], item, (int32_t)i));
    *out = tpl_list_value(l);
    return HONE_OK;
}

static hone_status set_variables(tpl_rt *rt, const json_t *vars)
{
    const char *key;
    json_t     *item;

    json_object_foreach((json_t *)vars, key, item) {
        int32_t   name = number_of(rt->t, key);
        tpl_value v;

        if (name < 0)
            continue;
        if (strcmp(key, "messages") == 0 && json_is_array(item))
            HONE_TRY(messages_value(rt, &v, item));
        else
            HONE_TRY(tpl_from_json(rt, &v, item, -1));
        HONE_TRY(tpl_set_var(rt, name, v));
    }
    return HONE_OK;
}

static hone_status copy_output(hone_template_output *out, const tpl_buf *b)
{
    hone_str_append(&out->text, b->data, b->len);
    HONE_TRY(hone_str_ok(&out->text));
    HONE_TRY(HONE_VEC_RESERVE(&out->spans, b->nseg));
    for (size_t i = 0; i < b->nseg; i++)
        out->spans.data[out->spans.len++] = (hone_template_span){
            .end = b->segs[i].end, .source = b->segs[i].source, .work = b->segs[i].work, .role = b->segs[i].role,
            .generation = b->segs[i].generation
        };
    return HONE_OK;
}

hone_status hone_template_render(const hone_template *t, hone_template_output *out, const json_t *const *vars, size_t n_vars,
                                 const hone_template_limits *limits)
{
    hone_status st = HONE_OK;
    tpl_buf     text = { 0 };
    tpl_scope   root = { 0 };
    tpl_rt      rt = { .t = t, .out = &text, .scope = &root, .work = -1 };

    if (limits)
        rt.limits = *limits;
    rt.limits.steps = rt.limits.steps ? rt.limits.steps : 20 * 1000 * 1000;
    rt.limits.memory = rt.limits.memory ? rt.limits.memory : (size_t)512 << 20;
    rt.limits.output = rt.limits.output ? rt.limits.output : (size_t)64 << 20;
    rt.arena.limit = rt.limits.memory;
    hone_str_clear(&out->text);
    out->spans.len = 0;
    for (size_t i = 0; i < n_vars; i++)
        if (vars[i])
            HONE_GO(set_variables(&rt, vars[i]));
    HONE_GO(tpl_exec_scoped(&rt, &t->body, &t->missing));
    HONE_GO(copy_output(out, &text));
out:
    tpl_arena_deinit(&rt.arena);
    return st;
}

void hone_template_output_deinit(hone_template_output *out)
{
    hone_str_deinit(&out->text);
    HONE_VEC_DEINIT(&out->spans);
}
