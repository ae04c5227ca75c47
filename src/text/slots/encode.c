/* Turns to ids: each slot's text is made, and tokenised on its own. */
#include <stdio.h>
#include <string.h>

#include "text/slots/slots_int.h"

/* What one call works with. */
typedef struct job {
    const hone_slots       *s;
    const hone_slots_input *in;
    hone_slots_ids         *out;
    hone_str               *said;       /* [n] a turn's text where it is not the input's own: without thoughts */
    bool                   *changed;    /* [n] */
    hone_str                text;       /* of the slot being written */
    hone_encoding           tokens;
} job;

static hone_turn said(const job *j, size_t i)
{
    const hone_turn *t = &j->in->turns[i];

    return j->changed[i] ? (hone_turn){ t->role, hone_str_c(&j->said[i]), j->said[i].len } : *t;
}

/* ---- thoughts ---- */

/* Remove every thought of a turn, and the newlines that are then at its beginning. */
static hone_status remove_thoughts(job *j, size_t i)
{
    hone_turn   t = said(j, i);
    const char *open = j->s->thought[0], *close = j->s->thought[1], *end = t.text + t.n, *from = t.text, *a, *b;
    hone_str    kept = HONE_STR_INIT, *to = &j->said[i];
    size_t      skip = 0;

    while ((a = memmem(from, (size_t)(end - from), open, strlen(open))) != NULL
           && (b = memmem(a + strlen(open), (size_t)(end - a) - strlen(open), close, strlen(close))) != NULL) {
        hone_str_append(&kept, from, (size_t)(a - from));
        from = b + strlen(close);
    }
    hone_str_append(&kept, from, (size_t)(end - from));
    while (skip < kept.len && kept.data[skip] == '\n')
        skip++;
    hone_str_clear(to);
    hone_str_append(to, hone_str_c(&kept) + skip, kept.len - skip);
    hone_str_deinit(&kept);
    j->changed[i] = true;
    return hone_str_ok(to);
}

/* Whether a thought mark, without the white space around it, stands in a turn. */
static bool has_mark(hone_turn t, const char *mark)
{
    size_t n = strlen(mark);

    while (n && strchr(" \t\n\r", mark[n - 1]))
        n--;
    while (n && strchr(" \t\n\r", *mark))
        mark++, n--;
    return memmem(t.text, t.n, mark, n) != NULL;
}

static hone_status edit_thoughts(job *j, hone_slots_way way)
{
    const hone_slots *s = j->s;
    size_t            n = j->in->n;
    bool              history = way == HONE_SLOTS_LAST || (way == HONE_SLOTS_ONE && !s->preserve_thinking);

    for (size_t i = 1; i < n; i += 2)
        if ((history && i + 2 < n) || (s->enable_thinking == 0 && (way != HONE_SLOTS_ONE || i + 1 == n)))
            HONE_TRY(remove_thoughts(j, i));
    return HONE_OK;
}

/* Whether answer i gets an empty thought. */
static bool needs_thought(const job *j, size_t i, hone_slots_way way)
{
    hone_turn t;

    if (j->s->row->thoughts == SLOT_PLAIN || i % 2 == 0 || i >= j->in->n || (way != HONE_SLOTS_ALL && i + 1 != j->in->n))
        return false;
    t = said(j, i);
    return !has_mark(t, j->s->thought[0]) && !has_mark(t, j->s->thought[1]);
}

static hone_status put_thought(job *j)
{
    const hone_vec_i32 *ids = &j->s->empty_thought;

    for (size_t i = 0; i < ids->len; i++)
        HONE_TRY(HONE_VEC_PUSH(&j->out->ids, ids->data[i]));
    return HONE_OK;
}

/* ---- slots ---- */

