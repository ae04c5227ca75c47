/* text/template/format.h -- numbers and texts formatted as Python does (private to text/template). */
#ifndef HONE_TEXT_TEMPLATE_FORMAT_H
#define HONE_TEXT_TEMPLATE_FORMAT_H

#include "text/template/value.h"

/* One conversion, as both "%…" and str.format give it. */
typedef struct tpl_spec {
    char    fill[5];                /* a UTF-8 character */
    char    align;                  /* '<' '>' '^' '=' or 0 */
    char    sign;                   /* '+' ' ' or 0 */
    char    group;                  /* ',' '_' or 0 */
    bool    alternate;
    int64_t width, precision;       /* -1 = none */
    char    type;                   /* 0 = none given */
} tpl_spec;

enum { TPL_MAX_WIDTH = 1 << 20, TPL_MAX_PRECISION = 1000 };

/* Append v; types b d o x X n, 0 = d. A precision is the least number of digits. */
hone_status tpl_format_int(tpl_rt *rt, tpl_buf *b, int64_t v, const tpl_spec *sp) HONE_MUST_CHECK;
/* Append v; types e E f F g G n %, 0 = as repr. */
hone_status tpl_format_float(tpl_rt *rt, tpl_buf *b, double v, const tpl_spec *sp) HONE_MUST_CHECK;
/* Append s, cut to the precision; `usual`: the alignment where none is given. */
hone_status tpl_format_str(tpl_rt *rt, tpl_buf *b, const tpl_str *s, const tpl_spec *sp, char usual) HONE_MUST_CHECK;
/* repr(v), ascii(v) */
hone_status tpl_repr_str(tpl_rt *rt, const tpl_str **out, tpl_value v, bool ascii) HONE_MUST_CHECK;

#endif /* HONE_TEXT_TEMPLATE_FORMAT_H */
