/*
 * option/option.h -- the settings of a run: read from defaults, a YAML file, the environment and the command line (in
 * rising priority), checked, and written back with the source of each value.
 */
#ifndef HONE_OPTION_OPTION_H
#define HONE_OPTION_OPTION_H

#include <jansson.h>

#include "base/str.h"
#include "option/option_list.h"

/* How null looks in a field: NULL for texts and mappings, n = 0 for lists, and these. */
#define HONE_INT_NULL  INT64_MIN
#define HONE_ENUM_NULL (-1)
typedef enum hone_tri { HONE_TRI_NULL = -1, HONE_TRI_FALSE, HONE_TRI_TRUE } hone_tri;
/* A number that may be null is NaN then. */
static inline bool hone_float_is_null(double v) { return v != v; }

typedef struct hone_strings {
    char **v;
    size_t n;
} hone_strings;

/* Choices, as enumerators HONE_STAGE_SFT, HONE_SCHEDULE_COSINE, HONE_WHEN_STEPS, HONE_TRUNCATION_CUT_RIGHT, ... */
#define HONE_VALUE_ENUM_(id, text) HONE_##id,
typedef enum hone_stage { HONE_STAGE_VALUES(HONE_VALUE_ENUM_) } hone_stage;
typedef enum hone_finetuning { HONE_FINETUNING_VALUES(HONE_VALUE_ENUM_) } hone_finetuning;
typedef enum hone_schedule { HONE_SCHEDULE_VALUES(HONE_VALUE_ENUM_) } hone_schedule;
typedef enum hone_optim { HONE_OPTIM_VALUES(HONE_VALUE_ENUM_) } hone_optim;
typedef enum hone_when { HONE_WHEN_VALUES(HONE_VALUE_ENUM_) } hone_when;
typedef enum hone_bad_rows { HONE_BAD_ROWS_VALUES(HONE_VALUE_ENUM_) } hone_bad_rows;
typedef enum hone_truncation { HONE_TRUNCATION_VALUES(HONE_VALUE_ENUM_) } hone_truncation;
typedef enum hone_packing_strategy { HONE_PACKING_STRATEGY_VALUES(HONE_VALUE_ENUM_) } hone_packing_strategy;
typedef enum hone_mix_strategy { HONE_MIX_VALUES(HONE_VALUE_ENUM_) } hone_mix_strategy;
typedef enum hone_recompute { HONE_RECOMPUTE_VALUES(HONE_VALUE_ENUM_) } hone_recompute;
typedef enum hone_nonfinite { HONE_NONFINITE_VALUES(HONE_VALUE_ENUM_) } hone_nonfinite;
typedef enum hone_data_format { HONE_DATA_FORMAT_VALUES(HONE_VALUE_ENUM_) } hone_data_format;
typedef enum hone_export_choice { HONE_EXPORT_DTYPE_VALUES(HONE_VALUE_ENUM_) } hone_export_choice;
#undef HONE_VALUE_ENUM_

#define HONE_FIELD_S_(state, name, def, help)          char *name;
#define HONE_FIELD_L_(state, name, def, help)          hone_strings name;
#define HONE_FIELD_I_(state, name, def, lo, hi, help)  int64_t name;
#define HONE_FIELD_F_(state, name, def, lo, hi, help)  double name;
#define HONE_FIELD_B_(state, name, def, help)          bool name;
#define HONE_FIELD_T_(state, name, def, help)          hone_tri name;
#define HONE_FIELD_E_(state, name, def, choices, help) int name;
#define HONE_FIELD_M_(state, name, def, help)          json_t *name;
#define HONE_FIELDS_(title, LIST) \
    LIST(HONE_FIELD_S_, HONE_FIELD_L_, HONE_FIELD_I_, HONE_FIELD_F_, HONE_FIELD_B_, HONE_FIELD_T_, HONE_FIELD_E_, \
         HONE_FIELD_M_)

/*
 * One field per option, of the option's name: o->learning_rate, o->output_dir, o->dataset.v[i]. Read only. After
 * loading, these are settled, so that their null, or auto, need not be handled: packing (true or false), data_seed, eval_steps,
 * recompute, pack_length, truncation (never auto).
 */
typedef struct hone_options {
    HONE_OPTION_GROUPS(HONE_FIELDS_)
    struct hone_options_state *state;   /* private: sources and notes */
} hone_options;

/*
 * Defaults, then `config_path`, then the environment (HONE_LEARNING_RATE), then argv (--key value, --key=value,
 * key=value; a bare --key means true; dashes and underscores are the same in --keys). With a NULL path, an argv[0] that
 * is neither an option nor key=value is the file; no file at all is fine.
 *
 * Errors: E_USAGE (syntax, unknown key with the nearest name, wrong type or range, keys that contradict each other;
 * with file, line and column), E_UNSUPPORTED (a known option or value that is not implemented and would change the
 * result; all of them are named), E_IO, E_NOMEM. Owns: hone_options_destroy.
 */
hone_status hone_options_load(hone_options **out, const char *config_path, int argc, char **argv) HONE_MUST_CHECK;
/* The same for a command that trains nothing: finetuning_type need not be given, its default is full there. */
hone_status hone_options_load_no_train(hone_options **out, int argc, char **argv) HONE_MUST_CHECK;
/* The same for a command that only reads data, so that configs of any recipe work: preference stages are fine, and what
 * is not implemented is refused only where samples depend on it. */
hone_status hone_options_load_data(hone_options **out, int argc, char **argv) HONE_MUST_CHECK;
/* The same for a command that shows the config: what is not implemented stays in it, hone_options_check_implemented refuses it. */
hone_status hone_options_load_shown(hone_options **out, int argc, char **argv) HONE_MUST_CHECK;
hone_status hone_options_check_implemented(const hone_options *o) HONE_MUST_CHECK;
/* The same from YAML text in memory, without environment and arguments; `where` names it in errors and sources. */
hone_status hone_options_load_text(hone_options **out, const char *text, size_t n, const char *where) HONE_MUST_CHECK;
void        hone_options_destroy(hone_options **options);

/* What a training run needs beyond a valid config: model_name_or_path, dataset, output_dir, do_train. E_USAGE. */
hone_status hone_options_check_train(const hone_options *options) HONE_MUST_CHECK;

/* "default", "config.yaml:12", "environment HONE_SEED", "command line", "from eval_steps"; NULL for an unknown name. */
const char *hone_options_source(const hone_options *options, const char *name);
/* Lines for the log: options that were set but have no effect here, variables that look like misspelt options. */
const hone_strings *hone_options_notes(const hone_options *options);

/* Append all values as YAML that loads to the same options; with the source of each as a comment if asked. */
void hone_options_dump(const hone_options *options, hone_str *out, bool with_sources);
/* Append what the trained weights depend on, in a fixed form: two runs with equal text are the same run. */
void hone_options_identity(const hone_options *options, hone_str *out);
/* The same for what samples are made from their rows with (the model's files and the rows' own left aside). */
void hone_options_data_identity(const hone_options *options, hone_str *out);

/* The text of an enum option's value ("cosine"). */
const char *hone_option_choice(const char *name, int value);
/* Append help: one option (E_USAGE with the nearest name if unknown), or with NULL all of them, grouped. */
hone_status hone_option_help(hone_str *out, const char *name) HONE_MUST_CHECK;
/* Append docs/options.md. */
void hone_option_docs(hone_str *out);

#endif /* HONE_OPTION_OPTION_H */
