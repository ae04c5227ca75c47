/*
 * text/template/ast.h -- tokens and syntax trees of the template language (private to text/template*.c).
 */
#ifndef HONE_TEXT_TEMPLATE_AST_H
#define HONE_TEXT_TEMPLATE_AST_H

#include "base/map.h"
#include "text/template/value.h"

typedef enum tpl_tok {
    TPL_TOK_EOF, TPL_TOK_DATA, TPL_TOK_VAR_BEGIN, TPL_TOK_VAR_END, TPL_TOK_BLOCK_BEGIN, TPL_TOK_BLOCK_END,
    TPL_TOK_NAME, TPL_TOK_STRING, TPL_TOK_INT, TPL_TOK_FLOAT,
    TPL_TOK_OP      /* which: the operator's characters in `op` */
} tpl_tok;

#define TPL_OP2(a, b) ((a) | (b) << 8)
/* Operators are named by their characters; words have their own numbers. */
enum {
    TPL_OP_EQ = TPL_OP2('=', '='), TPL_OP_NE = TPL_OP2('!', '='), TPL_OP_LE = TPL_OP2('<', '='),
    TPL_OP_GE = TPL_OP2('>', '='), TPL_OP_LT = '<', TPL_OP_GT = '>', TPL_OP_POW = TPL_OP2('*', '*'),
    TPL_OP_FLOORDIV = TPL_OP2('/', '/'), TPL_OP_IN = 1, TPL_OP_NOT_IN = 2
};

typedef struct tpl_token {
    tpl_tok        type;
    int            op;
    uint32_t       pos;         /* offset in the source */
    const tpl_str *text;        /* DATA, NAME, STRING */
    tpl_value      number;
} tpl_token;

typedef HONE_VEC(tpl_token) tpl_tokens;

typedef enum tpl_node_type {
    /* expressions */
    TPL_N_CONST, TPL_N_NAME, TPL_N_LIST, TPL_N_TUPLE, TPL_N_DICT, TPL_N_ATTR, TPL_N_ITEM, TPL_N_SLICE, TPL_N_CALL,
    TPL_N_FILTER, TPL_N_TEST, TPL_N_NOT, TPL_N_NEG, TPL_N_POS, TPL_N_BINARY, TPL_N_CONCAT, TPL_N_COMPARE, TPL_N_AND,
    TPL_N_OR, TPL_N_COND,
    /* assignment targets only */
    TPL_N_NSREF,
    /* statements */
    TPL_N_DATA, TPL_N_PRINT, TPL_N_IF, TPL_N_FOR, TPL_N_SET, TPL_N_SET_BLOCK, TPL_N_WITH, TPL_N_MACRO, TPL_N_CALL_BLOCK,
    TPL_N_FILTER_BLOCK, TPL_N_GENERATION, TPL_N_BLOCK, TPL_N_BREAK, TPL_N_CONTINUE
} tpl_node_type;

typedef struct tpl_node tpl_node;
/* Numbers of names. */
typedef struct tpl_names { int32_t *ids; uint32_t n; } tpl_names;
typedef struct tpl_nodes { tpl_node **items; uint32_t len, cap; } tpl_nodes;

/* One shape for all nodes; the comment says who uses what. */
struct tpl_node {
    tpl_node_type type;
    uint32_t      pos;
    int           op;           /* BINARY */
    int32_t       name;         /* NAME, NSREF, MACRO: number of the name */
    bool          flag;         /* FOR: recursive; BLOCK: scoped */
    bool          varargs, kwvars, caller;      /* MACRO, CALL_BLOCK: the body uses `varargs`, `kwargs`, `caller` */
    const tpl_str *text;        /* ATTR, NSREF: attribute; NAME, MACRO, FILTER, TEST: name; DATA: text */
    tpl_value     value;        /* CONST */
    const tpl_builtin *builtin; /* FILTER, TEST */
    tpl_node     *a, *b, *c;    /* operands; FOR: target, iterable, filter; COND: test, then, else; SLICE: bounds */
    tpl_nodes     list;         /* items, keys, arguments, operands, targets, parameters; PRINT: expressions */
    tpl_nodes     values;       /* DICT, WITH: values; calls: keyword arguments; MACRO: defaults (of the last parameters) */
    const tpl_str **names;      /* calls: names of `values`; MACRO: names of the parameters */
    int          *ops;          /* COMPARE: operators between list items */
    tpl_node     *star, *star2; /* calls: *args, **kwargs */
    tpl_nodes     body, orelse;
    tpl_names     missing, missing_else;    /* undefined when the frame of the body (of `else`) begins: see scope.c */
};

