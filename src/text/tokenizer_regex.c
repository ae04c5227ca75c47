#include "text/tokenizer_parts.h"

hone_status tok_regex_create(tok_regex **out, const char *pattern, size_t n, const char *where)
{
    *out = NULL;
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: the regular expression \"%.*s\" is not implemented", where, (int)n, pattern);
}
void tok_regex_destroy(tok_regex **re) { *re = NULL; }
hone_status tok_regex_cut(const tok_regex *re, tok_cut_vec *out, const char *s, size_t n, uint32_t shift)
{
    (void)re; (void)out; (void)s; (void)n; (void)shift;
    return HONE_E_UNSUPPORTED;
}
