/* Expressions of the template language: recursive descent with jinja2's precedence (so `-a|f` negates f(a)'s argument and
 * ** groups to the left). */
#include <string.h>

#include "text/template/ast.h"

static hone_status parse_unary(tpl_parser *p, tpl_node **out, bool with_filter);
static hone_status parse_primary(tpl_parser *p, tpl_node **out, bool attributes);

/* ---- primary expressions ---- */
static hone_status name_node(tpl_parser *p, tpl_node **out, const tpl_token *tok)
{
    HONE_TRY(tpl_new_node(p, out, TPL_N_NAME, tok->pos));
    (*out)->text = tok->text;
    if (p->macro && tpl_str_is(tok->text, "varargs"))
        p->macro->varargs = true;
    if (p->macro && tpl_str_is(tok->text, "kwargs"))
        p->macro->kwvars = true;
    if (p->macro && tpl_str_is(tok->text, "caller"))
        p->macro->caller = true;
    return tpl_name_id(p, &(*out)->name, tok->text);
}

static hone_status parse_name(tpl_parser *p, tpl_node **out, bool attributes)
{
    static const struct { const char *name; int kind; } words[] = {
        { "true", 1 }, { "True", 1 }, { "false", 0 }, { "False", 0 }, { "none", 2 }, { "None", 2 }
    };
    const tpl_token *tok = p->tok++;

    for (size_t i = 0; i < HONE_COUNTOF(words); i++) {
        if (!tpl_str_is(tok->text, words[i].name))
            continue;
        HONE_TRY(tpl_new_node(p, out, TPL_N_CONST, tok->pos));
        (*out)->value = words[i].kind == 2 ? tpl_none() : tpl_bool(words[i].kind == 1);
        return HONE_OK;
    }
    HONE_TRY(name_node(p, out, tok));
    if (attributes && tpl_skip_op(p, '.')) {
        (*out)->type = TPL_N_NSREF;
        HONE_TRY(tpl_expect_name(p, &(*out)->text));
    }
    return HONE_OK;
}

/* Neighbouring string literals are one. */
static hone_status parse_string(tpl_parser *p, tpl_node **out)
{
    const tpl_token *first = p->tok;
    size_t           n = 0;
    tpl_str         *s;
    char            *data;

    HONE_TRY(tpl_new_node(p, out, TPL_N_CONST, first->pos));
    for (; p->tok->type == TPL_TOK_STRING; p->tok++)
        n += p->tok->text->len;
    (*out)->value = tpl_string(first->text);
    if (p->tok == first + 1)
        return HONE_OK;
    s = tpl_arena_alloc(&p->t->arena, sizeof *s);
    data = tpl_arena_alloc(&p->t->arena, n);
    if (!s || !data)
        return HONE_E_NOMEM;
    *s = (tpl_str){ .data = data };
    for (const tpl_token *t = first; t < p->tok; t++) {
        memcpy(data + s->len, t->text->data, t->text->len);
        s->len += t->text->len;
        s->chars += t->text->chars;
    }
    (*out)->value = tpl_string(s);
    return HONE_OK;
}

static hone_status parse_list(tpl_parser *p, tpl_node **out)
{
    tpl_node *item;

    HONE_TRY(tpl_new_node(p, out, TPL_N_LIST, (p->tok++)->pos));
    while (!tpl_at_op(p, ']')) {
        if ((*out)->list.len)
            HONE_TRY(tpl_expect_op(p, ','));
        if (tpl_at_op(p, ']'))
            break;
        HONE_TRY(tpl_parse_expression(p, &item, true));
        HONE_TRY(tpl_nodes_push(p, &(*out)->list, item));
    }
    return tpl_expect_op(p, ']');
}

