/* Binding a named template to a tokenizer. */
#include <string.h>
#include <time.h>

#include "text/slots/slots_int.h"

static hone_status find_row(const slot_row **out, const char *name)
{
    const char *names[200], *near;
    size_t      n = HONE_MIN(slot_row_count, HONE_COUNTOF(names));

    for (size_t i = 0; i < slot_row_count; i++)
        if (strcmp(slot_rows[i].name, name) == 0) {
            *out = &slot_rows[i];
            return HONE_OK;
        }
    HONE_CHECK(strncmp(name, "paligemma", 9) != 0, HONE_E_UNSUPPORTED, "template: %s writes images, and hone trains on text "
               "so far", name);
    for (size_t i = 0; i < n; i++)
        names[i] = slot_rows[i].name;
    near = hone_nearest_name(name, names, n);
    return HONE_FAIL(HONE_E_USAGE, "template: %.100s is no template that hone knows%s%s%s; leave template out to use the "
                     "chat template that the model brings (docs/data.md lists the names)", name, near ? " (did you mean " : "",
                     near ? near : "", near ? "?)" : "");
}

static hone_status find_format(const slot_tool_format **out, const char *name)
{
    hone_str    known = HONE_STR_INIT;
    hone_status st;

    for (size_t i = 0; i < slot_tool_format_count; i++)
        if (strcmp(slot_tool_formats[i].name, name) == 0) {
            *out = &slot_tool_formats[i];
            return HONE_OK;
        }
    for (size_t i = 0; i < slot_tool_format_count; i++)
        hone_str_printf(&known, "%s%s", i ? ", " : "", slot_tool_formats[i].name);
    st = HONE_FAIL(HONE_E_USAGE, "tool_format: %.100s is none of %s", name, hone_str_c(&known));
    hone_str_deinit(&known);
    return st;
}

/* Slots of the row, and what stands for those that it leaves out. */
static hone_status fill(hone_slots *s, const slot_row *row, const hone_slots_options *o)
{
    const char *answer = row->efficient_eos ? SLOT_IN : SLOT_IN SLOT_EOS;

    s->row = row;
    s->prefix = row->prefix ? row->prefix : "";
    s->user = row->user ? row->user : SLOT_IN;
    s->system = row->system ? row->system : SLOT_IN;
    s->assistant = row->assistant ? row->assistant : answer;
    s->observation = row->observation ? row->observation : s->user;
    s->function = row->function ? row->function : s->assistant;
    s->tools_raw = row->tools_raw;
    HONE_TRY(find_format(&s->tools, row->tools ? row->tools : "default"));
    if (o->tool_format) {               /* another format takes the template's end of a turn with it */
        HONE_TRY(find_format(&s->tools, o->tool_format));
        s->function = answer;
        s->tools_raw = NULL;
    }
    s->thought[0] = row->thought[0] ? row->thought[0] : "<think>\n";
    s->thought[1] = row->thought[1] ? row->thought[1] : "\n</think>\n\n";
    s->call[0] = row->call[0] ? row->call[0] : "<tool_call>";
    s->call[1] = row->call[1] ? row->call[1] : "</tool_call>";
    s->enable_thinking = o->enable_thinking;
    s->preserve_thinking = o->preserve_thinking && row->thoughts != SLOT_PLAIN;
    s->default_system = hone_strdup(o->default_system ? o->default_system : row->default_system ? row->default_system : "");
    return s->default_system ? HONE_OK : HONE_E_NOMEM;
}

static hone_status set_date(hone_slots *s, const char *date)
{
    static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
    time_t    now = time(NULL);
    struct tm t;

    if (strcmp(s->tools->name, "llama3") != 0)
        return HONE_OK;
    localtime_r(&now, &t);
    s->date = date ? hone_strdup(date) : hone_asprintf("%02d %s %d", t.tm_mday, months[t.tm_mon], t.tm_year + 1900);
    return s->date ? HONE_OK : HONE_E_NOMEM;
}

/* Make a token special, and add it if the vocabulary lacks it. */
static hone_status add_token(hone_slots *s, hone_tokenizer *tok, const char *content, int32_t *id)
{
    bool known = hone_tokenizer_id(tok, content) >= 0;

    HONE_TRY(hone_tokenizer_add(tok, &content, 1, true));
    *id = hone_tokenizer_id(tok, content);
    return known ? HONE_OK : HONE_VEC_PUSH(&s->added, *id);
}

static hone_status set_eos(hone_slots *s, hone_tokenizer *tok, const char *content)
{
    const char *eos = hone_tokenizer_content(tok, hone_tokenizer_eos(tok));
    int32_t     id;

    if (eos && strcmp(eos, content) == 0)
        return HONE_OK;
    HONE_TRY(add_token(s, tok, content, &id));
    hone_tokenizer_set_eos(tok, id);
    return HONE_OK;
}

