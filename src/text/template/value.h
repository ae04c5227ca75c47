/*
 * text/template/value.h -- values of the template language and the memory they live in (private to text/template*.c).
 *
 * Values are Python's: what a template sees of str, int, float, list, dict … behaves as there. All of a render's values are
 * in one arena that is freed at its end, so nothing is released one by one.
 */
#ifndef HONE_TEXT_TEMPLATE_VALUE_H
#define HONE_TEXT_TEMPLATE_VALUE_H

#include "base/mem.h"
#include "text/template.h"

/* ---- memory ---- */
typedef struct tpl_chunk tpl_chunk;
typedef struct tpl_arena {
    tpl_chunk *chunks;
    size_t     used, limit;         /* bytes; limit 0 = none */
    bool       exhausted;           /* the limit has refused an allocation */
} tpl_arena;

/* Memory for n bytes, not zeroed, aligned to 16. NULL with an error raised when memory or the limit is out. */
void *tpl_arena_alloc(tpl_arena *a, size_t n);
/* Enlarge the block p of `old` bytes to `n`, in place when it is the newest one. */
void *tpl_arena_grow(tpl_arena *a, void *p, size_t old, size_t n);
/* Room for one more element in an array of n that is only ever enlarged by this. */
void *tpl_arena_more(tpl_arena *a, void *p, size_t n, size_t size);
void  tpl_arena_deinit(tpl_arena *a);

/* ---- strings with origins ---- */
typedef struct tpl_seg {
    uint32_t end;                   /* the last one's may lie past the string's end */
    int32_t  source, work;
    bool     role, generation;
} tpl_seg;

typedef struct tpl_str {
    const char    *data;            /* well-formed UTF-8, not NUL-terminated */
    uint32_t       len, chars;
    const tpl_seg *segs;
    uint32_t       nseg;            /* 0 = all of it written by the template */
    bool           markup;          /* from `safe` or `escape` */
} tpl_str;

/* ---- values ---- */
typedef enum tpl_kind {
    TPL_MISSING,                    /* an argument that was not given; templates never see it */
    TPL_UNDEF, TPL_NONE, TPL_BOOL, TPL_INT, TPL_FLOAT, TPL_STR, TPL_LIST, TPL_TUPLE, TPL_DICT, TPL_VIEW, TPL_RANGE,
    TPL_ITER, TPL_NAMESPACE, TPL_MACRO, TPL_METHOD, TPL_FUNC, TPL_LOOP, TPL_CYCLER, TPL_JOINER, TPL_SELF
} tpl_kind;

typedef enum tpl_undef { TPL_UNDEF_NAME, TPL_UNDEF_ATTR, TPL_UNDEF_ITEM, TPL_UNDEF_HINT } tpl_undef;
typedef enum tpl_view { TPL_VIEW_KEYS, TPL_VIEW_VALUES, TPL_VIEW_ITEMS } tpl_view;

typedef struct tpl_value {
    uint8_t kind;                   /* tpl_kind */
    uint8_t sub;                    /* TPL_UNDEF: tpl_undef; TPL_VIEW: tpl_view */
    uint8_t of;                     /* TPL_UNDEF: kind of the object that lacks the attribute */
    union {
        bool                      b;
        int64_t                   i;
        double                    f;
        const tpl_str            *s;    /* TPL_STR; TPL_UNDEF: the name or hint */
        struct tpl_list          *l;
        struct tpl_dict          *d;    /* TPL_DICT, TPL_VIEW, TPL_NAMESPACE */
        struct tpl_range         *r;
        struct tpl_iter          *it;
        struct tpl_macro         *m;
        struct tpl_method        *me;
        const struct tpl_builtin *fn;
        struct tpl_loop          *loop;
        struct tpl_cycler        *cycler;   /* TPL_CYCLER, TPL_JOINER */
        const struct tpl_node    *block;    /* TPL_SELF: a block; NULL = `self` itself */
    } u;
} tpl_value;

typedef struct tpl_list {
    tpl_value *items;
    uint32_t   len, cap;
    int32_t    msg;                 /* message that it is part of, or -1 */
    bool       group;               /* a groupby pair: .grouper, .list */
} tpl_list;

