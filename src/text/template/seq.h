/* text/template/seq.h -- attribute paths and lazy filters (private to text/template*.c). */
#ifndef HONE_TEXT_TEMPLATE_SEQ_H
#define HONE_TEXT_TEMPLATE_SEQ_H

#include "text/template/value.h"

enum { TPL_MAX_PATH = 16 };

/* "a.b.0": which item of an item …; no parts = the value itself. */
typedef struct tpl_path {
    tpl_value parts[TPL_MAX_PATH];
    int       n;
    tpl_value fallback;         /* in place of what is undefined; TPL_MISSING = none */
    bool      fold;             /* strings are compared in lower case */
} tpl_path;

/* What map, select and the like do to each item: follow `path`, then run `fn` (a filter or test, may be NULL). */
typedef struct tpl_select {
    tpl_path           path;
    const tpl_builtin *fn;
    tpl_call           call;
    bool               negate;
} tpl_select;

hone_status tpl_parse_path(tpl_rt *rt, tpl_path *out, tpl_value attr) HONE_MUST_CHECK;
hone_status tpl_follow(tpl_rt *rt, tpl_value *out, const tpl_path *path, tpl_value v) HONE_MUST_CHECK;
hone_status tpl_lazy_map(tpl_rt *rt, tpl_value *out, tpl_value src, const tpl_select *sel) HONE_MUST_CHECK;
hone_status tpl_lazy_select(tpl_rt *rt, tpl_value *out, tpl_value src, const tpl_select *sel) HONE_MUST_CHECK;
hone_status tpl_lazy_unique(tpl_rt *rt, tpl_value *out, tpl_value src, const tpl_select *sel) HONE_MUST_CHECK;
/* An iterator that raises that there is no such filter (test): map and select look it up when the first item is wanted. */
hone_status tpl_lazy_unknown(tpl_rt *rt, tpl_value *out, const tpl_str *name, bool test) HONE_MUST_CHECK;
/* A one-pass iterator over a list's items. */
hone_status tpl_iter_of(tpl_rt *rt, tpl_value *out, tpl_list *l, const char *type) HONE_MUST_CHECK;
/* Filters over sequences: seq.c; the table in filter.c. */
#define TPL_SEQ_FILTERS(X) \
    X(map) X(select) X(reject) X(selectattr) X(rejectattr) X(list) X(first) X(last) X(length) X(sum) X(min) X(max) \
    X(sort) X(unique) X(reverse) X(batch) X(slice) X(groupby) X(dictsort) X(items) X(random)
/* Over texts: html.c, url.c, wrap.c, pprint.c. */
#define TPL_TEXT_FILTERS(X) X(escape) X(forceescape) X(striptags) X(xmlattr) X(urlencode) X(wordwrap) X(pprint) X(urlize)
#define TPL_DECLARE_FILTER(name) \
    hone_status tpl_filter_##name(tpl_rt *rt, tpl_value *out, tpl_value self, const tpl_value *a, const tpl_call *call);
TPL_SEQ_FILTERS(TPL_DECLARE_FILTER)
TPL_TEXT_FILTERS(TPL_DECLARE_FILTER)

#endif /* HONE_TEXT_TEMPLATE_SEQ_H */
