/* option/option_int.h -- shared inside option/: the rows of the table, typed assignment, the YAML reader. */
#ifndef HONE_OPTION_OPTION_INT_H
#define HONE_OPTION_OPTION_INT_H

#include "option/option.h"

typedef enum option_kind { KIND_S, KIND_L, KIND_I, KIND_F, KIND_B, KIND_T, KIND_E, KIND_M } option_kind;
typedef enum option_state { STATE_YES, STATE_RUN, STATE_NOOP, STATE_LATER } option_state;

typedef struct option_row {
    const char  *name;
    option_kind  kind;
    option_state state;
    const char  *def;           /* as in YAML */
    double       lo, hi;        /* of numbers */
    const char  *choices;       /* "a|b?|" of enums */
    const char  *help, *group;
    size_t       offset;        /* of the field in hone_options */
} option_row;

extern const option_row hone_option_rows[];
extern const size_t     hone_option_row_count;

struct hone_options_state {
    char       **sources;       /* one per row; NULL = default */
    hone_strings notes;
};

/* Row of a name ('-' and '_' are one), or NULL. */
const option_row *hone_option_find(const char *name);
/* E_USAGE for a name that is not in the table: offers the nearest, or hone's name of an ms-swift key. */
hone_status hone_option_unknown(const char *place, const char *name);

/* Number of choices and the i-th: its text without mark, and whether it is refused. */
size_t hone_option_choice_at(const option_row *row, size_t i, char text[64], bool *later);

/* Set a field from a YAML value; `place` begins the error. `source` is copied (NULL = default). */
hone_status hone_option_set(hone_options *o, const option_row *row, const json_t *value, const char *place,
                            const char *source) HONE_MUST_CHECK;
/* The same from the text of the environment or the command line. */
hone_status hone_option_set_text(hone_options *o, const option_row *row, const char *text, const char *place,
                                 const char *source) HONE_MUST_CHECK;
/* Append the field as YAML (a number, true, null, "text", [..]). */
void hone_option_write(hone_str *out, const hone_options *o, const option_row *row);
void hone_option_clear(hone_options *o, const option_row *row);
hone_status hone_strings_push(hone_strings *list, const char *text) HONE_MUST_CHECK;

/* What the options are loaded for: how much of them must be implemented, and be right. */
typedef enum option_use { OPTION_USE_TRAIN, OPTION_USE_DATA, OPTION_USE_SHOW } option_use;

/* All cross-checks and the values that follow from others. `defaults` holds nothing but defaults. */
hone_status hone_option_validate(hone_options *o, const hone_options *defaults, option_use use) HONE_MUST_CHECK;
/* Values and options that are known, but not implemented: one list, so that a config is put right in one go. E_UNSUPPORTED. */
hone_status hone_option_refuse_unimplemented(const hone_options *o, const hone_options *defaults, option_use use) HONE_MUST_CHECK;

/* ---- YAML: one flat mapping ------------------------------------------------------------------------------------- */
typedef hone_status (*option_entry_fn)(void *arg, const char *key, const json_t *value, int line, int column);
/* Calls `fn` for each pair of the document's top mapping, in order. An empty document has none. E_USAGE with file, line
 * and column. Values are typed as YAML 1.1 has it, and 1e-4 is a number. Depth, size and what aliases expand to are
 * bounded. */
hone_status hone_yaml_read(const char *text, size_t n, const char *where, option_entry_fn fn, void *arg)
    HONE_MUST_CHECK;
/* One value (of a mapping option given as text). Owns: json_decref. */
hone_status hone_yaml_value(json_t **out, const char *text, const char *where) HONE_MUST_CHECK;
/* The value of a plain scalar. NULL with E_NOMEM raised. */
json_t *hone_yaml_scalar(const char *text, size_t n);

#endif /* HONE_OPTION_OPTION_INT_H */