typedef struct tpl_dict {           /* in order of insertion */
    tpl_value *keys, *values;
    uint32_t  *hashes;
    uint32_t  *slots;               /* of the hash table: 1 + index of an entry; none while there are few entries */
    uint32_t   len, cap, n_slots;
    int32_t    msg;
} tpl_dict;

/* cycler(a, b, …), and joiner(sep), whose only item is followed by its second use. */
typedef struct tpl_cycler { tpl_list *items; uint32_t pos; } tpl_cycler;

typedef struct tpl_range { int64_t start, stop, step, len; } tpl_range;

typedef struct tpl_rt tpl_rt;

/* The arguments of a call. */
typedef struct tpl_call {
    const tpl_value      *args;
    const tpl_str *const *names;    /* of the keyword arguments */
    const tpl_value      *kwargs;
    uint32_t              nargs, nkw;
} tpl_call;

/* A filter, test, method or function. `params` names the arguments after the value itself, separated by spaces, of which the
 * first `required` must be given, "-" before those that have no keyword; "*" = `fn` looks at the call itself. An argument that was not given is TPL_MISSING. */
typedef hone_status (*tpl_fn)(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call);
typedef struct tpl_builtin {
    const char *name, *params;
    int         required;
    tpl_fn      fn;                 /* NULL: Python's type has it, it is refused by name when called */
    unsigned    markup;             /* methods of str: see str_method.c */
} tpl_builtin;
enum { TPL_MAX_PARAMS = 7, TPL_MARKUP = 1 << 8 };

typedef struct tpl_method { tpl_value self; const tpl_builtin *fn; } tpl_method;

typedef struct tpl_iter {
    hone_status (*next)(tpl_rt *rt, struct tpl_iter *it, tpl_value *out, bool *done);
    const char       *type;         /* as Python's repr names it */
    tpl_value         src;
    int64_t           i;
    struct tpl_iter  *inner;
    const struct tpl_select *sel;   /* map, select …: see template_seq.c */
} tpl_iter;

static inline tpl_value tpl_none(void) { return (tpl_value){ .kind = TPL_NONE }; }
static inline tpl_value tpl_bool(bool b) { return (tpl_value){ .kind = TPL_BOOL, .u.b = b }; }
static inline tpl_value tpl_int(int64_t i) { return (tpl_value){ .kind = TPL_INT, .u.i = i }; }
static inline tpl_value tpl_float(double f) { return (tpl_value){ .kind = TPL_FLOAT, .u.f = f }; }
static inline tpl_value tpl_string(const tpl_str *s) { return (tpl_value){ .kind = TPL_STR, .u.s = s }; }
static inline tpl_value tpl_list_value(tpl_list *l) { return (tpl_value){ .kind = TPL_LIST, .u.l = l }; }
static inline tpl_value tpl_tuple_value(tpl_list *l) { return (tpl_value){ .kind = TPL_TUPLE, .u.l = l }; }
static inline tpl_value tpl_dict_value(tpl_dict *d) { return (tpl_value){ .kind = TPL_DICT, .u.d = d }; }
static inline bool tpl_is_int(tpl_value v) { return v.kind == TPL_INT || v.kind == TPL_BOOL; }
static inline bool tpl_is_number(tpl_value v) { return tpl_is_int(v) || v.kind == TPL_FLOAT; }
static inline int64_t tpl_as_int(tpl_value v) { return v.kind == TPL_BOOL ? v.u.b : v.u.i; }
static inline double tpl_as_float(tpl_value v) { return v.kind == TPL_FLOAT ? v.u.f : (double)tpl_as_int(v); }

/* ---- the state of a render ---- */
struct tpl_scope;
struct tpl_buf;
struct tpl_rt {
    const hone_template *t;
    tpl_arena            arena;
    hone_template_limits limits;
    uint64_t             steps;
    int                  depth;
    uint32_t             at;        /* place in the source of what is being evaluated */
    struct tpl_scope    *scope;
    struct tpl_buf      *out;       /* where output goes */
    int32_t              work;      /* message that is being worked on */
    bool                 generation;
    enum { TPL_GO_ON, TPL_BREAK, TPL_CONTINUE } ctl;
};