struct hone_template {
    char       *name;
    char       *source;         /* line ends normalised */
    size_t      len;
    tpl_arena   arena;          /* tokens' texts, nodes, constants */
    hone_map   *names;          /* variable names -> numbers */
    const tpl_str **name_texts; /* by number */
    int32_t     loop_name, caller_name, varargs_name, kwargs_name;     /* numbers of these names, -1 = not used */
    tpl_nodes   body;
    tpl_names   missing;        /* as in nodes */
    tpl_nodes   blocks;         /* all {% block %}s */
    bool        generation;
};

/* Raise `code` at a place of the source: "NAME:line:column: message". */
hone_status tpl_syntax(const hone_template *t, hone_status code, uint32_t pos, const char *fmt, ...) HONE_PRINTF(4, 5);
/* Cut t->source into tokens. */
hone_status tpl_lex(hone_template *t, tpl_tokens *out) HONE_MUST_CHECK;
/* Fill t->body from tokens. */
hone_status tpl_parse(hone_template *t, const tpl_tokens *tokens) HONE_MUST_CHECK;
/* Fill the `missing` of the template and its nodes. */
hone_status tpl_find_missing(hone_template *t) HONE_MUST_CHECK;

/* ---- the parser's state, shared by template_parse.c (statements), template_expr.c (expressions)
 * and template_parser.c (what both use) ---- */
typedef struct tpl_parser {
    hone_template   *t;
    const tpl_token *tok;       /* the current one; the last is EOF */
    int              depth;     /* of nesting */
    int              loops;     /* enclosing loops of the current function body */
    bool             branch;    /* in an {% if %}, where unknown filters and tests are errors only when they are reached */
    const tpl_node  *unknown;   /* the first unknown filter or test that is an error at once */
    tpl_node        *macro;     /* innermost macro or call block */
} tpl_parser;

enum { TPL_MAX_NESTING = 150, TPL_MAX_DEPTH = 1500 };

hone_status tpl_new_node(tpl_parser *p, tpl_node **out, tpl_node_type type, uint32_t pos) HONE_MUST_CHECK;
hone_status tpl_nodes_push(tpl_parser *p, tpl_nodes *v, tpl_node *n) HONE_MUST_CHECK;
hone_status tpl_parse_expression(tpl_parser *p, tpl_node **out, bool with_cond) HONE_MUST_CHECK;
/* Expressions separated by commas; `end` is a name that also ends it (NULL = none). */
hone_status tpl_parse_tuple(tpl_parser *p, tpl_node **out, bool with_cond, bool parens, const char *end) HONE_MUST_CHECK;
/* What can be assigned to: names, tuples of them and, where `attributes`, ns.name. */
hone_status tpl_parse_target(tpl_parser *p, tpl_node **out, bool attributes, const char *end) HONE_MUST_CHECK;
hone_status tpl_parse_filters(tpl_parser *p, tpl_node **node, bool start_inline) HONE_MUST_CHECK;
hone_status tpl_name_id(tpl_parser *p, int32_t *out, const tpl_str *name) HONE_MUST_CHECK;
hone_status tpl_expect_op(tpl_parser *p, int op) HONE_MUST_CHECK;
hone_status tpl_expect_name(tpl_parser *p, const tpl_str **out) HONE_MUST_CHECK;
bool        tpl_at_op(const tpl_parser *p, int op);
bool        tpl_at_name(const tpl_parser *p, const char *name);
bool        tpl_skip_op(tpl_parser *p, int op);
bool        tpl_skip_name(tpl_parser *p, const char *name);
/* "expected WANTED, got …" at the current token. */
hone_status tpl_unexpected(tpl_parser *p, const char *wanted);
/* Raise that a filter or test is not there. */
hone_status tpl_unknown_builtin(const hone_template *t, const tpl_node *n);
/* A token in words, for errors. */
const char *tpl_describe(const tpl_token *tok, char buf[80]);

