/* Loading: each source in turn, then the checks. */
#include "option/option.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "option/option_int.h"

extern char **environ;

void hone_options_destroy(hone_options **options)
{
    hone_options *o = *options;

    if (!o)
        return;
    for (size_t i = 0; i < hone_option_row_count; i++)
        hone_option_clear(o, &hone_option_rows[i]);
    if (o->state) {
        for (size_t i = 0; o->state->sources && i < hone_option_row_count; i++)
            hone_free(o->state->sources[i]);
        for (size_t i = 0; i < o->state->notes.n; i++)
            hone_free(o->state->notes.v[i]);
        hone_free(o->state->notes.v);
        hone_free(o->state->sources);
    }
    hone_free(o->state);
    hone_free(o);
    *options = NULL;
}

static hone_status create_defaults(hone_options **out)
{
    hone_options *o = hone_calloc(1, sizeof *o);
    hone_status   st = HONE_OK;

    *out = NULL;
    HONE_CHECK(o, HONE_E_NOMEM, "out of memory while reading options");
    o->state = hone_calloc(1, sizeof *o->state);
    HONE_GO_CHECK(o->state, HONE_E_NOMEM, "out of memory while reading options");
    o->state->sources = hone_calloc(hone_option_row_count, sizeof *o->state->sources);
    HONE_GO_CHECK(o->state->sources, HONE_E_NOMEM, "out of memory while reading options");
    for (size_t i = 0; i < hone_option_row_count; i++)
        HONE_GO(hone_option_set_text(o, &hone_option_rows[i], hone_option_rows[i].def, "default: ", NULL));
out:
    if (st != HONE_OK)
        hone_options_destroy(&o);
    *out = o;
    return st;
}

/* ---- file ------------------------------------------------------------------------------------------------------- */
typedef struct file_arg { hone_options *o; const char *where; } file_arg;

static hone_status file_entry(void *arg, const char *key, const json_t *value, int line, int column)
{
    const file_arg   *f = arg;
    const option_row *row = hone_option_find(key);
    char             *place = hone_asprintf("%s:%d:%d: ", f->where, line, column);
    char             *source = hone_asprintf("%s:%d", f->where, line);
    hone_status       st = HONE_E_NOMEM;

    /* In a file, names have one spelling. */
    if (place && source)
        st = row && strcmp(row->name, key) == 0 ? hone_option_set(f->o, row, value, place, source)
                                                : hone_option_unknown(place, key);
    hone_free(place);
    hone_free(source);
    return st;
}

static hone_status read_file(hone_options *o, const char *path)
{
    char       *text;
    size_t      n;
    hone_status st;

    HONE_TRY(hone_file_read_all(&text, &n, path));
    st = hone_yaml_read(text, n, path, file_entry, &(file_arg){ o, path });
    hone_free(text);
    return st;
}

/* ---- environment ------------------------------------------------------------------------------------------------ */
/* Variables that are read elsewhere. */
static const char *const other_variables[] = { "HONE_ISA" };

static hone_status note_variable(hone_options *o, const char *name)
{
    const char *names[600], *near;
    char        lower[64];
    size_t      n = HONE_MIN(hone_option_row_count, HONE_COUNTOF(names)), len = strlen(name + 5);
    char       *text;
    hone_status st;

    for (size_t i = 0; i < HONE_COUNTOF(other_variables); i++)
        if (strcmp(name, other_variables[i]) == 0)
            return HONE_OK;
    if (len >= sizeof lower)
        return HONE_OK;
    for (size_t i = 0; i <= len; i++)
        lower[i] = (char)tolower((unsigned char)name[5 + i]);
    for (size_t i = 0; i < n; i++)
        names[i] = hone_option_rows[i].name;
    near = hone_nearest_name(lower, names, n);
    if (!near)
        return HONE_OK;
    text = hone_asprintf("environment variable %s names no option and is ignored; the nearest is %s", name, near);
    st = text ? hone_strings_push(&o->state->notes, text) : HONE_E_NOMEM;
    hone_free(text);
    return st;
}

static hone_status read_variable(hone_options *o, const char *name, const char *value)
{
    char              lower[64], place[128], source[96];
    const option_row *row;
    size_t            len = strlen(name + 5);

    for (size_t i = 0; i <= len && i < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)name[5 + i]);
    row = len < sizeof lower ? hone_option_find(lower) : NULL;
    if (!row)
        return note_variable(o, name);
    snprintf(place, sizeof place, "environment variable %s: ", name);
    snprintf(source, sizeof source, "environment %s", name);
    return hone_option_set_text(o, row, value, place, source);
}

static hone_status read_environment(hone_options *o)
{
    for (char **e = environ; e && *e; e++) {
        const char *eq = strchr(*e, '=');
        char       *name;
        hone_status st;

        if (!hone_starts_with(*e, "HONE_") || !eq)
            continue;
        name = hone_strndup(*e, (size_t)(eq - *e));
        HONE_CHECK(name, HONE_E_NOMEM, "out of memory while reading options");
        st = read_variable(o, name, eq + 1);
        hone_free(name);
        HONE_TRY(st);
    }
    return HONE_OK;
}