static hone_status parse_dict(tpl_parser *p, tpl_node **out)
{
    tpl_node *item;

    HONE_TRY(tpl_new_node(p, out, TPL_N_DICT, (p->tok++)->pos));
    while (!tpl_at_op(p, '}')) {
        if ((*out)->list.len)
            HONE_TRY(tpl_expect_op(p, ','));
        if (tpl_at_op(p, '}'))
            break;
        HONE_TRY(tpl_parse_expression(p, &item, true));
        HONE_TRY(tpl_nodes_push(p, &(*out)->list, item));
        HONE_TRY(tpl_expect_op(p, ':'));
        HONE_TRY(tpl_parse_expression(p, &item, true));
        HONE_TRY(tpl_nodes_push(p, &(*out)->values, item));
    }
    return tpl_expect_op(p, '}');
}

static hone_status parse_primary(tpl_parser *p, tpl_node **out, bool attributes)
{
    const tpl_token *tok = p->tok;

    if (tok->type == TPL_TOK_NAME)
        return parse_name(p, out, attributes);
    if (tok->type == TPL_TOK_STRING)
        return parse_string(p, out);
    if (tok->type == TPL_TOK_INT || tok->type == TPL_TOK_FLOAT) {
        p->tok++;
        HONE_TRY(tpl_new_node(p, out, TPL_N_CONST, tok->pos));
        (*out)->value = tok->number;
        return HONE_OK;
    }
    if (tpl_skip_op(p, '(')) {
        HONE_TRY(tpl_parse_tuple(p, out, true, true, NULL));
        return tpl_expect_op(p, ')');
    }
    if (tpl_at_op(p, '['))
        return parse_list(p, out);
    if (tpl_at_op(p, '{'))
        return parse_dict(p, out);
    return tpl_unexpected(p, "an expression");
}

/* ---- what follows a primary: attributes, items, calls, filters, tests ---- */
static hone_status optional_bound(tpl_parser *p, tpl_node **out)
{
    *out = NULL;
    if (tpl_at_op(p, ':') || tpl_at_op(p, ']') || tpl_at_op(p, ','))
        return HONE_OK;
    return tpl_parse_expression(p, out, true);
}

static hone_status parse_subscript(tpl_parser *p, tpl_node **out)
{
    uint32_t  pos = p->tok->pos;
    tpl_node *from;

    HONE_TRY(optional_bound(p, &from));
    if (!tpl_skip_op(p, ':')) {
        if (!from)
            return tpl_unexpected(p, "an expression");
        *out = from;
        return HONE_OK;
    }
    HONE_TRY(tpl_new_node(p, out, TPL_N_SLICE, pos));
    (*out)->a = from;
    HONE_TRY(optional_bound(p, &(*out)->b));
    if (tpl_skip_op(p, ':'))
        HONE_TRY(optional_bound(p, &(*out)->c));
    return HONE_OK;
}

/* "[a, b]": the index is a tuple. */
static hone_status tuple_subscript(tpl_parser *p, tpl_node **index)
{
    tpl_node *tuple, *item = *index;

    HONE_TRY(tpl_new_node(p, &tuple, TPL_N_TUPLE, item->pos));
    for (;;) {
        if (item->type == TPL_N_SLICE)
            return tpl_syntax(p->t, HONE_E_UNSUPPORTED, item->pos, "a slice within a tuple is no index of any value");
        HONE_TRY(tpl_nodes_push(p, &tuple->list, item));
        *index = tuple;
        if (!tpl_skip_op(p, ','))
            return HONE_OK;
        HONE_TRY(parse_subscript(p, &item));
    }
}

static hone_status parse_item(tpl_parser *p, tpl_node **node)
{
    const tpl_token *tok = p->tok++;
    tpl_node        *n;

    if (tok->op == '.' && p->tok->type == TPL_TOK_NAME) {
        HONE_TRY(tpl_new_node(p, &n, TPL_N_ATTR, p->tok->pos));
        n->text = (p->tok++)->text;
    } else if (tok->op == '.') {
        if (p->tok->type != TPL_TOK_INT)
            return tpl_unexpected(p, "a name or number after '.'");
        HONE_TRY(tpl_new_node(p, &n, TPL_N_ITEM, tok->pos));
        HONE_TRY(tpl_new_node(p, &n->b, TPL_N_CONST, tok->pos));
        n->b->value = (p->tok++)->number;
    } else {
        HONE_TRY(tpl_new_node(p, &n, TPL_N_ITEM, tok->pos));
        HONE_TRY(parse_subscript(p, &n->b));
        if (tpl_at_op(p, ','))
            HONE_TRY(tuple_subscript(p, &n->b));
        HONE_TRY(tpl_expect_op(p, ']'));
    }
    n->a = *node;
    *node = n;
    return HONE_OK;
}