/* ---- evaluation ---- */
typedef struct tpl_var { int32_t name; tpl_value value; } tpl_var;
typedef struct tpl_scope {
    struct tpl_scope *parent;
    tpl_var          *vars;
    uint32_t          len, cap;
} tpl_scope;

typedef struct tpl_macro {
    const tpl_node *node;
    tpl_scope      *scope;      /* where it was defined */
} tpl_macro;

typedef struct tpl_loop {
    const tpl_node *node;
    tpl_scope      *scope;      /* around the loop */
    tpl_iter       *it;         /* what gives further items */
    bool            exhausted;  /* it has no more */
    tpl_list       *items;      /* those fetched so far */
    int64_t         index0;
    int             depth0;
    bool            has_changed;
    tpl_value       changed;
} tpl_loop;

hone_status tpl_eval(tpl_rt *rt, tpl_value *out, const tpl_node *n) HONE_MUST_CHECK;
/* The arguments of a call, filter or test node. */
hone_status tpl_eval_call(tpl_rt *rt, tpl_call *out, const tpl_node *n) HONE_MUST_CHECK;
hone_status tpl_exec(tpl_rt *rt, const tpl_nodes *body) HONE_MUST_CHECK;
/* A new scope inside the current one, in which the names `missing` are undefined (NULL = none). */
hone_status tpl_push_scope(tpl_rt *rt, const tpl_names *missing) HONE_MUST_CHECK;
hone_status tpl_set_missing(tpl_rt *rt, const tpl_names *missing) HONE_MUST_CHECK;
hone_status tpl_set_var(tpl_rt *rt, int32_t name, tpl_value v) HONE_MUST_CHECK;
bool        tpl_get_var(const tpl_rt *rt, int32_t name, tpl_value *out);
hone_status tpl_exec_scoped(tpl_rt *rt, const tpl_nodes *body, const tpl_names *missing) HONE_MUST_CHECK;     /* in a scope of its own */
hone_status tpl_exec_block(tpl_rt *rt, const tpl_node *n) HONE_MUST_CHECK;
hone_status tpl_assign(tpl_rt *rt, const tpl_node *target, tpl_value v) HONE_MUST_CHECK;
hone_status tpl_new_macro(tpl_rt *rt, tpl_value *out, const tpl_node *n) HONE_MUST_CHECK;
/* The values of `caller`, `varargs` and `kwargs` that a body uses. */
hone_status tpl_bind_rest(tpl_rt *rt, const tpl_node *n, const tpl_call *call, uint32_t used) HONE_MUST_CHECK;
hone_status tpl_call_macro(tpl_rt *rt, tpl_value *out, const tpl_macro *m, const tpl_call *call) HONE_MUST_CHECK;
hone_status tpl_run_loop(tpl_rt *rt, const tpl_node *n, tpl_value iterable, int depth0) HONE_MUST_CHECK;
hone_status tpl_loop_length(tpl_rt *rt, int64_t *out, tpl_loop *loop) HONE_MUST_CHECK;
hone_status tpl_loop_attr(tpl_rt *rt, tpl_value *out, tpl_value loop, const tpl_str *name) HONE_MUST_CHECK;
hone_status tpl_macro_attr(tpl_rt *rt, tpl_value *out, tpl_value macro, const tpl_str *name) HONE_MUST_CHECK;
/* Run the node's body in its own scope with its output kept as a string. */
hone_status tpl_capture(tpl_rt *rt, tpl_value *out, const tpl_node *n) HONE_MUST_CHECK;

#endif /* HONE_TEXT_TEMPLATE_AST_H */