/* ---- command line ----------------------------------------------------------------------------------------------- */
/* `next` is the following argument or NULL; `*used` tells whether it was this option's value. */
static hone_status read_argument(hone_options *o, const char *arg, const char *next, bool *used)
{
    bool              dashes = hone_starts_with(arg, "--");
    const char       *name = arg + (dashes ? 2 : 0), *eq = strchr(name, '=');
    char             *key;
    const option_row *row;

    *used = false;
    HONE_CHECK(dashes || (eq && arg[0] != '-'), HONE_E_USAGE, "command line: what is '%.200s'? Options are "
               "--key value or key=value; a list is one value, with commas", arg);
    key = eq ? hone_strndup(name, (size_t)(eq - name)) : hone_strdup(name);
    HONE_CHECK(key, HONE_E_NOMEM, "out of memory while reading options");
    row = hone_option_find(key);
    if (!row) {
        hone_status st = hone_option_unknown("command line: ", key);

        hone_free(key);
        return st;
    }
    hone_free(key);
    if (eq)
        return hone_option_set_text(o, row, eq + 1, "command line: ", "command line");
    *used = next && !hone_starts_with(next, "--");
    /* "--bf16 lr=1": a switch needs no value, and key=value is none for it. */
    if (*used && (row->kind == KIND_B || row->kind == KIND_T) && strchr(next, '='))
        *used = false;
    if (*used)
        return hone_option_set_text(o, row, next, "command line: ", "command line");
    HONE_CHECK(row->kind == KIND_B || row->kind == KIND_T, HONE_E_USAGE, "command line: --%s needs a value", row->name);
    return hone_option_set_text(o, row, "true", "command line: ", "command line");
}

static hone_status read_arguments(hone_options *o, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        bool used;

        HONE_TRY(read_argument(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used));
        i += used;
    }
    return HONE_OK;
}

/* ---- all together ----------------------------------------------------------------------------------------------- */
static hone_status note_no_effect(hone_options *o, const hone_options *defaults)
{
    hone_str    a = HONE_STR_INIT, b = HONE_STR_INIT, line = HONE_STR_INIT;
    hone_status st = HONE_OK;

    for (size_t i = 0; i < hone_option_row_count; i++) {
        const option_row *row = &hone_option_rows[i];

        if (row->state != STATE_NOOP || !o->state->sources[i])
            continue;
        hone_str_clear(&a);
        hone_str_clear(&b);
        hone_option_write(&a, o, row);
        hone_option_write(&b, defaults, row);
        if (strcmp(hone_str_c(&a), hone_str_c(&b)) == 0)
            continue;
        hone_str_printf(&line, "%s%s", line.len ? ", " : "no effect here: ", row->name);
    }
    HONE_GO(hone_str_ok(&a));
    HONE_GO(hone_str_ok(&b));
    HONE_GO(hone_str_ok(&line));
    if (line.len)
        HONE_GO(hone_strings_push(&o->state->notes, hone_str_c(&line)));
out:
    hone_str_deinit(&a);
    hone_str_deinit(&b);
    hone_str_deinit(&line);
    return st;
}

static hone_status finish(hone_options *o, option_use use)
{
    hone_options *defaults;
    hone_status   st;

    HONE_TRY(create_defaults(&defaults));
    st = hone_option_validate(o, defaults, use);
    if (st == HONE_OK)
        st = note_no_effect(o, defaults);
    hone_options_destroy(&defaults);
    return st;
}

static hone_status load(hone_options **out, const char *config_path, int argc, char **argv, bool trains, option_use use)
{
    hone_options *o = NULL;
    hone_status   st;

    *out = NULL;
    if (!config_path && argc > 0 && argv[0][0] != '-' && (!strchr(argv[0], '=') || hone_path_exists(argv[0]))) {
        config_path = argv[0];
        argc--, argv++;
    }
    HONE_GO(create_defaults(&o));
    if (!trains)
        HONE_GO(hone_option_set_text(o, hone_option_find("finetuning_type"), "full", "", NULL));
    if (config_path)
        HONE_GO(read_file(o, config_path));
    HONE_GO(read_environment(o));
    HONE_GO(read_arguments(o, argc, argv));
    HONE_GO(finish(o, use));
out:
    if (st != HONE_OK)
        hone_options_destroy(&o);
    *out = o;
    return st;
}

hone_status hone_options_load(hone_options **out, const char *config_path, int argc, char **argv)
{
    return load(out, config_path, argc, argv, true, OPTION_USE_TRAIN);
}

hone_status hone_options_load_no_train(hone_options **out, int argc, char **argv)
{
    return load(out, NULL, argc, argv, false, OPTION_USE_TRAIN);
}

hone_status hone_options_load_data(hone_options **out, int argc, char **argv)
{
    return load(out, NULL, argc, argv, false, OPTION_USE_DATA);
}

hone_status hone_options_load_shown(hone_options **out, int argc, char **argv)
{
    return load(out, NULL, argc, argv, true, OPTION_USE_SHOW);
}

hone_status hone_options_check_implemented(const hone_options *o)
{
    hone_options *defaults;
    hone_status   st;

    HONE_TRY(create_defaults(&defaults));
    st = hone_option_refuse_unimplemented(o, defaults, OPTION_USE_TRAIN);
    hone_options_destroy(&defaults);
    return st;
}

hone_status hone_options_load_text(hone_options **out, const char *text, size_t n, const char *where)
{
    hone_options *o = NULL;
    hone_status   st;

    *out = NULL;
    HONE_GO(create_defaults(&o));
    HONE_GO(hone_yaml_read(text, n, where, file_entry, &(file_arg){ o, where }));
    HONE_GO(finish(o, OPTION_USE_TRAIN));
out:
    if (st != HONE_OK)
        hone_options_destroy(&o);
    *out = o;
    return st;
}

const char *hone_options_source(const hone_options *o, const char *name)
{
    const option_row *row = hone_option_find(name);

    if (!row)
        return NULL;
    return o->state->sources[row - hone_option_rows] ? o->state->sources[row - hone_option_rows] : "default";
}

const hone_strings *hone_options_notes(const hone_options *o) { return &o->state->notes; }
