/* What turns text into tokens in a run: the tokenizer, and the template that writes conversations. */
#include "base/file.h"
#include "data/dataset.h"

/* Tokens that the options add, and how they are found. */
static hone_status change_tokenizer(hone_tokenizer *tok, const hone_options *o)
{
    const hone_strings *plain = &o->add_tokens, *special = &o->add_special_tokens;

    if (plain->n)
        HONE_TRY(hone_tokenizer_add(tok, (const char *const *)plain->v, plain->n, false));
    if (special->n)
        HONE_TRY(hone_tokenizer_add(tok, (const char *const *)special->v, special->n, true));
    return o->split_special_tokens ? hone_tokenizer_set_split_special(tok, true) : HONE_OK;
}

static hone_status open_slots(hone_slots **out, hone_tokenizer *tok, const hone_options *o)
{
    hone_slots_options options = { .name = o->template, .tool_format = o->tool_format, .default_system = o->default_system,
                                   .enable_thinking = o->enable_thinking, .preserve_thinking = o->preserve_thinking,
                                   .date = o->tool_date };

    HONE_TRY(hone_slots_create(out, tok, &options));
    if (!o->train_on_prompt || !hone_slots_efficient_eos(*out))
        return HONE_OK;
    hone_slots_destroy(out);
    return HONE_FAIL(HONE_E_USAGE, "train_on_prompt does not go with template: %s, whose answers end with the next turn: a "
                     "prompt's first token is where the end of the answer before it is learned", o->template);
}

hone_status hone_dataset_open_text(hone_tokenizer **tokenizer, hone_chat **chat, hone_slots **slots, const char *dir,
                                   const hone_options *o)
{
    hone_status st;

    *tokenizer = NULL;
    *chat = NULL;
    *slots = NULL;
    if (!hone_tokenizer_is_in(dir))
        return HONE_OK;
    HONE_TRY(hone_tokenizer_load(tokenizer, dir));
    HONE_GO(change_tokenizer(*tokenizer, o));
    if (o->template) {
        HONE_GO(open_slots(slots, *tokenizer, o));
    } else if (o->stage != HONE_STAGE_PT) {
        st = hone_chat_load(chat, dir, *tokenizer);
        if (st == HONE_E_DATA) {        /* no template: rows of messages will say so, others need none */
            hone_status_clear();
            st = HONE_OK;
        }
        HONE_GO(st);
    }
out:
    if (st != HONE_OK)
        hone_tokenizer_destroy(tokenizer);
    return st;
}