/* Raise an error at rt->at: "NAME:line:column: message". */
hone_status tpl_fail(const tpl_rt *rt, hone_status code, const char *fmt, ...) HONE_PRINTF(3, 4);
#define TPL_FAIL(rt, ...) tpl_fail((rt), HONE_E_DATA, __VA_ARGS__)
#define TPL_CHECK(cond, rt, ...) do { if (!(cond)) return TPL_FAIL((rt), __VA_ARGS__); } while (0)
/* Arena memory for n objects of *p, or return. */
#define TPL_ALLOC(p, rt, n) \
    do { (p) = tpl_arena_alloc(&(rt)->arena, (size_t)(n) * sizeof *(p)); \
         if (!(p)) return tpl_out_of_memory(rt); } while (0)
hone_status tpl_out_of_memory(const tpl_rt *rt);
/* Count n steps against the limit. */
hone_status tpl_step(tpl_rt *rt, uint64_t n) HONE_MUST_CHECK;

/* ---- building strings ---- */
typedef struct tpl_buf {
    char    *data;
    size_t   len, cap;
    tpl_seg *segs;
    size_t   nseg, seg_cap;
    size_t   barrier;               /* segments that end here are not extended */
} tpl_buf;

/* Append bytes of the template's own / a string's bytes [from, to) with their origins. */
hone_status tpl_buf_put(tpl_rt *rt, tpl_buf *b, const char *data, size_t n) HONE_MUST_CHECK;
hone_status tpl_buf_puts(tpl_rt *rt, tpl_buf *b, const char *text) HONE_MUST_CHECK;
hone_status tpl_buf_sub(tpl_rt *rt, tpl_buf *b, const tpl_str *s, size_t from, size_t to) HONE_MUST_CHECK;
hone_status tpl_buf_str(tpl_rt *rt, tpl_buf *b, const tpl_str *s) HONE_MUST_CHECK;
/* n bytes that stand for s's byte at `at` (an escape of it, say): they take its origin. */
hone_status tpl_buf_as(tpl_rt *rt, tpl_buf *b, const char *data, size_t n, const tpl_str *s, size_t at) HONE_MUST_CHECK;
/* Write to the render's output: marks the bytes with the message being worked on. */
hone_status tpl_emit(tpl_rt *rt, const tpl_str *s) HONE_MUST_CHECK;
/* The string built; the buffer's memory becomes the string's. */
hone_status tpl_buf_take(tpl_rt *rt, tpl_buf *b, tpl_value *out) HONE_MUST_CHECK;

hone_status tpl_new_str(tpl_rt *rt, tpl_value *out, const char *data, size_t n) HONE_MUST_CHECK;    /* copies */
hone_status tpl_sub_str(tpl_rt *rt, tpl_value *out, const tpl_str *s, size_t from, size_t to) HONE_MUST_CHECK;  /* shares */
/* Byte offset of code point `i` (0 … chars). */
size_t      tpl_str_offset(const tpl_str *s, size_t i);
uint32_t    tpl_count_chars(const char *data, size_t n);
bool        tpl_str_is(const tpl_str *s, const char *text);
bool        tpl_str_equal(const tpl_str *a, const tpl_str *b);
/* Offset of needle in s at or after `from` and ending by `to`, or -1; `last`: the last such place. Counts steps, as tpl_equal. */
int64_t     tpl_str_find(tpl_rt *rt, const tpl_str *s, const tpl_str *needle, size_t from, size_t to, bool last);
/* White space as Python's str.isspace has it. */
bool        tpl_is_space(uint32_t cp);

/* ---- lists and dicts ---- */
hone_status tpl_new_list(tpl_rt *rt, tpl_list **out, size_t cap) HONE_MUST_CHECK;
hone_status tpl_push(tpl_rt *rt, tpl_list *l, tpl_value v) HONE_MUST_CHECK;
hone_status tpl_new_dict(tpl_rt *rt, tpl_dict **out, size_t cap) HONE_MUST_CHECK;
hone_status tpl_dict_put(tpl_rt *rt, tpl_dict *d, tpl_value key, tpl_value v) HONE_MUST_CHECK;
/* The value of a key, or NULL (also for keys that cannot be hashed). */
tpl_value  *tpl_dict_get(tpl_rt *rt, const tpl_dict *d, tpl_value key);
hone_status tpl_pair(tpl_rt *rt, tpl_value *out, tpl_value a, tpl_value b) HONE_MUST_CHECK;
/* A JSON value; `msg` ≥ 0: it belongs to that message. */
hone_status tpl_from_json(tpl_rt *rt, tpl_value *out, const json_t *j, int32_t msg) HONE_MUST_CHECK;
/* The message that a value comes from, or -1 when there is none or more than one. */
int32_t     tpl_value_message(tpl_rt *rt, tpl_value v);

