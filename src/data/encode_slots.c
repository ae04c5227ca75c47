#include "data/encode.h"

hone_status hone_encode_slots(hone_row_result *out, const hone_conversation *c, const hone_dataset_context *context,
                              const char *where)
{
    (void)out;
    (void)c;
    (void)context;
    return HONE_FAIL(HONE_E_UNSUPPORTED, "%s: named templates are not implemented; leave out template", where);
}