/* Tokenise the text of a slot so far. `index`: what the first "{{idx}}" in it becomes, or NULL. */
static hone_status flush(job *j, const char *index)
{
    hone_str   *text = &j->text;
    const char *at = index && text->len ? memmem(text->data, text->len, "{{idx}}", 7) : NULL;

    HONE_TRY(hone_str_ok(text));
    if (at) {
        hone_str with = HONE_STR_INIT;

        hone_str_append(&with, text->data, (size_t)(at - text->data));
        hone_str_puts(&with, index);
        hone_str_append(&with, at + 7, (size_t)(text->data + text->len - at) - 7);
        hone_str_deinit(text);
        *text = with;
        HONE_TRY(hone_str_ok(text));
    }
    j->tokens.len = 0;
    if (text->len)
        HONE_TRY(hone_tokenizer_encode(j->s->tok, &j->tokens, hone_str_c(text), text->len, false));
    for (size_t i = 0; i < j->tokens.len; i++)
        HONE_TRY(HONE_VEC_PUSH(&j->out->ids, j->tokens.data[i].id));
    hone_str_clear(text);
    return HONE_OK;
}

static hone_status put_id(job *j, int32_t id) { return id >= 0 ? HONE_VEC_PUSH(&j->out->ids, id) : HONE_OK; }

/* Write a slot around what is said in it. */
static hone_status put_slot(job *j, const char *slot, const char *content, size_t n, const char *index)
{
    const hone_tokenizer *tok = j->s->tok;

    for (const char *p = slot; *p; p++) {
        if ((unsigned char)*p > *SLOT_END) {
            hone_str_putc(&j->text, *p);
        } else if (*p == *SLOT_IN) {
            hone_str_append(&j->text, content, n);
        } else {
            HONE_TRY(flush(j, index));
            if (*p == *SLOT_BOS)
                HONE_TRY(put_id(j, hone_tokenizer_bos(tok)));
            else if (*p == *SLOT_EOS)
                HONE_TRY(put_id(j, hone_tokenizer_eos(tok)));
            else if (*p == *SLOT_TOK) {
                const char *end = strchr(p, *SLOT_END);

                hone_str_append(&j->text, p + 1, (size_t)(end - p) - 1);
                HONE_TRY(hone_str_ok(&j->text));
                HONE_TRY(put_id(j, hone_tokenizer_id(tok, hone_str_c(&j->text))));
                hone_str_clear(&j->text);
                p = end;
            }
        }
    }
    return flush(j, index);
}

/* The system text: the row's or the default, and the tools behind. `*any`: whether there is a system slot at all. */
static hone_status write_system(const job *j, hone_str *out, bool *any)
{
    const hone_slots_input *in = j->in;

    if (in->system && in->n_system)
        hone_str_append(out, in->system, in->n_system);
    else
        hone_str_puts(out, j->s->default_system);
    *any = out->len > 0 || in->n_tools > 0;
    if (in->tools && in->n_tools)
        HONE_TRY(slot_write_tools(j->s, out, in->tools, in->n_tools));
    return hone_str_ok(out);
}

/* The text of `slot` around the system text: what a first turn begins with where the two are fused. */
static hone_status fuse_system(hone_str *text, const char *slot)
{
    hone_str whole = HONE_STR_INIT;

    for (const char *p = slot; *p; p++)
        if (*p == *SLOT_IN)
            hone_str_append(&whole, hone_str_c(text), text->len);
        else
            hone_str_putc(&whole, *p);
    hone_str_deinit(text);
    *text = whole;
    return hone_str_ok(text);
}

static hone_status put_user(job *j, size_t i, const hone_str *system)
{
    hone_turn   t = said(j, i);
    hone_str    text = HONE_STR_INIT;
    char        index[24];
    hone_status st;

    snprintf(index, sizeof index, "%zu", i / 2);
    if (!j->s->row->fused_system)
        return put_slot(j, j->s->user, t.text, t.n, index);
    if (i > 0 || !system->len)
        return put_slot(j, j->s->user, t.text, t.n, NULL);
    hone_str_append(&text, system->data, system->len);
    hone_str_append(&text, t.text, t.n);
    st = hone_str_ok(&text);
    if (st == HONE_OK)
        st = put_slot(j, j->s->user, hone_str_c(&text), text.len, NULL);
    hone_str_deinit(&text);
    return st;
}

