/* Names that a frame (the template, a loop's body, a macro …) assigns before it reads them.
 *
 * Python decides where a name lives when it compiles, and so does jinja2: a name whose first mention in a frame is an
 * assignment, and which no frame around it mentions, belongs to the frame from its start. Until it is assigned it is
 * undefined, even where the render has a variable of that name: {% for x in y %}{{ z }}{% endfor %}{% set z = 1 %} prints
 * nothing. Assignments in the branches of an {% if %} do not count: there the variable shows through. */
#include "text/template/ast.h"

typedef struct frame {
    struct frame *parent;
    bool         *refs;         /* by number of the name: mentioned */
    tpl_names    *missing;
    int           branches;     /* enclosing {% if %}s of this frame */
} frame;

typedef struct analysis {
    hone_template *t;
    frame         *f;
    size_t         n_names;
    int            depth;
} analysis;

static hone_status visit(analysis *an, const tpl_node *n);

static bool referred(const frame *f, int32_t name)
{
    for (; f; f = f->parent)
        if (f->refs[name])
            return true;
    return false;
}

static hone_status store(analysis *an, int32_t name, bool parameter)
{
    frame     *f = an->f;
    tpl_names *m = f->missing;
    int32_t   *ids;

    if (f->refs[name])
        return HONE_OK;
    if (!parameter && !f->branches && !referred(f->parent, name)) {
        ids = tpl_arena_more(&an->t->arena, m->ids, m->n, sizeof *ids);
        if (!ids)
            return HONE_E_NOMEM;
        m->ids = ids;
        m->ids[m->n++] = name;
    }
    f->refs[name] = true;
    return HONE_OK;
}

static hone_status target(analysis *an, const tpl_node *n, bool parameter)
{
    if (n->type == TPL_N_NAME)
        return store(an, n->name, parameter);
    if (n->type == TPL_N_NSREF) {
        an->f->refs[n->name] = true;
        return HONE_OK;
    }
    for (uint32_t i = 0; i < n->list.len; i++)
        HONE_TRY(target(an, n->list.items[i], parameter));
    return HONE_OK;
}

static hone_status visit_all(analysis *an, const tpl_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->len; i++)
        HONE_TRY(visit(an, nodes->items[i]));
    return HONE_OK;
}

/* A frame inside: its parameters (names, or a target), then its body. */
static hone_status inner(analysis *an, const tpl_node *n, const tpl_nodes *parameters, const tpl_node *parameter,
                         const tpl_nodes *body, tpl_names *missing, bool alone)
{
    frame       f = { .parent = alone ? NULL : an->f, .missing = missing }, *outer = an->f;
    hone_status st = HONE_OK;

    f.refs = hone_calloc(an->n_names, sizeof *f.refs);
    if (!f.refs)
        return HONE_E_NOMEM;
    an->f = &f;
    for (uint32_t i = 0; parameters && i < parameters->len; i++)
        HONE_GO(target(an, parameters->items[i], true));
    if (parameter)
        HONE_GO(target(an, parameter, true));
    if (n && (n->type == TPL_N_MACRO || n->type == TPL_N_CALL_BLOCK))
        HONE_GO(visit_all(an, &n->values));
    HONE_GO(visit_all(an, body));
out:
    an->f = outer;
    hone_free(f.refs);
    return st;
}

static hone_status visit_if(analysis *an, const tpl_node *n)
{
    for (uint32_t i = 0; i < n->list.len; i++) {
        HONE_TRY(visit(an, n->list.items[i]->a));
        an->f->branches++;
        HONE_TRY(visit_all(an, &n->list.items[i]->body));
    }
    an->f->branches++;
    HONE_TRY(visit_all(an, &n->orelse));
    an->f->branches -= 1 + (int)n->list.len;
    return HONE_OK;
}

static hone_status visit_for(analysis *an, tpl_node *n)
{
    HONE_TRY(visit(an, n->b));
    HONE_TRY(inner(an, n, NULL, n->a, &n->body, &n->missing, false));
    return inner(an, n, NULL, NULL, &n->orelse, &n->missing_else, false);
}

static hone_status visit_expression(analysis *an, const tpl_node *n)
{
    const tpl_node *const parts[] = { n->a, n->b, n->c, n->star, n->star2 };

    if (n->type == TPL_N_NAME)
        an->f->refs[n->name] = true;
    for (size_t i = 0; i < HONE_COUNTOF(parts); i++)
        if (parts[i])
            HONE_TRY(visit(an, parts[i]));
    HONE_TRY(visit_all(an, &n->list));
    return visit_all(an, &n->values);
}

static hone_status visit_node(analysis *an, tpl_node *n)
{
    switch (n->type) {
    case TPL_N_DATA: case TPL_N_BREAK: case TPL_N_CONTINUE: return HONE_OK;
    case TPL_N_IF:   return visit_if(an, n);
    case TPL_N_FOR:  return visit_for(an, n);
    case TPL_N_SET:
        HONE_TRY(visit(an, n->b));
        return target(an, n->a, false);
    case TPL_N_SET_BLOCK:
        HONE_TRY(target(an, n->a, false));
        HONE_TRY(inner(an, n, NULL, NULL, &n->body, &n->missing, false));
        return n->b ? visit(an, n->b) : HONE_OK;
    case TPL_N_WITH:
        HONE_TRY(visit_all(an, &n->values));
        return inner(an, n, &n->list, NULL, &n->body, &n->missing, false);
    case TPL_N_MACRO:
        HONE_TRY(store(an, n->name, false));
        return inner(an, n, &n->list, NULL, &n->body, &n->missing, false);
    case TPL_N_CALL_BLOCK:
        HONE_TRY(visit(an, n->a));
        return inner(an, n, &n->list, NULL, &n->body, &n->missing, false);
    case TPL_N_FILTER_BLOCK:
        HONE_TRY(visit(an, n->b));
        return inner(an, n, NULL, NULL, &n->body, &n->missing, false);
    case TPL_N_GENERATION: return inner(an, n, NULL, NULL, &n->body, &n->missing, false);
    case TPL_N_BLOCK: return inner(an, n, NULL, NULL, &n->body, &n->missing, true);
    default:
        return visit_expression(an, n);
    }
}

static hone_status visit(analysis *an, const tpl_node *node)
{
    tpl_node *n = (tpl_node *)node;     /* what is found is noted in the tree that the parser has just made */

    if (++an->depth > TPL_MAX_DEPTH)    /* a chain such as 1 + 1 + … is as deep as it is long */
        return tpl_syntax(an->t, HONE_E_FORMAT, n->pos, "nested more than %d deep", TPL_MAX_DEPTH);
    HONE_TRY(visit_node(an, n));
    an->depth--;
    return HONE_OK;
}

hone_status tpl_find_missing(hone_template *t)
{
    analysis an = { .t = t, .n_names = hone_map_len(t->names) + 1 };

    return inner(&an, NULL, NULL, NULL, &t->body, &t->missing, true);
}