static hone_status keyword_argument(tpl_parser *p, tpl_node *call)
{
    tpl_node       *value;
    const tpl_str **names;

    names = tpl_arena_more(&p->t->arena, call->names, call->values.len, sizeof *names);
    if (!names)
        return HONE_E_NOMEM;
    call->names = names;
    names[call->values.len] = p->tok->text;
    p->tok += 2;
    HONE_TRY(tpl_parse_expression(p, &value, true));
    return tpl_nodes_push(p, &call->values, value);
}

/* "(a, b, name=c, *d, **e)" into `call`. */
static hone_status parse_arguments(tpl_parser *p, tpl_node *call)
{
    const tpl_token *open = p->tok;
    bool             first = true, fine = true;
    tpl_node        *arg;

    HONE_TRY(tpl_expect_op(p, '('));
    while (!tpl_at_op(p, ')')) {
        if (!first)
            HONE_TRY(tpl_expect_op(p, ','));
        first = false;
        if (tpl_at_op(p, ')'))
            break;
        if (tpl_skip_op(p, '*')) {
            fine = fine && !call->star && !call->star2;
            HONE_TRY(tpl_parse_expression(p, &call->star, true));
        } else if (tpl_skip_op(p, TPL_OP_POW)) {
            fine = fine && !call->star2;
            HONE_TRY(tpl_parse_expression(p, &call->star2, true));
        } else if (p->tok->type == TPL_TOK_NAME && p->tok[1].type == TPL_TOK_OP && p->tok[1].op == '=') {
            fine = fine && !call->star2;
            HONE_TRY(keyword_argument(p, call));
        } else {
            fine = fine && !call->star && !call->star2 && !call->values.len;
            HONE_TRY(tpl_parse_expression(p, &arg, true));
            HONE_TRY(tpl_nodes_push(p, &call->list, arg));
        }
        if (!fine)
            return tpl_syntax(p->t, HONE_E_FORMAT, open->pos, "arguments of this call are in a wrong order");
    }
    return tpl_expect_op(p, ')');
}

static hone_status parse_call(tpl_parser *p, tpl_node **node)
{
    tpl_node *n;

    HONE_TRY(tpl_new_node(p, &n, TPL_N_CALL, p->tok->pos));
    HONE_TRY(parse_arguments(p, n));
    n->a = *node;
    *node = n;
    return HONE_OK;
}

static hone_status parse_postfix(tpl_parser *p, tpl_node **node)
{
    for (;;) {
        if (tpl_at_op(p, '.') || tpl_at_op(p, '['))
            HONE_TRY(parse_item(p, node));
        else if (tpl_at_op(p, '('))
            HONE_TRY(parse_call(p, node));
        else
            return HONE_OK;
    }
}

static void note_unknown(tpl_parser *p, const tpl_node *n)
{
    if (!n->builtin && !p->branch && !p->unknown)
        p->unknown = n;
}

/* The name of a filter or test, which may have dots. */
static hone_status dotted_name(tpl_parser *p, const tpl_str **out)
{
    HONE_TRY(tpl_expect_name(p, out));
    while (tpl_skip_op(p, '.')) {
        const tpl_str *first = *out, *next;
        tpl_str       *joined = tpl_arena_alloc(&p->t->arena, sizeof *joined);
        char          *data;

        HONE_TRY(tpl_expect_name(p, &next));
        data = joined ? tpl_arena_alloc(&p->t->arena, first->len + 1 + next->len) : NULL;
        if (!data)
            return HONE_E_NOMEM;
        memcpy(data, first->data, first->len);
        data[first->len] = '.';
        memcpy(data + first->len + 1, next->data, next->len);
        *joined = (tpl_str){ .data = data, .len = first->len + 1 + next->len, .chars = first->chars + 1 + next->chars };
        *out = joined;
    }
    return HONE_OK;
}