/* ---- what Python's operators and built-in functions do ---- */
bool        tpl_truthy(tpl_value v);
/* Both count steps; past the limit they say no, and the next tpl_step raises the error. */
bool        tpl_equal(tpl_rt *rt, tpl_value a, tpl_value b);
bool        tpl_hashable(tpl_rt *rt, tpl_value v);
hone_status tpl_compare(tpl_rt *rt, bool *out, int op, tpl_value a, tpl_value b) HONE_MUST_CHECK;   /* op: a TPL_OP_ */
hone_status tpl_contains(tpl_rt *rt, bool *out, tpl_value item, tpl_value in) HONE_MUST_CHECK;
hone_status tpl_binary(tpl_rt *rt, tpl_value *out, int op, tpl_value a, tpl_value b) HONE_MUST_CHECK;
/* str, list or tuple. */
bool        tpl_is_sequence(tpl_value v);
/* Raise what the use of an undefined value gives. */
hone_status tpl_fail_undefined(tpl_rt *rt, tpl_value v);
hone_status tpl_length(tpl_rt *rt, int64_t *out, tpl_value v) HONE_MUST_CHECK;
hone_status tpl_get_attr(tpl_rt *rt, tpl_value *out, tpl_value obj, const tpl_str *name) HONE_MUST_CHECK;
hone_status tpl_get_item(tpl_rt *rt, tpl_value *out, tpl_value obj, tpl_value key) HONE_MUST_CHECK;
hone_status tpl_slice(tpl_rt *rt, tpl_value *out, tpl_value obj, tpl_value from, tpl_value to, tpl_value step)
    HONE_MUST_CHECK;
/* Iterate: `it` is borrowed from the arena; done is set when there is no further item. */
hone_status tpl_iterate(tpl_rt *rt, tpl_iter **it, tpl_value v) HONE_MUST_CHECK;
hone_status tpl_next(tpl_rt *rt, tpl_iter *it, tpl_value *out, bool *done) HONE_MUST_CHECK;
hone_status tpl_to_list(tpl_rt *rt, tpl_list **out, tpl_value v) HONE_MUST_CHECK;
bool        tpl_iterable(tpl_value v);
/* str(v), repr(v) appended, json.dumps(v). */
hone_status tpl_to_str(tpl_rt *rt, const tpl_str **out, tpl_value v) HONE_MUST_CHECK;
hone_status tpl_repr(tpl_rt *rt, tpl_buf *b, tpl_value v) HONE_MUST_CHECK;
typedef struct tpl_json_style {
    const tpl_str *item, *key;          /* separators; NULL = the default */
    const char    *indent;              /* NULL = one line */
    size_t         indent_len;
    bool           ascii, sort;
} tpl_json_style;
hone_status tpl_to_json(tpl_rt *rt, tpl_buf *b, tpl_value v, const tpl_json_style *style) HONE_MUST_CHECK;
/* repr(float) into buf[32]. */
const char *tpl_float_repr(char buf[32], double v);
const char *tpl_type_name(tpl_value v);
/* What using an undefined value reports: "'x' is undefined". Into buf, returned. */
const char *tpl_undef_text(char buf[256], tpl_value v);

/* Bind a call to a builtin's parameters and run it. */
hone_status tpl_run(tpl_rt *rt, tpl_value *out, const tpl_builtin *fn, tpl_value self, const tpl_call *call)
    HONE_MUST_CHECK;
/* Call any callable value. */
hone_status tpl_call_value(tpl_rt *rt, tpl_value *out, tpl_value callee, const tpl_call *call) HONE_MUST_CHECK;