/* In the reference's order, on which the ids of tokens that are added depend. */
static hone_status bind_tokens(hone_slots *s, hone_tokenizer *tok)
{
    const slot_row *row = s->row;
    int32_t         id;

    if (row->replace_eos)
        HONE_TRY(set_eos(s, tok, row->stop[0]));
    if (hone_tokenizer_eos(tok) < 0)
        HONE_TRY(set_eos(s, tok, "<|endoftext|>"));
    if (hone_tokenizer_pad(tok) < 0)
        hone_tokenizer_set_pad(tok, hone_tokenizer_eos(tok));
    HONE_TRY(HONE_VEC_PUSH(&s->stops, hone_tokenizer_eos(tok)));
    for (size_t i = row->replace_eos; i < HONE_COUNTOF(row->stop) && row->stop[i]; i++) {
        HONE_TRY(add_token(s, tok, row->stop[i], &id));
        if (id != s->stops.data[0])
            HONE_TRY(HONE_VEC_PUSH(&s->stops, id));
    }
    return HONE_OK;
}

/* Tokens that a slot names by themselves must exist: no text can stand for them. */
static hone_status check_slot(const hone_slots *s, const char *slot)
{
    const char *begin = slot, *end;

    while ((begin = strstr(begin, SLOT_TOK)) != NULL && (end = strstr(++begin, SLOT_END)) != NULL) {
        char *content = hone_strndup(begin, (size_t)(end - begin));
        bool  known = content && hone_tokenizer_id(s->tok, content) >= 0;

        if (!known) {
            hone_status st = HONE_FAIL(HONE_E_DATA, "template: %s needs the token \"%s\", which the vocabulary of this model "
                                       "lacks; it is a template of another model", s->row->name, content ? content : "?");

            hone_free(content);
            return st;
        }
        hone_free(content);
    }
    return HONE_OK;
}

static hone_status bind_thought(hone_slots *s)
{
    hone_encoding tokens = { NULL, 0, 0 };
    hone_str      text = HONE_STR_INIT;
    hone_status   st = HONE_OK;

    if (s->row->thoughts == SLOT_PLAIN)
        return HONE_OK;
    hone_str_puts(&text, s->row->thoughts == SLOT_THOUGHTS ? s->thought[0] : "");
    hone_str_puts(&text, s->thought[1]);
    HONE_GO(hone_str_ok(&text));
    HONE_GO(hone_tokenizer_encode(s->tok, &tokens, hone_str_c(&text), text.len, false));
    for (size_t i = 0; i < tokens.len; i++)
        HONE_GO(HONE_VEC_PUSH(&s->empty_thought, tokens.data[i].id));
out:
    hone_str_deinit(&text);
    HONE_VEC_DEINIT(&tokens);
    return st;
}

hone_status hone_slots_create(hone_slots **out, hone_tokenizer *tok, const hone_slots_options *o)
{
    const slot_row *row;
    hone_slots     *s = NULL;
    hone_status     st = HONE_OK;

    *out = NULL;
    HONE_GO(find_row(&row, o->name));
    s = hone_calloc(1, sizeof *s);
    HONE_GO(s ? HONE_OK : HONE_E_NOMEM);
    s->tok = tok;
    HONE_GO(fill(s, row, o));
    HONE_GO(set_date(s, o->date));
    HONE_GO(bind_tokens(s, tok));
    for (size_t i = 0; i < 6; i++)
        HONE_GO(check_slot(s, (const char *const[]){ s->prefix, s->user, s->system, s->assistant, s->observation,
                                                     s->function }[i]));
    HONE_GO(bind_thought(s));
out:
    if (st != HONE_OK)
        hone_slots_destroy(&s);
    *out = s;
    return st;
}

void hone_slots_destroy(hone_slots **slots)
{
    hone_slots *s = *slots;

    if (!s)
        return;
    hone_free(s->default_system);
    hone_free(s->date);
    HONE_VEC_DEINIT(&s->added);
    HONE_VEC_DEINIT(&s->stops);
    HONE_VEC_DEINIT(&s->empty_thought);
    hone_free(s);
    *slots = NULL;
}

const char *hone_slots_name(const hone_slots *s) { return s->row->name; }
bool        hone_slots_efficient_eos(const hone_slots *s) { return s->row->efficient_eos; }
bool        hone_slots_media(const hone_slots *s) { return s->row->media; }
const char *hone_slots_date(const hone_slots *s) { return s->date; }

const int32_t *hone_slots_added(const hone_slots *s, size_t *n)
{
    *n = s->added.len;
    return s->added.data;
}

const int32_t *hone_slots_stops(const hone_slots *s, size_t *n)
{
    *n = s->stops.len;
    return s->stops.data;
}
