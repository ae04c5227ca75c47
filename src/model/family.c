#include "model/family.h"

#include <string.h>

#include "base/str.h"

static const hone_family *const families[] = { &hone_family_gpt2, &hone_family_llama, &hone_family_qwen2, &hone_family_qwen3 };

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