hone_status tpl_parse_filters(tpl_parser *p, tpl_node **node, bool start_inline)
{
    while (start_inline || tpl_skip_op(p, '|')) {
        tpl_node *n;

        HONE_TRY(tpl_new_node(p, &n, TPL_N_FILTER, p->tok->pos));
        HONE_TRY(dotted_name(p, &n->text));
        n->builtin = tpl_find_filter(n->text);
        note_unknown(p, n);
        if (tpl_at_op(p, '('))
            HONE_TRY(parse_arguments(p, n));
        n->a = *node;
        *node = n;
        start_inline = false;
    }
    return HONE_OK;
}

/* Whether the token begins the argument of a test that is written without brackets ("is divisibleby 3"). */
static bool begins_test_argument(const tpl_parser *p)
{
    switch (p->tok->type) {
    case TPL_TOK_NAME:   return !tpl_at_name(p, "else") && !tpl_at_name(p, "or") && !tpl_at_name(p, "and");
    case TPL_TOK_STRING: case TPL_TOK_INT: case TPL_TOK_FLOAT: return true;
    case TPL_TOK_OP:     return p->tok->op == '[' || p->tok->op == '{';
    default:             return false;
    }
}

static hone_status parse_test(tpl_parser *p, tpl_node **node)
{
    bool      negated = tpl_skip_name(p, "not");
    tpl_node *n, *arg;

    HONE_TRY(tpl_new_node(p, &n, TPL_N_TEST, p->tok->pos));
    HONE_TRY(dotted_name(p, &n->text));
    n->builtin = tpl_find_test(n->text);
    note_unknown(p, n);
    n->a = *node;
    if (tpl_at_op(p, '(')) {
        HONE_TRY(parse_arguments(p, n));
    } else if (begins_test_argument(p)) {
        if (tpl_at_name(p, "is"))
            return tpl_syntax(p->t, HONE_E_FORMAT, p->tok->pos, "tests with 'is' cannot be chained");
        HONE_TRY(parse_primary(p, &arg, false));
        HONE_TRY(parse_postfix(p, &arg));
        HONE_TRY(tpl_nodes_push(p, &n->list, arg));
    }
    *node = n;
    if (negated) {
        HONE_TRY(tpl_new_node(p, node, TPL_N_NOT, n->pos));
        (*node)->a = n;
    }
    return HONE_OK;
}

static hone_status parse_unary(tpl_parser *p, tpl_node **out, bool with_filter)
{
    const tpl_token *tok = p->tok;

    if (++p->depth > TPL_MAX_NESTING)
        return tpl_syntax(p->t, HONE_E_FORMAT, tok->pos, "nested more than %d deep", TPL_MAX_NESTING);
    if (tpl_at_op(p, '-') || tpl_at_op(p, '+')) {
        p->tok++;
        HONE_TRY(tpl_new_node(p, out, tok->op == '-' ? TPL_N_NEG : TPL_N_POS, tok->pos));
        HONE_TRY(parse_unary(p, &(*out)->a, false));
    } else {
        HONE_TRY(parse_primary(p, out, false));
    }
    HONE_TRY(parse_postfix(p, out));
    while (with_filter) {
        if (tpl_at_op(p, '|'))
            HONE_TRY(tpl_parse_filters(p, out, false));
        else if (tpl_skip_name(p, "is"))
            HONE_TRY(parse_test(p, out));
        else if (tpl_at_op(p, '('))
            HONE_TRY(parse_call(p, out));
        else
            break;
    }
    p->depth--;
    return HONE_OK;
}

/* ---- binary operators, weakest last ---- */
typedef hone_status (*parse_fn)(tpl_parser *p, tpl_node **out);

static hone_status unary(tpl_parser *p, tpl_node **out) { return parse_unary(p, out, true); }

