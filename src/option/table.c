#include "option/option_int.h"

#include <string.h>

#define ROW_(kind, state, name, def, lo, hi, choices, help) \
    { #name, kind, STATE_##state, def, lo, hi, choices, help, GROUP_, offsetof(hone_options, name) },
#define ROW_S_(state, name, def, help)          ROW_(KIND_S, state, name, def, 0, 0, NULL, help)
#define ROW_L_(state, name, def, help)          ROW_(KIND_L, state, name, def, 0, 0, NULL, help)
#define ROW_I_(state, name, def, lo, hi, help)  ROW_(KIND_I, state, name, def, lo, hi, NULL, help)
#define ROW_F_(state, name, def, lo, hi, help)  ROW_(KIND_F, state, name, def, lo, hi, NULL, help)
#define ROW_B_(state, name, def, help)          ROW_(KIND_B, state, name, def, 0, 0, NULL, help)
#define ROW_T_(state, name, def, help)          ROW_(KIND_T, state, name, def, 0, 0, NULL, help)
#define ROW_E_(state, name, def, choices, help) ROW_(KIND_E, state, name, def, 0, 0, choices, help)
#define ROW_M_(state, name, def, help)          ROW_(KIND_M, state, name, def, 0, 0, NULL, help)
#define ROWS_(LIST) LIST(ROW_S_, ROW_L_, ROW_I_, ROW_F_, ROW_B_, ROW_T_, ROW_E_, ROW_M_)

const option_row hone_option_rows[] = {
#define GROUP_ "Model"
    ROWS_(HONE_OPTIONS_MODEL)
#undef GROUP_
#define GROUP_ "Method"
    ROWS_(HONE_OPTIONS_METHOD)
#undef GROUP_
#define GROUP_ "Data"
    ROWS_(HONE_OPTIONS_DATA)
#undef GROUP_
#define GROUP_ "Training"
    ROWS_(HONE_OPTIONS_TRAIN)
#undef GROUP_
#define GROUP_ "hone's own"
    ROWS_(HONE_OPTIONS_OWN)
#undef GROUP_
};
const size_t hone_option_row_count = HONE_COUNTOF(hone_option_rows);

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(*a == '-' && *b == '_'))
            return false;
    return *a == *b;
}

const option_row *hone_option_find(const char *name)
{
    for (size_t i = 0; i < hone_option_row_count; i++)
        if (same_name(name, hone_option_rows[i].name))
            return &hone_option_rows[i];
    return NULL;
}

hone_status hone_option_unknown(const char *place, const char *name)
{
    static const char *const swift[][2] = {
#define PAIR_(theirs, ours) { #theirs, #ours },
        HONE_SWIFT_NAMES(PAIR_)
#undef PAIR_
    };
    const char *names[HONE_COUNTOF(hone_option_rows)], *near;

    for (size_t i = 0; i < HONE_COUNTOF(swift); i++)
        if (same_name(name, swift[i][0]))
            return HONE_FAIL(HONE_E_USAGE, "%sunknown option '%s'; what ms-swift calls so is '%s' here "
                             "(see: hone help options %s)", place, name, swift[i][1], swift[i][1]);
    for (size_t i = 0; i < HONE_COUNTOF(names); i++)
        names[i] = hone_option_rows[i].name;
    near = hone_nearest_name(name, names, HONE_COUNTOF(names));
    if (near)
        return HONE_FAIL(HONE_E_USAGE, "%sunknown option '%.200s'; did you mean '%s'?", place, name, near);
    return HONE_FAIL(HONE_E_USAGE, "%sunknown option '%.200s'; hone help options lists them all", place, name);
}

size_t hone_option_choice_at(const option_row *row, size_t i, char text[64], bool *later)
{
    size_t n = 0;

    for (const char *p = row->choices; *p; n++) {
        size_t len = strcspn(p, "|"), shown = len;

        if (n == i) {
            *later = len && p[len - 1] == '?';
            shown -= *later;
            HONE_ASSERT(shown < 64);
            memcpy(text, p, shown);
            text[shown] = '\0';
        }
        p += len + (p[len] == '|');
    }
    return n;
}

const char *hone_option_choice(const char *name, int value)
{
    static _Thread_local char text[64];
    const option_row *row = hone_option_find(name);
    bool later;

    if (!row || row->kind != KIND_E || value < 0 ||
        (size_t)value >= hone_option_choice_at(row, (size_t)value, text, &later))
        return "null";
    return text;
}