/* Arguments with defaults and type checks; `what` names the parameter in errors. */
hone_status tpl_arg_int(tpl_rt *rt, int64_t *out, tpl_value v, int64_t absent, const char *what) HONE_MUST_CHECK;
hone_status tpl_arg_str(tpl_rt *rt, const tpl_str **out, tpl_value v, const tpl_str *absent, const char *what)
    HONE_MUST_CHECK;

/* ---- tables of built-in names; NULL when there is none of that name ---- */
const tpl_builtin *tpl_find_filter(const tpl_str *name);
const tpl_builtin *tpl_find_test(const tpl_str *name);
const tpl_builtin *tpl_find_function(const tpl_str *name);
const tpl_builtin *tpl_find_method(tpl_value obj, const tpl_str *name);
const tpl_builtin *tpl_str_method(const tpl_str *self, const tpl_str *name);
/* The function `dict`. */
const tpl_builtin *tpl_dict_function(void);
const tpl_builtin *tpl_find_in(const tpl_builtin *table, size_t n, const tpl_str *name);
/* A method that Python's type has and the sandbox forbids (it changes its object). */
bool tpl_method_forbidden(tpl_kind kind, const tpl_str *name);
/* Functions of several files' tables. */
hone_status tpl_str_percent(tpl_rt *rt, tpl_value *out, const tpl_str *fmt, tpl_value args) HONE_MUST_CHECK;
/* Fields by name are the call's, or of `map` where that is given. */
hone_status tpl_str_format(tpl_rt *rt, tpl_value *out, const tpl_str *fmt, const tpl_call *call, const tpl_dict *map)
    HONE_MUST_CHECK;
hone_status tpl_strip(tpl_rt *rt, tpl_value *out, const tpl_str *s, tpl_value chars, bool left, bool right)
    HONE_MUST_CHECK;
/* Case mapping: 'u' upper, 'l' lower, 'c' capitalize, 't' str.title, 'T' Jinja's title, 's' swapcase, 'f' casefold. */
hone_status tpl_recase(tpl_rt *rt, tpl_value *out, const tpl_str *s, char how) HONE_MUST_CHECK;
hone_status tpl_replace(tpl_rt *rt, tpl_value *out, const tpl_str *s, const tpl_str *old, const tpl_str *by,
                        int64_t count) HONE_MUST_CHECK;
hone_status tpl_split(tpl_rt *rt, tpl_value *out, const tpl_str *s, tpl_value sep, int64_t max, bool from_right)
    HONE_MUST_CHECK;
hone_status tpl_split_lines(tpl_rt *rt, tpl_value *out, const tpl_str *s, bool keep_ends) HONE_MUST_CHECK;
/* Whether the last character ends a line. */
bool        tpl_ends_line(const tpl_str *s);
hone_status tpl_join(tpl_rt *rt, tpl_value *out, const tpl_str *sep, tpl_value items, bool convert) HONE_MUST_CHECK;
hone_status tpl_escape(tpl_rt *rt, tpl_value *out, const tpl_str *s) HONE_MUST_CHECK;
/* The same string as Markup, or as plain text. */
/* Markup without its tags / with its entities as characters, as plain text. */
hone_status tpl_strip_tags(tpl_rt *rt, tpl_value *out, const tpl_str *s) HONE_MUST_CHECK;
hone_status tpl_unescape(tpl_rt *rt, tpl_value *out, const tpl_str *s) HONE_MUST_CHECK;
hone_status tpl_as_markup(tpl_rt *rt, tpl_value *out, const tpl_str *s, bool markup) HONE_MUST_CHECK;
/* str.islower and the like: 'l' lower, 'u' upper, 'D' decimal, 'd' digit, 'N' numeric, 'a' alpha, 'n' alnum, 's' space,
 * 'p' printable, 'A' ascii, 'i' identifier. */
bool tpl_str_all(const tpl_str *s, char which);
bool tpl_str_is_title(const tpl_str *s);
/* Stable sort by tpl_compare's order of keys; items and keys are permuted together. */
hone_status tpl_sort(tpl_rt *rt, tpl_value *items, tpl_value *keys, size_t n, bool reverse) HONE_MUST_CHECK;

#endif /* HONE_TEXT_TEMPLATE_VALUE_H */
