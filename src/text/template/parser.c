/* What both halves of the parser use: nodes, names, and the tokens at hand. */
#include <stdio.h>

#include "text/template/ast.h"

hone_status tpl_new_node(tpl_parser *p, tpl_node **out, tpl_node_type type, uint32_t pos)
{
    tpl_node *n = tpl_arena_alloc(&p->t->arena, sizeof *n);

    *out = n;
    if (!n)
        return HONE_E_NOMEM;
    *n = (tpl_node){ .type = type, .pos = pos };
    return HONE_OK;
}

hone_status tpl_nodes_push(tpl_parser *p, tpl_nodes *v, tpl_node *n)
{
    if (v->len == v->cap) {
        uint32_t   cap = v->cap ? v->cap * 2 : 4;
        tpl_node **grown = tpl_arena_grow(&p->t->arena, v->items, v->cap * sizeof *grown, cap * sizeof *grown);

        if (!grown)
            return HONE_E_NOMEM;
        v->items = grown;
        v->cap = cap;
    }
    v->items[v->len++] = n;
    return HONE_OK;
}

bool tpl_at_op(const tpl_parser *p, int op) { return p->tok->type == TPL_TOK_OP && p->tok->op == op; }

bool tpl_at_name(const tpl_parser *p, const char *name)
{
    return p->tok->type == TPL_TOK_NAME && tpl_str_is(p->tok->text, name);
}

bool tpl_skip_op(tpl_parser *p, int op)
{
    bool yes = tpl_at_op(p, op);

    p->tok += yes;
    return yes;
}

bool tpl_skip_name(tpl_parser *p, const char *name)
{
    bool yes = tpl_at_name(p, name);

    p->tok += yes;
    return yes;
}

const char *tpl_describe(const tpl_token *tok, char buf[80])
{
    switch (tok->type) {
    case TPL_TOK_EOF:       return "the end of the template";
    case TPL_TOK_DATA:      return "text";
    case TPL_TOK_VAR_BEGIN: return "'{{'";
    case TPL_TOK_VAR_END:   return "'}}'";
    case TPL_TOK_BLOCK_BEGIN: return "'{%'";
    case TPL_TOK_BLOCK_END: return "'%}'";
    case TPL_TOK_NAME:
        snprintf(buf, 80, "'%.*s'", (int)HONE_MIN(tok->text->len, 60u), tok->text->data);
        return buf;
    case TPL_TOK_STRING:    return "a string";
    case TPL_TOK_INT: case TPL_TOK_FLOAT: return "a number";
    case TPL_TOK_OP:
        snprintf(buf, 80, "'%c%c'", tok->op & 0xFF, tok->op >> 8);
        if (!(tok->op >> 8))
            snprintf(buf, 80, "'%c'", tok->op);
        return buf;
    }
    return "something else";
}

hone_status tpl_unexpected(tpl_parser *p, const char *wanted)
{
    char buf[80];

    return tpl_syntax(p->t, HONE_E_FORMAT, p->tok->pos, "expected %s, got %s", wanted, tpl_describe(p->tok, buf));
}

hone_status tpl_expect_op(tpl_parser *p, int op)
{
    char      buf[80];
    tpl_token want = { .type = TPL_TOK_OP, .op = op };

    return tpl_skip_op(p, op) ? HONE_OK : tpl_unexpected(p, tpl_describe(&want, buf));
}

hone_status tpl_expect_name(tpl_parser *p, const tpl_str **out)
{
    if (p->tok->type != TPL_TOK_NAME)
        return tpl_unexpected(p, "a name");
    *out = (p->tok++)->text;
    return HONE_OK;
}

hone_status tpl_name_id(tpl_parser *p, int32_t *out, const tpl_str *name)
{
    int64_t id = hone_map_get(p->t->names, name->data, name->len, -1);

    if (id < 0) {
        const tpl_str **texts;

        id = (int64_t)hone_map_len(p->t->names);
        texts = tpl_arena_more(&p->t->arena, p->t->name_texts, (size_t)id, sizeof *texts);
        if (!texts)
            return HONE_E_NOMEM;
        texts[id] = name;
        p->t->name_texts = texts;
        HONE_TRY(hone_map_put(p->t->names, name->data, name->len, id));
    }
    *out = (int32_t)id;
    return HONE_OK;
}

hone_status tpl_unknown_builtin(const hone_template *t, const tpl_node *n)
{
    return tpl_syntax(t, HONE_E_UNSUPPORTED, n->pos, "there is no %s '%.*s' in the template language",
                      n->type == TPL_N_FILTER ? "filter" : "test", (int)HONE_MIN(n->text->len, 80u), n->text->data);
}