/* operand (op operand)*, grouped to the left, for the operators in `ops`. */
static hone_status parse_binary(tpl_parser *p, tpl_node **out, parse_fn operand, const int *ops)
{
    HONE_TRY(operand(p, out));
    for (;;) {
        const tpl_token *tok = p->tok;
        const int       *op = ops;
        tpl_node        *n;

        while (*op && !tpl_at_op(p, *op))
            op++;
        if (!*op)
            return HONE_OK;
        p->tok++;
        HONE_TRY(tpl_new_node(p, &n, TPL_N_BINARY, tok->pos));
        n->op = *op;
        n->a = *out;
        HONE_TRY(operand(p, &n->b));
        *out = n;
    }
}

static hone_status parse_pow(tpl_parser *p, tpl_node **out)
{
    static const int ops[] = { TPL_OP_POW, 0 };

    return parse_binary(p, out, unary, ops);
}

static hone_status parse_product(tpl_parser *p, tpl_node **out)
{
    static const int ops[] = { '*', '/', TPL_OP_FLOORDIV, '%', 0 };

    return parse_binary(p, out, parse_pow, ops);
}

static hone_status parse_concat(tpl_parser *p, tpl_node **out)
{
    tpl_node *n, *item;

    HONE_TRY(parse_product(p, out));
    if (!tpl_at_op(p, '~'))
        return HONE_OK;
    HONE_TRY(tpl_new_node(p, &n, TPL_N_CONCAT, p->tok->pos));
    HONE_TRY(tpl_nodes_push(p, &n->list, *out));
    while (tpl_skip_op(p, '~')) {
        HONE_TRY(parse_product(p, &item));
        HONE_TRY(tpl_nodes_push(p, &n->list, item));
    }
    *out = n;
    return HONE_OK;
}

static hone_status parse_sum(tpl_parser *p, tpl_node **out)
{
    static const int ops[] = { '+', '-', 0 };

    return parse_binary(p, out, parse_concat, ops);
}

static int comparison(tpl_parser *p)
{
    static const int ops[] = { TPL_OP_EQ, TPL_OP_NE, TPL_OP_LT, TPL_OP_LE, TPL_OP_GT, TPL_OP_GE };

    for (size_t i = 0; i < HONE_COUNTOF(ops); i++)
        if (tpl_skip_op(p, ops[i]))
            return ops[i];
    if (tpl_skip_name(p, "in"))
        return TPL_OP_IN;
    if (tpl_at_name(p, "not") && p->tok[1].type == TPL_TOK_NAME && tpl_str_is(p->tok[1].text, "in")) {
        p->tok += 2;
        return TPL_OP_NOT_IN;
    }
    return 0;
}

static hone_status parse_compare(tpl_parser *p, tpl_node **out)
{
    uint32_t  pos = p->tok->pos;
    tpl_node *first, *n = NULL, *item;
    int       op;

    HONE_TRY(parse_sum(p, &first));
    *out = first;
    for (pos = p->tok->pos; (op = comparison(p)) != 0; ) {
        int *ops;

        if (!n) {
            HONE_TRY(tpl_new_node(p, &n, TPL_N_COMPARE, pos));
            HONE_TRY(tpl_nodes_push(p, &n->list, first));
            *out = n;
        }
        ops = tpl_arena_more(&p->t->arena, n->ops, n->list.len - 1, sizeof *ops);
        if (!ops)
            return HONE_E_NOMEM;
        n->ops = ops;
        ops[n->list.len - 1] = op;
        HONE_TRY(parse_sum(p, &item));
        HONE_TRY(tpl_nodes_push(p, &n->list, item));
    }
    return HONE_OK;
}

static hone_status parse_not(tpl_parser *p, tpl_node **out)
{
    const tpl_token *tok = p->tok;
    tpl_node        *top = NULL, **hole = out;

    while (tpl_skip_name(p, "not")) {
        HONE_TRY(tpl_new_node(p, hole, TPL_N_NOT, tok->pos));
        if (!top)
            top = *hole;
        hole = &(*hole)->a;
    }
    return parse_compare(p, hole);
}

