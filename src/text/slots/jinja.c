/* A named template as a chat template, for models that bring none. */
#include <string.h>

#include "text/slots/slots_int.h"

/* Append text[0..n) as a string of the template language, and what joins it to the next. */
static void put_string(hone_str *out, const char *text, size_t n)
{
    if (!n)
        return;
    hone_str_putc(out, '\'');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n')
            hone_str_puts(out, "\\n");
        else if (text[i] == '\'' || text[i] == '\\')
            hone_str_printf(out, "\\%c", text[i]);
        else
            hone_str_putc(out, text[i]);
    }
    hone_str_puts(out, "' ~ ");
}

static void put_token(hone_str *out, const hone_tokenizer *tok, int32_t id)
{
    const char *content = id >= 0 ? hone_tokenizer_content(tok, id) : NULL;

    if (content)
        put_string(out, content, strlen(content));
}

/* Append a slot as an expression; `in` is what is said in it. */
static void put_slot(hone_str *out, const hone_slots *s, const char *slot, const char *in)
{
    const char *from = slot, *p = slot;

    for (; *p; p++) {
        if ((unsigned char)*p > *SLOT_END)
            continue;
        put_string(out, from, (size_t)(p - from));      /* of a token that is looked up, its content is the text */
        if (*p == *SLOT_IN)
            hone_str_printf(out, "%s ~ ", in);
        else if (*p == *SLOT_BOS)
            put_token(out, s->tok, hone_tokenizer_bos(s->tok));
        else if (*p == *SLOT_EOS)
            put_token(out, s->tok, hone_tokenizer_eos(s->tok));
        from = p + 1;
    }
    put_string(out, from, (size_t)(p - from));
    hone_str_puts(out, "''");
}

static void put_turn(hone_str *out, const hone_slots *s, const char *test, const char *role, const char *slot)
{
    hone_str_printf(out, "    {%%- %s message['role'] == '%s' %%}{{- ", test, role);
    put_slot(out, s, slot, "content");
    hone_str_puts(out, " }}\n");
}

hone_status hone_slots_chat_template(const hone_slots *s, hone_str *out)
{
    bool fused = s->row->fused_system;

    hone_str_puts(out, "{{- ");
    put_slot(out, s, s->prefix, "''");
    hone_str_puts(out, " }}\n{%- set turns = messages %}{%- set default = ");
    put_string(out, s->default_system, strlen(s->default_system));
    hone_str_puts(out, "'' %}{%- set system = default %}\n"
                       "{%- if messages[0]['role'] == 'system' %}{%- set turns = messages[1:] %}"
                       "{%- set system = messages[0]['content'] or default %}{%- endif %}\n");
    if (!fused) {
        hone_str_puts(out, "{%- if system %}{{- ");
        put_slot(out, s, s->system, "system");
        hone_str_puts(out, " }}{%- endif %}\n");
    }
    hone_str_puts(out, "{%- for message in turns %}\n    {%- set content = message['content'] %}\n");
    if (fused) {
        hone_str_puts(out, "    {%- if loop.first and system and message['role'] == 'user' %}{%- set content = ");
        put_slot(out, s, s->system, "system");
        hone_str_puts(out, " ~ content %}{%- endif %}\n");
    }
    put_turn(out, s, "if", "user", s->user);
    put_turn(out, s, "elif", "assistant", s->assistant);
    put_turn(out, s, "elif", "tool", s->observation);
    hone_str_puts(out, "    {%- else %}{{- raise_exception('unknown role ' ~ message['role']) }}\n    {%- endif %}\n{%- endfor %}\n");
    return hone_str_ok(out);
}