static hone_status put_function(job *j, hone_turn t)
{
    hone_str    text = HONE_STR_INIT;
    hone_status st = slot_write_function(j->s, &text, t.text, t.n, !j->s->row->fused_system);

    if (st == HONE_OK)
        st = hone_str_ok(&text);
    if (st == HONE_OK)
        st = put_slot(j, j->s->function, hone_str_c(&text), text.len, NULL);
    hone_str_deinit(&text);
    return st;
}

static hone_status put_turn(job *j, size_t i, const hone_str *system)
{
    hone_turn t = said(j, i);

    switch (t.role) {
    case HONE_TURN_USER:        return put_user(j, i, system);
    case HONE_TURN_ASSISTANT:   return put_slot(j, j->s->assistant, t.text, t.n, NULL);
    case HONE_TURN_OBSERVATION: return put_slot(j, j->s->observation, t.text, t.n, NULL);
    case HONE_TURN_FUNCTION:    return put_function(j, t);
    }
    return HONE_FAIL(HONE_E_INTERNAL, "no such role");
}

static hone_status put_head(job *j, hone_str *system)
{
    bool any;

    HONE_TRY(put_slot(j, j->s->prefix, "", 0, NULL));
    HONE_TRY(write_system(j, system, &any));
    if (any && j->s->row->fused_system)
        return fuse_system(system, j->s->system);
    if (any)
        HONE_TRY(put_slot(j, j->s->system, hone_str_c(system), system->len, NULL));
    hone_str_clear(system);
    return HONE_OK;
}

static hone_status encode(job *j, hone_slots_way way)
{
    bool        trained = j->s->enable_thinking == 1;       /* where an empty thought goes: to the answer, or the prompt */
    hone_str    system = HONE_STR_INIT;
    hone_status st = HONE_OK;

    if (j->s->row->thoughts != SLOT_PLAIN)
        HONE_GO(edit_thoughts(j, way));
    for (size_t i = 0; i < j->in->n; i++) {
        if (trained && needs_thought(j, i, way))
            HONE_GO(put_thought(j));
        if (i == 0)
            HONE_GO(put_head(j, &system));
        HONE_GO(put_turn(j, i, &system));
        if (!trained && needs_thought(j, i + 1, way))
            HONE_GO(put_thought(j));
        HONE_GO(HONE_VEC_PUSH(&j->out->ends, (int64_t)j->out->ids.len));
    }
out:
    hone_str_deinit(&system);
    return st;
}

hone_status hone_slots_encode(const hone_slots *s, hone_slots_ids *out, const hone_slots_input *in, hone_slots_way way)
{
    job         j = { .s = s, .in = in, .out = out };
    hone_status st = HONE_OK;

    out->ids.len = out->ends.len = 0;
    HONE_CHECK(in->n > 0 && in->n % 2 == 0, HONE_E_DATA, "%zu turns are no pairs of prompt and answer", in->n);
    j.said = hone_calloc(in->n, sizeof *j.said);
    j.changed = hone_calloc(in->n, sizeof *j.changed);
    HONE_GO(j.said && j.changed ? HONE_OK : HONE_E_NOMEM);
    HONE_GO(encode(&j, way));
out:
    for (size_t i = 0; j.said && i < in->n; i++)
        hone_str_deinit(&j.said[i]);
    hone_free(j.said);
    hone_free(j.changed);
    hone_str_deinit(&j.text);
    HONE_VEC_DEINIT(&j.tokens);
    return st;
}

void hone_slots_ids_deinit(hone_slots_ids *ids)
{
    HONE_VEC_DEINIT(&ids->ids);
    HONE_VEC_DEINIT(&ids->ends);
}
