/* Statements of the template language. */
#include <stdio.h>
#include <string.h>

#include "text/template/ast.h"

static hone_status parse_body(tpl_parser *p, tpl_nodes *body, const char *const *ends, int *which);

static hone_status end_of_tag(tpl_parser *p)
{
    char buf[80];

    if (p->tok->type != TPL_TOK_BLOCK_END)
        return tpl_syntax(p->t, HONE_E_FORMAT, p->tok->pos, "expected '%%}', got %s", tpl_describe(p->tok, buf));
    p->tok++;
    return HONE_OK;
}

/* The statements up to the tag named by one of `ends` (NULL-terminated), whose name is consumed and number returned. */
static hone_status parse_block(tpl_parser *p, tpl_nodes *body, int *which, const char *const *ends, bool branch)
{
    const tpl_token *begin = p->tok;
    bool             outer = p->branch;

    tpl_skip_op(p, ':');
    HONE_TRY(end_of_tag(p));
    if (++p->depth > TPL_MAX_NESTING)
        return tpl_syntax(p->t, HONE_E_FORMAT, begin->pos, "nested more than %d deep", TPL_MAX_NESTING);
    p->branch = branch;
    HONE_TRY(parse_body(p, body, ends, which));
    p->branch = outer;
    p->depth--;
    if (*which < 0) {
        char   text[120];
        size_t n = 0;

        for (size_t i = 0; ends[i]; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s'%s'", i ? " or " : "", ends[i]);
        return tpl_syntax(p->t, HONE_E_FORMAT, begin->pos, "the template ends before this block's %s", text);
    }
    return HONE_OK;
}

static hone_status block_until(tpl_parser *p, tpl_nodes *body, const char *end)
{
    const char *const ends[] = { end, NULL };
    int               which;

    return parse_block(p, body, &which, ends, false);
}

static hone_status parse_for(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    static const char *const ends[] = { "endfor", "else", NULL };
    tpl_node *n;
    int       which;

    HONE_TRY(tpl_new_node(p, &n, TPL_N_FOR, pos));
    *out = n;
    HONE_TRY(tpl_parse_target(p, &n->a, false, "in"));
    if (n->a->type == TPL_N_NAME && tpl_str_is(n->a->text, "loop"))
        return tpl_syntax(p->t, HONE_E_FORMAT, n->a->pos, "cannot assign to the loop variable 'loop'");
    if (!tpl_skip_name(p, "in"))
        return tpl_syntax(p->t, HONE_E_FORMAT, p->tok->pos, "expected 'in' in a for loop");
    HONE_TRY(tpl_parse_tuple(p, &n->b, false, false, "recursive"));
    if (tpl_skip_name(p, "if"))
        HONE_TRY(tpl_parse_expression(p, &n->c, true));
    n->flag = tpl_skip_name(p, "recursive");
    p->loops++;
    HONE_TRY(parse_block(p, &n->body, &which, ends, false));
    p->loops--;
    return which == 0 ? HONE_OK : block_until(p, &n->orelse, "endfor");
}

static hone_status parse_if(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    static const char *const ends[] = { "endif", "else", "elif", NULL, "endif", NULL };
    tpl_node *n;
    bool      outer = p->branch;
    int       which = 2;

    HONE_TRY(tpl_new_node(p, &n, TPL_N_IF, pos));
    *out = n;
    while (which == 2) {        /* list: the tests; each body is a node without a test */
        tpl_node *test, *branch;

        p->branch = true;
        HONE_TRY(tpl_parse_tuple(p, &test, false, false, NULL));
        p->branch = outer;
        HONE_TRY(tpl_new_node(p, &branch, TPL_N_IF, test->pos));
        branch->a = test;
        HONE_TRY(tpl_nodes_push(p, &n->list, branch));
        HONE_TRY(parse_block(p, &branch->body, &which, ends, true));
    }
    return which == 0 ? HONE_OK : parse_block(p, &n->orelse, &which, ends + 4, true);
}

static hone_status parse_set(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    tpl_node *n;

    HONE_TRY(tpl_new_node(p, &n, TPL_N_SET, pos));
    *out = n;
    HONE_TRY(tpl_parse_target(p, &n->a, true, NULL));
    if (tpl_skip_op(p, '='))
        return tpl_parse_tuple(p, &n->b, true, false, NULL);
    n->type = TPL_N_SET_BLOCK;      /* b: filters around the captured text, innermost operand NULL */
    HONE_TRY(tpl_parse_filters(p, &n->b, false));
    return block_until(p, &n->body, "endset");
}

static hone_status parse_with(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    tpl_node *n, *item;

    HONE_TRY(tpl_new_node(p, &n, TPL_N_WITH, pos));
    *out = n;
    while (p->tok->type != TPL_TOK_BLOCK_END) {
        if (n->list.len)
            HONE_TRY(tpl_expect_op(p, ','));
        HONE_TRY(tpl_new_node(p, &item, TPL_N_NAME, p->tok->pos));
        HONE_TRY(tpl_expect_name(p, &item->text));
        HONE_TRY(tpl_name_id(p, &item->name, item->text));
        HONE_TRY(tpl_nodes_push(p, &n->list, item));
        HONE_TRY(tpl_expect_op(p, '='));
        HONE_TRY(tpl_parse_expression(p, &item, true));
        HONE_TRY(tpl_nodes_push(p, &n->values, item));
    }
    return block_until(p, &n->body, "endwith");
}

/* "(a, b=1)" into a macro or call block. */
static hone_status parse_signature(tpl_parser *p, tpl_node *n)
{
    HONE_TRY(tpl_expect_op(p, '('));
    while (!tpl_at_op(p, ')')) {
        tpl_node *item;

        if (n->list.len)
            HONE_TRY(tpl_expect_op(p, ','));
        HONE_TRY(tpl_new_node(p, &item, TPL_N_NAME, p->tok->pos));
        HONE_TRY(tpl_expect_name(p, &item->text));
        HONE_TRY(tpl_name_id(p, &item->name, item->text));
        HONE_TRY(tpl_nodes_push(p, &n->list, item));
        if (tpl_skip_op(p, '=')) {
            HONE_TRY(tpl_parse_expression(p, &item, true));
            HONE_TRY(tpl_nodes_push(p, &n->values, item));
        } else if (n->values.len) {
            return tpl_syntax(p->t, HONE_E_FORMAT, item->pos, "a parameter without default follows one with default");
        }
    }
    return tpl_expect_op(p, ')');
}

/* The body of a macro, call block or generation block: a function of its own. */
static hone_status function_body(tpl_parser *p, tpl_node *n, const char *end)
{
    tpl_node *outer = p->macro;
    int       loops = p->loops;

    p->macro = n;
    p->loops = 0;
    HONE_TRY(block_until(p, &n->body, end));
    p->macro = outer;
    p->loops = loops;
    if (outer && n->type != TPL_N_BLOCK) {      /* a name that a macro inside uses counts for the one around it too */
        outer->varargs |= n->varargs;
        outer->kwvars |= n->kwvars;
        outer->caller |= n->caller;
    }
    return HONE_OK;
}

/* Parameters that are called as what a body gets without asking. */
static hone_status special_parameters(tpl_parser *p, tpl_node *n)
{
    for (uint32_t i = 0; i < n->list.len; i++) {
        const tpl_str *name = n->list.items[i]->text;

        n->varargs = n->varargs && !tpl_str_is(name, "varargs");
        n->kwvars = n->kwvars && !tpl_str_is(name, "kwargs");
        if (n->caller && tpl_str_is(name, "caller")) {
            if (i < n->list.len - n->values.len)
                return tpl_syntax(p->t, HONE_E_FORMAT, n->list.items[i]->pos, "the parameter 'caller' must have a default");
            n->caller = false;
        }
    }
    return HONE_OK;
}

static hone_status parse_macro(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    HONE_TRY(tpl_new_node(p, out, TPL_N_MACRO, pos));
    HONE_TRY(tpl_expect_name(p, &(*out)->text));
    HONE_TRY(tpl_name_id(p, &(*out)->name, (*out)->text));
    HONE_TRY(parse_signature(p, *out));
    HONE_TRY(function_body(p, *out, "endmacro"));
    return special_parameters(p, *out);
}

static hone_status parse_call_block(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    HONE_TRY(tpl_new_node(p, out, TPL_N_CALL_BLOCK, pos));
    if (tpl_at_op(p, '('))
        HONE_TRY(parse_signature(p, *out));
    HONE_TRY(tpl_parse_expression(p, &(*out)->a, true));
    if ((*out)->a->type != TPL_N_CALL)
        return tpl_syntax(p->t, HONE_E_FORMAT, (*out)->a->pos, "expected a call in a call block");
    HONE_TRY(function_body(p, *out, "endcall"));
    return special_parameters(p, *out);
}

static hone_status parse_print(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    tpl_node *item;

    HONE_TRY(tpl_new_node(p, out, TPL_N_PRINT, pos));
    while (p->tok->type != TPL_TOK_BLOCK_END) {
        if ((*out)->list.len)
            HONE_TRY(tpl_expect_op(p, ','));
        HONE_TRY(tpl_parse_expression(p, &item, true));
        HONE_TRY(tpl_nodes_push(p, &(*out)->list, item));
    }
    return HONE_OK;
}

static hone_status parse_generation(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    p->t->generation = true;
    HONE_TRY(tpl_new_node(p, out, TPL_N_GENERATION, pos));
    return function_body(p, *out, "endgeneration");
}

static hone_status parse_filter_block(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    HONE_TRY(tpl_new_node(p, out, TPL_N_FILTER_BLOCK, pos));
    HONE_TRY(tpl_parse_filters(p, &(*out)->b, true));
    return block_until(p, &(*out)->body, "endfilter");
}

/* {% block NAME [scoped] [required] %} … {% endblock [NAME] %}, which renders in place: nothing can extend the template. */
static hone_status parse_block_tag(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    tpl_node *n;

    HONE_TRY(tpl_new_node(p, &n, TPL_N_BLOCK, pos));
    *out = n;
    HONE_TRY(tpl_expect_name(p, &n->text));
    n->flag = tpl_skip_name(p, "scoped");
    if (tpl_at_name(p, "required"))
        return tpl_syntax(p->t, HONE_E_UNSUPPORTED, p->tok->pos, "a required block is for templates that extend this one, and "
                          "none can; leave 'required' out");
    if (tpl_at_op(p, '-'))
        return tpl_syntax(p->t, HONE_E_FORMAT, p->tok->pos, "names of blocks have no hyphens; use an underscore");
    for (uint32_t i = 0; i < p->t->blocks.len; i++)
        if (tpl_str_equal(p->t->blocks.items[i]->text, n->text))
            return tpl_syntax(p->t, HONE_E_FORMAT, n->pos, "the block '%.*s' is defined twice", (int)HONE_MIN(n->text->len, 80u),
                              n->text->data);
    HONE_TRY(tpl_nodes_push(p, &p->t->blocks, n));
    HONE_TRY(function_body(p, n, "endblock"));
    if (p->tok->type == TPL_TOK_NAME && tpl_str_equal(p->tok->text, n->text))
        p->tok++;
    return HONE_OK;
}

/* {% autoescape false %}: escaping is off anyway. */
static hone_status parse_autoescape(tpl_parser *p, tpl_node **out, uint32_t pos)
{
    tpl_node *on;

    HONE_TRY(tpl_parse_expression(p, &on, true));
    if (on->type != TPL_N_CONST || tpl_truthy(on->value))
        return tpl_syntax(p->t, HONE_E_UNSUPPORTED, on->pos, "only 'autoescape false' is supported; escape values with the "
                          "filter 'e' instead");
    HONE_TRY(tpl_new_node(p, out, TPL_N_WITH, pos));
    return block_until(p, &(*out)->body, "endautoescape");
}

static hone_status parse_jump(tpl_parser *p, tpl_node **out, uint32_t pos, tpl_node_type type)
{
    if (!p->loops)
        return tpl_syntax(p->t, HONE_E_FORMAT, pos, "'%s' outside a loop", type == TPL_N_BREAK ? "break" : "continue");
    return tpl_new_node(p, out, type, pos);
}

/* A tag, after "{%". */
static hone_status parse_statement(tpl_parser *p, tpl_node **out)
{
    static const char *const files[] = { "extends", "include", "import", "from" };
    static const char *const extensions[] = { "do", "trans", "debug" };
    const tpl_token *tok = p->tok;
    const tpl_str   *name;

    HONE_TRY(tpl_expect_name(p, &name));
    if (tpl_str_is(name, "if"))
        return parse_if(p, out, tok->pos);
    if (tpl_str_is(name, "for"))
        return parse_for(p, out, tok->pos);
    if (tpl_str_is(name, "set"))
        return parse_set(p, out, tok->pos);
    if (tpl_str_is(name, "macro"))
        return parse_macro(p, out, tok->pos);
    if (tpl_str_is(name, "call"))
        return parse_call_block(p, out, tok->pos);
    if (tpl_str_is(name, "filter"))
        return parse_filter_block(p, out, tok->pos);
    if (tpl_str_is(name, "with"))
        return parse_with(p, out, tok->pos);
    if (tpl_str_is(name, "print"))
        return parse_print(p, out, tok->pos);
    if (tpl_str_is(name, "generation"))
        return parse_generation(p, out, tok->pos);
    if (tpl_str_is(name, "break") || tpl_str_is(name, "continue"))
        return parse_jump(p, out, tok->pos, tpl_str_is(name, "break") ? TPL_N_BREAK : TPL_N_CONTINUE);
    if (tpl_str_is(name, "block"))
        return parse_block_tag(p, out, tok->pos);
    if (tpl_str_is(name, "autoescape"))
        return parse_autoescape(p, out, tok->pos);
    for (size_t i = 0; i < HONE_COUNTOF(files); i++)
        if (tpl_str_is(name, files[i]))
            return tpl_syntax(p->t, HONE_E_UNSUPPORTED, tok->pos, "the tag '%s' is not supported: a chat template has no other "
                              "files to load; write their text here", files[i]);
    for (size_t i = 0; i < HONE_COUNTOF(extensions); i++)
        if (tpl_str_is(name, extensions[i]))
            return tpl_syntax(p->t, HONE_E_FORMAT, tok->pos, "the tag '%s' belongs to an extension that chat templates run "
                              "without", extensions[i]);
    return tpl_syntax(p->t, HONE_E_FORMAT, tok->pos, "unknown tag '%.*s'", (int)HONE_MIN(name->len, 80u), name->data);
}

static hone_status parse_body(tpl_parser *p, tpl_nodes *body, const char *const *ends, int *which)
{
    tpl_node *n, *item;

    *which = -1;
    for (;;) {
        const tpl_token *tok = p->tok;

        if (tok->type == TPL_TOK_EOF)
            return HONE_OK;
        p->tok++;
        if (tok->type == TPL_TOK_DATA) {
            HONE_TRY(tpl_new_node(p, &n, TPL_N_DATA, tok->pos));
            n->text = tok->text;
        } else if (tok->type == TPL_TOK_VAR_BEGIN) {
            HONE_TRY(tpl_new_node(p, &n, TPL_N_PRINT, tok->pos));
            HONE_TRY(tpl_parse_tuple(p, &item, true, false, NULL));
            HONE_TRY(tpl_nodes_push(p, &n->list, item));
            if (p->tok->type != TPL_TOK_VAR_END) {
                char buf[80];

                return tpl_syntax(p->t, HONE_E_FORMAT, p->tok->pos, "expected '}}', got %s", tpl_describe(p->tok, buf));
            }
            p->tok++;
        } else {
            for (int i = 0; ends && ends[i]; i++) {
                if (tpl_skip_name(p, ends[i])) {
                    *which = i;
                    return HONE_OK;
                }
            }
            HONE_TRY(parse_statement(p, &n));
            HONE_TRY(end_of_tag(p));
        }
        HONE_TRY(tpl_nodes_push(p, body, n));
    }
}

hone_status tpl_parse(hone_template *t, const tpl_tokens *tokens)
{
    tpl_parser p = { .t = t, .tok = tokens->data };
    int        which;

    HONE_TRY(parse_body(&p, &t->body, NULL, &which));
    return p.unknown ? tpl_unknown_builtin(t, p.unknown) : HONE_OK;
}
