#include "model/family.h"

#include <string.h>

#include "base/str.h"

/* Made by the build: a line FAMILY(model_type) for each. */
#define FAMILY(model_type) extern const hone_family hone_family_##model_type;
#include <family_list.inc>
#undef FAMILY

#define FAMILY(model_type) &hone_family_##model_type,
static const hone_family *const families[] = {
#include <family_list.inc>
};

const hone_family *hone_family_at(size_t i) { return i < HONE_COUNTOF(families) ? families[i] : NULL; }

const hone_family *hone_family_find(const char *model_type)
{
    hone_str names = HONE_STR_INIT;

    for (size_t i = 0; i < HONE_COUNTOF(families); i++)
        if (strcmp(model_type, families[i]->model_type) == 0)
            return families[i];
    for (size_t i = 0; i < HONE_COUNTOF(families); i++)
        hone_str_printf(&names, "%s%s", i ? ", " : "", families[i]->model_type);
    (void)HONE_FAIL(HONE_E_UNSUPPORTED, "config.json: model_type \"%s\" is not implemented; hone has %s", model_type,
                    hone_str_c(&names));
    hone_str_deinit(&names);
    return NULL;
}