static hone_status parse_logic(tpl_parser *p, tpl_node **out, parse_fn operand, const char *word, tpl_node_type type)
{
    HONE_TRY(operand(p, out));
    for (;;) {
        uint32_t  pos = p->tok->pos;
        tpl_node *n;

        if (!tpl_skip_name(p, word))
            return HONE_OK;
        HONE_TRY(tpl_new_node(p, &n, type, pos));
        n->a = *out;
        HONE_TRY(operand(p, &n->b));
        *out = n;
    }
}

static hone_status parse_and(tpl_parser *p, tpl_node **out) { return parse_logic(p, out, parse_not, "and", TPL_N_AND); }

static hone_status parse_or(tpl_parser *p, tpl_node **out) { return parse_logic(p, out, parse_and, "or", TPL_N_OR); }

hone_status tpl_parse_expression(tpl_parser *p, tpl_node **out, bool with_cond)
{
    const tpl_node *unknown = p->unknown;
    uint32_t        pos;

    if (++p->depth > TPL_MAX_NESTING)
        return tpl_syntax(p->t, HONE_E_FORMAT, p->tok->pos, "nested more than %d deep", TPL_MAX_NESTING);
    HONE_TRY(parse_or(p, out));
    for (pos = p->tok->pos; with_cond && tpl_skip_name(p, "if"); pos = p->tok->pos) {
        tpl_node *n;

        p->unknown = unknown;       /* what an inline if does not reach may be unknown */
        HONE_TRY(tpl_new_node(p, &n, TPL_N_COND, pos));
        n->b = *out;
        *out = n;
        HONE_TRY(parse_or(p, &n->a));
        if (tpl_skip_name(p, "else"))
            HONE_TRY(tpl_parse_expression(p, &n->c, true));
        p->unknown = unknown;
    }
    p->depth--;
    return HONE_OK;
}

/* ---- tuples and targets ---- */
static bool tuple_ends(const tpl_parser *p, const char *end)
{
    return p->tok->type == TPL_TOK_VAR_END || p->tok->type == TPL_TOK_BLOCK_END || tpl_at_op(p, ')') ||
           (end && tpl_at_name(p, end));
}

/* Expressions (or, for a target, names) with commas; one without a comma is not a tuple. */
static hone_status parse_commas(tpl_parser *p, tpl_node **out, bool target, bool flag, bool parens, const char *end)
{
    uint32_t  pos = p->tok->pos;
    tpl_node *tuple, *item;
    bool      comma = false;

    HONE_TRY(tpl_new_node(p, &tuple, TPL_N_TUPLE, pos));
    while (!tuple_ends(p, end)) {
        if (target)
            HONE_TRY(parse_primary(p, &item, flag));
        else
            HONE_TRY(tpl_parse_expression(p, &item, flag));
        HONE_TRY(tpl_nodes_push(p, &tuple->list, item));
        if (!tpl_skip_op(p, ','))
            break;
        comma = true;
    }
    *out = comma || !tuple->list.len ? tuple : tuple->list.items[0];
    if (!tuple->list.len && !parens)
        return tpl_unexpected(p, "an expression");
    return HONE_OK;
}

hone_status tpl_parse_tuple(tpl_parser *p, tpl_node **out, bool with_cond, bool parens, const char *end)
{
    return parse_commas(p, out, false, with_cond, parens, end);
}

static hone_status check_target(tpl_parser *p, const tpl_node *n)
{
    if (n->type == TPL_N_NAME || n->type == TPL_N_NSREF)
        return HONE_OK;
    if (n->type != TPL_N_TUPLE && n->type != TPL_N_LIST)
        return tpl_syntax(p->t, HONE_E_FORMAT, n->pos, "cannot assign to this expression");
    for (uint32_t i = 0; i < n->list.len; i++)
        HONE_TRY(check_target(p, n->list.items[i]));
    return HONE_OK;
}

hone_status tpl_parse_target(tpl_parser *p, tpl_node **out, bool attributes, const char *end)
{
    HONE_TRY(parse_commas(p, out, true, attributes, false, end));
    return check_target(p, *out);
}
